//! **Pure.** Result of a gate: the runs of now, compared with those of a baseline file.
use serde::Serialize;

/// Result of a gate.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct Gate {
    /// True if no requirement is violated.
    pub passed: bool,
    /// Violated requirements of the whole comparison, in sentences.
    pub violations: Vec<String>,
    /// Path of the baseline file.
    pub baseline: String,
    /// Filter that chose the runs of the baseline, and now.
    pub filter: String,
    /// Scorer of the scores; the first scorer of each task if none is given.
    pub scorer: Option<String>,
    /// Number of runs in the baseline.
    pub baseline_runs: u64,
    /// Number of runs now.
    pub runs: u64,
    /// One group per system and model, in order.
    pub groups: Vec<GateGroup>,
}

/// A system with a model, now and in the baseline.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct GateGroup {
    /// `system/model`.
    pub name: String,
    /// Violated requirements, in sentences.
    pub violations: Vec<String>,
    /// Other changes, in sentences.
    pub remarks: Vec<String>,
    /// Number of runs now.
    pub runs: u64,
    /// Number of runs that ended in an error now.
    pub errors: u64,
    /// Mean score of all runs now.
    pub mean: Option<f64>,
    /// Number of tasks and variations that are compared.
    pub pairs: u64,
    /// Mean score of the compared tasks and variations now.
    pub score: Option<f64>,
    /// Mean score of the same in the baseline.
    pub baseline_score: Option<f64>,
    /// Difference of both, now minus baseline.
    pub difference: Option<f64>,
    /// Lower bound of its 95 % confidence interval, if there is one.
    pub low: Option<f64>,
    /// Upper bound of the interval.
    pub high: Option<f64>,
    /// P-value of the difference; none for a single task.
    pub p: Option<f64>,
    /// Tasks and variations, now or in the baseline, in order.
    pub tasks: Vec<GateTask>,
}

/// A task in a variation, now and in the baseline.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct GateTask {
    /// Task.
    pub task: Option<String>,
    /// Number of the variation, when it has one.
    pub variation: Option<u32>,
    /// Name of a variation without a number.
    pub variation_name: Option<String>,
    /// Mean score now.
    pub score: Option<f64>,
    /// Mean score in the baseline.
    pub baseline_score: Option<f64>,
    /// Changes.
    pub changes: Vec<GateChange>,
    /// True if one of the changes violates a requirement.
    pub violates: bool,
}

/// Kind of change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "snake_case")]
pub enum GateChange {
    /// All repeats passed, and none passes now.
    Failed,
    /// No repeat passed, and all pass now.
    Fixed,
    /// Most repeats have another result, and the repeats of one side disagree.
    Flaky,
    /// Repeats that had a score ended in errors.
    Errors,
    /// Repeats that had a score have not ended.
    NotEnded,
    /// There are fewer repeats, or none.
    Missing,
    /// Repeats that had a score ended without one.
    Unscored,
    /// Has a score; had none.
    Added,
    /// Not compared: the task text, the expected output, or the scorer changed.
    NotComparable,
}
