//! The files of a run that is being made: its transcript, written now and then while it grows and
//! always at the end, and its journal. Owns when something is written; how, is in `publish` and
//! `journal`.
use super::{Crew, Halt, blocking};
use crate::disk::DiskError;
use crate::event::What;
use crate::journal::{Journal, Ran, Record};
use crate::publish;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How often the transcript of a run that goes fast is written. What was paid for is in the journal
/// at once.
const PAUSE: Duration = Duration::from_millis(250);
/// How long to wait when the disk is full.
const FULL: Duration = Duration::from_secs(5);

/// Where a run writes.
pub(super) struct Desk {
    crew: Arc<Crew>,
    path: String,
    pub(super) journal: Journal,
    last: Option<Instant>,
    /// How the file was left.
    left: Option<Stamp>,
}

/// What tells one state of a file from another: length, last change, number.
type Stamp = (u64, i64, i64, u64);

impl Desk {
    pub(super) fn new(crew: Arc<Crew>, path: String, journal: Journal) -> Self {
        Self { crew, path, journal, last: None, left: None }
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
            let (dir, path, content) =
                (self.crew.output_dir.clone(), self.path.clone(), Arc::clone(&text));
            let left = self.left;
            match blocking(move || put(&dir, &path, content.as_bytes(), left)).await? {
                Ok(left) => {
                    (self.last, self.left) = (Some(Instant::now()), left);
                    return Ok(());
                }
                Err(error) if error.is_full() => {
                    attempt += 1;
                    let why = "the disk is full; make room, and the run goes on".to_owned();
                    let wait_ms = u64::try_from(FULL.as_millis()).unwrap_or(u64::MAX);
                    self.crew
                        .teller
                        .tell(Some(&self.path), What::Retrying { attempt, wait_ms, why });
                    tokio::select! {
                        () = self.crew.stops.hard.cancelled() => return Err(Halt::Stopped),
                        () = tokio::time::sleep(FULL) => {}
                    }
                }
                Err(error) => {
                    return Err(Halt::Broken(format!(
                        "{} could not be written: {}",
                        self.path, error.why
                    )));
                }
            }
        }
    }

    /// Writes the transcript of a run that is left, once: not where somebody edited it or took it
    /// away meanwhile, and what is in the way is no reason to stay, for what was paid for is in the
    /// journal.
    pub(super) async fn leave(&self, text: String) {
        let (dir, path, left) = (self.crew.output_dir.clone(), self.path.clone(), self.left);
        let written = blocking(move || {
            let is_ours = left.is_some() && stamp_of(&dir.join(&path)) == left;
            if is_ours { publish::replace(&dir, &path, text.as_bytes()) } else { Ok(()) }
        });
        if let Ok(Err(error)) = written.await {
            tracing::warn!(%error, "a run that was left was not written once more");
        }
    }

    /// Notes that nothing the journal has by now is to be taken again.
    pub(super) async fn outlive(&self) {
        if let Err(error) = self.journal.append(Record::Anew).await {
            tracing::warn!(%error, "that the file has everything was not noted in the journal");
        }
    }

    /// Notes what a tool returned, so that it is not run again. Where that does not work, it is:
    /// nobody paid for it.
    pub(super) fn note(&self, ran: Ran) {
        if let Err(error) = self.journal.note(Record::Tool(ran)) {
            tracing::warn!(%error, "what a tool returned was not noted");
        }
    }
}

/// Puts the transcript in its place. One that somebody edited since we wrote it is moved aside
/// first, so that nothing is lost.
fn put(
    dir: &Path,
    path: &str,
    content: &[u8],
    left: Option<Stamp>,
) -> Result<Option<Stamp>, DiskError> {
    let file = dir.join(path);
    if let (Some(left), Some(now)) = (left, stamp_of(&file))
        && now != left
    {
        let aside = publish::move_aside(dir, path)?;
        tracing::warn!(
            ?aside,
            "somebody edited {path} while the run was made; the edit was moved aside"
        );
    }
    publish::replace(dir, path, content)?;
    Ok(stamp_of(&file))
}

fn stamp_of(file: &Path) -> Option<Stamp> {
    let meta = fs_err::symlink_metadata(file).ok()?;
    Some((meta.len(), meta.mtime(), meta.mtime_nsec(), meta.ino()))
}
