//! **Pure.** Definitions of the package's ten judges: their inputs, prompts, reply formats and
//! result keys.
use super::{Label, Quirks, Score, safety};
use crate::prompt::Prompt;
use std::sync::LazyLock;

/// One of the ten judges.
#[derive(Debug)]
pub struct Judge {
    /// Name, such as `task_adherence`.
    pub name: &'static str,
    /// Reply format.
    pub form: Form,
    /// Inputs shown to the judge, by the names of the placeholders in its prompt.
    pub(super) shown: &'static [(&'static str, Shape)],
    /// Peculiarities of its results.
    pub(super) way: ResultFormat,
    prompt: LazyLock<Prompt>,
    /// Prompt of groundedness for rows with a query.
    with_query: Option<LazyLock<Prompt>>,
}

/// Reply formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A JSON object with the score and the reason under these keys.
    Object {
        /// Key of the score.
        score: &'static str,
        /// Key of the reason.
        reason: &'static str,
    },
    /// `<S0>` thoughts, `<S1>` reason, `<S2>` score.
    Tags,
    /// One digit.
    Digit,
}

/// Rendering of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// Unchanged.
    Plain,
    /// A list of messages rendered as a conversation, with or without the system message.
    History { system: bool },
    /// A list of messages rendered as an answer, with or without tool calls.
    Answer { tools: bool },
    /// Tool definitions, one per line.
    Tools,
}

/// Peculiarities of a judge's results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ResultFormat {
    /// Position of the reason. Where it is not last, the score is written twice, the second time
    /// with the prefix `gpt_`.
    pub(super) reason: Reason,
    /// True when the package accepts only scores from 1 to 5.
    pub(super) bounded: bool,
    /// True when the package converts the score to an integer.
    pub(super) whole: bool,
    /// The package's handling of a score that is not a number.
    pub(super) nan: NanHandling,
    /// The package's handling of a reply that is empty or not an object.
    pub(super) nothing: EmptyReply,
    /// True when the result ends with details of the reply.
    pub(super) details: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reason {
    BeforeResult,
    Last,
    Never,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NanHandling {
    Unknown,
    Fail,
    Error,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EmptyReply {
    /// Writes all keys except the reason.
    NoReason,
    /// Writes the score only.
    ScoreOnly,
    /// Fails.
    Error,
}

/// Result format of the oldest judges.
const USUAL: ResultFormat = ResultFormat {
    reason: Reason::BeforeResult,
    bounded: false,
    whole: false,
    nan: NanHandling::Unknown,
    nothing: EmptyReply::NoReason,
    details: false,
};

/// Result format of the agent judges.
const AGENT: ResultFormat = ResultFormat {
    reason: Reason::Last,
    bounded: true,
    nan: NanHandling::Error,
    nothing: EmptyReply::ScoreOnly,
    ..USUAL
};

const SCORE: Form = Form::Object { score: "score", reason: "explanation" };

const QUERY: (&str, Shape) = ("query", Shape::Plain);
const RESPONSE: (&str, Shape) = ("response", Shape::Plain);
const CONTEXT: (&str, Shape) = ("context", Shape::Plain);
const TRUTH: (&str, Shape) = ("ground_truth", Shape::Plain);
const HISTORY: (&str, Shape) = ("query", Shape::History { system: false });
const ANSWER: (&str, Shape) = ("response", Shape::Answer { tools: false });

macro_rules! prompt {
    ($name:literal) => {
        LazyLock::new(|| Prompt::parse(include_str!(concat!("../../prompts/azure/", $name, ".md"))))
    };
}

static JUDGES: [Judge; 10] = [
    Judge {
        name: "relevance",
        form: SCORE,
        shown: &[HISTORY, ANSWER],
        way: USUAL,
        prompt: prompt!("relevance"),
        with_query: None,
    },
    Judge {
        name: "coherence",
        form: Form::Tags,
        shown: &[QUERY, RESPONSE],
        way: USUAL,
        prompt: prompt!("coherence"),
        with_query: None,
    },
    Judge {
        name: "fluency",
        form: Form::Tags,
        shown: &[RESPONSE],
        way: USUAL,
        prompt: prompt!("fluency"),
        with_query: None,
    },
    Judge {
        name: "groundedness",
        form: Form::Tags,
        shown: &[QUERY, RESPONSE, CONTEXT],
        way: USUAL,
        prompt: prompt!("groundedness"),
        with_query: Some(prompt!("groundedness_with_query")),
    },
    Judge {
        name: "retrieval",
        form: Form::Tags,
        shown: &[QUERY, CONTEXT],
        way: USUAL,
        prompt: prompt!("retrieval"),
        with_query: None,
    },
    Judge {
        name: "similarity",
        form: Form::Digit,
        shown: &[QUERY, RESPONSE, TRUTH],
        way: ResultFormat { reason: Reason::Never, ..USUAL },
        prompt: prompt!("similarity"),
        with_query: None,
    },
    Judge {
        name: "response_completeness",
        form: Form::Tags,
        shown: &[RESPONSE, TRUTH],
        way: ResultFormat { whole: true, bounded: false, ..AGENT },
        prompt: prompt!("response_completeness"),
        with_query: None,
    },
    Judge {
        name: "intent_resolution",
        form: SCORE,
        shown: &[HISTORY, ANSWER],
        way: AGENT,
        prompt: prompt!("intent_resolution"),
        with_query: None,
    },
    Judge {
        name: "task_adherence",
        form: SCORE,
        shown: &[
            ("query", Shape::History { system: true }),
            ("response", Shape::Answer { tools: true }),
            ("tool_definitions", Shape::Tools),
        ],
        way: ResultFormat { bounded: false, nan: NanHandling::Fail, ..AGENT },
        prompt: prompt!("task_adherence"),
        with_query: None,
    },
    Judge {
        name: "tool_call_accuracy",
        form: Form::Object { score: "tool_calls_success_level", reason: "chain_of_thought" },
        shown: &[QUERY, ("tool_calls", Shape::Plain), ("tool_definitions", Shape::Plain)],
        way: ResultFormat { nothing: EmptyReply::Error, details: true, ..AGENT },
        prompt: prompt!("tool_call_accuracy"),
        with_query: None,
    },
];

/// Judges that `qa` asks, in the order of its result.
pub(crate) const QA: [&str; 5] =
    ["groundedness", "relevance", "coherence", "fluency", "similarity"];

/// Returns the ten judges.
pub fn judges() -> &'static [Judge] {
    &JUDGES
}

/// Returns the judge of that name.
pub fn judge_named(name: &str) -> Option<&'static Judge> {
    JUDGES.iter().find(|judge| judge.name == name)
}

/// Returns the version of an evaluator's prompts, the sum over all of them, which grows with every
/// change. Returns `None` when the evaluator asks no model.
pub fn prompts_version(name: &str) -> Option<u32> {
    match name {
        "qa" => return QA.iter().map(|name| prompts_version(name)).sum(),
        "label_model" => return Some(Label::version()),
        "score_model" => return Some(Score::version()),
        _ => {}
    }
    if let Some(judge) = judge_named(name) {
        return Some(
            judge.prompt.version + judge.with_query.as_ref().map_or(0, |prompt| prompt.version),
        );
    }
    let matters = safety::categories_for(name);
    (!matters.is_empty()).then(|| matters.iter().map(|matter| matter.version()).sum())
}

impl Judge {
    /// Returns whether the query is part of the prompt. Within `qa` it always is when it is known.
    pub(super) fn asks_with_query(&self, known: bool, inside_qa: bool, quirks: &Quirks) -> bool {
        self.with_query.is_some()
            && known
            && (inside_qa || !quirks.has("groundedness_ignores_query"))
    }

    /// Returns the prompt.
    pub(super) fn prompt(&self, with_query: bool) -> &Prompt {
        self.with_query.as_ref().filter(|_| with_query).unwrap_or(&self.prompt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::azure::all;

    #[test]
    fn every_judge_is_listed_and_its_prompts_have_a_place_for_all_that_it_is_shown() {
        for judge in judges() {
            assert!(
                all().iter().any(|takes| takes.name == judge.name && takes.model),
                "{}",
                judge.name
            );
            for with_query in [false, true] {
                let prompt = judge.prompt(with_query);
                assert!(prompt.version > 0, "{}", judge.name);
                let text = prompt.fill("ask", &[]);
                for (name, _) in judge.shown {
                    let hidden = judge.name == "groundedness" && *name == "query" && !with_query;
                    let there = text.lines().any(|line| line == format!("{{{name}}}"));
                    assert_eq!(there, !hidden, "{} {name}", judge.name);
                }
                assert!(!prompt.fill("instructions", &[]).is_empty(), "{}", judge.name);
            }
        }
        assert_eq!(prompts_version("groundedness"), Some(2));
        assert!(prompts_version("qa") > prompts_version("groundedness"));
    }

    #[test]
    fn whatever_asks_a_model_has_a_version_of_its_words_and_nothing_else_has() {
        for takes in all() {
            assert_eq!(
                prompts_version(takes.name).is_some_and(|version| version > 0),
                takes.model,
                "{}",
                takes.name
            );
        }
        assert!(prompts_version("content_safety") > prompts_version("violence"));
        assert_eq!(prompts_version("nothing"), None);
    }

    #[test]
    fn prompts_ask_for_the_form_that_is_read() {
        for judge in judges() {
            let asked = judge.prompt(false).fill("instructions", &[]);
            let wanted: &[&str] = match judge.form {
                Form::Object { score, reason } => &[score, reason],
                Form::Tags => &["<S1>", "<S2>"],
                Form::Digit => &["digit"],
            };
            assert!(wanted.iter().all(|word| asked.contains(word)), "{}", judge.name);
        }
    }
}
