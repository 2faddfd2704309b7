//! **Pure.** Launching runs: what could be run, what is owed and why, how a launch stands, and
//! which keys are set.
use super::status::Problem;
use serde::{Deserialize, Serialize};

/// What a launch can be made of, here and now.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct LaunchOptions {
    /// Tasks of the input directory, by id.
    pub tasks: Vec<TaskChoice>,
    /// Systems.
    pub systems: Vec<Choice>,
    /// Models; the replay model says what it is in `detail`.
    pub models: Vec<Choice>,
    /// Tools of the workspace.
    pub tools: Vec<Choice>,
    /// Runs at the same time, as the workspace file says or by default.
    pub concurrency: u32,
    /// Dollars after which a launch stops, when the workspace file says.
    pub max_cost: Option<f64>,
    /// How runs look for an answer and which functions they are offered, where there are virtual
    /// APIs or queries; none elsewhere.
    pub search: Option<SearchOptions>,
    /// What of the workspace file could not be used, and why.
    pub wrong: Vec<String>,
    /// Why nothing can be launched at all: no input directory, or a front door that may not. With
    /// the next step.
    pub why_not: Option<Trouble>,
}

/// How runs look for an answer when nothing else is asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct SearchOptions {
    /// The method of all models; none is an ordinary conversation.
    pub method: Option<String>,
    /// Models with a method of their own, as `o1: CoT@1`.
    pub others: Vec<String>,
    /// Which functions are offered: `all`, `query`, `top-20`.
    pub offer: String,
    /// True when there are virtual APIs, of which functions are offered.
    pub has_apis: bool,
}

/// A task that can be run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct TaskChoice {
    /// Path of its suite below the input directory, without extension.
    pub id: String,
    /// Name to show instead.
    pub name: Option<String>,
    /// Tags.
    pub tags: Vec<String>,
    /// What its variations are called, in order.
    pub variations: Vec<String>,
    /// How often each is run by default.
    pub repeat: u32,
}

/// A system, model or tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct Choice {
    /// Its name.
    pub name: String,
    /// What it is, in a few words: the provider and id of a model, the kind of a tool.
    pub detail: String,
    /// Why it cannot be used now: no key, no sandbox. None when it can.
    pub why_not: Option<Trouble>,
}

/// Something in the way, with the next step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct Trouble {
    /// One sentence.
    pub message: String,
    /// How to mend it.
    pub fix: Option<String>,
}

/// What is to be run.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
#[serde(default, deny_unknown_fields)]
pub struct LaunchRequest {
    /// Ids of runs of the list; when there are any, only these, and the matrix below is not used.
    pub runs: Vec<String>,
    /// Cells of the overview; when there are any, only their runs: those that are there, and those
    /// that the suites expect.
    pub cells: Vec<LaunchCell>,
    /// Ids of tasks, or patterns with `*`; none means all.
    pub tasks: Vec<String>,
    /// Systems.
    pub systems: Vec<String>,
    /// Models.
    pub models: Vec<String>,
    /// Variations, from 0; none means all.
    pub variations: Vec<u32>,
    /// How often each; none means as the suite says.
    pub repeats: Option<u32>,
    /// From the start, even when there is a result; what is there is moved aside first, never
    /// destroyed.
    pub start_over: bool,
    /// Continue even where the file does not match the task any more.
    pub anyway: bool,
    /// Runs at the same time; none means as the workspace file says.
    pub concurrency: Option<u32>,
    /// Dollars after which the launch stops.
    pub max_cost: Option<f64>,
    /// Only one part of it, for several machines.
    pub shard: Option<Shard>,
    /// How runs look for an answer, `CoT@1` or `DFS_woFilter_w2`; none means as the workspace file
    /// says.
    pub method: Option<String>,
    /// How deep a way of such a search may be.
    pub steps: Option<u32>,
    /// Replies of one such search.
    pub queries: Option<u32>,
    /// Which functions of virtual APIs are offered: `all`, `query`, `top-20`; none means as the
    /// workspace file says.
    pub offer: Option<String>,
}

/// The runs of a task or of one of its variations, by one system with one model.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
#[serde(deny_unknown_fields)]
pub struct LaunchCell {
    /// Id of the task.
    pub task: String,
    /// Variation, from 0; none means all.
    pub variation: Option<u32>,
    /// System.
    pub system: String,
    /// Model.
    pub model: String,
}

/// One part of many.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct Shard {
    /// Which, from 1.
    pub index: u32,
    /// Of how many.
    pub count: u32,
}

/// What a request comes to. Nothing was sent yet.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct LaunchPlan {
    /// What would be done, in order; the first thousand.
    pub owed: Vec<PlannedRun>,
    /// How many there are.
    pub owed_total: u64,
    /// What would not, and why; the first thousand.
    pub skipped: Vec<PlannedRun>,
    /// How many there are.
    pub skipped_total: u64,
    /// What it will probably take.
    pub estimate: Estimate,
    /// A sentence when the budget binds nothing of some of it, because no price is known.
    pub unbound: Option<String>,
    /// Why some of `owed` cannot start here: keys and settings that are missing. One for each
    /// cause; a run may be counted in several.
    pub blocked: Vec<Blocked>,
    /// How many runs of `owed` cannot start here.
    pub blocked_total: u64,
    /// What one should know before running it, as sentences.
    pub notes: Vec<String>,
    /// A sentence when a price of what is asked is not known: the estimate names no dollars then.
    pub unpriced: Option<String>,
    /// What is wrong with the workspace file and with the suites of these runs, worst first.
    pub problems: Vec<Problem>,
    /// Why nothing can be begun as the workspace file and the suites are written: the first thing
    /// that is wrong, with its line.
    pub invalid: Option<Trouble>,
}

/// Why runs cannot start here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct Blocked {
    /// The cause: `OPENAI_API_KEY is not set`.
    pub why: String,
    /// How to mend it.
    pub fix: Option<String>,
    /// How many runs it keeps from starting.
    pub runs: u64,
}

/// One run of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct PlannedRun {
    /// Its output file, relative to the output directory.
    pub path: String,
    /// Its id in the list of runs, whether it is there already or not.
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
    /// What would be done.
    pub act: Act,
    /// Why, as a sentence.
    pub why: String,
    /// When it is refused because the file does not match the task: what differs, as text to show.
    /// Starting over or continuing anyway are the choices.
    pub differs: Option<String>,
}

/// What is done about a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "snake_case")]
pub enum Act {
    /// Run from the start; there is no file yet.
    Start,
    /// The old file is moved aside, then run from the start.
    StartOver,
    /// Go on from where the file ends: drop an error, answer a message, run open calls, or ask the
    /// model again.
    Continue,
    /// Nothing: it is complete.
    Nothing,
    /// Nothing: the file cannot be read.
    Damaged,
    /// Nothing: another process is at it.
    Elsewhere,
    /// Nothing: the file does not match the task, or the system cannot run it.
    Refused,
}

/// What a launch will probably take, from past runs of the same task.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct Estimate {
    /// Owed runs that past runs say something about.
    pub known: u64,
    /// Requests to models, for those.
    pub calls: Option<u64>,
    /// Tokens, for those.
    pub tokens: Option<u64>,
    /// Dollars, for those; none when a price is not known, or a past run does not say.
    pub cost: Option<f64>,
}

/// How a launch stands.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct LaunchView {
    /// Its id.
    pub id: String,
    /// When it began, in milliseconds since 1970.
    pub began_ms: i64,
    /// When it ended.
    pub ended_ms: Option<i64>,
    /// How it stands.
    pub state: LaunchState,
    /// Why it stops or stopped early, as a sentence.
    pub why: Option<String>,
    /// How many runs there are.
    pub total: u64,
    /// Not begun yet.
    pub waiting: u64,
    /// At work.
    pub running: u64,
    /// Ended, with or without an answer.
    pub done: u64,
    /// Ended in an error.
    pub failed: u64,
    /// Had or made by another process.
    pub elsewhere: u64,
    /// Stopped; can be continued.
    pub stopped: u64,
    /// Tokens so far; none while no reply has said.
    pub tokens: Option<u64>,
    /// Dollars so far, of the replies whose price is known.
    pub cost: f64,
    /// Replies whose price is not known.
    pub unpriced: u64,
    /// Dollars after which it stops.
    pub max_cost: Option<f64>,
    /// What one should know besides, as sentences: keys that were refused, runs that are left out,
    /// what is amiss with virtual APIs.
    pub notes: Vec<String>,
    /// How many more of them are in the log alone.
    pub more_notes: u64,
    /// A window of its runs: those at work first, then failed, waiting, done.
    pub runs: Vec<LaunchRun>,
}

/// How a launch stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "snake_case")]
pub enum LaunchState {
    /// At work.
    Running,
    /// Takes on nothing new; what is in flight is finished and saved.
    Stopping,
    /// Over, and something was left undone.
    Stopped,
    /// Over.
    Done,
}

/// One run of a launch.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct LaunchRun {
    /// Its id in the list of runs.
    pub run: String,
    /// Its output file, relative to the output directory.
    pub path: String,
    /// How it stands.
    pub state: LaunchRunState,
    /// Assistant turn it is at, from 1; 0 before the first.
    pub turn: u32,
    /// What it does now or why it ended, in a few words: `asking o1`, `query_support_tickets`,
    /// `waits 4 s: too many requests`.
    pub doing: Option<String>,
    /// Tokens so far; none while no reply has said.
    pub tokens: Option<u64>,
    /// Dollars so far; none when a price is not known.
    pub cost: Option<f64>,
    /// Seconds so far.
    pub seconds: f64,
}

/// How a run of a launch stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "snake_case")]
pub enum LaunchRunState {
    /// Not begun yet.
    Waiting,
    /// At work.
    Running,
    /// Ended with an answer.
    Answered,
    /// Ended without one.
    NoAnswer,
    /// Ended in an error.
    Error,
    /// Stopped; can be continued.
    Stopped,
    /// Another process has it.
    Elsewhere,
}

/// A launch that has begun.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct Launched {
    /// Its id.
    pub launch: String,
    /// The run that was asked for, when it was one: its id in the list.
    pub run: Option<String>,
}

/// A copy of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct Copied {
    /// Its id in the list of runs.
    pub run: String,
    /// The launch that goes on with it; none when it only was copied.
    pub launch: Option<String>,
}

/// A key that models need, and whether it is set. The key itself never leaves the engine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct KeyState {
    /// Name of the environment variable and of the keyring entry: `ANTHROPIC_API_KEY`.
    pub name: String,
    /// Models and systems that use it.
    pub used_by: Vec<String>,
    /// Where it comes from.
    pub source: KeySource,
    /// True when the keyring of this machine can be used to store it.
    pub can_store: bool,
    /// Why it is not known whether it is set, or why what is set is no key, as a sentence; none
    /// when it is set and when it is not.
    pub wrong: Option<String>,
}

/// Where a key comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "snake_case")]
pub enum KeySource {
    /// It is not set.
    None,
    /// The environment, which goes before the keyring.
    Environment,
    /// The keyring of the system.
    Keyring,
}
