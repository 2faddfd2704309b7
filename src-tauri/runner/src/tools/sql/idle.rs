//! Connections to an SQLite file between two questions, so that not each has to open the file and
//! read its schema. Owns when one may be asked again: it answers as a new one would, and the file
//! is the one that it was opened on, untouched.
use rusqlite::Connection;
use std::ffi::OsString;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use touchstone_clock as clock;

/// More are closed: each has pages of the file in memory.
const MOST: usize = 4;

/// A connection, and what it was opened on.
#[derive(Debug)]
pub(super) struct Opened {
    pub(super) connection: Connection,
    path: PathBuf,
    /// Of the file before it was opened, where another would be known by it.
    state: Option<State>,
    is_plain: bool,
}

impl Opened {
    /// Opens a file by its own path, without links.
    pub(super) fn on<E>(
        path: PathBuf,
        open: impl FnOnce(&Path) -> Result<Connection, E>,
    ) -> Result<Self, E> {
        let state = State::of(&path).filter(State::is_settled);
        Ok(Self { connection: open(&path)?, path, state, is_plain: false })
    }

    /// True when nothing of a question that was answered is left in it, and it is in nobody's way.
    /// The answer waits for this, so no lock is waited for.
    fn is_clean(&mut self) -> bool {
        let is_prompt = self.connection.busy_timeout(Duration::ZERO).is_ok();
        self.is_plain = self.is_plain || (is_prompt && has_no_virtual_tables(&self.connection));
        self.is_plain
            && self.connection.is_autocommit()
            && !self.connection.is_busy()
            && !self.has_log()
    }

    /// True for a file whose writers put what they write into a log beside it. As long as a
    /// connection stood, nobody could clear that log away.
    fn has_log(&self) -> bool {
        let mut log = OsString::from(&self.path);
        log.push("-wal");
        fs_err::symlink_metadata(log).is_ok()
    }
}

/// Virtual tables keep things of their own in a connection: a full-text table counts the questions
/// it was asked, and tells. None can be made without the word; who else has it in a schema is only
/// taken for one.
fn has_no_virtual_tables(connection: &Connection) -> bool {
    let virtuals = "SELECT count(*) FROM sqlite_schema WHERE CAST(sql AS TEXT) LIKE '%virtual%'";
    connection.query_row(virtuals, [], |row| row.get(0)) == Ok(0)
}

/// What tells one state of a file from another: where it is, its length, its last change and that
/// of what is said of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct State {
    place: [u64; 2],
    length: u64,
    written: (i64, i64),
    changed: (i64, i64),
}

impl State {
    fn of(path: &Path) -> Option<Self> {
        let meta = fs_err::metadata(path).ok()?;
        let (written, changed) =
            ((meta.mtime(), meta.mtime_nsec()), (meta.ctime(), meta.ctime_nsec()));
        Some(Self { place: [meta.dev(), meta.ino()], length: meta.len(), written, changed })
    }

    /// Whether whoever writes to the file from now on leaves another state. Nobody can set the date
    /// that says so; one that lies ahead is of another clock than ours.
    fn is_settled(&self) -> bool {
        let (seconds, ns) = self.changed;
        let (changed, now) =
            (seconds.saturating_mul(1_000_000_000).saturating_add(ns), clock::now_ns());
        changed < now && clock::is_settled(changed, now)
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
        let of_another = waiting.extract_if(.., |opened| opened.state != now).collect::<Vec<_>>();
        let taken = waiting.pop();
        drop(waiting);
        drop(of_another);
        taken
    }

    /// Takes back a connection that answered, or closes it.
    pub(super) fn give(&self, mut opened: Opened) {
        if opened.state.is_none()
            || !opened.is_clean()
            || opened.connection.progress_handler(0, None::<fn() -> bool>).is_err()
        {
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
