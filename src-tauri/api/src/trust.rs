//! **Pure.** How far judges agree with people, and with each other.
use serde::Serialize;

/// A judge as it was asked: its name, the model and the rules. What is compared is what it says of
/// runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct Rater {
    /// By which it is asked for; `people` are the reviews, `score` the automatic score.
    pub id: String,
    /// As it is shown: `sopr by claude`.
    pub name: String,
    /// Runs with a verdict of it that holds.
    pub runs: u64,
    /// Runs of these that were reviewed as well.
    pub reviewed: u64,
    /// Runs whose verdict does not hold any more, and does not count.
    pub stale: u64,
    /// Runs whose replies came to no verdict: not read, or not applicable. They do not count
    /// either.
    pub unread: u64,
}

/// Agreement of two raters.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct Agreement {
    /// The first, which the rows of the table are of: people, when they are one of the two.
    pub first: Rater,
    /// The second, which the columns are of.
    pub second: Rater,
    /// Runs with a verdict of both.
    pub n: u64,
    /// Of these, how many have the same.
    pub same: u64,
    /// Cohen's κ; none when it is not defined.
    pub kappa: Option<f64>,
    /// Its interval of 95 %; none when there is none.
    pub interval: Option<(f64, f64)>,
    /// κ with near misses counted in part; none where there are none.
    pub weighted: Option<f64>,
    /// In words: `too few to tell`, `good`.
    pub words: String,
    /// There are too few runs to tell: where many pairs are listed, such are folded.
    pub few: bool,
    /// Names of what can be said, in order: `right`, `wrong`; `in between` is what people call
    /// partly right and judges are unsure of.
    pub said: Vec<String>,
    /// How often the first said this (row) and the second that (column).
    pub table: Vec<Vec<u64>>,
    /// Runs on which they disagree, the first few hundred.
    pub disagreements: Vec<Disagreement>,
    /// How many there are.
    pub disagreements_total: u64,
}

/// A run on which two raters disagree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct Disagreement {
    /// The run.
    pub run: String,
    /// Its file.
    pub path: String,
    /// Its task.
    pub task: Option<String>,
    /// What the first said, and why.
    pub first: String,
    /// Why; none when nothing was said.
    pub first_why: Option<String>,
    /// What the second said.
    pub second: String,
    /// Why.
    pub second_why: Option<String>,
}

/// What there is to compare, and how it compares.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct Trust {
    /// Judges that said something, and people.
    pub raters: Vec<Rater>,
    /// Each judge with people, and each two judges, where both said something of at least one run;
    /// without their disagreements.
    pub pairs: Vec<Agreement>,
    /// Runs that were reviewed.
    pub reviewed: u64,
    /// What is left out, and why, in sentences.
    pub notes: Vec<String>,
    /// Files of judgements that cannot be read; a note says which.
    pub unreadable: u64,
}
