//! **Pure.** Result of a gate: the runs of now, compared with those of a baseline file.
use serde::Serialize;

/// Result of a gate.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Gate {
    /// True if no requirement is violated.
    pub passed: bool,
    /// Filter that chose the runs of the baseline, and now.
    pub filter: String,
    /// Number of runs in the baseline.
    pub baseline_runs: u64,
    /// Number of runs now.
    pub runs: u64,
    /// One group per system and model, in order.
    pub groups: Vec<GateGroup>,
}

/// A system with a model, now and in the baseline.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GateGroup {
    /// `system/model`.
    pub name: String,
    /// Violated requirements, in sentences.
    pub violations: Vec<String>,
    /// Other changes, in sentences.
    pub remarks: Vec<String>,
    /// Mean score of all runs.
    pub score: Option<f64>,
    /// Mean score of all runs in the baseline.
    pub baseline_score: Option<f64>,
    /// Number of runs that ended in an error.
    pub errors: u64,
    /// Number of tasks and variations with a score on both sides.
    pub pairs: u64,
    /// Mean difference of these pairs, now minus baseline.
    pub difference: Option<f64>,
    /// Lower bound of its 95 % confidence interval, if there is one.
    pub low: Option<f64>,
    /// Upper bound of the interval.
    pub high: Option<f64>,
    /// P-value of the difference; none for a single task.
    pub p: Option<f64>,
    /// Tasks and variations whose outcome changed.
    pub changes: Vec<GateChange>,
}

/// Changed outcome of a task in a variation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct GateChange {
    /// Task.
    pub task: Option<String>,
    /// Number of the variation, when it has one.
    pub variation: Option<u32>,
    /// Name of a variation without a number.
    pub variation_name: Option<String>,
    /// Kind of change.
    pub change: GateChangeKind,
}

/// Kind of change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum GateChangeKind {
    /// All repeats passed, and none passes now.
    Failed,
    /// No repeat passed, and all pass now.
    Fixed,
    /// Most repeats have another result, and the repeats of one side disagree.
    Flaky,
    /// Ended in errors; had a score.
    LostToErrors,
    /// Not ended yet; had a score.
    NotEnded,
    /// Without a run; had a score.
    Missing,
    /// Ended without a score; had one.
    Unscored,
    /// Has a score; had none.
    Added,
}
