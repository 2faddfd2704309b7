//! Result file of an evaluation and the files that accompany it while it is made: a lock, a
//! separate journal, which keeps any reply from being bought twice, and finally the raw replies.
//! The format of the result file is not known here.
use super::disk::{DiskError, Folder, PRIVATE, PUBLIC, split};
use super::journal::{self, Journal, JournalSnapshot};
use super::lock::{LockError, RunLock};
use super::{atomic_write, disk, fault};
use rustix::fs::Mode;
use rustix::io::Errno;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use touchstone_formats::replies_path;

/// Folder name that no run can have, because hidden files are never runs.
const HIDDEN: &str = ".evaluations";
/// Folder below `.touchstone/replaced/` for replaced replies.
const REPLIES: &str = "evaluations";
/// Suffix of the file that stores the request of an unfinished evaluation.
const UNFINISHED: &str = ".unfinished";
/// Limits on the unfinished requests that are read: their number, and the bytes of each. A request
/// may contain a program that the user wrote.
const MOST_UNFINISHED: usize = 100;
const LONGEST_REQUEST: u64 = 4 << 20;
/// Maximum bytes of a result file; the program writes no longer ones.
const MOST: u64 = 1 << 30;
/// Mode of new files, limited by the umask, like transcripts.
const FRESH: Mode = Mode::from_raw_mode(0o666);
/// Mode of stored requests: this user only.
const OWN: Mode = Mode::from_raw_mode(0o600);

/// Location of a result file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputFile {
    /// Folder that exists or can be created.
    pub dir: PathBuf,
    /// Path of the file below `dir`, with `/` between the parts. Locks and journals are kept in the
    /// folder of the file itself. They are therefore found regardless of the folder the path is
    /// relative to.
    pub path: String,
}

impl OutputFile {
    /// Checks that the path is plain and stays below `dir`.
    pub fn check(&self) -> Result<(), DiskError> {
        split(&self.path).map(drop)
    }

    /// Returns whether the file exists.
    pub fn exists(&self) -> Result<bool, DiskError> {
        match self.folder()? {
            Some((folder, name)) => Ok(folder.plain_file(name)?.is_some()),
            None => Ok(false),
        }
    }

    /// Returns the replies from earlier attempts, without taking the lock.
    pub fn journal_snapshot(&self) -> Result<JournalSnapshot, DiskError> {
        match self.folder()? {
            Some((folder, name)) => journal::read_snapshot(&folder.path, &hidden(name)),
            None => Ok(JournalSnapshot::default()),
        }
    }

    /// Returns the content of the file, or `None` if it does not exist.
    pub fn read(&self) -> Result<Option<Vec<u8>>, DiskError> {
        disk::read(&self.dir, &self.path, MOST)
    }

    /// Returns whether a path that the user named is this file, also under another name of it (same
    /// device and inode).
    pub fn is(&self, path: &Path) -> bool {
        let which = |path: &Path| fs_err::metadata(path).ok().map(|meta| (meta.dev(), meta.ino()));
        which(&self.dir.join(&self.path)).is_some_and(|here| which(path) == Some(here))
    }

    /// Writes the results atomically: readers see either nothing or all of them. Fails if the file
    /// exists, unless `replace` is set; then a copy of the old file is kept.
    pub fn write(&self, bytes: &[u8], replace: bool) -> Result<(), DiskError> {
        fault::point!("evaluation.before");
        if replace {
            if let Some((folder, name)) = self.folder()? {
                spare(&folder.path, (&folder, name), &[], bytes)?;
            }
            return atomic_write::replace(&self.dir, &self.path, bytes);
        }
        // Checks and writes in one step: another process may have created the file since it was
        // requested.
        atomic_write::add(&self.dir, &self.path, bytes)?.then_some(()).ok_or_else(|| DiskError {
            kind: disk::DiskErrorKind::InTheWay,
            path: self.path.clone(),
            why: "the file already exists. Choose another name, or replace it.".to_owned(),
        })
    }

    fn folder(&self) -> Result<Option<(Folder, &str)>, DiskError> {
        let (folders, name) = split(&self.path)?;
        if !self.dir.is_dir() {
            return Ok(None);
        }
        Ok(Folder::find(&self.dir, &folders)?.map(|folder| (folder, name)))
    }
}

/// Name under which the lock and the journal of a file are kept.
fn hidden(name: &str) -> String {
    format!("{HIDDEN}/{name}")
}

/// Exclusive access to the result file of one evaluation.
pub struct EvaluationFiles {
    kept: Option<ReplyFiles>,
    _lock: RunLock,
}

/// Files that are kept for results that cost money.
struct ReplyFiles {
    journal: Journal,
    /// Folder of the result file.
    home: PathBuf,
    folder: Folder,
    name: String,
}

/// Replies to keep beside a result file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplyRetention {
    /// No replies: the file is only written.
    Nothing,
    /// Replies, including those from earlier attempts.
    Replies,
    /// Replies; those from earlier attempts are moved aside.
    Anew,
}

impl EvaluationFiles {
    /// Locks the file. May block for some milliseconds.
    pub fn take(place: &OutputFile, keeping: ReplyRetention) -> Result<Self, LockError> {
        let (folders, name) = split(&place.path)?;
        // Made first, so that no link on the way is followed.
        let home = Folder::make_whole(&place.dir, &folders, PUBLIC)?;
        let lock = RunLock::take(&home.path, &hidden(name))?;
        // Temporary files of a process that died.
        atomic_write::clear(&home, name)?;
        if keeping == ReplyRetention::Anew {
            atomic_write::journal_aside(&home.path, &hidden(name))?;
        }
        let kept = (keeping != ReplyRetention::Nothing)
            .then(|| ReplyFiles::open(&home, name))
            .transpose()?;
        Ok(Self { kept, _lock: lock })
    }

    /// Journal that makes replies durable before they are used; `None` if nothing is kept.
    pub fn journal(&self) -> Option<&Journal> {
        self.kept.as_ref().map(|kept| &kept.journal)
    }

    /// Stores the request until the results exist. Does nothing if no replies are kept, because
    /// then there is nothing to resume.
    pub fn begin(&self, asked: &[u8]) -> Result<(), DiskError> {
        let Some(kept) = &self.kept else { return Ok(()) };
        atomic_write::put(&kept.folder, &kept.unfinished(), asked, OWN)
    }

    /// Removes the stored request once the results exist.
    pub fn end(&self) -> Result<(), DiskError> {
        let Some(kept) = &self.kept else { return Ok(()) };
        let name = kept.unfinished();
        match kept.folder.remove(&name) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(kept.folder.error(&name, error)),
        }
    }

    /// Writes the raw replies beside the results. Replies of results that were replaced are kept
    /// with those.
    pub fn keep(&self, text: &str) -> Result<(), DiskError> {
        let Some(ReplyFiles { home, folder, name, .. }) = &self.kept else { return Ok(()) };
        spare(home, (folder, name), &[REPLIES], text.as_bytes())?;
        atomic_write::put(folder, name, text.as_bytes(), FRESH)
    }
}

impl ReplyFiles {
    fn open(home: &Folder, name: &str) -> Result<Self, DiskError> {
        let journal = Journal::open(&home.path, &hidden(name))?;
        let replies = replies_path::replies(name);
        let mut parts: Vec<&str> = replies.split('/').collect();
        let beside = parts.pop().unwrap_or_default().to_owned();
        let folder = Folder::make(&home.path, &parts, PRIVATE)?;
        atomic_write::clear(&folder, &beside)?;
        Ok(Self { journal, home: home.path.clone(), folder, name: beside })
    }

    fn unfinished(&self) -> String {
        format!("{}{UNFINISHED}", self.name)
    }
}

/// Returns the stored requests of the unfinished evaluations in a folder of results, in the order
/// of their file names.
pub fn unfinished(output_dir: &Path, folder: &str) -> Result<Vec<Vec<u8>>, DiskError> {
    if !output_dir.is_dir() {
        return Ok(Vec::new());
    }
    let replies = replies_path::replies("any.json");
    let mut parts: Vec<&str> = replies.split('/').collect();
    parts.pop();
    let Some(folder) = Folder::find(output_dir, &[&[folder], parts.as_slice()].concat())? else {
        return Ok(Vec::new());
    };
    let mut names: Vec<String> = folder.names("");
    names.retain(|name| name.ends_with(UNFINISHED));
    names.sort();
    let read = names
        .iter()
        .take(MOST_UNFINISHED)
        .filter_map(|name| folder.read(name, LONGEST_REQUEST).ok()?);
    Ok(read.collect())
}

/// Keeps a copy of a file that is about to be overwritten, below `.touchstone/replaced/` of `home`.
/// Does nothing if the content stays the same.
fn spare(
    home: &Path,
    (folder, name): (&Folder, &str),
    to: &[&str],
    by: &[u8],
) -> Result<(), DiskError> {
    match folder.read(name, MOST)? {
        Some(old) if old != by => atomic_write::keep(home, to, name, &old),
        _ => Ok(()),
    }
}

/// Describes in a sentence the reason a file cannot be locked.
pub fn describe_lock_error(error: &LockError) -> String {
    match error {
        LockError::Held { by } => format!("Another process is making these results ({by})."),
        other => other.to_string(),
    }
}

/// Splits a path that the user typed into folder and file name.
pub fn output_file_from_path(out: &Path) -> Option<OutputFile> {
    let name = out.file_name()?.to_str()?.to_owned();
    let dir = out.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Some(OutputFile { dir: dir.to_owned(), path: name })
}
