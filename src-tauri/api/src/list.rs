//! **Pure.** The list of runs: what is asked, and the rows that answer.
use super::score::{FailureClass, ScoreStanding, Verdict};
use super::status::Span;
use super::stored::StoredCount;
use serde::{Deserialize, Serialize};

/// Which runs, in which order, from where.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct ListRequest {
    /// Tokens and free text, as typed: `system:tool_calling state:error "free text"`.
    pub filter: String,
    /// Order; ties are broken by path.
    pub sort: Sort,
    /// Which part.
    pub span: Span,
}

/// An order of runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct Sort {
    /// By what.
    pub column: Column,
    /// Largest, newest or last first. Rows without a value come last either way.
    pub descending: bool,
}

/// Columns that order runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "snake_case")]
pub enum Column {
    /// Path of the file.
    Path,
    /// Task.
    Task,
    /// System.
    System,
    /// Model.
    Model,
    /// Variation.
    Variation,
    /// Repeat.
    Repeat,
    /// State.
    State,
    /// Turns.
    Turns,
    /// Tool calls.
    ToolCalls,
    /// Tokens.
    Tokens,
    /// Cost.
    Cost,
    /// Seconds.
    Seconds,
    /// Size of the file.
    Size,
    /// When the file was last written.
    Modified,
    /// Score.
    Score,
    /// The share of stored verdicts that pass.
    Stored,
}

/// A page of runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct RunPage {
    /// How many runs pass the filter.
    pub total: u64,
    /// The index that answered; pages of one scroll position agree when this does.
    pub generation: u64,
    /// From the offset asked for.
    pub rows: Vec<RunRow>,
    /// Tokens of the filter that were not understood, and what to write instead. A filter with any
    /// matches no run.
    pub misread: Vec<Misread>,
}

/// A piece of a filter that was not understood.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct Misread {
    /// The token as typed.
    pub token: String,
    /// What is wrong and what to write instead.
    pub message: String,
}

/// One run in a list.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct RunRow {
    /// Opaque id; the same for the same path, also after the index was rebuilt.
    pub id: String,
    /// File, relative to the output directory, to be shown; of a file that holds many runs with `#`
    /// and the member.
    pub path: String,
    /// Which of the runs of its file it is, when the file holds many. Such files are read and never
    /// written to.
    pub member: Option<String>,
    /// Task; none when the file name has no coordinates.
    pub task: Option<String>,
    /// System.
    pub system: Option<String>,
    /// Model.
    pub model: Option<String>,
    /// Variation, from 0.
    pub variation: Option<u32>,
    /// Name or parameters of the variation, when the suite is known or the layout names it.
    pub variation_name: Option<String>,
    /// Repeat, from 1.
    pub repeat: u32,
    /// How it ended.
    pub state: RunState,
    /// Why it is in that state, when that needs a word.
    pub reason: Option<String>,
    /// Assistant turns.
    pub turns: u32,
    /// Tool calls.
    pub tool_calls: u32,
    /// Tool calls that failed.
    pub failed_calls: u32,
    /// Messages that were added to drive the run on.
    pub nudges: u32,
    /// Of these, messages that a person sent.
    pub follow_ups: u32,
    /// Why statistics leave it out and no repeat is counted in it; none for a run of the benchmark.
    pub lineage: Option<Lineage>,
    /// The path of the run that it was copied from, when its file says.
    pub forked_from: Option<String>,
    /// The step it was forked from, from 0, when its file says.
    pub forked_step: Option<u32>,
    /// Expected tool calls that never happened.
    pub missing_calls: Vec<String>,
    /// Tokens in and out, when known.
    pub tokens: Option<u64>,
    /// Money in dollars, when known.
    pub cost: Option<f64>,
    /// Seconds that were spent on it, pauses left out, when known.
    pub seconds: Option<f64>,
    /// Size of its files in bytes.
    pub size: u64,
    /// When its file was last written, in milliseconds since 1970.
    pub modified_ms: i64,
    /// What came of the first scorer of its task; none when its task is not known.
    pub scoring: Option<ScoreStanding>,
    /// That scorer.
    pub scorer: Option<String>,
    /// Its score, from 0 to 1.
    pub score: Option<f64>,
    /// Whether that is good enough.
    pub passed: Option<bool>,
    /// Why, in one line.
    pub score_reason: Option<String>,
    /// What went wrong, when something did.
    pub class: Option<FailureClass>,
    /// What a person says of it.
    pub verdict: Option<Verdict>,
    /// What evaluators are stored to have said of it, counted; none when nothing is stored.
    pub stored: Option<StoredCount>,
    /// Where the free text of the filter was found first.
    pub snippet: Option<Snippet>,
}

/// What makes a run another one than the benchmark asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "snake_case")]
pub enum Lineage {
    /// It was copied from another run.
    Fork,
    /// A person sent messages to it.
    FollowUps,
}

impl Lineage {
    /// As it is written in JSON and in the index.
    pub const fn word(self) -> &'static str {
        match self {
            Lineage::Fork => "fork",
            Lineage::FollowUps => "follow_ups",
        }
    }

    /// As it is shown beside a run.
    pub const fn label(self) -> &'static str {
        match self {
            Lineage::Fork => "fork",
            Lineage::FollowUps => "follow-up",
        }
    }
}

/// Says how many runs are left out of numbers, because they are forks or were continued by a
/// person; nothing when none is.
pub fn forks_left_out(count: u64) -> Option<String> {
    match count {
        0 => None,
        1 => Some("1 fork or continued run is left out of these numbers. `forked:yes` shows it, `forked:yes,no` counts all runs.".to_owned()),
        count => Some(format!(
            "{count} forks and continued runs are left out of these numbers. `forked:yes` shows them, `forked:yes,no` counts all runs."
        )),
    }
}

/// How a run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// Ended, with an answer.
    Answered,
    /// Ended, without one.
    NoAnswer,
    /// Ends in a message or tool call that nobody answered: can be continued.
    Waiting,
    /// Ended in a system error.
    Error,
    /// The file is being written.
    Writing,
    /// The file cannot be read.
    Damaged,
    /// Not a transcript. Listed only when asked for.
    Other,
}

/// A piece of text around a hit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct Snippet {
    /// Step of the transcript, from 0; none when the hit is in the answer or outside the steps.
    pub step: Option<u32>,
    /// Text, hits told apart.
    pub pieces: Vec<SnippetPiece>,
}

/// Text that is a hit or is not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct SnippetPiece {
    /// Text.
    pub text: String,
    /// Whether it is what was searched.
    pub hit: bool,
}

/// Where one run stands in a list, and its neighbours there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct Place {
    /// From 0; none when the run does not pass the filter.
    pub position: Option<u64>,
    /// How many there are.
    pub total: u64,
    /// The run before.
    pub previous: Option<String>,
    /// The run after.
    pub next: Option<String>,
}

/// The runs of a list around one of them, in order, as the list was when it was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct RunsAround {
    /// Position of the first of them in the list, from 0.
    pub offset: u64,
    /// How many runs of the list stand before the one that was asked for, whether that is in the
    /// list or not.
    pub before: u64,
    /// How many runs the list has.
    pub total: u64,
    /// Their ids.
    pub ids: Vec<String>,
}

/// Values that occur, for completing a filter.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct Facets {
    /// One for each key of the filter, in the order they should be offered.
    pub keys: Vec<Facet>,
}

/// A key of the filter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct Facet {
    /// As typed, without the colon.
    pub key: String,
    /// What it does, in a few words.
    pub about: String,
    /// Values with how many runs have each, most first; empty for keys that take numbers.
    pub values: Vec<FacetValue>,
}

/// A value that occurs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct FacetValue {
    /// As it is typed.
    pub value: String,
    /// How many runs have it.
    pub count: u64,
}

/// One place where a text was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct Hit {
    /// Run.
    pub id: String,
    /// Its file, relative to the output directory.
    pub path: String,
    /// Text around it, and its step.
    pub snippet: Snippet,
}
