//! **Pure.** Classifies the failure of a run.

/// Kind of failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Failure {
    /// There is an answer, but it is wrong.
    WrongAnswer,
    /// It ended without an answer, for no visible reason.
    NoAnswer,
    /// An expected tool was never called, and there is no answer or the calls were scored.
    MissingToolCall,
    /// It ended without an answer, and the last call failed or some tool never succeeded.
    ToolError,
    /// It ended without an answer, and the last message says that the model cannot or will not
    /// answer.
    GaveUp,
    /// The provider or the system failed.
    SystemError,
    /// It took too long.
    Timeout,
}

/// Way in which a run stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Stop {
    /// Regularly, with an answer.
    Answered,
    /// Regularly, without an answer.
    #[default]
    NoAnswer,
    /// With a system error.
    Error,
}

/// Facts about the end of a run.
#[derive(Debug, Clone, Copy, Default)]
pub struct Ending<'a> {
    /// Way in which it stopped.
    pub stop: Stop,
    /// Error message, if it stopped with an error.
    pub reason: Option<&'a str>,
    /// Last message of the assistant.
    pub said: &'a str,
    /// True if the last message, if present, was scored as the answer
    /// ([`super::Scorer::reads_texts`]).
    pub said_is_answer: bool,
    /// Tools that must be called.
    pub expected_calls: &'a [String],
    /// Names of the called tools, in order, each with true if the call failed.
    pub calls: &'a [(String, bool)],
    /// True if the answer, or what was scored instead, passed; `None` without a verdict.
    pub passed: Option<bool>,
    /// True if the calls were scored instead of the answer ([`super::Scorer::reads_calls`]).
    pub of_calls: bool,
}

/// Returns the failure class; `None` if nothing failed, or it is unknown.
///
/// A system error comes first, because it makes any result meaningless. An answer that does not
/// pass is wrong, whatever else happened; if calls were scored, the answer is only checked for
/// presence. Without an answer, observable causes (a tool that never succeeded) come before
/// statements of the model, and these before missing calls.
pub fn failure_class(ending: &Ending<'_>) -> Option<Failure> {
    if ending.stop == Stop::Error {
        return Some(if ending.reason.is_some_and(is_timeout) {
            Failure::Timeout
        } else {
            Failure::SystemError
        });
    }
    if ending.passed == Some(true) && !(ending.of_calls && ending.stop == Stop::NoAnswer) {
        return None;
    }
    if ending.stop == Stop::Answered {
        let wrong = if ending.of_calls { Failure::MissingToolCall } else { Failure::WrongAnswer };
        return (ending.passed == Some(false)).then_some(wrong);
    }
    if tools_failed(ending.calls) {
        Some(Failure::ToolError)
    } else if gives_up(ending.said) {
        Some(Failure::GaveUp)
    } else if ending
        .expected_calls
        .iter()
        .any(|name| ending.calls.iter().all(|(called, _)| called != name))
    {
        Some(Failure::MissingToolCall)
    } else if ending.said_is_answer && !ending.said.trim().is_empty() {
        (ending.passed == Some(false)).then_some(Failure::WrongAnswer)
    } else {
        Some(Failure::NoAnswer)
    }
}

/// Returns true if the last call failed, or a tool was called and never succeeded.
fn tools_failed(calls: &[(String, bool)]) -> bool {
    let works = |name: &str| calls.iter().any(|(other, failed)| other == name && !failed);
    calls.last().is_some_and(|(_, failed)| *failed) || calls.iter().any(|(name, _)| !works(name))
}

fn is_timeout(reason: &str) -> bool {
    let reason = reason.to_lowercase();
    [
        "timeout",
        "timed out",
        "time out",
        "took too long",
        "reply came within",
        "reply came in time",
        "deadline exceeded",
        "status 408",
        "status 504",
    ]
    .iter()
    .any(|words| reason.contains(words))
        // "No reply from the provider within 600 seconds."
        || reason.split_once("no reply").is_some_and(|(_, rest)| {
            rest.split(" within ").skip(1).any(|after| after.starts_with(|c: char| c.is_ascii_digit()))
        })
}

/// Phrases for an inability. They count only if one of [`ACTS`] follows within a few words.
const CANNOT: [&str; 22] = [
    "i cannot",
    "i can not",
    "i can't",
    "we cannot",
    "we can't",
    "i could not",
    "i couldn't",
    "i am unable to",
    "i'm unable to",
    "i was unable to",
    "i have been unable to",
    "i've been unable to",
    "i am not able to",
    "i'm not able to",
    "i was not able to",
    "i wasn't able to",
    "i won't be able to",
    "i will not be able to",
    "it is not possible to",
    "it's not possible to",
    "it was not possible to",
    "it is impossible to",
];

/// Verbs for the requested action.
const ACTS: [&str; 42] = [
    "access",
    "accomplish",
    "answer",
    "assist",
    "calculate",
    "complete",
    "comply",
    "compute",
    "connect",
    "continue",
    "create",
    "determine",
    "do",
    "execute",
    "find",
    "finish",
    "fulfil",
    "fulfill",
    "generate",
    "get",
    "give",
    "help",
    "identify",
    "list",
    "locate",
    "make",
    "obtain",
    "perform",
    "proceed",
    "process",
    "produce",
    "provide",
    "query",
    "reach",
    "read",
    "resolve",
    "retrieve",
    "return",
    "run",
    "solve",
    "tell",
    "verify",
];

/// Phrases for giving up that count regardless of the rest.
const STOPS: [&str; 4] =
    ["give_up_and_restart", "i give up", "i have to give up", "i must give up"];

/// Maximum number of words before the verb: `I cannot directly and reliably answer`.
const BETWEEN: usize = 3;

/// Returns true if a message announces that there will be no answer: `I was unable to retrieve the
/// tickets`. Only a few phrases are known. Code and quotations are ignored.
pub fn gives_up(said: &str) -> bool {
    let said = spoken(said);
    let at_word = |at: usize| !said[..at].ends_with(char::is_alphanumeric);
    let stops = STOPS.iter().any(|words| said.match_indices(words).any(|(at, _)| at_word(at)));
    stops
        || CANNOT.iter().any(|words| {
            said.match_indices(words).any(|(at, words)| {
                let rest = &said[at + words.len()..];
                // The phrase must consist of whole words, and an act must follow it.
                at_word(at) && !rest.starts_with(char::is_alphanumeric) && has_act(rest)
            })
        })
}

/// Returns true if one of the next few words in the sentence is an act.
fn has_act(rest: &str) -> bool {
    let sentence = rest.split(['.', '!', '?', ';', '\n']).next().unwrap_or_default();
    let words = sentence.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.take(BETWEEN + 1).any(|word| ACTS.contains(&word))
}

/// Returns a message in lower case, without code and quotations.
fn spoken(said: &str) -> String {
    let mut in_code = false;
    let mut lines = Vec::new();
    for line in said.lines() {
        let line = line.trim_start();
        if line.starts_with("```") {
            in_code = !in_code;
        } else if !in_code && !line.starts_with('>') {
            lines.push(line.to_lowercase().replace('’', "'"));
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_that_says_there_will_be_no_answer_gives_up() {
        for said in [
            "I cannot answer this question with the tools that I have.",
            "I’m unable to retrieve the tickets.",
            "Unfortunately, I was not able to directly access the database.",
            "Sorry!\nI couldn't find any of the projects.",
            "After three tries I could not reliably determine the plan.",
            "It is not possible to calculate the average without the closing times.",
            "{\"return_type\": \"give_up_and_restart\"}",
            "I give up.",
        ] {
            assert!(gives_up(said), "{said}");
        }
    }

    #[test]
    fn a_message_that_only_sounds_like_it_does_not() {
        for said in [
            "",
            "Here are the ten tickets, most urgent first.",
            "I can't wait to hear what you think of it.",
            "I cannot stress enough how urgent #143 is.",
            "The customer says:\n> I cannot access my console.\nThat is a downtime.",
            "```\nraise ValueError('I cannot complete this')\n```\nThe code is above.",
            "Hawaii cannot answer. Mimi could not find it.",
            "I cannot. Find the list below.",
        ] {
            assert!(!gives_up(said), "{said}");
        }
    }

    fn ending(stop: Stop) -> Ending<'static> {
        Ending { stop, said: "Done.", ..Ending::default() }
    }

    #[test]
    fn what_can_be_seen_comes_before_what_was_said_and_that_before_what_did_not_happen() {
        let call = |name: &str, failed| (name.to_owned(), failed);
        let expected = ["tickets".to_owned(), "plans".to_owned()];
        let gave_up = "I cannot complete the list.";
        let both = [call("tickets", false), call("plans", false)];
        let recovered = [call("tickets", true), call("tickets", false), call("plans", false)];
        let last_failed = [call("plans", false), call("tickets", false), call("tickets", true)];
        let never_worked = [call("plans", true), call("tickets", false)];
        let none = Ending { expected_calls: &expected, ..ending(Stop::NoAnswer) };
        for (ending, class) in [
            (Ending { calls: &both, ..none }, Failure::NoAnswer),
            (Ending { calls: &recovered, ..none }, Failure::NoAnswer),
            (Ending { calls: &both[..1], ..none }, Failure::MissingToolCall),
            (Ending { calls: &both[..1], said: gave_up, ..none }, Failure::GaveUp),
            (Ending { calls: &last_failed, said: gave_up, ..none }, Failure::ToolError),
            (Ending { calls: &never_worked, ..none }, Failure::ToolError),
            (
                Ending { said_is_answer: true, passed: Some(false), calls: &both, ..none },
                Failure::WrongAnswer,
            ),
        ] {
            assert_eq!(failure_class(&ending), Some(class), "{ending:?}");
        }
    }

    #[test]
    fn an_answer_is_right_or_wrong_and_nothing_else() {
        let answered = ending(Stop::Answered);
        let last_failed = [("tickets".to_owned(), true)];
        let answered = Ending { calls: &last_failed, said: "I cannot answer.", ..answered };
        assert_eq!(
            failure_class(&Ending { passed: Some(false), ..answered }),
            Some(Failure::WrongAnswer)
        );
        assert_eq!(failure_class(&Ending { passed: Some(true), ..answered }), None);
        assert_eq!(failure_class(&Ending { passed: None, ..answered }), None);
        let said = Ending { said_is_answer: true, passed: Some(true), ..ending(Stop::NoAnswer) };
        assert_eq!(failure_class(&said), None);
    }

    #[test]
    fn where_calls_are_scored_the_answer_is_neither_wrong_nor_there() {
        let called = [("tickets".to_owned(), false)];
        let expected = ["tickets".to_owned()];
        let of_calls =
            Ending { of_calls: true, expected_calls: &expected, ..ending(Stop::Answered) };
        let (passed, failed) = (Some(true), Some(false));
        for (ending, class) in [
            (Ending { passed: failed, ..of_calls }, Some(Failure::MissingToolCall)),
            (Ending { passed, calls: &called, ..of_calls }, None),
            (Ending { passed: None, ..of_calls }, None),
            (
                Ending { passed, calls: &called, stop: Stop::NoAnswer, ..of_calls },
                Some(Failure::NoAnswer),
            ),
            (
                Ending { passed: failed, stop: Stop::NoAnswer, ..of_calls },
                Some(Failure::MissingToolCall),
            ),
        ] {
            assert_eq!(failure_class(&ending), class, "{ending:?}");
        }
    }

    #[test]
    fn an_error_says_nothing_about_the_answer() {
        for (reason, class) in [
            (Some("Request timed out. (status 408)"), Failure::Timeout),
            (Some("The run took too long: 600 s"), Failure::Timeout),
            (Some("No reply from the provider within 600 seconds"), Failure::Timeout),
            (
                Some("There was no reply, and the account is within its limits: invalid key"),
                Failure::SystemError,
            ),
            (Some("overloaded_error"), Failure::SystemError),
            (None, Failure::SystemError),
        ] {
            let ending = Ending {
                reason,
                passed: Some(false),
                said: "I cannot answer.",
                ..ending(Stop::Error)
            };
            assert_eq!(failure_class(&ending), Some(class), "{reason:?}");
        }
    }
}
