//! **Pure.** Judging runs by model: what there is to choose from, what it will take, how it stands,
//! and what was said.
use super::launch::{Choice, LaunchState, Trouble};
use serde::{Deserialize, Serialize};

/// What runs can be judged with.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct JudgeOptions {
    /// What judges belong to, in the order in which they are offered; only those with judges.
    pub groups: Vec<JudgeGroup>,
    /// Judges.
    pub judges: Vec<JudgeChoice>,
    /// Models that can be asked, and why some cannot.
    pub models: Vec<Choice>,
    /// Why nothing can be judged here.
    pub why_not: Option<Trouble>,
}

/// What judges belong to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct JudgeGroup {
    /// As it is shown.
    pub name: String,
    /// What they ask, as a sentence.
    pub what: String,
}

/// A judge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct JudgeChoice {
    /// As suites name it: `sopr`.
    pub name: String,
    /// What it judges.
    pub what: String,
    /// Version of its words.
    pub version: u32,
    /// Rounds unless somebody says otherwise.
    pub rounds: u32,
    /// It compares each run with another of the same task, variation and repeat.
    pub pairs: bool,
    /// The rules of the published scripts decide something else than ours.
    pub official: bool,
    /// What it belongs to.
    pub group: String,
    /// A safety evaluator: a local judge, not the hosted service.
    pub safety: bool,
    /// How it speaks: `1–5`, `solved, unsure or unsolved`.
    pub scale: String,
    /// What a run has to have, in words; empty when every ended run has it.
    pub needs: String,
    /// What it takes to pass, on its own scale: `from 3 of 5`, `up to 3 of 7`; none where it has
    /// words alone.
    pub threshold: Option<String>,
    /// The model that the suites of the folder name for it; none when they name none, or different
    /// ones.
    pub suite_model: Option<String>,
    /// The rounds that they want, likewise.
    pub suite_rounds: Option<u32>,
    /// What it takes to pass in them, likewise.
    pub suite_threshold: Option<String>,
}

/// What is to be judged, by whom.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
#[serde(deny_unknown_fields)]
pub struct JudgeRequest {
    /// The judge.
    pub judge: String,
    /// The model, by its name in the workspace; empty is the one that the suites of the runs name.
    pub model: String,
    /// How often each run is judged; none is what the suites of the runs want, else what the judge
    /// usually does.
    pub rounds: Option<u32>,
    /// By the rules of the published scripts.
    pub official: bool,
    /// Ids of runs; when there are none, those that pass the filter.
    pub runs: Vec<String>,
    /// As in lists; empty is all.
    pub filter: String,
    /// The runs to compare with, as a filter; empty for judges of single runs.
    pub reference: String,
    /// Also what was judged already.
    pub again: bool,
    /// Dollars at most.
    pub max_cost: Option<f64>,
}

/// What a request comes to. Nothing was sent.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct JudgePlan {
    /// The model that is asked.
    pub model: String,
    /// Rounds of each run.
    pub rounds: u32,
    /// Runs that are asked about.
    pub runs: u64,
    /// Runs without an answer: unsolved without a question.
    pub unasked: u64,
    /// Runs that were judged so before.
    pub complete: u64,
    /// Runs that cannot be judged; the first few by name, with the reason.
    pub skipped: Vec<JudgeSkip>,
    /// How many there are.
    pub skipped_total: u64,
    /// Forks and runs that a person continued, which pass the filter and are left out because it
    /// does not name them.
    pub forks_left_out: u64,
    /// Requests, when every first question is answered.
    pub calls_least: u64,
    /// Requests, when every question has to be asked.
    pub calls_most: u64,
    /// Tokens of those, roughly.
    pub tokens_least: u64,
    /// The same at most.
    pub tokens_most: u64,
    /// Dollars for those; none when nobody knows the price.
    pub cost_least: Option<f64>,
    /// The same at most.
    pub cost_most: Option<f64>,
    /// A sentence when the budget binds nothing, because no price is known.
    pub unbound: Option<String>,
}

/// A run that was or will not be judged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct JudgeSkip {
    /// Its id.
    pub run: String,
    /// Its file.
    pub path: String,
    /// Why, as a sentence.
    pub why: String,
}

/// What was begun.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct Judging {
    /// Its id.
    pub judging: String,
}

/// How judging stands.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct JudgingView {
    /// Its id.
    pub id: String,
    /// The judge.
    pub judge: String,
    /// The model.
    pub model: String,
    /// When it began, in milliseconds since 1970.
    pub began_ms: i64,
    /// How it stands.
    pub state: LaunchState,
    /// Why it stops or stopped early, as a sentence.
    pub why: Option<String>,
    /// Runs in all.
    pub total: u64,
    /// Runs that have their verdict, from before or from now.
    pub done: u64,
    /// Of these, runs whose replies could not be read.
    pub unread: u64,
    /// Runs that failed.
    pub failed: u64,
    /// Runs that were not judged because of their state.
    pub skipped: u64,
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
    /// Runs that failed or were skipped, with the reason; the first few.
    pub troubles: Vec<JudgeSkip>,
    /// What came of it so far; none before the first verdict.
    pub rates: Option<JudgeRates>,
}

/// What judging came to, over runs: means of rounds.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct JudgeRates {
    /// Runs with a verdict.
    pub runs: u64,
    /// Of these, runs without an answer.
    pub without_answer: u64,
    /// Mean over the rounds, over all of them.
    pub mean: f64,
    /// How far the rounds lie apart.
    pub spread: f64,
    /// The same over the runs with an answer; none without any.
    pub mean_of_answered: Option<f64>,
    /// Of pairs: how many are won, lost and neither, by most rounds.
    pub pairs: Option<JudgeShares>,
    /// The mean on the scale of the judge; none where it has words alone.
    pub own: Option<JudgeMean>,
    /// How many pass; none for pairs.
    pub passed: Option<JudgePasses>,
}

/// A mean on the scale of a judge.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct JudgeMean {
    /// The mean.
    pub mean: f64,
    /// Its interval of 95 %, lower end first; none before the end, and where there is none.
    pub interval: Option<(f64, f64)>,
    /// With what it is out of: `3.8 of 5`.
    pub told: String,
}

/// How many runs pass.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct JudgePasses {
    /// Runs that pass.
    pub passed: u64,
    /// Of so many.
    pub runs: u64,
    /// The interval of 95 % of their share; none without runs.
    pub interval: Option<(f64, f64)>,
}

/// What came of pairs, as shares.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct JudgeShares {
    /// Won more rounds.
    pub win: f64,
    /// Lost more.
    pub lose: f64,
    /// As many.
    pub tie: f64,
}

/// What a judge said of a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct Judged {
    /// The judge.
    pub judge: String,
    /// Version of its words then.
    pub version: u32,
    /// The model.
    pub model: String,
    /// By the rules of the published scripts.
    pub official: bool,
    /// The run that it was compared with, by its path.
    pub against: Option<String>,
    /// Why it does not hold any more; none when it does.
    pub stale: Option<String>,
    /// Rounds that were wanted.
    pub wanted: u32,
    /// Mean over the rounds.
    pub score: Option<f64>,
    /// How far they lie apart.
    pub spread: Option<f64>,
    /// The mean on the scale of the judge: `3.7 of 5`; none where it has words alone.
    pub told: Option<String>,
    /// How far rounds lie apart on that scale.
    pub own_spread: Option<f64>,
    /// What it takes to pass: `from 3 of 5`, `up to 3 of 7`; none where more for it than against is
    /// what counts.
    pub threshold: Option<String>,
    /// The same as a score from 0 to 1.
    #[serde(skip)]
    pub least: Option<f64>,
    /// That is what the suite says.
    pub of_suite: bool,
    /// Whether that is good enough.
    pub passed: Option<bool>,
    /// What was said.
    pub rounds: Vec<JudgedRound>,
}

/// What was said in one round.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct JudgedRound {
    /// In a word; none when the reply could not be read.
    pub verdict: Option<String>,
    /// On the scale of the judge: `4 of 5`, `solved`, `not read`.
    pub told: String,
    /// From 0 to 1.
    pub score: Option<f64>,
    /// Why.
    pub reason: String,
    /// Replies as they came; none when no model was asked.
    pub replies: Vec<String>,
    /// The model that answered, as the provider names it.
    pub model_id: Option<String>,
    /// When, as written.
    pub at: Option<String>,
    /// Which of two was shown first.
    pub order: Option<String>,
}
