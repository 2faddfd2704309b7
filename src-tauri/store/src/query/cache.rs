//! **Pure.** Cache of query results for one snapshot of the index. Emptied when the snapshot
//! changes.
use super::RunSet;
use super::counted_runs::{CountedRuns, PlaceOf};
use super::labels::PeopleLabels;
use super::trust::CachedTrust;
use crate::overview::Matrix;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use touchstone_api::{Facets, QueueOrder, Sort};
use touchstone_formats::review::Verdict;

/// Orders, sets and lists of one snapshot.
#[derive(Default)]
pub(super) struct QueryCache {
    build: PathBuf,
    generation: u64,
    /// All runs, by sort order.
    pub(super) orders: Recent<Sort, Vec<i64>>,
    /// Sets of runs that pass, by filter.
    pub(super) passing: Recent<String, RunSet>,
    /// Lists of runs, by filter and sort order.
    pub(super) lists: Recent<(String, Sort), Vec<i64>>,
    /// Review queues, by filter, order of the list, order of the queue and person.
    pub(super) queues: Recent<(String, Sort, QueueOrder, Option<String>), Vec<i64>, 2>,
    /// Runs that a person has reviewed, with the verdicts.
    pub(super) reviewed: Recent<Option<String>, Vec<(i64, Option<Verdict>)>, 2>,
    /// Values that occur, with the hash of the labels.
    pub(super) facets: Option<(u64, Arc<Facets>)>,
    /// Values of labels that people gave.
    pub(super) given: Option<Arc<PeopleLabels>>,
    /// Overviews, by filter and scorer. Of a million runs, one takes 4 to 60 MB beside the facts of all
    /// runs, the more tasks there are; with a scorer, also facts of its own.
    pub(super) matrices: Recent<(String, Option<String>), Matrix, 3>,
    /// Runs for History, by filter and scorer, with what is kept of their paths. 100,000 runs take
    /// 10 MB.
    pub(super) counted: Recent<(String, Option<String>, PlaceOf), CountedRuns, 2>,
    /// Rater agreement, by filter.
    pub(super) trusts: Recent<String, CachedTrust, 2>,
}

impl QueryCache {
    /// Returns true when the cache belongs to a later snapshot: who still holds an earlier one
    /// neither finds nor keeps anything here.
    pub(super) fn is_later_than(&self, (build, generation): (&Path, u64)) -> bool {
        self.build == build && self.generation > generation
    }

    /// Empties the cache when it belongs to a different snapshot. Returns what was in it, for the
    /// caller to free where nobody waits for it.
    pub(super) fn reset_for(&mut self, (build, generation): (&Path, u64)) -> Option<Self> {
        if self.generation == generation && self.build == build {
            return None;
        }
        let new = Self { build: build.to_owned(), generation, ..Self::default() };
        Some(std::mem::replace(self, new))
    }
}

/// Cache of the most recently used entries. With 100,000 runs, a list takes up to 0.8 MB and an
/// overview 0.4 MB.
pub(super) struct Recent<K, V, const KEPT: usize = 8>(Vec<(K, Arc<V>)>);

impl<K: PartialEq, V, const KEPT: usize> Recent<K, V, KEPT> {
    pub(super) fn get(&mut self, key: &K) -> Option<Arc<V>> {
        let at = self.0.iter().position(|(known, _)| known == key)?;
        self.0[..=at].rotate_right(1);
        Some(Arc::clone(&self.0[0].1))
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Forgets the values used least recently until the sizes of all are at most a sum. The last one
    /// stays.
    pub(super) fn limit(&mut self, size: impl Fn(&V) -> usize, most: usize) {
        let mut sum = 0;
        let fit = self.0.iter().take_while(|(_, value)| {
            sum += size(value);
            sum <= most
        });
        let fit = fit.count().max(1);
        self.0.truncate(fit);
    }

    pub(super) fn put(&mut self, key: K, value: Arc<V>) {
        self.0.retain(|(known, _)| *known != key);
        self.0.truncate(KEPT - 1);
        self.0.insert(0, (key, value));
    }
}

impl<K, V, const KEPT: usize> Default for Recent<K, V, KEPT> {
    fn default() -> Self {
        Self(Vec::new())
    }
}
