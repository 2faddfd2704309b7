//! **Pure.** Comparison of two to four runs, step by step and side by side.
use super::imported_verdicts::StoredLine;
use super::list::RunRow;
use super::score::{DiffKind, TextChange};
use serde::{Deserialize, Serialize};

/// Runs aligned step by step.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct Comparison {
    /// The runs, in the requested order. The first readable one is the reference for the others.
    pub runs: Vec<ComparedRun>,
    /// Imported verdicts of evaluators on each run, for runs that are rows of evaluations.
    pub stored: Vec<StoredLine>,
    /// Aligned rows of steps; each run's steps keep their order.
    pub rows: Vec<CompareRow>,
    /// First row in which the runs acted differently.
    pub first_divergence: Option<u32>,
    /// First row in which the same action had different results.
    pub first_other_result: Option<u32>,
    /// True if the runs were too long for a fine alignment.
    pub coarse: bool,
    /// Notes for the reader.
    pub notes: Vec<String>,
}

/// One of the compared runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct ComparedRun {
    /// Row of the run, like in the list.
    pub row: RunRow,
    /// Identifies the content that was read, for requests for steps.
    pub version: String,
    /// Number of steps.
    pub steps: u32,
    /// Reason that the run cannot be compared, if there is one. Such a run has no steps in any row
    /// and never diverges.
    pub trouble: Option<String>,
    /// Row in which the run diverges from the first run; none for the first run itself.
    pub parts_at: Option<u32>,
    /// Step that a person edited before the run went on.
    pub edited: Option<u32>,
    /// Step at which the run leaves the first run for good, from 0, as in the failure map; none for
    /// the first run, and for one that agrees with it to the end.
    pub leaves_at: Option<u32>,
    /// Relation of the answer to that of the first run. `Missing` if only the first run has an
    /// answer; `Absent` if neither has one, or if it is not known.
    pub answer: DiffKind,
    /// Summary of the difference, on one line.
    pub answer_summary: Option<String>,
}

/// A row of aligned steps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct CompareRow {
    /// Step of each run in this row, if it has one.
    pub steps: Vec<Option<u32>>,
    /// Nesting level: 0 on the main path; the rows within a sub-agent follow its own row, one level
    /// deeper.
    pub depth: u32,
    /// Strongest difference of any other run from the first.
    pub relation: Relation,
    /// True if the runs diverge here, which means that not all took the same action, or that a person
    /// edited the step. Differences in inputs, in messages before a call, or in the results of the
    /// same call do not count.
    pub diverges: bool,
    /// Short description of the step: `query_support_tickets`, `assistant message`.
    pub title: String,
}

/// Relation of aligned steps, from equal to most different.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "snake_case")]
pub enum Relation {
    /// Same action with the same result.
    Same,
    /// Equal except for irrelevant text, such as whitespace in SQL or the time of the run; or messages
    /// that share most of their words.
    Reworded,
    /// Other words that do not count: system instructions, messages before a call, texts around the same
    /// answer.
    OtherWords,
    /// Same tool with different arguments, and the same result.
    SameResult,
    /// Same action with a different result.
    OtherResult,
    /// Same kind of action with different text or arguments.
    Similar,
    /// Different actions.
    Different,
    /// Only some of the runs have a step in this row.
    Alone,
}

/// Reference to a step of a run.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct StepRef {
    /// Run id.
    pub id: String,
    /// Version of the content that was read.
    pub version: String,
    /// Index of the step.
    pub step: u32,
}

/// Two steps, compared part by part.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct StepDiff {
    /// Parts of both steps; those with the same label are paired.
    pub parts: Vec<PartDiff>,
}

/// Comparison of two parts.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct PartDiff {
    /// Role of the part within the step.
    pub label: String,
    /// Relation of the two parts.
    pub kind: DiffKind,
    /// Summary on one line, if the parts are values: `2 of 20 rows differ`.
    pub summary: Option<String>,
    /// Text of both parts, with the differences marked; empty if they are equal.
    pub pieces: Vec<TextChange>,
    /// False if text was left out: the middle of long equal stretches, or text that is too long to
    /// show.
    pub whole: bool,
    /// True if the texts were too long for a fine comparison.
    pub coarse: bool,
}
