//! **Pure.** Suites: tasks with their variations, written by people. Owns the data model; `read`
//! owns the file formats.
mod folder;
mod queries;
mod read;
mod read_user;
mod user;
mod warnings;
pub mod write;

pub use folder::from_folder;
pub use read::read;
pub use user::{AttackTalk, SimulatedUser};

use crate::stabletoolbench::Brief;
use crate::system::System;
use crate::template;
use std::sync::Arc;
use touchstone_model::value::Value;

/// Content of a suite file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Suite {
    /// Tasks; exactly one in every layout except lists of queries.
    pub tasks: Vec<Task>,
    /// Probable mistakes in the file.
    pub warnings: Vec<Warning>,
}

/// A probable mistake in a suite that can still be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// Line number, from 1.
    pub line: Option<u32>,
    /// Column in characters, from 1.
    pub column: Option<u32>,
    /// Text of the line.
    pub excerpt: Option<String>,
    /// Message, one sentence.
    pub message: String,
}

/// One task.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Task {
    /// Path of the file below the input directory, without extension.
    pub id: String,
    /// Name to display instead of the id.
    pub name: Option<String>,
    /// Tags.
    pub tags: Vec<String>,
    /// Prompts by system.
    pub prompts: Prompts,
    /// Names of tools that must be called.
    pub expected_tool_calls: Vec<String>,
    /// Identifier of the artifact that holds the answer (`expected_promptql_artifact`,
    /// `result_artifact_name`).
    pub artifact: Option<String>,
    /// Key of the answer that identifies its rows.
    pub artifact_key: Option<String>,
    /// Tag around the answer in a message.
    pub result_tag_name: Option<String>,
    /// Variations; at least one.
    pub variations: Vec<Variation>,
    /// Number of runs per variation.
    pub repeat: u32,
    /// Scorers as written; the scoring code interprets them.
    pub scorers: Vec<Value>,
    /// Names of the tools it may use; `None` allows every tool of the workspace.
    pub tools: Option<Vec<String>>,
    /// Maximum number of turns.
    pub max_turns: Option<u32>,
    /// Settings for nudges.
    pub nudge: Option<Nudge>,
    /// User that a model plays, in place of a prompt.
    pub user: Option<SimulatedUser>,
    /// Unknown keys.
    pub extra: Vec<(String, Value)>,
    /// Query the task was read from, with all fields of its row, if it is part of a query set.
    pub query: Option<Arc<Brief>>,
}

/// Prompts by system, before templating.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Prompts {
    /// For `PromptQL`.
    pub promptql: Option<String>,
    /// For tool calling.
    pub tool_calling: Option<String>,
    /// For tool calling with Python, if it differs.
    pub tool_calling_python: Option<String>,
    /// For `PromptQL` with the data provided.
    pub promptql_oracle: Option<String>,
    /// For tool calling with the data provided.
    pub tool_calling_oracle: Option<String>,
    /// System prompt with the data provided.
    pub oracle_system: Option<String>,
}

/// One variation of a task.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Variation {
    /// Name.
    pub name: Option<String>,
    /// Parameters of the prompts.
    pub parameters: Vec<(String, Value)>,
    /// Expected answer.
    pub expected: Expected,
    /// Files with the data, for oracle prompts.
    pub oracle_files: Vec<OracleFile>,
    /// User that a model plays, in place of the prompt of the task.
    pub user: Option<SimulatedUser>,
}

/// A file with data for an oracle prompt.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OracleFile {
    /// Path, relative to the suite.
    pub path: String,
    /// Identifier of the artifact that provides it.
    pub identifier: Option<String>,
    /// Title of the artifact.
    pub title: Option<String>,
}

/// Location of the expected answer.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Expected {
    /// No expected answer: the run cannot be scored against one.
    #[default]
    None,
    /// In the suite.
    Value(Value),
    /// In a file, relative to the suite.
    File(String),
}

/// Settings for nudges: messages that make a run continue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Nudge {
    /// True if nudges are sent automatically.
    pub auto: bool,
    /// Maximum number of nudges.
    pub max: u32,
}

impl Task {
    /// Returns the prompt for a system, before templating.
    pub fn prompt(&self, system: &System) -> Option<&str> {
        let Prompts { promptql, tool_calling, tool_calling_python, .. } = &self.prompts;
        match system {
            System::PromptQl => promptql.as_deref(),
            System::ToolCallingPython => tool_calling_python.as_deref().or(tool_calling.as_deref()),
            System::ToolCalling | System::Other(_) => tool_calling.as_deref(),
        }
    }

    /// Returns true if runs of a system can be made of a variation: it has a prompt for the system,
    /// or a simulated user that can talk with it.
    pub fn suits(&self, system: &System, variation: Option<usize>) -> bool {
        match self.user_of(variation) {
            Some(_) => *system != System::PromptQl,
            None => self.prompt(system).is_some_and(|prompt| !prompt.trim().is_empty()),
        }
    }

    /// Returns the parameter names of all variations, sorted and without duplicates.
    pub fn parameter_names(&self) -> Vec<&str> {
        let parameters = self.variations.iter().flat_map(|one| &one.parameters);
        let mut names: Vec<&str> = parameters.map(|(name, _)| name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Renders a prompt with the parameters of a variation.
    pub fn fill(&self, prompt: &str, variation: Option<usize>) -> String {
        let variation = variation.and_then(|at| self.variations.get(at));
        let parameters = variation.map_or(&[][..], |variation| variation.parameters.as_slice());
        template::render(prompt, &self.parameter_names(), parameters)
    }
}

impl Variation {
    /// Returns its name, or its parameters formatted as `data: last 20`.
    pub fn label(&self) -> String {
        use touchstone_model::node::Node as _;
        if let Some(name) = &self.name {
            return name.clone();
        }
        let shown = |value: &Value| {
            value.word().map_or_else(|| touchstone_model::json::write(value, false), str::to_owned)
        };
        self.parameters
            .iter()
            .map(|(name, value)| format!("{name}: {}", shown(value)))
            .collect::<Vec<_>>()
            .join(", ")
    }
}

/// Parses the file that `ground_truth_path` refers to: JSON, YAML, or plain text.
pub fn ground_truth(
    file_name: &str,
    text: &str,
) -> Result<Value, touchstone_model::error::ReadError> {
    match file_name.rsplit('.').next() {
        Some("json") => touchstone_model::json::read(text),
        Some("yaml" | "yml") => touchstone_model::yaml::read(text),
        // A text file that holds only a number is read as that number.
        _ => Ok(touchstone_model::json::read(text).unwrap_or_else(|_| Value::from(text.trim()))),
    }
}

const PROMPTS: [&str; 4] =
    ["promptql_prompt", "tool_calling_prompt", "tool_calling_python_prompt", "llm_prompt"];

/// Returns true for a value that is a suite, so that a folder may mix suites and transcripts.
pub fn is_suite(value: &Value) -> bool {
    if let Some(first) = value.items().first() {
        return first.get("query").is_some()
            && (first.get("query_id").is_some() || first.get("api_list").is_some());
    }
    let has = |key: &str| value.get(key).is_some();
    let systems = ["promptql", "tool_calling"]
        .iter()
        .any(|key| matches!(value.get(key), Some(Value::Map(_))));
    let user = value.get("user").is_some_and(|user| user.get("goal").is_some());
    !has("conversation") && (systems || user || PROMPTS.iter().any(|key| has(key)))
}
