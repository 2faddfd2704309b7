//! **Pure.** Runs as a matrix: tasks and their variations against systems with models. Owns where
//! each run stands and what suites expect that is not there; what the runs of a cell come to is
//! counted in `scoring::standing`, as for every report.
//!
//! A matrix is made once of all runs that pass a filter, and asked for parts of it from then on:
//! folding and scrolling gather nothing again. Only the cells of the rows in sight are worked out
//! when they are asked for.
mod cell;
mod expected;
mod gather;
mod page;
#[cfg(test)]
mod tests;

pub use gather::{Gathering, Seen};

use crate::filter::Filter;
use crate::query::ScoredRun;
use crate::suites::Tasks;
use std::sync::Arc;
use touchstone_api::OverviewCell;
use touchstone_scoring::standing::End;

/// More columns than these are nothing to look at; those with the most runs are kept.
pub const MOST_COLUMNS: usize = 60;

/// All runs that pass a filter, by where they stand.
pub struct Matrix {
    /// The suites it was made with.
    suites: Arc<Tasks>,
    columns: Vec<Column>,
    columns_left_out: usize,
    tasks: Vec<TaskRows>,
    /// Runs without a task.
    loose: Option<Loose>,
    scorers: Vec<String>,
    totals: Totals,
}

/// Counts of everything that passes.
#[derive(Debug, Default, Clone, Copy)]
struct Totals {
    runs: u64,
    scored: u64,
    errors: u64,
    waiting: u64,
    running: u64,
    damaged: u64,
    no_expected: u64,
    unasked: u64,
    unscored: u64,
    forks: u64,
    missing: Option<u64>,
}

/// A system with a model, and what all its tasks come to.
struct Column {
    system: Option<String>,
    model: Option<String>,
    /// None of its runs could be made here, so none is expected.
    foreign: bool,
    cell: OverviewCell,
}

/// A task with its variations.
struct TaskRows {
    /// Id of its suite, or what its runs say.
    id: String,
    /// What it is called instead.
    label: Option<String>,
    /// What its runs call it; its id when there are none.
    names: Vec<String>,
    variations: Vec<VariationRow>,
}

struct VariationRow {
    place: Place,
    label: Option<String>,
    /// Some of its runs say its name, and no number.
    by_name: bool,
    facts: Facts,
    /// Forks and continued runs, which count nowhere.
    forks: Facts,
    /// How many runs are expected and not there, by column.
    missing: Vec<(u16, u32)>,
}

/// Which variation: by its number, or by its name where layouts have no numbers.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Numbered(u32),
    Named(String),
    Unknown,
}

/// What of a run is kept.
struct Fact {
    column: u16,
    end: End,
    repeat: u32,
    reviewed: bool,
    /// For a run that is left out: whether its file stands in the place of a repeat, and of what
    /// kind it is.
    holds: Holds,
    /// It is a fork or was continued by a person.
    apart: bool,
    id: Box<str>,
}

/// What the file of a run stands for among the repeats of its variation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Holds {
    /// The repeat that it is numbered as.
    Repeat,
    /// The number of a repeat, without being one: a fork from before forks had names of their own.
    Number,
    /// Nothing.
    Nothing,
}

/// Runs of one row, by column and within it by repeat.
#[derive(Default)]
struct Facts(Vec<Fact>);

impl Facts {
    /// Those of one column.
    fn of(&self, column: u16) -> &[Fact] {
        let from = self.0.partition_point(|fact| fact.column < column);
        let until = self.0.partition_point(|fact| fact.column <= column);
        &self.0[from..until]
    }
}

/// Runs without a task. Those that say who made them may stand in a column; no column is there for
/// their sake.
#[derive(Default)]
struct Loose {
    runs: u64,
    facts: Facts,
}

impl<'a> From<&'a ScoredRun> for Seen<'a> {
    fn from(run: &'a ScoredRun) -> Self {
        Self {
            id: &run.id,
            task: run.task.as_deref(),
            variation: run.variation,
            variation_name: run.variation_name.as_deref(),
            repeat: run.repeat,
            system: run.system.as_deref(),
            model: run.model.as_deref(),
            state: run.state,
            scoring: run.scoring,
            end: run.counted().end,
            reviewed: run.verdict.is_some() || run.review_score.is_some(),
            foreign: is_foreign(&run.layout),
            lineage: run.lineage,
            fork: run.fork,
        }
    }
}

/// Whether runs of a layout are only read.
fn is_foreign(layout: &str) -> bool {
    matches!(layout, "raw_answer" | "converted_answer" | "pass_rate" | "result_file" | "evaluation")
}

impl VariationRow {
    fn new(place: Place, label: Option<String>) -> Self {
        Self {
            place,
            label,
            by_name: false,
            facts: Facts::default(),
            forks: Facts::default(),
            missing: Vec::new(),
        }
    }

    fn missing(&self, column: u16) -> u32 {
        self.missing.iter().find(|(at, _)| *at == column).map_or(0, |(_, missing)| *missing)
    }
}

impl Matrix {
    /// Gathers runs; `scorers` are those that occur.
    pub fn of(
        runs: &[ScoredRun],
        suites: &Arc<Tasks>,
        filter: &Filter,
        scorers: Vec<String>,
    ) -> Self {
        let mut gathering = Gathering::new(suites, filter);
        for run in runs {
            gathering.add(&Seen::from(run));
        }
        gathering.finish(filter, scorers)
    }

    /// Whether it was made with these suites, and not with those of before they changed.
    pub fn is_of(&self, suites: &Arc<Tasks>) -> bool {
        Arc::ptr_eq(&self.suites, suites)
    }
}
