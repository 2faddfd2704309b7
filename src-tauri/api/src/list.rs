//! **Pure.** The list of runs: requests, and the rows returned.
use super::imported_verdicts::{StoredBrief, StoredCount};
use super::score::{FailureClass, ScoreStanding, Verdict};
use super::status::Span;
use serde::{Deserialize, Serialize};

/// Filter, order and part of the list of runs.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct ListRequest {
    /// Filter as typed, tokens and free text: `system:tool_calling state:error "free text"`.
    pub filter: String,
    /// Order; ties are broken by path.
    pub sort: Sort,
    /// Part of the list.
    pub span: Span,
}

/// Order of runs.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct Sort {
    /// Column to order by.
    pub column: Column,
    /// Descending order: largest, newest or last first. Rows without a value come last in both
    /// orders.
    pub descending: bool,
}

/// Columns that runs can be ordered by.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
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
    /// Repeat number.
    Repeat,
    /// State.
    State,
    /// Number of turns.
    Turns,
    /// Number of tool calls.
    ToolCalls,
    /// Number of tokens.
    Tokens,
    /// Cost.
    Cost,
    /// Duration in seconds.
    Seconds,
    /// Size of the file.
    Size,
    /// Time when the file was last written.
    Modified,
    /// Score.
    Score,
    /// Share of imported verdicts that pass.
    Stored,
    /// A column of one's own.
    #[serde(untagged)]
    Own(OwnName),
}

/// Values of columns of one's own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct OwnColumns {
    /// Of each column: true if its values may quote what was said in a run, so that they are folded
    /// with the texts of a sensitive run.
    pub quotes: Vec<bool>,
    /// Of each run: the value of each column; none where the run has none.
    pub values: Vec<Vec<Option<String>>>,
}

/// A column of one's own as it is typed: `answer.items[0].id`, `fact:run.version`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String")]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct OwnName(
    #[cfg_attr(
        test,
        ts(type = "`answer${string}` | `fact:${string}` | `label:${string}` | \
                   `score:${string}` | `verdict:${string}`")
    )]
    String,
);

impl OwnName {
    /// Returns it as it was typed.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for OwnName {
    type Error = String;

    /// Fails for what begins like no column of one's own.
    fn try_from(typed: String) -> Result<Self, String> {
        const KINDS: [&str; 4] = ["fact:", "label:", "score:", "verdict:"];
        let path = typed.strip_prefix("answer").map(|path| path.chars().next());
        let is_path = path.is_some_and(|first| matches!(first, None | Some('.' | '[')));
        if is_path || KINDS.iter().any(|kind| typed.starts_with(kind)) {
            return Ok(Self(typed));
        }
        Err(format!("there is no column {typed}"))
    }
}

/// A saved view of the list of runs, from the workspace file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct ListView {
    /// Name.
    pub name: String,
    /// Filter as typed; empty means all runs.
    pub filter: String,
    /// Column of the order, with a minus sign for the reverse one; none for the usual order.
    pub sort: Option<String>,
    /// Columns to show; none for the usual ones.
    pub columns: Option<Vec<String>>,
}

/// Order of a review queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum QueueOrder {
    /// Order of the list.
    List,
    /// Runs that the person has not reviewed yet, then the others; both in the order of the list.
    Unreviewed,
    /// An order that depends on the seed and the ids of the runs alone.
    Random {
        /// Equal seeds give equal orders.
        seed: u32,
    },
}

/// Runs of a review queue by what one person said of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct QueueProgress {
    /// Number of runs that match the filter.
    pub total: u64,
    /// Number of these with a verdict or score of the person about the present answer.
    pub reviewed: u64,
    /// Number of these with the verdict right.
    pub right: u64,
    /// Number of these with the verdict partly right.
    pub partly: u64,
    /// Number of these with the verdict wrong.
    pub wrong: u64,
}

/// A page of runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct RunPage {
    /// Number of runs that match the filter.
    pub total: u64,
    /// Generation of the index that was queried; pages of one scroll position are consistent if
    /// they have the same generation.
    pub generation: u64,
    /// Rows from the requested offset on.
    pub rows: Vec<RunRow>,
    /// Tokens of the filter that could not be parsed, with corrections. A filter with such a token
    /// matches no run.
    pub misread: Vec<FilterError>,
}

/// A token of a filter that could not be parsed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct FilterError {
    /// The token as typed.
    pub token: String,
    /// The mistake and its correction.
    pub message: String,
}

/// A run in a list.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct RunRow {
    /// Opaque id; stays the same for the same path, even after the index is rebuilt.
    pub id: String,
    /// File, relative to the output directory, for display. For a file with many runs, followed by
    /// `#` and the member.
    pub path: String,
    /// True if texts of the run are folded until they are asked for; none otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub sensitive: Option<bool>,
    /// Member of the file, if the file holds many runs. Such files are read and never written to.
    pub member: Option<String>,
    /// Start of the first message of the user, in one line. It may quote an attack.
    pub prompt: Option<String>,
    /// Task; none if the file name has no coordinates.
    pub task: Option<String>,
    /// System.
    pub system: Option<String>,
    /// Model.
    pub model: Option<String>,
    /// Variation, from 0.
    pub variation: Option<u32>,
    /// Name or parameters of the variation, if the suite is known or the layout names it.
    pub variation_name: Option<String>,
    /// Repeat number, from 1.
    pub repeat: u32,
    /// State of the run.
    pub state: RunState,
    /// Reason for the state, if it needs one.
    pub reason: Option<String>,
    /// Number of assistant turns.
    pub turns: u32,
    /// Number of tool calls.
    pub tool_calls: u32,
    /// Number of tool calls that failed.
    pub failed_calls: u32,
    /// Number of messages that were added to make the run go on.
    pub nudges: u32,
    /// Number of these messages that a person sent.
    pub follow_ups: u32,
    /// Reason for excluding the run from statistics and from the repeats; none for a run of the
    /// benchmark.
    pub lineage: Option<Lineage>,
    /// Path of the run that this one was copied from, if its file contains it.
    pub forked_from: Option<String>,
    /// Step at which it was forked, from 0, if its file contains it.
    pub forked_step: Option<u32>,
    /// Format of its file, if another tool wrote it, as in `inspect`. Such files are read and never
    /// written to.
    pub format: Option<String>,
    /// Path of the run that counts in its place, if another file holds the same run.
    pub superseded_by: Option<String>,
    /// Start in milliseconds since 1970, if its file contains it.
    pub started_ms: Option<i64>,
    /// Expected tool calls that were not made.
    pub missing_calls: Vec<String>,
    /// Number of input and output tokens, if known.
    pub tokens: Option<u64>,
    /// Cost in dollars, if known.
    pub cost: Option<f64>,
    /// Seconds spent on the run, excluding pauses, if known.
    pub seconds: Option<f64>,
    /// Total size of its files in bytes. A member has the size of the file that holds it with others.
    pub size: u64,
    /// Time when its file was last written, in milliseconds since 1970.
    pub modified_ms: i64,
    /// Outcome of the first scorer of its task; none if the task is not known.
    pub scoring: Option<ScoreStanding>,
    /// Name of that scorer.
    pub scorer: Option<String>,
    /// Score of that scorer, from 0 to 1.
    pub score: Option<f64>,
    /// True if the score is a pass.
    pub passed: Option<bool>,
    /// Reason for the score, on one line.
    pub score_reason: Option<String>,
    /// Failure class, if the run failed.
    pub class: Option<FailureClass>,
    /// Verdict of a person.
    pub verdict: Option<Verdict>,
    /// Counts of the imported verdicts of evaluators; none if the file has none.
    pub stored: Option<StoredCount>,
    /// The first of these verdicts, without their reasons, in pages of a list; else empty.
    pub verdicts: Vec<StoredBrief>,
    /// Labels of the run, in pages of a list; else empty.
    pub labels: Vec<RunLabel>,
    /// Text around the first match of the filter's free text.
    pub snippet: Option<Snippet>,
}

impl RunRow {
    /// Returns the variation: its name, else its number. `None` for the only variation of a task:
    /// imported runs have one, and of a suite with several ones each has a name.
    pub fn variation_text(&self) -> Option<String> {
        let is_only =
            self.variation == Some(0) && (self.format.is_some() || self.scoring.is_some());
        let number = self.variation.filter(|_| !is_only).map(|number| number.to_string());
        self.variation_name.clone().or(number)
    }

    /// Returns the score: that of the scorer of its task or, of a row that evaluators were applied to,
    /// what they say, as far as the row holds it.
    pub fn score_text(&self, format: impl Fn(f64) -> String) -> Option<String> {
        let said = self.verdicts.iter().filter_map(|one| one.score.clone().or(one.word.clone()));
        let said = said.collect::<Vec<_>>().join(", ");
        match self.scoring {
            None => (!said.is_empty()).then_some(said),
            Some(_) => self.score.map(format),
        }
    }
}

/// A label of a run.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct RunLabel {
    /// Name.
    pub name: String,
    /// Value that people gave; none for a label that follows from a question. People who disagree
    /// have an entry each.
    pub value: Option<String>,
}

/// Reason that a run is not an original run of the benchmark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "snake_case")]
pub enum Lineage {
    /// It was copied from another run.
    Fork,
    /// A person sent messages to it.
    FollowUps,
    /// Another file of the folder holds the same run and counts in its place.
    Superseded,
}

impl Lineage {
    /// Returns the name used in JSON and in the index.
    pub const fn word(self) -> &'static str {
        match self {
            Lineage::Fork => "fork",
            Lineage::FollowUps => "follow_ups",
            Lineage::Superseded => "superseded",
        }
    }

    /// Returns the label shown beside a run.
    pub const fn label(self) -> &'static str {
        match self {
            Lineage::Fork => "fork",
            Lineage::FollowUps => "follow-up",
            Lineage::Superseded => "superseded",
        }
    }
}

/// Numbers of runs that match a filter and that statistics exclude. Each run is in one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct LeftOut {
    /// Number of forks, of runs continued by a person, and of superseded runs.
    pub forks_left_out: u64,
    /// Number of replays: runs of the model `replay`, which repeats recorded replies.
    pub replays_left_out: u64,
    /// Number of rows that evaluators were applied to.
    pub evaluations_left_out: u64,
}

impl LeftOut {
    /// Formats a note for each kind of excluded runs, with the filter that shows them.
    pub fn notes(&self) -> Vec<String> {
        let replays = match self.replays_left_out {
            0 => None,
            1 => Some("1 replay is left out of these numbers. `model:replay` shows it.".to_owned()),
            count => Some(format!(
                "{count} replays are left out of these numbers. `model:replay` shows them."
            )),
        };
        let evaluations = match self.evaluations_left_out {
            0 => None,
            1 => Some(
                "1 row of an evaluation is left out of these numbers. `format:evaluated` shows it."
                    .to_owned(),
            ),
            count => Some(format!(
                "{count} rows of evaluations are left out of these numbers. `format:evaluated` shows them."
            )),
        };
        let forks = describe_excluded_forks(self.forks_left_out);
        [forks, replays, evaluations].into_iter().flatten().collect()
    }
}

/// Formats a note on the number of runs that are excluded from statistics because they are forks,
/// were continued by a person, or are superseded. Returns `None` for 0.
pub fn describe_excluded_forks(count: u64) -> Option<String> {
    match count {
        0 => None,
        1 => Some(
            "1 run that is a fork, was continued or is superseded is left out of these numbers. \
             `forked:yes` shows it, `forked:yes,no` counts all runs."
                .to_owned(),
        ),
        count => Some(format!(
            "{count} runs that are forks, were continued or are superseded are left out of these \
             numbers. `forked:yes` shows them, `forked:yes,no` counts all runs."
        )),
    }
}

/// State of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// Ended with an answer.
    Answered,
    /// Ended without an answer.
    NoAnswer,
    /// Ends in an unanswered message or tool call, and can be resumed.
    Waiting,
    /// Ended in a system error.
    Error,
    /// The file is being written.
    Writing,
    /// The file cannot be read.
    Damaged,
    /// The file is not a transcript. Listed only on request.
    Other,
}

/// Text around a search match.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct Snippet {
    /// Step of the transcript, from 0; none if the match is in the answer or outside the steps.
    pub step: Option<u32>,
    /// The text, split into matching and other pieces.
    pub pieces: Vec<SnippetPiece>,
}

/// A piece of text that matches, or that does not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct SnippetPiece {
    /// Text.
    pub text: String,
    /// True if the piece matches the search.
    pub hit: bool,
}

/// Position of a run in a list, and its neighbours.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct ListPosition {
    /// Position from 0; none if the run does not match the filter.
    pub position: Option<u64>,
    /// Number of runs in the list.
    pub total: u64,
    /// Id of the run before.
    pub previous: Option<String>,
    /// Id of the run after.
    pub next: Option<String>,
}

/// Runs of a list around a given run, in the order that the list had at the time of the request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct RunsAround {
    /// Position of the first of these runs in the list, from 0.
    pub offset: u64,
    /// Number of runs in the list that sort before the given run, which itself need not be in the
    /// list.
    pub before: u64,
    /// Number of runs in the list.
    pub total: u64,
    /// Ids of the runs.
    pub ids: Vec<String>,
}

/// Values that occur in the index, for completing a filter.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct Facets {
    /// One entry per key of the filter, in the order in which to offer them.
    pub keys: Vec<Facet>,
    /// Parts of answers, as columns of one's own: of some runs, not of all.
    pub parts: Vec<String>,
}

/// A key of the filter, with its values.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct Facet {
    /// Key as typed, without the colon.
    pub key: String,
    /// Short description of the key.
    pub about: String,
    /// Values, most frequent first; empty for keys that take numbers.
    pub values: Vec<FacetValue>,
}

/// A value of a filter key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct FacetValue {
    /// Value as typed.
    pub value: String,
    /// Number of runs with this value. None where counting takes a search of transcripts.
    pub count: Option<u64>,
}

/// A match of a text search.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct Hit {
    /// Id of the run.
    pub id: String,
    /// File of the run, relative to the output directory.
    pub path: String,
    /// Text around the match, and its step.
    pub snippet: Snippet,
}
