//! **Pure.** Aggregates runs of one system into the cell of a matrix or the total of a column.
use super::unit_sums::UnitSums;
use super::{Counted, End, RowKey};
use touchstone_metrics::stats::{Estimate, Passes, Resampling, is_flaky};

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
        let cell = Self::from_ordered(&ordered(runs, places), resampling);
        Self { worst: worst(runs, places), ..cell }
    }

    /// Aggregates runs that are in the order of their rows, without the one to look at first.
    pub(super) fn from_ordered(runs: &[&Counted<'_>], resampling: Resampling) -> Self {
        let mut sums = CellSums::default();
        for run in runs {
            sums.add(&run.row(), Outcome { end: run.end, apart: run.apart }, 0);
        }
        let nudged = touchstone_metrics::stats::count(runs.iter().filter(|run| run.nudged).count());
        Self { worst: None, nudged, ..sums.cell(resampling) }
    }
}

/// Returns the runs with these indexes in the order of their rows.
pub(super) fn ordered<'r, 'a>(runs: &'r [Counted<'a>], places: &[usize]) -> Vec<&'r Counted<'a>> {
    let mut ordered: Vec<&Counted<'a>> = places.iter().filter_map(|at| runs.get(*at)).collect();
    if !ordered.is_sorted_by_key(|run| run.row()) {
        ordered.sort_by_key(|run| run.row());
    }
    ordered
}

/// Outcome of a run, as far as cells count it.
#[derive(Debug, Clone, Copy)]
pub struct Outcome {
    /// Outcome of the run.
    pub end: End,
    /// True for a fork or a run that a user resumed; such a run is not a repeat.
    pub apart: bool,
}

/// Sums of the runs of one system, from which its cell is made. Runs of a row are added one after
/// another, and so are the rows of a task.
#[derive(Debug, Clone, Default)]
pub struct CellSums<'a> {
    counts: Cell,
    /// Run to look at first: rank, score and number of the run.
    worst: Option<(u8, f64, usize)>,
    scores: UnitSums<'a>,
    row: Option<RowKey<'a>>,
    repeats: Repeats,
}

/// Outcomes of the repeats of one row.
#[derive(Debug, Clone, Copy)]
struct Repeats {
    passed: u64,
    decided: u64,
    low: f64,
    high: f64,
}

impl Default for Repeats {
    fn default() -> Self {
        Self { passed: 0, decided: 0, low: f64::INFINITY, high: f64::NEG_INFINITY }
    }
}

impl Repeats {
    fn add(&mut self, score: f64, passed: Option<bool>) {
        self.decided += u64::from(passed.is_some());
        self.passed += u64::from(passed == Some(true));
        self.low = self.low.min(score);
        self.high = self.high.max(score);
    }

    /// Returns true if some passed and some failed; without verdicts, if their scores differ.
    fn disagree(&self) -> bool {
        if self.decided > 0 {
            is_flaky(self.passed, self.decided)
        } else {
            self.high - self.low > 1e-9
        }
    }
}

impl<'a> CellSums<'a> {
    /// Adds a run with a number of its own.
    pub fn add(&mut self, row: &RowKey<'a>, run: Outcome, number: usize) {
        let score = run.end.score();
        let kind = rank(run.end, score);
        let is_worst = self.worst.is_none_or(|worst| {
            kind.cmp(&worst.0).then(score.unwrap_or(0.0).total_cmp(&worst.1)).is_lt()
        });
        if is_worst {
            self.worst = Some((kind, score.unwrap_or(0.0), number));
        }
        self.counts.count(run.end, score);
        let Some(score) = score else { return };
        let passed = run.end.passed();
        self.scores.add(row, score, passed);
        // Runs without a task repeat nothing.
        if run.apart || row.task.is_none() {
            return;
        }
        if self.row.as_ref() != Some(row) {
            self.close_row();
            self.row = Some(*row);
        }
        self.repeats.add(score, passed);
    }

    fn close_row(&mut self) {
        self.counts.flaky += u64::from(std::mem::take(&mut self.repeats).disagree());
    }

    /// Returns the number of the run to look at first; of equal ones, the first that was added.
    pub fn worst(&self) -> Option<usize> {
        self.worst.map(|(_, _, number)| number)
    }

    /// Returns the aggregate, in which `worst` is a number of a run. `resampling` sets the precision of
    /// a bootstrap interval.
    pub fn cell(mut self, resampling: Resampling) -> Cell {
        self.close_row();
        Cell {
            worst: self.worst(),
            score: estimate_of(&self.scores, resampling),
            passes: Passes::new(&self.scores.passes()),
            ..self.counts
        }
    }
}

impl Cell {
    fn count(&mut self, end: End, score: Option<f64>) {
        self.runs += 1;
        *match end {
            End::Scored(..) if score.is_some() => &mut self.scored,
            End::Scored(..) | End::Unscored => &mut self.unscored,
            End::Error => &mut self.errors,
            End::Waiting => &mut self.waiting,
            End::Running => &mut self.running,
            End::Damaged => &mut self.damaged,
        } += 1;
    }
}

/// Returns the mean of scores with its interval.
fn estimate_of(scores: &UnitSums<'_>, resampling: Resampling) -> Option<Estimate> {
    let clusters = scores.values()?;
    Some(Estimate::new(&clusters, scores.rates().as_deref(), resampling))
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

/// Returns true if the runs of one row, all of them repeats, have different outcomes.
pub(super) fn disagree(runs: &[&Counted<'_>]) -> bool {
    let mut repeats = Repeats::default();
    for run in runs {
        if let Some(score) = run.score() {
            repeats.add(score, run.passed());
        }
    }
    repeats.disagree()
}

pub(super) fn worst(runs: &[Counted<'_>], places: &[usize]) -> Option<usize> {
    let ranked = places.iter().filter_map(|at| {
        let run = runs.get(*at)?;
        Some((rank(run.end, run.score()), run.score().unwrap_or(0.0), *at))
    });
    ranked
        .min_by(|one, other| one.0.cmp(&other.0).then(one.1.total_cmp(&other.1)))
        .map(|(_, _, at)| at)
}

/// Returns the rank of an outcome among those to look at first.
fn rank(end: End, score: Option<f64>) -> u8 {
    match (end, score) {
        (_, Some(_)) => 0,
        (End::Error, _) => 1,
        (End::Damaged, _) => 2,
        (End::Waiting, _) => 3,
        _ => 4,
    }
}
