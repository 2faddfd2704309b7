//! **Pure.** Trends of systems over sets of runs.
use super::stats::{StatsEnds, StatsEstimate, StatsPasses};
use serde::Serialize;

/// Way in which runs are grouped into sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetsBy {
    /// Day on which a run started, in UTC.
    Day,
    /// Week, from Monday.
    Week,
    /// Month.
    Month,
    /// First folder below the output directory.
    Folder,
    /// File that holds the runs.
    File,
}

/// Runs for a trend.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrendRequest {
    /// Filter of the runs, with the syntax of the list.
    pub filter: String,
    /// Scorer whose scores are used; the first scorer of each task if none is given.
    pub scorer: Option<String>,
    /// Way in which runs are grouped into sets.
    pub by: SetsBy,
}

/// Trends of all systems.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Trends {
    /// Sets of runs, in the order of their first run.
    pub sets: Vec<TrendSet>,
    /// One group per system and model, in order.
    pub groups: Vec<TrendGroup>,
    /// Number of runs in no set: their time is not known, or they lie in no folder.
    pub left_out: u64,
}

/// A set of runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TrendSet {
    /// Name: the day, week, month, folder or file.
    pub name: String,
    /// Time of its first run, in seconds since 1970.
    pub from: Option<f64>,
    /// Number of runs.
    pub runs: u64,
}

/// Trend of a system with a model.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TrendGroup {
    /// `system/model`.
    pub name: String,
    /// One point per set with runs of the system.
    pub points: Vec<TrendPoint>,
    /// Comparison of the last set with the first, if there are more than two.
    pub overall: Option<TrendChange>,
}

/// Runs of a system in a set.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TrendPoint {
    /// Index of the set.
    pub set: u64,
    /// Outcomes of the runs.
    #[serde(flatten)]
    pub ends: StatsEnds,
    /// Mean score.
    pub score: Option<StatsEstimate>,
    /// Pass rate, if a scorer or a reviewer decides passes.
    pub passes: Option<StatsPasses>,
    /// Mean cost in dollars of the runs for which it is known.
    pub cost: Option<f64>,
    /// Mean duration in seconds of the runs for which it is known.
    pub seconds: Option<f64>,
    /// Comparison with the preceding set.
    pub change: Option<TrendChange>,
}

/// Change between two sets, over the tasks that have a score in both.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TrendChange {
    /// Mean difference, later minus earlier.
    pub difference: Option<f64>,
    /// Lower bound of its 95 % confidence interval, if there is one.
    pub low: Option<f64>,
    /// Upper bound of the interval.
    pub high: Option<f64>,
    /// P-value of the difference; none for a single task.
    pub p: Option<f64>,
    /// `better` or `worse` if both the test and the interval show it, else `unclear`.
    pub shown: &'static str,
    /// Tasks that passed and fail now.
    pub failed: Vec<String>,
    /// Tasks that failed and pass now.
    pub fixed: Vec<String>,
    /// Tasks with another result whose repeats disagree.
    pub flaky: Vec<String>,
    /// Number of tasks with a score in both sets.
    pub pairs: u64,
}
