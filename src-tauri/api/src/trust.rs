//! **Pure.** Agreement of judges with people, and with each other.
use serde::Serialize;

/// A source of verdicts on runs: a judge with its name, model and rules, or people, or the
/// automatic score.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct Rater {
    /// Id for requests; `people` stands for the reviews and `score` for the automatic score.
    pub id: String,
    /// Name for display: `sopr by claude`.
    pub name: String,
    /// Number of runs with a current verdict.
    pub runs: u64,
    /// Number of these runs that also have a review.
    pub reviewed: u64,
    /// Number of runs with an outdated verdict, which does not count.
    pub stale: u64,
    /// Number of runs whose replies led to no verdict: unreadable or not applicable. They do not
    /// count either.
    pub unread: u64,
}

/// Agreement of two raters.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct Agreement {
    /// Rater of the table's rows; people, if they are one of the two.
    pub first: Rater,
    /// Rater of the table's columns.
    pub second: Rater,
    /// Number of runs with a verdict of both.
    pub n: u64,
    /// Number of these runs with equal verdicts.
    pub same: u64,
    /// Cohen's κ; none if it is undefined.
    pub kappa: Option<f64>,
    /// 95 % confidence interval of κ, if there is one.
    pub interval: Option<(f64, f64)>,
    /// Weighted κ, which counts near misses in part; none if near misses cannot occur.
    pub weighted: Option<f64>,
    /// Agreement in words: `too few to tell`, `good`.
    pub words: String,
    /// True if there are too few runs for a conclusion; long lists of pairs fold these.
    pub few: bool,
    /// Names of the possible verdicts, in order: `right`, `wrong`. `in between` is the name for
    /// verdicts that people call partly right and judges call unsure.
    pub said: Vec<String>,
    /// Counts of runs by verdict of the first rater (row) and of the second rater (column).
    pub table: Vec<Vec<u64>>,
    /// Runs on which the raters disagree; the first few hundred.
    pub disagreements: Vec<Disagreement>,
    /// Number of all disagreements.
    pub disagreements_total: u64,
}

/// A run on which two raters disagree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct Disagreement {
    /// Run id.
    pub run: String,
    /// File of the run.
    pub path: String,
    /// Task of the run.
    pub task: Option<String>,
    /// Verdict of the first rater.
    pub first: String,
    /// Reason of the first rater, if given.
    pub first_why: Option<String>,
    /// Verdict of the second rater.
    pub second: String,
    /// Reason of the second rater, if given.
    pub second_why: Option<String>,
}

/// All raters and their agreement.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct Trust {
    /// Judges with at least one verdict, and people.
    pub raters: Vec<Rater>,
    /// Each judge with people, and each pair of judges, if both have a verdict on at least one
    /// common run. Without the list of disagreements.
    pub pairs: Vec<Agreement>,
    /// Number of reviewed runs.
    pub reviewed: u64,
    /// Sentences about excluded data, with reasons.
    pub notes: Vec<String>,
    /// Number of judgement files that cannot be read; a note names them.
    pub unreadable: u64,
}
