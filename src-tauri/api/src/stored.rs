//! **Pure.** What evaluators are stored to have said of rows of evaluations, as lists, comparisons
//! and reports show it.
use serde::Serialize;

/// What came of an evaluator for a run, as its file has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "snake_case")]
pub enum StoredResult {
    /// It passes.
    Pass,
    /// It does not pass.
    Fail,
    /// Something was said, and not whether that is good enough.
    Open,
    /// It ended in an error, which says nothing of the answer.
    Error,
    /// It has no result, which says nothing of the answer either.
    None,
}

impl StoredResult {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Pass, Self::Fail, Self::Open, Self::Error, Self::None];

    /// As it is written in the index and in filters.
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

/// What an evaluator is stored to have said of a run, in short. Nothing of it was judged here.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct StoredSaid {
    /// The name that it has in the file.
    pub evaluator: String,
    /// What came of it.
    pub result: StoredResult,
    /// The number, as it is written.
    pub score: Option<String>,
    /// A word that stands for the number or beside it.
    pub word: Option<String>,
    /// What it had to reach, or was not to pass.
    pub threshold: Option<String>,
    /// The beginning of why; of an error, of the error.
    pub reason: Option<String>,
}

impl StoredSaid {
    /// Its word and its number, and what came of it; empty where nothing of that is known.
    pub fn told(&self) -> String {
        let result = match self.result {
            StoredResult::None => "no result",
            StoredResult::Open => "",
            result => result.word(),
        };
        let words = [self.word.as_deref(), self.score.as_deref(), Some(result)];
        words.into_iter().flatten().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
    }
}

/// What one evaluator is stored to have said of each of some runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct StoredLine {
    /// Its name.
    pub evaluator: String,
    /// For each run; nothing where its file has no column of it.
    pub said: Vec<Option<StoredSaid>>,
}

/// How many evaluators are stored to have let a run pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct StoredCount {
    /// So many.
    pub passed: u32,
    /// Of so many that say whether it passes.
    pub decided: u32,
    /// So many more ended in an error.
    pub errors: u32,
}
