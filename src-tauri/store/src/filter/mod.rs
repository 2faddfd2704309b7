//! **Pure.** The filter language for choosing runs: parsing text into tokens, printing tokens, and
//! converting tokens to conditions. Owns the grammar and the list of keys, but not the index query
//! or the text search.
//!
//! ```text
//! task:priority* model:o1,o3-mini -state:error calls:>=3 "refund requested" timeout
//! ```
//! All tokens must match. Commas mean or, a leading `-` or `!` means not, `*` matches anything, and
//! quotes take their content literally. `score<0.5` equals `score:<0.5`, for every key that takes a
//! number or a date. `call(sql){failed} then no answer` is one token: a question about steps, with a
//! grammar of its own in [`question`]. Any other word is text to find in the transcript or in the
//! name of the task, system or model. A filter with one invalid token matches no run.

mod admits;
mod condition;
mod keys;
pub(crate) mod labels;
mod letters;
mod own_column;
mod own_values;
mod parse;
mod print;
mod question;
#[cfg(test)]
mod reference;
mod steps;
#[cfg(test)]
mod tests;

pub use admits::Slot;
pub use condition::{Condition, Param};
pub(crate) use condition::{asks_for_others, is_column_token, json_inside};
pub use keys::{KEYS, Key, KeyRule, STATES, ValueKind, key_rule, state_name, state_named};
pub use labels::{LabelRule, Labels, with_renamed};
pub use own_column::{OwnColumn, Piece};
pub(crate) use own_column::{Sortable, fits};
pub use print::typed;
pub use steps::{
    Place, STEP_WORDS, SequenceStep, StepCondition, StepPattern, StepQuestion, StepText, StepWord,
    TextMatch,
};

use touchstone_api::{FilterError, RunState, StoredResult};

/// Model of runs that repeat recorded replies. They are no statement about a system.
const REPLAY: &str = "replay";
/// Format of the rows that evaluators were applied to here.
const EVALUATED: &str = "evaluated";

/// Parsed filter.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Filter {
    /// Tokens that must all match.
    pub tokens: Vec<Token>,
    /// True when any part of the input is invalid. Such a filter has no tokens and matches no run.
    pub invalid: bool,
}

/// One condition, possibly negated.
#[derive(Debug, Clone, PartialEq)]
pub struct Token {
    /// True when the condition must not match. Runs without a value pass: a run that is not known
    /// to use `o1` passes `-model:o1`.
    pub negated: bool,
    /// The condition.
    pub ask: Ask,
}

/// Condition of a token.
#[derive(Debug, Clone, PartialEq)]
pub enum Ask {
    /// The transcript contains this text.
    Text(String),
    /// A property has one of these values; never empty.
    Value(Key, Vec<FilterValue>),
    /// The run has these steps.
    Steps(StepQuestion),
}

/// Value of a condition.
#[derive(Debug, Clone, PartialEq)]
pub enum FilterValue {
    /// Text, ignoring the case of ASCII letters.
    Like(Pattern),
    /// State.
    State(RunState),
    /// One of the words that the key accepts.
    Word(&'static str),
    /// Yes or no.
    Flag(bool),
    /// Comparison with a number; finite and not negative.
    Number(Comparison, f64),
    /// Comparison with a day, month or year: `2026-03-02`, `2026-03`, `2026`. A longer date is cut
    /// to the same length.
    Date(Comparison, String),
    /// Evaluator name and the condition on its imported verdict.
    Stored(Pattern, VerdictCondition),
    /// What a text of a step holds.
    Holds(TextMatch),
    /// Name of a label and the condition on its value.
    Label(String, LabelCondition),
    /// Column of one's own and the condition on its value.
    Own(OwnColumn, LabelCondition),
}

/// Condition on the value of a label or of a column of one's own.
#[derive(Debug, Clone, PartialEq)]
pub enum LabelCondition {
    /// Any value; the run has the label.
    Any,
    /// A text, or an equal number.
    Value(Pattern),
    /// A number that compares like this.
    Number(Comparison, f64),
}

/// Condition on an imported verdict.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum VerdictCondition {
    /// Any verdict, including an error.
    Anything,
    /// Verdict with this result.
    Result(StoredResult),
    /// Verdict with a number that compares like this.
    Number(Comparison, f64),
}

/// Text with wildcards, split at the stars. One piece means no star; never a single empty piece.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern(pub Vec<String>);

/// Number comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `=`, or no sign.
    Equal,
    /// `>=`
    AtLeast,
    /// `>`
    More,
}

impl Comparison {
    /// Compares two numbers.
    pub fn holds(self, one: f64, other: f64) -> bool {
        match self {
            Comparison::Less => one < other,
            Comparison::AtMost => one <= other,
            Comparison::Equal => (one - other).abs() < f64::EPSILON,
            Comparison::AtLeast => one >= other,
            Comparison::More => one > other,
        }
    }
}

impl Pattern {
    /// Matches the pieces in order, the first at the start and the last at the end, ignoring ASCII
    /// case.
    pub fn matches(&self, text: &str) -> bool {
        self.fits(text, <[u8]>::eq_ignore_ascii_case, |text, piece| {
            let (first, rest) = piece.split_first()?;
            let ends = text.len().checked_sub(rest.len())?;
            let (lower, upper) = (first.to_ascii_lowercase(), first.to_ascii_uppercase());
            memchr::memchr2_iter(lower, upper, &text[..ends])
                .find(|at| text[at + 1..at + piece.len()].eq_ignore_ascii_case(rest))
        })
    }

    /// Like [`Pattern::matches`], telling upper and lower case apart.
    pub(crate) fn matches_exactly(&self, text: &str) -> bool {
        self.fits(text, |one, other| one == other, memchr::memmem::find)
    }

    fn fits(
        &self,
        text: &str,
        is_equal: impl Fn(&[u8], &[u8]) -> bool,
        find: impl Fn(&[u8], &[u8]) -> Option<usize>,
    ) -> bool {
        let text = text.as_bytes();
        let [first, between @ .., last] = self.0.as_slice() else {
            return self.0.first().is_some_and(|only| is_equal(only.as_bytes(), text));
        };
        let (first, last) = (first.as_bytes(), last.as_bytes());
        let Some((start, rest)) = text.split_at_checked(first.len()) else { return false };
        let Some(end) = rest.len().checked_sub(last.len()) else { return false };
        let (mut rest, end) = rest.split_at(end);
        if !is_equal(start, first) || !is_equal(end, last) {
            return false;
        }
        for piece in between.iter().map(String::as_bytes).filter(|piece| !piece.is_empty()) {
            let Some(at) = find(rest, piece) else { return false };
            rest = &rest[at + piece.len()..];
        }
        true
    }
}

impl Filter {
    /// Parses filter text. If any of it is invalid, returns a filter that matches no run, with the
    /// reasons.
    pub fn parse(typed: &str) -> (Self, Vec<FilterError>) {
        parse::parse(typed)
    }

    /// Like [`Filter::parse`], for a folder with these labels: a label that it does not have is
    /// invalid.
    pub fn parse_with(typed: &str, labels: &Labels) -> (Self, Vec<FilterError>) {
        parse::parse_with(typed, Some(labels))
    }

    /// Returns the SQL condition for everything except text, questions about steps, and labels.
    pub fn condition(&self) -> Condition {
        condition::condition(self)
    }

    /// Returns true when the filter contains the key `forked`, or asks for superseded runs.
    pub fn names_forks(&self) -> bool {
        self.tokens.iter().any(|token| match &token.ask {
            Ask::Value(Key::Forked, _) => true,
            Ask::Value(Key::Superseded, values) => {
                values.contains(&FilterValue::Flag(!token.negated))
            }
            _ => false,
        })
    }

    /// Returns true for the model of replays.
    pub(crate) fn is_replay(model: &str) -> bool {
        model.eq_ignore_ascii_case(REPLAY)
    }

    /// Returns true for the layout of rows of evaluations.
    pub(crate) fn is_evaluation(layout: &str) -> bool {
        layout.eq_ignore_ascii_case(EVALUATED)
    }

    /// Returns true when the filter asks for replays by their model.
    pub fn names_replays(&self) -> bool {
        self.asks_for(&[Key::Model], REPLAY)
    }

    /// Returns true when the filter asks for rows of evaluations by their format, or for the runs
    /// of a file.
    pub fn names_evaluations(&self) -> bool {
        let names_file = |token: &Token| matches!(token.ask, Ask::Value(Key::File, _));
        self.asks_for(&[Key::Format], EVALUATED)
            || self.tokens.iter().any(|token| !token.negated && names_file(token))
    }

    /// Returns true when one of these keys must have a value that the word is one of.
    fn asks_for(&self, keys: &[Key], word: &str) -> bool {
        self.tokens.iter().filter(|token| !token.negated).any(|token| match &token.ask {
            Ask::Value(key, values) if keys.contains(key) => values
                .iter()
                .any(|value| matches!(value, FilterValue::Like(pattern) if pattern.matches(word))),
            _ => false,
        })
    }

    /// Returns the filter for statistics about systems: it excludes forks, continued and superseded
    /// runs, replays and rows of evaluations, unless it names them itself.
    #[must_use]
    pub fn for_statistics(self) -> Self {
        self.without_forks().for_benchmark()
    }

    /// Returns the filter for the runs of the benchmark: it excludes replays, which repeat what
    /// another model said, and rows of evaluations, which are of no system, unless it names them
    /// itself.
    #[must_use]
    pub fn for_benchmark(self) -> Self {
        self.without_replays().without_evaluations()
    }

    /// Excludes forks, continued and superseded runs, unless the filter names them.
    #[must_use]
    pub fn without_forks(mut self) -> Self {
        if !self.names_forks() {
            let ask = Ask::Value(Key::Forked, vec![FilterValue::Flag(false)]);
            self.tokens.push(Token { negated: false, ask });
        }
        self
    }

    /// Excludes replays, unless the filter names them.
    #[must_use]
    pub fn without_replays(mut self) -> Self {
        if !self.names_replays() {
            self.exclude(Key::Model, REPLAY);
        }
        self
    }

    /// Excludes rows of evaluations, unless the filter names them.
    #[must_use]
    pub fn without_evaluations(mut self) -> Self {
        if !self.names_evaluations() {
            self.exclude(Key::Format, EVALUATED);
        }
        self
    }

    fn exclude(&mut self, key: Key, word: &str) {
        if self.invalid {
            return;
        }
        let value = FilterValue::Like(Pattern(vec![word.to_owned()]));
        self.tokens.push(Token { negated: true, ask: Ask::Value(key, vec![value]) });
    }

    /// Iterates over the conditions on columns of one's own, each with true when none of them may
    /// hold.
    pub(crate) fn own_column_conditions(&self) -> impl Iterator<Item = (&[FilterValue], bool)> {
        self.tokens.iter().filter_map(|token| match &token.ask {
            Ask::Value(_, wanted) if matches!(wanted[..], [FilterValue::Own(..), ..]) => {
                Some((wanted.as_slice(), token.negated))
            }
            _ => None,
        })
    }

    /// Iterates over the search texts, each with true when it must be absent.
    pub fn texts(&self) -> impl Iterator<Item = (&str, bool)> {
        self.tokens.iter().filter_map(|token| match &token.ask {
            Ask::Text(text) => Some((text.as_str(), token.negated)),
            Ask::Value(..) | Ask::Steps(_) => None,
        })
    }

    /// Iterates over the questions about steps, each with true when it must not hold. One of the
    /// alternatives is enough.
    pub fn questions(&self) -> impl Iterator<Item = (Vec<StepQuestion>, bool)> {
        self.tokens.iter().filter_map(|token| {
            let alternatives = match &token.ask {
                Ask::Steps(question) => vec![question.clone()],
                Ask::Value(key, wanted) => {
                    let (word, text) = key.step_text()?;
                    let question = |value: &FilterValue| match value {
                        FilterValue::Holds(holds) => Some(StepQuestion::holding(word, text, holds)),
                        _ => None,
                    };
                    wanted.iter().filter_map(question).collect()
                }
                Ask::Text(_) => return None,
            };
            Some((alternatives, token.negated))
        })
    }
}
