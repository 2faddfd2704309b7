//! Connections: taken, bounded in number and patience, and ended. Owns no route.
use super::Peer;
use axum::{Extension, Router};
use hyper::server::conn::http1;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::GracefulShutdown,
    service::TowerToHyperService,
};
use std::{future::Future, pin::pin, time::Duration};
use tokio::{net::TcpListener, task::JoinSet};

/// How long the head of a request may take to arrive, so that nobody holds a connection by saying nothing.
const SLOWEST_HEAD: Duration = Duration::from_secs(if cfg!(test) { 1 } else { 10 });
/// How long to wait after a connection could not be taken.
const AFTER_FAILURE: Duration = Duration::from_millis(200);
/// Answers on so many connections at a time until `end`; requests that are under way then may go on until `hurry`.
pub(super) async fn answer(
    listener: TcpListener,
    rooms: &Router,
    most: usize,
    end: impl Future<Output = ()> + Send + 'static,
    hurry: impl Future<Output = ()>,
) {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(SLOWEST_HEAD);
    let (graceful, mut connections) = (GracefulShutdown::new(), JoinSet::new());
    let mut end = pin!(end);
    loop {
        tokio::select! {
            () = &mut end => break,
            Some(_) = connections.join_next() => {}
            accepted = listener.accept(), if connections.len() < most => match accepted {
                Ok((stream, peer)) => {
                    // Small replies go out at once.
                    let _ = stream.set_nodelay(true);
                    let service = TowerToHyperService::new(rooms.clone().layer(Extension(Peer(peer))));
                    let connection = http.serve_connection(TokioIo::new(stream), service);
                    connections.spawn(graceful.watch(connection));
                }
                Err(error) => {
                    tracing::warn!(%error, "a connection could not be taken");
                    tokio::time::sleep(AFTER_FAILURE).await;
                }
            },
        }
    }
    drop(listener);
    tokio::select! {
        () = graceful.shutdown() => {}
        () = hurry => {}
    }
}
