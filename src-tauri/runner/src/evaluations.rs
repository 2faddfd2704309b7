//! A file of results of an evaluation, and what goes with it while it is made: a lock, a journal of
//! its own, so that no reply is bought twice, and in the end the raw replies beside it. What stands
//! in such a file is not known here.
use super::disk::{DiskError, Folder, PRIVATE, PUBLIC, split};
use super::journal::{self, Journal, Kept};
use super::lock::{LockError, RunLock};
use super::{disk, fault, publish};
use rustix::fs::Mode;
use rustix::io::Errno;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use touchstone_formats::beside;

/// A name that no run has, because nothing hidden is a run.
const HIDDEN: &str = ".evaluations";
/// Where replies are kept among what was replaced.
const REPLIES: &str = "evaluations";
/// What the name of a file ends in that says what was asked for.
const UNFINISHED: &str = ".unfinished";
/// So many of these are read, and so much of each; a program of a person may be in it.
const MOST_UNFINISHED: usize = 100;
const LONGEST_REQUEST: u64 = 4 << 20;
/// A longer file is none that we wrote.
const MOST: u64 = 1 << 30;
/// As far as the umask lets it, like transcripts.
const FRESH: Mode = Mode::from_raw_mode(0o666);
/// Nobody else needs to know what was asked for.
const OWN: Mode = Mode::from_raw_mode(0o600);

/// Where results go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// A folder that is there, or can be made.
    pub dir: PathBuf,
    /// The file below it, with `/` between the parts. Our own things (locks, journals) are in the
    /// folder of the file itself, so that they are the same whichever folder the file was named
    /// from.
    pub path: String,
}

impl Place {
    /// Whether it can be written to at all: a plain path that leads nowhere else.
    pub fn check(&self) -> Result<(), DiskError> {
        split(&self.path).map(drop)
    }

    /// Whether there is such a file.
    pub fn exists(&self) -> Result<bool, DiskError> {
        match self.folder()? {
            Some((folder, name)) => Ok(folder.plain_file(name)?.is_some()),
            None => Ok(false),
        }
    }

    /// Replies that are there from before, without taking anything.
    pub fn kept(&self) -> Result<Kept, DiskError> {
        match self.folder()? {
            Some((folder, name)) => journal::look(&folder.path, &hidden(name)),
            None => Ok(Kept::default()),
        }
    }

    /// What is in it.
    pub fn read(&self) -> Result<Option<Vec<u8>>, DiskError> {
        disk::read(&self.dir, &self.path, MOST)
    }

    /// Whether a file that a person named is this one, also by another name of it.
    pub fn is(&self, path: &Path) -> bool {
        let which = |path: &Path| fs_err::metadata(path).ok().map(|meta| (meta.dev(), meta.ino()));
        which(&self.dir.join(&self.path)).is_some_and(|here| which(path) == Some(here))
    }

    /// Puts the results in their place: whoever looks sees nothing, or all of them. What is there
    /// stays unless it may be replaced, and then a copy of it is kept.
    pub fn write(&self, bytes: &[u8], replace: bool) -> Result<(), DiskError> {
        fault::point!("evaluation.before");
        if replace {
            if let Some((folder, name)) = self.folder()? {
                spare(&folder.path, (&folder, name), &[], bytes)?;
            }
            return publish::replace(&self.dir, &self.path, bytes);
        }
        // Looked at and written in one step: another may have been faster, also since it was asked
        // for.
        publish::add(&self.dir, &self.path, bytes)?.then_some(()).ok_or_else(|| DiskError {
            kind: disk::DiskErrorKind::InTheWay,
            path: self.path.clone(),
            why: "there is such a file already. Choose another name, or replace it.".to_owned(),
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

/// What the lock and the journal of a file go by.
fn hidden(name: &str) -> String {
    format!("{HIDDEN}/{name}")
}

/// The results of one evaluation, for whoever makes them: nobody else does at the same time.
pub struct Bench {
    kept: Option<Beside>,
    _lock: RunLock,
}

/// What is kept for results that are paid for.
struct Beside {
    journal: Journal,
    /// Where the results go.
    home: PathBuf,
    folder: Folder,
    name: String,
}

/// What is to be kept for a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keeping {
    /// Nothing: it is only written.
    Nothing,
    /// Replies, with those that are there.
    Replies,
    /// Replies; those that are there are moved aside.
    Anew,
}

impl Bench {
    /// Takes the file. May wait for some milliseconds.
    pub fn take(place: &Place, keeping: Keeping) -> Result<Self, LockError> {
        let (folders, name) = split(&place.path)?;
        // Made first: on the way to it no link is followed.
        let home = Folder::make_whole(&place.dir, &folders, PUBLIC)?;
        let lock = RunLock::take(&home.path, &hidden(name))?;
        // What a process that died left half written.
        publish::clear(&home, name)?;
        if keeping == Keeping::Anew {
            publish::journal_aside(&home.path, &hidden(name))?;
        }
        let kept = (keeping != Keeping::Nothing).then(|| Beside::of(&home, name)).transpose()?;
        Ok(Self { kept, _lock: lock })
    }

    /// Replies, durable before anything is made of them.
    pub fn journal(&self) -> Option<&Journal> {
        self.kept.as_ref().map(|kept| &kept.journal)
    }

    /// Keeps what was asked for until the results are there; what is not paid for is not gone on
    /// with.
    pub fn begin(&self, asked: &[u8]) -> Result<(), DiskError> {
        let Some(kept) = &self.kept else { return Ok(()) };
        publish::put(&kept.folder, &kept.unfinished(), asked, OWN)
    }

    /// The results are there: nothing is left to go on with.
    pub fn end(&self) -> Result<(), DiskError> {
        let Some(kept) = &self.kept else { return Ok(()) };
        let name = kept.unfinished();
        match kept.folder.remove(&name) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(kept.folder.error(&name, error)),
        }
    }

    /// Keeps raw replies beside the results; those of the results that are replaced are kept with
    /// them.
    pub fn keep(&self, text: &str) -> Result<(), DiskError> {
        let Some(Beside { home, folder, name, .. }) = &self.kept else { return Ok(()) };
        spare(home, (folder, name), &[REPLIES], text.as_bytes())?;
        publish::put(folder, name, text.as_bytes(), FRESH)
    }
}

impl Beside {
    fn of(home: &Folder, name: &str) -> Result<Self, DiskError> {
        let journal = Journal::open(&home.path, &hidden(name))?;
        let replies = beside::replies(name);
        let mut parts: Vec<&str> = replies.split('/').collect();
        let beside = parts.pop().unwrap_or_default().to_owned();
        let folder = Folder::make(&home.path, &parts, PRIVATE)?;
        publish::clear(&folder, &beside)?;
        Ok(Self { journal, home: home.path.clone(), folder, name: beside })
    }

    fn unfinished(&self) -> String {
        format!("{}{UNFINISHED}", self.name)
    }
}

/// What was asked for in a folder of results and has none yet, as it was kept.
pub fn unfinished(output_dir: &Path, folder: &str) -> Result<Vec<Vec<u8>>, DiskError> {
    if !output_dir.is_dir() {
        return Ok(Vec::new());
    }
    let replies = beside::replies("any.json");
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

/// Keeps a copy of a file that something else is about to be written over, among what was replaced
/// below `home`.
fn spare(
    home: &Path,
    (folder, name): (&Folder, &str),
    to: &[&str],
    by: &[u8],
) -> Result<(), DiskError> {
    match folder.read(name, MOST)? {
        Some(old) if old != by => publish::keep(home, to, name, &old),
        _ => Ok(()),
    }
}

/// Why a file cannot be taken, in a sentence.
pub fn taken(error: &LockError) -> String {
    match error {
        LockError::Held { by } => format!("Another process is making these results ({by})."),
        other => other.to_string(),
    }
}

/// The folder and the name of a path that somebody typed.
pub fn place_of(out: &Path) -> Option<Place> {
    let name = out.file_name()?.to_str()?.to_owned();
    let dir = out.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Some(Place { dir: dir.to_owned(), path: name })
}
