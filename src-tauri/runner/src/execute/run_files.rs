//! Files of a run in progress: its transcript, written at intervals and always at the end, and its
//! journal. Owns the time of each write; the writing itself is in `publish` and `journal`.
use super::{LaunchContext, RunError, blocking};
use crate::atomic_write::{self, Stamp};
use crate::disk::DiskError;
use crate::event::RunEventKind;
use crate::journal::{Journal, Ran, Record};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Minimum interval between writes of a transcript. Paid replies are in the journal at once.
const PAUSE: Duration = Duration::from_millis(250);
/// Retry interval while the disk is full.
const FULL: Duration = Duration::from_secs(5);

/// Files of a run in progress.
pub(super) struct RunFiles {
    crew: Arc<LaunchContext>,
    path: String,
    pub(super) journal: Journal,
    last: Option<Instant>,
    /// State of the file as it was read or after our last write; `None` if there was no file.
    left: Option<Stamp>,
}

impl RunFiles {
    pub(super) fn new(
        crew: Arc<LaunchContext>,
        path: String,
        journal: Journal,
        left: Option<Stamp>,
    ) -> Self {
        Self { crew, path, journal, last: None, left }
    }

    /// Returns the time until the transcript may be written again.
    pub(super) fn due(&self) -> Duration {
        self.last.map_or(Duration::ZERO, |last| PAUSE.saturating_sub(last.elapsed()))
    }

    /// Writes the transcript. Retries while the disk is full, because the content was paid for.
    pub(super) async fn write(&mut self, text: String) -> Result<(), RunError> {
        let text: Arc<str> = text.into();
        let mut attempt = 1;
        loop {
            let (dir, path, content) =
                (self.crew.output_dir.clone(), self.path.clone(), Arc::clone(&text));
            let left = self.left;
            match blocking(move || put(&dir, &path, content.as_bytes(), left)).await? {
                Ok(left) => {
                    (self.last, self.left) = (Some(Instant::now()), Some(left));
                    return Ok(());
                }
                Err(error) if error.is_full() => {
                    attempt += 1;
                    let why = "the disk is full; free some space, and the run continues".to_owned();
                    let wait_ms = u64::try_from(FULL.as_millis()).unwrap_or(u64::MAX);
                    self.crew
                        .teller
                        .send(Some(&self.path), RunEventKind::Retrying { attempt, wait_ms, why });
                    tokio::select! {
                        () = self.crew.stops.hard.cancelled() => return Err(RunError::Stopped),
                        () = tokio::time::sleep(FULL) => {}
                    }
                }
                Err(error) => {
                    return Err(RunError::Broken(format!(
                        "{} could not be written: {}",
                        self.path, error.why
                    )));
                }
            }
        }
    }

    /// Writes the transcript of a run that stops, once. Does nothing if a user edited or removed
    /// the file meanwhile. Errors are only logged, because paid replies are in the journal.
    pub(super) async fn write_final(&self, text: String) {
        let (dir, path, left) = (self.crew.output_dir.clone(), self.path.clone(), self.left);
        let written = blocking(move || {
            let is_own = left.is_some() && atomic_write::stamp_of(&dir, &path)? == left;
            if is_own { put(&dir, &path, text.as_bytes(), left).map(drop) } else { Ok(()) }
        });
        if let Ok(Err(error)) = written.await {
            tracing::warn!(%error, "a run that was left was not written once more");
        }
    }

    /// Records in the journal that none of its present replies may be used again.
    pub(super) async fn invalidate_journal(&self) {
        if let Err(error) = self.journal.append(Record::Anew).await {
            tracing::warn!(%error, "that the file has everything was not noted in the journal");
        }
    }

    /// Journals the outcome of a tool call, which prevents a second execution. Errors are only
    /// logged, because tool calls cost nothing.
    pub(super) fn note(&self, ran: Ran) {
        if let Err(error) = self.journal.note(Record::Tool(ran)) {
            tracing::warn!(%error, "what a tool returned was not noted");
        }
    }
}

/// Writes the transcript. A version that a user wrote since `left` is moved aside, which preserves
/// the edit.
fn put(dir: &Path, path: &str, content: &[u8], left: Option<Stamp>) -> Result<Stamp, DiskError> {
    let (stamp, aside) = atomic_write::replace_own(dir, path, content, left)?;
    if let Some(aside) = aside {
        tracing::warn!(
            ?aside,
            "somebody edited {path} while the run was made; the edit was moved aside"
        );
    }
    Ok(stamp)
}
