//! **Pure.** Judging runs by model: options, plans, progress and judgements.
use super::launch::{Blocker, Choice, LaunchState};
use serde::{Deserialize, Serialize};

/// Options for judging runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct JudgeOptions {
    /// Groups of judges in display order; only groups that have judges.
    pub groups: Vec<JudgeGroup>,
    /// Available judges.
    pub judges: Vec<JudgeChoice>,
    /// Models, each with the reason if it cannot be used.
    pub models: Vec<Choice>,
    /// Reason that judging is impossible here.
    pub why_not: Option<Blocker>,
}

/// A group of judges.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct JudgeGroup {
    /// Name for display.
    pub name: String,
    /// Description of the judges' questions, as a sentence.
    pub what: String,
}

/// A judge that can be selected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct JudgeChoice {
    /// Name in suites: `sopr`.
    pub name: String,
    /// Subject of the judge.
    pub what: String,
    /// Version of its prompt.
    pub version: u32,
    /// Default number of rounds.
    pub rounds: u32,
    /// True if it compares each run with another run of the same task, variation and repeat.
    pub pairs: bool,
    /// True if the rules of the published scripts lead to different verdicts than this program's
    /// rules.
    pub official: bool,
    /// Group of the judge.
    pub group: String,
    /// True for a safety evaluator: a local judge, not the hosted service.
    pub safety: bool,
    /// Description of its scale: `1–5`, `solved, unsure or unsolved`.
    pub scale: String,
    /// Requirements for a run, in words; empty if every ended run meets them.
    pub needs: String,
    /// Pass threshold on the judge's own scale: `from 3 of 5`, `up to 3 of 7`; none if its scale
    /// has only words.
    pub threshold: Option<String>,
    /// Model that the suites of the folder name for it; none if they name none, or different ones.
    pub suite_model: Option<String>,
    /// Rounds that the suites name for it, under the same condition.
    pub suite_rounds: Option<u32>,
    /// Pass threshold that the suites name for it, under the same condition.
    pub suite_threshold: Option<String>,
}

/// Options of a judging job.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
#[serde(deny_unknown_fields)]
pub struct JudgeRequest {
    /// Name of the judge.
    pub judge: String,
    /// Name of the model in the workspace; if empty, the model that the suites of the runs name.
    pub model: String,
    /// Rounds per run; if none is given, those of the runs' suites, else the judge's default.
    pub rounds: Option<u32>,
    /// True to apply the rules of the published scripts.
    pub official: bool,
    /// Ids of runs; if empty, the runs that match `filter`.
    pub runs: Vec<String>,
    /// Filter with the syntax of lists; all runs if empty.
    pub filter: String,
    /// Filter of the runs to compare with; empty for judges of single runs.
    pub reference: String,
    /// True to judge runs again that have a judgement.
    pub again: bool,
    /// Spend limit in dollars.
    pub max_cost: Option<f64>,
}

/// Plan of a judging job. No request has been sent.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct JudgePlan {
    /// Model to use.
    pub model: String,
    /// Rounds per run.
    pub rounds: u32,
    /// Number of runs that need requests.
    pub runs: u64,
    /// Number of runs without an answer, which are unsolved without a request.
    pub unasked: u64,
    /// Number of runs already judged with these options.
    pub complete: u64,
    /// Runs that cannot be judged, with reasons; the first few.
    pub skipped: Vec<JudgeSkip>,
    /// Number of all runs that cannot be judged.
    pub skipped_total: u64,
    /// Number of forks and runs continued by a person that match the filter and are excluded
    /// because the filter does not name them.
    pub forks_left_out: u64,
    /// Minimum number of requests, if no follow-up question is needed.
    pub calls_least: u64,
    /// Maximum number of requests, if every question has to be sent.
    pub calls_most: u64,
    /// Approximate number of tokens for `calls_least`.
    pub tokens_least: u64,
    /// Approximate number of tokens for `calls_most`.
    pub tokens_most: u64,
    /// Cost in dollars for `calls_least`; none if the price is unknown.
    pub cost_least: Option<f64>,
    /// Cost in dollars for `calls_most`; none if the price is unknown.
    pub cost_most: Option<f64>,
    /// Warning that the spend limit has no effect because no price is known.
    pub unbound: Option<String>,
}

/// A run that was not or will not be judged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct JudgeSkip {
    /// Run id.
    pub run: String,
    /// File of the run.
    pub path: String,
    /// Reason, as a sentence.
    pub why: String,
}

/// A judging job that was started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct Judging {
    /// Id of the job.
    pub judging: String,
}

/// State of a judging job.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct JudgingView {
    /// Id of the job.
    pub id: String,
    /// The judge.
    pub judge: String,
    /// The model.
    pub model: String,
    /// Start time, in milliseconds since 1970.
    pub began_ms: i64,
    /// State of the job.
    pub state: LaunchState,
    /// Reason for stopping early, as a sentence.
    pub why: Option<String>,
    /// Number of all runs.
    pub total: u64,
    /// Number of runs with a verdict, from earlier jobs or this one.
    pub done: u64,
    /// Number of these runs whose replies could not be parsed.
    pub unread: u64,
    /// Number of runs that failed.
    pub failed: u64,
    /// Number of runs that were not judged because of their state.
    pub skipped: u64,
    /// Number of requests of this job that got a reply and were paid for.
    pub calls: u64,
    /// Tokens of these requests.
    pub tokens: u64,
    /// Cost of these requests in dollars.
    pub cost: f64,
    /// True if the price of some replies is unknown.
    pub unpriced: bool,
    /// Spend limit in dollars.
    pub max_cost: Option<f64>,
    /// Runs that failed or were skipped, with reasons; the first few.
    pub troubles: Vec<JudgeSkip>,
    /// Results until now; none before the first verdict.
    pub rates: Option<JudgeRates>,
}

/// Results of judging, as means of rounds over runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct JudgeRates {
    /// Number of runs with a verdict.
    pub runs: u64,
    /// Number of these runs without an answer.
    pub without_answer: u64,
    /// Mean over the rounds, across all runs.
    pub mean: f64,
    /// Spread between the rounds.
    pub spread: f64,
    /// Mean across the runs with an answer; none if there are none.
    pub mean_of_answered: Option<f64>,
    /// For pairs, shares of wins, losses and ties, by the majority of rounds.
    pub pairs: Option<JudgeShares>,
    /// Mean on the judge's own scale; none if the scale has only words.
    pub own: Option<JudgeMean>,
    /// Number of passes; none for pairs.
    pub passed: Option<JudgePasses>,
}

/// A mean on the judge's own scale.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct JudgeMean {
    /// The mean.
    pub mean: f64,
    /// 95 % confidence interval, lower bound first; none while the job is running, and if it is
    /// undefined.
    pub interval: Option<(f64, f64)>,
    /// Mean with the maximum of the scale: `3.8 of 5`.
    pub told: String,
}

/// Number of runs that pass.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct JudgePasses {
    /// Number of runs that pass.
    pub passed: u64,
    /// Number of runs considered.
    pub runs: u64,
    /// 95 % confidence interval of the share; none without runs.
    pub interval: Option<(f64, f64)>,
}

/// Shares of the outcomes of pairs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct JudgeShares {
    /// Share that won more rounds.
    pub win: f64,
    /// Share that lost more rounds.
    pub lose: f64,
    /// Share that won and lost equally many.
    pub tie: f64,
}

/// A judgement of a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct Judged {
    /// The judge.
    pub judge: String,
    /// Version of the judge's prompt at that time.
    pub version: u32,
    /// The model.
    pub model: String,
    /// True if the rules of the published scripts were applied.
    pub official: bool,
    /// Path of the run compared with.
    pub against: Option<String>,
    /// Reason that the judgement is outdated; none if it is current.
    pub stale: Option<String>,
    /// Number of rounds requested.
    pub wanted: u32,
    /// Mean over the rounds.
    pub score: Option<f64>,
    /// Spread between the rounds.
    pub spread: Option<f64>,
    /// Mean on the judge's own scale: `3.7 of 5`; none if the scale has only words.
    pub told: Option<String>,
    /// Spread between the rounds on that scale.
    pub own_spread: Option<f64>,
    /// Pass threshold: `from 3 of 5`, `up to 3 of 7`; none if a majority of votes decides.
    pub threshold: Option<String>,
    /// Pass threshold as a score from 0 to 1.
    #[serde(skip)]
    pub least: Option<f64>,
    /// True if the threshold comes from the suite.
    pub of_suite: bool,
    /// True if the run passes.
    pub passed: Option<bool>,
    /// Rounds of the judgement.
    pub rounds: Vec<JudgedRound>,
}

/// One round of a judgement.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct JudgedRound {
    /// Verdict in one word; none if the reply could not be parsed.
    pub verdict: Option<String>,
    /// Verdict on the judge's own scale: `4 of 5`, `solved`, `not read`.
    pub told: String,
    /// Score from 0 to 1.
    pub score: Option<f64>,
    /// Reason for the verdict.
    pub reason: String,
    /// Replies, unchanged; none if no request was made.
    pub replies: Vec<String>,
    /// Model that replied, under the provider's name.
    pub model_id: Option<String>,
    /// Time, as written in the file.
    pub at: Option<String>,
    /// Order in which the two runs of a pair were shown.
    pub order: Option<String>,
}
