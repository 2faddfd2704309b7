//! **Pure.** Scores and reviews of a run, and comparisons of its answer with another.
use super::imported_verdicts::StoredResult;
use super::judging::Judged;
use super::status::Span;
use super::table_column::TableColumn;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// All ratings of a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct RunScores {
    /// One score per scorer of the task; the first is the one shown in lists.
    pub scores: Vec<RunScore>,
    /// Failure class, if the run failed.
    pub class: Option<FailureClass>,
    /// Review that the person may change: their own, or one without an author.
    pub review: Option<Review>,
    /// Reviews by other people.
    pub others: Vec<Review>,
    /// Judgements, newest first.
    pub judged: Vec<Judged>,
    /// Imported verdicts of evaluators, for a run that is a row of an evaluation. None of them
    /// counts among this program's scores.
    pub stored: Vec<StoredVerdict>,
    /// Sentences about problems that prevent scoring or make the scores doubtful.
    pub notes: Vec<String>,
}

/// Imported verdict of an evaluator on a row of an evaluation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct StoredVerdict {
    /// Name of the evaluator in the file.
    pub evaluator: String,
    /// Score, as written in the file.
    pub score: Option<String>,
    /// Label in place of the score or beside it.
    pub word: Option<String>,
    /// True if the score is a pass; none if the file does not contain this.
    pub passed: Option<bool>,
    /// Threshold to reach, or not to exceed.
    pub threshold: Option<String>,
    /// Reason, cut if very long. Without a result, the error.
    pub reason: Option<String>,
    /// True if there is no result, which does not affect the answer's rating.
    pub silent: bool,
    /// Result, like in lists and filters.
    pub result: StoredResult,
    /// Replies of models, if the file was written by this program.
    pub rounds: Vec<StoredRound>,
}

/// Replies of a model in one round.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct StoredRound {
    /// Number of the round, from 1.
    pub round: u32,
    /// Replies, unchanged.
    pub replies: Vec<String>,
    /// Error, if the round led to no result.
    pub error: Option<String>,
}

/// Score by one scorer.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct RunScore {
    /// Name of the scorer, as written in the suite: `fields`, `text: f1`.
    pub scorer: String,
    /// Version of the scoring rule.
    pub version: u32,
    /// Outcome of scoring.
    pub standing: ScoreStanding,
    /// Score from 0 to 1.
    pub score: Option<f64>,
    /// True if the score is a pass.
    pub passed: Option<bool>,
    /// Reason, as a sentence.
    pub reason: String,
    /// Details of the score, in order: `precision`, `recall`.
    pub detail: Vec<ScoreDetail>,
}

/// Outcome of scoring.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "snake_case")]
pub enum ScoreStanding {
    /// There is a score.
    Scored,
    /// The run ended in a system error, and is counted separately.
    Error,
    /// There is no expected output to compare with.
    NoExpected,
    /// The run has not ended, or its file cannot be read.
    NotEnded,
    /// The scorer runs only on request, because it runs a program or queries a model.
    Waiting,
    /// The scorer itself failed.
    Failed,
}

/// A detail of a score.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct ScoreDetail {
    /// Name of the detail.
    pub name: String,
    /// Value as text.
    pub value: String,
}

/// Kind of failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "snake_case")]
pub enum FailureClass {
    /// There is an answer, and it is wrong.
    WrongAnswer,
    /// The run ended without an answer.
    NoAnswer,
    /// An expected tool was never called, and either there is no answer or the score is about
    /// calls.
    MissingToolCall,
    /// The run ended without an answer after a tool failed.
    ToolError,
    /// The model replied that it cannot or will not do the task.
    GaveUp,
    /// The provider or the program failed.
    SystemError,
    /// The run took too long.
    Timeout,
}

/// Review of a run by a person.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
#[serde(deny_unknown_fields)]
pub struct Review {
    /// Right, partly right or wrong.
    pub verdict: Option<Verdict>,
    /// Score from 0 to 1 that replaces the automatic one.
    pub score: Option<f64>,
    /// Free text.
    pub note: String,
    /// Time of writing in milliseconds since 1970; ignored in requests.
    pub at_ms: i64,
    /// True if the answer has changed since the review; ignored in requests.
    pub stale: bool,
    /// Identifies the reviewed answer, like [`super::RunView::answer_mark`]. None means any answer
    /// or, in a request, the current answer. A review that is only added to keeps its mark.
    pub answer: Option<String>,
    /// Name of the reviewer; ignored in requests.
    pub author: Option<String>,
    /// Notes on steps.
    pub steps: Vec<StepNote>,
    /// Values of labels, by name.
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
}

/// Note on a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
#[serde(deny_unknown_fields)]
pub struct StepNote {
    /// Index of the step, from 0.
    pub step: u32,
    /// Free text.
    pub note: String,
}

/// The name under which a person reviews, where none is given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct Author {
    /// Name; none if none could be found.
    pub name: Option<String>,
    /// Source of the name.
    pub from: AuthorSource,
}

/// Source of the name of a reviewer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "snake_case")]
pub enum AuthorSource {
    /// `user.name` of git for this user.
    Git,
    /// The system's user name.
    System,
    /// None was found.
    Nowhere,
}

/// Verdict of a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Right.
    Right,
    /// Partly right.
    Partly,
    /// Wrong.
    Wrong,
}

/// Answers to compare, and the parts of the comparison to return.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct DiffRequest {
    /// Run whose answer is on the right.
    pub id: String,
    /// Run whose answer is on the left; the expected output if none is given.
    pub against: Option<String>,
    /// True to compare values as they are written, without the options of the task's scorers.
    #[serde(default)]
    pub literal: bool,
    /// True to leave out equal rows and lines.
    pub changed_only: bool,
    /// Range of table rows.
    pub rows: Span,
    /// Range of lines in the side-by-side text.
    pub lines: Span,
}

/// Comparison of two answers.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct DiffView {
    /// Summary on one line: `8 of 10 rows right, 1 missing (#143)`.
    pub summary: String,
    /// True if nothing differs.
    pub equal: bool,
    /// True if the answers were too large for a fine comparison.
    pub coarse: bool,
    /// Method of aligning the rows: `by ticket_id`, `by likeness`, `by position`.
    pub aligned: Option<String>,
    /// Columns of the table; empty if the answers are not lists.
    pub columns: Vec<TableColumn>,
    /// Rows from the requested offset on.
    pub rows: Vec<DiffRow>,
    /// Number of all rows.
    pub total_rows: u64,
    /// Lines of the side-by-side text from the requested offset on.
    pub lines: Vec<DiffLine>,
    /// Number of all lines.
    pub total_lines: u64,
    /// Line index at which each difference begins; the first few hundred.
    pub stops: Vec<u32>,
    /// Notes for the reader, such as lenient parsing or cut text.
    pub notes: Vec<String>,
}

/// Relation of two compared things.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "snake_case")]
pub enum DiffKind {
    /// Equal.
    Same,
    /// Same value written differently: another type, another notation, or within tolerance.
    Alike,
    /// Different values.
    Changed,
    /// Only on the left: expected but absent.
    Missing,
    /// Only on the right: present but not expected.
    Extra,
    /// On neither side: a column that only other rows have.
    Absent,
}

/// Comparison of one list item.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct DiffRow {
    /// Relation: missing, extra, changed or the same.
    pub kind: DiffKind,
    /// Key of the item, or its nearest substitute.
    pub label: String,
    /// Position on the left, from 1.
    pub from: Option<u32>,
    /// Position on the right, from 1.
    pub to: Option<u32>,
    /// True if its position differs among the items that both sides have.
    pub moved: bool,
    /// One cell per column.
    pub cells: Vec<DiffCell>,
}

/// Comparison of one field of an item.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct DiffCell {
    /// Relation of the two values.
    pub kind: DiffKind,
    /// Left value, cut if long.
    pub left: Option<String>,
    /// Right value; none if it is written like the left one.
    pub right: Option<String>,
    /// Short description of the similarity or difference: `text instead of number`, `same day,
    /// other notation`.
    pub note: Option<String>,
}

/// A line of the side-by-side text.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum DiffLine {
    /// A pair of lines; one side may be empty.
    Pair {
        /// Relation of the lines.
        change: DiffKind,
        /// Left line.
        left: Option<DiffSide>,
        /// Right line.
        right: Option<DiffSide>,
    },
    /// Equal lines that are not shown.
    Folded {
        /// Number of hidden lines.
        count: u32,
    },
}

/// One side of a line.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct DiffSide {
    /// Line number, from 1.
    pub number: u32,
    /// Text of the line, with the differences from the other side marked.
    pub pieces: Vec<TextChange>,
}

/// A piece of a compared text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct TextChange {
    /// Text.
    pub text: String,
    /// `Same`, `Missing` (only on the left) or `Extra` (only on the right).
    pub change: DiffKind,
}
