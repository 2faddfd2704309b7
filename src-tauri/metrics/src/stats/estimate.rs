//! **Pure.** Means and pass rates with their intervals, of scores that are clustered by task.
use super::{Clusters, Interval, Level, Resampling, float, wilson_clustered};
use std::collections::BTreeMap;

/// A mean with its confidence interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// Mean; each run counts the same.
    pub value: f64,
    /// Interval; `None` for a single run, or when the scores are not all 0 or 1 and no task differs
    /// from the others.
    pub interval: Option<Interval>,
    /// Method by which the interval was computed.
    pub by: Means,
}

/// Method by which an interval was computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Means {
    /// Wilson interval, for rates: every score is 0 or 1.
    Wilson,
    /// Bootstrap over tasks.
    Bootstrap,
    /// Student's distribution, for too few tasks to resample.
    Student,
}

/// Pass rate with its confidence interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Passes {
    /// Number of passed runs.
    pub passed: u64,
    /// Number of runs with a verdict.
    pub of: u64,
    /// Wilson interval of the rate.
    pub interval: Interval,
}

impl Estimate {
    /// Returns the mean of scores from 0 to 1. `rates` are given if all are 0 or 1: then they are a
    /// rate, and the Wilson interval is valid even if all are equal.
    pub fn new(clusters: &Clusters, rates: Option<&[(u64, u64)]>, resampling: Resampling) -> Self {
        let (interval, by) = if let Some(rates) = rates {
            (wilson_clustered(rates, Level::default()), Means::Wilson)
        } else {
            let interval =
                clusters.interval(Level::default(), resampling).map(|it| it.within(0.0, 1.0));
            (interval, if clusters.is_drawn() { Means::Bootstrap } else { Means::Student })
        };
        // A single run has no interval of its mean; its pass rate has one.
        let interval = interval.filter(|_| clusters.n() > 1);
        // A sum of zeros may be negative zero.
        Self { value: clusters.mean() + 0.0, interval, by }
    }
}

impl Passes {
    /// Returns the rate over clusters, each with the number that passed, and of all. `None` without
    /// any.
    pub fn new(counts: &[(u64, u64)]) -> Option<Self> {
        let (passed, of) =
            counts.iter().fold((0, 0), |(passed, of), unit| (passed + unit.0, of + unit.1));
        Some(Self { passed, of, interval: wilson_clustered(counts, Level::default())? })
    }

    /// Returns the rate.
    pub fn share(&self) -> f64 {
        float(self.passed) / float(self.of)
    }
}

/// Returns the mean of scores from 0 to 1, each given with its cluster.
pub fn estimate<K: Ord + Clone>(
    scores: impl Iterator<Item = (K, f64)> + Clone,
    resampling: Resampling,
) -> Option<Estimate> {
    let clusters = Clusters::gather(scores.clone())?;
    let rate =
        |(unit, score): (K, f64)| (score >= 1.0 || score <= 0.0).then_some((unit, score >= 1.0));
    let rates: Option<Vec<(K, bool)>> = scores.map(rate).collect();
    let rates = rates.map(|rates| counts(rates.into_iter()));
    Some(Estimate::new(&clusters, rates.as_deref(), resampling))
}

/// Returns the pass rate of verdicts, each given with its cluster.
pub fn passes<K: Ord>(passed: impl Iterator<Item = (K, bool)>) -> Option<Passes> {
    Passes::new(&counts(passed))
}

/// Counts verdicts by cluster: those that passed, and all.
fn counts<K: Ord>(passed: impl Iterator<Item = (K, bool)>) -> Vec<(u64, u64)> {
    let mut units: BTreeMap<K, (u64, u64)> = BTreeMap::new();
    // Verdicts of one unit mostly follow each other.
    let mut passed = passed.peekable();
    while let Some((unit, first)) = passed.next() {
        let (mut some, mut of) = (u64::from(first), 1);
        while let Some((_, passed)) = passed.next_if(|(other, _)| *other == unit) {
            some += u64::from(passed);
            of += 1;
        }
        let count = units.entry(unit).or_default();
        count.0 += some;
        count.1 += of;
    }
    units.into_values().collect()
}
