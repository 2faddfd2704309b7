//! The index: an SQLite file and the text blob next to it. Owns opening, verifying and rebuilding
//! it, and its connections: one writer, any number of readers. Writing is implemented in `record`
//! and `words`, querying in `query` and `search`.
use super::blob::{BlobWriter, TextBlob};
use super::checksum;
use super::columns::{ColumnCache, Columns};
use super::index_dir::{self, IndexDir};
use super::run_set::RunSet;
use super::snapshot_cache::{Names, Snapshot, SnapshotCache, StepArena, sums_from};
use fs_err as fs;
use rusqlite::{Connection, OpenFlags};
use std::collections::BTreeSet;
use std::ops::Deref;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

/// Increased with every change of `schema.sql` or of the stored content. An index of another
/// version is rebuilt.
pub const SCHEMA_VERSION: i64 = 44;

/// Maximum number of idle read connections.
const IDLE_READERS: usize = 4;

/// Task, system and model of runs that are repeats of each other.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Cell {
    pub(crate) task: String,
    pub(crate) system: Option<String>,
    pub(crate) model: Option<String>,
}

impl Cell {
    /// Returns the cell of a row of the index, with its task, system and model from an index on;
    /// `None` without a task.
    pub(crate) fn from_row(row: &rusqlite::Row<'_>, at: usize) -> rusqlite::Result<Option<Self>> {
        let (system, model) = (row.get(at + 1)?, row.get(at + 2)?);
        Ok(row.get::<_, Option<String>>(at)?.map(|task| Self { task, system, model }))
    }
}

/// Cells and identities whose rows were written or deleted in the open transaction.
#[derive(Debug, Default)]
pub(crate) struct Touched {
    pub(crate) cells: BTreeSet<Cell>,
    pub(crate) identities: BTreeSet<i64>,
}

impl Touched {
    /// Adds the cell and the identity of a row.
    pub(crate) fn add(&mut self, cell: Option<Cell>, identity: Option<i64>) {
        self.cells.extend(cell);
        self.identities.extend(identity);
    }
}

/// Error of the index.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// SQLite error.
    #[error("the index could not be read: {0}")]
    Sql(#[from] rusqlite::Error),
    /// I/O error.
    #[error("the index could not be read: {0}")]
    Io(#[from] std::io::Error),
    /// The file was made by another version, or is not an index.
    #[error("the index was not made by this version")]
    Foreign,
    /// The files were removed, replaced or changed by another program while open.
    #[error("the index was removed, replaced or changed while it was open; it is being rebuilt")]
    Gone,
}

/// Index of one output directory.
pub struct Index {
    home: Mutex<IndexDir>,
    build: Mutex<Build>,
    idle: Mutex<Vec<(PathBuf, Connection)>>,
    doubt: OnceLock<Box<dyn Fn() + Send + Sync>>,
    /// Build in which a reader found damage.
    doubted: Mutex<Option<PathBuf>>,
    /// The writer was closed.
    is_released: AtomicBool,
    cache: SnapshotCache,
    columns: ColumnCache,
}

/// Folder of an index with the identities of its files.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Build {
    dir: PathBuf,
    files: [Option<(u64, u64)>; DATABASE.len()],
}

/// Files of the database. SQLite keeps them open, so a different file of the same name is foreign.
const DATABASE: [&str; 3] = ["index.db", "index.db-wal", "index.db-shm"];

impl Build {
    fn from_dir(dir: &Path) -> Self {
        Self { dir: dir.to_owned(), files: DATABASE.map(|name| identity(&dir.join(name))) }
    }

    /// Returns true when the files are still the opened ones. Without a writer only the database is
    /// checked, because SQLite then removes the other two.
    fn is_there(&self, is_written: bool) -> bool {
        let same = |(name, known): (&str, &Option<(u64, u64)>)| {
            known.is_none() || identity(&self.dir.join(name)) == *known
        };
        DATABASE
            .into_iter()
            .zip(&self.files)
            .take(if is_written { DATABASE.len() } else { 1 })
            .all(same)
    }
}

/// Returns the device and inode of the file at a path, if there is one.
fn identity(path: &Path) -> Option<(u64, u64)> {
    let meta = fs::symlink_metadata(path).ok().filter(std::fs::Metadata::is_file)?;
    Some((meta.dev(), meta.ino()))
}

/// The only writer of an index.
pub(crate) struct Writer {
    pub(crate) sql: Connection,
    pub(crate) blob: BlobWriter,
    pub(crate) dir: PathBuf,
    /// True when the index was empty at the start.
    pub(crate) fresh: bool,
    /// Rows of the open transaction that other rows depend on.
    pub(crate) touched: Touched,
    commits: Arc<AtomicU64>,
    seen: Option<(u64, Stamps)>,
}

/// Size and last change of the files that hold the data of the database.
type Stamps = [Option<(u64, i64, i64)>; 2];

impl Index {
    /// Opens the index of an output directory. Creates an empty one if there is none or it cannot
    /// be used.
    pub(crate) fn open(cache_dir: &Path, output_dir: &Path) -> Result<(Self, Writer), IndexError> {
        let mut home = IndexDir::claim(cache_dir, output_dir)?;
        let old = home.newest().and_then(|dir| match Writer::open(&dir) {
            Ok(writer) => Some(writer),
            Err(error) => {
                tracing::info!(%error, "the index is rebuilt");
                None
            }
        });
        let writer = match old {
            Some(writer) => writer,
            None => Writer::create(&home.renew()?)?,
        };
        home.tidy();
        let build = Mutex::new(Build::from_dir(&writer.dir));
        Ok((
            Self {
                home: Mutex::new(home),
                build,
                idle: Mutex::default(),
                doubt: OnceLock::new(),
                doubted: Mutex::default(),
                is_released: AtomicBool::new(false),
                cache: SnapshotCache::default(),
                columns: ColumnCache::default(),
            },
            writer,
        ))
    }

    /// Moves the index aside and creates an empty one.
    pub(crate) fn renew(&self) -> Result<Writer, IndexError> {
        let dir = lock(&self.home).renew()?;
        let writer = Writer::create(&dir)?;
        *lock(&self.build) = Build::from_dir(&writer.dir);
        lock(&self.idle).clear();
        self.columns.clear();
        Ok(writer)
    }

    /// Returns true when the files are still the opened ones; the cache may be deleted at any time.
    pub(crate) fn is_there(&self) -> bool {
        let build = lock(&self.build).clone();
        build.is_there(!self.is_released.load(Ordering::Relaxed))
    }

    /// Records that the writer is closed. The index stays readable.
    pub(crate) fn release(&self) {
        self.is_released.store(true, Ordering::Relaxed);
    }

    /// Returns a consistent snapshot of the index. Hold it only briefly. Fails when the files were
    /// removed or replaced.
    pub fn reader(&self) -> Result<Reader<'_>, IndexError> {
        let build = lock(&self.build).clone();
        if !build.is_there(!self.is_released.load(Ordering::Relaxed)) {
            self.suspect(build.dir);
            return Err(IndexError::Gone);
        }
        let build = build.dir;
        let kept = {
            let mut idle = lock(&self.idle);
            idle.retain(|(of, _)| *of == build);
            idle.pop()
        };
        let sql = match kept {
            Some((_, sql)) => sql,
            None => connect(&build, OpenFlags::SQLITE_OPEN_READ_ONLY)?,
        };
        self.trust(Reader::begin(self, sql, build))
    }

    /// Passes a result through. Requests a rebuild of the index if the error indicates damage.
    pub fn trust<T>(&self, result: Result<T, IndexError>) -> Result<T, IndexError> {
        if let Err(error) = &result
            && is_damage(error)
        {
            let dir = lock(&self.build).dir.clone();
            self.suspect(dir);
        }
        result
    }

    fn suspect(&self, dir: PathBuf) {
        *lock(&self.doubted) = Some(dir);
        self.doubt.get().inspect(|tell| tell());
    }

    /// Returns true when a reader found damage in the current build. Reports about earlier builds
    /// are ignored. Clears the report.
    pub(crate) fn is_doubted(&self) -> bool {
        let doubted = lock(&self.doubted).take();
        doubted.is_some_and(|dir| dir == lock(&self.build).dir)
    }

    /// Reads the columns of all runs whenever a reader wants them and it would take long, until
    /// [`Index::stop_columns`].
    pub(crate) fn keep_columns(&self) {
        while self.columns.wait() {
            match self.reader() {
                Ok(reader) => self.columns.read(&reader, &reader.build),
                Err(error) => {
                    tracing::warn!(%error, "the columns of all runs could not be read");
                }
            }
        }
    }

    /// Sets the maximum number of bytes of the columns of all runs: with 0, all is answered by SQL. For
    /// measurements.
    pub fn limit_columns(&self, most: usize) {
        self.columns.limit(most);
    }

    /// Ends [`Index::keep_columns`].
    pub(crate) fn stop_columns(&self) {
        self.columns.stop();
    }

    /// Sets the callback for damage found by a reader. Only the first call has an effect.
    pub(crate) fn when_doubted(&self, tell: Box<dyn Fn() + Send + Sync>) {
        let _ = self.doubt.set(tell);
    }
}

/// Snapshot of the index: SQL through `Deref`, and the matching text.
pub struct Reader<'a> {
    index: &'a Index,
    sql: Option<Connection>,
    build: PathBuf,
    generation: u64,
    blob: (i64, u64),
}

impl<'a> Reader<'a> {
    fn begin(index: &'a Index, sql: Connection, build: PathBuf) -> Result<Self, IndexError> {
        sql.execute_batch("BEGIN")?;
        let generation = u64::try_from(meta(&sql, "generation")?).unwrap_or(0);
        let blob = (meta(&sql, "blob")?, u64::try_from(meta(&sql, "blob_len")?).unwrap_or(0));
        Ok(Self { index, sql: Some(sql), build, generation, blob })
    }

    /// Counter that grows by one with every change of the runs.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// Identifies this snapshot by the build of the index and the generation within it.
    pub fn moment(&self) -> (&Path, u64) {
        (&self.build, self.generation)
    }

    /// Returns the columns of all runs, if they are kept in memory for this snapshot. Those of an earlier
    /// build are not: that of the present would be forgotten for it.
    pub(crate) fn columns(&self) -> Option<Arc<Columns>> {
        let is_present = lock(&self.index.build).dir == self.build;
        if is_present { self.index.columns.columns_at(self, &self.build) } else { None }
    }

    /// Returns the size of the columns of all runs, if they are kept in memory for this snapshot.
    pub fn column_bytes(&self) -> Option<usize> {
        self.columns().map(|columns| columns.bytes())
    }

    /// Orders of all runs that are kept in memory.
    pub(crate) fn column_cache(&self) -> &ColumnCache {
        &self.index.columns
    }

    /// Returns the steps of all runs, if they are kept in memory.
    pub(crate) fn steps(&self) -> Result<Option<Arc<StepArena>>, IndexError> {
        Ok(self.index.cache.steps(self.snapshot())?)
    }

    /// Returns the runs with an answer.
    pub(crate) fn answered(&self) -> Result<Arc<RunSet>, IndexError> {
        Ok(self.index.cache.answered(self.snapshot())?)
    }

    /// Returns the names of all tasks, systems and models.
    pub(crate) fn names(&self) -> Result<Arc<Names>, IndexError> {
        Ok(self.index.cache.names(self.snapshot())?)
    }

    fn snapshot(&self) -> Snapshot<'_> {
        Snapshot { sql: self, moment: self.moment(), blob: self.blob }
    }

    /// Opens the text of this snapshot.
    pub fn text(&self) -> Result<TextBlob, IndexError> {
        let sums = self.index.cache.sums(self.snapshot())?;
        Ok(TextBlob::open(&self.build, self.blob.0, self.blob.1, sums)?)
    }
}

impl Deref for Reader<'_> {
    type Target = Connection;

    #[expect(
        clippy::expect_used,
        reason = "the connection is only taken when the reader is dropped"
    )]
    fn deref(&self) -> &Connection {
        self.sql.as_ref().expect("a reader has its connection until it is dropped")
    }
}

impl Drop for Reader<'_> {
    fn drop(&mut self) {
        let Some(sql) = self.sql.take() else { return };
        let mut idle = lock(&self.index.idle);
        if idle.len() < IDLE_READERS && sql.execute_batch("ROLLBACK").is_ok() {
            idle.push((std::mem::take(&mut self.build), sql));
        }
    }
}

impl Writer {
    fn create(dir: &Path) -> Result<Self, IndexError> {
        // SQLite gives its companion files the permissions of this one.
        index_dir::create_private(&dir.join("index.db"))?;
        let sql = connect(dir, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE)?;
        prepare(&sql)?;
        sql.execute_batch(&format!(
            "BEGIN; {} PRAGMA user_version = {SCHEMA_VERSION}; COMMIT;",
            include_str!("schema.sql")
        ))?;
        let mut blob = BlobWriter::create(dir, 1)?;
        put_sums(&sql, &blob)?;
        blob.mark_saved();
        Self::new(sql, blob, dir, true)
    }

    fn new(
        mut sql: Connection,
        blob: BlobWriter,
        dir: &Path,
        fresh: bool,
    ) -> Result<Self, IndexError> {
        let commits = Arc::new(AtomicU64::new(0));
        let count = Arc::clone(&commits);
        sql.commit_hook(Some(move || {
            count.fetch_add(1, Ordering::Relaxed);
            false
        }))?;
        let touched = Touched::default();
        Ok(Self { sql, blob, dir: dir.to_owned(), fresh, touched, commits, seen: None })
    }

    /// Returns true when the files of the database were written since the previous call, but not
    /// by this writer. SQLite notices such changes only where they break its structure.
    pub(crate) fn is_changed_by_others(&mut self) -> bool {
        if !self.sql.is_autocommit() {
            self.seen = None;
            return false;
        }
        let commits = self.commits.load(Ordering::Relaxed);
        let stamps = [DATABASE[0], DATABASE[1]].map(|name| {
            let meta = fs::symlink_metadata(self.dir.join(name)).ok()?;
            Some((meta.len(), meta.mtime(), meta.mtime_nsec()))
        });
        let is_changed = self.seen.is_some_and(|(at, old)| at == commits && old != stamps);
        self.seen = Some((commits, stamps));
        is_changed
    }

    /// Records the files anew when this writer has committed since they were recorded. Call it soon
    /// after a commit: a change by others between the two is taken for part of it.
    pub(crate) fn record_own_commits(&mut self) {
        let commits = self.commits.load(Ordering::Relaxed);
        if self.seen.is_none_or(|(at, _)| at != commits) {
            self.is_changed_by_others();
        }
    }

    fn open(dir: &Path) -> Result<Self, IndexError> {
        let sql = connect(dir, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        prepare(&sql)?;
        if sql.pragma_query_value(None, "user_version", |row| row.get::<_, i64>(0))?
            != SCHEMA_VERSION
        {
            return Err(IndexError::Foreign);
        }
        let blob = BlobWriter::resume(dir, meta(&sql, "blob")?, &text_of(&sql, dir)?)?;
        Self::new(sql, blob, dir, false)
    }

    /// Returns true when the files on disk are intact. Takes about as long as reading them once.
    pub(crate) fn is_sound(&self) -> bool {
        match checksum::check(&self.dir) {
            checksum::Checked::Whole => true,
            checksum::Checked::Broken => false,
            checksum::Checked::Open => {
                let said =
                    self.sql.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0));
                said.is_ok_and(|said| said == "ok")
            }
        }
    }

    /// Closes the writer and stores checksums of the files, so that the next start can trust them.
    pub(crate) fn close(self) {
        let Self { sql, mut blob, dir, .. } = self;
        let done = blob.flush().is_ok()
            && sql
                .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0))
                .is_ok_and(|busy| busy == 0)
            && sql.close().is_ok();
        if done {
            checksum::put(&dir);
        }
    }
}

/// Opens the text that belongs to the index as this connection sees it.
pub(crate) fn text_of(sql: &Connection, dir: &Path) -> Result<TextBlob, IndexError> {
    let len = u64::try_from(meta(sql, "blob_len")?).unwrap_or(0);
    Ok(TextBlob::open(dir, meta(sql, "blob")?, len, Arc::new(sums_from(sql, 0)?))?)
}

/// Saves the checksums of newly written text. Must run in the transaction that refers to the text.
pub(crate) fn put_sums(sql: &Connection, blob: &BlobWriter) -> Result<(), IndexError> {
    let mut put =
        sql.prepare_cached("INSERT OR REPLACE INTO text_sums (block, sum) VALUES (?, ?)")?;
    for (block, sum) in blob.sums() {
        put.execute((block.cast_signed(), sum.cast_signed()))?;
    }
    Ok(())
}

/// Reads a number from the table `meta`.
pub(crate) fn meta(sql: &Connection, key: &str) -> Result<i64, IndexError> {
    Ok(sql
        .prepare_cached("SELECT value FROM meta WHERE key = ?")?
        .query_row([key], |row| row.get(0))?)
}

/// Returns true for errors that a rebuild of the index fixes.
pub fn is_damage(error: &IndexError) -> bool {
    use rusqlite::ErrorCode::{
        CannotOpen, DatabaseCorrupt, NotADatabase, PermissionDenied, ReadOnly, SystemIoFailure,
        TypeMismatch,
    };
    match error {
        IndexError::Sql(rusqlite::Error::SqliteFailure(failure, message)) => {
            matches!(
                failure.code,
                CannotOpen
                    | DatabaseCorrupt
                    | NotADatabase
                    | PermissionDenied
                    | ReadOnly
                    | SystemIoFailure
                    | TypeMismatch
            ) || message
                .as_deref()
                .is_some_and(|m| m.starts_with("no such") || m.contains("malformed"))
        }
        IndexError::Sql(rusqlite::Error::SqlInputError { msg, .. }) => msg.starts_with("no such"),
        IndexError::Sql(
            rusqlite::Error::InvalidColumnType(..)
            | rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::IntegralValueOutOfRange(..)
            | rusqlite::Error::Utf8Error(..),
        )
        | IndexError::Foreign
        | IndexError::Gone => true,
        IndexError::Io(error) => matches!(
            error.kind(),
            std::io::ErrorKind::InvalidData
                | std::io::ErrorKind::UnexpectedEof
                | std::io::ErrorKind::NotFound
                | std::io::ErrorKind::NotADirectory
                | std::io::ErrorKind::IsADirectory
                | std::io::ErrorKind::PermissionDenied
        ),
        IndexError::Sql(_) => false,
    }
}

fn connect(dir: &Path, flags: OpenFlags) -> Result<Connection, IndexError> {
    let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    // One process at a time uses an index (see `index_dir`), so what SQLite shares between connections
    // stays in this process. In a mapped file it would end the process when the file is cut.
    let sql = Connection::open_with_flags_and_vfs(dir.join("index.db"), flags, c"unix-excl")?;
    sql.busy_timeout(Duration::from_secs(5))?;
    sql.set_prepared_statement_cache_capacity(64);
    Ok(sql)
}

fn prepare(sql: &Connection) -> Result<(), IndexError> {
    let mode: String = sql.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))?;
    if mode != "wal" {
        tracing::warn!(
            mode,
            "the cache is on a file system without write-ahead logging; reading may wait for writing"
        );
    }
    sql.execute_batch(
        "PRAGMA synchronous = NORMAL; PRAGMA journal_size_limit = 67108864; PRAGMA cache_size = -16384; PRAGMA temp_store = MEMORY;",
    )?;
    Ok(())
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    fn opened(cache: &Path) -> (Index, Writer) {
        Index::open(cache, Path::new("/runs")).unwrap()
    }

    #[test]
    fn a_reader_that_is_held_while_the_cache_is_deleted_is_not_asked_again_and_doubts_only_what_it_saw()
     {
        let home = tempfile::tempdir().unwrap();
        let (index, writer) = opened(home.path());
        let held = index.reader().unwrap();
        drop(writer);
        for entry in fs::read_dir(home.path()).unwrap() {
            fs::remove_dir_all(entry.unwrap().path()).unwrap();
        }
        assert!(matches!(index.reader(), Err(IndexError::Gone)));
        let writer = index.renew().unwrap();
        assert!(!index.is_doubted(), "what is gone is not what is in use");
        writer.sql.execute("UPDATE meta SET value = 7 WHERE key = 'generation'", []).unwrap();
        assert_ne!(held.moment().0, writer.dir, "no name is given twice");
        drop(held);
        assert_eq!(index.reader().unwrap().generation(), 7);
        index.trust::<()>(Err(IndexError::Gone)).unwrap_err();
        assert!(index.is_doubted());
    }

    #[test]
    fn bytes_that_another_program_changes_are_noticed_and_own_changes_are_not() {
        let home = tempfile::tempdir().unwrap();
        let (index, mut writer) = opened(home.path());
        let set = |writer: &Writer, value: i64| {
            let sql = "UPDATE meta SET value = ? WHERE key = 'generation'";
            writer.sql.execute(sql, [value]).unwrap()
        };
        set(&writer, 1);
        assert!(!writer.is_changed_by_others(), "nothing is known yet");
        assert!(!writer.is_changed_by_others());
        set(&writer, 2);
        writer.record_own_commits();
        assert!(!writer.is_changed_by_others());
        assert_eq!(index.reader().unwrap().generation(), 2);
        assert!(!writer.is_changed_by_others(), "reading changes nothing");
        writer.sql.execute_batch("PRAGMA wal_checkpoint(TRUNCATE); BEGIN IMMEDIATE").unwrap();
        set(&writer, 3);
        assert!(!writer.is_changed_by_others(), "a transaction may write at any time");
        writer.sql.execute_batch("COMMIT").unwrap();
        for file in ["index.db", "index.db-wal"] {
            assert!(!writer.is_changed_by_others());
            let path = writer.dir.join(file);
            let written = fs::metadata(&path).unwrap().modified().unwrap();
            // Dates of files are as coarse as the ticks of the kernel.
            while fs::metadata(&path).unwrap().modified().unwrap() == written {
                fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(b"x").unwrap();
            }
            assert!(writer.is_changed_by_others(), "{file}");
        }
        assert!(!writer.dir.join("index.db-shm").exists(), "nothing is mapped that others may cut");
    }

    #[test]
    fn an_index_that_another_process_had_beside_goes_when_nobody_has_it_open() {
        let home = tempfile::tempdir().unwrap();
        let folders = || fs::read_dir(home.path()).unwrap().count();
        let (first, _writer) = opened(home.path());
        let (second, _) = opened(home.path());
        let (third, _) = opened(home.path());
        assert_eq!((folders(), index_dir::leftovers(home.path()).len()), (3, 0), "all are in use");
        drop(second);
        assert_eq!(index_dir::leftovers(home.path()).len(), 1);
        let (fourth, _) = opened(home.path());
        assert_eq!(folders(), 3, "it has the place of the one that ended");
        drop((third, fourth));
        drop(first);
        let (_again, _writer) = opened(home.path());
        assert_eq!((folders(), index_dir::leftovers(home.path()).len()), (1, 0));
    }
}
