//! Judgement files in an output directory, with a lock while a run is being judged and a separate
//! journal, which keeps any reply from being bought twice. The format of the file is owned by
//! `formats::judgement`.
use super::disk::{DiskError, Folder, PRIVATE, SIDECARS, split};
use super::journal::Journal;
use super::lock::{LockError, RunLock};
use super::{atomic_write, fault};
use rustix::fs::Mode;
use std::path::Path;
use touchstone_formats::judgement;

/// Folder of judgements inside `.touchstone`.
const FOLDER: &str = "judgements";
/// Folder name that no run can have, because hidden files are never runs.
const HIDDEN: &str = ".judgements";
/// Maximum bytes of a judgement file; the program writes no longer ones.
const MOST: u64 = 64 << 20;
/// Mode of new files, limited by the umask, like transcripts.
const FRESH: Mode = Mode::from_raw_mode(0o666);

/// Exclusive access to the judgements of one run.
pub struct JudgementFiles {
    /// Journal that makes replies durable before they are used.
    pub journal: Journal,
    folder: Folder,
    name: String,
    _lock: RunLock,
}

impl JudgementFiles {
    /// Locks the run's judgements and removes temporary files that a dead process left beside the
    /// file and the journal. May block for some milliseconds.
    pub fn take(output_dir: &Path, run: &str) -> Result<Self, LockError> {
        let file = judgement::file_of(run);
        let hidden = format!("{HIDDEN}/{file}");
        let lock = RunLock::take(output_dir, &hidden)?;
        let journal = Journal::open(output_dir, &hidden)?;
        let (folders, name) = split(&file)?;
        let folder =
            Folder::make(output_dir, &[&[SIDECARS, FOLDER], folders.as_slice()].concat(), PRIVATE)?;
        atomic_write::sweep(output_dir, &hidden)?;
        atomic_write::clear(&folder, name)?;
        Ok(Self { journal, folder, name: name.to_owned(), _lock: lock })
    }

    /// Returns the content of the file, or `None` if it does not exist.
    pub fn read(&self) -> Result<Option<Vec<u8>>, DiskError> {
        self.folder.read(&self.name, MOST)
    }

    /// Replaces the file atomically: readers see the old content or the new.
    pub fn write(&self, text: &str) -> Result<(), DiskError> {
        fault::point!("judgement.before");
        atomic_write::put(&self.folder, &self.name, text.as_bytes(), FRESH)
    }
}

/// Describes in a sentence the reason the judgements cannot be locked.
pub fn describe_lock_error(error: &LockError) -> String {
    match error {
        LockError::Held { by } => format!("Another process is judging it ({by})."),
        other => other.to_string(),
    }
}
