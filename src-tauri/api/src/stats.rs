//! **Pure.** Statistics of runs: the numbers of a report, for callers that need only these.
use super::leaderboard::{FrontMeasure, Standing};
use super::list::{FilterError, LeftOut};
use super::score::FailureClass;
use serde::Serialize;

/// Runs for the statistics, and the baseline to compare with.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StatsRequest {
    /// Filter of the runs, with the syntax of the list.
    pub filter: String,
    /// Scorer whose scores are used; the first scorer of each task if none is given.
    pub scorer: Option<String>,
    /// Baseline group as `system/model`; the first group if none is given.
    pub baseline: Option<String>,
}

/// Statistics of runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Stats {
    /// Generation of the index that was queried.
    pub generation: u64,
    /// Scorers whose scores were used.
    pub scorers: Vec<String>,
    /// Number of different tasks.
    pub tasks: u64,
    /// Which systems are best and lowest and what cannot be told yet, in sentences.
    pub headline: Vec<String>,
    /// Outcomes of all runs.
    #[serde(flatten)]
    pub ends: StatsEnds,
    /// Matching runs that no other number here includes.
    #[serde(flatten)]
    pub left_out_runs: LeftOut,
    /// One group per system and model, in order.
    pub groups: Vec<StatsGroup>,
    /// Measure beside the score that decides what is on the Pareto front; none if fewer than two
    /// groups have both.
    pub front_by: Option<FrontMeasure>,
    /// Baseline group.
    pub baseline: Option<String>,
    /// Comparisons of the other groups with the baseline.
    pub comparisons: Vec<StatsComparison>,
    /// One row per variation of a task, with a cell per group.
    pub rows: Vec<StatsRow>,
    /// Better direction of each measure.
    pub better: StatsBetter,
    /// Sentences that explain the statistical methods.
    pub method: Vec<String>,
    /// Tokens of the filter that could not be parsed.
    pub misread: Vec<FilterError>,
}

/// Outcomes of runs. Each run is counted in exactly one field, apart from `runs` and `nudged`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct StatsEnds {
    /// Number of all runs.
    pub runs: u64,
    /// Number of runs with a score.
    pub scored: u64,
    /// Number of runs that ended in a system error.
    pub errors: u64,
    /// Number of runs that can be resumed.
    pub waiting: u64,
    /// Number of runs in progress.
    pub running: u64,
    /// Number of runs whose file cannot be read.
    pub damaged: u64,
    /// Number of runs that ended without a score.
    pub unscored: u64,
    /// Number of all runs in which messages were added to make them go on.
    pub nudged: u64,
}

/// Statistics of the runs of one system with one model.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StatsGroup {
    /// `system/model`.
    pub name: String,
    /// System.
    pub system: Option<String>,
    /// Model.
    pub model: Option<String>,
    /// Standing beside the best group; none without a comparison.
    pub standing: Option<Standing>,
    /// True if no other group beats it in both measures of the Pareto front; none if one of them
    /// is unknown.
    pub on_front: Option<bool>,
    /// Outcomes of the runs.
    #[serde(flatten)]
    pub ends: StatsEnds,
    /// Mean score.
    pub score: Option<StatsEstimate>,
    /// Pass rate, if a scorer or a reviewer decides passes.
    pub passes: Option<StatsPasses>,
    /// Number of rows whose repeats disagree.
    pub flaky: u64,
    /// Pass rates of `k` repeats, by `k`.
    pub tries: Vec<StatsTries>,
    /// Largest `k` that more than half of the rows have runs for; none if that is 1.
    pub told_tries: Option<u64>,
    /// Tokens of the runs that ended.
    pub tokens: StatsAmount,
    /// Cost in dollars of the runs that ended.
    pub cost: StatsAmount,
    /// Duration in seconds of the runs that ended.
    pub seconds: StatsAmount,
    /// Failure classes, most frequent first.
    pub classes: Vec<StatsClass>,
}

/// A mean with its 95 % confidence interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct StatsEstimate {
    /// The mean.
    pub value: f64,
    /// Lower bound of the interval, if there is one.
    pub low: Option<f64>,
    /// Upper bound of the interval.
    pub high: Option<f64>,
    /// Method of the interval: `wilson`, `bootstrap` or `student`.
    pub by: &'static str,
}

/// A pass rate with its 95 % confidence interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct StatsPasses {
    /// Number of passes.
    pub passed: u64,
    /// Number of runs.
    pub of: u64,
    /// Pass rate.
    pub rate: f64,
    /// Lower bound of the interval.
    pub low: f64,
    /// Upper bound of the interval.
    pub high: f64,
}

/// Pass rates of `k` runs of each task.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct StatsTries {
    /// Number of runs per task.
    pub k: u64,
    /// Probability that at least one of `k` runs passes.
    pub pass_at_k: f64,
    /// Probability that all `k` runs pass.
    pub pass_all_k: f64,
    /// Number of rows included.
    pub rows: u64,
    /// Number of rows excluded because they have fewer than `k` runs.
    pub left_out: u64,
}

/// Summary of an amount over the runs for which it is known.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct StatsAmount {
    /// Number of runs for which it is known.
    pub known: u64,
    /// Number of runs for which it is unknown.
    pub unknown: u64,
    /// Sum.
    pub sum: Option<f64>,
    /// Mean.
    pub mean: Option<f64>,
    /// Lower bound of the 95 % confidence interval of the mean, if there is one.
    pub low: Option<f64>,
    /// Upper bound of the interval.
    pub high: Option<f64>,
    /// Median.
    pub median: Option<f64>,
    /// 90th percentile.
    pub ninetieth: Option<f64>,
}

/// Frequency of a failure class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct StatsClass {
    /// Failure class.
    pub class: FailureClass,
    /// Number of runs.
    pub runs: u64,
}

/// Comparison of a group with the baseline. Differences are the values of the group minus those of
/// the baseline.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StatsComparison {
    /// The group.
    pub group: String,
    /// The baseline.
    pub baseline: String,
    /// Number of rows for which both have a score.
    pub pairs: u64,
    /// Effect on scores.
    pub score: Option<StatsEffect>,
    /// Effect on passes, if a scorer or a reviewer decides them.
    pub passes: Option<StatsPairedPasses>,
    /// Effect on tokens.
    pub tokens: Option<StatsEffect>,
    /// Effect on cost in dollars.
    pub cost: Option<StatsEffect>,
    /// Effect on seconds.
    pub seconds: Option<StatsEffect>,
    /// Rows for which only one side has a score.
    pub unpaired: Vec<StatsUnpaired>,
    /// Differences other than the systems that may explain the effect.
    pub doubts: Vec<StatsDoubt>,
    /// The comparison in sentences.
    pub sentences: Vec<String>,
}

/// Mean difference of two sides over pairs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct StatsEffect {
    /// Mean of the group.
    pub value: f64,
    /// Mean of the baseline.
    pub baseline: f64,
    /// Difference of the means.
    pub difference: f64,
    /// Lower bound of its 95 % confidence interval, if there is one.
    pub low: Option<f64>,
    /// Upper bound of the interval.
    pub high: Option<f64>,
    /// P-value of the permutation test by unit; none for a single unit, with which no test is
    /// possible.
    pub p: Option<f64>,
    /// True if the test enumerated all permutations.
    pub exact: Option<bool>,
    /// Number of pairs.
    pub pairs: u64,
    /// Number of tasks of these pairs.
    pub tasks: u64,
    /// Number of independent units: tasks or, if there is only one task, its variations.
    pub units: u64,
    /// Number of pairs in which the group is better.
    pub wins: u64,
    /// Number of pairs in which both are equal.
    pub ties: u64,
    /// Number of pairs in which the group is worse.
    pub losses: u64,
    /// Conclusion about the group: `better`, `worse` or `unclear`.
    pub shown: &'static str,
    /// Smallest difference that would probably have been detected.
    pub detectable: Option<f64>,
}

/// Comparison of passes. The difference, its interval and its p-value belong to the test on which
/// the conclusion is based. In the counts, a row with several runs counts as passed if more than
/// half of them pass.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct StatsPairedPasses {
    /// Number of rows that both passed.
    pub both: u64,
    /// Number of rows that only the group passed.
    pub only_group: u64,
    /// Number of rows that only the baseline passed.
    pub only_baseline: u64,
    /// Number of rows that neither passed.
    pub neither: u64,
    /// Difference of the pass rates, group minus baseline.
    pub difference: f64,
    /// Lower bound of its 95 % confidence interval, if there is one.
    pub low: Option<f64>,
    /// Upper bound of the interval.
    pub high: Option<f64>,
    /// P-value of the exact test of `McNemar`, or of the test in `by_task`; none for a single unit.
    pub p: Option<f64>,
    /// P-value of the exact test of `McNemar` on the counts.
    pub mcnemar: f64,
    /// Comparison of pass shares by unit, for pairs that are not independent of each other.
    pub by_task: Option<StatsEffect>,
    /// Conclusion about the group: `better`, `worse` or `unclear`.
    pub shown: &'static str,
    /// Smallest difference that would probably have been detected.
    pub detectable: Option<f64>,
}

/// A variation of a task.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct StatsKey {
    /// Task.
    pub task: Option<String>,
    /// Variation, from 0.
    pub variation: Option<u32>,
    /// Name of the variation, if it has no number.
    pub variation_name: Option<String>,
}

/// A row for which only one side has a score.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StatsUnpaired {
    /// The row.
    #[serde(flatten)]
    pub key: StatsKey,
    /// Side without a score, the group or the baseline, as `system/model`.
    pub without: String,
    /// Reason: `missing`, `errors`, `not_ended` or `unscored`.
    pub why: &'static str,
}

/// A difference between two sides other than the systems.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StatsDoubt {
    /// Kind: `scorer`, `scored_against` or `nudged`.
    pub kind: &'static str,
    /// Rows in which the sides differ.
    pub rows: Vec<StatsKey>,
}

/// A variation of a task, across all groups.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StatsRow {
    /// The variation.
    #[serde(flatten)]
    pub key: StatsKey,
    /// One cell per group; none where the group has no runs.
    pub cells: Vec<Option<StatsCell>>,
}

/// Repeats of one row in one group.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct StatsCell {
    /// Number of runs.
    pub runs: u64,
    /// Number of runs with a score.
    pub scored: u64,
    /// Number of runs that passed.
    pub passed: u64,
    /// Number of runs that passed or failed.
    pub decided: u64,
    /// Number of runs that ended in an error.
    pub errors: u64,
    /// Mean score.
    pub score: Option<f64>,
    /// True if the repeats disagree.
    pub flaky: bool,
}

/// Better direction of each measure: `higher` or `lower`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct StatsBetter {
    /// Direction for scores and pass rates.
    pub score: &'static str,
    /// Direction for tokens.
    pub tokens: &'static str,
    /// Direction for cost.
    pub cost: &'static str,
    /// Direction for seconds.
    pub seconds: &'static str,
}
