//! `POST /virtual` on 127.0.0.1: the door of virtual APIs, for programs of this machine. Owns the socket and who may ask; what is
//! answered is decided in the engine.
use super::{connections, gate};
use axum::{
    Router,
    body::{self, Body},
    extract::{Request, State},
    http::{HeaderValue, StatusCode, header},
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::post,
};
use std::{io, net::Ipv4Addr, sync::Arc};
use tokio::{net::TcpListener, sync::watch};
use touchstone_engine::app::virtual_apis::VirtualDoor;

/// Inputs of calls are short; some carry a document.
const LONGEST_BODY: usize = 8 << 20;
/// Connections at a time: programs ask for many queries at once.
const MOST_CONNECTIONS: usize = 512;

/// A server that has its port and does not answer yet.
pub(crate) struct VirtualServer {
    listener: TcpListener,
    port: u16,
}

impl VirtualServer {
    /// Takes the port, or a free one for 0.
    pub(crate) async fn bind(port: u16) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
        let port = listener.local_addr()?.port();
        Ok(Self { listener, port })
    }

    /// Where requests are posted to.
    pub(crate) fn address(&self) -> String {
        format!("http://127.0.0.1:{}/virtual", self.port)
    }

    /// Answers until it is asked to end. What is under way then is answered and kept, unless it is asked once more.
    pub(crate) async fn run(self, door: VirtualDoor, asked: watch::Receiver<u8>) {
        let door = Arc::new(door);
        let rooms = Router::new()
            .route("/virtual", post(called))
            .fallback(|| async { (StatusCode::NOT_FOUND, json("{\"detail\":\"Not Found\"}")) })
            .with_state(Arc::clone(&door))
            .layer(middleware::from_fn_with_state(self.port, guard));
        let asked_times = |times| {
            let mut asked = asked.clone();
            async move { drop(asked.wait_for(|now| *now >= times).await) }
        };
        connections::answer(self.listener, &rooms, MOST_CONNECTIONS, asked_times(1), asked_times(2)).await;
        tokio::select! {
            biased;
            () = asked_times(2) => {}
            () = door.land() => {}
        }
    }
}

/// A page elsewhere must not make a browser spend money here.
async fn guard(State(port): State<u16>, request: Request, next: Next) -> Response {
    let (head, body) = request.into_parts();
    match gate::foreign(&head, port) {
        Some((status, why)) => (status, format!("{why}\n")).into_response(),
        None => next.run(Request::from_parts(head, body)).await,
    }
}

async fn called(State(door): State<Arc<VirtualDoor>>, body: Body) -> Response {
    let Ok(body) = body::to_bytes(body, LONGEST_BODY).await else {
        return (StatusCode::PAYLOAD_TOO_LARGE, json("{\"detail\":\"The request is too long.\"}")).into_response();
    };
    let answer = door.answer(&body).await;
    for note in &answer.notes {
        tracing::warn!("{note}");
    }
    let status = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = if answer.status == 500 {
        (status, answer.body).into_response()
    } else {
        (status, json(answer.body)).into_response()
    };
    if let Some(from) = answer.from.and_then(|from| HeaderValue::from_str(from).ok()) {
        response.headers_mut().insert("x-touchstone-from", from);
    }
    response
}

fn json(text: impl Into<Body>) -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "application/json")], text.into())
}
