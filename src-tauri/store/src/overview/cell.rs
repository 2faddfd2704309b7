//! **Pure.** Aggregates the runs of one overview cell.
use super::{Runs, TaskRows, VariationRow};
use crate::columns::Facts;
use touchstone_api::{Lineage, OverviewCell};
use touchstone_metrics::stats::Resampling;
use touchstone_scoring::aggregate::{CellSums, Outcome, RowKey};

/// Number of resamples for one of the hundreds of cells, each fifty pixels wide. Column totals use
/// the full number, as in a report.
const ROUGH: usize = 2_000;

/// Sums of the runs of a cell.
struct Gathering<'a> {
    facts: &'a Facts,
    sums: CellSums<'a>,
    runs: usize,
    reviewed: usize,
    missing: u32,
    forks: u32,
    superseded: u32,
    first_fork: Option<u32>,
}

/// Returns the cell of one variation.
pub(super) fn of_row(facts: &Facts, row: &VariationRow, column: u16) -> Option<OverviewCell> {
    let mut cell = Gathering::new(facts);
    cell.add("", 0, row, column);
    cell.close(rough())
}

/// Returns the cell of a whole task.
pub(super) fn of_task(facts: &Facts, task: &TaskRows, column: u16) -> Option<OverviewCell> {
    of_tasks(facts, &[task], column)
}

/// Returns the cell that aggregates all tasks.
pub(super) fn of_column(facts: &Facts, tasks: &[TaskRows], column: u16) -> OverviewCell {
    let mut cell = Gathering::new(facts);
    for task in tasks {
        cell.add_task(task, column);
    }
    cell.close(Resampling::default()).unwrap_or_default()
}

/// Returns the cell of several tasks.
pub(super) fn of_tasks(facts: &Facts, tasks: &[&TaskRows], column: u16) -> Option<OverviewCell> {
    let mut cell = Gathering::new(facts);
    for task in tasks {
        cell.add_task(task, column);
    }
    cell.close(rough())
}

/// Returns the cell of rows without any run: how many runs are missing.
pub(super) fn of_missing(rows: &[&VariationRow], column: u16) -> Option<OverviewCell> {
    let missing = rows.iter().map(|row| row.missing(column)).sum();
    (missing > 0).then(|| OverviewCell { missing, ..OverviewCell::default() })
}

/// Returns the cell of runs without a task. None of them counts as a repeat of another.
pub(super) fn of_loose(facts: &Facts, runs: &Runs, column: u16) -> Option<OverviewCell> {
    let mut cell = Gathering::new(facts);
    cell.add_runs(&RowKey { task: None, variation: None, name: None }, runs.in_column(column));
    cell.close(rough())
}

fn rough() -> Resampling {
    Resampling { times: ROUGH, ..Resampling::default() }
}

impl<'a> Gathering<'a> {
    fn new(facts: &'a Facts) -> Self {
        let sums = CellSums::default();
        let (runs, reviewed) = (0, 0);
        let (missing, forks, superseded, first_fork) = (0, 0, 0, None);
        Self { facts, sums, runs, reviewed, missing, forks, superseded, first_fork }
    }

    fn add_task(&mut self, task: &'a TaskRows, column: u16) {
        for (number, row) in (0..).zip(&task.variations) {
            self.add(&task.id, number, row, column);
        }
    }

    /// Adds a variation's runs. Variations are numbered by their position in the task, independent
    /// of the layouts' names for them.
    fn add(&mut self, task: &'a str, number: u32, row: &VariationRow, column: u16) {
        let key = RowKey { task: Some(task), variation: Some(number), name: None };
        self.add_runs(&key, row.runs.in_column(column));
        let forks = row.forks.in_column(column);
        for fact in self.facts.at_positions(forks) {
            let superseded = fact.lineage == Some(Lineage::Superseded);
            self.superseded += u32::from(superseded);
            self.forks += u32::from(!superseded);
        }
        self.first_fork = self.first_fork.or(forks.first().copied());
        self.missing += row.missing(column);
    }

    fn add_runs(&mut self, key: &RowKey<'a>, runs: &[u32]) {
        for (at, fact) in runs.iter().zip(self.facts.at_positions(runs)) {
            let run = Outcome { end: fact.end(), apart: fact.lineage.is_some() };
            self.sums.add(key, run, *at as usize);
            self.reviewed += usize::from(fact.is_reviewed());
        }
        self.runs += runs.len();
    }

    fn close(self, resampling: Resampling) -> Option<OverviewCell> {
        if self.runs == 0 && self.missing == 0 && self.first_fork.is_none() {
            return None;
        }
        let cell = self.sums.cell(resampling);
        let interval = cell.score.and_then(|score| score.interval);
        let worst = cell.worst.and_then(|at| u32::try_from(at).ok()).or(self.first_fork);
        Some(OverviewCell {
            runs: small(cell.runs),
            scored: small(cell.scored),
            passed: cell.passes.as_ref().map(|passes| small(passes.passed)),
            score: cell.score.map(|score| score.value),
            low: interval.map(|interval| interval.low.clamp(0.0, 1.0)),
            high: interval.map(|interval| interval.high.clamp(0.0, 1.0)),
            flaky: small(cell.flaky),
            waiting: small(cell.waiting),
            running: small(cell.running),
            errors: small(cell.errors),
            damaged: small(cell.damaged),
            unscored: small(cell.unscored),
            missing: self.missing,
            forks: self.forks,
            superseded: self.superseded,
            reviewed: small(self.reviewed as u64),
            run: worst.and_then(|at| self.facts.id(at)).map(|id| id.to_string()),
        })
    }
}

fn small(count: u64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
