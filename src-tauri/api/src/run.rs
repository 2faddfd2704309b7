//! **Pure.** One run, opened: steps made of parts. A part that is long comes cut, and the rest is
//! read piece by piece.
use super::list::{RunRow, SnippetPiece};
use super::tree::TreeBrief;
use serde::{Deserialize, Serialize};

/// A run as it opens: its row, its first steps, and what belongs to it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct RunView {
    /// The same row as in the list.
    pub row: RunRow,
    /// What its files look like, in a few words: `PromptQL transcript`, `Tool-calling transcript`,
    /// `Benchmark folder`.
    pub layout: String,
    /// Names the content that was read; steps read later must come from the same.
    pub version: String,
    /// How many steps there are.
    pub total_steps: u32,
    /// The first of them.
    pub steps: Vec<Step>,
    /// Where the time went, turn by turn; none when the files say nothing of it.
    pub pace: Option<Pace>,
    /// What was tried beside these steps, when anything was.
    pub tree: Option<TreeBrief>,
    /// The answer; none when there is none, which is not the same as an answer of `null`.
    pub answer: Option<Answer>,
    /// Names that answer, or that there is none: what a person says of it comes back with this.
    pub answer_mark: String,
    /// The task, when its suite is known.
    pub task: Option<Task>,
    /// Everything else the file says about the run, key by key, unknown keys included.
    pub facts: Vec<Fact>,
    /// Where it comes from, and its forks.
    pub lineage: RunLineage,
    /// Its files.
    pub files: Vec<RunFile>,
    /// What a reader should know: damaged here, cut there, lenient answer.
    pub notes: Vec<String>,
}

/// Where a run comes from, and which forks were made of it.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct RunLineage {
    /// The run that it was copied from; none for a run that is no fork, or whose file does not say.
    pub origin: Option<LineageLink>,
    /// Its first forks, by path.
    pub forks: Vec<LineageLink>,
    /// How many forks it has.
    pub fork_count: u64,
}

/// Another run, as one that can be opened.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct LineageLink {
    /// Its id in the list; none when it is not there any more.
    pub id: Option<String>,
    /// Its path below the output directory.
    pub path: String,
    /// The step that the fork goes on from, from 0, when its file says.
    pub step: Option<u32>,
}

/// Where the time of a run went.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct Pace {
    /// The first turns that took time, in order.
    pub turns: Vec<TurnTime>,
    /// How many more of them there are.
    pub more: u32,
}

/// What a turn took. A side of which the file says nothing is none, and not nought.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct TurnTime {
    /// From 1.
    pub turn: u32,
    /// Where it begins.
    pub step: u32,
    /// Seconds of the model.
    pub model: Option<f64>,
    /// Seconds of its tools and programs together.
    pub tools: Option<f64>,
}

/// A window of steps.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct StepPage {
    /// As in [`RunView::version`].
    pub version: String,
    /// How many steps there are.
    pub total_steps: u32,
    /// From the offset asked for.
    pub steps: Vec<Step>,
}

/// One step: a message, a tool call with its result, an error.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct Step {
    /// From 0.
    pub index: u32,
    /// Turn it belongs to, from 1: a user message is a turn, an assistant message with its tool
    /// calls is one.
    pub turn: u32,
    /// What it is.
    pub kind: StepKind,
    /// Name of the tool, title of the artifact, key of an unknown item.
    pub title: Option<String>,
    /// Id of the tool call.
    pub call_id: Option<String>,
    /// A tool call: true when it failed. None when it has neither result nor error.
    pub failed: Option<bool>,
    /// A user message that was added to drive the run on.
    pub nudge: bool,
    /// Seconds it took, when known.
    pub seconds: Option<f64>,
    /// Tokens it took, when known.
    pub tokens: Option<u64>,
    /// What it is made of.
    pub parts: Vec<Part>,
}

/// Kinds of steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "snake_case")]
pub enum StepKind {
    /// What the person (or a nudge) said.
    User,
    /// What the model said.
    Assistant,
    /// What the system said first.
    System,
    /// A call of a tool, with its result.
    ToolCall,
    /// A plan, or code that was run, with what came out (`PromptQL`).
    Program,
    /// A table or text that was stored (`PromptQL`).
    Artifact,
    /// A system error.
    Error,
    /// An item of a kind we do not know.
    Unknown,
}

/// A piece of a step.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct Part {
    /// Opaque id, for reading the rest.
    pub id: String,
    /// What it is within the step: `message`, `sql`, `result`, `error`, `stdout`.
    pub label: String,
    /// Size of the whole as text, in bytes.
    pub bytes: u64,
    /// What is shown.
    pub body: Body,
}

/// What is shown of a part.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Body {
    /// Text.
    Text {
        /// What it is written in.
        language: Language,
        /// Its beginning.
        text: String,
        /// False when there is more.
        whole: bool,
    },
    /// A list of objects, as a table.
    Table {
        /// Columns, in order of appearance.
        columns: Vec<TableColumn>,
        /// First rows.
        rows: Vec<Vec<Cell>>,
        /// How many there are.
        total: u64,
    },
    /// Any other value: objects, lists, numbers, as JSON text with two spaces of indentation.
    Value {
        /// Its beginning.
        text: String,
        /// False when there is more; then it is shown as text and not as a tree.
        whole: bool,
    },
}

/// What a text is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "snake_case")]
pub enum Language {
    /// Nothing in particular; shown as it is.
    Plain,
    /// Markdown, as models write it.
    Markdown,
    /// SQL.
    Sql,
    /// Python.
    Python,
    /// JSON.
    Json,
    /// YAML.
    Yaml,
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct TableColumn {
    /// Its name.
    pub name: String,
    /// True when every value is a number or missing: shown aligned to the right.
    pub numeric: bool,
}

/// A cell of a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct Cell {
    /// Exact text of a number, a string as it is, JSON of anything nested. Long ones are cut.
    pub text: String,
    /// What it is.
    pub kind: CellKind,
}

/// What a cell is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "snake_case")]
pub enum CellKind {
    /// The row has no such key.
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
    /// From the offset asked for, moved to a character boundary.
    pub text: String,
    /// Where this piece begins, in bytes.
    pub offset: u64,
    /// Where the next begins; none when this is the last.
    pub next: Option<u64>,
    /// Size of the whole, in bytes.
    pub total: u64,
}

/// Some rows of a long table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct RowPiece {
    /// From the offset asked for.
    pub rows: Vec<Vec<Cell>>,
    /// How many there are.
    pub total: u64,
}

/// Which rows of a table, in which order.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct RowRequest {
    /// Which part.
    pub span: super::Span,
    /// By which column, as an index; none keeps the order of the file.
    pub column: Option<u32>,
    /// Largest first.
    pub descending: bool,
}

/// The answer of a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct Answer {
    /// The value.
    pub part: Part,
    /// Where it was found, as a few words.
    pub source: String,
    /// True when it is not strict JSON and was read leniently.
    pub lenient: bool,
}

/// The task a run answers.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct Task {
    /// Its id: the path below the input directory without extension.
    pub id: String,
    /// Its file, relative to the open folder.
    pub file: String,
    /// Parameters of the variation.
    pub parameters: Vec<Fact>,
    /// The prompt of this run's system after templating.
    pub prompt: Option<Part>,
    /// The expected output; none when the suite has none.
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
    /// Relative to the open folder.
    pub path: String,
    /// Whole path, to be copied.
    pub full_path: String,
    /// Bytes.
    pub size: u64,
}

/// Where a text occurs in one run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct Matches {
    /// How many there are in all.
    pub total: u64,
    /// The first of them, in order.
    pub matches: Vec<Match>,
}

/// One place in a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct Match {
    /// Step, from 0; none for the answer.
    pub step: Option<u32>,
    /// Part within it, by id.
    pub part: String,
    /// Where in the text of the part, in bytes.
    pub offset: u64,
    /// Row, from 0, when the part is a table.
    pub row: Option<u32>,
    /// Text around it.
    pub pieces: Vec<SnippetPiece>,
}
