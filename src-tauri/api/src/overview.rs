//! **Pure.** The overview matrix: tasks and their variations by systems and models.
use super::list::FilterError;
use super::status::Span;
use serde::{Deserialize, Serialize};

/// Filter and part of the matrix.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct OverviewRequest {
    /// Filter of the runs, with the syntax of the list.
    pub filter: String,
    /// Scorer whose scores are used; the first scorer of each task if none is given.
    pub scorer: Option<String>,
    /// True to fold tasks, which shows only their own row.
    pub folded: bool,
    /// Tasks that are exceptions to `folded`.
    pub except: Vec<String>,
    /// Task whose row to locate.
    pub find: Option<String>,
    /// Rows and order of the matrix.
    #[serde(default)]
    pub view: OverviewView,
    /// Range of rows, counted without the folded ones.
    pub span: Span,
}

/// Rows and order of the matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct OverviewView {
    /// True to show tasks and variations without any run.
    pub missing: bool,
    /// True to group columns by model; they are grouped by system otherwise.
    pub by_model: bool,
    /// True to group tasks by their first tag.
    pub by_tag: bool,
}

/// A part of the matrix.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct Overview {
    /// Generation of the index that was queried.
    pub generation: u64,
    /// One column per system and model, with a summary cell.
    pub columns: Vec<OverviewColumn>,
    /// Number of omitted columns: those with the fewest runs.
    pub columns_left_out: u32,
    /// Number of all rows.
    pub total_rows: u64,
    /// Number of tasks with a row.
    pub tasks: u64,
    /// True if a task has a tag.
    pub tags: bool,
    /// Row of the task in the request's `find`.
    pub found: Option<u64>,
    /// Rows from the requested offset on.
    pub rows: Vec<OverviewRow>,
    /// Which systems are best and lowest and what cannot be told yet, in sentences.
    pub headline: Vec<String>,
    /// Scorers that occur, for selection.
    pub scorers: Vec<String>,
    /// Number of runs that match the filter.
    pub runs: u64,
    /// Number of these runs with a score.
    pub scored: u64,
    /// Number of runs that ended in an error.
    pub errors: u64,
    /// Number of runs that can be resumed.
    pub waiting: u64,
    /// Number of runs in progress.
    pub running: u64,
    /// Number of runs whose file cannot be read.
    pub damaged: u64,
    /// Number of ended runs without an expected output to compare with.
    pub no_expected: u64,
    /// Number of ended runs whose scorer runs only on request and has not run yet.
    pub unasked: u64,
    /// Number of ended runs without a score for another reason.
    pub unscored: u64,
    /// Number of matching runs that no other number here includes, because they are forks or were
    /// continued by a person.
    pub forks: u64,
    /// Number of matching runs that no other number here includes, because another file holds the
    /// same run and counts in its place.
    pub superseded: u64,
    /// Number of matching replays, which no other number here includes.
    pub replays_left_out: u64,
    /// Number of matching rows of evaluations, which no other number here includes.
    pub evaluations_left_out: u64,
    /// Number of runs that the suites expect and that do not exist. None if the filter uses
    /// properties that only existing runs have, because expected runs cannot be filtered by these.
    pub missing: Option<u64>,
    /// Tokens of the filter that could not be parsed.
    pub misread: Vec<FilterError>,
}

/// Column of a system with a model.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct OverviewColumn {
    /// System.
    pub system: Option<String>,
    /// Model.
    pub model: Option<String>,
    /// Filter that selects the runs of this column.
    pub filter: String,
    /// Summary of all runs in the column that belong to a task.
    pub cell: OverviewCell,
}

/// Kind of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "snake_case")]
pub enum OverviewKind {
    /// A task.
    Task,
    /// A variation of the task above.
    Variation,
    /// A tag, before the tasks that have it as their first one.
    Tag,
    /// Tasks and variations without any run, folded into one row; the tasks follow if they are
    /// shown.
    Missing,
    /// Runs whose names do not contain their task. Always the last row, and not included in any
    /// sum.
    Loose,
}

/// Row of a task or of one of its variations.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct OverviewRow {
    /// Kind of row.
    pub kind: OverviewKind,
    /// Task; none for runs without one.
    pub task: Option<String>,
    /// Number of the variation, when it has one.
    pub variation: Option<u32>,
    /// Name of the variation or, for the row of a task, of the task, if it has one. For the row of a
    /// tag, the tag; none for tasks without tags. For the row of those without runs, how many there
    /// are.
    pub label: Option<String>,
    /// Number of variations, for the row of a task. A task with one variation cannot be unfolded.
    /// For the row of a tag, its number of tasks.
    pub variations: u32,
    /// True if its variations are folded.
    pub folded: bool,
    /// Filter that selects the runs of this row.
    pub filter: String,
    /// Number of runs in the row. Some runs without a task may be in no column.
    pub runs: u64,
    /// One cell per column; none where there are neither runs nor expected runs.
    pub cells: Vec<Option<OverviewCell>>,
}

/// Runs of one task or variation by one system with one model.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct OverviewCell {
    /// Number of runs.
    pub runs: u32,
    /// Number of runs with a score.
    pub scored: u32,
    /// Number of scored runs that passed, if the scorer decides passes.
    pub passed: Option<u32>,
    /// Mean score.
    pub score: Option<f64>,
    /// Lower bound of its 95 % confidence interval. None for a single run, and if the runs do not
    /// show the variance.
    pub low: Option<f64>,
    /// Upper bound of the interval.
    pub high: Option<f64>,
    /// Number of variations whose repeats disagree.
    pub flaky: u32,
    /// Number of runs that can be resumed.
    pub waiting: u32,
    /// Number of runs in progress.
    pub running: u32,
    /// Number of runs that ended in an error.
    pub errors: u32,
    /// Number of runs whose file cannot be read.
    pub damaged: u32,
    /// Number of ended runs without a score, because there is no expected output or the scorer has
    /// not run yet.
    pub unscored: u32,
    /// Number of runs that the suites expect and that do not exist.
    pub missing: u32,
    /// Number of forks and continued runs, which no other number here includes.
    pub forks: u32,
    /// Number of superseded runs, which no other number here includes.
    pub superseded: u32,
    /// Number of runs reviewed by a person.
    pub reviewed: u32,
    /// Run to open: the worst of them.
    pub run: Option<String>,
}
