//! **Pure.** Aggregates the runs of one overview cell.
use super::{Fact, TaskRows, VariationRow};
use touchstone_api::OverviewCell;
use touchstone_scoring::aggregate::{Cell, Counted};
use touchstone_scoring::stats::Resampling;

/// Number of resamples for one of the hundreds of cells, each fifty pixels wide. Column totals use
/// the full number, as in a report.
const ROUGH: usize = 2_000;

/// Runs of a cell, collected for counting.
#[derive(Default)]
struct Gathering<'a> {
    counted: Vec<Counted<'a>>,
    facts: Vec<&'a Fact>,
    missing: u32,
    forks: Vec<&'a Fact>,
}

/// Returns the cell of one variation.
pub(super) fn of_row(row: &VariationRow, column: u16) -> Option<OverviewCell> {
    let mut cell = Gathering::default();
    cell.add("", 0, row, column);
    cell.close(rough())
}

/// Returns the cell of a whole task.
pub(super) fn of_task(task: &TaskRows, column: u16) -> Option<OverviewCell> {
    let mut cell = Gathering::default();
    for (number, row) in (0..).zip(&task.variations) {
        cell.add(&task.id, number, row, column);
    }
    cell.close(rough())
}

/// Returns the cell that aggregates all tasks. `counted` is the aggregate of the same runs in the
/// same order, if it is known already.
pub(super) fn of_column(tasks: &[TaskRows], column: u16, counted: Option<&Cell>) -> OverviewCell {
    let mut cell = Gathering::default();
    for task in tasks {
        for (number, row) in (0..).zip(&task.variations) {
            cell.add(&task.id, number, row, column);
        }
    }
    match counted {
        Some(counted) => cell.describe(counted),
        None => cell.close(Resampling::default()).unwrap_or_default(),
    }
}

/// Returns the cell of several tasks.
pub(super) fn of_tasks(tasks: &[&TaskRows], column: u16) -> Option<OverviewCell> {
    let mut cell = Gathering::default();
    for task in tasks {
        for (number, row) in (0..).zip(&task.variations) {
            cell.add(&task.id, number, row, column);
        }
    }
    cell.close(rough())
}

/// Returns the cell of rows without any run: how many runs are missing.
pub(super) fn of_missing(rows: &[&VariationRow], column: u16) -> Option<OverviewCell> {
    let missing = rows.iter().map(|row| row.missing(column)).sum();
    (missing > 0).then(|| OverviewCell { missing, ..OverviewCell::default() })
}

/// Returns the cell of runs without a task. None of them counts as a repeat of another.
pub(super) fn of_loose(facts: &[Fact]) -> Option<OverviewCell> {
    let mut cell = Gathering::default();
    for (number, fact) in (0..).zip(facts) {
        cell.counted.push(Counted { variation: Some(number), end: fact.end, ..Counted::default() });
        cell.facts.push(fact);
    }
    cell.close(rough())
}

fn rough() -> Resampling {
    Resampling { times: ROUGH, ..Resampling::default() }
}

impl<'a> Gathering<'a> {
    /// Adds a variation's runs. Variations are numbered by their position in the task, independent
    /// of the layouts' names for them.
    fn add(&mut self, task: &'a str, number: u32, row: &'a VariationRow, column: u16) {
        for fact in row.facts.in_column(column) {
            let place = Counted { task: Some(task), variation: Some(number), ..Counted::default() };
            self.counted.push(Counted { end: fact.end, apart: fact.apart, ..place });
            self.facts.push(fact);
        }
        self.forks.extend(row.forks.in_column(column));
        self.missing += row.missing(column);
    }

    fn close(&self, resampling: Resampling) -> Option<OverviewCell> {
        if self.counted.is_empty() && self.missing == 0 && self.forks.is_empty() {
            return None;
        }
        let places: Vec<usize> = (0..self.counted.len()).collect();
        Some(self.describe(&Cell::new(&self.counted, &places, resampling)))
    }

    fn describe(&self, cell: &Cell) -> OverviewCell {
        let interval = cell.score.and_then(|score| score.interval);
        let superseded = self.forks.iter().filter(|fact| fact.superseded).count();
        let reviewed = self.facts.iter().filter(|fact| fact.reviewed).count();
        OverviewCell {
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
            forks: small((self.forks.len() - superseded) as u64),
            superseded: small(superseded as u64),
            reviewed: small(reviewed as u64),
            run: cell
                .worst
                .and_then(|at| self.facts.get(at))
                .or(self.forks.first())
                .map(|fact| fact.id.to_string()),
        }
    }
}

fn small(count: u64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
