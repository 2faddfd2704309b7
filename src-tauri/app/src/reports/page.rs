//! **Pure.** The content of a report, independent of the format, so that all formats agree. The
//! numbers come from `scoring`; nothing is counted here.
use serde::Serialize;
use touchstone_api::{
    FailureClass, FrontMeasure, LeftOut, Lineage, RowGroup, RunLabel, RunState, ScoreStanding,
    SetsBy, Standing, StoredBrief, TrendPlot, Trends, Verdict,
};

/// A report.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Page {
    /// Header data.
    pub(crate) head: Head,
    /// Which systems are best and lowest and what cannot be told yet, in sentences.
    pub(crate) headline: Vec<String>,
    /// One entry per system and model, in their order.
    pub(crate) groups: Vec<Group>,
    /// Which groups the plots leave out because they are not comparable, in a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) not_drawn: Option<String>,
    /// Measure beside the score that decides what is on the Pareto front.
    pub(crate) front_by: Option<FrontMeasure>,
    /// Least and greatest number of tasks over which two systems are compared for it.
    pub(crate) front_rows: Option<[u64; 2]>,
    /// Comparison of each other group with the baseline.
    pub(crate) pairs: Vec<Pair>,
    /// One entry per variation of each task.
    pub(crate) tasks: Vec<TaskLine>,
    /// Results of query sets beside published ones; empty without runs of query sets.
    pub(crate) queries: Vec<Table>,
    /// How often attacks succeeded; empty without attacks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) scan: Vec<Table>,
    /// Each system over sets of runs; none where there are not two sets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) trend: Option<Trend>,
    /// Number of runs with each label in each group; empty without labels.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) labels: Vec<LabelSum>,
    /// Stored verdicts of evaluators; empty without rows of evaluations.
    pub(crate) stored: Vec<StoredSum>,
    /// Causes of failures as the failure map names them; none in formats that list only runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) causes: Option<Causes>,
    /// Failure classes, with their counts in each group.
    pub(crate) classes: Vec<ClassLine>,
    /// Variations whose repeats disagree.
    pub(crate) flaky: Vec<FlakyLine>,
    /// Runs that did not pass or failed, by path.
    pub(crate) failed: Vec<RunLine>,
    /// Every run, if requested.
    pub(crate) runs: Vec<RunLine>,
    /// Notes for the reader, as sentences.
    pub(crate) notes: Vec<String>,
    /// Description of the method, as sentences.
    pub(crate) method: Vec<String>,
}

/// A table of texts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Table {
    pub(crate) caption: String,
    pub(crate) head: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
}

/// Header data of a report.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Head {
    pub(crate) title: String,
    /// Name of the folder.
    pub(crate) folder: String,
    /// Time of creation in UTC.
    pub(crate) made: String,
    /// Version of the program.
    pub(crate) version: String,
    /// The filter, as typed; empty for all runs.
    pub(crate) filter: String,
    /// Scorers whose scores are shown.
    pub(crate) scorers: Vec<String>,
    /// Scorers with their versions.
    pub(crate) scored_by: Vec<String>,
    /// Number of runs that match the filter and are counted.
    pub(crate) runs: u64,
    /// Further matching runs, left out because they are no runs of the benchmark.
    #[serde(flatten)]
    pub(crate) left_out: LeftOut,
    /// Number of counted runs with a score.
    pub(crate) scored: u64,
    /// Number of runs that ended in a system error.
    pub(crate) errors: u64,
    /// Number of runs that have not ended.
    pub(crate) not_ended: u64,
    /// Number of runs that ended without a score or cannot be read.
    pub(crate) unscored: u64,
    /// Number of tasks that occur.
    pub(crate) tasks: u64,
}

/// A number with its confidence interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Estimate {
    pub(crate) value: f64,
    /// Bounds of the 95 % interval, if there is one.
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
    /// Standing beside the best group; none without a comparison.
    pub(crate) standing: Option<Standing>,
    /// Groups that it stands among.
    pub(crate) among: RowGroup,
    /// Comparison that the standing rests on, as a sentence.
    pub(crate) why: Option<String>,
    /// True if no other group beats it in both measures of the Pareto front.
    pub(crate) on_front: Option<bool>,
    /// Whether it is on the front of the plot of cost, and of time.
    pub(crate) on_cost_front: bool,
    pub(crate) on_time_front: bool,
    /// Mean score.
    pub(crate) score: Option<Estimate>,
    /// Number of scores in each tenth of the scale.
    pub(crate) histogram: Vec<u64>,
    /// Number of runs that passed, of those with a decision (`decided`).
    pub(crate) passed: u64,
    pub(crate) decided: u64,
    /// Pass rate.
    pub(crate) rate: Option<Estimate>,
    /// Chance that one of k repeats passes, and that all do: k, pass@k, pass^k.
    pub(crate) repeats: Option<Repeats>,
    /// Totals and averages, over the runs that record the amount.
    pub(crate) tokens: Option<Amount>,
    pub(crate) cost: Option<Amount>,
    pub(crate) seconds: Option<Amount>,
}

/// Results over repeats, for the largest k that more than half of the rows have.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Repeats {
    pub(crate) k: u64,
    pub(crate) any: f64,
    pub(crate) all: f64,
    /// Number of rows with at least k repeats.
    pub(crate) rows: u64,
    /// Number of all rows.
    pub(crate) of: u64,
}

/// An amount over the runs that record it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Amount {
    /// Number of runs that record it.
    pub(crate) known: u64,
    pub(crate) sum: f64,
    pub(crate) mean: f64,
    /// Bounds of the 95 % interval of the mean, if there is one.
    pub(crate) low: Option<f64>,
    pub(crate) high: Option<f64>,
    pub(crate) median: f64,
    /// 90th percentile.
    pub(crate) ninetieth: f64,
    /// Maximum.
    pub(crate) most: f64,
}

/// A group compared with the baseline, over the variations that both have.
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
    /// p-value of the paired permutation test.
    pub(crate) p_score: Option<f64>,
    /// p-value of the test of passes that applies.
    pub(crate) p_pass: Option<f64>,
    /// Smallest difference of scores that this number of pairs would detect with 80 % power.
    pub(crate) detectable: Option<f64>,
    /// Wins per pair, and the effort they took, as sentences.
    pub(crate) more: Vec<String>,
    /// Outcome in a few words.
    pub(crate) outcome: String,
    /// Variations with a score on one side only, with the reason.
    pub(crate) unpaired: Vec<String>,
    /// True if more than the systems differs.
    pub(crate) doubtful: bool,
    /// The comparison as sentences, with its caveats.
    pub(crate) sentences: Vec<String>,
}

/// A variation of a task.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct TaskLine {
    pub(crate) task: String,
    pub(crate) variation: Option<String>,
    /// One cell per group.
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

/// Stored verdicts of one evaluator on the runs of one system with one model, on the scale of the
/// evaluator. None of them is a score of this program.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct StoredSum {
    pub(crate) evaluator: String,
    /// `system/model`; the file name for rows written by other programs.
    pub(crate) group: String,
    /// Number of runs whose files have a column of the evaluator.
    pub(crate) runs: u64,
    /// Number of these with a numeric value.
    pub(crate) numbers: u64,
    pub(crate) mean: Option<Estimate>,
    /// Number of runs that pass, of those with a pass result (`decided`).
    pub(crate) passed: u64,
    pub(crate) decided: u64,
    pub(crate) rate: Option<Estimate>,
    /// Number that ended in an error.
    pub(crate) errors: u64,
    /// Number without a result.
    pub(crate) none: u64,
}

/// Trends of systems over sets of runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Trend {
    /// Way in which runs are grouped into sets.
    pub(crate) by: SetsBy,
    #[serde(flatten)]
    pub(crate) trends: Trends,
    /// Plot of the scores.
    #[serde(skip)]
    pub(crate) plot: Option<TrendPlot>,
}

/// Runs of one system with one model that have a label, or a value of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct LabelSum {
    pub(crate) label: String,
    /// Value of a category.
    pub(crate) value: Option<String>,
    /// `system/model`.
    pub(crate) group: String,
    /// Number of runs that have it, of those that could (`of`).
    pub(crate) runs: u64,
    pub(crate) of: u64,
    pub(crate) rate: Option<Estimate>,
    /// Mean of a label that is a number.
    pub(crate) mean: Option<Estimate>,
}

/// Why runs failed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Causes {
    /// Number of failed runs, and of those whose transcripts were read.
    pub(crate) failed: u64,
    pub(crate) read: u64,
    /// Kinds of causes, the most frequent first.
    pub(crate) kinds: Vec<CauseLine>,
    /// Causes, the most frequent first.
    pub(crate) lines: Vec<CauseLine>,
    /// Number of further causes.
    pub(crate) left_out: u64,
}

/// A cause of failures, or a kind of causes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct CauseLine {
    pub(crate) title: String,
    /// Kind, such as `wrong_values`.
    pub(crate) kind: &'static str,
    /// True for errors of the provider or the system, which say nothing about an answer.
    pub(crate) is_error: bool,
    /// Number of runs whose main cause it is.
    pub(crate) runs: u64,
    /// By group: number of these, and of all runs of the group; none for a group without failures.
    pub(crate) shares: Vec<Option<(u64, u64)>>,
    /// File of a run that shows it.
    pub(crate) example: Option<String>,
    /// What that run says; empty if there is nothing to quote.
    pub(crate) quote: String,
}

/// Counts of a failure class.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct ClassLine {
    pub(crate) class: FailureClass,
    /// One count per group.
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
    /// Set for forks and for runs continued by a person.
    pub(crate) lineage: Option<Lineage>,
    pub(crate) forked_from: Option<String>,
    pub(crate) tokens: Option<u64>,
    pub(crate) cost: Option<f64>,
    pub(crate) seconds: Option<f64>,
    /// Labels.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) labels: Vec<RunLabel>,
    /// Stored verdicts of evaluators.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) stored: Vec<StoredBrief>,
}
