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
    /// How many rows there are.
    pub total_rows: u64,
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
    /// How many are expected by the suites and not there.
    pub missing: u64,
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
    /// Everything in it.
    pub cell: OverviewCell,
}

/// A task, or one of its variations.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct OverviewRow {
    /// Task; none for runs without one.
    pub task: Option<String>,
    /// Its variation; none for the row of the whole task.
    pub variation: Option<u32>,
    /// What the variation is called, or the task when it has a name.
    pub label: Option<String>,
    /// How many variations it has, for the row of a task.
    pub variations: u32,
    /// One for each column.
    pub cells: Vec<OverviewCell>,
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
    /// 95 % interval of it: bottom.
    pub low: Option<f64>,
    /// Top.
    pub high: Option<f64>,
    /// Repeats of the same variation disagree.
    pub flaky: bool,
    /// How many wait to be continued.
    pub waiting: u32,
    /// How many are being made.
    pub running: u32,
    /// How many ended in an error.
    pub errors: u32,
    /// How many cannot be read.
    pub damaged: u32,
    /// How many ended and cannot be scored, for want of an expected output or because the scorer was not asked yet.
    pub unscored: u32,
    /// How many the suites expect and are not there.
    pub missing: u32,
    /// How many were reviewed by a person.
    pub reviewed: u32,
    /// The run to open: the worst of them.
    pub run: Option<String>,
}
