//! **Pure.** Evaluating a data file row by row with several evaluators: options, plans, progress
//! and results.
use super::launch::{Blocker, Choice, LaunchState};
use serde::{Deserialize, Serialize};

/// Options for evaluating data files.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct EvaluateOptions {
    /// Available evaluators.
    pub evaluators: Vec<EvaluatorChoice>,
    /// Models, each with the reason if it cannot be used.
    pub models: Vec<Choice>,
    /// Switches that restore mistakes of the azure-ai-evaluation package.
    pub switches: Vec<EvaluateSwitch>,
    /// Data files of the open folder.
    pub files: Vec<DataFile>,
    /// Reason that the list of data files may be incomplete, with advice; none if it is complete.
    pub unlisted: Option<String>,
    /// Folder of the results, for display; none if results cannot be written.
    pub folder: Option<String>,
    /// Reason that evaluating is impossible here.
    pub why_not: Option<Blocker>,
}

/// A kind of evaluator that can be selected.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct EvaluatorChoice {
    /// Name as written in requests: `task_adherence`.
    pub name: String,
    /// Description of its results.
    pub what: String,
    /// Required inputs.
    pub needs: Vec<String>,
    /// Optional inputs.
    pub may_have: Vec<String>,
    /// True if it sends requests to a model.
    pub model: bool,
    /// True if it runs a program, which requires the sandbox.
    pub program: bool,
    /// True for a safety evaluator: a local judge, not the hosted service.
    pub safety: bool,
    /// Default pass threshold; none if it has no such score.
    pub threshold: Option<f64>,
}

/// A mistake of the azure-ai-evaluation package, and this program's behaviour in its place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct EvaluateSwitch {
    /// Name of the switch.
    pub name: String,
    /// Behaviour of the package.
    pub theirs: String,
    /// Behaviour of this program.
    pub ours: String,
}

/// A file of rows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct DataFile {
    /// Id for requests.
    pub id: String,
    /// Path for display.
    pub path: String,
    /// Size in bytes.
    pub size: u64,
}

/// A data file made from runs of the open folder.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct RowsMade {
    /// The data file.
    pub file: DataFile,
    /// Number of rows.
    pub rows: u64,
    /// Sentences about data that was left out.
    pub notes: Vec<String>,
}

/// Preview of a data file.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct DataLook {
    /// The data file.
    pub file: DataFile,
    /// Number of rows.
    pub rows: u64,
    /// Names of the columns, in order.
    pub columns: Vec<String>,
    /// The first few rows, with a short text for each column; none where the row has no value.
    pub sample: Vec<Vec<Option<String>>>,
    /// Sentences about rows that cannot be parsed; the first few.
    pub wrong: Vec<String>,
}

/// An evaluator of a request, with its options.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
#[serde(deny_unknown_fields)]
pub struct EvaluatorRequest {
    /// Kind of evaluator.
    pub kind: String,
    /// Name in the results; the kind if empty.
    pub name: String,
    /// Pass threshold; the default if none is given.
    pub threshold: Option<f64>,
    /// Sources of inputs: `[input, "${data.column}"]`. Inputs without an entry come from the
    /// columns with the same name.
    pub mapping: Vec<(String, String)>,
    /// Further options, as JSON: `{"rouge_type": "rougeL"}`; none if empty.
    pub options: String,
}

/// Selection of earlier replies to request again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "snake_case")]
pub enum EvaluateAgain {
    /// No replies.
    #[default]
    Nothing,
    /// Replies that could not be parsed.
    Unread,
    /// All replies, including those of the target.
    All,
}

/// Options of an evaluation.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
#[serde(deny_unknown_fields)]
pub struct EvaluateRequest {
    /// Id of the data file.
    pub data: String,
    /// Evaluators, in the order of the results.
    pub evaluators: Vec<EvaluatorRequest>,
    /// Name of the judging model in the workspace; empty if none is needed.
    pub model: String,
    /// Rounds per row for judges.
    pub rounds: Option<u32>,
    /// Names of the active switches.
    pub switches: Vec<String>,
    /// Name of the result file, without folder; if empty, it is derived from the name of the data
    /// file.
    pub out: String,
    /// True to replace an existing result file.
    pub replace: bool,
    /// Spend limit in dollars.
    pub max_cost: Option<f64>,
    /// Replies to request again.
    pub again: EvaluateAgain,
}

/// Plan of an evaluation. No request has been sent.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct EvaluatePlan {
    /// Number of rows.
    pub rows: u64,
    /// Minimum number of requests.
    pub calls_least: u64,
    /// Maximum number of requests.
    pub calls_most: u64,
    /// Number of replies from before that are reused without cost.
    pub kept: u64,
    /// Number of rounds among these in which no reply could be parsed.
    pub unread: u64,
    /// Number of rows for which the target is called first.
    pub target: u64,
    /// Sentences about the requests for each of these rows after the call of the target.
    pub each: Vec<String>,
    /// Approximate minimum number of tokens; none if it depends on output of the target that does
    /// not exist yet.
    pub tokens_least: Option<u64>,
    /// Approximate maximum number of tokens, under the same condition.
    pub tokens_most: Option<u64>,
    /// Minimum cost in dollars; none if the price or the number of tokens is unknown.
    pub cost_least: Option<f64>,
    /// Maximum cost in dollars, under the same condition.
    pub cost_most: Option<f64>,
    /// Path of the result file, for display.
    pub out: String,
    /// True if the result file already exists.
    pub exists: bool,
    /// Sentences about missing inputs and ignored mappings: `"relevance: 3 of 8 rows have no
    /// query."`.
    pub lacks: Vec<String>,
    /// Sentences about inputs that are taken from another column than that of their name, in the
    /// same form.
    pub notes: Vec<String>,
    /// Warning that the spend limit in the workspace file has no effect because a price is unknown.
    pub unbound: Option<String>,
    /// Reason that this complete request cannot be started; none if it can.
    pub why_not: Option<Blocker>,
}

/// An evaluation that was started and has no complete results. It can be resumed without paying
/// again for replies already received.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct EvaluateUnfinished {
    /// Path of the data file at the start, for display.
    pub data: String,
    /// Path of the result file, for display.
    pub out: String,
    /// Start time, in milliseconds since 1970.
    pub began_ms: i64,
    /// The original request.
    pub request: EvaluateRequest,
}

/// An evaluation that was started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct Evaluating {
    /// Id of the evaluation.
    pub evaluation: String,
}

/// State of an evaluation.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct EvaluationView {
    /// Id of the evaluation.
    pub id: String,
    /// Path of the data file, for display.
    pub data: String,
    /// The model; none if none is used.
    pub model: Option<String>,
    /// Start time, in milliseconds since 1970.
    pub began_ms: i64,
    /// State of the evaluation.
    pub state: LaunchState,
    /// Reason for stopping early, as a sentence.
    pub why: Option<String>,
    /// Notes for the user as sentences, such as ignored mappings.
    pub notes: Vec<String>,
    /// Number of rows times number of evaluators.
    pub total: u64,
    /// Number of these with a result.
    pub done: u64,
    /// Number of these without a result: their columns are empty, and no mean includes them.
    pub failed: u64,
    /// Most frequent reason of these, as a sentence; none if every result is there.
    pub main_reason: Option<String>,
    /// Number of failures because no reply was received. When the evaluation is started again, only
    /// these are requested.
    pub missing: u64,
    /// Number of model replies that could not be parsed.
    pub unread: u64,
    /// Number of requests of this evaluation that got a reply and were paid for.
    pub calls: u64,
    /// Tokens of these requests.
    pub tokens: u64,
    /// Cost of these requests in dollars.
    pub cost: f64,
    /// True if the price of some replies is unknown.
    pub unpriced: bool,
    /// Spend limit in dollars.
    pub max_cost: Option<f64>,
    /// Failures with reasons; the first few, in row order.
    pub troubles: Vec<EvaluateTrouble>,
    /// Path of the result file, for display; none before it is written.
    pub file: Option<String>,
    /// Filter that shows its rows in the list of runs; none if the file lies outside the open
    /// folder.
    pub filter: Option<String>,
    /// Metrics over all rows, available at the end.
    pub metrics: Vec<EvaluateMetric>,
}

/// A page of the rows of an evaluation.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct EvaluatedRows {
    /// Number of all rows; 0 before the results are complete.
    pub total: u64,
    /// Names of the evaluators, in the order of the results of each row.
    pub evaluators: Vec<String>,
    /// What each evaluator said of all rows, in the same order.
    pub totals: Vec<EvaluatorTotal>,
    /// Rows from the requested offset on.
    pub rows: Vec<EvaluatedRow>,
}

/// What an evaluator said of all rows of a data file.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct EvaluatorTotal {
    /// Mean of the scores that are numbers; none without one.
    pub mean: Option<f64>,
    /// Number of rows with such a score.
    pub scored: u64,
    /// Number of rows that passed.
    pub passed: u64,
    /// Number of rows of which it says whether they passed.
    pub decided: u64,
}

/// A row of the data with what each evaluator said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct EvaluatedRow {
    /// Row number, from 1.
    pub row: u64,
    /// Run id of the row; none if the result file is not among the results of the open folder.
    pub run: Option<String>,
    /// The first columns of the data, each name with its value, cut off where it is long.
    pub inputs: Vec<(String, String)>,
    /// One entry per evaluator; none where it has no result.
    pub results: Vec<Option<EvaluatorResult>>,
}

/// What an evaluator said of a row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct EvaluatorResult {
    /// Score as it is in the file, or the word in its place.
    pub score: Option<String>,
    /// True if the row passed; none if the evaluator does not say.
    pub passed: Option<bool>,
    /// Reason, or the error of the evaluator, cut off where it is long.
    pub reason: Option<String>,
}

/// A row without a result of an evaluator.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct EvaluateTrouble {
    /// Row number, from 1.
    pub row: u64,
    /// Name of the evaluator.
    pub evaluator: String,
    /// Reason, as a sentence.
    pub why: String,
    /// Run id of the row, available once the result file is written among the results of the open
    /// folder.
    pub run: Option<String>,
}

/// A metric over all rows.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct EvaluateMetric {
    /// Name in the file: `relevance.binary_aggregate`.
    pub name: String,
    /// Value; none if it is not a number.
    pub value: Option<f64>,
    /// 95 % confidence interval, lower bound first, if there is one.
    pub interval: Option<(f64, f64)>,
    /// Number of rows included.
    pub n: u64,
    /// Number of rows excluded because they have no such result.
    pub left_out: u64,
}
