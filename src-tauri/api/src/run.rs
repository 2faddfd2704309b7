//! **Pure.** An opened run: steps made of parts. Long parts are cut; the rest is read piece by
//! piece.
use super::fork::StepPart;
use super::list::{RunRow, RunState, SnippetPiece};
use super::table_column::TableColumn;
use super::tasks::TaskUser;
use super::tree::TreeBrief;
use serde::{Deserialize, Serialize};

/// How far the reading of a run from its files is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct ReadProgress {
    /// Bytes that were read.
    pub read: u64,
    /// Bytes of the files; 0 until they are known.
    pub total: u64,
}

/// The beginning of a run whose file is large, shown while the rest is read.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct RunBeginning {
    /// The first steps, as far as the beginning of the file tells.
    pub steps: Vec<Step>,
}

/// An opened run: its row, its first steps, and related data.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct RunView {
    /// Row of the run, identical to that in the list.
    pub row: RunRow,
    /// Layout of its files in a few words: `PromptQL transcript`, `Tool-calling transcript`,
    /// `Benchmark folder`.
    pub layout: String,
    /// Identifies the content that was read; later requests for steps must use the same version.
    pub version: String,
    /// Number of all steps.
    pub total_steps: u32,
    /// The first steps.
    pub steps: Vec<Step>,
    /// Sub-agents and abandoned branches, in the order of their steps; of very many, the first.
    pub groups: Vec<StepGroup>,
    /// Durations by turn; none if the files contain none.
    pub pace: Option<Pace>,
    /// Size of the search tree beside these steps, if there is one.
    pub tree: Option<TreeBrief>,
    /// The answer, if there is one. An answer of `null` is an answer.
    pub answer: Option<Answer>,
    /// Identifies the answer, or its absence. A review of the answer is sent back with this mark.
    pub answer_mark: String,
    /// The task, if its suite is known.
    pub task: Option<Task>,
    /// All other data about the run in the file, by key, including unknown keys.
    pub facts: Vec<Fact>,
    /// Names in the file of another tool, which `touchstone.yaml` may correct; none for other runs.
    pub own_names: Option<RunNames>,
    /// Origin of the run, and its forks.
    pub lineage: RunLineage,
    /// Files of the run.
    pub files: Vec<RunFile>,
    /// Notes for the reader, such as damage, cut text, or a leniently parsed answer.
    pub notes: Vec<String>,
}

/// Names of a run; none where it has none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct RunNames {
    /// Task.
    pub task: Option<String>,
    /// System.
    pub system: Option<String>,
    /// Model.
    pub model: Option<String>,
}

/// Origin of a run, and the forks made from it.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct RunLineage {
    /// Run that this one was copied from; none for a run that is not a fork, or whose file does not
    /// name its origin.
    pub origin: Option<LineageLink>,
    /// Part of that step that a person edited; none where the fork only goes on.
    pub edited: Option<StepPart>,
    /// The first forks, ordered by path.
    pub forks: Vec<LineageLink>,
    /// Number of all forks.
    pub fork_count: u64,
    /// The run that all of these stem from, and everything forked from it, each run after the one
    /// that it was copied from. Of very many, the first. Empty for a run without relatives.
    pub tree: Vec<LineageNode>,
}

/// A run in the tree of forks.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct LineageNode {
    /// Id in the list; none if the run no longer exists.
    pub id: Option<String>,
    /// Path below the output directory.
    pub path: String,
    /// Step after which it continues the run that it was copied from, from 0, if its file contains
    /// it.
    pub step: Option<u32>,
    /// Number of runs between it and the origin of all.
    pub depth: u32,
    /// State of the run; none if it no longer exists.
    pub state: Option<RunState>,
    /// True if its score is a pass.
    pub passed: Option<bool>,
    /// Its score, from 0 to 1.
    pub score: Option<f64>,
}

/// Link to a related run.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct LineageLink {
    /// Id in the list; none if the run no longer exists.
    pub id: Option<String>,
    /// Path below the output directory.
    pub path: String,
    /// Step after which the fork continues, from 0, if its file contains it.
    pub step: Option<u32>,
}

/// Durations of a run by turn.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct Pace {
    /// The first turns with a known duration, in order.
    pub turns: Vec<TurnTime>,
    /// Number of further such turns.
    pub more: u32,
}

/// Durations within a turn. A duration missing from the file is none, not 0.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct TurnTime {
    /// Number of the turn, from 1.
    pub turn: u32,
    /// First step of the turn.
    pub step: u32,
    /// Seconds spent waiting for the model.
    pub model: Option<f64>,
    /// Total seconds of its tools and programs.
    pub tools: Option<f64>,
}

/// A range of steps.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct StepPage {
    /// Version of the content, like in [`RunView::version`].
    pub version: String,
    /// Number of all steps.
    pub total_steps: u32,
    /// Steps from the requested offset on.
    pub steps: Vec<Step>,
}

/// All steps of a run in a bounded number of marks, and where it failed.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct RunOutline {
    /// Version of the content, like in [`RunView::version`].
    pub version: String,
    /// Number of all steps.
    pub total_steps: u32,
    /// The marks, in the order of their steps.
    pub marks: Vec<OutlineMark>,
    /// Indexes of the steps that failed, from 0: failed calls and system errors. Of very many, the
    /// first.
    pub failures: Vec<u32>,
    /// Number of all steps that failed.
    pub failure_count: u32,
}

/// Consecutive steps in an outline: one step, or several of a long run. Values that the file lacks
/// are none, not 0.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct OutlineMark {
    /// Index of the first step, from 0.
    pub step: u32,
    /// Number of steps.
    pub steps: u32,
    /// Kind of the first step that failed, else of the first step.
    pub kind: StepKind,
    /// Title of that step: the name of its tool.
    pub title: Option<String>,
    /// Number of these steps that failed.
    pub failures: u32,
    /// True if all of them belong to sub-agents or abandoned branches.
    pub nested: bool,
    /// Sum of the known durations, in seconds.
    pub seconds: Option<f64>,
    /// Sum of the known tokens.
    pub tokens: Option<u64>,
}

/// A step of a run: a message, a tool call with its result, or an error.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct Step {
    /// Index from 0.
    pub index: u32,
    /// Turn of the step, from 1. A user message is a turn, and so is an assistant message with its
    /// tool calls.
    pub turn: u32,
    /// Kind of step.
    pub kind: StepKind,
    /// Name of the tool, title of the artifact, or key of an unknown item.
    pub title: Option<String>,
    /// Id of the tool call.
    pub call_id: Option<String>,
    /// For a tool call, true if it failed; none if it has neither result nor error.
    pub failed: Option<bool>,
    /// True for a user message that was added to make the run go on.
    pub nudge: bool,
    /// Duration in seconds, if known.
    pub seconds: Option<f64>,
    /// Number of tokens, if known.
    pub tokens: Option<u64>,
    /// Model that the record of the step names. On the main path only if it is not the run's; of
    /// a nested step without one, the model is not known.
    pub model: Option<String>,
    /// Nesting level: 0 on the main path. The steps of a sub-agent or of an abandoned branch are one
    /// level below the step that opens it.
    pub depth: u32,
    /// Parts of the step.
    pub parts: Vec<Part>,
}

/// A step with the steps that it contains: a sub-agent or an abandoned branch. Values that the file
/// lacks are none, not 0.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct StepGroup {
    /// Index of the step that opens the group.
    pub step: u32,
    /// Name of the sub-agent, if it has one.
    pub name: Option<String>,
    /// Number of steps that follow it and belong to the group, at any level.
    pub steps: u32,
    /// Number of failed calls among them.
    pub failed: u32,
    /// Duration in seconds: that of the opening step, else the sum of those recorded inside.
    pub seconds: Option<f64>,
    /// Number of tokens: those of the opening step, else the sum of those recorded inside.
    pub tokens: Option<u64>,
    /// How the group ended.
    pub end: GroupEnd,
    /// Beginning of its first user message, on one line.
    pub prompt: Option<String>,
}

/// How a group of steps ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "snake_case")]
pub enum GroupEnd {
    /// Nothing in it is wrong or missing at its end.
    Ended,
    /// Ended in an error.
    Error,
    /// A call at its end has no result, or not yet.
    NoResult,
}

/// Kind of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "snake_case")]
pub enum StepKind {
    /// A message of the user, or a nudge.
    User,
    /// A message of the model.
    Assistant,
    /// The system prompt.
    System,
    /// A tool call with its result.
    ToolCall,
    /// A plan, or executed code, with its output (`PromptQL`).
    Program,
    /// A stored table or text (`PromptQL`).
    Artifact,
    /// A system error.
    Error,
    /// Start of a sub-agent.
    SubAgent,
    /// Start of an abandoned branch.
    Abandoned,
    /// Place where the conversation was compacted, with the summary.
    Compaction,
    /// Remark of the tool that recorded the run.
    Note,
    /// An item of an unknown kind.
    Unknown,
}

/// A part of a step.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct Part {
    /// Opaque id for reading the rest.
    pub id: String,
    /// Role within the step: `message`, `sql`, `result`, `error`, `stdout`.
    pub label: String,
    /// Size of the whole part as text, in bytes.
    pub bytes: u64,
    /// Content shown.
    pub body: Body,
}

/// Content of a part, possibly cut.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Body {
    /// Text.
    Text {
        /// Language for highlighting.
        language: Language,
        /// Beginning of the text.
        text: String,
        /// False if the text was cut.
        whole: bool,
    },
    /// A list of objects, shown as a table.
    Table {
        /// Columns, in order of appearance.
        columns: Vec<TableColumn>,
        /// The first rows.
        rows: Vec<Vec<Cell>>,
        /// Number of all rows.
        total: u64,
    },
    /// Any other value, such as an object, list or number, as JSON text with an indentation of two
    /// spaces.
    Value {
        /// Beginning of the JSON text.
        text: String,
        /// False if the text was cut; it is then shown as text and not as a tree.
        whole: bool,
    },
}

/// Language of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "snake_case")]
pub enum Language {
    /// Plain text, shown unchanged.
    Plain,
    /// Markdown, in the form that models write.
    Markdown,
    /// SQL.
    Sql,
    /// Python.
    Python,
    /// JSON.
    Json,
    /// YAML.
    Yaml,
    /// Description of an image, sound or file, which `read_media` opens.
    Media,
}

/// A cell of a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct Cell {
    /// Text of the cell: a number exactly as written, a string unchanged, nested values as JSON.
    /// Long text is cut.
    pub text: String,
    /// Kind of value.
    pub kind: CellKind,
}

/// Kind of value in a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "snake_case")]
pub enum CellKind {
    /// The row does not have the key.
    Missing,
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool,
    /// A number.
    Number,
    /// A string.
    Text,
    /// A list or an object.
    Nested,
}

/// A piece of a long text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct TextPiece {
    /// Text from the requested offset on, which is moved to a character boundary.
    pub text: String,
    /// Offset of this piece, in bytes.
    pub offset: u64,
    /// Offset of the next piece; none for the last piece.
    pub next: Option<u64>,
    /// Size of the whole text, in bytes.
    pub total: u64,
}

/// Content of an image, sound or file in a transcript.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct MediaFile {
    /// Media type of an image that pages may show; none for any other content.
    pub image: Option<String>,
    /// Reason why an image is not shown, as a sentence. It can still be saved.
    pub not_shown: Option<String>,
    /// Suggested file name.
    pub file_name: String,
    /// Content as base64.
    pub data: String,
}

/// A range of rows of a long table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct RowPiece {
    /// Rows from the requested offset on.
    pub rows: Vec<Vec<Cell>>,
    /// Number of all rows.
    pub total: u64,
}

/// Requested range and order of a table's rows.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct RowRequest {
    /// Range of rows.
    pub span: super::Span,
    /// Index of the column to sort by; none keeps the order of the file.
    pub column: Option<u32>,
    /// True to sort the largest values first.
    pub descending: bool,
}

/// The answer of a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct Answer {
    /// Value of the answer.
    pub part: Part,
    /// Place where it was found, in a few words.
    pub source: String,
    /// True if the answer is not strict JSON and was parsed leniently.
    pub lenient: bool,
}

/// The task of a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct Task {
    /// Task id: the path below the input directory without extension.
    pub id: String,
    /// Suite file, relative to the open folder.
    pub file: String,
    /// Parameters of the variation.
    pub parameters: Vec<Fact>,
    /// Prompt for the system of this run, with its parameters filled in; the goal of the simulated
    /// user if the task has one.
    pub prompt: Option<Part>,
    /// Simulated user of the task, with its parameters filled in.
    pub user: Option<TaskUser>,
    /// Expected output; none if the suite has none.
    pub expected: Option<Part>,
    /// Tools that the task expects to be called.
    pub expected_tool_calls: Vec<String>,
}

/// A key with its value.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct Fact {
    /// Key.
    pub key: String,
    /// Value.
    pub part: Part,
}

/// A file of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct RunFile {
    /// Path relative to the open folder.
    pub path: String,
    /// Absolute path, for copying.
    pub full_path: String,
    /// Size in bytes.
    pub size: u64,
    /// Number of runs in the file. Its size is that of all of them.
    pub runs: u32,
}

/// Matches of a text search in one run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct Matches {
    /// Number of all matches.
    pub total: u64,
    /// The first matches, in order.
    pub matches: Vec<Match>,
}

/// A match in a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct Match {
    /// Step from 0; none for the answer.
    pub step: Option<u32>,
    /// Id of the part within the step.
    pub part: String,
    /// Offset in the text of the part, in bytes.
    pub offset: u64,
    /// Row from 0, if the part is a table.
    pub row: Option<u32>,
    /// Text around the match.
    pub pieces: Vec<SnippetPiece>,
}
