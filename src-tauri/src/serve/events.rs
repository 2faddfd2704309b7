//! What happened, as one stream of server-sent events. Who reads too slowly is told that everything
//! is stale, and slows nobody.
use super::Inside;
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

/// Events that wait for a slow reader before it loses them.
const WAITING: usize = 256;

/// Where events come in and readers hang on.
#[derive(Clone)]
pub(crate) struct Events(broadcast::Sender<AppEvent>);

impl Events {
    /// Without readers.
    pub(crate) fn new() -> Self {
        Self(broadcast::Sender::new(WAITING))
    }

    /// Passes one on; nobody listening is fine.
    pub(crate) fn send(&self, event: &AppEvent) {
        let _ = self.0.send(event.clone());
    }

    #[cfg(test)]
    pub(super) fn readers(&self) -> usize {
        self.0.receiver_count()
    }
}

/// `GET /api/events`.
pub(super) async fn stream(
    State(inside): State<Inside>,
) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let happened = BroadcastStream::new(inside.events.0.subscribe());
    let told =
        happened.filter_map(|event| message(&event.unwrap_or_else(|_lagged| everything())).map(Ok));
    Sse::new(told).keep_alive(KeepAlive::default())
}

/// A browser never dispatches an event without text, so one that cannot be written is left out.
fn message(event: &AppEvent) -> Option<Event> {
    serde_json::to_string(event).ok().map(|text| Event::default().data(text))
}

fn everything() -> AppEvent {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    AppEvent { at_ms: i64::try_from(since.as_millis()).unwrap_or(i64::MAX), stale: Stale::Folder }
}
