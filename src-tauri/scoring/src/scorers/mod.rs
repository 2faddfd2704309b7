//! **Pure.** Scorers: from an answer and what was expected to a number from 0 to 1, with its reason. Owns which scorers there
//! are, how suites name them, and which are taken when a suite names none.

use touchstone_formats::value::Value;

/// What is scored.
#[derive(Debug, Clone, Copy, Default)]
pub struct Case<'a> {
    /// What was expected; none when the suite has nothing.
    pub expected: Option<&'a Value>,
    /// The answer; none when the run ended without one.
    pub answer: Option<&'a Value>,
    /// The last message of the assistant, for scorers of texts when there is no answer.
    pub said: &'a str,
    /// Tools that have to be called.
    pub expected_calls: &'a [String],
    /// Tools that were called, in order, and whether the call failed.
    pub calls: &'a [(String, bool)],
    /// Key of the answer that tells its rows apart, when the suite names it.
    pub key: Option<&'a str>,
}

/// What a scorer says.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Scored {
    /// From 0 to 1; none when it has no say.
    pub score: Option<f64>,
    /// Whether that is good enough.
    pub passed: Option<bool>,
    /// Why, as a sentence.
    pub reason: String,
    /// Numbers behind it, in order.
    pub detail: Vec<(String, String)>,
}
