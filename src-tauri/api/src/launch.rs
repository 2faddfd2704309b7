//! **Pure.** Launching runs: options, plans, progress, and the state of API keys.
use super::red_team::ScanPlan;
use super::status::Problem;
use serde::{Deserialize, Serialize};

/// Options for a launch in the open folder.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct LaunchOptions {
    /// Tasks of the input directory, ordered by id.
    pub tasks: Vec<TaskChoice>,
    /// Available systems.
    pub systems: Vec<Choice>,
    /// Models; for the replay model, `detail` explains what it is.
    pub models: Vec<Choice>,
    /// Tools of the workspace.
    pub tools: Vec<Choice>,
    /// Number of concurrent runs, from the workspace file or by default.
    pub concurrency: u32,
    /// Spend limit in dollars, if the workspace file sets one.
    pub max_cost: Option<f64>,
    /// Model that plays simulated users, if the workspace file names one.
    pub user_model: Option<String>,
    /// Search method and offered functions, if there are virtual APIs or queries.
    pub search: Option<SearchOptions>,
    /// Sentences about parts of the workspace file that could not be used.
    pub wrong: Vec<String>,
    /// Reason that nothing can be launched, with the next step: there is no input directory, or
    /// this host does not allow launches.
    pub why_not: Option<Blocker>,
}

/// Default settings for searching an answer and offering functions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct SearchOptions {
    /// Search method of all models; none is an ordinary conversation.
    pub method: Option<String>,
    /// Models with another method: `o1: CoT@1`.
    pub others: Vec<String>,
    /// Offered functions: `all`, `query`, `top-20`.
    pub offer: String,
    /// True if there are virtual APIs whose functions can be offered.
    pub has_apis: bool,
}

/// A task that can be selected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct TaskChoice {
    /// Path of its suite below the input directory, without extension.
    pub id: String,
    /// Name to show in place of the id.
    pub name: Option<String>,
    /// Tags.
    pub tags: Vec<String>,
    /// Names of its variations, in order.
    pub variations: Vec<String>,
    /// Default number of repeats.
    pub repeat: u32,
    /// Set if a model plays the user of the task.
    pub user: Option<UserChoice>,
}

/// Simulated user of a task that can be selected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct UserChoice {
    /// Model that the task names; none leaves the choice to the launch.
    pub model: Option<String>,
    /// True if it attacks: it leads conversations to what the system should refuse.
    pub attacks: bool,
}

/// A system, model or tool that can be selected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct Choice {
    /// Its name.
    pub name: String,
    /// Short description: provider and id of a model, or kind of a tool.
    pub detail: String,
    /// Reason that it cannot be used now, such as a missing key or sandbox.
    pub why_not: Option<Blocker>,
    /// True for a model whose calls cost nothing: it repeats recorded replies, or its price is 0.
    pub is_free: bool,
}

/// A problem with a suggested fix.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct Blocker {
    /// The problem, in one sentence.
    pub message: String,
    /// Suggested fix.
    pub fix: Option<String>,
}

/// Selection of runs for a launch, and its options.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
#[serde(default, deny_unknown_fields)]
pub struct LaunchRequest {
    /// Ids of runs from the list. If there are any, only these are selected, and `tasks`, `systems`
    /// and so on are ignored.
    pub runs: Vec<String>,
    /// Cells of the overview. If there are any, only their runs are selected: existing ones, and
    /// those that the suites expect.
    pub cells: Vec<LaunchCell>,
    /// Ids of tasks, or patterns with `*`; all tasks if empty.
    pub tasks: Vec<String>,
    /// Systems.
    pub systems: Vec<String>,
    /// Models.
    pub models: Vec<String>,
    /// Variations, from 0; all if empty.
    pub variations: Vec<u32>,
    /// Number of repeats; that of the suite if none is given.
    pub repeats: Option<u32>,
    /// True to run from the start even if a result exists. Existing files are moved aside first,
    /// never deleted.
    pub start_over: bool,
    /// True to resume runs even if their file no longer matches the task.
    pub anyway: bool,
    /// Number of concurrent runs; that of the workspace file if none is given.
    pub concurrency: Option<u32>,
    /// Spend limit in dollars.
    pub max_cost: Option<f64>,
    /// Part of the selection to run, for distribution across machines.
    pub shard: Option<Shard>,
    /// Search method, `CoT@1` or `DFS_woFilter_w2`; that of the workspace file if none is given.
    pub method: Option<String>,
    /// Model that plays the simulated users of tasks that name none; that of the workspace file if
    /// none is given.
    pub user_model: Option<String>,
    /// Maximum depth of a search path.
    pub steps: Option<u32>,
    /// Maximum number of model replies per search.
    pub queries: Option<u32>,
    /// Offered functions of virtual APIs: `all`, `query`, `top-20`; those of the workspace file if
    /// none are given.
    pub offer: Option<String>,
}

/// Runs of a task or of one of its variations by one system with one model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
#[serde(deny_unknown_fields)]
pub struct LaunchCell {
    /// Id of the task.
    pub task: String,
    /// Variation, from 0; all if none is given.
    pub variation: Option<u32>,
    /// System.
    pub system: String,
    /// Model.
    pub model: String,
}

/// One part of a selection split across machines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct Shard {
    /// Number of the part, from 1.
    pub index: u32,
    /// Number of parts.
    pub count: u32,
}

/// Plan of a launch. No request has been sent.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct LaunchPlan {
    /// Runs to be made, in order; the first thousand.
    pub owed: Vec<PlannedRun>,
    /// Number of all runs to be made.
    pub owed_total: u64,
    /// Runs that will not be made, with reasons; the first thousand.
    pub skipped: Vec<PlannedRun>,
    /// Number of all runs that will not be made.
    pub skipped_total: u64,
    /// Estimated effort.
    pub estimate: Estimate,
    /// Warning that the spend limit does not cover some of the runs because their price is unknown.
    pub unbound: Option<String>,
    /// Reasons that some runs of `owed` cannot start here: missing keys and settings. One entry per
    /// cause; a run may be counted in several.
    pub blocked: Vec<Blocked>,
    /// Number of runs of `owed` that cannot start here.
    pub blocked_total: u64,
    /// Models that play the simulated users of the runs to be made.
    pub user_models: Vec<String>,
    /// Sentences to read before starting.
    pub notes: Vec<String>,
    /// Note that a price is unknown, which means that the estimate contains no cost.
    pub unpriced: Option<String>,
    /// Problems with the workspace file and with the suites of these runs, worst first.
    pub problems: Vec<Problem>,
    /// First error in the workspace file or the suites that prevents a launch, with its line.
    pub invalid: Option<Blocker>,
    /// What these runs send that attacks; none if no run is of a suite of attacks.
    pub scan: Option<ScanPlan>,
}

/// A cause that prevents runs from starting here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct Blocked {
    /// The cause: `OPENAI_API_KEY is not set`.
    pub why: String,
    /// Suggested fix.
    pub fix: Option<String>,
    /// Number of runs affected.
    pub runs: u64,
}

/// A run of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct PlannedRun {
    /// Output file, relative to the output directory.
    pub path: String,
    /// Id in the list of runs; the run need not exist yet.
    pub run: String,
    /// Task.
    pub task: String,
    /// System.
    pub system: String,
    /// Model.
    pub model: String,
    /// Variation, from 0.
    pub variation: u32,
    /// Repeat, from 1.
    pub repeat: u32,
    /// Planned action.
    pub act: Act,
    /// Reason, as a sentence.
    pub why: String,
    /// For a run refused because its file does not match the task, the differences as text. The
    /// options are to start over or to resume anyway.
    pub differs: Option<String>,
}

/// Planned action for a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "snake_case")]
pub enum Act {
    /// Run from the start; there is no file yet.
    Start,
    /// Move the old file aside, then run from the start.
    StartOver,
    /// Resume at the end of the file: remove an error, answer a message, run pending tool calls, or
    /// query the model again.
    Continue,
    /// None: the run is complete.
    Nothing,
    /// None: the file cannot be read.
    Damaged,
    /// None: another process is running it.
    Elsewhere,
    /// None: the file does not match the task, or the system cannot run it.
    Refused,
}

/// Estimated effort of a launch, from past runs of the same tasks.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct Estimate {
    /// Number of planned runs for which past runs exist.
    pub known: u64,
    /// Requests to models for those runs.
    pub calls: Option<u64>,
    /// Tokens for those runs.
    pub tokens: Option<u64>,
    /// Cost of those runs in dollars; none if a price is unknown, or if a past run does not contain
    /// its usage.
    pub cost: Option<f64>,
}

/// State of a launch.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct LaunchView {
    /// Id of the launch.
    pub id: String,
    /// What it runs, in a few words: `3 tasks · promptql/claude`.
    pub what: String,
    /// Start time, in milliseconds since 1970.
    pub began_ms: i64,
    /// End time, in milliseconds since 1970.
    pub ended_ms: Option<i64>,
    /// State of the launch.
    pub state: LaunchState,
    /// Reason for stopping early, as a sentence.
    pub why: Option<String>,
    /// Number of all runs.
    pub total: u64,
    /// Number of runs not started yet.
    pub waiting: u64,
    /// Number of runs in progress.
    pub running: u64,
    /// Number of runs that ended, with or without an answer.
    pub done: u64,
    /// Number of runs that ended in an error.
    pub failed: u64,
    /// Number of runs locked or completed by another process.
    pub elsewhere: u64,
    /// Number of runs that were stopped and can be resumed.
    pub stopped: u64,
    /// Number of tokens until now; none while no reply has reported any.
    pub tokens: Option<u64>,
    /// Cost in dollars until now, of replies with a known price.
    pub cost: f64,
    /// Number of replies with an unknown price.
    pub unpriced: u64,
    /// Spend limit in dollars.
    pub max_cost: Option<f64>,
    /// Further notes as sentences: rejected keys, excluded runs, problems with virtual APIs.
    pub notes: Vec<String>,
    /// Number of further notes that are only in the log.
    pub more_notes: u64,
    /// A range of its runs: first those in progress, then failed, waiting and ended ones.
    pub runs: Vec<LaunchRun>,
}

/// State of a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "snake_case")]
pub enum LaunchState {
    /// In progress.
    Running,
    /// No new work is started; requests in flight are completed and saved.
    Stopping,
    /// Ended with unfinished work.
    Stopped,
    /// Ended with all work done.
    Done,
}

/// A run of a launch.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct LaunchRun {
    /// Id in the list of runs.
    pub run: String,
    /// Output file, relative to the output directory.
    pub path: String,
    /// State of the run.
    pub state: LaunchRunState,
    /// Current assistant turn, from 1; 0 before the first.
    pub turn: u32,
    /// Current activity or reason for ending, in a few words: `asking o1`, `query_support_tickets`,
    /// `waits 4 s: too many requests`.
    pub doing: Option<String>,
    /// Number of tokens until now; none while no reply has reported any.
    pub tokens: Option<u64>,
    /// Cost in dollars until now; none if a price is unknown.
    pub cost: Option<f64>,
    /// Duration in seconds until now.
    pub seconds: f64,
}

/// State of a run in a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "snake_case")]
pub enum LaunchRunState {
    /// Not started yet.
    Waiting,
    /// In progress.
    Running,
    /// Ended with an answer.
    Answered,
    /// Ended without an answer.
    NoAnswer,
    /// Ended in an error.
    Error,
    /// Stopped; can be resumed.
    Stopped,
    /// Locked or completed by another process.
    Elsewhere,
}

/// A launch that was started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct Launched {
    /// Id of the launch.
    pub launch: String,
    /// Id of the run in the list, if the request was for one run.
    pub run: Option<String>,
}

/// State of an API key that models need. The key itself never leaves the engine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct KeyState {
    /// Name of the environment variable and of the keyring entry: `ANTHROPIC_API_KEY`.
    pub name: String,
    /// Models and systems that use the key.
    pub used_by: Vec<String>,
    /// Source of the key.
    pub source: KeySource,
    /// True if the key can be stored in the keyring of this machine.
    pub can_store: bool,
    /// Reason that the key's state is unknown, or that the value set is not a key, as a sentence;
    /// none if the key is valid or simply not set.
    pub wrong: Option<String>,
}

/// Source of an API key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "snake_case")]
pub enum KeySource {
    /// The key is not set.
    None,
    /// The environment, which takes precedence over the keyring.
    Environment,
    /// The keyring of the operating system.
    Keyring,
}
