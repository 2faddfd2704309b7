//! **Pure.** Forks: copies of a run up to a step, edited or not, that a model continues.
use serde::{Deserialize, Serialize};

/// Part of a step that can be edited before a run is continued from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub enum StepPart {
    /// Text of a message of the user or the model.
    Message,
    /// Arguments of a tool call.
    Arguments,
    /// Result of a tool call.
    Result,
    /// Error of a tool call.
    Error,
}

impl StepPart {
    /// All parts.
    pub const ALL: [Self; 4] = [Self::Message, Self::Arguments, Self::Result, Self::Error];

    /// Returns the word in transcripts.
    pub fn word(self) -> &'static str {
        match self {
            Self::Message => "message",
            Self::Arguments => "arguments",
            Self::Result => "result",
            Self::Error => "error",
        }
    }

    /// Parses the word in transcripts.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|part| part.word() == word)
    }
}

/// Text that takes the place of a part of a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct StepEdit {
    /// Part that it replaces.
    pub part: StepPart,
    /// New text; for arguments, a JSON object.
    pub text: String,
}

/// Request to copy a run up to a step.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ForkRequest {
    /// Step, from 0.
    pub step: u32,
    /// Next message of the user; it replaces the step if the step is a message of the user and is
    /// not edited.
    pub message: Option<String>,
    /// Edit of the step.
    pub edit: Option<StepEdit>,
    /// Model that continues; none for that of the run.
    pub model: Option<String>,
    /// True if the copy is continued; by default if it has a message or an edit.
    pub run: Option<bool>,
}

impl ForkRequest {
    /// Creates the request for a copy, continued with the message if there is one.
    pub fn new(step: u32, message: Option<&str>) -> Self {
        Self { step, message: message.map(str::to_owned), ..Self::default() }
    }

    /// Returns true if the copy is continued.
    pub fn runs(&self) -> bool {
        self.run.unwrap_or(self.message.is_some() || self.edit.is_some())
    }
}

/// What can be edited of a step before a run is continued from it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct EditableStep {
    /// Parts that can be edited, in order of display.
    pub fields: Vec<EditableField>,
    /// True if the model has nothing to answer after an edit unless a message follows.
    pub needs_message: bool,
    /// Reason why a part that the step has cannot be edited.
    pub why_not: Option<String>,
}

/// Part of a step, as text to edit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct EditableField {
    /// The part.
    pub part: StepPart,
    /// Its text; JSON is indented.
    pub text: String,
    /// Name of the only argument of the call, if the text is its value instead of JSON.
    pub argument: Option<String>,
}

/// A copy of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct Copied {
    /// Id of the copy in the list of runs.
    pub run: String,
    /// Launch that resumes the copy; none if it was only copied.
    pub launch: Option<String>,
}
