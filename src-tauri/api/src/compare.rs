//! **Pure.** Two to four runs, step by step beside each other.
use super::list::RunRow;
use super::score::{DiffKind, TextChange};
use super::stored::StoredLine;
use serde::{Deserialize, Serialize};

/// Runs, put beside each other.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct Comparison {
    /// The runs, in the order asked for; the first that can be read is what the others are compared
    /// with.
    pub runs: Vec<ComparedRun>,
    /// What evaluators are stored to have said of each run, where these are rows of evaluations.
    pub stored: Vec<StoredLine>,
    /// Rows of steps, in the order of every run.
    pub rows: Vec<CompareRow>,
    /// The first row in which what was done differs.
    pub first_divergence: Option<u32>,
    /// The first row in which the same was done and something else came back.
    pub first_other_result: Option<u32>,
    /// The runs were too long for a fine alignment.
    pub coarse: bool,
    /// What a reader should know.
    pub notes: Vec<String>,
}

/// One of the runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct ComparedRun {
    /// As in the list.
    pub row: RunRow,
    /// Names the content that was read, for reading steps.
    pub version: String,
    /// How many steps it has.
    pub steps: u32,
    /// What keeps it from being compared, when something does. It has no steps in any row then, and
    /// parts from nothing.
    pub trouble: Option<String>,
    /// The row in which it parts from the first run; none for the first one itself.
    pub parts_at: Option<u32>,
    /// How its answer relates to that of the first run: missing when only that one has an answer,
    /// absent when neither has or when it is not known.
    pub answer: DiffKind,
    /// What differs, in one line.
    pub answer_summary: Option<String>,
}

/// Steps that stand beside each other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct CompareRow {
    /// For each run the step, if it has one here.
    pub steps: Vec<Option<u32>>,
    /// How the other runs relate to the first: the strongest difference.
    pub relation: Relation,
    /// The runs part here: not all did the same. What they were given, what they say on the way and
    /// what comes of the same call are no parting.
    pub diverges: bool,
    /// What it is, in a few words: `query_support_tickets`, `assistant message`.
    pub title: String,
}

/// How steps relate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "snake_case")]
pub enum Relation {
    /// The same was done, and the same came back.
    Same,
    /// The same but for words that do not matter: instructions of the system, what is said on the
    /// way to a call, spaces in SQL, the time of the run.
    Reworded,
    /// The same tool was asked in another way, and the same came back.
    SameResult,
    /// The same was done, and something else came back.
    OtherResult,
    /// The same kind of thing was done with other words or arguments.
    Similar,
    /// Something else was done.
    Different,
    /// Only some of the runs have a step here.
    Alone,
}

/// A step of a run.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct StepRef {
    /// Run.
    pub id: String,
    /// Content that was read.
    pub version: String,
    /// Step.
    pub step: u32,
}

/// Two steps, compared part by part.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct StepDiff {
    /// Parts of either, those with the same label beside each other.
    pub parts: Vec<PartDiff>,
}

/// Two parts, compared.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct PartDiff {
    /// What it is within the step.
    pub label: String,
    /// How they relate.
    pub kind: DiffKind,
    /// In one line, when the parts are values: `2 of 20 rows differ`.
    pub summary: Option<String>,
    /// The text of both, what differs told apart; empty when equal.
    pub pieces: Vec<TextChange>,
    /// False when parts of the texts are left out: the middle of long equal stretches, and what is
    /// too long to be shown.
    pub whole: bool,
    /// The texts were too long for a fine comparison.
    pub coarse: bool,
}
