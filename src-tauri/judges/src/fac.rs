//! **Pure.** `fac` (final answer completeness): judges whether the final answer deals with every
//! part of the request. The process is not considered.
use super::{JudgeReply, Rules, Ruling, Step, Subject};

pub(super) const WORDS: [&str; 2] = ["solved", "unsolved"];

pub(super) fn decide(subject: &Subject, _: Rules, heard: &[JudgeReply]) -> Step {
    let ruling = |word: &str, reason: &str| {
        let score = if word == "solved" { 1.0 } else { 0.0 };
        Step::Rule(Ruling { word: word.to_owned(), score, reason: reason.to_owned() })
    };
    match heard {
        _ if subject.gave_up => ruling("unsolved", "It gave up."),
        _ if subject.answer.trim().is_empty() => ruling("unsolved", "There is no final answer."),
        [] => Step::Ask("answer"),
        [.., last] => ruling(&last.word, &last.reason),
    }
}

/// Returns the published script's score for a free-text verdict. The script counts `Not solved` as
/// solved; use only to compare with it.
pub fn official_score(verdict: &str) -> u8 {
    let verdict = verdict.to_lowercase();
    u8::from(verdict.contains("solved") && !verdict.contains("unsolved"))
}
