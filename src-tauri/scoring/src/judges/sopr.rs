//! **Pure.** `sopr`: was the request solved? Runs that were not brought to an answer are unsolved without a question; the others are
//! judged by their answer, and where that does not tell, by everything that was done.
use super::{Finish, Rules, Ruling, Said, Step, Subject};
use touchstone_formats::stabletoolbench::python;
use touchstone_formats::value::Value;

pub(super) const WORDS: [&str; 3] = ["solved", "unsure", "unsolved"];

/// What a round may come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Status {
    /// 1.
    Solved,
    /// 0.5.
    Unsure,
    /// 0.
    Unsolved,
}

impl Status {
    /// Of a word, in any case; also as the published scripts write it: `AnswerStatus.Solved`.
    pub fn of(word: &str) -> Option<Self> {
        match word.trim().to_lowercase().trim_start_matches("answerstatus.") {
            "solved" => Some(Status::Solved),
            "unsure" => Some(Status::Unsure),
            "unsolved" => Some(Status::Unsolved),
            _ => None,
        }
    }

    /// In a word.
    pub fn word(self) -> &'static str {
        match self {
            Status::Solved => "solved",
            Status::Unsure => "unsure",
            Status::Unsolved => "unsolved",
        }
    }

    /// As a number.
    pub fn score(self) -> f64 {
        match self {
            Status::Solved => 1.0,
            Status::Unsure => 0.5,
            Status::Unsolved => 0.0,
        }
    }
}

pub(super) fn decide(subject: &Subject, rules: Rules, heard: &[Said]) -> Step {
    if let Some(why) = without_a_question(subject, rules) {
        return Step::Rule(ruling(Status::Unsolved, why));
    }
    let ask = |section| Step::Ask(section);
    match heard {
        [] => ask("answer"),
        [first] if Status::of(&first.word) == Some(Status::Unsure) => ask("process"),
        [.., last] => Step::Rule(ruling(Status::of(&last.word).unwrap_or(Status::Unsure), last.reason.clone())),
    }
}

fn ruling(status: Status, reason: impl Into<String>) -> Ruling {
    Ruling { word: status.word().to_owned(), score: status.score(), reason: reason.into() }
}

/// Why nobody has to be asked.
fn without_a_question(subject: &Subject, rules: Rules) -> Option<&'static str> {
    let Subject { answer, finish, gave_up, .. } = subject;
    match (rules, finish) {
        (Rules::Official, Finish::Last) | (Rules::Ours, Finish::Last | Finish::Earlier | Finish::NotUsed) => {}
        (Rules::Official, _) => return Some("The last tool that was called is not Finish (official rule)."),
        (Rules::Ours, Finish::Missing) => return Some("Finish was never called."),
    }
    let says_so = match rules {
        Rules::Official => answer.contains("give_up_and_restart"),
        Rules::Ours => names_giving_up(answer),
    };
    if *gave_up || says_so {
        return Some("It gave up.");
    }
    answer.trim().is_empty().then_some("There is no final answer.")
}

/// The answer is the arguments of a call that gives up, and not a text that speaks of it.
fn names_giving_up(answer: &str) -> bool {
    let kind = touchstone_formats::json::embedded(answer);
    kind.as_ref()
        .and_then(|value| value.get("return_type"))
        .is_some_and(|kind| kind.text() == Some("give_up_and_restart"))
}

/// Whether the published script takes a converted answer for finished: its mark is looked for in the last tool node on the way of
/// first children, as Python writes that node.
pub fn official_finish(answer_details: &Value) -> Finish {
    let (mut last, mut node) = (None, answer_details.items().first());
    while let Some(now) = node {
        let message = now.get("message").map(python::text).filter(|message| !message.is_empty());
        if let Some(message) = message.filter(|_| now.get("role").and_then(Value::text) == Some("tool")) {
            last = Some(message);
        }
        node = now.get("next").and_then(|next| next.items().first());
    }
    if last.is_some_and(|message| message.contains("'name': 'Finish'")) { Finish::Last } else { Finish::Missing }
}
