//! **Pure.** What a person types to choose runs: words read into tokens, tokens printed again,
//! tokens turned into conditions. Owns the grammar and the list of keys; knows nothing of how the
//! index is asked or the text is searched.
//!
//! ```text
//! task:priority* model:o1,o3-mini -state:error calls:>=3 "refund requested" timeout
//! ```
//! Every token must hold. Commas mean or, a leading `-` or `!` means not, `*` stands for anything,
//! quotes keep what is inside as it is. `score<0.5` is `score:<0.5`, for every key that takes a
//! number. A word that is no token is text to be found in the transcript or in the name of the
//! task, system or model. A filter with one invalid token matches no run.

mod admits;
mod condition;
mod keys;
mod parse;
mod print;

pub use admits::Slot;
pub use condition::{Condition, Param};
pub use keys::{KEYS, Key, KeyRule, STATES, Takes, key_rule, state_name, state_named};
pub use print::typed;

use touchstone_api::{Misread, RunState, StoredResult};

/// What was understood of a filter.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Filter {
    /// All of these must hold.
    pub tokens: Vec<Token>,
    /// True when some of what was typed is invalid. Such a filter has no tokens and matches no run.
    pub invalid: bool,
}

/// One thing that must hold, or must not.
#[derive(Debug, Clone, PartialEq)]
pub struct Token {
    /// True when it must not hold. Runs without a value pass: what is not known to be `o1` is not
    /// `o1`.
    pub negated: bool,
    /// What.
    pub ask: Ask,
}

/// What a token asks.
#[derive(Debug, Clone, PartialEq)]
pub enum Ask {
    /// The transcript contains this text.
    Text(String),
    /// A property has one of these values; never empty.
    Value(Key, Vec<Wanted>),
}

/// A value that is asked for.
#[derive(Debug, Clone, PartialEq)]
pub enum Wanted {
    /// Text, ignoring the case of ASCII letters.
    Like(Pattern),
    /// A state.
    State(RunState),
    /// One of the words that the key takes.
    Word(&'static str),
    /// Yes or no.
    Flag(bool),
    /// A number on one side of another; finite and not negative.
    Number(Comparison, f64),
    /// An evaluator, and what it is stored to have said.
    Stored(Pattern, StoredAsk),
}

/// What an evaluator is asked to have said.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum StoredAsk {
    /// Anything, an error included.
    Anything,
    /// This came of it.
    Result(StoredResult),
    /// A number on one side of another.
    Number(Comparison, f64),
}

/// Text with gaps: the pieces between the stars. One piece means no star; never just one empty
/// piece.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern(pub Vec<String>);

/// How numbers are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `=`, or nothing.
    Equal,
    /// `>=`
    AtLeast,
    /// `>`
    More,
}

impl Filter {
    /// Reads what was typed. Returns a filter that matches no run, and the reasons, when any of it
    /// is invalid.
    pub fn parse(typed: &str) -> (Self, Vec<Misread>) {
        parse::parse(typed)
    }

    /// Everything but the text, for the index to answer.
    pub fn condition(&self) -> Condition {
        condition::condition(self)
    }

    /// Whether it says itself what becomes of forks and of runs that a person continued.
    pub fn names_forks(&self) -> bool {
        self.tokens.iter().any(|token| matches!(token.ask, Ask::Value(Key::Forked, _)))
    }

    /// The same filter for statistics: it leaves forks and continued runs out, unless it says
    /// itself what becomes of them.
    #[must_use]
    pub fn for_statistics(mut self) -> Self {
        if !self.names_forks() {
            let ask = Ask::Value(Key::Forked, vec![Wanted::Flag(false)]);
            self.tokens.push(Token { negated: false, ask });
        }
        self
    }

    /// The texts, with whether each must be absent.
    pub fn texts(&self) -> impl Iterator<Item = (&str, bool)> {
        self.tokens.iter().filter_map(|token| match &token.ask {
            Ask::Text(text) => Some((text.as_str(), token.negated)),
            Ask::Value(..) => None,
        })
    }
}
