//! **Pure.** The filter language for choosing runs: parsing text into tokens, printing tokens, and
//! converting tokens to conditions. Owns the grammar and the list of keys, but not the index query
//! or the text search.
//!
//! ```text
//! task:priority* model:o1,o3-mini -state:error calls:>=3 "refund requested" timeout
//! ```
//! All tokens must match. Commas mean or, a leading `-` or `!` means not, `*` matches anything, and
//! quotes take their content literally. `score<0.5` equals `score:<0.5`, for every key that takes a
//! number or a date. Any other word is text to find in the transcript or in the name of the task, system or
//! model. A filter with one invalid token matches no run.

mod admits;
mod condition;
mod keys;
mod parse;
mod print;
#[cfg(test)]
mod reference;

pub use admits::Slot;
pub use condition::{Condition, Param};
pub use keys::{KEYS, Key, KeyRule, STATES, ValueKind, key_rule, state_name, state_named};
pub use print::typed;

use touchstone_api::{FilterError, RunState, StoredResult};

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

impl Filter {
    /// Parses filter text. If any of it is invalid, returns a filter that matches no run, with the
    /// reasons.
    pub fn parse(typed: &str) -> (Self, Vec<FilterError>) {
        parse::parse(typed)
    }

    /// Returns the SQL condition for everything except the text tokens.
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

    /// Returns the filter for statistics: it excludes forks, continued and superseded runs, unless
    /// it names them itself.
    #[must_use]
    pub fn for_statistics(mut self) -> Self {
        if !self.names_forks() {
            let ask = Ask::Value(Key::Forked, vec![FilterValue::Flag(false)]);
            self.tokens.push(Token { negated: false, ask });
        }
        self
    }

    /// Iterates over the search texts, each with true when it must be absent.
    pub fn texts(&self) -> impl Iterator<Item = (&str, bool)> {
        self.tokens.iter().filter_map(|token| match &token.ask {
            Ask::Text(text) => Some((text.as_str(), token.negated)),
            Ask::Value(..) => None,
        })
    }
}
