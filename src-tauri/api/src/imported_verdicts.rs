//! **Pure.** Verdicts of evaluators imported from files of evaluations, for lists, comparisons and
//! reports.
use serde::Serialize;

/// Result of an evaluator for a run, imported from the run's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "snake_case")]
pub enum StoredResult {
    /// The run passes.
    Pass,
    /// The run does not pass.
    Fail,
    /// The evaluator returned a value without deciding whether the run passes.
    Open,
    /// The evaluator ended in an error, which does not affect the answer's rating.
    Error,
    /// There is no result, which does not affect the answer's rating either.
    None,
}

impl StoredResult {
    /// All results, in order.
    pub const ALL: [Self; 5] = [Self::Pass, Self::Fail, Self::Open, Self::Error, Self::None];

    /// Returns the name used in the index and in filters.
    pub fn word(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Open => "open",
            Self::Error => "error",
            Self::None => "none",
        }
    }
}

/// Short form of an evaluator's imported verdict on a run. None of it was produced by this program.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct StoredBrief {
    /// Name of the evaluator in the file.
    pub evaluator: String,
    /// Result.
    pub result: StoredResult,
    /// Score, as written in the file.
    pub score: Option<String>,
    /// Label in place of the score or beside it.
    pub word: Option<String>,
    /// Threshold to reach, or not to exceed.
    pub threshold: Option<String>,
    /// Beginning of the reason or, for an error, of the error message.
    pub reason: Option<String>,
}

impl StoredBrief {
    /// Formats label, score and result in this order, leaving out those that are unknown.
    pub fn to_short_text(&self) -> String {
        let result = match self.result {
            StoredResult::None => "no result",
            StoredResult::Open => "",
            result => result.word(),
        };
        let words = [self.word.as_deref(), self.score.as_deref(), Some(result)];
        words.into_iter().flatten().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
    }
}

/// Imported verdicts of one evaluator on several runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct StoredLine {
    /// Name of the evaluator.
    pub evaluator: String,
    /// One verdict per run; none where the run's file has no column for the evaluator.
    pub said: Vec<Option<StoredBrief>>,
}

/// Numbers of evaluators by imported result for one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct StoredCount {
    /// Number of evaluators that pass the run.
    pub passed: u32,
    /// Number of evaluators that decided between pass and fail.
    pub decided: u32,
    /// Number of evaluators that ended in an error.
    pub errors: u32,
}
