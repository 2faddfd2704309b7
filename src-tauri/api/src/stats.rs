//! **Pure.** Statistics of runs: the numbers of a report, for whoever wants only these.
use super::list::Misread;
use super::score::FailureClass;
use serde::Serialize;

/// Which runs, and what they are compared with.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StatsRequest {
    /// Which runs, as in the list.
    pub filter: String,
    /// Whose scores; none is the first scorer of each task.
    pub scorer: Option<String>,
    /// What the others are compared with, as `system/model`; none is the first.
    pub baseline: Option<String>,
}

/// What runs come to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Stats {
    /// The index that answered.
    pub generation: u64,
    /// Scorers whose scores are counted.
    pub scorers: Vec<String>,
    /// How many tasks occur.
    pub tasks: u64,
    /// What became of all runs.
    #[serde(flatten)]
    pub ends: StatsEnds,
    /// How many runs pass the filter and are in no number here, because they are forks or were
    /// continued by a person.
    pub forks_left_out: u64,
    /// One for each system with each model, in their order.
    pub groups: Vec<StatsGroup>,
    /// What the others are compared with.
    pub baseline: Option<String>,
    /// Each of the others against it.
    pub comparisons: Vec<StatsComparison>,
    /// Each variation of each task, with a cell for each group.
    pub rows: Vec<StatsRow>,
    /// Which measure is better in which direction.
    pub better: StatsBetter,
    /// How the numbers are made, as sentences.
    pub method: Vec<String>,
    /// Tokens of the filter that were not understood.
    pub misread: Vec<Misread>,
}

/// What became of runs; each is counted once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct StatsEnds {
    /// All of them.
    pub runs: u64,
    /// Have a score.
    pub scored: u64,
    /// Ended in a system error.
    pub errors: u64,
    /// Wait to be continued.
    pub waiting: u64,
    /// Are being made.
    pub running: u64,
    /// Cannot be read.
    pub damaged: u64,
    /// Ended without a score.
    pub unscored: u64,
    /// Of all, were driven on by added messages.
    pub nudged: u64,
}

/// The runs of one system with one model.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StatsGroup {
    /// `system/model`.
    pub name: String,
    /// System.
    pub system: Option<String>,
    /// Model.
    pub model: Option<String>,
    /// What became of them.
    #[serde(flatten)]
    pub ends: StatsEnds,
    /// Mean score.
    pub score: Option<StatsEstimate>,
    /// Passes, when somebody decides them.
    pub passes: Option<StatsPasses>,
    /// Rows whose repeats disagree.
    pub flaky: u64,
    /// What one try more or less would change.
    pub tries: Vec<StatsTries>,
    /// The most tries that more than half of the rows have, when that is not a single one.
    pub told_tries: Option<u64>,
    /// Tokens of the runs that ended.
    pub tokens: StatsAmount,
    /// Dollars of the runs that ended.
    pub cost: StatsAmount,
    /// Seconds of the runs that ended.
    pub seconds: StatsAmount,
    /// What went wrong, most often first.
    pub classes: Vec<StatsClass>,
}

/// A mean with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct StatsEstimate {
    /// The mean.
    pub value: f64,
    /// Bottom of the interval, when there is one.
    pub low: Option<f64>,
    /// Top of it.
    pub high: Option<f64>,
    /// Where the interval comes from: `wilson`, `bootstrap` or `student`.
    pub by: &'static str,
}

/// A rate with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct StatsPasses {
    /// How many passed.
    pub passed: u64,
    /// Of how many.
    pub of: u64,
    /// Share of them.
    pub rate: f64,
    /// Bottom of the interval.
    pub low: f64,
    /// Top of it.
    pub high: f64,
}

/// What `k` runs of each task come to.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct StatsTries {
    /// How many.
    pub k: u64,
    /// The chance that at least one of them passes.
    pub pass_at_k: f64,
    /// The chance that all of them do.
    pub pass_all_k: f64,
    /// Over how many rows.
    pub rows: u64,
    /// Rows with fewer runs.
    pub left_out: u64,
}

/// An amount over the runs that say it.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct StatsAmount {
    /// How many say it.
    pub known: u64,
    /// How many do not.
    pub unknown: u64,
    /// All together.
    pub sum: Option<f64>,
    /// On average.
    pub mean: Option<f64>,
    /// In the middle.
    pub median: Option<f64>,
    /// Nine of ten are below it.
    pub ninetieth: Option<f64>,
}

/// How often something went wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct StatsClass {
    /// What.
    pub class: FailureClass,
    /// How many runs.
    pub runs: u64,
}

/// One group against the baseline; differences are its values minus those of the baseline.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StatsComparison {
    /// The group.
    pub group: String,
    /// The baseline.
    pub baseline: String,
    /// How many rows both have a score for.
    pub pairs: u64,
    /// Scores.
    pub score: Option<StatsEffect>,
    /// Passes, when somebody decides them.
    pub passes: Option<StatsPairedPasses>,
    /// Tokens.
    pub tokens: Option<StatsEffect>,
    /// Dollars.
    pub cost: Option<StatsEffect>,
    /// Seconds.
    pub seconds: Option<StatsEffect>,
    /// Rows that only one side has a score for.
    pub unpaired: Vec<StatsUnpaired>,
    /// What differs besides the systems.
    pub doubts: Vec<StatsDoubt>,
    /// All of it in sentences.
    pub sentences: Vec<String>,
}

/// How much two sides differ on average over pairs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct StatsEffect {
    /// Mean of the group.
    pub value: f64,
    /// Mean of the baseline.
    pub baseline: f64,
    /// The difference.
    pub difference: f64,
    /// Bottom of its 95 % interval, when there is one.
    pub low: Option<f64>,
    /// Top of it.
    pub high: Option<f64>,
    /// Of the permutation test by unit; none for one unit, with which nothing can be tested.
    pub p: Option<f64>,
    /// Whether all ways were counted.
    pub exact: Option<bool>,
    /// How many pairs.
    pub pairs: u64,
    /// Of how many tasks.
    pub tasks: u64,
    /// How many stand for themselves: tasks, or where there is one task, its variations.
    pub units: u64,
    /// Pairs in which the group is better.
    pub wins: u64,
    /// Pairs in which both are the same.
    pub ties: u64,
    /// Pairs in which it is worse.
    pub losses: u64,
    /// What is shown of the group: `better`, `worse` or `unclear`.
    pub shown: &'static str,
    /// The smallest difference that would probably have been shown.
    pub detectable: Option<f64>,
}

/// Passes of both sides. The difference, its interval and its probability are those of what is
/// shown; the counts take a row with several runs as passed when more than half of them pass.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct StatsPairedPasses {
    /// Both passed.
    pub both: u64,
    /// Only the group passed.
    pub only_group: u64,
    /// Only the baseline passed.
    pub only_baseline: u64,
    /// Neither passed.
    pub neither: u64,
    /// How much higher the rate of the group is.
    pub difference: f64,
    /// Bottom of its 95 % interval, when there is one.
    pub low: Option<f64>,
    /// Top of it.
    pub high: Option<f64>,
    /// How probable it is by chance: by `McNemar`'s exact test, or by that of `by_task`; none for
    /// one unit.
    pub p: Option<f64>,
    /// Of `McNemar`'s exact test of the counts.
    pub mcnemar: f64,
    /// By shares of passes and by unit, where pairs are not independent of each other.
    pub by_task: Option<StatsEffect>,
    /// What is shown of the group: `better`, `worse` or `unclear`.
    pub shown: &'static str,
    /// The smallest difference that would probably have been shown.
    pub detectable: Option<f64>,
}

/// A variation of a task.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct StatsKey {
    /// Task.
    pub task: Option<String>,
    /// Variation, from 0.
    pub variation: Option<u32>,
    /// What the variation is called, where it has no number.
    pub variation_name: Option<String>,
}

/// A row that only one side has a score for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StatsUnpaired {
    /// Which.
    #[serde(flatten)]
    pub key: StatsKey,
    /// The side without: the group or the baseline, as `system/model`.
    pub without: String,
    /// Why: `missing`, `errors`, `not_ended` or `unscored`.
    pub why: &'static str,
}

/// What differs between two sides besides the systems.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StatsDoubt {
    /// What: `scorer`, `scored_against` or `nudged`.
    pub kind: &'static str,
    /// In which pairs.
    pub rows: Vec<StatsKey>,
}

/// A variation of a task, over all groups.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StatsRow {
    /// Which.
    #[serde(flatten)]
    pub key: StatsKey,
    /// One for each group; none where it has no runs.
    pub cells: Vec<Option<StatsCell>>,
}

/// The repeats of one row in one group.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct StatsCell {
    /// How many runs.
    pub runs: u64,
    /// How many have a score.
    pub scored: u64,
    /// How many passed.
    pub passed: u64,
    /// Of how many that is decided.
    pub decided: u64,
    /// How many ended in an error.
    pub errors: u64,
    /// Mean score.
    pub score: Option<f64>,
    /// They disagree.
    pub flaky: bool,
}

/// Which direction of each measure is better: `higher` or `lower`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct StatsBetter {
    /// Scores and rates of passes.
    pub score: &'static str,
    /// Tokens.
    pub tokens: &'static str,
    /// Dollars.
    pub cost: &'static str,
    /// Seconds.
    pub seconds: &'static str,
}
