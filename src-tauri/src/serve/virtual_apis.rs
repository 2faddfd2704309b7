//! `POST /virtual` on 127.0.0.1: the door of virtual APIs, for programs of this machine. Owns the
//! socket and who may ask; what is answered is decided in the engine.
use super::connections::{self, Connection, Shares};
use super::{gate, secret::Secret};
use axum::{
    Extension, Router,
    body::{self, Body},
    extract::{Request, State},
    http::{HeaderValue, StatusCode, header, request::Parts},
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::post,
};
use std::{io, net::Ipv4Addr, sync::Arc};
use tokio::{net::TcpListener, sync::watch};
use touchstone_app::app::virtual_apis::VirtualDoor;

/// Inputs of calls are short; some carry a document.
const LONGEST_BODY: usize = 8 << 20;
/// Connections at a time: programs ask for many queries at once, and nobody else gets in their way.
const SHARES: Shares = Shares { strangers: 1024, admitted: 512, idle_gives_way: false };

/// A server that has its port and does not answer yet.
pub(crate) struct VirtualServer {
    listener: TcpListener,
    guard: Guard,
}

/// Who may ask.
#[derive(Clone)]
struct Guard {
    port: u16,
    /// What a program has to bring; any program of this machine may ask where there is none.
    token: Option<Arc<Secret>>,
}

impl VirtualServer {
    /// Takes the port, or a free one for 0. With a token, only programs that bring it are answered.
    pub(crate) async fn bind(port: u16, token: Option<Secret>) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
        let port = listener.local_addr()?.port();
        Ok(Self { listener, guard: Guard { port, token: token.map(Arc::new) } })
    }

    /// Where requests are posted to, with the token.
    pub(crate) fn address(&self) -> String {
        let Guard { port, token } = &self.guard;
        let token =
            token.as_ref().map_or_else(String::new, |token| format!("?token={}", token.reveal()));
        format!("http://127.0.0.1:{port}/virtual{token}")
    }

    /// Answers until it is asked to end. What is under way then is answered and kept, unless it is
    /// asked once more.
    pub(crate) async fn run(self, door: VirtualDoor, asked: watch::Receiver<u8>) {
        let door = Arc::new(door);
        let shares = Shares { idle_gives_way: self.guard.token.is_none(), ..SHARES };
        let rooms = Router::new()
            .route("/virtual", post(called))
            .fallback(|| async { (StatusCode::NOT_FOUND, json("{\"detail\":\"Not Found\"}")) })
            .with_state(Arc::clone(&door))
            .layer(middleware::from_fn_with_state(self.guard, guard));
        let asked_times = |times| {
            let mut asked = asked.clone();
            async move { drop(asked.wait_for(|now| *now >= times).await) }
        };
        connections::answer(self.listener, &rooms, shares, asked_times(1), asked_times(2)).await;
        tokio::select! {
            biased;
            () = asked_times(2) => {}
            () = door.land() => {}
        }
    }
}

/// A page elsewhere must not make a browser spend money here, nor a program of another user.
async fn guard(
    State(guard): State<Guard>,
    Extension(connection): Extension<Connection>,
    request: Request,
    next: Next,
) -> Response {
    let (head, body) = request.into_parts();
    let refused = gate::foreign(&head, guard.port).or_else(|| {
        let brings = guard.token.as_ref().is_none_or(|token| brings(&head, token));
        (!brings).then_some((
            StatusCode::UNAUTHORIZED,
            "This server needs its token: use the whole address that it printed, or the header `Authorization: Bearer TOKEN`.",
        ))
    });
    if let Some((status, why)) = refused {
        return connections::close_after((status, format!("{why}\n")).into_response());
    }
    connection.admit();
    next.run(Request::from_parts(head, body)).await
}

/// True when the address or the header carries the token.
fn brings(head: &Parts, token: &Secret) -> bool {
    let in_address = head.uri.query().into_iter().flat_map(|query| query.split('&'));
    let in_address = in_address.filter_map(|pair| pair.strip_prefix("token="));
    let in_header =
        head.headers.get_all(header::AUTHORIZATION).iter().filter_map(|value| value.to_str().ok());
    let in_header = in_header.filter_map(|value| value.strip_prefix("Bearer "));
    in_address.chain(in_header).any(|word| token.is(word))
}

async fn called(
    State(door): State<Arc<VirtualDoor>>,
    Extension(connection): Extension<Connection>,
    body: Body,
) -> Response {
    let Ok(body) = body::to_bytes(body, LONGEST_BODY).await else {
        return (StatusCode::PAYLOAD_TOO_LARGE, json("{\"detail\":\"The request is too long.\"}"))
            .into_response();
    };
    // Not before: one that says only half of what it asks is idle.
    let _at_work = connection.work();
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
