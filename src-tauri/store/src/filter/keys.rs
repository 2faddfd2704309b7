//! **Pure.** Filter keys: their names, the values they accept, and their descriptions.
use super::{StepText, StepWord};
use touchstone_api::RunState;

/// Property of a run that a filter can test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Key {
    /// Task.
    Task,
    /// System.
    System,
    /// Model.
    Model,
    /// State.
    State,
    /// Score.
    Score,
    /// Score reaches the passing threshold.
    Passed,
    /// Error class.
    Class,
    /// Review by a person.
    Review,
    /// Scorer.
    Scorer,
    /// Scoring state.
    Scoring,
    /// Number or name of the variation.
    Variation,
    /// Repeat.
    Repeat,
    /// Name of a called tool.
    Tool,
    /// Path of the file.
    Path,
    /// Exact path of the file that holds the run.
    File,
    /// Run received follow-up messages.
    Nudged,
    /// Run is a fork, or was continued by a person.
    Forked,
    /// Superseded by another file.
    Superseded,
    /// Expected calls are missing, optionally of a named tool.
    Missing,
    /// A tool call or program failed.
    Failed,
    /// Run has an answer.
    Answer,
    /// Number of assistant turns.
    Turns,
    /// Number of tool calls.
    Calls,
    /// Number of tokens.
    Tokens,
    /// Cost in dollars.
    Cost,
    /// Active time.
    Seconds,
    /// Time of its start.
    Started,
    /// Bytes on disk.
    Size,
    /// Format of the file.
    Format,
    /// Imported verdict of an evaluator.
    Stored,
    /// Number of steps.
    Steps,
    /// Label.
    Label,
    /// Short fact of the file.
    Fact,
    /// Commit that a file records.
    Commit,
    /// Tag of the run, or of the suite of its task.
    Tag,
    /// Text of the assistant's messages.
    Said,
    /// Text of the user's messages.
    Asked,
    /// Arguments of tool calls.
    Args,
    /// Results of tool calls.
    Result,
}

impl Key {
    /// Returns the step and the text that the key looks in.
    pub(super) fn step_text(self) -> Option<(StepWord, StepText)> {
        match self {
            Key::Said => Some((StepWord::Said, StepText::Own)),
            Key::Asked => Some((StepWord::User, StepText::Own)),
            Key::Args => Some((StepWord::Call, StepText::Own)),
            Key::Result => Some((StepWord::Call, StepText::Result)),
            _ => None,
        }
    }
}

/// Kind of value that a key accepts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ValueKind {
    /// Text with `*` wildcards.
    Text,
    /// One of [`STATES`].
    State,
    /// One of these words.
    Word(&'static [&'static str]),
    /// `yes` or `no`.
    Flag,
    /// `yes`, `no`, or text with `*` wildcards.
    FlagOrText,
    /// Number with an optional comparison sign. Holds the allowed units and their factors.
    Number(&'static [(&'static str, f64)]),
    /// Day, month or year in UTC, with an optional comparison sign.
    Date,
    /// Evaluator name with `*` wildcards, optionally followed by a result or a number comparison.
    Stored,
    /// Text to find in steps, or a regular expression.
    StepText,
    /// Name of a label, optionally followed by a value or a number comparison.
    Label,
    /// Key of a fact, optionally followed by a value or a number comparison.
    Fact,
}

/// Key with its name, description and accepted values.
#[derive(Debug, Clone, Copy)]
pub struct KeyRule {
    /// The key.
    pub key: Key,
    /// Name in the filter language, without the colon.
    pub name: &'static str,
    /// Short description.
    pub about: &'static str,
    /// Accepted values.
    pub takes: ValueKind,
    /// Example token.
    pub example: &'static str,
}

const CLASSES: ValueKind = ValueKind::Word(&[
    "wrong_answer",
    "no_answer",
    "missing_tool_call",
    "tool_error",
    "gave_up",
    "system_error",
    "timeout",
]);
const REVIEWS: ValueKind = ValueKind::Word(&["right", "partly", "wrong", "yes", "no"]);
const SCORINGS: ValueKind =
    ValueKind::Word(&["scored", "error", "no_expected", "not_ended", "waiting", "failed"]);
const SHARE: ValueKind = ValueKind::Number(&[("%", 0.01)]);
const COUNT: ValueKind = ValueKind::Number(&[]);
const TOKENS: ValueKind = ValueKind::Number(&[("k", 1e3), ("m", 1e6)]);
const TIME: ValueKind = ValueKind::Number(&[("s", 1.0), ("m", 60.0), ("h", 3600.0)]);
const BYTES: ValueKind = ValueKind::Number(&[("kb", 1e3), ("mb", 1e6), ("gb", 1e9), ("b", 1.0)]);

const fn rule(
    key: Key,
    name: &'static str,
    takes: ValueKind,
    example: &'static str,
    about: &'static str,
) -> KeyRule {
    KeyRule { key, name, about, takes, example }
}

/// All keys, in the order of completion suggestions.
pub const KEYS: [KeyRule; 39] = [
    rule(Key::Task, "task", ValueKind::Text, "task:refunds*", "task"),
    rule(Key::System, "system", ValueKind::Text, "system:tool_calling", "agent system"),
    rule(Key::Model, "model", ValueKind::Text, "model:o1,o3-mini", "model"),
    rule(Key::State, "state", ValueKind::State, "state:error", "how the run ended"),
    rule(Key::Score, "score", SHARE, "score:<0.5", "score, from 0 to 1"),
    rule(Key::Passed, "passed", ValueKind::Flag, "passed:no", "the score is good enough"),
    rule(Key::Class, "class", CLASSES, "class:wrong_answer", "what went wrong"),
    rule(Key::Review, "review", REVIEWS, "review:wrong", "verdict of a person"),
    rule(Key::Label, "label", ValueKind::Label, "label:NAME", "label of touchstone.yaml"),
    rule(Key::Fact, "fact", ValueKind::Fact, "fact:KEY", "short fact of the file, by its key"),
    rule(
        Key::Variation,
        "variation",
        ValueKind::Text,
        "variation:0",
        "number or name of the variation",
    ),
    rule(Key::Repeat, "repeat", COUNT, "repeat:>1", "which repeat, from 1"),
    rule(Key::Tool, "tool", ValueKind::Text, "tool:query_*", "a tool that was called"),
    rule(Key::Said, "said", ValueKind::StepText, "said:refund", "text that the assistant said"),
    rule(Key::Asked, "asked", ValueKind::StepText, "asked:invoice", "text that the user said"),
    rule(
        Key::Args,
        "args",
        ValueKind::StepText,
        "args:/drop +table/",
        "text in the arguments of a tool call",
    ),
    rule(
        Key::Result,
        "result",
        ValueKind::StepText,
        "result:\"no such column\"",
        "text in the result or error of a tool call",
    ),
    rule(Key::Nudged, "nudged", ValueKind::Flag, "nudged:yes", "received follow-up messages"),
    rule(
        Key::Forked,
        "forked",
        ValueKind::Flag,
        "forked:yes",
        "a fork, continued by messages of a person, or superseded",
    ),
    rule(
        Key::Superseded,
        "superseded",
        ValueKind::Flag,
        "superseded:yes",
        "another file holds the same run and counts in its place",
    ),
    rule(
        Key::Missing,
        "missing",
        ValueKind::FlagOrText,
        "missing:yes",
        "expected tool calls that never happened",
    ),
    rule(Key::Failed, "failed", ValueKind::Flag, "failed:yes", "a tool call or program failed"),
    rule(Key::Answer, "answer", ValueKind::Flag, "answer:no", "has an answer"),
    rule(Key::Turns, "turns", COUNT, "turns:>5", "turns of the assistant"),
    rule(Key::Calls, "calls", COUNT, "calls:>=3", "tool calls"),
    rule(Key::Steps, "steps", COUNT, "steps:>20", "steps, without those of abandoned branches"),
    rule(Key::Tokens, "tokens", TOKENS, "tokens:<10k", "tokens in and out"),
    rule(Key::Cost, "cost", COUNT, "cost:>0.5", "dollars"),
    rule(Key::Seconds, "seconds", TIME, "seconds:>60", "active time; also time: and duration:"),
    rule(
        Key::Started,
        "started",
        ValueKind::Date,
        "started:>=2026-03-02",
        "day of its start, in UTC; of the last change of its file if it does not say",
    ),
    rule(
        Key::Commit,
        "commit",
        ValueKind::Text,
        "commit:4f1c2d9a7b30*",
        "commit of the system or the folder, where the file records it",
    ),
    rule(Key::Tag, "tag", ValueKind::Text, "tag:smoke", "tag of the run or of its suite"),
    rule(Key::Size, "size", BYTES, "size:>1mb", "size on disk"),
    rule(Key::Scorer, "scorer", ValueKind::Text, "scorer:fields", "scorer of the score"),
    rule(Key::Scoring, "scoring", SCORINGS, "scoring:failed", "state of scoring"),
    rule(
        Key::Stored,
        "stored",
        ValueKind::Stored,
        "stored:relevance=fail",
        "imported verdict of an evaluator",
    ),
    rule(Key::Path, "path", ValueKind::Text, "path:2024/*", "part of the path of the file"),
    rule(
        Key::File,
        "file",
        ValueKind::Text,
        "file:logs/a.eval",
        "whole path of the file, or of a run in it, below the output folder, in upper and lower case",
    ),
    rule(
        Key::Format,
        "format",
        ValueKind::Text,
        "format:inspect",
        "format of the file, as in `touchstone formats`; also source:",
    ),
];

/// Returns the rule of a key.
pub fn key_rule(key: Key) -> &'static KeyRule {
    // A test ensures that every key is in the list; the fallback keeps this function total.
    KEYS.iter().find(|rule| rule.key == key).unwrap_or(&KEYS[0])
}

/// All states with their names in the index and in filters.
pub const STATES: [(RunState, &str); 7] = [
    (RunState::Answered, "answered"),
    (RunState::NoAnswer, "no_answer"),
    (RunState::Waiting, "waiting"),
    (RunState::Error, "error"),
    (RunState::Writing, "writing"),
    (RunState::Damaged, "damaged"),
    (RunState::Other, "other"),
];

/// Returns the name of a state.
pub fn state_name(state: RunState) -> &'static str {
    STATES.iter().find(|(known, _)| *known == state).map_or("other", |(_, name)| name)
}

/// Word on the screen for runs in the state `waiting`.
pub(super) const PAUSED: &str = "paused";

/// Parses the name of a state, ignoring case. `-` is accepted for `_`, and [`PAUSED`] for `waiting`.
pub fn state_named(word: &str) -> Option<RunState> {
    let word = word.to_ascii_lowercase().replace('-', "_");
    if word == PAUSED {
        return Some(RunState::Waiting);
    }
    STATES.iter().find(|(_, name)| *name == word).map(|(state, _)| *state)
}

/// Returns the key with this name, ignoring case. `layout` is the former name of `format`, and
/// `step` is accepted for `steps`.
pub(super) fn key_named(word: &str) -> Option<&'static KeyRule> {
    let word = match word.to_ascii_lowercase().as_str() {
        // Names of the column.
        "layout" | "source" => "format",
        "step" => "steps",
        "time" | "duration" => "seconds",
        _ => word,
    };
    KEYS.iter().find(|rule| rule.name.eq_ignore_ascii_case(word))
}

/// Suggests the most similar name: up to two edits away (one for words of two to four letters,
/// none for shorter ones), a name that starts with the word (of three letters at least), or a
/// name followed by up to two extra letters.
pub(super) fn nearest<'a>(word: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    nearest_within(word, names, 2)
}

/// Like [`nearest`], with at most `most` edits.
pub(super) fn nearest_within<'a>(
    word: &str,
    names: impl Iterator<Item = &'a str>,
    most: usize,
) -> Option<&'a str> {
    /// Maximum number of extra letters after a name.
    const MOST_BEHIND: usize = 2;
    let word: Vec<char> = word.to_lowercase().chars().take(40).collect();
    let allowed = match word.len() {
        0..=1 => return None,
        2..=4 => 1,
        _ => most,
    };
    names
        .filter_map(|name| {
            let letters: Vec<char> = name.chars().collect();
            // Two letters begin too many names.
            let begins = word.len() > 2
                && (letters.starts_with(&word)
                    || (word.starts_with(&letters) && word.len() <= letters.len() + MOST_BEHIND));
            let distance = if begins { 1 } else { distance(&word, &letters) };
            (distance <= allowed).then_some((distance, name))
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// Edit distance, counting insertions, deletions, substitutions and swaps of neighbours.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for (i, row) in rows.iter_mut().enumerate() {
        row[0] = i;
    }
    for (j, cell) in rows[0].iter_mut().enumerate() {
        *cell = j;
    }
    for i in 1..=a.len() {
        for j in 1..=b.len() {
            let change = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = change.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            rows[i][j] = best;
        }
    }
    rows[a.len()][b.len()]
}
