//! **Pure.** `sopr` (solvable pass rate): judges whether the request was solved. Runs without an
//! answer are unsolved without a question. Others are judged by their answer and, where that is
//! inconclusive, by the whole process.
use super::{Finish, JudgeReply, Rules, Ruling, Step, Subject};
use touchstone_formats::stabletoolbench::answers::{self, finish};
use touchstone_formats::stabletoolbench::python;
use touchstone_model::run::ScriptedEnd;
use touchstone_model::value::Value;

pub(super) const WORDS: [&str; 3] = ["solved", "unsure", "unsolved"];

/// Verdict of a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Status {
    /// Score 1.
    Solved,
    /// Score 0.5.
    Unsure,
    /// Score 0.
    Unsolved,
}

impl Status {
    /// Parses a word in any case, also in the published scripts' notation: `AnswerStatus.Solved`.
    pub fn from_word(word: &str) -> Option<Self> {
        match word.trim().to_lowercase().trim_start_matches("answerstatus.") {
            "solved" => Some(Status::Solved),
            "unsure" => Some(Status::Unsure),
            "unsolved" => Some(Status::Unsolved),
            _ => None,
        }
    }

    /// Returns the word for the status.
    pub fn word(self) -> &'static str {
        match self {
            Status::Solved => "solved",
            Status::Unsure => "unsure",
            Status::Unsolved => "unsolved",
        }
    }

    /// Returns the score.
    pub fn score(self) -> f64 {
        match self {
            Status::Solved => 1.0,
            Status::Unsure => 0.5,
            Status::Unsolved => 0.0,
        }
    }
}

pub(super) fn decide(subject: &Subject, rules: Rules, heard: &[JudgeReply]) -> Step {
    if let Some(why) = without_a_question(subject, rules) {
        return Step::Rule(ruling(Status::Unsolved, why));
    }
    let ask = |section| Step::Ask(section);
    match heard {
        [] => ask("answer"),
        [first] if Status::from_word(&first.word) == Some(Status::Unsure) => ask("process"),
        [.., last] => Step::Rule(ruling(
            Status::from_word(&last.word).unwrap_or(Status::Unsure),
            last.reason.clone(),
        )),
    }
}

fn ruling(status: Status, reason: impl Into<String>) -> Ruling {
    Ruling { word: status.word().to_owned(), score: status.score(), reason: reason.into() }
}

/// Returns the reason why the run is unsolved without a question.
fn without_a_question(subject: &Subject, rules: Rules) -> Option<&'static str> {
    match &subject.scripted {
        Some(end) if rules == Rules::Official => by_script(end),
        _ => by_steps(subject, rules),
    }
}

/// Applies the published script's rule, which looks at the file: at the final step, and at the
/// exact text of `final_answer`.
fn by_script(end: &ScriptedEnd) -> Option<&'static str> {
    if !end.finishes {
        return Some(NOT_LAST);
    }
    let gives_up = match &end.answer {
        Value::Text(text) if text.is_empty() => {
            return Some("There is no final answer (official rule).");
        }
        // The script fails on these values, which leaves nothing to ask about.
        Value::Null | Value::Bool(_) | Value::Number(_) => {
            return Some("The final answer is not text (official rule).");
        }
        Value::Text(text) => text.contains(GIVE_UP),
        Value::List(items) => items.contains(&GIVE_UP.into()),
        Value::Map(_) => end.answer.get(GIVE_UP).is_some(),
    };
    gives_up.then_some("It gave up (official rule).")
}

const GIVE_UP: &str = "give_up_and_restart";
const NOT_LAST: &str = "The last tool that was called is not Finish (official rule).";

/// Decides by the steps of the run.
fn by_steps(subject: &Subject, rules: Rules) -> Option<&'static str> {
    let Subject { answer, finish, gave_up, .. } = subject;
    match (rules, finish) {
        (Rules::Official, Finish::Last)
        | (Rules::Ours, Finish::Last | Finish::Earlier | Finish::NotUsed) => {}
        (Rules::Official, _) => return Some(NOT_LAST),
        (Rules::Ours, Finish::Missing) => return Some("Finish was never called."),
    }
    let says_so = match rules {
        Rules::Official => answer.contains(GIVE_UP),
        Rules::Ours => names_giving_up(answer),
    };
    if *gave_up || says_so {
        return Some("It gave up.");
    }
    answer.trim().is_empty().then_some("There is no final answer.")
}

/// Returns true for the arguments of a call that gives up, also truncated ones, but not for a text
/// that mentions giving up.
fn names_giving_up(answer: &str) -> bool {
    finish::final_answer(&Value::from(answer)) == answers::Finish::GaveUp
}

/// Returns the additional text that a verdict by the script's rule depends on, where the script and
/// the steps lead to different decisions.
pub(super) fn canon(subject: &Subject, rules: Rules) -> String {
    let Some(end) = subject.scripted.as_ref().filter(|_| rules == Rules::Official) else {
        return String::new();
    };
    let (script, steps) = (by_script(end), by_steps(subject, rules));
    if script.is_some() == steps.is_some() {
        return String::new();
    }
    let shown =
        shown_answer(subject, rules).filter(|_| script.is_none()).map(|text| format!("\0{text}"));
    format!("\0script {}{}", script.is_none(), shown.unwrap_or_default())
}

/// Returns the answer that the script shows to the judge when the run has no answer of its own.
pub(super) fn shown_answer(subject: &Subject, rules: Rules) -> Option<String> {
    let end = subject
        .scripted
        .as_ref()
        .filter(|_| rules == Rules::Official && subject.answer.trim().is_empty())?;
    Some(python::text(&end.answer))
}
