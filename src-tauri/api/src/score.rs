//! **Pure.** Scores of one run, what a person says of it, and how far its answer is from another.
use super::judging::Judged;
use super::run::TableColumn;
use super::status::Span;
use super::stored::StoredResult;
use serde::{Deserialize, Serialize};

/// Everything that is known of how good a run is.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct RunScores {
    /// One for each scorer of its task; the first is the one that lists show.
    pub scores: Vec<RunScore>,
    /// What went wrong, in one word, when something did.
    pub class: Option<FailureClass>,
    /// What a person says.
    pub review: Option<Review>,
    /// What judges said, newest first.
    pub judged: Vec<Judged>,
    /// What evaluators are stored to have said, where the run is a row of an evaluation. None of it
    /// is counted among our scores.
    pub stored: Vec<StoredVerdict>,
    /// What keeps it from being scored, or makes the scores doubtful, as sentences.
    pub notes: Vec<String>,
}

/// What an evaluator said of a row of an evaluation, as the file has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct StoredVerdict {
    /// The name that it has in the file.
    pub evaluator: String,
    /// The number, as it is written.
    pub score: Option<String>,
    /// A word that stands for the number or beside it.
    pub word: Option<String>,
    /// Whether that is good enough, where the file says so.
    pub passed: Option<bool>,
    /// What it had to reach, or was not to pass.
    pub threshold: Option<String>,
    /// Why, cut when very long; where there is no result, what went wrong.
    pub reason: Option<String>,
    /// There is no result, which says nothing of the answer.
    pub silent: bool,
    /// What came of it, as lists and filters have it.
    pub result: StoredResult,
    /// What models said, where the file was made here.
    pub rounds: Vec<StoredRound>,
}

/// What a model said in one round.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct StoredRound {
    /// Its number, from 1.
    pub round: u32,
    /// Replies as they came.
    pub replies: Vec<String>,
    /// Why it came to nothing.
    pub error: Option<String>,
}

/// What one scorer says.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct RunScore {
    /// The scorer, as it is written in the suite: `fields`, `text: f1`.
    pub scorer: String,
    /// Version of its rule.
    pub version: u32,
    /// What came of it.
    pub standing: ScoreStanding,
    /// From 0 to 1.
    pub score: Option<f64>,
    /// Whether that is good enough.
    pub passed: Option<bool>,
    /// Why, as a sentence.
    pub reason: String,
    /// Numbers behind it, in order: `precision`, `recall`.
    pub detail: Vec<ScoreDetail>,
}

/// What came of scoring.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "snake_case")]
pub enum ScoreStanding {
    /// There is a score.
    Scored,
    /// The run ended in a system error, and is counted apart.
    Error,
    /// There is no expected output to compare with.
    NoExpected,
    /// The run has not ended, or its file cannot be read.
    NotEnded,
    /// The scorer has to be asked for: it runs a program or asks a model.
    Waiting,
    /// The scorer itself failed.
    Failed,
}

/// A number or word behind a score.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct ScoreDetail {
    /// What it is.
    pub name: String,
    /// As it is shown.
    pub value: String,
}

/// What went wrong with a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "snake_case")]
pub enum FailureClass {
    /// There is an answer, and it is wrong.
    WrongAnswer,
    /// It ended without an answer.
    NoAnswer,
    /// An expected tool was never called, and there is no answer, or the calls are what was scored.
    MissingToolCall,
    /// It ended without an answer after a tool failed.
    ToolError,
    /// The model said that it cannot or will not.
    GaveUp,
    /// The provider or the program failed.
    SystemError,
    /// It took too long.
    Timeout,
}

/// What a person says of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
#[serde(deny_unknown_fields)]
pub struct Review {
    /// Right, partly right or wrong.
    pub verdict: Option<Verdict>,
    /// A score in place of the automatic one, from 0 to 1.
    pub score: Option<f64>,
    /// Anything else.
    pub note: String,
    /// When it was written, in milliseconds since 1970; ignored when it comes in.
    pub at_ms: i64,
    /// True when the answer has changed since; ignored when it comes in.
    pub stale: bool,
    /// Names the answer that it is said of, as [`super::RunView::answer_mark`] does; none is any,
    /// and the one that is there now when it comes in. What is only added to keeps the mark that it
    /// has.
    pub answer: Option<String>,
}

/// What a person says in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Right.
    Right,
    /// Right in part.
    Partly,
    /// Wrong.
    Wrong,
}

/// Which answers to compare, and what of the comparison to show.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct DiffRequest {
    /// The run whose answer is on the right.
    pub id: String,
    /// The run whose answer is on the left; none is the expected output.
    pub against: Option<String>,
    /// Leave out what is equal.
    pub changed_only: bool,
    /// Which rows of the table.
    pub rows: Span,
    /// Which lines of the side-by-side text.
    pub lines: Span,
}

/// Two answers, compared.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct DiffView {
    /// In one line: `8 of 10 rows right, 1 missing (#143)`.
    pub summary: String,
    /// Nothing differs.
    pub equal: bool,
    /// The answers were too large for a fine comparison.
    pub coarse: bool,
    /// How the rows were put beside each other: `by ticket_id`, `by likeness`, `by position`.
    pub aligned: Option<String>,
    /// Columns of the table; empty when the answers are no lists.
    pub columns: Vec<TableColumn>,
    /// Rows from the offset asked for.
    pub rows: Vec<DiffRow>,
    /// How many there are.
    pub total_rows: u64,
    /// Lines of the side-by-side text from the offset asked for.
    pub lines: Vec<DiffLine>,
    /// How many there are.
    pub total_lines: u64,
    /// Where each difference begins, as positions among the lines; the first few hundred.
    pub stops: Vec<u32>,
    /// What a reader should know: lenient answer, cut.
    pub notes: Vec<String>,
}

/// How two things relate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "snake_case")]
pub enum DiffKind {
    /// Equal.
    Same,
    /// The same value, written otherwise: another type, another notation, within tolerance.
    Alike,
    /// Another value.
    Changed,
    /// Only on the left: expected and not there.
    Missing,
    /// Only on the right: there and not expected.
    Extra,
    /// Neither side has it: a column that other rows have.
    Absent,
}

/// One item of a list, compared.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct DiffRow {
    /// Missing, extra, changed, the same.
    pub kind: DiffKind,
    /// Its key, or what is nearest to one.
    pub label: String,
    /// Its place on the left, from 1.
    pub from: Option<u32>,
    /// Its place on the right, from 1.
    pub to: Option<u32>,
    /// It is at another place among those that both sides have.
    pub moved: bool,
    /// One for each column.
    pub cells: Vec<DiffCell>,
}

/// One field of an item, compared.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct DiffCell {
    /// How the two relate.
    pub kind: DiffKind,
    /// The left value, cut when long.
    pub left: Option<String>,
    /// The right value; none when it is written as the left one.
    pub right: Option<String>,
    /// What kind of likeness or difference, in a few words: `text instead of number`, `same day,
    /// other notation`.
    pub note: Option<String>,
}

/// One line of the side-by-side text.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum DiffLine {
    /// A pair of lines; one side may be empty.
    Pair {
        /// How they relate.
        change: DiffKind,
        /// The left line.
        left: Option<DiffSide>,
        /// The right line.
        right: Option<DiffSide>,
    },
    /// Equal lines that are not shown.
    Folded {
        /// How many.
        count: u32,
    },
}

/// A line of one side.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct DiffSide {
    /// Number, from 1.
    pub number: u32,
    /// Its text, what differs from the other side told apart.
    pub pieces: Vec<TextChange>,
}

/// A piece of a text that is compared with another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct TextChange {
    /// Text.
    pub text: String,
    /// Same, missing (only left) or extra (only right).
    pub change: DiffKind,
}
