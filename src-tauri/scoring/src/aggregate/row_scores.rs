//! **Pure.** Sums of the scores of each task and variation of one system, set by set, from which the
//! sets before and after a border are compared without walking over their runs again. Sums are
//! exact, so that they do not depend on the order of runs.
use super::cell::Tasks;
use super::{Counted, RowKey};
use std::collections::{BTreeMap, HashMap};
use touchstone_metrics::stats::Clusters;

/// Scores are summed in units of 2^-100. A score has 53 significant bits, so that all from 2^-47 on
/// are exact, and 2^27 of them fit.
const UNIT: f64 = 1_267_650_600_228_229_401_496_703_205_376.0;

/// Scores of the rows of a system.
pub(super) struct RowScores<'a> {
    /// Rows, in order.
    keys: Vec<RowKey<'a>>,
    /// Sums of the rows of each set that have a score there.
    sets: Vec<Vec<(usize, Sum)>>,
}

/// Scores of a row over some sets.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sum {
    scored: i128,
    score: i128,
    /// Scorers, and fingerprints, as numbers.
    scorer: Seen,
    fingerprint: Seen,
}

/// Which values occur.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Seen {
    #[default]
    None,
    One(usize),
    Several,
}

/// Comparison of the sets after a border with those before.
pub(super) struct Compared {
    /// Differences of the means, of rows with a score on both sides that can be compared.
    pub(super) differences: Vec<(usize, f64)>,
    /// Number of rows with a score on both sides that cannot be compared.
    pub(super) others: usize,
}

impl Seen {
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::None, one) | (one, Self::None) => one,
            (one, other) if one == other => one,
            _ => Self::Several,
        }
    }
}

impl Sum {
    fn add(&mut self, other: &Self) {
        self.scored += other.scored;
        self.score += other.score;
        self.scorer = self.scorer.and(other.scorer);
        self.fingerprint = self.fingerprint.and(other.fingerprint);
    }

    /// Returns the mean score.
    #[expect(clippy::cast_precision_loss, reason = "rounded once")]
    fn mean(scored: i128, score: i128) -> Option<f64> {
        score.checked_div(scored).map(|mean| mean as f64 / UNIT)
    }
}

impl<'a> RowScores<'a> {
    /// Sums the scores of the runs of each set. Runs without a task are in no row.
    pub(super) fn new(sets: &[(usize, Vec<Counted<'a>>)]) -> Self {
        let runs = || sets.iter().flat_map(|(_, runs)| runs).filter(|run| is_in_row(run));
        let mut places: BTreeMap<RowKey<'a>, usize> = runs().map(|run| (run.row(), 0)).collect();
        places.values_mut().enumerate().for_each(|(at, place)| *place = at);
        let by_key: HashMap<RowKey<'a>, usize> =
            places.iter().map(|(key, at)| (*key, *at)).collect();
        let (mut scorers, mut fingerprints) = (HashMap::new(), HashMap::new());
        let mut sums = |runs: &[Counted<'a>]| {
            let mut of_set: BTreeMap<usize, Sum> = BTreeMap::new();
            for run in runs.iter().filter(|run| is_in_row(run)) {
                let (Some(at), Some(score)) = (by_key.get(&run.row()), run.score()) else {
                    continue;
                };
                let (next, other) = (scorers.len(), fingerprints.len());
                let scorer = *scorers.entry(run.scorer).or_insert(next);
                let fingerprint = *fingerprints.entry(run.fingerprint).or_insert(other);
                #[expect(clippy::cast_possible_truncation, reason = "a score is at most 1")]
                let score = (score * UNIT) as i128;
                of_set.entry(*at).or_default().add(&Sum {
                    scored: 1,
                    score,
                    scorer: Seen::One(scorer),
                    fingerprint: Seen::One(fingerprint),
                });
            }
            of_set.into_iter().collect()
        };
        let sets = sets.iter().map(|(_, runs)| sums(runs)).collect();
        Self { keys: places.into_keys().collect(), sets }
    }

    /// Returns the sums over no set.
    pub(super) fn none(&self) -> Vec<Sum> {
        vec![Sum::default(); self.keys.len()]
    }

    /// Adds a set to sums.
    pub(super) fn add(&self, set: usize, sums: &mut [Sum]) {
        for (at, sum) in self.sets.get(set).into_iter().flatten() {
            if let Some(sums) = sums.get_mut(*at) {
                sums.add(sum);
            }
        }
    }
}

impl Compared {
    /// Compares the sets of `all` that are not in `before` with those in it.
    pub(super) fn new(before: &[Sum], all: &[Sum]) -> Self {
        let mut compared = Self { differences: Vec::new(), others: 0 };
        for (at, (before, all)) in before.iter().zip(all).enumerate() {
            let now = Sum::mean(all.scored - before.scored, all.score - before.score);
            let Some((now, then)) = now.zip(Sum::mean(before.scored, before.score)) else {
                continue;
            };
            if all.scorer == Seen::Several || all.fingerprint == Seen::Several {
                compared.others += 1;
            } else {
                compared.differences.push((at, now - then));
            }
        }
        compared
    }

    /// Returns the differences by unit; `None` without pairs.
    pub(super) fn differences(&self, rows: &RowScores<'_>) -> Option<Clusters> {
        let pairs =
            || self.differences.iter().filter_map(|(at, it)| Some((*rows.keys.get(*at)?, *it)));
        let tasks = Tasks::new(pairs().map(|(key, _)| key));
        Clusters::gather(pairs().map(|(key, it)| (tasks.unit(key), it)))
    }
}

/// Returns true for a run whose score counts in a row.
fn is_in_row(run: &Counted<'_>) -> bool {
    run.task.is_some() && run.score().is_some()
}
