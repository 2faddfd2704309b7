//! **Pure.** The overview: tasks and their variations against systems and models.
use super::list::Misread;
use super::status::Span;
use serde::{Deserialize, Serialize};

/// Which part of the matrix.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct OverviewRequest {
    /// Which runs, as in the list.
    pub filter: String,
    /// Whose scores; none is the first scorer of each task.
    pub scorer: Option<String>,
    /// Whether tasks are folded, so that only their own row is there.
    pub folded: bool,
    /// Tasks for which that is the other way round.
    pub except: Vec<String>,
    /// A task whose row is looked for.
    pub find: Option<String>,
    /// Which rows, once the folded ones are left out.
    pub span: Span,
}

/// A part of the matrix.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct Overview {
    /// The index that answered.
    pub generation: u64,
    /// One for each system with each model, with the cell that sums it up.
    pub columns: Vec<OverviewColumn>,
    /// How many more there would be: those with the fewest runs are left out.
    pub columns_left_out: u32,
    /// How many rows there are.
    pub total_rows: u64,
    /// How many tasks have a row.
    pub tasks: u64,
    /// Where the row of the task is that was looked for.
    pub found: Option<u64>,
    /// From the offset asked for.
    pub rows: Vec<OverviewRow>,
    /// Scorers that occur, for choosing one.
    pub scorers: Vec<String>,
    /// How many runs pass the filter.
    pub runs: u64,
    /// How many of them have a score.
    pub scored: u64,
    /// How many ended in an error.
    pub errors: u64,
    /// How many wait to be continued.
    pub waiting: u64,
    /// How many are being made.
    pub running: u64,
    /// How many cannot be read.
    pub damaged: u64,
    /// How many ended and have nothing to be compared with.
    pub no_expected: u64,
    /// How many ended and wait for the scorer, which has to be asked for.
    pub unasked: u64,
    /// How many ended and have no score for another reason.
    pub unscored: u64,
    /// How many pass the filter and are counted nowhere here, because they are forks or were
    /// continued by a person.
    pub forks: u64,
    /// How many are expected by the suites and not there. None when the filter asks for what only
    /// runs have: then nothing can be expected of it.
    pub missing: Option<u64>,
    /// Tokens of the filter that were not understood.
    pub misread: Vec<Misread>,
}

/// A system with a model.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct OverviewColumn {
    /// System.
    pub system: Option<String>,
    /// Model.
    pub model: Option<String>,
    /// What narrows the list of runs down to it.
    pub filter: String,
    /// Everything in it that belongs to a task.
    pub cell: OverviewCell,
}

/// What a row stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "snake_case")]
pub enum OverviewKind {
    /// A whole task.
    Task,
    /// One variation of the task above.
    Variation,
    /// Runs whose names do not say of which task they are. The last row, and in no sum.
    Loose,
}

/// A task, or one of its variations.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct OverviewRow {
    /// What it stands for.
    pub kind: OverviewKind,
    /// Task; none for runs without one.
    pub task: Option<String>,
    /// Number of the variation, when it has one.
    pub variation: Option<u32>,
    /// What the variation is called, or the task when it has a name.
    pub label: Option<String>,
    /// How many variations it has, for the row of a task. With one there is nothing to unfold.
    pub variations: u32,
    /// Whether its variations are left out.
    pub folded: bool,
    /// What narrows the list of runs down to it.
    pub filter: String,
    /// How many runs it stands for; of those without a task, some may stand in no column.
    pub runs: u64,
    /// One for each column; none where nothing is and nothing is expected.
    pub cells: Vec<Option<OverviewCell>>,
}

/// The runs of one task or variation by one system with one model.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct OverviewCell {
    /// How many runs there are.
    pub runs: u32,
    /// How many have a score.
    pub scored: u32,
    /// How many of those passed, when whoever scores decides that.
    pub passed: Option<u32>,
    /// Mean score.
    pub score: Option<f64>,
    /// 95 % interval of it: bottom. None for one run, and when the runs do not say how much others
    /// would differ.
    pub low: Option<f64>,
    /// Top.
    pub high: Option<f64>,
    /// How many variations have repeats that disagree.
    pub flaky: u32,
    /// How many wait to be continued.
    pub waiting: u32,
    /// How many are being made.
    pub running: u32,
    /// How many ended in an error.
    pub errors: u32,
    /// How many cannot be read.
    pub damaged: u32,
    /// How many ended and have no score, for want of an expected output or because the scorer was
    /// not asked yet.
    pub unscored: u32,
    /// How many the suites expect and are not there.
    pub missing: u32,
    /// How many forks and continued runs there are, which are in no other number here.
    pub forks: u32,
    /// How many were reviewed by a person.
    pub reviewed: u32,
    /// The run to open: the worst of them.
    pub run: Option<String>,
}
