//! **Pure.** Suites: questions with their variations, as people write them. Owns what they mean;
//! `read` owns how they are written.
mod folder;
mod queries;
mod read;
mod warnings;

pub use folder::from_folder;
pub use read::read;

use crate::stabletoolbench::Brief;
use crate::template;
use crate::value::Value;
use std::sync::Arc;

/// What a suite file holds.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Suite {
    /// Its tasks; one for every layout but lists of queries.
    pub tasks: Vec<Task>,
    /// What probably does not say what was meant.
    pub warnings: Vec<Warning>,
}

/// Something in a suite that reads, but probably does not say what was meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// Line, from 1.
    pub line: Option<u32>,
    /// Column in characters, from 1.
    pub column: Option<u32>,
    /// The line itself.
    pub excerpt: Option<String>,
    /// One sentence.
    pub message: String,
}

/// One question.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Task {
    /// Path of the file below the input directory, without extension.
    pub id: String,
    /// Name to show instead.
    pub name: Option<String>,
    /// Tags.
    pub tags: Vec<String>,
    /// What is asked.
    pub prompts: Prompts,
    /// Tools that have to be called.
    pub expected_tool_calls: Vec<String>,
    /// Identifier of the artifact that holds the answer (`expected_promptql_artifact`,
    /// `result_artifact_name`).
    pub artifact: Option<String>,
    /// Key of the answer that tells its rows apart.
    pub artifact_key: Option<String>,
    /// Tag around the answer in a message.
    pub result_tag_name: Option<String>,
    /// Variations; at least one.
    pub variations: Vec<Variation>,
    /// How often each is run.
    pub repeat: u32,
    /// Scorers, as they are written; what they mean is decided by whoever scores.
    pub scorers: Vec<Value>,
    /// Names of the tools it may use; none means every tool of the workspace.
    pub tools: Option<Vec<String>>,
    /// Most turns.
    pub max_turns: Option<u32>,
    /// Whether and how often it is driven on.
    pub nudge: Option<Nudge>,
    /// Keys we do not know.
    pub extra: Vec<(String, Value)>,
    /// The query it was read from, with everything its row says, when it is one of a query set.
    pub query: Option<Arc<Brief>>,
}

/// Prompts by system, before templating.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Prompts {
    /// For `PromptQL`.
    pub promptql: Option<String>,
    /// For tool calling.
    pub tool_calling: Option<String>,
    /// For tool calling with Python, when it has one of its own.
    pub tool_calling_python: Option<String>,
    /// For `PromptQL` when the data is given.
    pub promptql_oracle: Option<String>,
    /// For tool calling when the data is given.
    pub tool_calling_oracle: Option<String>,
    /// Instructions when the data is given.
    pub oracle_system: Option<String>,
}

/// One variation of a task.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Variation {
    /// Name.
    pub name: Option<String>,
    /// Parameters of the prompts.
    pub parameters: Vec<(String, Value)>,
    /// The gold answer.
    pub expected: Expected,
    /// Files with the data, for oracle prompts.
    pub oracle_files: Vec<OracleFile>,
}

/// A file with data for an oracle prompt.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OracleFile {
    /// Path, relative to the suite.
    pub path: String,
    /// Identifier of the artifact it is given as.
    pub identifier: Option<String>,
    /// Its title.
    pub title: Option<String>,
}

/// Where the gold answer is.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Expected {
    /// Nowhere: the run cannot be judged by it.
    #[default]
    None,
    /// In the suite.
    Value(Value),
    /// In a file, relative to the suite.
    File(String),
}

/// Whether and how often a run is driven on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Nudge {
    /// By itself.
    pub auto: bool,
    /// How often at most.
    pub max: u32,
}

impl Task {
    /// The prompt for a system, before templating.
    pub fn prompt(&self, system: &str) -> Option<&str> {
        let Prompts { promptql, tool_calling, tool_calling_python, .. } = &self.prompts;
        match system {
            "promptql" => promptql.as_deref(),
            "tool_calling_python" => tool_calling_python.as_deref().or(tool_calling.as_deref()),
            _ => tool_calling.as_deref(),
        }
    }

    /// Names of the parameters of all variations.
    pub fn parameter_names(&self) -> Vec<&str> {
        let parameters = self.variations.iter().flat_map(|one| &one.parameters);
        let mut names: Vec<&str> = parameters.map(|(name, _)| name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// A prompt with the parameters of one of the variations.
    pub fn fill(&self, prompt: &str, variation: Option<usize>) -> String {
        let variation = variation.and_then(|at| self.variations.get(at));
        let parameters = variation.map_or(&[][..], |variation| variation.parameters.as_slice());
        template::render(prompt, &self.parameter_names(), parameters)
    }
}

impl Variation {
    /// Its name, or its parameters as `data: last 20`.
    pub fn label(&self) -> String {
        use crate::node::Node as _;
        if let Some(name) = &self.name {
            return name.clone();
        }
        let shown = |value: &Value| {
            value.word().map_or_else(|| crate::json::write(value, false), str::to_owned)
        };
        self.parameters
            .iter()
            .map(|(name, value)| format!("{name}: {}", shown(value)))
            .collect::<Vec<_>>()
            .join(", ")
    }
}

/// Reads the file that `ground_truth_path` names: JSON, YAML, or plain text.
pub fn ground_truth(file_name: &str, text: &str) -> Result<Value, crate::ReadError> {
    match file_name.rsplit('.').next() {
        Some("json") => crate::json::read(text),
        Some("yaml" | "yml") => crate::yaml::read(text),
        // A file of one number means the number.
        _ => Ok(crate::json::read(text).unwrap_or_else(|_| Value::from(text.trim()))),
    }
}

const PROMPTS: [&str; 4] =
    ["promptql_prompt", "tool_calling_prompt", "tool_calling_python_prompt", "llm_prompt"];

/// True for a value that is a suite, so that a folder may mix suites and transcripts.
pub fn is_suite(value: &Value) -> bool {
    if let Some(first) = value.items().first() {
        return first.get("query").is_some()
            && (first.get("query_id").is_some() || first.get("api_list").is_some());
    }
    let has = |key: &str| value.get(key).is_some();
    let systems = ["promptql", "tool_calling"]
        .iter()
        .any(|key| matches!(value.get(key), Some(Value::Map(_))));
    !has("conversation") && (systems || PROMPTS.iter().any(|key| has(key)))
}
