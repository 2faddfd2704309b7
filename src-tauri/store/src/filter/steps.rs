//! **Pure.** Questions about the steps of runs: `call(sql){failed} then call(sql){same} then no
//! answer`. [`super::question`] parses them.
use super::{Comparison, Pattern};
use crate::snippet::Needle;

/// What is asked of the steps of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct StepQuestion {
    /// Steps that follow each other; never empty.
    pub steps: Vec<SequenceStep>,
    /// How many steps like the only one there are; `None` for a sequence.
    pub count: Option<(Comparison, f64)>,
}

/// A step of a sequence.
#[derive(Debug, Clone, PartialEq)]
pub struct SequenceStep {
    /// Where it stands after the step before.
    pub place: Place,
    /// What it is.
    pub pattern: StepPattern,
}

/// Where a step of a sequence stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Anywhere later; of the first step, anywhere.
    Later,
    /// Right after the step before.
    Next,
    /// Nowhere before the following step, or before the end.
    Never,
}

/// Kinds of steps in questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepWord {
    /// A tool call.
    Call,
    /// A plan or code that was run.
    Program,
    /// A message of the assistant.
    Said,
    /// A message of the user.
    User,
    /// An automatic nudge.
    Nudge,
    /// A system error.
    Error,
    /// The answer, at the end of a run.
    Answer,
}

/// All kinds with their words.
pub const STEP_WORDS: [(StepWord, &str); 7] = [
    (StepWord::Call, "call"),
    (StepWord::Program, "program"),
    (StepWord::Said, "said"),
    (StepWord::User, "user"),
    (StepWord::Nudge, "nudge"),
    (StepWord::Error, "error"),
    (StepWord::Answer, "answer"),
];

/// A step as a question describes it.
#[derive(Debug, Clone, PartialEq)]
pub struct StepPattern {
    /// Kind.
    pub word: StepWord,
    /// Names of the called tool, one of which must match; empty for any.
    pub tools: Vec<Pattern>,
    /// Conditions that must all hold.
    pub conditions: Vec<StepCondition>,
}

/// Condition on a step.
#[derive(Debug, Clone, PartialEq)]
pub enum StepCondition {
    /// It failed, or it did not.
    Failed(bool),
    /// Same tool and same arguments as the call before it in the question.
    Same,
    /// A text holds this.
    Text(StepText, TextMatch),
    /// A number in the result compares like this; with a key, a number under this key.
    Number(Option<String>, Comparison, f64),
}

/// Texts of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepText {
    /// The message, the arguments of a call, or the code of a program.
    Own,
    /// The result or the error of a call or program.
    Result,
}

/// What a text must hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TextMatch {
    /// This text, from the beginning of a word on, ignoring case.
    Text(String),
    /// A match of this regular expression, ignoring case.
    Regex(String),
}

impl StepQuestion {
    /// Returns the question for a step of this kind with a text.
    pub(super) fn holding(word: StepWord, text: StepText, holds: &TextMatch) -> Self {
        let conditions = vec![StepCondition::Text(text, holds.clone())];
        let pattern = StepPattern { word, tools: Vec::new(), conditions };
        Self { steps: vec![SequenceStep { place: Place::Later, pattern }], count: None }
    }
}

impl TextMatch {
    /// Returns the needle; `None` for one that the parser refuses.
    pub(crate) fn needle(&self) -> Option<Needle> {
        match self {
            TextMatch::Text(text) => Needle::word(text),
            TextMatch::Regex(regex) => Needle::regex(regex).ok(),
        }
    }
}

impl StepWord {
    /// Returns true when a text may stand in the parentheses.
    pub(super) fn takes_text(self) -> bool {
        matches!(self, StepWord::Said | StepWord::User | StepWord::Nudge | StepWord::Error)
    }

    /// Returns true when conditions may stand in braces.
    pub(super) fn takes_conditions(self) -> bool {
        matches!(self, StepWord::Call | StepWord::Program)
    }

    /// Returns its word.
    pub(super) fn word(self) -> &'static str {
        STEP_WORDS.iter().find(|(known, _)| *known == self).map_or("call", |(_, word)| word)
    }
}
