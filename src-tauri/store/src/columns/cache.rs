//! Keeps the columns of the newest snapshots, and orders of all runs. A reader of a snapshot that is not
//! kept, or of a folder that takes too much memory, is answered by SQL.
use super::{Changed, Columns, Refused};
use crate::run_set::RunSet;
use rusqlite::Connection;
use std::collections::{BTreeSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use touchstone_api::Sort;

/// Maximum number of bytes of the columns.
const MOST: usize = 1 << 30;
/// Number of snapshots that are kept. They share what did not change.
const KEPT: usize = 3;
/// Number of orders that are kept. With a million runs, one takes 8 MB.
const ORDERS: usize = 6;
/// A reader reads no more runs itself: more are read by the thread of the columns.
const MOST_READ: i64 = 20_000;
/// Maximum number of changed runs that are remembered for orders.
const MOST_CHANGED: usize = 100_000;

const LAST: &str = "SELECT max(seq) FROM changes";
const SINCE: &str = "SELECT run FROM changes WHERE seq > ?";
const FIRST: &str = "SELECT min(seq) FROM changes";
const LARGEST: &str = "SELECT max(id) FROM runs";

/// Columns and orders of the newest snapshots of an index.
pub(crate) struct ColumnCache {
    kept: Mutex<Kept>,
    orders: Mutex<Vec<Order>>,
    wanted: Mutex<bool>,
    wake: Condvar,
    is_stopping: AtomicBool,
    /// Maximum number of bytes.
    most: AtomicUsize,
}

impl Default for ColumnCache {
    fn default() -> Self {
        Self {
            kept: Mutex::default(),
            orders: Mutex::default(),
            wanted: Mutex::default(),
            wake: Condvar::new(),
            is_stopping: AtomicBool::new(false),
            most: AtomicUsize::new(MOST),
        }
    }
}

/// All runs of columns in an order.
struct Order {
    sort: Sort,
    /// Origin of the columns and their last change.
    of: (u64, i64),
    ids: Arc<Vec<i64>>,
}

#[derive(Default)]
struct Kept {
    /// Build of the index.
    build: PathBuf,
    /// The newest first.
    snapshots: Vec<Arc<Columns>>,
    /// Runs that changed, with the last change before and with them.
    changes: VecDeque<(i64, i64, Changed)>,
    /// There are too many runs.
    is_too_large: bool,
}

/// What is to be done for a snapshot.
enum Needed {
    Ready(Arc<Columns>),
    /// From these columns on, these runs changed.
    Update(Columns, Changed),
    Load,
    /// The snapshot is older, or there are too many runs.
    Nothing,
}

impl ColumnCache {
    /// Returns the columns of a snapshot of a build. `None` while they are being read, and when there are
    /// too many runs.
    pub(crate) fn at(
        &self,
        sql: &Connection,
        build: &Path,
    ) -> rusqlite::Result<Option<Arc<Columns>>> {
        let change = last_change(sql)?;
        let mut kept = lock(&self.kept);
        kept.reset_for(build);
        let needed = kept.needed(sql, change)?;
        let read = match &needed {
            Needed::Ready(_) | Needed::Nothing => 0,
            Needed::Update(_, changed) => i64::try_from(changed.len()).unwrap_or(i64::MAX),
            Needed::Load => largest_id(sql)?,
        };
        if read > MOST_READ {
            drop(kept);
            *lock(&self.wanted) = true;
            self.wake.notify_all();
            return Ok(None);
        }
        self.advance(&mut kept, sql, (change, needed))
    }

    /// Brings what is kept to a snapshot.
    fn advance(
        &self,
        kept: &mut Kept,
        sql: &Connection,
        (change, needed): (i64, Needed),
    ) -> rusqlite::Result<Option<Arc<Columns>>> {
        match needed {
            Needed::Ready(columns) => Ok(Some(columns)),
            Needed::Nothing => Ok(None),
            Needed::Update(columns, changed) => {
                let done = kept.update(sql, columns, changed, change)?;
                let most = self.most.load(Ordering::Relaxed);
                if done.as_ref().is_none_or(|new| new.bytes() >= most) {
                    kept.refuse(most);
                    return Ok(None);
                }
                Ok(done)
            }
            Needed::Load => {
                let most = self.most.load(Ordering::Relaxed);
                let is_stopped = || self.is_stopping.load(Ordering::Relaxed);
                match Columns::load(sql, change, most, &is_stopped)? {
                    Ok(columns) => Ok(Some(kept.put(columns))),
                    Err(Refused::TooLarge) => {
                        kept.refuse(most);
                        Ok(None)
                    }
                    Err(Refused::Stopped) => Ok(None),
                }
            }
        }
    }

    /// Waits until columns are wanted that take long to read. Returns false when the folder is closed.
    pub(crate) fn wait(&self) -> bool {
        let mut wanted = lock(&self.wanted);
        while !*wanted && !self.is_stopping.load(Ordering::Relaxed) {
            wanted = self.wake.wait(wanted).unwrap_or_else(PoisonError::into_inner);
        }
        *wanted = false;
        !self.is_stopping.load(Ordering::Relaxed)
    }

    /// Reads the columns of a snapshot, however long it takes. Readers are answered by SQL meanwhile.
    pub(crate) fn read(&self, sql: &Connection, build: &Path) -> rusqlite::Result<()> {
        let change = last_change(sql)?;
        let needed = {
            let mut kept = lock(&self.kept);
            kept.reset_for(build);
            kept.needed(sql, change)?
        };
        let most = self.most.load(Ordering::Relaxed);
        let is_stopped = || self.is_stopping.load(Ordering::Relaxed);
        let done = match needed {
            Needed::Ready(_) | Needed::Nothing => return Ok(()),
            Needed::Update(mut columns, changed) => {
                let is_done = columns.update(sql, &changed, change)?;
                if is_done { Ok((columns, Some(changed))) } else { Err(Refused::TooLarge) }
            }
            Needed::Load => {
                Columns::load(sql, change, most, &is_stopped)?.map(|columns| (columns, None))
            }
        };
        let mut kept = lock(&self.kept);
        if kept.build != build || kept.snapshots.first().is_some_and(|new| new.change >= change) {
            return Ok(());
        }
        match done {
            Ok((columns, changed)) => {
                tracing::info!(
                    runs = columns.runs(),
                    bytes = columns.bytes(),
                    "the columns of all runs are kept in memory"
                );
                if let (Some(changed), Some(old)) = (changed, kept.snapshots.first()) {
                    let before = old.change;
                    kept.remember(before, change, changed);
                }
                kept.put(columns);
            }
            Err(Refused::TooLarge) => kept.refuse(most),
            Err(Refused::Stopped) => {}
        }
        Ok(())
    }

    /// Ends waiting and reading.
    pub(crate) fn stop(&self) {
        self.is_stopping.store(true, Ordering::Relaxed);
        let _wanted = lock(&self.wanted);
        self.wake.notify_all();
    }

    /// Sets the maximum number of bytes, and forgets what is kept.
    pub(crate) fn limit(&self, most: usize) {
        self.most.store(most, Ordering::Relaxed);
        self.clear();
    }

    /// Returns some runs in an order: as a part of the order of all, or ordered alone when they are few.
    pub(crate) fn list(&self, columns: &Columns, sort: Sort, some: &RunSet) -> Vec<i64> {
        /// Fewer than one run in this many are ordered alone.
        const FEW: usize = 6;
        let known = self.known_order(columns, sort);
        if known.is_none() && some.len() * FEW < columns.runs() {
            return columns.sorted(sort, some);
        }
        let all = known.unwrap_or_else(|| self.order(columns, sort));
        let mut ids = Vec::with_capacity(some.len());
        ids.extend(all.iter().copied().filter(|id| some.contains(*id)));
        ids
    }

    /// Returns all runs in an order.
    pub(crate) fn order(&self, columns: &Columns, sort: Sort) -> Arc<Vec<i64>> {
        if let Some(known) = self.known_order(columns, sort) {
            return known;
        }
        let order = Arc::new(columns.order(sort));
        self.put_order(sort, columns, &order);
        order
    }

    /// Returns an order that is kept, or follows from one that is.
    fn known_order(&self, columns: &Columns, sort: Sort) -> Option<Arc<Vec<i64>>> {
        let (of, old) = {
            let mut orders = lock(&self.orders);
            let at = orders.iter().position(|known| known.sort == sort)?;
            orders[..=at].rotate_right(1);
            (orders[0].of, Arc::clone(&orders[0].ids))
        };
        if of == (columns.origin, columns.change) {
            return Some(old);
        }
        let changed = lock(&self.kept).changed_between(of, columns)?;
        let order = Arc::new(columns.reordered(&old, sort, &changed));
        self.put_order(sort, columns, &order);
        Some(order)
    }

    fn put_order(&self, sort: Sort, columns: &Columns, order: &Arc<Vec<i64>>) {
        let of = (columns.origin, columns.change);
        let mut orders = lock(&self.orders);
        if orders.iter().any(|known| known.sort == sort && known.of > of) {
            return;
        }
        orders.retain(|known| known.sort != sort);
        orders.truncate(ORDERS - 1);
        orders.insert(0, Order { sort, of, ids: Arc::clone(order) });
    }

    /// Forgets the orders of another build.
    pub(crate) fn clear(&self) {
        *lock(&self.kept) = Kept::default();
        lock(&self.orders).clear();
    }
}

impl Kept {
    fn reset_for(&mut self, build: &Path) {
        if self.build != build {
            *self = Self { build: build.to_owned(), ..Self::default() };
        }
    }

    fn needed(&self, sql: &Connection, change: i64) -> rusqlite::Result<Needed> {
        if let Some(known) = self.snapshots.iter().find(|known| known.change == change) {
            return Ok(Needed::Ready(Arc::clone(known)));
        }
        if self.is_too_large {
            return Ok(Needed::Nothing);
        }
        let Some(newest) = self.snapshots.first() else { return Ok(Needed::Load) };
        if newest.change > change {
            return Ok(Needed::Nothing);
        }
        let first: Option<i64> = sql.prepare_cached(FIRST)?.query_row([], |row| row.get(0))?;
        if first.is_none_or(|first| first > newest.change + 1) {
            return Ok(Needed::Load);
        }
        let mut query = sql.prepare_cached(SINCE)?;
        let changed: BTreeSet<u32> =
            query.query_map([newest.change], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
        Ok(Needed::Update(Columns::clone(newest), changed.into_iter().collect()))
    }

    /// Returns `None` when there is no more room.
    fn update(
        &mut self,
        sql: &Connection,
        mut columns: Columns,
        changed: Changed,
        change: i64,
    ) -> rusqlite::Result<Option<Arc<Columns>>> {
        let before = columns.change;
        // Who has no snapshot of its own needs no copy of what changes.
        if self.snapshots.len() >= KEPT {
            self.snapshots.truncate(KEPT - 1);
        }
        if !columns.update(sql, &changed, change)? {
            return Ok(None);
        }
        self.remember(before, change, changed);
        Ok(Some(self.put(columns)))
    }

    fn remember(&mut self, before: i64, change: i64, changed: Changed) {
        self.changes.push_back((before, change, changed));
        let all = |changes: &VecDeque<(i64, i64, Changed)>| {
            changes.iter().map(|(.., changed)| changed.len() + 1).sum::<usize>()
        };
        while all(&self.changes) > MOST_CHANGED {
            self.changes.pop_front();
        }
    }

    fn put(&mut self, columns: Columns) -> Arc<Columns> {
        if self.snapshots.first().is_some_and(|old| old.origin != columns.origin) {
            self.changes.clear();
        }
        let columns = Arc::new(columns);
        self.snapshots.truncate(KEPT - 1);
        self.snapshots.insert(0, Arc::clone(&columns));
        columns
    }

    fn refuse(&mut self, most: usize) {
        tracing::warn!(
            most,
            "the columns of all runs take more memory than this; lists are answered from the index"
        );
        *self =
            Self { build: std::mem::take(&mut self.build), is_too_large: true, ..Self::default() };
    }

    /// Returns the runs that changed from earlier columns on; `None` if that is not known.
    fn changed_between(&self, (origin, from): (u64, i64), columns: &Columns) -> Option<Changed> {
        let newest = self.snapshots.first()?;
        if origin != columns.origin || newest.origin != origin {
            return None;
        }
        let mut at = from;
        let mut all = BTreeSet::new();
        for (before, with, changed) in &self.changes {
            if *before < from || *with > columns.change {
                continue;
            }
            if *before != at {
                return None;
            }
            at = *with;
            all.extend(changed.iter().copied());
        }
        (at == columns.change).then(|| all.into_iter().collect())
    }
}

fn last_change(sql: &Connection) -> rusqlite::Result<i64> {
    let last: Option<i64> = sql.prepare_cached(LAST)?.query_row([], |row| row.get(0))?;
    Ok(last.unwrap_or(0))
}

fn largest_id(sql: &Connection) -> rusqlite::Result<i64> {
    let largest: Option<i64> = sql.prepare_cached(LARGEST)?.query_row([], |row| row.get(0))?;
    Ok(largest.unwrap_or(0))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
