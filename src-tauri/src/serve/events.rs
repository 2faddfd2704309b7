//! Stream of server-sent events. A reader that is too slow is told that everything is stale, and
//! delays no other reader.
use super::ServerState;
use axum::{
    extract::State,
    response::sse::{Event, KeepAlive, Sse},
};
use std::{
    convert::Infallible,
    time::{SystemTime, UNIX_EPOCH},
};
use tokio::sync::broadcast;
use tokio_stream::{Stream, StreamExt as _, wrappers::BroadcastStream};
use touchstone_api::{AppEvent, Stale};

/// Maximum number of events buffered for a slow reader before they are dropped.
const WAITING: usize = 256;

/// Broadcast channel of events.
#[derive(Clone)]
pub(crate) struct Events(broadcast::Sender<AppEvent>);

impl Events {
    /// Creates a channel without readers.
    pub(crate) fn new() -> Self {
        Self(broadcast::Sender::new(WAITING))
    }

    /// Sends an event to all readers, if any.
    pub(crate) fn send(&self, event: &AppEvent) {
        let _ = self.0.send(event.clone());
    }

    #[cfg(test)]
    pub(super) fn readers(&self) -> usize {
        self.0.receiver_count()
    }
}

/// Handles `GET /api/events`.
pub(super) async fn stream(
    State(inside): State<ServerState>,
) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let happened = BroadcastStream::new(inside.events.0.subscribe());
    let told =
        happened.filter_map(|event| message(&event.unwrap_or_else(|_lagged| everything())).map(Ok));
    Sse::new(told).keep_alive(KeepAlive::default())
}

/// Formats an event. Returns `None` for one that cannot be serialized, because browsers never
/// dispatch an event without data.
fn message(event: &AppEvent) -> Option<Event> {
    serde_json::to_string(event).ok().map(|text| Event::default().data(text))
}

fn everything() -> AppEvent {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    AppEvent { at_ms: i64::try_from(since.as_millis()).unwrap_or(i64::MAX), stale: Stale::Folder }
}
