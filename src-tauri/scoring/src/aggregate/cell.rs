//! **Pure.** Aggregates runs of one system into the cell of a matrix or the total of a column.
use super::{Counted, End, RowKey};
use crate::stats::{Clusters, Interval, Level, Resampling, is_flaky, wilson_clustered};
use std::collections::BTreeMap;

/// Aggregate of some runs. Each run is counted in exactly one state.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Cell {
    /// Number of runs.
    pub runs: u64,
    /// Runs with a score.
    pub scored: u64,
    /// Runs that ended in a system error.
    pub errors: u64,
    /// Runs that wait to be resumed.
    pub waiting: u64,
    /// Runs in progress.
    pub running: u64,
    /// Runs that cannot be read.
    pub damaged: u64,
    /// Runs that ended without a score.
    pub unscored: u64,
    /// Runs that were advanced by automatically added messages.
    pub nudged: u64,
    /// Mean score of the runs that have one.
    pub score: Option<Estimate>,
    /// Passes among the runs that have a pass or fail verdict.
    pub passes: Option<Passes>,
    /// Number of rows whose repeats disagree.
    pub flaky: u64,
    /// Index of the run to look at first, among the given runs: the one with the lowest score;
    /// without scores, the first that failed, is damaged or waits (in this order), else the first.
    pub worst: Option<usize>,
}

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

impl Passes {
    /// Returns the rate.
    pub fn share(&self) -> f64 {
        crate::stats::float(self.passed) / crate::stats::float(self.of)
    }
}

/// Cluster of dependent runs: a task; if there is only one task, a variation; if there is only one
/// row, the run itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Unit<'a> {
    Task(Option<&'a str>),
    Row(RowKey<'a>),
    Run(usize),
}

impl Cell {
    /// Aggregates the runs with these indexes. `resampling` sets the precision of a bootstrap
    /// interval.
    pub fn new(runs: &[Counted<'_>], places: &[usize], resampling: Resampling) -> Self {
        let mut cell = Self { worst: worst(runs, places), ..Self::default() };
        let here = || places.iter().filter_map(|at| Some((*at, runs.get(*at)?)));
        for (_, run) in here() {
            cell.runs += 1;
            cell.nudged += u64::from(run.nudged);
            match run.end {
                End::Scored(..) if run.score().is_some() => cell.scored += 1,
                End::Scored(..) | End::Unscored => cell.unscored += 1,
                End::Error => cell.errors += 1,
                End::Waiting => cell.waiting += 1,
                End::Running => cell.running += 1,
                End::Damaged => cell.damaged += 1,
            }
        }
        let scored: Vec<(usize, &Counted<'_>)> =
            here().filter(|(_, run)| run.score().is_some()).collect();
        let units = units(&scored);
        let values =
            scored.iter().zip(&units).filter_map(|((_, run), unit)| Some((*unit, run.score()?)));
        cell.score = estimate(values, resampling);
        let passed =
            scored.iter().zip(&units).filter_map(|((_, run), unit)| Some((*unit, run.passed()?)));
        cell.passes = passes(passed);
        cell.flaky = flaky(&scored);
        cell
    }
}

/// Returns the cluster of each run. A run without a task is a cluster of its own.
pub(super) fn units<'a>(scored: &[(usize, &Counted<'a>)]) -> Vec<Unit<'a>> {
    let mut rows = scored.iter().map(|(_, run)| run.row());
    let first = rows.next();
    let alone = rows.all(|row| Some(row) == first);
    let each = Unit::of_rows(scored.iter().map(|(_, run)| run.row()));
    let unit = |(unit, (at, run)): (Unit<'a>, &(usize, &Counted<'a>))| {
        if alone || run.task.is_none() { Unit::Run(*at) } else { unit }
    };
    each.into_iter().zip(scored).map(unit).collect()
}

impl<'a> Unit<'a> {
    /// Returns the cluster of each row: its task, or the row itself if there is no other task.
    pub(super) fn of_rows(rows: impl Iterator<Item = RowKey<'a>> + Clone) -> Vec<Self> {
        let tasks = Tasks::new(rows.clone());
        rows.map(|row| tasks.unit(row)).collect()
    }
}

/// Clustering of rows: by task or by row. Decided once for all statistics of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tasks {
    several: bool,
}

impl Tasks {
    pub(super) fn new<'a>(rows: impl Iterator<Item = RowKey<'a>>) -> Self {
        let mut tasks = rows.map(|row| row.task);
        let first = tasks.next();
        Self { several: tasks.any(|task| Some(task) != first) }
    }

    /// Returns the cluster of a row: its task, or the row itself if there is no other task.
    pub(super) fn unit(self, row: RowKey<'_>) -> Unit<'_> {
        if self.several { Unit::Task(row.task) } else { Unit::Row(row) }
    }
}

/// Returns the mean of scores, each given with its cluster.
pub(crate) fn estimate<K: Ord + Clone>(
    scores: impl Iterator<Item = (K, f64)> + Clone,
    resampling: Resampling,
) -> Option<Estimate> {
    let clusters = Clusters::gather(scores.clone())?;
    // If all scores are 0 or 1, they are a rate, and the Wilson interval is valid even if all are
    // equal.
    let rate: Option<Vec<(K, bool)>> = scores
        .map(|(unit, score)| {
            Some((
                unit,
                if score >= 1.0 {
                    true
                } else if score <= 0.0 {
                    false
                } else {
                    return None;
                },
            ))
        })
        .collect();
    let (interval, by) = if let Some(rate) = rate {
        (passes(rate.into_iter()).map(|passes| passes.interval), Means::Wilson)
    } else {
        let interval =
            clusters.interval(Level::default(), resampling).map(|it| it.within(0.0, 1.0));
        (interval, if clusters.is_drawn() { Means::Bootstrap } else { Means::Student })
    };
    // A single run has no interval of its mean; its pass rate has one.
    let interval = interval.filter(|_| clusters.n() > 1);
    // A sum of zeros may be negative zero.
    Some(Estimate { value: clusters.mean() + 0.0, interval, by })
}

/// Returns the pass rate of verdicts, each given with its cluster.
pub(crate) fn passes<K: Ord>(passed: impl Iterator<Item = (K, bool)>) -> Option<Passes> {
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
    let counts: Vec<(u64, u64)> = units.into_values().collect();
    let (passed, of) =
        counts.iter().fold((0, 0), |(passed, of), unit| (passed + unit.0, of + unit.1));
    Some(Passes { passed, of, interval: wilson_clustered(&counts, Level::default())? })
}

/// Returns the number of rows of which some runs passed and some failed; without verdicts, rows
/// whose scores differ. Runs without a task repeat nothing.
fn flaky(scored: &[(usize, &Counted<'_>)]) -> u64 {
    let mut rows: BTreeMap<RowKey<'_>, Vec<&Counted<'_>>> = BTreeMap::new();
    let repeats: Vec<&Counted<'_>> =
        scored.iter().map(|(_, run)| *run).filter(|run| !run.apart && run.task.is_some()).collect();
    for runs in repeats.chunk_by(|one, other| one.row() == other.row()) {
        rows.entry(runs[0].row()).or_default().extend(runs);
    }
    crate::stats::count(rows.values().filter(|runs| disagree(runs)).count())
}

/// Returns true if the runs of one row, all of them repeats, have different outcomes.
pub(super) fn disagree(runs: &[&Counted<'_>]) -> bool {
    let decided: Vec<bool> = runs.iter().filter_map(|run| run.passed()).collect();
    if !decided.is_empty() {
        let passed = decided.iter().filter(|passed| **passed).count();
        return is_flaky(crate::stats::count(passed), crate::stats::count(decided.len()));
    }
    let scores = || runs.iter().filter_map(|run| run.score());
    scores().fold(f64::NEG_INFINITY, f64::max) - scores().fold(f64::INFINITY, f64::min) > 1e-9
}

fn worst(runs: &[Counted<'_>], places: &[usize]) -> Option<usize> {
    let rank = |at: &usize| {
        let run = runs.get(*at)?;
        let (kind, score) = match (run.end, run.score()) {
            (_, Some(score)) => (0, score),
            (End::Error, _) => (1, 0.0),
            (End::Damaged, _) => (2, 0.0),
            (End::Waiting, _) => (3, 0.0),
            _ => (4, 0.0),
        };
        Some((kind, score, *at))
    };
    let ranked = places.iter().filter_map(rank);
    ranked
        .min_by(|one, other| one.0.cmp(&other.0).then(one.1.total_cmp(&other.1)))
        .map(|(_, _, at)| at)
}
