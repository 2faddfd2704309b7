//! **Pure.** The failure map: why runs fail, as clusters of runs with the same cause.
use super::list::{FilterError, LeftOut};
use super::score::Verdict;
use serde::{Deserialize, Serialize};

/// Runs whose failures are asked for.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct FailuresRequest {
    /// Filter of the runs, with the syntax of the list.
    pub filter: String,
    /// Scorer that says which runs failed; the first scorer of each task if none is given.
    pub scorer: Option<String>,
}

/// Why runs fail. While transcripts are still being read, it covers those that were read.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct FailureMap {
    /// Generation of the index that was queried.
    pub generation: u64,
    /// Whether transcripts are still being read.
    pub state: FailuresState,
    /// Number of failed runs whose transcripts were read. Clusters and shares cover only these.
    pub read: u64,
    /// Number of failed and partly right runs.
    pub failed: u64,
    /// Number of failed runs that ended in an error.
    pub errors: u64,
    /// Number of matching runs with a result.
    pub runs: u64,
    /// Number of matching runs without a result, which no other number here includes: not ended,
    /// damaged, or without a score.
    pub undecided: u64,
    /// Number of failed runs whose transcripts could not be read.
    pub unreadable: u64,
    /// Matching runs that no other number here includes.
    #[serde(flatten)]
    pub left_out_runs: LeftOut,
    /// Number of passing runs that a person reviewed as wrong or partly right. Scores decide what
    /// failed; reviews are shown beside them.
    pub passed_but_reviewed_wrong: u64,
    /// Scorers that the request can name.
    pub scorers: Vec<String>,
    /// Systems and models.
    pub groups: Vec<FailureGroup>,
    /// Kinds of causes, the most frequent first. Each failed run that was read is counted under
    /// exactly one, that of its main cause.
    pub kinds: Vec<FailureKind>,
    /// Clusters, the most frequent main cause first. Each failed run has exactly one main cause.
    pub clusters: Vec<FailureCluster>,
    /// Number of further clusters, which are rare and left out.
    pub clusters_left_out: u64,
    /// Naming of causes by a model, if one is going on or ended since the folder was opened.
    pub naming: Option<NamingView>,
    /// Tokens of the filter that could not be parsed.
    pub misread: Vec<FilterError>,
}

/// Request to have a model name the causes of failures.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct NameCausesRequest {
    /// Runs whose failures are meant.
    pub failures: FailuresRequest,
    /// Model.
    pub model: String,
    /// Dollars after which nothing more is asked; that of the workspace file if none is given.
    pub max_cost: Option<f64>,
}

/// What naming the causes would take.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct NameCausesPlan {
    /// Number of causes without a name by the model: one request each.
    pub requests: u64,
    /// Number of causes that it named before.
    pub named: u64,
    /// Estimated input and output tokens.
    pub tokens: u64,
    /// Estimated cost in dollars; none if the model has no price.
    pub cost: Option<f64>,
    /// The first question, as it would be sent.
    pub example: Option<String>,
    /// Warning that the spend limit has no effect.
    pub unbound: Option<String>,
}

/// Progress of naming.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct NamingView {
    /// True until it ends.
    pub is_running: bool,
    /// Number of causes that were named.
    pub done: u64,
    /// Number of causes for which the model gave no name.
    pub without: u64,
    /// Number of causes to name.
    pub all: u64,
    /// Number of requests that were paid for now.
    pub requests: u64,
    /// Their cost in dollars; none if a price is unknown.
    pub cost: Option<f64>,
    /// Why it ended before all were named, as a sentence.
    pub why: Option<String>,
}

/// Name that a model gave a cause.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct CauseName {
    /// Name.
    pub name: String,
    /// Model.
    pub model: String,
}

/// State of reading the transcripts of failed runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "snake_case")]
pub enum FailuresState {
    /// Transcripts are being read.
    Running,
    /// Stopped before all were read.
    Stopped,
    /// All are read.
    Done,
}

/// A system with a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct FailureGroup {
    /// `system/model`.
    pub name: String,
    /// Number of failed and partly right runs.
    pub failed: u64,
    /// Number of these whose transcripts were read.
    pub read: u64,
    /// Number of all runs.
    pub runs: u64,
}

/// Runs that failed for causes of one kind, such as wrong values.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct FailureKind {
    /// Kind, such as `wrong_values`.
    pub kind: &'static str,
    /// Short title.
    pub title: &'static str,
    /// True for errors of the provider or the system, which say nothing about an answer.
    pub is_error: bool,
    /// Number of causes of this kind that are the main cause of a run; clusters that are left out
    /// are included.
    pub causes: u64,
    /// Number of runs whose main cause is of this kind.
    pub runs: u64,
    /// Number of runs in which causes of this kind occur only beside a main cause of another kind.
    pub also: u64,
    /// Share of each system in which a main cause is of this kind.
    pub shares: Vec<FailureShare>,
}

/// Runs that failed for the same cause.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct FailureCluster {
    /// Kind of the cause, as in the list of kinds.
    pub kind: &'static str,
    /// Failure mode, such as `tool_failed`.
    pub mode: &'static str,
    /// Tool, field or scorer that it is about; empty for other modes.
    pub subject: String,
    /// Template of the error, or way in which the field is wrong; empty for other modes.
    pub detail: String,
    /// Short sentence that names the cause.
    pub title: String,
    /// True for errors of the provider or the system, which say nothing about an answer.
    pub is_error: bool,
    /// Number of runs whose main cause it is.
    pub runs: u64,
    /// Number of runs in which it occurs as a second cause.
    pub also: u64,
    /// Share of each system in which it is a main cause.
    pub shares: Vec<FailureShare>,
    /// Some of these runs, with evidence; those whose main cause it is come first.
    pub examples: Vec<FailureExample>,
    /// Name that a model gave it, beside the title.
    pub named: Option<CauseName>,
}

/// Share of the runs of a system that failed for a cause.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct FailureShare {
    /// Index of the system in the list of groups.
    pub group: usize,
    /// Number of its runs that failed for this cause.
    pub runs: u64,
    /// Number of its failed and partly right runs.
    pub failed: u64,
    /// Number of all its runs.
    pub all: u64,
    /// Lower end of the 95 % interval of the share of all runs; none while transcripts of failed runs
    /// of the system are not read.
    pub low: Option<f64>,
    /// Upper end of that interval.
    pub high: Option<f64>,
}

/// A run that failed for a cause, with evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct FailureExample {
    /// Id of the run.
    pub id: String,
    /// Its file, relative to the output directory.
    pub path: String,
    /// Index of its system in the list of groups.
    pub group: usize,
    /// Task.
    pub task: Option<String>,
    /// Name or number of the variation.
    pub variation: Option<String>,
    /// True if this is the main cause of the run.
    pub is_main: bool,
    /// Step that shows the cause, from 0.
    pub step: Option<u32>,
    /// Quotation that shows it; empty if there is nothing to quote, or if those of many other runs
    /// are kept.
    pub quote: String,
    /// What a person said of the run, if anyone did.
    pub review: Option<FailureReview>,
    /// Step at which the run leaves the passing runs of its task for good.
    pub decisive: Option<FailureStep>,
}

/// What a person said of a failed run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct FailureReview {
    /// Verdict.
    pub verdict: Verdict,
    /// Start of the note; empty without one.
    pub note: String,
    /// True if it contradicts the score: the run failed, and a person says that it is right.
    pub disagrees: bool,
}

/// Relation of a passing run to the failed run that it is compared with, the nearest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "snake_case")]
pub enum PassingRunOf {
    /// Both are of the same system with the same model.
    SameSystemAndModel,
    /// Both are of the same system, with different models; no run with the same one passed.
    SameSystem,
    /// They are of different systems; no run of the same one passed.
    OtherSystem,
}

/// Cause of a failed run.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct RunCause {
    /// Name of the failure mode.
    pub mode: &'static str,
    /// Tool, field or error that the cause is about.
    pub subject: String,
    /// Kind of the cause, as in the failure map.
    pub detail: String,
    /// Cause as a sentence.
    pub title: String,
    /// Step that shows it, from 0, if one does.
    pub step: Option<u32>,
    /// What the run says there; empty if there is nothing to quote.
    pub quote: String,
    /// Step at which the run leaves the passing runs of its task for good.
    pub decisive: Option<FailureStep>,
}

/// Step at which a failed run leaves the passing runs of its task for good.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct FailureStep {
    /// Step of the failed run, from 0.
    pub step: u32,
    /// Id of the passing run that it follows the longest.
    pub baseline: String,
    /// File of that run, relative to the output directory.
    pub baseline_path: String,
    /// System and model of that run, as `system/model`.
    pub baseline_name: String,
    /// Relation of that run to the failed one.
    pub baseline_of: PassingRunOf,
    /// Step of that run in its place, from 0, if there is one.
    pub instead: Option<u32>,
}
