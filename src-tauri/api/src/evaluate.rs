//! **Pure.** Evaluating a data file, a row at a time, by several evaluators: what there is to
//! choose from, what it will take, how it stands, and what it came to.
use super::launch::{Choice, LaunchState, Trouble};
use serde::{Deserialize, Serialize};

/// What data files can be evaluated with.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct EvaluateOptions {
    /// Evaluators.
    pub evaluators: Vec<EvaluatorChoice>,
    /// Models that can be asked, and why some cannot.
    pub models: Vec<Choice>,
    /// Switches for ways of the package that are mistakes.
    pub switches: Vec<EvaluateSwitch>,
    /// Data files of the open folder.
    pub files: Vec<DataFile>,
    /// Why there may be data files that are not listed, and what to do about it; none when all are.
    pub unlisted: Option<String>,
    /// Where results are written, as it is shown; none where nothing can be written.
    pub folder: Option<String>,
    /// Why nothing can be evaluated here.
    pub why_not: Option<Trouble>,
}

/// A kind of evaluator.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct EvaluatorChoice {
    /// As it is written: `task_adherence`.
    pub name: String,
    /// What it says.
    pub what: String,
    /// Inputs that it needs.
    pub needs: Vec<String>,
    /// Inputs that it may have.
    pub may_have: Vec<String>,
    /// A model is asked.
    pub model: bool,
    /// It runs a program, and so needs the sandbox.
    pub program: bool,
    /// A safety evaluator: a local judge, not the hosted service.
    pub safety: bool,
    /// The score from which on it passes unless somebody says otherwise; none where there is no
    /// such score.
    pub threshold: Option<f64>,
}

/// A way of the package that is a mistake, and what is done instead.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct EvaluateSwitch {
    /// Its name.
    pub name: String,
    /// What the package does.
    pub theirs: String,
    /// What we do.
    pub ours: String,
}

/// A file of rows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct DataFile {
    /// By which it is asked for.
    pub id: String,
    /// As it is shown.
    pub path: String,
    /// Bytes.
    pub size: u64,
}

/// Rows that were made of the runs of the open folder.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct RowsMade {
    /// The data file with them.
    pub file: DataFile,
    /// Rows.
    pub rows: u64,
    /// What was left out of them, as sentences.
    pub notes: Vec<String>,
}

/// What a data file holds.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct DataLook {
    /// The file.
    pub file: DataFile,
    /// Rows.
    pub rows: u64,
    /// Names of columns, in their order.
    pub columns: Vec<String>,
    /// The first few rows: a short text for each column; none where the row has nothing there.
    pub sample: Vec<Vec<Option<String>>>,
    /// Rows that cannot be read, the first few, as sentences.
    pub wrong: Vec<String>,
}

/// One evaluator of a request.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
#[serde(deny_unknown_fields)]
pub struct EvaluatorRequest {
    /// Its kind.
    pub kind: String,
    /// Its name in results; empty is its kind.
    pub name: String,
    /// The score from which on it passes; none is the usual one.
    pub threshold: Option<f64>,
    /// Where its inputs come from: `[input, "${data.column}"]`; empty takes columns of the same
    /// name.
    pub mapping: Vec<(String, String)>,
    /// Further options, as JSON: `{"rouge_type": "rougeL"}`; empty is none.
    pub options: String,
}

/// What of that which was paid for before is asked once more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "snake_case")]
pub enum EvaluateAgain {
    /// Nothing.
    #[default]
    Nothing,
    /// What could not be read.
    Unread,
    /// All of it, of the target as well.
    All,
}

/// What is to be evaluated, by whom.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
#[serde(deny_unknown_fields)]
pub struct EvaluateRequest {
    /// The data file, by its id.
    pub data: String,
    /// Evaluators, in the order of the results.
    pub evaluators: Vec<EvaluatorRequest>,
    /// The model that judges, by its name in the workspace; empty where none is needed.
    pub model: String,
    /// How often a judge is asked about each row.
    pub rounds: Option<u32>,
    /// Switches that are on.
    pub switches: Vec<String>,
    /// The name of the file of results, without folder; empty makes one of the name of the data.
    pub out: String,
    /// Replaces a file of results that is there.
    pub replace: bool,
    /// Dollars at most.
    pub max_cost: Option<f64>,
    /// What is asked once more.
    pub again: EvaluateAgain,
}

/// What a request comes to. Nothing was sent.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct EvaluatePlan {
    /// Rows.
    pub rows: u64,
    /// Requests at least and at most.
    pub calls_least: u64,
    /// The same at most.
    pub calls_most: u64,
    /// Replies that are there from before and are not paid for again.
    pub kept: u64,
    /// Rounds of these in which nothing could be read.
    pub unread: u64,
    /// Rows that the target is asked about first.
    pub target: u64,
    /// What is asked of each of these rows then, as sentences.
    pub each: Vec<String>,
    /// Tokens at least, roughly; none before the target has said what they are about.
    pub tokens_least: Option<u64>,
    /// The same at most.
    pub tokens_most: Option<u64>,
    /// Dollars; none when nobody knows the price, or the tokens.
    pub cost_least: Option<f64>,
    /// The same at most.
    pub cost_most: Option<f64>,
    /// The file of results, as it is shown.
    pub out: String,
    /// There is such a file already.
    pub exists: bool,
    /// What rows lack for their evaluators, and what is mapped and passed over, as sentences:
    /// `"relevance: 3 of 8 rows have no query."`.
    pub lacks: Vec<String>,
    /// That the workspace file has a budget that binds nothing, because nobody knows a price, as a
    /// sentence.
    pub unbound: Option<String>,
    /// Why it would not be begun, though everything is chosen; none when it would.
    pub why_not: Option<Trouble>,
}

/// What was begun and has no whole results: it can be gone on with, and what was paid for is not
/// paid for again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct EvaluateUnfinished {
    /// The data file, as it was shown.
    pub data: String,
    /// The file of results, as it is shown.
    pub out: String,
    /// When it began, in milliseconds since 1970.
    pub began_ms: i64,
    /// What was asked for.
    pub request: EvaluateRequest,
}

/// What was begun.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct Evaluating {
    /// Its id.
    pub evaluation: String,
}

/// How an evaluation stands.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct EvaluationView {
    /// Its id.
    pub id: String,
    /// The data file, as it is shown.
    pub data: String,
    /// The model; none when none was asked.
    pub model: Option<String>,
    /// When it began, in milliseconds since 1970.
    pub began_ms: i64,
    /// How it stands.
    pub state: LaunchState,
    /// Why it stops or stopped early, as a sentence.
    pub why: Option<String>,
    /// What whoever began it should know, as sentences: what is mapped and passed over.
    pub notes: Vec<String>,
    /// Rows times evaluators.
    pub total: u64,
    /// Of these, how many have a result.
    pub done: u64,
    /// Of these, how many have none: their columns are empty, and they count in no mean.
    pub failed: u64,
    /// Of these, how many because nobody answered: begun again, they are asked about and nothing
    /// else.
    pub missing: u64,
    /// Replies of models that could not be read.
    pub unread: u64,
    /// Requests that brought a reply and were paid for now.
    pub calls: u64,
    /// Tokens of these.
    pub tokens: u64,
    /// Dollars of these.
    pub cost: f64,
    /// Some replies have no known price.
    pub unpriced: bool,
    /// Dollars at most.
    pub max_cost: Option<f64>,
    /// What failed, with the reason; the first few, in the order of the rows.
    pub troubles: Vec<EvaluateTrouble>,
    /// The file of results, as it is shown; none before it is written.
    pub file: Option<String>,
    /// The filter that shows its rows in the list of runs; none when it lies outside of the folder
    /// that is open.
    pub filter: Option<String>,
    /// What it came to, once it is over.
    pub metrics: Vec<EvaluateMetric>,
}

/// A row that has no result of an evaluator.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct EvaluateTrouble {
    /// Its number, from 1.
    pub row: u64,
    /// The evaluator.
    pub evaluator: String,
    /// Why, as a sentence.
    pub why: String,
    /// The run that the row is, once the file of results is written among the results of the folder
    /// that is open.
    pub run: Option<String>,
}

/// A number over all rows, with the rows it counts.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct EvaluateMetric {
    /// Its name in the file: `relevance.binary_aggregate`.
    pub name: String,
    /// None when it is no number.
    pub value: Option<f64>,
    /// Lower and upper end of the interval of 95 %; none where there is none.
    pub interval: Option<(f64, f64)>,
    /// Rows that it counts.
    pub n: u64,
    /// Rows that it leaves out because they have no such result.
    pub left_out: u64,
}
