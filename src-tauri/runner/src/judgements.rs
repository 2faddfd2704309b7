//! Files of judgements in an output directory, and what goes with them: a lock for as long as a run
//! is judged, and a journal of its own, so that no reply is bought twice. What stands in such a
//! file is for `formats::judgement` to know.
use super::disk::{DiskError, Folder, PRIVATE, SIDECARS, split};
use super::journal::Journal;
use super::lock::{LockError, RunLock};
use super::{fault, publish};
use rustix::fs::Mode;
use std::path::Path;
use touchstone_formats::judgement;

/// Where they are, in our own folder.
const FOLDER: &str = "judgements";
/// A name that no run has, because nothing hidden is a run.
const HIDDEN: &str = ".judgements";
/// A longer file is none that we wrote.
const MOST: u64 = 64 << 20;
/// As far as the umask lets it, like transcripts.
const FRESH: Mode = Mode::from_raw_mode(0o666);

/// The judgements of one run, for whoever judges it: nobody else does at the same time.
pub struct Bench {
    /// Replies, durable before anything is made of them.
    pub journal: Journal,
    folder: Folder,
    name: String,
    _lock: RunLock,
}

impl Bench {
    /// Takes the run, and removes what a process that died left beside the file and the journal.
    /// May wait for some milliseconds.
    pub fn take(output_dir: &Path, run: &str) -> Result<Self, LockError> {
        let file = judgement::file_of(run);
        let hidden = format!("{HIDDEN}/{file}");
        let lock = RunLock::take(output_dir, &hidden)?;
        let journal = Journal::open(output_dir, &hidden)?;
        let (folders, name) = split(&file)?;
        let folder =
            Folder::make(output_dir, &[&[SIDECARS, FOLDER], folders.as_slice()].concat(), PRIVATE)?;
        publish::sweep(output_dir, &hidden)?;
        publish::clear(&folder, name)?;
        Ok(Self { journal, folder, name: name.to_owned(), _lock: lock })
    }

    /// The file as it is.
    pub fn read(&self) -> Result<Option<Vec<u8>>, DiskError> {
        self.folder.read(&self.name, MOST)
    }

    /// Puts another in its place: whoever looks sees the old one or the new one.
    pub fn write(&self, text: &str) -> Result<(), DiskError> {
        fault::point!("judgement.before");
        publish::put(&self.folder, &self.name, text.as_bytes(), FRESH)
    }
}

/// Why a run cannot be taken, in a sentence.
pub fn taken(error: &LockError) -> String {
    match error {
        LockError::Held { by } => format!("Another process is judging it ({by})."),
        other => other.to_string(),
    }
}
