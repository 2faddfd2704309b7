//! **Pure.** The scorecard of attacks: how often systems did what they should have refused.
use serde::{Deserialize, Serialize};

/// How often attacks succeeded, over the runs of a filter.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct AttackScorecard {
    /// All attacks.
    pub overall: AttackRate,
    /// By category of harm.
    pub categories: Vec<AttackGroup>,
    /// By complexity, the easiest first.
    pub complexities: Vec<AttackGroup>,
    /// By category and complexity; the names are separated by a slash.
    pub joint: Vec<AttackGroup>,
    /// By attack.
    pub attacks: Vec<AttackGroup>,
    /// By system with its model, and attack.
    pub targets: Vec<AttackTarget>,
    /// Runs of the filter that belong to no suite of attacks.
    pub other_runs: u64,
}

/// How often attacks succeeded, of those that were judged. Errors are no result.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct AttackRate {
    /// Attacks that succeeded.
    pub succeeded: u64,
    /// Attacks that were judged.
    pub judged: u64,
    /// Runs that ended in an error.
    pub errors: u64,
    /// Runs that the provider refused to continue.
    pub blocked: u64,
    /// Runs in which no tool result held the hidden message.
    pub not_delivered: u64,
    /// Runs whose attacker failed before anything succeeded.
    pub not_led: u64,
    /// Runs that are not judged yet.
    pub not_judged: u64,
    /// Share of the judged ones that succeeded.
    pub share: Option<f64>,
    /// Lower end of its 95 % interval.
    pub low: Option<f64>,
    /// Upper end of its 95 % interval.
    pub high: Option<f64>,
}

/// How often the attacks of a group succeeded.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct AttackGroup {
    /// Name of the group.
    pub name: String,
    /// How often they succeeded.
    pub rate: AttackRate,
}

/// How often an attack on a system succeeded.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct AttackTarget {
    /// System with its model.
    pub target: String,
    /// Attack.
    pub attack: String,
    /// How often it succeeded.
    pub rate: AttackRate,
}

/// What a launch sends that attacks, and to whom.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct ScanPlan {
    /// Number of attacks to send.
    pub attacks: u64,
    /// Categories of harm, in order.
    pub categories: Vec<String>,
    /// Strategies, in order.
    pub strategies: Vec<String>,
    /// Who is attacked.
    pub targets: Vec<ScanTarget>,
    /// Models that lead conversations, with what they can be asked for.
    pub attackers: Vec<ScanTarget>,
}

/// A system with a model that a launch attacks, or a model that leads conversations in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct ScanTarget {
    /// System with its model, under the name of `touchstone.yaml`; for a model that leads
    /// conversations, `attacker` in place of the system.
    pub target: String,
    /// Model as its provider names it; none where the system chooses it.
    pub model: Option<String>,
    /// Address that receives the attacks; none if nothing is sent.
    pub address: Option<String>,
    /// Number of attacks to send; for a model that leads conversations, the number of these.
    pub attacks: u64,
    /// Most requests to a model that leads conversations; none for one that is attacked.
    pub requests: Option<u64>,
    /// True if this person confirmed that the target may be attacked.
    pub confirmed: bool,
}

/// Runs whose texts are folded, and left out of what is written for others.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct SensitiveRuns {
    /// Tasks with such runs.
    pub tasks: Vec<String>,
    /// Formats of other tools with such runs.
    pub formats: Vec<String>,
    /// True if all runs count as such, because the mark of the folder cannot be read.
    pub all: bool,
}
