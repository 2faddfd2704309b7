//! **Pure.** The tasks of the open folder: what is asked of the list, its rows, and one task whole.
use super::list::FacetValue;
use super::status::{Problem, Span};
use serde::{Deserialize, Serialize};

/// Which tasks, from where.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct TaskRequest {
    /// Words that all have to be in its prompts, its id, its tags, or the names of its tools.
    pub words: String,
    /// Only of this set.
    pub set: Option<String>,
    /// Only with a tool of this category, or with this tag.
    pub category: Option<String>,
    /// Which part.
    pub span: Span,
}

/// A page of tasks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct TaskPage {
    /// How many there are.
    pub all: u64,
    /// How many pass.
    pub total: u64,
    /// From the offset asked for.
    pub rows: Vec<TaskRow>,
    /// Sets, with how many tasks of each would pass, in their order.
    pub sets: Vec<FacetValue>,
    /// Categories and tags, with how many tasks of each would pass, most first.
    pub categories: Vec<FacetValue>,
}

/// A task in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct TaskRow {
    /// Its id.
    pub id: String,
    /// A name to show instead.
    pub name: Option<String>,
    /// The beginning of its prompt, on one line.
    pub prompt: String,
    /// Its set: the file of its queries, or the folder of its suite.
    pub set: Option<String>,
    /// Categories of its tools, or its tags.
    pub categories: Vec<String>,
    /// Variations.
    pub variations: u32,
    /// APIs that are there for it.
    pub apis: u32,
    /// Calls that are expected.
    pub expected_calls: u32,
    /// Functions of APIs that are right to call bear the names of other APIs.
    pub ambiguous: bool,
}

/// A text, or the beginning of a long one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct Clip {
    /// What is shown of it.
    pub text: String,
    /// There is more.
    pub cut: bool,
}

/// A task, whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct TaskView {
    /// Its row.
    pub row: TaskRow,
    /// Its file, as the person sees it.
    pub file: String,
    /// Prompts by what they are for, before their parameters are filled in.
    pub prompts: Vec<TaskPrompt>,
    /// Variations; not all of very many.
    pub variations: Vec<TaskVariation>,
    /// Names of tools that have to be called.
    pub expected_tool_calls: Vec<String>,
    /// How its answers are scored, as it is written.
    pub scorers: Option<Clip>,
    /// What a query says beyond that.
    pub query: Option<TaskQuery>,
    /// What is wrong with its file, worst first; not all of very much.
    pub problems: Vec<Problem>,
}

/// A prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct TaskPrompt {
    /// `promptql`, `tool_calling`, …; with ` (data given)` when it is for that.
    pub system: String,
    /// Its text.
    pub text: Clip,
}

/// A variation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct TaskVariation {
    /// Its name, or its parameters; empty when it has neither.
    pub label: String,
    /// What is expected, when that is known.
    pub expected: Option<Clip>,
    /// What is wrong with it.
    pub trouble: Option<String>,
}

/// What a query says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct TaskQuery {
    /// Its id within the set.
    pub id: String,
    /// APIs that are right to call.
    pub gold: Vec<TaskGold>,
    /// Tools that are there for it.
    pub tools: Vec<TaskTool>,
    /// The functions that a model is offered for them, as JSON.
    pub functions: Clip,
    /// How many those are.
    pub function_count: u32,
}

/// An API that is right to call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct TaskGold {
    /// Its tool.
    pub tool: String,
    /// Its name.
    pub api: String,
    /// The name of its function.
    pub function: String,
    /// Other APIs whose functions bear the same name. A call of it counts for the first of them
    /// all.
    pub same_name: Vec<String>,
}

/// A tool that is there for a query.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct TaskTool {
    /// Its category.
    pub category: String,
    /// Its name.
    pub name: String,
    /// Its APIs.
    pub apis: Vec<TaskApi>,
}

/// An API of such a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct TaskApi {
    /// Its name.
    pub name: String,
    /// The name of its function.
    pub function: String,
    /// What it does.
    pub description: String,
    /// It is right to call.
    pub gold: bool,
    /// Parameters, those that have to be given first.
    pub parameters: Vec<TaskParameter>,
    /// What a reply looks like.
    pub template: Option<Clip>,
}

/// A parameter of an API.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct TaskParameter {
    /// Its name.
    pub name: String,
    /// `STRING`, `NUMBER`, …, as written.
    pub kind: String,
    /// It has to be given.
    pub required: bool,
    /// What it means.
    pub description: String,
    /// What it is when nobody gives it.
    pub default: Option<String>,
}
