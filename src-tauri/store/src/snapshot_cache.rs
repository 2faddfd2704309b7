//! Keeps in memory what every search needs of the newest snapshot: the encoded steps of all runs, the
//! runs with an answer, and the names of tasks, systems and models. To the steps, a change of the
//! index adds what changed, and the steps of deleted runs are dropped.
use crate::blob::BLOCK;
use crate::run_set::RunSet;
use rusqlite::Connection;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Maximum number of bytes that are kept; with more, each question reads the steps from the index.
/// A step takes about ten bytes, and a run 16 more.
const MOST: usize = 96 << 20;

const ALL: &str = "SELECT run, start, steps FROM steps";
/// Texts are only ever appended to the blob, so steps that changed start behind what was there.
const CHANGED: &str = "SELECT run, start, steps FROM steps WHERE start >= ?";
const COUNT: &str = "SELECT count(*) FROM steps INDEXED BY steps_start";
const RUNS: &str = "SELECT run FROM steps INDEXED BY steps_start";
const ANSWERED: &str = "SELECT id FROM runs INDEXED BY runs_answered WHERE has_answer <> 0";

/// Names of tasks, of systems and of models.
const NAMES: [&str; 3] = [
    "SELECT DISTINCT task FROM runs WHERE task IS NOT NULL",
    "SELECT DISTINCT system FROM runs WHERE system IS NOT NULL",
    "SELECT DISTINCT model FROM runs WHERE model IS NOT NULL",
];

/// Steps of a run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RunSteps<'s> {
    /// Id of the run.
    pub(crate) run: i64,
    /// Where its text starts in the blob.
    pub(crate) start: u64,
    /// Its steps, as encoded.
    pub(crate) steps: &'s [u8],
}

/// Steps of all runs.
#[derive(Debug, Clone)]
pub(crate) struct StepArena {
    /// Maximum size.
    most: usize,
    bytes: Vec<u8>,
    /// Where the steps of each run lie, by its id.
    slots: Vec<Slot>,
    /// Number of runs with steps.
    runs: usize,
    /// Number of bytes that belong to no run any more.
    dead: usize,
}

#[derive(Debug, Clone, Copy)]
struct Slot {
    from: u32,
    len: u32,
    start: u64,
}

impl Slot {
    /// Slot of an id without steps.
    const NONE: Self = Self { from: u32::MAX, len: 0, start: 0 };

    fn is_none(self) -> bool {
        self.from == u32::MAX
    }
}

/// A snapshot of the index.
#[derive(Clone, Copy)]
pub(crate) struct Snapshot<'a> {
    pub(crate) sql: &'a Connection,
    /// Build of the index, and generation within it.
    pub(crate) moment: (&'a Path, u64),
    /// Number and length of the blob.
    pub(crate) blob: (i64, u64),
}

/// What is known of the newest snapshot that was asked about.
#[derive(Default)]
pub(crate) struct SnapshotCache {
    kept: Mutex<Option<CachedSteps>>,
    answered: ForSnapshot<RunSet>,
    names: ForSnapshot<Names>,
    sums: Mutex<Option<CachedSums>>,
}

/// Checksums of the blocks of a blob.
struct CachedSums {
    build: PathBuf,
    /// Number and length of the blob.
    blob: (i64, u64),
    sums: Arc<Vec<u64>>,
}

/// Names of all tasks, systems and models.
pub(crate) type Names = [Vec<String>; NAMES.len()];

/// Something of one snapshot.
type ForSnapshot<T> = Mutex<Option<(Moment, Arc<T>)>>;

/// Identifies a snapshot: the build of the index and the generation within it.
type Moment = (PathBuf, u64);

struct CachedSteps {
    moment: Moment,
    /// Number and length of the blob.
    blob: (i64, u64),
    /// `None` when there are too many.
    steps: Option<Arc<StepArena>>,
}

impl StepArena {
    fn new(most: usize) -> Self {
        Self { most, bytes: Vec::new(), slots: Vec::new(), runs: 0, dead: 0 }
    }

    /// Returns the steps of a run; `None` for what is no run.
    pub(crate) fn get(&self, run: i64) -> Option<RunSteps<'_>> {
        let slot = usize::try_from(run).ok().and_then(|run| self.slots.get(run))?;
        let from = slot.from as usize;
        let steps = self.bytes.get(from..from + slot.len as usize)?;
        (!slot.is_none()).then_some(RunSteps { run, start: slot.start, steps })
    }

    /// Number of bytes in memory.
    pub(crate) fn size(&self) -> usize {
        self.bytes.capacity() + self.slots.capacity() * size_of::<Slot>()
    }

    /// Adds or replaces the steps of a run. Returns false when there is no more room.
    fn put(&mut self, run: i64, start: u64, steps: &[u8]) -> bool {
        let Ok(at) = usize::try_from(run) else { return true };
        let slots = self.slots.len().max(at + 1) * size_of::<Slot>();
        if self.bytes.len() - self.dead + steps.len() + slots > self.most {
            return false;
        }
        if at >= self.slots.len() {
            self.slots.resize(at + 1, Slot::NONE);
        }
        self.remove(at);
        if self.dead > self.bytes.len() / 2 {
            self.tidy();
        }
        let (Ok(from), Ok(len)) = (u32::try_from(self.bytes.len()), u32::try_from(steps.len()))
        else {
            return false;
        };
        self.bytes.extend_from_slice(steps);
        self.slots[at] = Slot { from, len, start };
        self.runs += 1;
        true
    }

    fn remove(&mut self, at: usize) {
        let slot = std::mem::replace(&mut self.slots[at], Slot::NONE);
        if !slot.is_none() {
            self.dead += slot.len as usize;
            self.runs -= 1;
        }
    }

    /// Moves the steps together.
    fn tidy(&mut self) {
        let mut bytes = Vec::with_capacity(self.bytes.len() - self.dead);
        for slot in self.slots.iter_mut().filter(|slot| !slot.is_none()) {
            let from = slot.from as usize;
            // Fits, as it is at most what it was.
            slot.from = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
            bytes.extend_from_slice(&self.bytes[from..from + slot.len as usize]);
        }
        (self.bytes, self.dead) = (bytes, 0);
    }

    /// Adds rows of an index. Returns false when there is no more room.
    fn read(&mut self, mut rows: rusqlite::Rows<'_>) -> rusqlite::Result<bool> {
        while let Some(row) = rows.next()? {
            let start = u64::try_from(row.get::<_, i64>(1)?).unwrap_or(0);
            let steps = row.get_ref(2)?.as_blob().unwrap_or_default();
            if !self.put(row.get(0)?, start, steps) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn load(sql: &Connection, most: usize) -> rusqlite::Result<Option<Self>> {
        let mut steps = Self::new(most);
        if !steps.read(sql.prepare_cached(ALL)?.query([])?)? {
            return Ok(None);
        }
        steps.bytes.shrink_to_fit();
        steps.slots.shrink_to_fit();
        tracing::debug!(runs = steps.runs, bytes = steps.size(), "the steps of all runs are kept");
        Ok(Some(steps))
    }

    /// Takes in what changed since the blob had this length. Returns false when there is no more
    /// room.
    fn update(&mut self, sql: &Connection, from: u64) -> rusqlite::Result<bool> {
        if !self.read(sql.prepare_cached(CHANGED)?.query([from.cast_signed()])?)? {
            return Ok(false);
        }
        let there: i64 = sql.prepare_cached(COUNT)?.query_row([], |row| row.get(0))?;
        if usize::try_from(there) != Ok(self.runs) {
            let mut left = RunSet::default();
            let mut query = sql.prepare_cached(RUNS)?;
            let mut rows = query.query([])?;
            while let Some(row) = rows.next()? {
                left.insert(row.get(0)?);
            }
            for (run, at) in (0_i64..).zip(0..self.slots.len()) {
                if !left.contains(run) {
                    self.remove(at);
                }
            }
        }
        if self.dead > self.bytes.len() / 2 {
            self.tidy();
        }
        Ok(true)
    }
}

impl SnapshotCache {
    /// Returns the steps of all runs of a snapshot. `None` when there are too many, or when the
    /// snapshot is older than what is kept: then they are read from the index.
    pub(crate) fn steps(&self, now: Snapshot<'_>) -> rusqlite::Result<Option<Arc<StepArena>>> {
        let Snapshot { sql, moment: (build, generation), blob } = now;
        let mut kept = lock(&self.kept);
        let is_same = |kept: &&mut CachedSteps| kept.moment.0 == build && kept.blob.0 == blob.0;
        if let Some(kept) = kept.as_mut().filter(is_same) {
            if (generation, blob.1) < (kept.moment.1, kept.blob.1) {
                return Ok(None);
            }
            if (generation, blob.1) != (kept.moment.1, kept.blob.1) {
                if let Some(steps) = &mut kept.steps
                    && !Arc::make_mut(steps).update(sql, kept.blob.1)?
                {
                    kept.steps = None;
                }
                (kept.moment.1, kept.blob) = (generation, blob);
            }
            return Ok(kept.steps.clone());
        }
        // What was kept is freed first.
        *kept = None;
        let steps = StepArena::load(sql, MOST)?.map(Arc::new);
        *kept = Some(CachedSteps {
            moment: (build.to_owned(), generation),
            blob,
            steps: steps.clone(),
        });
        Ok(steps)
    }

    /// Returns the runs with an answer.
    pub(crate) fn answered(&self, now: Snapshot<'_>) -> rusqlite::Result<Arc<RunSet>> {
        of_moment(&self.answered, now, |sql| {
            let mut answered = RunSet::default();
            let mut query = sql.prepare_cached(ANSWERED)?;
            let mut rows = query.query([])?;
            while let Some(row) = rows.next()? {
                answered.insert(row.get(0)?);
            }
            Ok(answered)
        })
    }

    /// Returns the checksums of the blocks of the text, of which those that were complete before are
    /// not read again.
    pub(crate) fn sums(&self, now: Snapshot<'_>) -> rusqlite::Result<Arc<Vec<u64>>> {
        let (build, blob) = (now.moment.0, now.blob);
        let mut kept = lock(&self.sums);
        let is_of_blob = |kept: &&CachedSums| kept.build == build && kept.blob.0 == blob.0;
        let mut sums = match kept.as_ref().filter(is_of_blob) {
            Some(kept) if kept.blob.1 == blob.1 => return Ok(Arc::clone(&kept.sums)),
            Some(kept) if kept.blob.1 < blob.1 => {
                let whole = usize::try_from(kept.blob.1 / BLOCK).unwrap_or(0);
                kept.sums[..whole.min(kept.sums.len())].to_vec()
            }
            // Who holds an older snapshot reads all of them.
            Some(_) => return sums_from(now.sql, 0).map(Arc::new),
            None => Vec::new(),
        };
        sums.extend(sums_from(now.sql, sums.len())?);
        let sums = Arc::new(sums);
        *kept = Some(CachedSums { build: build.to_owned(), blob, sums: Arc::clone(&sums) });
        Ok(sums)
    }

    /// Returns the names of all tasks, systems and models.
    pub(crate) fn names(&self, now: Snapshot<'_>) -> rusqlite::Result<Arc<Names>> {
        of_moment(&self.names, now, |sql| {
            let mut names = Names::default();
            for (names, all) in names.iter_mut().zip(NAMES) {
                *names = sql
                    .prepare_cached(all)?
                    .query_map([], |row| row.get(0))?
                    .collect::<Result<_, _>>()?;
            }
            Ok(names)
        })
    }
}

/// Returns the checksums of the text blocks from one on, in order.
pub(crate) fn sums_from(sql: &Connection, block: usize) -> rusqlite::Result<Vec<u64>> {
    let mut select =
        sql.prepare_cached("SELECT sum FROM text_sums WHERE block >= ? ORDER BY block")?;
    let block = i64::try_from(block).unwrap_or(i64::MAX);
    select.query_map([block], |row| Ok(row.get::<_, i64>(0)?.cast_unsigned()))?.collect()
}

/// Returns what is kept of a snapshot, or reads it and keeps it in place of that of another.
fn of_moment<T>(
    kept: &ForSnapshot<T>,
    now: Snapshot<'_>,
    read: impl FnOnce(&Connection) -> rusqlite::Result<T>,
) -> rusqlite::Result<Arc<T>> {
    let (build, generation) = now.moment;
    let mut kept = lock(kept);
    if let Some(((known, at), value)) = &*kept
        && known == build
        && *at == generation
    {
        return Ok(Arc::clone(value));
    }
    let value = Arc::new(read(now.sql)?);
    *kept = Some(((build.to_owned(), generation), Arc::clone(&value)));
    Ok(value)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn index() -> Connection {
        let sql = Connection::open_in_memory().unwrap();
        sql.execute_batch(
            "CREATE TABLE steps (run INTEGER PRIMARY KEY, start INTEGER NOT NULL, steps BLOB NOT NULL);
             CREATE INDEX steps_start ON steps(start);",
        )
        .unwrap();
        sql
    }

    proptest! {
        #[test]
        fn steps_are_those_of_the_index_after_any_changes(
            changes in prop::collection::vec(
                prop::collection::vec((1_i64..12, 0..3_u8, 0..40_usize), 1..6),
                1..12,
            ),
            loaded in 0..12_usize,
        ) {
            let sql = index();
            let mut expected: BTreeMap<i64, (u64, Vec<u8>)> = BTreeMap::new();
            let mut steps = StepArena::new(10_000);
            let mut end = 16_u64;
            for (at, change) in changes.iter().enumerate() {
                let from = end;
                for (run, kind, len) in change {
                    if *kind == 0 {
                        sql.execute("DELETE FROM steps WHERE run = ?", [run]).unwrap();
                        expected.remove(run);
                        continue;
                    }
                    let bytes = vec![u8::try_from(end % 251).unwrap(); *len];
                    let put = "INSERT OR REPLACE INTO steps (run, start, steps) VALUES (?, ?, ?)";
                    sql.execute(put, (run, end.cast_signed(), &bytes)).unwrap();
                    expected.insert(*run, (end, bytes));
                    // Runs without text share their start with the next one.
                    end += u64::from(*kind) - 1;
                }
                if at == loaded {
                    steps = StepArena::load(&sql, 10_000).unwrap().unwrap();
                } else {
                    prop_assert!(steps.update(&sql, from).unwrap());
                }
                for run in 0..14 {
                    let kept = steps.get(run).map(|kept| (kept.start, kept.steps.to_vec()));
                    prop_assert_eq!(kept, expected.get(&run).cloned(), "{}", run);
                }
                prop_assert!(steps.dead <= steps.bytes.len() / 2);
            }
        }
    }

    #[test]
    fn too_many_steps_are_not_kept() {
        let sql = index();
        for run in 1..=9_i64 {
            let put = "INSERT INTO steps (run, start, steps) VALUES (?1, ?1, zeroblob(100))";
            sql.execute(put, [run]).unwrap();
        }
        let size = StepArena::load(&sql, 9 * 100 + 10 * 16).unwrap().map(|steps| steps.runs);
        assert_eq!(size, Some(9));
        assert!(StepArena::load(&sql, 9 * 100 + 10 * 16 - 1).unwrap().is_none());
        let mut steps = StepArena::load(&sql, 1_100).unwrap().unwrap();
        sql.execute("INSERT INTO steps VALUES (10, 10, zeroblob(100))", []).unwrap();
        assert!(!steps.update(&sql, 10).unwrap());
    }
}
