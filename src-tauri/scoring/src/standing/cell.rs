//! **Pure.** What some runs of one system come to: the cell of a matrix, or the sum of a column.
use super::{Counted, End, RowKey};
use crate::stats::{Clusters, Interval, Level, Resampling, is_flaky, wilson_clustered};
use std::collections::{BTreeMap, BTreeSet};

/// What some runs come to. Every run is counted once, under what became of it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Cell {
    /// All of them.
    pub runs: u64,
    /// Those with a score.
    pub scored: u64,
    /// Ended in a system error.
    pub errors: u64,
    /// Wait to be continued.
    pub waiting: u64,
    /// Are being made.
    pub running: u64,
    /// Cannot be read.
    pub damaged: u64,
    /// Ended without a score.
    pub unscored: u64,
    /// Were driven on by added messages.
    pub nudged: u64,
    /// The mean score of those that have one.
    pub score: Option<Estimate>,
    /// How many of those passed for which that is decided.
    pub passes: Option<Passes>,
    /// Rows whose repeats disagree.
    pub flaky: u64,
    /// The run to look at: the worst of those with a score, else the first that failed, else the
    /// first. Counted as the runs are.
    pub worst: Option<usize>,
}

/// A mean with its doubt.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The mean; each run counts the same.
    pub value: f64,
    /// Its interval; none for one run, or when it is no rate and no task differs from the others.
    pub interval: Option<Interval>,
    /// Where the interval comes from.
    pub by: Means,
}

/// How an interval was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Means {
    /// Wilson's, for rates: every score is 0 or 1.
    Wilson,
    /// By drawing tasks again and again.
    Bootstrap,
    /// Student's, where tasks are too few to be drawn.
    Student,
}

/// Passes with their doubt.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Passes {
    /// How many passed.
    pub passed: u64,
    /// Of how many.
    pub of: u64,
    /// The interval of the rate, by Wilson.
    pub interval: Interval,
}

impl Passes {
    /// The rate.
    pub fn share(&self) -> f64 {
        crate::stats::float(self.passed) / crate::stats::float(self.of)
    }
}

/// What runs belong to that are alike: tasks, else variations of one task, else each run for
/// itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Unit<'a> {
    Task(Option<&'a str>),
    Row(RowKey<'a>),
    Run(usize),
}

impl Cell {
    /// Counts those of `runs` that are named by their places. `resampling` says how fine the
    /// interval of a mean is.
    pub fn of(runs: &[Counted<'_>], places: &[usize], resampling: Resampling) -> Self {
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

/// What each run stands with.
pub(super) fn units<'a>(scored: &[(usize, &Counted<'a>)]) -> Vec<Unit<'a>> {
    let rows: BTreeSet<_> = scored.iter().map(|(_, run)| run.row()).collect();
    let each = Unit::of_rows(scored.iter().map(|(_, run)| run.row()));
    let alone = rows.len() < 2;
    each.into_iter()
        .zip(scored)
        .map(|(unit, (at, _))| if alone { Unit::Run(*at) } else { unit })
        .collect()
}

impl<'a> Unit<'a> {
    /// What each row stands with: its task, or where there is no other task, itself.
    pub(super) fn of_rows(rows: impl Iterator<Item = RowKey<'a>> + Clone) -> Vec<Self> {
        let tasks = Tasks::of(rows.clone());
        rows.map(|row| tasks.unit(row)).collect()
    }
}

/// Whether rows are of several tasks; so it is decided once for all that is said of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tasks {
    several: bool,
}

impl Tasks {
    pub(super) fn of<'a>(rows: impl Iterator<Item = RowKey<'a>>) -> Self {
        Self { several: rows.map(|row| row.task).collect::<BTreeSet<_>>().len() > 1 }
    }

    /// What a row stands with: its task, or where there is no other task, itself.
    pub(super) fn unit(self, row: RowKey<'_>) -> Unit<'_> {
        if self.several { Unit::Task(row.task) } else { Unit::Row(row) }
    }
}

/// The mean of scores, each with what it belongs to that others may belong to, too.
pub(crate) fn estimate<K: Ord>(
    scores: impl Iterator<Item = (K, f64)> + Clone,
    resampling: Resampling,
) -> Option<Estimate> {
    let clusters = Clusters::gather(scores.clone())?;
    // Scores that are nothing or all are passes by another name, and Wilson knows what all the same
    // is worth.
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
    // One run is no mean; what its pass is worth is said beside it.
    let interval = interval.filter(|_| clusters.n() > 1);
    // A sum of nothing but zeros may have a sign.
    Some(Estimate { value: clusters.mean() + 0.0, interval, by })
}

/// The rate of passes, each with what it belongs to that others may belong to, too.
pub(crate) fn passes<K: Ord>(passed: impl Iterator<Item = (K, bool)>) -> Option<Passes> {
    let mut units: BTreeMap<K, (u64, u64)> = BTreeMap::new();
    for (unit, passed) in passed {
        let count = units.entry(unit).or_default();
        count.0 += u64::from(passed);
        count.1 += 1;
    }
    let counts: Vec<(u64, u64)> = units.into_values().collect();
    let (passed, of) =
        counts.iter().fold((0, 0), |(passed, of), unit| (passed + unit.0, of + unit.1));
    Some(Passes { passed, of, interval: wilson_clustered(&counts, Level::default())? })
}

/// Rows of which some runs passed and some did not; where nobody decides that, rows whose scores
/// differ.
fn flaky(scored: &[(usize, &Counted<'_>)]) -> u64 {
    let mut rows: BTreeMap<RowKey<'_>, Vec<&Counted<'_>>> = BTreeMap::new();
    for (_, run) in scored.iter().filter(|(_, run)| !run.apart) {
        rows.entry(run.row()).or_default().push(run);
    }
    crate::stats::count(rows.values().filter(|runs| disagree(runs)).count())
}

/// Whether runs of one row, all of them repeats, came out differently.
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
