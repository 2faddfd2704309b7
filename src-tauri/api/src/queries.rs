//! **Pure.** Query sets of `StableToolBench`: what runs of them come to, and what others published.
use super::list::Misread;
use serde::Serialize;

/// Which runs.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct PublishedRequest {
    /// Which runs are one's own, as in the list.
    pub filter: String,
}

/// One's own results on query sets, and those that others published.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct Published {
    /// The index that answered.
    pub generation: u64,
    /// Whether the folder has queries; all else is empty when it has none.
    pub here: bool,
    /// The test sets, in the order of the figures.
    pub sets: Vec<QuerySet>,
    /// What others published, in their order.
    pub rows: Vec<PublishedRow>,
    /// One for each system with each model and each measure that compares with what was published.
    pub own: Vec<OwnRow>,
    /// One for each system with each model: what its runs come to.
    pub summaries: Vec<QuerySummary>,
    /// What a reader should know.
    pub notes: Vec<String>,
    /// Tokens of the filter that were not understood.
    pub misread: Vec<Misread>,
}

/// A test set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct QuerySet {
    /// Its name.
    pub name: String,
    /// How many queries it has.
    pub queries: u64,
}

/// One system in a table that was published. Figures are in percent.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct PublishedRow {
    /// The file it stands in, and its line there.
    pub source: String,
    /// `current`, `hidden` or `legacy`.
    pub standing: String,
    /// The heading it stands under.
    pub section: String,
    /// ``SoPR``, `SoWR` or `FAC`.
    pub metric: String,
    /// Who judged; none when nobody says.
    pub judge: Option<String>,
    /// The system it is compared with, for win rates.
    pub against: Option<String>,
    /// The system.
    pub system: String,
    /// One for each set.
    pub sets: Vec<PublishedFigure>,
    /// The average as it was printed.
    pub average: PublishedFigure,
    /// The plain mean of the sets, computed anew.
    pub mean: f64,
    /// The mean where each query counts the same, computed anew.
    pub weighted: f64,
    /// Whether the printed average is the plain mean.
    pub average_is_mean: bool,
}

/// A figure as it was printed, in percent.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct PublishedFigure {
    /// The value.
    pub value: f64,
    /// Standard deviation over rounds.
    pub deviation: Option<f64>,
    /// It was printed in bold.
    pub bold: bool,
}

/// One's own system beside what was published.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct OwnRow {
    /// `system/model`.
    pub name: String,
    /// ``SoPR``, `SoWR` or `FAC`.
    pub metric: String,
    /// Whose scores these are.
    pub scorer: String,
    /// One for each set; none where nothing has such a score.
    pub sets: Vec<Option<OwnFigure>>,
    /// The plain mean of the sets; none unless each has a figure.
    pub mean: Option<f64>,
    /// All evaluations together.
    pub all: OwnFigure,
}

/// A figure of one's own, in percent, with its doubt.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct OwnFigure {
    /// The value.
    pub value: f64,
    /// Lower end of its 95 % interval.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// Evaluations that have a score.
    pub n: u64,
    /// All evaluations.
    pub of: u64,
}

/// What the runs of a system with a model come to.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct QuerySummary {
    /// `system/model`.
    pub name: String,
    /// Different queries.
    pub total_queries: u64,
    /// All evaluations: runs that ended, but not in a system error.
    pub total_evaluations: u64,
    /// Runs that ended in a system error, or have not ended: they are not counted.
    pub left_out: u64,
    /// Evaluations with an answer.
    pub answered: u64,
    /// Whose `SoPR` scores these are; none when there are none.
    pub judged_by: Option<String>,
    /// `SoPR` score of 1.
    pub solved: Option<QueryShare>,
    /// `SoPR` score of 0.5.
    pub unsure: Option<QueryShare>,
    /// `SoPR` score of 0.
    pub unsolved: Option<QueryShare>,
    /// Finished.
    pub finished: Option<QueryShare>,
    /// The mean of the `SoPR` scores, where a missing answer counts as not solved.
    pub average_sopr_score: Option<QueryMean>,
    /// The same over the evaluations with an answer: what the official program prints.
    pub average_sopr_of_answered: Option<QueryMean>,
    /// The mean of the API call scores.
    pub average_api_call_score: Option<QueryMean>,
    /// Seconds that were spent on the runs that say.
    pub seconds: Option<f64>,
    /// How many say.
    pub timed: u64,
}

/// A share of evaluations.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct QueryShare {
    /// How many.
    pub count: u64,
    /// Of how many.
    pub of: u64,
    /// In percent.
    pub percentage: f64,
    /// Lower end of its 95 % interval, in percent.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// A mean over evaluations, from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct QueryMean {
    /// The mean.
    pub value: f64,
    /// Lower end of its 95 % interval.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// Over how many.
    pub n: u64,
}
