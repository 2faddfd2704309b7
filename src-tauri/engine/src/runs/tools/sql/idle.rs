//! Connections to an SQLite file between two questions, so that not each has to open the file and read its schema. Owns when one
//! may be asked again: only while the file is the one that it was opened on, untouched.
use rusqlite::Connection;
use std::ffi::OsString;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// More are closed: each has pages of the file in memory.
const MOST: usize = 4;

/// A connection, and what it was opened on.
#[derive(Debug)]
pub(super) struct Opened {
    pub(super) connection: Connection,
    path: PathBuf,
    /// Of the file before it was opened, where it could be told.
    state: Option<State>,
}

impl Opened {
    /// Opens a file by its own path, without links.
    pub(super) fn on<E>(path: PathBuf, open: impl FnOnce(&Path) -> Result<Connection, E>) -> Result<Self, E> {
        let state = State::of(&path);
        Ok(Self { connection: open(&path)?, path, state })
    }

    /// True when another program writes to a log beside the file. As long as a connection stood, that log could not be cleared away.
    fn has_log(&self) -> bool {
        let mut log = OsString::from(&self.path);
        log.push("-wal");
        fs_err::symlink_metadata(log).is_ok()
    }
}

/// What tells one state of a file from another: where it is, its length, its last change and that of what is said of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct State([u64; 3], [i64; 4]);

impl State {
    fn of(path: &Path) -> Option<Self> {
        let meta = fs_err::metadata(path).ok()?;
        let changed = [meta.mtime(), meta.mtime_nsec(), meta.ctime(), meta.ctime_nsec()];
        Some(Self([meta.dev(), meta.ino(), meta.len()], changed))
    }
}

/// Connections that wait.
#[derive(Debug, Default)]
pub(super) struct Idle(Mutex<Vec<Opened>>);

impl Idle {
    /// A connection to the file that is there now; all to another are closed.
    pub(super) fn take(&self, path: &Path) -> Option<Opened> {
        let now = State::of(path);
        let mut waiting = self.lock();
        waiting.retain(|opened| opened.state.is_some() && opened.state == now);
        waiting.pop()
    }

    /// Takes back a connection, or closes it.
    pub(super) fn give(&self, mut opened: Opened) {
        let unwatched = opened.connection.progress_handler(0, None::<fn() -> bool>);
        if unwatched.is_err() || opened.has_log() {
            return;
        }
        let mut waiting = self.lock();
        if waiting.len() < MOST {
            waiting.push(opened);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Opened>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
