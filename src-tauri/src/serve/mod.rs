//! HTTP server for the page and its commands, on 127.0.0.1 only. Owns sockets, routes and headers;
//! `gate` decides about admission, and the engine implements the commands.
mod connections;
pub(crate) mod control;
mod events;
mod gate;
mod invites;
mod page;
mod peer;
mod secret;
mod sessions;
mod socket;
mod virtual_apis;

use axum::{
    Extension, Router,
    body::{self, Body, Bytes},
    extract::{Path, Request, State},
    http::{HeaderValue, StatusCode, header},
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use connections::{Connection, ConnectionLimits};
use gate::{Gate, Verdict};
use std::{
    future::Future,
    io,
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::net::TcpListener;
use touchstone_app::error::{AppError, Code};

pub(crate) use events::Events;
pub(crate) use invites::Invites;
pub(crate) use page::Page;
pub(crate) use secret::Secret;
use sessions::EarlierSessions;
pub(crate) use virtual_apis::VirtualServer;

/// Maximum number of bytes of a request body. Arguments are ids, filters and spans; few are long.
const LONGEST_BODY: usize = 64 * 1024;
/// Maximum number of bytes of a request body with a text of a person, which is at most 1 MB itself.
const LONGEST_TEXT_BODY: usize = 4 << 20;
/// Commands with a text of a person.
const WITH_TEXT: [&str; 2] = ["plan_generation", "start_generation"];
/// Connection limits for the owner's browsers and for all other clients. Each connection uses a
/// file descriptor.
const SHARES: ConnectionLimits = ConnectionLimits {
    strangers: if cfg!(test) { 256 } else { 1024 },
    admitted: 128,
    idle_gives_way: false,
};
/// Time for requests to end after Ctrl-C.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// Runs a command: name and JSON arguments to JSON reply.
pub(crate) type Calls = dyn Fn(&str, &[u8]) -> Result<Vec<u8>, AppError> + Send + Sync;

/// State of the request handlers.
#[derive(Clone)]
pub(crate) struct ServerState {
    /// Runs a command.
    pub(crate) calls: Arc<Calls>,
    /// Events of the engine.
    pub(crate) events: Events,
    /// Files of the page.
    pub(crate) page: Arc<Page>,
}

/// A server that is bound to its port, but does not answer yet.
pub(crate) struct Server {
    listener: TcpListener,
    front: AccessState,
}

/// State of the admission check.
#[derive(Clone)]
struct AccessState {
    port: u16,
    gate: Arc<Gate>,
    invites: Arc<Invites>,
}

impl Server {
    /// Binds the port, or a free one for 0. Pages of earlier servers on it may go on. Fails if the
    /// port is in use.
    pub(crate) fn bind(port: u16, state_dir: &std::path::Path) -> io::Result<Self> {
        let listener = connections::listen(port)?;
        let port = listener.local_addr()?.port();
        let session = Secret::random()?;
        let earlier = EarlierSessions::take(state_dir, port, &session).unwrap_or_else(|error| {
            tracing::warn!(%error, "sessions are not remembered");
            EarlierSessions::default()
        });
        let gate = Arc::new(Gate::new(port, session, earlier));
        Ok(Self {
            listener,
            front: AccessState { port, gate, invites: Arc::new(Invites::new(port)) },
        })
    }

    /// Returns the port.
    pub(crate) fn port(&self) -> u16 {
        self.front.port
    }

    /// Returns the source of addresses to open.
    pub(crate) fn invites(&self) -> Arc<Invites> {
        Arc::clone(&self.front.invites)
    }

    /// Serves until `end`. Event streams never end by themselves, therefore they are cut.
    pub(crate) async fn run(
        self,
        inside: ServerState,
        end: impl Future<Output = ()> + Send + 'static,
    ) -> io::Result<()> {
        let rooms = router(inside, self.front);
        // The time starts when the future is first polled.
        let hurry = async { tokio::time::sleep(LAST_WORDS).await };
        connections::answer(self.listener, &rooms, SHARES, end, hurry).await;
        Ok(())
    }
}

fn router(inside: ServerState, front: AccessState) -> Router {
    Router::new()
        .route("/api/events", get(events::stream))
        .route("/api/{name}", post(command))
        .fallback(page::show)
        .with_state(inside)
        .layer(middleware::from_fn_with_state(front, guard))
}

/// Checks admission. All responses pass through here, including errors, and get the security
/// headers.
async fn guard(
    State(front): State<AccessState>,
    Extension(connection): Extension<Connection>,
    request: Request,
    next: Next,
) -> Response {
    let (head, body) = request.into_parts();
    let is_ours = || peer::is_ours(connection.peer(), front.port);
    let take = |code: &str| front.invites.take(code, Instant::now(), is_ours);
    let verdict = front.gate.judge(&head, take, is_ours);
    if !matches!(verdict, Verdict::Refuse(..)) {
        connection.admit();
    }
    let mut response = match verdict {
        Verdict::Pass => next.run(Request::from_parts(head, body)).await,
        Verdict::Renew(cookie) => {
            let mut response = next.run(Request::from_parts(head, body)).await;
            if let Ok(cookie) = HeaderValue::from_str(&cookie) {
                response.headers_mut().append(header::SET_COOKIE, cookie);
            }
            response
        }
        Verdict::Welcome(cookie) => (
            StatusCode::SEE_OTHER,
            [(header::LOCATION, "/".to_owned()), (header::SET_COOKIE, cookie)],
        )
            .into_response(),
        Verdict::Refuse(status, why) if head.uri.path().starts_with("/api/") => {
            let code = if status.is_client_error() && status != 403 {
                Code::BadRequest
            } else {
                Code::NotAllowed
            };
            connections::close_after(refusal(status, &AppError::new(code, why)))
        }
        Verdict::Refuse(status, why) => {
            connections::close_after((status, format!("{why}\n")).into_response())
        }
    };
    for (name, value) in page::HEADERS {
        response.headers_mut().entry(name).or_insert(HeaderValue::from_static(value));
    }
    response
}

async fn command(
    State(inside): State<ServerState>,
    Path(name): Path<String>,
    body: Body,
) -> Response {
    let most = if WITH_TEXT.contains(&name.as_str()) { LONGEST_TEXT_BODY } else { LONGEST_BODY };
    let Ok(arguments) = body::to_bytes(body, most).await else {
        let error =
            AppError::new(Code::BadRequest, format!("The arguments are longer than {most} bytes."));
        return refusal(StatusCode::PAYLOAD_TOO_LARGE, &error);
    };
    let done = tokio::task::spawn_blocking(move || (inside.calls)(&name, &arguments)).await;
    match done.unwrap_or_else(|_| {
        Err(AppError::new(Code::Failed, "The command failed with an internal error of Touchstone."))
    }) {
        Ok(reply) => json(StatusCode::OK, reply),
        Err(error) => refusal(status_of(error.code), &error),
    }
}

fn status_of(code: Code) -> StatusCode {
    match code {
        Code::BadRequest => StatusCode::BAD_REQUEST,
        Code::NotAllowed => StatusCode::FORBIDDEN,
        Code::NotFound => StatusCode::NOT_FOUND,
        Code::NoFolder => StatusCode::CONFLICT,
        Code::Gone => StatusCode::GONE,
        Code::Failed => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

fn refusal(status: StatusCode, error: &AppError) -> Response {
    json(status, serde_json::to_vec(error).unwrap_or_default())
}

fn json(status: StatusCode, text: impl Into<Bytes>) -> Response {
    (status, [(header::CONTENT_TYPE, "application/json")], text.into()).into_response()
}

#[cfg(test)]
mod tests;
