//! Pool of idle connections to an SQLite file, which saves opening the file and reading its schema
//! for each query. Owns the conditions for reuse: the connection behaves like a new one, and the
//! file is unchanged since it was opened.
use rusqlite::Connection;
use std::ffi::OsString;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use touchstone_clock as clock;

/// Maximum number of idle connections; each keeps pages of the file in memory.
const MOST: usize = 4;

/// A connection with the state of its file.
#[derive(Debug)]
pub(super) struct Opened {
    pub(super) connection: Connection,
    path: PathBuf,
    /// State of the file before it was opened; `None` if a later change might not be detected.
    state: Option<State>,
    is_plain: bool,
}

impl Opened {
    /// Opens a file by its canonical path.
    pub(super) fn on<E>(
        path: PathBuf,
        open: impl FnOnce(&Path) -> Result<Connection, E>,
    ) -> Result<Self, E> {
        let state = State::from_path(&path).filter(State::is_settled);
        Ok(Self { connection: open(&path)?, path, state, is_plain: false })
    }

    /// Returns true if no state of the last query is left and the connection blocks no writer. Does
    /// not wait for locks, because the answer is delayed by this check.
    fn is_clean(&mut self) -> bool {
        let is_prompt = self.connection.busy_timeout(Duration::ZERO).is_ok();
        self.is_plain = self.is_plain || (is_prompt && has_no_virtual_tables(&self.connection));
        self.is_plain
            && self.connection.is_autocommit()
            && !self.connection.is_busy()
            && !self.has_log()
    }

    /// Returns true if writers use a write-ahead log. An open connection would keep them from
    /// removing the log.
    fn has_log(&self) -> bool {
        let mut log = OsString::from(&self.path);
        log.push("-wal");
        fs_err::symlink_metadata(log).is_ok()
    }
}

/// Returns true if the schema has no virtual tables. These keep state in the connection: a
/// full-text table counts its queries and reveals the count. Their definition contains the word
/// `virtual`; other uses of the word only cause a false alarm.
fn has_no_virtual_tables(connection: &Connection) -> bool {
    let virtuals = "SELECT count(*) FROM sqlite_schema WHERE CAST(sql AS TEXT) LIKE '%virtual%'";
    connection.query_row(virtuals, [], |row| row.get(0)) == Ok(0)
}

/// State of a file, for detecting changes: device and inode, length, and modification and status
/// change times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct State {
    place: [u64; 2],
    length: u64,
    written: (i64, i64),
    changed: (i64, i64),
}

impl State {
    fn from_path(path: &Path) -> Option<Self> {
        let meta = fs_err::metadata(path).ok()?;
        let (written, changed) =
            ((meta.mtime(), meta.mtime_nsec()), (meta.ctime(), meta.ctime_nsec()));
        Some(Self { place: [meta.dev(), meta.ino()], length: meta.len(), written, changed })
    }

    /// Returns true if every later write changes the state. Relies on the status change time, which
    /// cannot be set by programs; a time in the future comes from another clock and is not trusted.
    fn is_settled(&self) -> bool {
        let (seconds, ns) = self.changed;
        let (changed, now) =
            (seconds.saturating_mul(1_000_000_000).saturating_add(ns), clock::now_ns());
        changed < now && clock::is_settled(changed, now)
    }
}

/// Pool of idle connections.
#[derive(Debug, Default)]
pub(super) struct Idle(Mutex<Vec<Opened>>);

impl Idle {
    /// Takes a connection to the file's current state; connections to other states are closed.
    pub(super) fn take(&self, path: &Path) -> Option<Opened> {
        let now = State::from_path(path);
        let mut waiting = self.lock();
        let of_another = waiting.extract_if(.., |opened| opened.state != now).collect::<Vec<_>>();
        let taken = waiting.pop();
        drop(waiting);
        drop(of_another);
        taken
    }

    /// Returns a connection to the pool after a successful query, or closes it if it cannot be
    /// reused.
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
