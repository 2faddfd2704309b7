//! **Pure.** The tasks of the open folder: list requests, list rows, and the details of one task.
use super::list::FacetValue;
use super::status::{Problem, Span};
use serde::{Deserialize, Serialize};

/// Filter and part of the list of tasks.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct TaskRequest {
    /// Search words; each must occur in the prompts, the id, the tags, or the names of the tools.
    pub words: String,
    /// Only tasks of this set.
    pub set: Option<String>,
    /// Only tasks with a tool of this category, or with this tag.
    pub category: Option<String>,
    /// Part of the list.
    pub span: Span,
}

/// A page of tasks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct TaskPage {
    /// Number of all tasks.
    pub all: u64,
    /// Number of tasks that match.
    pub total: u64,
    /// Rows from the requested offset on.
    pub rows: Vec<TaskRow>,
    /// Sets in their order, each with the number of its tasks that would match.
    pub sets: Vec<FacetValue>,
    /// Categories and tags, each with the number of its tasks that would match, most frequent
    /// first.
    pub categories: Vec<FacetValue>,
    /// Set if not all tasks that runs of other tools name are listed.
    pub cut: Option<TaskCut>,
}

/// Tasks that runs of other tools name, of which only the first are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct TaskCut {
    /// Number of those that are listed.
    pub listed: u64,
    /// Number of all.
    pub all: u64,
}

/// A task in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct TaskRow {
    /// Task id.
    pub id: String,
    /// Name to show in place of the id.
    pub name: Option<String>,
    /// Beginning of the prompt, on one line.
    pub prompt: String,
    /// Set: the file of the queries, or the folder of the suite.
    pub set: Option<String>,
    /// Categories of the tools, or tags.
    pub categories: Vec<String>,
    /// Number of variations.
    pub variations: u32,
    /// Number of APIs available to the task.
    pub apis: u32,
    /// Number of expected tool calls.
    pub expected_calls: u32,
    /// True if functions of gold APIs share their names with other APIs.
    pub ambiguous: bool,
    /// Name of the tool whose runs name the task, where it has no suite. It can only be read.
    pub recorded_by: Option<String>,
    /// True if texts of the task are folded until they are asked for; none otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub sensitive: Option<bool>,
}

/// A text, or the beginning of a long one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct Clip {
    /// The text shown.
    pub text: String,
    /// True if the text was cut.
    pub cut: bool,
}

/// Details of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct TaskView {
    /// Its row in the list.
    pub row: TaskRow,
    /// Path of its file, for display; of a recorded task, that of its first run.
    pub file: String,
    /// Prompts by system, before their parameters are filled in.
    pub prompts: Vec<TaskPrompt>,
    /// Simulated user, before its parameters are filled in.
    pub user: Option<TaskUser>,
    /// Variations; capped if there are very many.
    pub variations: Vec<TaskVariation>,
    /// Number of further expected answers of a recorded task, which are not among its variations.
    pub more_expected: u32,
    /// Names of the tools that have to be called.
    pub expected_tool_calls: Vec<String>,
    /// Scorers of the answers, as written in the file.
    pub scorers: Option<Clip>,
    /// Additional data of a query.
    pub query: Option<TaskQuery>,
    /// Problems with the file, worst first; capped if there are very many.
    pub problems: Vec<Problem>,
}

/// A prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct TaskPrompt {
    /// `promptql`, `tool_calling`, …; followed by ` (data given)` if the prompt is for that case.
    /// Empty for a recorded task.
    pub system: String,
    /// Text of the prompt.
    pub text: Clip,
}

/// A user that a model plays.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct TaskUser {
    /// Description of the person.
    pub persona: Option<Clip>,
    /// What the user wants.
    pub goal: Clip,
    /// What the user can tell if asked.
    pub knows: Option<Clip>,
    /// When the goal is reached.
    pub satisfied_when: Option<Clip>,
    /// Maximum number of messages that the user sends.
    pub max_turns: u32,
    /// Model that plays the user, if the task names one.
    pub model: Option<String>,
}

/// A variation of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct TaskVariation {
    /// Name or parameters; empty if it has neither. A recorded task has one for each expected
    /// answer.
    pub label: String,
    /// Expected output, if known.
    pub expected: Option<Clip>,
    /// Problem with the variation.
    pub trouble: Option<String>,
}

/// Data of a query.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct TaskQuery {
    /// Id within the set.
    pub id: String,
    /// Gold APIs: those that are right to call.
    pub gold: Vec<TaskGold>,
    /// Tools available to the query.
    pub tools: Vec<TaskTool>,
    /// Functions offered to a model for these tools, as JSON.
    pub functions: Clip,
    /// Number of these functions.
    pub function_count: u32,
}

/// A gold API, which is right to call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct TaskGold {
    /// Name of the tool.
    pub tool: String,
    /// Name of the API.
    pub api: String,
    /// Name of the function.
    pub function: String,
    /// Other APIs whose functions have the same name. A call counts for the first of all these
    /// APIs.
    pub same_name: Vec<String>,
}

/// A tool available to a query.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct TaskTool {
    /// Category of the tool.
    pub category: String,
    /// Name of the tool.
    pub name: String,
    /// APIs of the tool.
    pub apis: Vec<TaskApi>,
}

/// An API of a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct TaskApi {
    /// Name of the API.
    pub name: String,
    /// Name of the function.
    pub function: String,
    /// Description of the API.
    pub description: String,
    /// True if the API is right to call.
    pub gold: bool,
    /// Parameters, required ones first.
    pub parameters: Vec<TaskParameter>,
    /// Template of a response.
    pub template: Option<Clip>,
}

/// A parameter of an API.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct TaskParameter {
    /// Name of the parameter.
    pub name: String,
    /// Type as written: `STRING`, `NUMBER`, ….
    pub kind: String,
    /// True if the parameter is required.
    pub required: bool,
    /// Description of the parameter.
    pub description: String,
    /// Default value.
    pub default: Option<String>,
}
