//! Server of virtual APIs for local programs: `POST /virtual` on 127.0.0.1. Owns the socket and the
//! admission; the engine answers the calls.
use super::connections::{self, Connection, ConnectionLimits};
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
use std::{io, sync::Arc};
use tokio::{net::TcpListener, sync::watch};
use touchstone_app::suites::virtual_apis::VirtualEndpoint;

/// Maximum number of bytes of a request. Inputs of calls are short, but some contain a document.
const LONGEST_BODY: usize = 8 << 20;
/// Connection limits. Programs send many queries concurrently, and other clients must not get in
/// their way.
const SHARES: ConnectionLimits =
    ConnectionLimits { strangers: 1024, admitted: 512, idle_gives_way: false };

/// A server that is bound to its port, but does not answer yet.
pub(crate) struct VirtualServer {
    listener: TcpListener,
    guard: Guard,
}

/// Admission rules.
#[derive(Clone)]
struct Guard {
    port: u16,
    /// Token that a client has to send; `None` admits any program of this machine.
    token: Option<Arc<Secret>>,
}

impl VirtualServer {
    /// Binds the port, or a free one for 0. With a token, only clients that send it are answered.
    pub(crate) fn bind(port: u16, token: Option<Secret>) -> io::Result<Self> {
        let listener = connections::listen(port)?;
        let port = listener.local_addr()?.port();
        Ok(Self { listener, guard: Guard { port, token: token.map(Arc::new) } })
    }

    /// Returns the address to post requests to, with the token.
    pub(crate) fn address(&self) -> String {
        let Guard { port, token } = &self.guard;
        let token =
            token.as_ref().map_or_else(String::new, |token| format!("?token={}", token.reveal()));
        format!("http://127.0.0.1:{port}/virtual{token}")
    }

    /// Serves until the first shutdown request. Calls in progress are then still answered and
    /// cached, until a second request.
    pub(crate) async fn run(self, door: VirtualEndpoint, asked: watch::Receiver<u8>) {
        let door = Arc::new(door);
        let shares = ConnectionLimits { idle_gives_way: self.guard.token.is_none(), ..SHARES };
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

/// Refuses requests that foreign websites make through a browser, or that programs of other users
/// send, because calls cost money.
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

/// Returns true if the URL or the header carries the token.
fn brings(head: &Parts, token: &Secret) -> bool {
    let in_address = head.uri.query().into_iter().flat_map(|query| query.split('&'));
    let in_address = in_address.filter_map(|pair| pair.strip_prefix("token="));
    let in_header =
        head.headers.get_all(header::AUTHORIZATION).iter().filter_map(|value| value.to_str().ok());
    let in_header = in_header.filter_map(|value| value.strip_prefix("Bearer "));
    in_address.chain(in_header).any(|word| token.is(word))
}

async fn called(
    State(door): State<Arc<VirtualEndpoint>>,
    Extension(connection): Extension<Connection>,
    body: Body,
) -> Response {
    let Ok(body) = body::to_bytes(body, LONGEST_BODY).await else {
        return (StatusCode::PAYLOAD_TOO_LARGE, json("{\"detail\":\"The request is too long.\"}"))
            .into_response();
    };
    // Not earlier: a client that sends only half of its request is idle.
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
