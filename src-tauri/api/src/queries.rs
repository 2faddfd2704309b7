//! **Pure.** Results on the query sets of `StableToolBench`, and the published figures beside them.
use super::list::FilterError;
use serde::Serialize;

/// Runs to compare with published figures.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct PublishedRequest {
    /// Filter of the user's own runs, with the syntax of the list.
    pub filter: String,
}

/// The user's own results on query sets, and published ones.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct Published {
    /// Generation of the index that was queried.
    pub generation: u64,
    /// True if the folder has queries; if not, everything else is empty.
    pub here: bool,
    /// Test sets, in the order of the figures.
    pub sets: Vec<QuerySet>,
    /// Published results, in the order of their sources.
    pub rows: Vec<PublishedRow>,
    /// One row per system, model and measure that can be compared with published figures.
    pub own: Vec<OwnRow>,
    /// One summary per system and model.
    pub summaries: Vec<QuerySummary>,
    /// Notes for the reader.
    pub notes: Vec<String>,
    /// Tokens of the filter that could not be parsed.
    pub misread: Vec<FilterError>,
}

/// A test set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct QuerySet {
    /// Name of the set.
    pub name: String,
    /// Number of its queries.
    pub queries: u64,
}

/// A system's row in a published table. Figures are in percent.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct PublishedRow {
    /// File of the table, and line number in it.
    pub source: String,
    /// `current`, `hidden` or `legacy`.
    pub standing: String,
    /// Heading of the table.
    pub section: String,
    /// `SoPR`, `SoWR` or `FAC`.
    pub metric: String,
    /// Judge, if the source names it.
    pub judge: Option<String>,
    /// System compared with, for win rates.
    pub against: Option<String>,
    /// The system.
    pub system: String,
    /// One figure per set.
    pub sets: Vec<PublishedFigure>,
    /// Average, as printed.
    pub average: PublishedFigure,
    /// Unweighted mean of the sets, recomputed.
    pub mean: f64,
    /// Mean weighted by the number of queries, recomputed.
    pub weighted: f64,
    /// True if the printed average equals the unweighted mean.
    pub average_is_mean: bool,
}

/// A published figure, in percent.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct PublishedFigure {
    /// The value.
    pub value: f64,
    /// Standard deviation over rounds.
    pub deviation: Option<f64>,
    /// True if it was printed in bold.
    pub bold: bool,
}

/// Results of one of the user's systems, for comparison with published figures.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct OwnRow {
    /// `system/model`.
    pub name: String,
    /// `SoPR`, `SoWR` or `FAC`.
    pub metric: String,
    /// Scorer of the scores.
    pub scorer: String,
    /// One figure per set; none where no run has such a score.
    pub sets: Vec<Option<OwnFigure>>,
    /// Unweighted mean of the sets; none unless every set has a figure.
    pub mean: Option<f64>,
    /// Figure over all evaluations.
    pub all: OwnFigure,
}

/// A figure of the user's runs, in percent, with its confidence interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct OwnFigure {
    /// The value.
    pub value: f64,
    /// Lower bound of the 95 % confidence interval.
    pub low: Option<f64>,
    /// Upper bound of the interval.
    pub high: Option<f64>,
    /// Number of evaluations with a score.
    pub n: u64,
    /// Number of all evaluations.
    pub of: u64,
}

/// Summary of the runs of a system with a model.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct QuerySummary {
    /// `system/model`.
    pub name: String,
    /// Number of different queries.
    pub total_queries: u64,
    /// Number of all evaluations: runs that ended, except in a system error.
    pub total_evaluations: u64,
    /// Number of runs that ended in a system error or have not ended, and are not counted.
    pub left_out: u64,
    /// Number of evaluations with an answer.
    pub answered: u64,
    /// Judge of the `SoPR` scores; none if there are no such scores.
    pub judged_by: Option<String>,
    /// Share with a `SoPR` score of 1.
    pub solved: Option<QueryShare>,
    /// Share with a `SoPR` score of 0.5.
    pub unsure: Option<QueryShare>,
    /// Share with a `SoPR` score of 0.
    pub unsolved: Option<QueryShare>,
    /// Share that finished.
    pub finished: Option<QueryShare>,
    /// Mean of the `SoPR` scores, where a missing answer counts as not solved.
    pub average_sopr_score: Option<QueryMean>,
    /// Mean of the `SoPR` scores of evaluations with an answer; the figure that the official
    /// program prints.
    pub average_sopr_of_answered: Option<QueryMean>,
    /// Mean of the API call scores.
    pub average_api_call_score: Option<QueryMean>,
    /// Total seconds spent on the runs with a known duration.
    pub seconds: Option<f64>,
    /// Number of these runs.
    pub timed: u64,
}

/// A share of evaluations.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct QueryShare {
    /// Number of evaluations with the property.
    pub count: u64,
    /// Number of all evaluations considered.
    pub of: u64,
    /// Share in percent.
    pub percentage: f64,
    /// Lower bound of the 95 % confidence interval, in percent.
    pub low: f64,
    /// Upper bound of the interval.
    pub high: f64,
}

/// A mean over evaluations, from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct QueryMean {
    /// The mean.
    pub value: f64,
    /// Lower bound of the 95 % confidence interval.
    pub low: Option<f64>,
    /// Upper bound of the interval.
    pub high: Option<f64>,
    /// Number of evaluations.
    pub n: u64,
}
