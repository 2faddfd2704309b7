//! The files of a run that is being made: its transcript, written now and then while it grows and always at the end, and its
//! journal. Owns when something is written; how, is in `publish` and `journal`.
use super::{Crew, Halt, blocking};
use crate::runs::event::What;
use crate::runs::journal::{Journal, Record};
use crate::runs::publish;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How often the transcript of a run that goes fast is written. What was paid for is in the journal at once.
const PAUSE: Duration = Duration::from_millis(250);
/// How long to wait when the disk is full.
const FULL: Duration = Duration::from_secs(5);

/// Where a run writes.
pub(super) struct Desk {
    crew: Arc<Crew>,
    path: String,
    pub(super) journal: Journal,
    last: Option<Instant>,
}

impl Desk {
    pub(super) fn new(crew: Arc<Crew>, path: String, journal: Journal) -> Self {
        Self { crew, path, journal, last: None }
    }

    /// How long the transcript may wait to be written.
    pub(super) fn due(&self) -> Duration {
        self.last.map_or(Duration::ZERO, |last| PAUSE.saturating_sub(last.elapsed()))
    }

    /// Writes the transcript. A full disk is waited for, because what would be lost was paid for.
    pub(super) async fn write(&mut self, text: String) -> Result<(), Halt> {
        let text: Arc<str> = text.into();
        let mut attempt = 1;
        loop {
            let (dir, path, content) = (self.crew.output_dir.clone(), self.path.clone(), Arc::clone(&text));
            match blocking(move || publish::replace(&dir, &path, content.as_bytes())).await? {
                Ok(()) => {
                    self.last = Some(Instant::now());
                    return Ok(());
                }
                Err(error) if error.is_full() => {
                    attempt += 1;
                    let why = "the disk is full; make room, and the run goes on".to_owned();
                    let wait_ms = u64::try_from(FULL.as_millis()).unwrap_or(u64::MAX);
                    self.crew.teller.tell(Some(&self.path), What::Retrying { attempt, wait_ms, why });
                    tokio::select! {
                        () = self.crew.stops.hard.cancelled() => return Err(Halt::Stopped),
                        () = tokio::time::sleep(FULL) => {}
                    }
                }
                Err(error) => return Err(Halt::Broken(format!("{} could not be written: {error}.", self.path))),
            }
        }
    }

    /// Notes something in the journal.
    pub(super) async fn note(&mut self, record: Record) -> Result<(), Halt> {
        Ok(self.journal.append(record).await?)
    }
}
