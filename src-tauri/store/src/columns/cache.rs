//! Keeps the columns of the newest snapshots, and orders and facts of all runs. Whoever would have to wait for them
//! is answered by SQL: a reader of a snapshot that is not kept while somebody else reads, or of which
//! much changed, or of a folder that takes too much memory.
use super::snapshots::{Needed, Snapshots};
use super::{Bounds, Changed, Columns, Facts, ORDERS, Refused, groups_of};
use crate::run_set::RunSet;
use rusqlite::Connection;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use touchstone_api::Sort;

/// Maximum number of bytes of all that is kept.
const MOST: usize = 1 << 30;
/// A reader reads no more runs itself: more are read by the thread of the columns.
const MOST_READ: i64 = 2000;
/// A reader copies no more groups of ids.
const MOST_COPIED: usize = 16;

const LAST: &str = "SELECT max(seq) FROM changes";
const SINCE: &str = "SELECT run FROM changes WHERE seq > ?";
const FIRST: &str = "SELECT min(seq) FROM changes";
const LARGEST: &str = "SELECT max(id) FROM runs";
const COUNT: &str = "SELECT count(*) FROM runs";

/// Columns and orders of the newest snapshots of an index.
pub(crate) struct ColumnCache {
    kept: Mutex<Snapshots>,
    orders: Mutex<Vec<Order>>,
    facts: Mutex<Option<KeptFacts>>,
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
            facts: Mutex::default(),
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
    ids: Arc<Vec<u32>>,
}

/// Facts of all runs of columns.
struct KeptFacts {
    /// Origin of the columns and their last change.
    of: (u64, i64),
    facts: Arc<Facts>,
}

/// Turn of the only one who reads columns. It ends when this is dropped.
struct Turn<'c> {
    cache: &'c ColumnCache,
    number: u64,
    /// Last change of the snapshot that is read.
    change: i64,
    /// The thread of the columns takes its time.
    is_thread: bool,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        lock(&self.cache.kept).end_turn(self.number);
    }
}

impl ColumnCache {
    /// Returns the columns of a snapshot of a build. `None` when that would take long, when somebody else
    /// reads them, and when there are too many runs.
    pub(crate) fn columns_at(&self, sql: &Connection, build: &Path) -> Option<Arc<Columns>> {
        self.bring(sql, build, false)
    }

    /// Reads the columns of a snapshot, however long it takes. Readers are answered by SQL meanwhile.
    pub(crate) fn read(&self, sql: &Connection, build: &Path) {
        if let Some(columns) = self.bring(sql, build, true) {
            self.facts(&columns);
        }
    }

    /// Brings what is kept to a snapshot. After an error the columns of the build are not read again: all
    /// is answered by SQL, which finds the same error if it matters.
    fn bring(&self, sql: &Connection, build: &Path, is_thread: bool) -> Option<Arc<Columns>> {
        if lock(&self.kept).has_failed(build) {
            return None;
        }
        self.try_to_bring(sql, build, is_thread).unwrap_or_else(|error| {
            tracing::warn!(
                %error,
                "the columns of all runs could not be read; lists are answered from the index"
            );
            lock(&self.kept).fail(build);
            None
        })
    }

    fn try_to_bring(
        &self,
        sql: &Connection,
        build: &Path,
        is_thread: bool,
    ) -> rusqlite::Result<Option<Arc<Columns>>> {
        let change = number(sql, LAST)?;
        let most = if is_thread { i64::MAX } else { MOST_READ };
        let needed = lock(&self.kept).needed(build, change, most);
        let (number, from) = match needed {
            Needed::Ready(columns) => return Ok(Some(columns)),
            Needed::Nothing => return Ok(None),
            Needed::Later => return Ok(self.want()),
            Needed::Read(number, from) => (number, from),
        };
        let turn = Turn { cache: self, number, change, is_thread };
        if self.is_stopping.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let from = match from {
            Some(columns) => since(sql, columns.change)?.map(|changed| (columns, changed)),
            None => None,
        };
        match from {
            Some((columns, changed)) => self.update(sql, &turn, columns, changed),
            None => self.load(sql, &turn),
        }
    }

    /// Takes in the runs that changed.
    fn update(
        &self,
        sql: &Connection,
        turn: &Turn<'_>,
        mut columns: Columns,
        changed: Changed,
    ) -> rusqlite::Result<Option<Arc<Columns>>> {
        if turn.is_thread {
            // So that what changes is not copied, which may be all.
            lock(&self.kept).forget();
        } else if groups_of(&changed) > MOST_COPIED {
            return Ok(self.leave(turn));
        }
        let before = columns.change;
        let most = self.most.load(Ordering::Relaxed);
        let is_stopped = || self.is_stopping.load(Ordering::Relaxed);
        let bounds = Bounds { most, is_stopped: &is_stopped };
        let done = columns.update(sql, &changed, turn.change, &bounds)?;
        let mut kept = lock(&self.kept);
        if !kept.is_turn(turn.number) {
            return Ok(None);
        }
        match done {
            Ok(()) => {
                kept.remember(before, &columns, changed);
                Ok(Some(kept.put(columns, most)))
            }
            Err(Refused::TooLarge) => {
                // Read anew they are smaller: without what runs no longer have.
                kept.begin();
                drop(kept);
                Ok(self.leave(turn))
            }
            Err(Refused::Stopped) => Ok(None),
        }
    }

    /// Reads all runs anew, unless there are about as many as were too many.
    fn load(&self, sql: &Connection, turn: &Turn<'_>) -> rusqlite::Result<Option<Arc<Columns>>> {
        if !turn.is_thread && number(sql, LARGEST)? > MOST_READ {
            return Ok(self.leave(turn));
        }
        let refused = lock(&self.kept).refused();
        if let Some(runs) = refused
            && number(sql, COUNT)? > runs - runs / 8
        {
            lock(&self.kept).refuse(turn.change, runs);
            return Ok(None);
        }
        lock(&self.kept).begin();
        lock(&self.orders).clear();
        lock(&self.facts).take();
        let most = self.most.load(Ordering::Relaxed);
        let is_stopped = || self.is_stopping.load(Ordering::Relaxed);
        // With room for what changes later, so that they are not read anew with each change.
        let bounds = Bounds { most: most - most / 8, is_stopped: &is_stopped };
        let done = Columns::load(sql, turn.change, &bounds)?;
        let runs = if matches!(done, Err(Refused::TooLarge)) { number(sql, COUNT)? } else { 0 };
        let mut kept = lock(&self.kept);
        if !kept.is_turn(turn.number) {
            return Ok(None);
        }
        match done {
            Ok(columns) => {
                let (runs, bytes) = (columns.runs(), columns.bytes());
                tracing::info!(runs, bytes, "the columns of all runs are kept in memory");
                Ok(Some(kept.put(columns, most)))
            }
            Err(Refused::TooLarge) => {
                kept.refuse(turn.change, runs);
                drop(kept);
                tracing::warn!(
                    runs,
                    most,
                    "the columns of all runs take more memory than this; lists are answered from the index"
                );
                Ok(None)
            }
            Err(Refused::Stopped) => Ok(None),
        }
    }

    /// Ends a turn for the thread of the columns.
    fn leave<T>(&self, turn: &Turn<'_>) -> Option<T> {
        lock(&self.kept).end_turn(turn.number);
        self.want()
    }

    /// Wakes the thread of the columns.
    fn want<T>(&self) -> Option<T> {
        *lock(&self.wanted) = true;
        self.wake.notify_all();
        None
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
    pub(crate) fn list(&self, columns: &Columns, sort: &Sort, some: &RunSet) -> Vec<i64> {
        /// Fewer than one run in this many are ordered alone.
        const FEW: usize = 6;
        let known = self.known_order(columns, sort);
        if known.is_none() && some.len() * FEW < columns.runs() {
            return columns.sorted(sort, some).into_iter().map(i64::from).collect();
        }
        let all = known.unwrap_or_else(|| self.new_order(columns, sort));
        let mut ids = Vec::with_capacity(some.len());
        ids.extend(all.iter().map(|id| i64::from(*id)).filter(|id| some.contains(*id)));
        ids
    }

    /// Returns all runs in an order.
    pub(crate) fn order(&self, columns: &Columns, sort: &Sort) -> Vec<i64> {
        let order =
            self.known_order(columns, sort).unwrap_or_else(|| self.new_order(columns, sort));
        order.iter().map(|id| i64::from(*id)).collect()
    }

    /// Puts all runs in an order, and keeps it.
    fn new_order(&self, columns: &Columns, sort: &Sort) -> Arc<Vec<u32>> {
        let order = Arc::new(columns.order(sort));
        self.put_order(sort, columns, &order);
        order
    }

    /// Returns an order that is kept, or follows from one that is.
    fn known_order(&self, columns: &Columns, sort: &Sort) -> Option<Arc<Vec<u32>>> {
        let (of, old) = {
            let mut orders = lock(&self.orders);
            let at = orders.iter().position(|known| known.sort == *sort)?;
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

    fn put_order(&self, sort: &Sort, columns: &Columns, order: &Arc<Vec<u32>>) {
        let of = (columns.origin, columns.change);
        let mut orders = lock(&self.orders);
        if orders.iter().any(|known| known.sort == *sort && known.of.0 == of.0 && known.of.1 > of.1)
        {
            return;
        }
        orders.retain(|known| known.sort != *sort);
        orders.truncate(ORDERS - 1);
        orders.insert(0, Order { sort: sort.clone(), of, ids: Arc::clone(order) });
    }

    /// Returns the facts of all runs. Those that are kept follow the changes.
    pub(crate) fn facts(&self, columns: &Columns) -> Arc<Facts> {
        let of = (columns.origin, columns.change);
        let mut kept = lock(&self.facts);
        let facts = match kept.take() {
            Some(newer) if newer.of > of => {
                *kept = Some(newer);
                drop(kept);
                return Arc::new(Facts::of_columns(columns));
            }
            Some(known) => self.brought(known, columns),
            None => None,
        };
        let facts = facts.unwrap_or_else(|| Arc::new(Facts::of_columns(columns)));
        *kept = Some(KeptFacts { of, facts: Arc::clone(&facts) });
        facts
    }

    /// Brings facts to columns of the same origin; `None` if the changes are not known any more.
    fn brought(&self, known: KeptFacts, columns: &Columns) -> Option<Arc<Facts>> {
        let mut facts = known.facts;
        if known.of != (columns.origin, columns.change) {
            let changed = lock(&self.kept).changed_between(known.of, columns)?;
            Arc::make_mut(&mut facts).update(columns, &changed);
        }
        Some(facts)
    }

    /// Forgets all that is kept.
    pub(crate) fn clear(&self) {
        *lock(&self.kept) = Snapshots::default();
        lock(&self.orders).clear();
        lock(&self.facts).take();
    }
}

/// Returns the runs that changed after a change; `None` if that is not known any more.
fn since(sql: &Connection, change: i64) -> rusqlite::Result<Option<Changed>> {
    let first: Option<i64> = sql.prepare_cached(FIRST)?.query_row([], |row| row.get(0))?;
    if first.is_none_or(|first| first > change + 1) {
        return Ok(None);
    }
    let mut query = sql.prepare_cached(SINCE)?;
    let changed: BTreeSet<u32> =
        query.query_map([change], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    Ok(Some(changed.into_iter().collect()))
}

/// Returns the number that a statement finds, or 0.
fn number(sql: &Connection, statement: &str) -> rusqlite::Result<i64> {
    let found: Option<i64> = sql.prepare_cached(statement)?.query_row([], |row| row.get(0))?;
    Ok(found.unwrap_or(0))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
