//! Columns of all runs in memory, from which lists, filters, orders, values of filter keys and the
//! overview are answered. They are read once from the index and then changed by what each commit
//! changed, so that nothing is forgotten while runs arrive. An answer is equal to that of SQL to the
//! last digit and in the same order.
//!
//! Ids of runs are small and consecutive, so a value is found by its id. Who reads has a snapshot: a
//! change copies the groups of ids that it touches.
mod cache;
mod facts;
mod group;
mod matching;
mod order;
mod snapshots;
mod values;

pub(crate) use cache::ColumnCache;
pub(crate) use facts::{Fact, Facts, Place, Seen, Unscored, word};
#[cfg(test)]
pub(crate) use group::SELECT;
pub(crate) use group::{Int, Real, Text};

use crate::run_key::RunKey;
use crate::run_set::RunSet;
use group::{Group, ROWS, TEXTS};
use rusqlite::{Connection, OptionalExtension as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use values::Names;

/// Columns of one snapshot of the index. Cloning shares all groups.
#[derive(Debug, Clone, Default)]
pub(crate) struct Columns {
    /// Tells them from others that were read from an index, so that what was made of those is not used.
    origin: u64,
    /// Number of the last change of a run that is in them.
    change: i64,
    groups: Vec<Arc<Group>>,
    names: [Arc<Names>; TEXTS],
    /// Number of runs.
    runs: usize,
    /// All runs in the order of their paths.
    by_path: Arc<Vec<u32>>,
}

/// Runs that changed.
type Changed = Vec<u32>;

/// Number of orders of all runs that are kept. With a million runs, one takes 8 MB.
const ORDERS: usize = 6;

/// What bounds reading.
struct Bounds<'a> {
    /// Maximum number of bytes of columns with their orders.
    most: usize,
    is_stopped: &'a dyn Fn() -> bool,
}

/// Why columns could not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Refused {
    /// They take more than this number of bytes.
    TooLarge,
    /// The folder is being closed.
    Stopped,
}

impl Columns {
    /// Reads all runs of a snapshot, whose last change is given.
    fn load(
        sql: &Connection,
        change: i64,
        bounds: &Bounds<'_>,
    ) -> rusqlite::Result<Result<Self, Refused>> {
        static ORIGINS: AtomicU64 = AtomicU64::new(0);
        let origin = ORIGINS.fetch_add(1, Ordering::Relaxed);
        let mut columns = Self { origin, change, ..Self::default() };
        let mut full = 0;
        let mut query = sql.prepare(group::SELECT)?;
        let mut rows = query.query([])?;
        while let Some(row) = rows.next()? {
            let groups = columns.groups.len();
            if !columns.put(row)? {
                return Ok(Err(Refused::TooLarge));
            }
            columns.runs += 1;
            if columns.groups.len() > groups {
                full += columns.groups.iter().rev().nth(1).map_or(0, |group| group.bytes());
                // An empty group is small, but there may be many.
                full += (columns.groups.len() - groups) * size_of::<Group>();
                if full + columns.names_bytes() > bounds.most {
                    return Ok(Err(Refused::TooLarge));
                }
            }
            if columns.runs.is_multiple_of(ROWS) && (bounds.is_stopped)() {
                return Ok(Err(Refused::Stopped));
            }
        }
        let mut by_path: Vec<u32> = columns.present().iter().filter_map(small).collect();
        by_path
            .sort_unstable_by(|one, other| columns.sort_key(*one).cmp(&columns.sort_key(*other)));
        columns.by_path = Arc::new(by_path);
        Ok(if columns.fits(bounds) { Ok(columns) } else { Err(Refused::TooLarge) })
    }

    /// Takes in the present values of runs that changed up to a change. What is refused is of no use any
    /// more.
    fn update(
        &mut self,
        sql: &Connection,
        changed: &[u32],
        change: i64,
        bounds: &Bounds<'_>,
    ) -> rusqlite::Result<Result<(), Refused>> {
        /// After so many runs it is asked whether to go on.
        const SOME: usize = 1024;
        let mut query = sql.prepare_cached(&format!("{} WHERE id = ?", group::SELECT))?;
        let (mut moved, mut added) = (RunSet::default(), Vec::new());
        for (done, id) in changed.iter().enumerate() {
            if done.is_multiple_of(SOME) && (bounds.is_stopped)() {
                return Ok(Err(Refused::Stopped));
            }
            if done.is_multiple_of(SOME) && !self.fits(bounds) {
                return Ok(Err(Refused::TooLarge));
            }
            let before = self.has(*id).then(|| self.path(*id).to_owned());
            let found = query.query_row([id], |row| self.put(row)).optional()?;
            match found {
                Some(false) => return Ok(Err(Refused::TooLarge)),
                Some(true) => {}
                None => self.remove(*id),
            }
            let after = found.is_some().then(|| self.path(*id));
            if before.as_deref() == after {
                continue;
            }
            if after.is_some() {
                added.push(*id);
            }
            self.runs = self.runs + usize::from(after.is_some()) - usize::from(before.is_some());
            moved.insert(i64::from(*id));
        }
        if !added.is_empty() || moved.iter().next().is_some() {
            added.sort_unstable_by(|one, other| self.sort_key(*one).cmp(&self.sort_key(*other)));
            let before = |one: u32, other: u32| self.sort_key(one) < self.sort_key(other);
            self.by_path = Arc::new(order::merge(&self.by_path, &moved, &added, before));
        }
        self.change = change;
        Ok(if self.fits(bounds) { Ok(()) } else { Err(Refused::TooLarge) })
    }

    fn put(&mut self, row: &rusqlite::Row<'_>) -> rusqlite::Result<bool> {
        let Some(id) = small(row.get(0)?) else { return Ok(false) };
        let (group, at) = (id as usize / ROWS, id as usize % ROWS);
        if group >= self.groups.len() {
            // Ids of deleted runs leave gaps; many of them are no reason to run out of memory.
            if group > self.groups.len() + MOST_EMPTY {
                return Ok(false);
            }
            self.groups.resize_with(group + 1, Arc::default);
        }
        Arc::make_mut(&mut self.groups[group]).put(at, row, &mut self.names)
    }

    fn remove(&mut self, id: u32) {
        if !self.has(id) {
            return;
        }
        let group = &mut self.groups[id as usize / ROWS];
        Arc::make_mut(group).remove(id as usize % ROWS);
        if group.is_empty() {
            *group = Arc::default();
        }
    }

    fn has(&self, id: u32) -> bool {
        self.groups.get(id as usize / ROWS).is_some_and(|group| group.has(id as usize % ROWS))
    }

    fn path(&self, id: u32) -> &str {
        self.groups.get(id as usize / ROWS).map_or("", |group| group.path(id as usize % ROWS))
    }

    /// Returns what decides between runs whose values are equal. Paths may be equal, too.
    fn sort_key(&self, id: u32) -> (&str, u32) {
        (self.path(id), id)
    }

    /// Number of runs.
    pub(crate) fn runs(&self) -> usize {
        self.runs
    }

    /// Returns the values of a run.
    pub(crate) fn run(&self, id: i64) -> Option<RunValues<'_>> {
        let id = small(id)? as usize;
        let (group, at) = (self.groups.get(id / ROWS)?, id % ROWS);
        group.has(at).then_some(RunValues { group, at })
    }

    /// Returns what `decode` makes of each text of a column, by its code.
    pub(crate) fn decoded<'c, T>(&'c self, of: Text, decode: impl Fn(&'c str) -> T) -> Vec<T> {
        self.names[of as usize].all().iter().map(|text| decode(text)).collect()
    }

    /// Calls `each` with the values of every run that has one.
    pub(crate) fn each_text(&self, of: Text, mut each: impl FnMut(i64, usize)) {
        for (group, first) in self.groups.iter().zip((0..).step_by(ROWS)) {
            group.texts(of).for_each(|at, code| {
                if let (Ok(at), Ok(code)) = (i64::try_from(at), usize::try_from(code)) {
                    each(first + at, code);
                }
            });
        }
    }

    /// Like [`Columns::each_text`], for whole numbers.
    pub(crate) fn each_int(&self, of: Int, mut each: impl FnMut(i64, i64)) {
        for (group, first) in self.groups.iter().zip((0..).step_by(ROWS)) {
            group.ints(of).for_each(|at, number| {
                if let Ok(at) = i64::try_from(at) {
                    each(first + at, number);
                }
            });
        }
    }

    /// Returns all runs.
    pub(crate) fn present(&self) -> RunSet {
        self.set(|group, bits| bits.copy_from_slice(&padded(group.present())))
    }

    /// Returns the set of runs whose bits `mark` sets in each group.
    fn set(&self, mut mark: impl FnMut(&Group, &mut [u64])) -> RunSet {
        let mut all = vec![0; self.groups.len() * group::WORDS];
        for (group, bits) in self.groups.iter().zip(all.chunks_mut(group::WORDS)) {
            mark(group, bits);
        }
        RunSet::from_words(all)
    }

    /// Number of bytes in memory.
    pub(crate) fn bytes(&self) -> usize {
        let groups: usize = self.groups.iter().map(|group| group.bytes()).sum();
        groups + self.names_bytes() + self.by_path.len() * size_of::<u32>()
    }

    /// Returns true when there is room for them and for orders and facts of all runs.
    fn fits(&self, bounds: &Bounds<'_>) -> bool {
        self.bytes_with_orders(&mut |_| true) < bounds.most
    }

    /// Number of bytes of the parts that `counts`, each of which is told apart by its address, and of
    /// orders and facts of all runs.
    fn bytes_with_orders(&self, counts: &mut dyn FnMut(usize) -> bool) -> usize {
        let mut of = |address: usize, bytes: usize| if counts(address) { bytes } else { 0 };
        let groups = self.groups.iter();
        let groups: usize = groups.map(|all| of(Arc::as_ptr(all).addr(), all.bytes())).sum();
        let names = self.names.iter();
        let names: usize = names.map(|all| of(Arc::as_ptr(all).addr(), all.bytes())).sum();
        let each = size_of::<u32>() + ORDERS * size_of::<u32>() + size_of::<Fact>();
        groups + names + of(Arc::as_ptr(&self.by_path).addr(), self.by_path.len() * each)
    }

    fn names_bytes(&self) -> usize {
        self.names.iter().map(|names| names.bytes()).sum()
    }
}

/// Values of a run.
#[derive(Clone, Copy)]
pub(crate) struct RunValues<'c> {
    group: &'c Group,
    at: usize,
}

impl RunValues<'_> {
    pub(crate) fn key(self) -> RunKey {
        self.group.key(self.at)
    }

    /// Returns the code of a text.
    pub(crate) fn code(self, of: Text) -> Option<usize> {
        self.group.texts(of).get(self.at).and_then(|code| usize::try_from(code).ok())
    }

    pub(crate) fn int(self, of: Int) -> Option<i64> {
        self.group.ints(of).get(self.at)
    }

    pub(crate) fn real(self, of: Real) -> Option<f64> {
        self.group.reals(of).get(self.at)
    }
}

/// Maximum number of groups without a run before one with a run.
const MOST_EMPTY: usize = 10_000;

/// Number of groups that some runs are in, in the order of their ids.
fn groups_of(runs: &[u32]) -> usize {
    runs.chunk_by(|one, other| *one as usize / ROWS == *other as usize / ROWS).count()
}

fn small(id: i64) -> Option<u32> {
    u32::try_from(id).ok()
}

fn padded(words: &[u64]) -> [u64; group::WORDS] {
    let mut all = [0; group::WORDS];
    all[..words.len()].copy_from_slice(words);
    all
}
