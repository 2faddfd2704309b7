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

use gather::Gathering;

pub use crate::run_key::RunKey;
pub use leaders::{Leader, Leaders, Spent};
pub use page::column_filter;

use crate::columns::{Fact, Facts, Place, Seen};
use crate::filter::Filter;
use crate::query::ScoredRun;
use crate::run_set::RunSet;
use crate::suites::Tasks;
use std::sync::{Arc, OnceLock};
use touchstone_api::{Lineage, OverviewCell};
use touchstone_scoring::aggregate::Ranking;

/// Maximum number of columns; those with the most runs are kept.
pub const MOST_COLUMNS: usize = 60;

/// All runs that pass a filter, by position.
pub struct Matrix {
    /// Suites that the matrix was built with.
    suites: Arc<Tasks>,
    /// Facts of all runs, of which the matrix has positions.
    facts: Arc<Facts>,
    columns: Vec<Column>,
    columns_left_out: usize,
    tasks: Vec<TaskRows>,
    /// Runs without a task.
    loose: Option<Loose>,
    scorers: Vec<String>,
    /// Which systems are best and lowest.
    ranking: Ranking,
    /// Runs without a task of systems that have no others.
    alone: Vec<leaders::Alone>,
    leaders: OnceLock<Arc<Leaders>>,
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
    /// True when further runs are expected. None could be made for results of other programs, and a
    /// fork with another model says nothing about the other tasks.
    expects_runs: bool,
    /// True when a run counts; forks do not.
    has_counted: bool,
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
    /// Run that the label is of: that with the lowest row in the index.
    label_of: u32,
    /// True when some runs give the name of the variation instead of a number.
    by_name: bool,
    runs: Runs,
    /// Forks, continued and superseded runs, which are not counted.
    forks: Runs,
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

/// Returns the slot that the file of a run occupies.
fn slot_of(fact: &Fact) -> Holds {
    match fact.lineage {
        Some(Lineage::Superseded) => Holds::Nothing,
        Some(Lineage::Fork) if fact.is_numbered_fork() => Holds::Nothing,
        Some(Lineage::Fork) => Holds::Number,
        Some(Lineage::FollowUps) | None => Holds::Repeat,
    }
}

/// Runs of one row: their positions among the facts, ordered by repeat, by column.
#[derive(Default)]
struct Runs(Vec<(u16, Vec<u32>)>);

impl Runs {
    /// Positions of the runs of one column.
    fn in_column(&self, column: u16) -> &[u32] {
        let found = self.0.binary_search_by_key(&column, |(column, _)| *column);
        found.ok().and_then(|at| self.0.get(at)).map_or(&[], |(_, positions)| positions)
    }

    fn len(&self) -> usize {
        self.0.iter().map(|(_, positions)| positions.len()).sum()
    }

    fn is_empty(&self) -> bool {
        self.0.iter().all(|(_, positions)| positions.is_empty())
    }
}

/// Runs without a task. Those with a system and model appear in existing columns, but create none.
#[derive(Default)]
struct Loose {
    /// Number of runs, with those in columns that the matrix does not show.
    count: u64,
    runs: Runs,
}

/// Returns the values of a run.
fn seen(run: &ScoredRun, at: u32) -> Seen<'_> {
    Seen {
        run: at,
        id: run.id.as_str().into(),
        place: Place {
            task: run.task.as_deref(),
            system: run.system.as_deref(),
            model: run.model.as_deref(),
            variation: run.variation,
            variation_name: run.variation_name.as_deref(),
        },
        repeat: run.repeat,
        state: run.state,
        scoring: run.scoring,
        end: run.counted().end,
        reviewed: run.verdict.is_some() || run.review_score.is_some(),
        foreign: is_foreign(&run.layout),
        lineage: run.lineage,
        fork: run.fork,
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
            label_of: u32::MAX,
            by_name: false,
            runs: Runs::default(),
            forks: Runs::default(),
            missing: Vec::new(),
        }
    }

    fn has_runs(&self) -> bool {
        !self.runs.is_empty() || !self.forks.is_empty()
    }

    fn missing(&self, column: u16) -> u32 {
        self.missing.iter().find(|(at, _)| *at == column).map_or(0, |(_, missing)| *missing)
    }
}

impl Matrix {
    /// Builds a matrix of runs. `scorers` are the scorers that occur.
    pub fn from_runs(
        runs: &[ScoredRun],
        suites: &Arc<Tasks>,
        filter: &Filter,
        scorers: Vec<String>,
    ) -> Self {
        let Ok(facts) = Facts::gather(|add| {
            (0..).zip(runs).for_each(|(at, run)| add(seen(run, at)));
            Ok::<_, std::convert::Infallible>(())
        });
        Self::new(&Arc::new(facts), None, (suites, filter), scorers)
    }

    /// Builds a matrix of the facts of some runs; of all without a set. `scorers` are the scorers that
    /// occur.
    pub(crate) fn new(
        facts: &Arc<Facts>,
        passing: Option<&RunSet>,
        (suites, filter): (&Arc<Tasks>, &Filter),
        scorers: Vec<String>,
    ) -> Self {
        let mut gathering = Gathering::new(suites, facts, filter);
        gathering.add_all(passing);
        gathering.finish(filter, scorers)
    }

    /// Returns the systems with their models, with statistics of all their runs. `spent` returns what
    /// the run of a row of the index consumed; it is called the first time.
    pub fn leaders(&self, spent: &dyn Fn(u32) -> Spent) -> Arc<Leaders> {
        Arc::clone(self.leaders.get_or_init(|| Arc::new(Leaders::new(self, spent))))
    }

    /// Returns the rows in the index of all its runs.
    pub(crate) fn runs(&self) -> RunSet {
        let rows = self.tasks.iter().flat_map(|task| &task.variations).map(|row| &row.runs);
        let loose = self.loose.as_ref().map(|loose| &loose.runs);
        let positions = rows.chain(loose).flat_map(|runs| &runs.0).map(|(_, positions)| positions);
        let positions = positions.chain(self.alone.iter().map(|one| &one.runs));
        let mut all = RunSet::default();
        for positions in positions {
            all.extend(self.facts.at_positions(positions).map(|fact| i64::from(fact.run)));
        }
        all
    }

    /// Returns the systems with their models, if they were summarised already.
    pub(crate) fn known_leaders(&self) -> Option<Arc<Leaders>> {
        self.leaders.get().cloned()
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
