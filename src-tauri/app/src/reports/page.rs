//! **Pure.** What a report says, before it is written in any format: one model, so that all formats
//! say the same. Numbers come from `scoring`; nothing is counted here.
use serde::Serialize;
use touchstone_api::{FailureClass, Lineage, RunState, ScoreStanding, StoredSaid, Verdict};

/// The report.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Page {
    /// What it is about.
    pub(crate) head: Head,
    /// One for each system with each model, in their order.
    pub(crate) groups: Vec<Group>,
    /// Each of the others against the baseline.
    pub(crate) pairs: Vec<Pair>,
    /// One for each variation of each task.
    pub(crate) tasks: Vec<TaskLine>,
    /// What runs of query sets come to, beside what others published; empty without such runs.
    pub(crate) queries: Vec<Table>,
    /// What evaluators are stored to have said; empty without rows of evaluations.
    pub(crate) stored: Vec<StoredSum>,
    /// What went wrong, with how often in each group.
    pub(crate) classes: Vec<ClassLine>,
    /// Variations whose repeats disagree.
    pub(crate) flaky: Vec<FlakyLine>,
    /// Runs that did not pass, or failed; by path.
    pub(crate) failed: Vec<RunLine>,
    /// Every run, when they are asked for.
    pub(crate) runs: Vec<RunLine>,
    /// What a reader should know, as sentences.
    pub(crate) notes: Vec<String>,
    /// How the numbers were made, as sentences.
    pub(crate) method: Vec<String>,
}

/// Words in rows and columns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Table {
    pub(crate) caption: String,
    pub(crate) head: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
}

/// What a report is about.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Head {
    pub(crate) title: String,
    /// The folder, as its name.
    pub(crate) folder: String,
    /// When it was made, in UTC.
    pub(crate) made: String,
    /// Version of the program.
    pub(crate) version: String,
    /// The filter, as typed; empty for all runs.
    pub(crate) filter: String,
    /// Scorers whose scores are shown.
    pub(crate) scorers: Vec<String>,
    /// The same with their versions.
    pub(crate) scored_by: Vec<String>,
    /// How many runs pass the filter and are counted.
    pub(crate) runs: u64,
    /// How many more pass it and are left out, because they are forks or were continued by a
    /// person.
    pub(crate) forks_left_out: u64,
    /// Of these, have a score.
    pub(crate) scored: u64,
    /// Ended in a system error.
    pub(crate) errors: u64,
    /// Have not ended.
    pub(crate) not_ended: u64,
    /// Ended without a score, or cannot be read.
    pub(crate) unscored: u64,
    /// Tasks that occur.
    pub(crate) tasks: u64,
}

/// A number with where it probably lies.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Estimate {
    pub(crate) value: f64,
    /// Bounds of the 95 % interval, when there is one.
    pub(crate) low: Option<f64>,
    pub(crate) high: Option<f64>,
}

/// The runs of one system with one model.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Group {
    /// `system/model`.
    pub(crate) name: String,
    pub(crate) system: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) runs: u64,
    pub(crate) scored: u64,
    pub(crate) errors: u64,
    pub(crate) not_ended: u64,
    pub(crate) unscored: u64,
    /// Mean score.
    pub(crate) score: Option<Estimate>,
    /// How many passed, of those for which that is decided.
    pub(crate) passed: u64,
    pub(crate) decided: u64,
    /// Share of them.
    pub(crate) rate: Option<Estimate>,
    /// Chance that one of k repeats passes, and that all do: k, pass@k, pass^k.
    pub(crate) repeats: Option<Repeats>,
    /// Sum and mean, of the runs that say.
    pub(crate) tokens: Option<Amount>,
    pub(crate) cost: Option<Amount>,
    pub(crate) seconds: Option<Amount>,
}

/// What repeats say, for the most tries that more than half of the rows have.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Repeats {
    pub(crate) k: u64,
    pub(crate) any: f64,
    pub(crate) all: f64,
    /// Rows with so many tries.
    pub(crate) rows: u64,
    /// Of all of them.
    pub(crate) of: u64,
}

/// An amount over the runs that say it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Amount {
    /// How many runs say it.
    pub(crate) known: u64,
    pub(crate) sum: f64,
    pub(crate) mean: f64,
    pub(crate) median: f64,
    /// Nine of ten are below it.
    pub(crate) ninetieth: f64,
    /// None is above it.
    pub(crate) most: f64,
}

/// A group against the baseline, over the variations that both have.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Pair {
    pub(crate) name: String,
    pub(crate) baseline: String,
    pub(crate) pairs: u64,
    pub(crate) wins: u64,
    pub(crate) ties: u64,
    pub(crate) losses: u64,
    /// Difference of the mean scores: the group minus the baseline.
    pub(crate) difference: Option<Estimate>,
    /// Of the paired permutation test.
    pub(crate) p_score: Option<f64>,
    /// Of the test of passes that counts.
    pub(crate) p_pass: Option<f64>,
    /// The smallest difference of scores that this many pairs would have shown four times in five.
    pub(crate) detectable: Option<f64>,
    /// What was won pair by pair, and what it took.
    pub(crate) more: Vec<String>,
    /// What came of it, in a few words.
    pub(crate) outcome: String,
    /// Variations for which only one side has a score, and why.
    pub(crate) unpaired: Vec<String>,
    /// True when something besides the systems differs.
    pub(crate) doubtful: bool,
    /// The comparison, sentence by sentence, with what speaks against it.
    pub(crate) sentences: Vec<String>,
}

/// A variation of a task.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct TaskLine {
    pub(crate) task: String,
    pub(crate) variation: Option<String>,
    /// One for each group.
    pub(crate) cells: Vec<Cell>,
}

/// The runs of one variation in one group.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(crate) struct Cell {
    pub(crate) runs: u64,
    pub(crate) scored: u64,
    pub(crate) passed: u64,
    pub(crate) decided: u64,
    pub(crate) errors: u64,
    pub(crate) score: Option<f64>,
    pub(crate) flaky: bool,
}

/// What one evaluator is stored to have said of the runs of one system with one model, on its own
/// scale. Nothing of it is a score.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct StoredSum {
    pub(crate) evaluator: String,
    /// `system/model`, which for rows that others wrote is their file.
    pub(crate) group: String,
    /// Runs whose files have a column of it.
    pub(crate) runs: u64,
    /// Of these, have a number.
    pub(crate) numbers: u64,
    pub(crate) mean: Option<Estimate>,
    /// How many pass, of those of which it says so.
    pub(crate) passed: u64,
    pub(crate) decided: u64,
    pub(crate) rate: Option<Estimate>,
    /// Ended in an error.
    pub(crate) errors: u64,
    /// Have no result.
    pub(crate) none: u64,
}

/// How often something went wrong.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct ClassLine {
    pub(crate) class: FailureClass,
    /// In each group.
    pub(crate) counts: Vec<u64>,
}

/// A variation whose repeats disagree.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct FlakyLine {
    pub(crate) group: String,
    pub(crate) task: String,
    pub(crate) variation: Option<String>,
    pub(crate) passed: u64,
    pub(crate) decided: u64,
}

/// One run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct RunLine {
    pub(crate) path: String,
    pub(crate) task: Option<String>,
    pub(crate) variation: Option<String>,
    pub(crate) repeat: u32,
    pub(crate) system: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) state: RunState,
    pub(crate) scoring: Option<ScoreStanding>,
    pub(crate) scorer: Option<String>,
    pub(crate) score: Option<f64>,
    pub(crate) passed: Option<bool>,
    pub(crate) reason: Option<String>,
    pub(crate) class: Option<FailureClass>,
    pub(crate) verdict: Option<Verdict>,
    pub(crate) review_score: Option<f64>,
    pub(crate) review_note: Option<String>,
    pub(crate) turns: u32,
    pub(crate) tool_calls: u32,
    pub(crate) nudges: u32,
    pub(crate) follow_ups: u32,
    /// Whether it is a fork, or was continued by a person.
    pub(crate) lineage: Option<Lineage>,
    pub(crate) forked_from: Option<String>,
    pub(crate) tokens: Option<u64>,
    pub(crate) cost: Option<f64>,
    pub(crate) seconds: Option<f64>,
    /// What evaluators are stored to have said of it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) stored: Vec<StoredSaid>,
}
