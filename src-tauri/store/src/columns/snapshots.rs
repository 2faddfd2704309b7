//! **Pure.** What is kept of the columns of an index: the newest snapshots, which runs changed between
//! them, and who is reading further. Nobody reads the index while they hold it.
use super::{Changed, Columns};
use std::collections::{BTreeSet, HashSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Number of snapshots that are kept. They share what did not change.
const KEPT: usize = 3;
/// Maximum number of changed runs that are remembered for orders.
const MOST_CHANGED: usize = 100_000;

#[derive(Default)]
pub(super) struct Snapshots {
    /// Build of the index.
    build: PathBuf,
    /// Columns of the newest snapshots, the last one first.
    newest: Vec<Arc<Columns>>,
    changes: VecDeque<Delta>,
    /// Turn of who reads further.
    turn: Option<u64>,
    refused: Option<Refusal>,
    /// The columns of this build cannot be read.
    has_failed: bool,
}

/// Runs that changed from one snapshot to the next.
struct Delta {
    origin: u64,
    before: i64,
    with: i64,
    runs: Changed,
}

/// There were too many runs.
#[derive(Clone, Copy)]
struct Refusal {
    /// Number of runs.
    runs: i64,
    /// Change from which on there may be notably fewer.
    again: i64,
}

/// What is to be done for a snapshot.
pub(super) enum Needed {
    Ready(Arc<Columns>),
    /// To read from these columns on, or all anew. Who gets it has the turn until it ends it.
    Read(u64, Option<Columns>),
    /// There is too much to read for who asks.
    Later,
    /// The snapshot is older, somebody else reads, or there are too many runs.
    Nothing,
}

impl Snapshots {
    /// Returns what is to be done for a snapshot of a build, for someone who reads at most so many changes.
    pub(super) fn needed(&mut self, build: &Path, change: i64, most: i64) -> Needed {
        static TURNS: AtomicU64 = AtomicU64::new(0);
        if self.build != build {
            *self = Self { build: build.to_owned(), ..Self::default() };
        }
        if let Some(known) = self.newest.iter().find(|known| known.change == change) {
            return Needed::Ready(Arc::clone(known));
        }
        if self.turn.is_some() || self.refused.is_some_and(|refused| change < refused.again) {
            return Needed::Nothing;
        }
        let newest = self.newest.first();
        match newest.map(|newest| change - newest.change) {
            Some(..0) => return Needed::Nothing,
            Some(changes) if changes > most => return Needed::Later,
            _ => {}
        }
        let newest = newest.map(|newest| Columns::clone(newest));
        let turn = TURNS.fetch_add(1, Ordering::Relaxed);
        self.turn = Some(turn);
        Needed::Read(turn, newest)
    }

    /// Returns true while a turn is not over, nor all forgotten since it began.
    pub(super) fn is_turn(&self, turn: u64) -> bool {
        self.turn == Some(turn)
    }

    pub(super) fn end_turn(&mut self, turn: u64) {
        if self.is_turn(turn) {
            self.turn = None;
        }
    }

    pub(super) fn has_failed(&self, build: &Path) -> bool {
        self.has_failed && self.build == build
    }

    /// Records that the columns of a build cannot be read.
    pub(super) fn fail(&mut self, build: &Path) {
        *self = Self { build: build.to_owned(), has_failed: true, ..Self::default() };
    }

    /// Forgets the snapshots, so that what they alone use is free.
    pub(super) fn forget(&mut self) {
        self.newest.clear();
    }

    /// Forgets all that was made of columns, before others are read.
    pub(super) fn begin(&mut self) {
        self.newest.clear();
        self.changes.clear();
        self.refused = None;
    }

    /// Number of runs when there were too many.
    pub(super) fn refused(&self) -> Option<i64> {
        self.refused.map(|refused| refused.runs)
    }

    /// Records that so many runs were too many at a change. They are counted again only after so many
    /// changes that notably fewer may be left.
    pub(super) fn refuse(&mut self, change: i64, runs: i64) {
        self.begin();
        self.refused = Some(Refusal { runs, again: change + runs / 8 + 1 });
    }

    /// Keeps the columns of a newer snapshot. Of the older ones, those stay that all together take less
    /// than a number of bytes.
    pub(super) fn put(&mut self, columns: Columns, most: usize) -> Arc<Columns> {
        let columns = Arc::new(columns);
        self.newest.insert(0, Arc::clone(&columns));
        self.newest.truncate(KEPT);
        while self.newest.len() > 1 && self.bytes() >= most {
            self.newest.pop();
        }
        columns
    }

    /// Number of bytes of all snapshots. What they share counts once.
    fn bytes(&self) -> usize {
        let mut counted = HashSet::new();
        let all = self.newest.iter();
        all.map(|columns| columns.bytes_with_orders(&mut |part| counted.insert(part))).sum()
    }

    /// Remembers which runs changed since a snapshot.
    pub(super) fn remember(&mut self, before: i64, columns: &Columns, runs: Changed) {
        self.changes.push_back(Delta {
            origin: columns.origin,
            before,
            with: columns.change,
            runs,
        });
        let all = |changes: &VecDeque<Delta>| {
            changes.iter().map(|delta| delta.runs.len() + 1).sum::<usize>()
        };
        while all(&self.changes) > MOST_CHANGED {
            self.changes.pop_front();
        }
    }

    /// Returns the runs that changed from earlier columns on; `None` if that is not known.
    pub(super) fn changed_between(
        &self,
        (origin, from): (u64, i64),
        columns: &Columns,
    ) -> Option<Changed> {
        let mut at = from;
        let mut all = BTreeSet::new();
        let is_of = |delta: &&Delta| delta.origin == origin && origin == columns.origin;
        for delta in self.changes.iter().filter(is_of) {
            if delta.before < from || delta.with > columns.change {
                continue;
            }
            if delta.before != at {
                return None;
            }
            at = delta.with;
            all.extend(delta.runs.iter().copied());
        }
        (at == columns.change && origin == columns.origin).then(|| all.into_iter().collect())
    }
}
