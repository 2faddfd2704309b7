//! **Pure.** Tasks that a model writes from a text, as a new suite.
use super::launch::{Blocker, Choice, LaunchState};
use serde::{Deserialize, Serialize};

/// Options for generating tasks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct GenerationOptions {
    /// Models, each with the reason if it cannot be used.
    pub models: Vec<Choice>,
    /// Folder of the suites, for display; none if the folder has none.
    pub folder: Option<String>,
    /// Maximum bytes of a text.
    pub most_bytes: u64,
    /// Maximum number of questions.
    pub most_queries: u32,
    /// Maximum number of messages of a simulated user.
    pub most_turns: u32,
    /// Reason that generating is impossible here.
    pub why_not: Option<Blocker>,
}

/// A text, and what to make of it.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
#[serde(deny_unknown_fields)]
pub struct GenerationRequest {
    /// Name of the new task, and of its file without `.yaml`. May be empty in a plan.
    pub name: String,
    /// Name of the file that the text is from; its ending says whether the text is rows. None for a
    /// text that was pasted.
    pub file: Option<String>,
    /// The text: prose, or rows as CSV or JSON Lines.
    pub text: String,
    /// Model that writes.
    pub model: String,
    /// Number of questions.
    pub queries: u32,
    /// Messages of a simulated user in each conversation; 1 for single questions.
    pub turns: u32,
    /// What the persons do who ask, in turn.
    pub tasks: Vec<String>,
    /// Dollars after which nothing more is asked.
    pub max_cost: Option<f64>,
}

/// Estimate of a generation. Nothing has been sent.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct GenerationPlan {
    /// Number of requests.
    pub requests: u64,
    /// Input and output tokens.
    pub tokens: u64,
    /// Dollars; none if the model has no price.
    pub cost: Option<f64>,
    /// Warning that the spend limit has no effect.
    pub unbound: Option<String>,
}

/// Id of a started generation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct Generation {
    /// Id of the job.
    pub generation: String,
}

/// State of a generation.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct GenerationView {
    /// Id of the job.
    pub id: String,
    /// Task of the suite.
    pub task: String,
    /// File of the suite, for display.
    pub file: String,
    /// The model.
    pub model: String,
    /// Start time, in milliseconds since 1970.
    pub began_ms: i64,
    /// State of the job.
    pub state: LaunchState,
    /// Reason for stopping early or for fewer questions, as a sentence.
    pub why: Option<String>,
    /// Suggested next step.
    pub hint: Option<String>,
    /// Reason that a request is repeated later, as a sentence.
    pub waiting: Option<String>,
    /// Number of questions asked for.
    pub total: u64,
    /// Number of questions that were written.
    pub done: u64,
    /// True once the suite is written.
    pub written: bool,
    /// Number of requests that got a reply and were paid for.
    pub calls: u64,
    /// Tokens of these requests.
    pub tokens: u64,
    /// Cost of these requests in dollars.
    pub cost: f64,
    /// True if the price of some replies is unknown.
    pub unpriced: bool,
    /// Spend limit in dollars.
    pub max_cost: Option<f64>,
}
