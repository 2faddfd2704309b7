//! **Pure.** What went wrong with a run, in one word.

/// What went wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Failure {
    /// There is an answer, and it is wrong.
    WrongAnswer,
    /// It ended without an answer, and nothing says why.
    NoAnswer,
    /// It ended without an answer, and an expected tool was never called.
    MissingToolCall,
    /// It ended without an answer, and the last call failed, or a tool never worked.
    ToolError,
    /// It ended without an answer, and the last message says that it cannot or will not.
    GaveUp,
    /// The provider or the program failed.
    SystemError,
    /// It took too long.
    Timeout,
}

/// How a run stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Stop {
    /// By itself, with an answer.
    Answered,
    /// By itself, without one.
    #[default]
    NoAnswer,
    /// In a system error.
    Error,
}

/// What is known of the end of a run.
#[derive(Debug, Clone, Copy, Default)]
pub struct Ending<'a> {
    /// How it stopped.
    pub stop: Stop,
    /// Why, when it stopped in an error.
    pub reason: Option<&'a str>,
    /// The last message of the assistant.
    pub said: &'a str,
    /// True when the last message was scored as the answer ([`super::Scorer::reads_texts`]).
    pub said_is_answer: bool,
    /// Tools that have to be called.
    pub expected_calls: &'a [String],
    /// Tools that were called, in order, and whether the call failed.
    pub calls: &'a [(String, bool)],
    /// Whether the answer is good enough; none when nobody knows.
    pub passed: Option<bool>,
}

/// What went wrong; none when nothing did, or nobody knows.
///
/// A system error comes first, because nothing that comes of it says anything about the answer. An answer that is not good enough is
/// wrong, whatever else happened. Without an answer, what can be seen (a tool that failed to the end) comes before what was said, and
/// that before what did not happen.
pub fn failure_class(ending: &Ending<'_>) -> Option<Failure> {
    if ending.stop == Stop::Error {
        return Some(if ending.reason.is_some_and(is_timeout) { Failure::Timeout } else { Failure::SystemError });
    }
    if ending.passed == Some(true) {
        return None;
    }
    if ending.stop == Stop::Answered {
        return (ending.passed == Some(false)).then_some(Failure::WrongAnswer);
    }
    if tools_failed(ending.calls) {
        Some(Failure::ToolError)
    } else if gives_up(ending.said) {
        Some(Failure::GaveUp)
    } else if ending.expected_calls.iter().any(|name| ending.calls.iter().all(|(called, _)| called != name)) {
        Some(Failure::MissingToolCall)
    } else if ending.said_is_answer {
        (ending.passed == Some(false)).then_some(Failure::WrongAnswer)
    } else {
        Some(Failure::NoAnswer)
    }
}

/// The last call failed, or a tool was called and never worked.
fn tools_failed(calls: &[(String, bool)]) -> bool {
    let works = |name: &str| calls.iter().any(|(other, failed)| other == name && !failed);
    calls.last().is_some_and(|(_, failed)| *failed) || calls.iter().any(|(name, _)| !works(name))
}

fn is_timeout(reason: &str) -> bool {
    let reason = reason.to_lowercase();
    ["timeout", "timed out", "time out", "took too long", "deadline exceeded", "status 408", "status 504"]
        .iter()
        .any(|words| reason.contains(words))
}

/// True when a message says that there will be no answer.
pub fn gives_up(_said: &str) -> bool {
    false
}
