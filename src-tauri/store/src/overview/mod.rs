//! **Pure.** Runs as a matrix: tasks with variations against systems with models. Owns the position
//! of each run and the expected but missing runs. The statistics of a cell are computed in
//! `scoring::aggregate`, as for every report.
//!
//! A matrix is built once from all runs that pass a filter and then queried for parts: folding and
//! scrolling do not collect the runs again. Cells are computed only for the visible rows.
mod cell;
mod expected;
mod gather;
mod leaders;
mod page;
#[cfg(test)]
mod tests;

pub use crate::run_key::RunKey;
pub(crate) use gather::MatrixPlace;
pub use gather::{Gathering, Seen, Spent};
pub use leaders::{Leader, Leaders};
pub use page::column_filter;

use crate::filter::Filter;
use crate::query::ScoredRun;
use crate::suites::Tasks;
use std::sync::Arc;
use touchstone_api::OverviewCell;
use touchstone_scoring::aggregate::End;

/// Maximum number of columns; those with the most runs are kept.
pub const MOST_COLUMNS: usize = 60;

/// All runs that pass a filter, by position.
pub struct Matrix {
    /// Suites that the matrix was built with.
    suites: Arc<Tasks>,
    columns: Vec<Column>,
    columns_left_out: usize,
    tasks: Vec<TaskRows>,
    /// Runs without a task.
    loose: Option<Loose>,
    scorers: Vec<String>,
    /// Which systems are best and lowest, in sentences.
    headline: Vec<String>,
    leaders: Arc<Leaders>,
    totals: Totals,
}

/// Totals over all runs that pass the filter.
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
    superseded: u64,
    replays: u64,
    evaluations: u64,
    missing: Option<u64>,
}

/// System and model, with the aggregate over all tasks.
struct Column {
    system: Option<String>,
    model: Option<String>,
    /// True when no run could have been made here, so that none is expected.
    foreign: bool,
    cell: OverviewCell,
}

/// Task with its variations.
struct TaskRows {
    /// Id of the suite, or the name from the runs.
    id: String,
    /// Display name.
    label: Option<String>,
    /// Names used by its runs; the id when there are none.
    names: Vec<String>,
    variations: Vec<VariationRow>,
}

struct VariationRow {
    place: VariationKey,
    label: Option<String>,
    /// True when some runs give the name of the variation instead of a number.
    by_name: bool,
    facts: Facts,
    /// Forks, continued and superseded runs, which are not counted.
    forks: Facts,
    /// Number of missing runs, by column.
    missing: Vec<(u16, u32)>,
}

/// Variation, by its number, or by its name in layouts without numbers.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum VariationKey {
    Numbered(u32),
    Named(String),
    Unknown,
}

/// Fields kept of a run.
struct Fact {
    column: u16,
    end: End,
    repeat: u32,
    reviewed: bool,
    /// Repeat slot that the run's file occupies.
    holds: Holds,
    /// True for a fork, or a run that is continued by a person or superseded.
    apart: bool,
    superseded: bool,
    spent: CompactSpent,
    id: RunKey,
}

/// Amounts that a run consumed; not a number where unknown. Half the size of options, because there
/// are many runs.
#[derive(Clone, Copy)]
struct CompactSpent([f64; 3]);

impl From<Spent> for CompactSpent {
    fn from(spent: Spent) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "tokens are far below 2^53")]
        let tokens = spent.tokens.map(|tokens| tokens as f64);
        Self([tokens, spent.cost, spent.seconds].map(|amount| amount.unwrap_or(f64::NAN)))
    }
}

impl CompactSpent {
    fn spent(self) -> Spent {
        let [tokens, cost, seconds] = self.0.map(|amount| (!amount.is_nan()).then_some(amount));
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the tokens were a whole number"
        )]
        let tokens = tokens.map(|tokens| tokens as u64);
        Spent { tokens, cost, seconds }
    }
}

/// Repeat slot that a file occupies among the repeats of its variation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Holds {
    /// It is the repeat with its number.
    Repeat,
    /// It occupies the number without being that repeat: an old fork, from before forks had their
    /// own file names.
    Number,
    /// It occupies no slot.
    Nothing,
}

/// Runs of one row, ordered by column and repeat.
#[derive(Default)]
struct Facts(Vec<Fact>);

impl Facts {
    /// Runs of one column.
    fn in_column(&self, column: u16) -> &[Fact] {
        let from = self.0.partition_point(|fact| fact.column < column);
        let until = self.0.partition_point(|fact| fact.column <= column);
        &self.0[from..until]
    }
}

/// Runs without a task. Those with a system and model appear in existing columns, but create none.
#[derive(Default)]
struct Loose {
    runs: u64,
    facts: Facts,
}

impl<'a> From<&'a ScoredRun> for Seen<'a> {
    fn from(run: &'a ScoredRun) -> Self {
        Self {
            id: run.id.as_str().into(),
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
            spent: Spent { tokens: run.tokens, cost: run.cost, seconds: run.seconds },
        }
    }
}

/// Returns true for layouts that are only read, never written.
fn is_foreign(layout: &str) -> bool {
    matches!(
        layout,
        "raw_answer"
            | "converted_answer"
            | "pass_rate"
            | "result_file"
            | "evaluation"
            | "evaluated"
    )
}

impl VariationRow {
    fn new(place: VariationKey, label: Option<String>) -> Self {
        Self {
            place,
            label,
            by_name: false,
            facts: Facts::default(),
            forks: Facts::default(),
            missing: Vec::new(),
        }
    }

    fn has_runs(&self) -> bool {
        !self.facts.0.is_empty() || !self.forks.0.is_empty()
    }

    fn missing(&self, column: u16) -> u32 {
        self.missing.iter().find(|(at, _)| *at == column).map_or(0, |(_, missing)| *missing)
    }
}

impl Matrix {
    /// Builds a matrix. `scorers` are the scorers that occur.
    pub fn from_runs(
        runs: &[ScoredRun],
        suites: &Arc<Tasks>,
        filter: &Filter,
        scorers: Vec<String>,
    ) -> Self {
        let mut gathering = Gathering::new(suites, filter);
        for run in runs {
            gathering.add(Seen::from(run));
        }
        gathering.finish(filter, scorers)
    }

    /// Returns the systems with their models, with statistics of all their runs.
    pub fn leaders(&self) -> Arc<Leaders> {
        Arc::clone(&self.leaders)
    }

    /// Sets the numbers of runs that pass the filter and are no runs of the benchmark.
    #[must_use]
    pub fn with_left_out(mut self, replays: u64, evaluations: u64) -> Self {
        (self.totals.replays, self.totals.evaluations) = (replays, evaluations);
        self
    }

    /// Returns true when it was built with exactly these suites, not with an older version of them.
    pub fn is_of(&self, suites: &Arc<Tasks>) -> bool {
        Arc::ptr_eq(&self.suites, suites)
    }
}
