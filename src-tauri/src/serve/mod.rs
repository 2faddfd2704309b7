//! The served form: the same page and the same commands over HTTP, on 127.0.0.1 only. Owns sockets, routes and headers;
//! who may speak is decided in `gate`, and what a command does in the engine.
mod events;
mod gate;
mod page;
mod secret;

use axum::{
    Router,
    body::{self, Body, Bytes},
    extract::{Path, Request, State},
    http::{HeaderValue, StatusCode, header},
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use gate::{Gate, Verdict};
use hyper::server::conn::http1;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::GracefulShutdown,
    service::TowerToHyperService,
};
use secret::Secret;
use std::{future::Future, io, net::Ipv4Addr, pin::pin, sync::Arc, time::Duration};
use tokio::{net::TcpListener, task::JoinSet};
use touchstone_engine::error::{AppError, Code};

pub(crate) use events::Events;
pub(crate) use page::Page;

/// Arguments are ids, filters and spans; nothing long.
const LONGEST_BODY: usize = 64 * 1024;
/// Connections at a time. Every user of this machine can open them, and each takes one of our files.
const MOST_CONNECTIONS: usize = 128;
/// How long the head of a request may take to arrive, so that nobody holds a connection by saying nothing.
const SLOWEST_HEAD: Duration = Duration::from_secs(if cfg!(test) { 1 } else { 10 });
/// How long to wait after a connection could not be taken.
const AFTER_FAILURE: Duration = Duration::from_millis(200);
/// How long requests may take to end after Ctrl-C.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// A command by name, with the JSON of its arguments, and the JSON of its reply.
pub(crate) type Calls = dyn Fn(&str, &[u8]) -> Result<Vec<u8>, AppError> + Send + Sync;

/// What is behind the door.
#[derive(Clone)]
pub(crate) struct Inside {
    /// Runs a command.
    pub(crate) calls: Arc<Calls>,
    /// What happens.
    pub(crate) events: Events,
    /// What is shown.
    pub(crate) page: Arc<Page>,
}

/// A server that has its port and does not answer yet.
pub(crate) struct Server {
    listener: TcpListener,
    gate: Arc<Gate>,
}

impl Server {
    /// Takes the port, or a free one for 0.
    pub(crate) async fn bind(port: u16) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
        let port = listener.local_addr()?.port();
        let gate = Gate::new(port, Secret::random()?, Secret::random()?);
        Ok(Self { listener, gate: Arc::new(gate) })
    }

    /// The address to open, with the token.
    pub(crate) fn address(&self) -> String {
        self.gate.address()
    }

    /// Answers until `end`. Event streams never end by themselves, so they are cut.
    pub(crate) async fn run(self, inside: Inside, end: impl Future<Output = ()> + Send + 'static) -> io::Result<()> {
        let service = TowerToHyperService::new(router(inside, self.gate));
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new()).header_read_timeout(SLOWEST_HEAD);
        let (graceful, mut connections) = (GracefulShutdown::new(), JoinSet::new());
        let mut end = pin!(end);
        loop {
            tokio::select! {
                () = &mut end => break,
                Some(_) = connections.join_next() => {}
                accepted = self.listener.accept(), if connections.len() < MOST_CONNECTIONS => match accepted {
                    Ok((stream, _)) => {
                        let connection = http.serve_connection(TokioIo::new(stream), service.clone());
                        connections.spawn(graceful.watch(connection));
                    }
                    Err(error) => {
                        tracing::warn!(%error, "a connection could not be taken");
                        tokio::time::sleep(AFTER_FAILURE).await;
                    }
                },
            }
        }
        drop(self.listener);
        tokio::select! {
            () = graceful.shutdown() => {}
            () = tokio::time::sleep(LAST_WORDS) => {}
        }
        Ok(())
    }
}

fn router(inside: Inside, gate: Arc<Gate>) -> Router {
    Router::new()
        .route("/api/events", get(events::stream))
        .route("/api/{name}", post(command))
        .fallback(page::show)
        .with_state(inside)
        .layer(middleware::from_fn_with_state(gate, guard))
}

/// Everything passes here, errors included, so every reply carries the headers.
async fn guard(State(gate): State<Arc<Gate>>, request: Request, next: Next) -> Response {
    let (head, body) = request.into_parts();
    let mut response = match gate.judge(&head) {
        Verdict::Pass => next.run(Request::from_parts(head, body)).await,
        Verdict::Welcome(cookie) => {
            (StatusCode::SEE_OTHER, [(header::LOCATION, "/".to_owned()), (header::SET_COOKIE, cookie)]).into_response()
        }
        Verdict::Refuse(status, why) if head.uri.path().starts_with("/api/") => {
            let code = if status.is_client_error() && status != 403 { Code::BadRequest } else { Code::NotAllowed };
            refusal(status, &AppError::new(code, why))
        }
        Verdict::Refuse(status, why) => (status, format!("{why}\n")).into_response(),
    };
    for (name, value) in page::HEADERS {
        response.headers_mut().entry(name).or_insert(HeaderValue::from_static(value));
    }
    response
}

async fn command(State(inside): State<Inside>, Path(name): Path<String>, body: Body) -> Response {
    let Ok(arguments) = body::to_bytes(body, LONGEST_BODY).await else {
        let error = AppError::new(Code::BadRequest, format!("The arguments are longer than {LONGEST_BODY} bytes."));
        return refusal(StatusCode::PAYLOAD_TOO_LARGE, &error);
    };
    let done = tokio::task::spawn_blocking(move || (inside.calls)(&name, &arguments)).await;
    match done.unwrap_or_else(|_| {
        Err(AppError::new(Code::Failed, "The command broke off because of a mistake in Touchstone."))
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
