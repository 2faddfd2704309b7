//! Tests of reading databases, which SQLite itself writes.
use super::*;
use crate::source::{Folder, NoFolder, Source};
use fs_err as fs;
use proptest::prelude::*;
use rusqlite::Connection;
use std::path::Path;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use touchstone_model::error::ReadErrorKind;

/// Folder on the disk whose files are read whole.
struct Disk<'a>(&'a Path);

impl Folder for Disk<'_> {
    fn open(&self, path: &str) -> Option<Box<dyn Source + '_>> {
        Some(Box::new(fs::read(self.0.join(path)).ok()?))
    }

    fn list(&self, _folder: &str) -> Vec<String> {
        Vec::new()
    }
}

/// Returns the rows of the table `t`: number, text and size of the blob.
fn rows(path: &Path) -> Result<Vec<(i64, String, u64)>, ReadError> {
    let folder = Disk(path);
    let source = folder.open("x.db").ok_or_else(busy)?;
    let database = Database::open(Input { path: "x.db", source: &*source, folder: &folder })?;
    database.read(|pages| all_rows(pages))
}

fn all_rows(pages: &Pages<'_>) -> Result<Vec<(i64, String, u64)>, ReadError> {
    let Some(table) = pages.table("t")? else { return Ok(Vec::new()) };
    let mut rows = Vec::new();
    pages.rows(&table, &[1], &mut |number, record| {
        let record = record?;
        rows.push((number, record.text(1).unwrap_or_default().to_owned(), record.size(2)));
        Ok(ControlFlow::Continue(()))
    })?;
    for (number, text, _) in &rows {
        let record = pages.row(&table, *number, &[1])?;
        assert_eq!(record.as_ref().and_then(|record| record.text(1)), Some(text.as_str()));
    }
    Ok(rows)
}

fn create(path: &Path, setup: &str) -> Connection {
    let sql = Connection::open(path.join("x.db")).unwrap();
    sql.execute_batch(setup).unwrap();
    sql.execute_batch("CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, b BLOB)").unwrap();
    sql
}

fn insert(sql: &Connection, text: &str, size: i64) {
    sql.execute("INSERT INTO t (a, b) VALUES (?1, zeroblob(?2))", (text, size)).unwrap();
}

#[test]
fn rows_of_all_sizes_are_read_from_pages_of_all_sizes() {
    for page in [512, 1_024, 4_096, 65_536] {
        let home = tempfile::tempdir().unwrap();
        let sql = create(home.path(), &format!("PRAGMA page_size = {page}"));
        let mut expected = Vec::new();
        sql.execute_batch("BEGIN").unwrap();
        for (number, length) in (0..600).map(|n| n * 7).chain([70_000, 200_000]).enumerate() {
            let text = "é".repeat(length);
            insert(&sql, &text, 300);
            expected.push((i64::try_from(number).unwrap() + 1, text, 300));
        }
        sql.execute_batch("COMMIT").unwrap();
        drop(sql);
        assert_eq!(rows(home.path()).unwrap(), expected, "{page}");
    }
}

#[test]
fn values_are_those_that_sqlite_gives() {
    let home = tempfile::tempdir().unwrap();
    let sql = Connection::open(home.path().join("x.db")).unwrap();
    sql.execute_batch(
        "CREATE TABLE `v` (`a` text PRIMARY KEY NOT NULL, [b, c] integer DEFAULT 3, \"d)\" real,\n\
         CONSTRAINT x UNIQUE (a), CHECK (a <> 'x,)'));
         INSERT INTO v VALUES ('x', -2, 0.5), ('y', 9223372036854775807, 2.0), ('z', NULL, -1e300),
           (x'ff00', 40000, NULL), ('0', 0, 1), ('1', 1, 1), ('2', -8388609, 1), ('3', 1099511627776, 1);
         ALTER TABLE v ADD COLUMN late integer DEFAULT 7 NOT NULL;",
    )
    .unwrap();
    drop(sql);
    let bytes = fs::read(home.path().join("x.db")).unwrap();
    let input = Input { path: "x.db", source: &bytes, folder: &NoFolder };
    let found = Database::open(input).unwrap().read(|pages| {
        let table = pages.table("v")?.unwrap();
        let places = ["a", "b, c", "d)", "late", "x"].map(|name| table.columns.position(name));
        assert_eq!(places, [Some(0), Some(1), Some(2), Some(3), None]);
        assert_eq!(
            (table.columns.default_number(1), table.columns.default_number(3)),
            (Some(3), Some(7))
        );
        let mut found = Vec::new();
        pages.rows(&table, &[3, 1, 2], &mut |_, record| {
            let record = record?;
            assert_eq!(record.get(3), None);
            let real = match record.get(2) {
                Some(Field::Real(number)) => Some(number.to_string()),
                // Whole numbers in a column of type real may be stored as such.
                Some(Field::Integer(number)) => Some(number.to_string()),
                _ => None,
            };
            found.push((record.integer(1), real));
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(found)
    });
    let real = |number: f64| Some(number.to_string());
    let expected = [
        (Some(-2), real(0.5)),
        (Some(i64::MAX), real(2.0)),
        (None, real(-1e300)),
        (Some(40_000), None),
        (Some(0), real(1.0)),
        (Some(1), real(1.0)),
        (Some(-8_388_609), real(1.0)),
        (Some(1 << 40), real(1.0)),
    ];
    assert_eq!(found.unwrap(), expected);
}

/// Database whose pages after the first ones follow each other.
struct Chain {
    start: Vec<u8>,
    count: u32,
}

impl Source for Chain {
    fn size(&self) -> u64 {
        u64::from(self.count) << 16
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<usize, ReadError> {
        if self.start.read_at(offset, buffer)? == 0 {
            let next = u32::try_from(offset >> 16).unwrap_or_default() + 2;
            buffer.fill(7);
            buffer[..4].copy_from_slice(&next.to_be_bytes());
        }
        Ok(buffer.len())
    }
}

#[test]
fn a_column_behind_one_that_is_too_large_is_read() {
    // A row of 300 MB fills 4,800 pages, and has its first 8,199 bytes in the leaf.
    let (in_leaf, full) = (8_199, 4_800);
    let size = in_leaf + full * (65_536 - 4);
    let blob = size - 7 - 1;
    let varint = |number: u32| {
        let byte = |bits: u32| (number >> bits).to_le_bytes()[0] & 0x7f;
        [28, 21, 14, 7, 0].map(|bits| if bits > 0 { byte(bits) | 0x80 } else { byte(bits) })
    };
    // Its header has the kinds of a blob and of a number of one byte.
    let record = [&[7], &varint(12 + 2 * blob)[..], &[1]].concat();
    let mut start = vec![0; 2 << 16];
    let mut put = |at: usize, bytes: &[u8]| start[at..at + bytes.len()].copy_from_slice(bytes);
    put(0, MAGIC);
    put(16, &[0, 1, 1, 1, 0, 64, 32, 32]);
    put(1 << 16, &[13, 0, 0, 0, 1, 0, 0, 0, 0, 10]);
    put((1 << 16) + 10, &[&varint(size)[..], &[1], &record].concat());
    put((1 << 16) + 16 + in_leaf as usize, &[0, 0, 0, 3]);
    let source = Chain { start, count: full + 2 };
    let pages = Pages::open(&Input { path: "x.db", source: &source, folder: &NoFolder }).unwrap();
    let table = Table { root: 2, columns: Columns::parse("CREATE TABLE t (a, b)").unwrap() };
    let record = pages.row(&table, 1, &[1]).unwrap().unwrap();
    assert_eq!((record.integer(1), record.get(0), record.size(0)), (Some(7), None, blob.into()));
    let kind = |columns: &[usize]| pages.row(&table, 1, columns).map_err(|why| why.kind);
    assert_eq!(kind(&[1, 0]), Err(ReadErrorKind::TooLarge));
}

#[test]
fn the_write_ahead_log_counts_up_to_its_last_commit_and_nothing_is_written() {
    let home = tempfile::tempdir().unwrap();
    let sql = create(home.path(), "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0");
    insert(&sql, "a", 10);
    insert(&sql, &"b".repeat(10_000), 10);
    let names = |path: &Path| {
        let mut names: Vec<_> =
            fs::read_dir(path).unwrap().map(|one| one.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let before = names(home.path());
    let length = |path: &Path| rows(path).map(|rows| rows.len());
    assert_eq!(length(home.path()), Ok(2));
    assert_eq!(names(home.path()), before);
    // An open transaction that was already spilled to the log does not count.
    sql.execute_batch("PRAGMA cache_size = 1; BEGIN").unwrap();
    for _ in 0..50 {
        insert(&sql, &"c".repeat(20_000), 10);
    }
    assert_eq!(length(home.path()), Ok(2));
    sql.execute_batch("COMMIT").unwrap();
    assert_eq!(length(home.path()), Ok(52));
    // A log that is cut off ends with its last complete commit.
    let log = fs::read(home.path().join("x.db-wal")).unwrap();
    let copy = tempfile::tempdir().unwrap();
    fs::copy(home.path().join("x.db"), copy.path().join("x.db")).unwrap();
    for end in [0, 20, 32, 5_000, log.len() / 2, log.len() - 1, log.len()] {
        fs::write(copy.path().join("x.db-wal"), &log[..end]).unwrap();
        assert!(matches!(length(copy.path()), Ok(0..=52)), "{end}");
    }
    sql.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    assert_eq!(length(home.path()), Ok(52));
    // The log begins anew, and frames of its former life are no part of it.
    sql.execute_batch("DELETE FROM t WHERE id > 1").unwrap();
    assert_eq!(length(home.path()), Ok(1));
}

#[test]
fn a_database_in_a_transaction_with_a_journal_is_read_later() {
    let home = tempfile::tempdir().unwrap();
    let sql = create(home.path(), "PRAGMA cache_size = 1");
    insert(&sql, "a", 10);
    sql.execute_batch("BEGIN").unwrap();
    for _ in 0..50 {
        insert(&sql, &"c".repeat(20_000), 10);
    }
    assert_eq!(rows(home.path()).map_err(|error| error.kind), Err(ReadErrorKind::Truncated));
    sql.execute_batch("ROLLBACK").unwrap();
    assert_eq!(rows(home.path()).map(|rows| rows.len()), Ok(1));
}

/// File that another program changes while it is read.
struct Busy {
    bytes: Vec<u8>,
    version: AtomicU64,
    /// Number of reads after which the file is at rest.
    changes: AtomicUsize,
}

impl Source for Busy {
    fn size(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<usize, ReadError> {
        let left = self.changes.load(Ordering::Relaxed);
        if left > 0 {
            self.changes.store(left - 1, Ordering::Relaxed);
            self.version.fetch_add(1, Ordering::Relaxed);
        }
        self.bytes.read_at(offset, buffer)
    }

    fn version(&self) -> u64 {
        self.version.load(Ordering::Relaxed)
    }
}

#[test]
fn a_file_that_changes_meanwhile_is_read_again_and_not_for_ever() {
    let home = tempfile::tempdir().unwrap();
    let sql = create(home.path(), "");
    insert(&sql, "a", 10);
    drop(sql);
    let bytes = fs::read(home.path().join("x.db")).unwrap();
    let count = |changes| {
        let changes = AtomicUsize::new(changes);
        let source = Busy { bytes: bytes.clone(), version: AtomicU64::new(0), changes };
        let input = Input { path: "x.db", source: &source, folder: &NoFolder };
        Database::open(input)?.read(|pages| all_rows(pages)).map(|rows| rows.len())
    };
    assert_eq!((count(0), count(3)), (Ok(1), Ok(1)));
    assert_eq!(count(usize::MAX), Err(busy()));
}

#[test]
fn only_tables_with_row_numbers_are_tables() {
    let home = tempfile::tempdir().unwrap();
    for definition in [
        "CREATE TABLE u (a); CREATE VIEW t AS SELECT * FROM u",
        "CREATE TABLE t (a PRIMARY KEY) WITHOUT ROWID",
        "CREATE VIRTUAL TABLE t USING fts5(a)",
        "CREATE TABLE u (a); CREATE INDEX t ON u (a)",
    ] {
        let path = home.path().join("x.db");
        fs::remove_file(&path).ok();
        let sql = Connection::open(path).unwrap();
        sql.execute_batch(definition).unwrap();
        drop(sql);
        assert_eq!(rows(home.path()), Ok(Vec::new()), "{definition}");
    }
}

#[test]
fn pages_that_refer_to_each_other_in_a_circle_are_an_error() {
    let home = tempfile::tempdir().unwrap();
    let sql = create(home.path(), "PRAGMA page_size = 512");
    sql.execute_batch("BEGIN").unwrap();
    for _ in 0..100 {
        insert(&sql, "abc", 200);
    }
    sql.execute_batch("COMMIT").unwrap();
    let select = "SELECT rootpage FROM sqlite_schema WHERE name = 't'";
    let root: u32 = sql.query_row(select, [], |row| row.get(0)).unwrap();
    drop(sql);
    let path = home.path().join("x.db");
    let mut bytes = fs::read(&path).unwrap();
    let page = (root as usize - 1) * 512;
    bytes[page + 8..page + 12].copy_from_slice(&root.to_be_bytes());
    fs::write(&path, bytes).unwrap();
    assert!(rows(home.path()).unwrap_err().message.contains("circle"));
}

#[test]
fn rows_that_share_their_bytes_are_an_error() {
    let mut reasons = Vec::new();
    for length in (100_000..100_508).step_by(40) {
        let home = tempfile::tempdir().unwrap();
        let sql = create(home.path(), "PRAGMA page_size = 512");
        insert(&sql, &"d".repeat(length), 0);
        let select = "SELECT rootpage FROM sqlite_schema WHERE name = 't'";
        let root: u32 = sql.query_row(select, [], |row| row.get(0)).unwrap();
        drop(sql);
        let path = home.path().join("x.db");
        let mut bytes = fs::read(&path).unwrap();
        let page = (root as usize - 1) * 512;
        let place = [bytes[page + 8], bytes[page + 9]];
        bytes[page + 3..page + 5].copy_from_slice(&[0, 12]);
        bytes[page + 8..page + 32].copy_from_slice(&place.repeat(12));
        fs::write(&path, bytes).unwrap();
        reasons.push(rows(home.path()).unwrap_err().message);
    }
    for reason in ["a circle", "not as it should be"] {
        assert!(reasons.iter().any(|one| one.contains(reason)), "{reasons:?}");
    }
}

fn sample() -> &'static [u8] {
    static SAMPLE: std::sync::OnceLock<Vec<u8>> = std::sync::OnceLock::new();
    SAMPLE.get_or_init(|| {
        let home = tempfile::tempdir().unwrap();
        let sql = create(home.path(), "PRAGMA page_size = 512");
        for length in 0..40_usize {
            insert(&sql, &"d".repeat(length * 50), 3);
        }
        drop(sql);
        fs::read(home.path().join("x.db")).unwrap()
    })
}

proptest! {
    #[test]
    fn no_change_of_a_database_brings_the_reader_to_a_stop(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20),
        end in any::<prop::sample::Index>(),
        is_cut in any::<bool>(),
    ) {
        let mut bytes = sample().to_vec();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if is_cut {
            bytes.truncate(end.index(bytes.len()));
        }
        let input = Input { path: "x.db", source: &bytes, folder: &NoFolder };
        if let Ok(database) = Database::open(input) {
            let _ = database.read(|pages| {
                let Some(table) = pages.table("t")? else { return Ok(()) };
                pages.rows(&table, &[0, 1, 2], &mut |number, _| {
                    let _ = pages.row(&table, number, &[0, 2]);
                    Ok(ControlFlow::Continue(()))
                })
            });
        }
    }
}
