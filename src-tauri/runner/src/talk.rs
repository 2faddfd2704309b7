//! **Pure.** A conversation as a provider sees it: turns, with the results of a turn's calls beside
//! the calls. Owns no wire format and no file; a transcript is read into it and every codec writes
//! from it.
use touchstone_formats::value::Value;

/// One turn of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub enum Turn {
    /// What the person said, or a nudge.
    User(String),
    /// What the model said and which tools it called.
    Assistant(Said),
}

/// An assistant turn.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Said {
    /// Its text; none when the turn only calls tools. Never empty.
    pub text: Option<String>,
    /// Blocks that the provider wants back exactly as they came (signed thinking), as JSON values.
    pub kept: Vec<Value>,
    /// Calls, in order.
    pub calls: Vec<Call>,
}

/// A tool call, and what came of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// Id, unique in the conversation.
    pub id: String,
    /// Name of the tool as the model wrote it.
    pub name: String,
    /// Arguments: a map, or the text the model wrote when that is no JSON object.
    pub params: Value,
    /// None until it was run.
    pub outcome: Option<Outcome>,
}

/// What came of a tool call.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// It worked.
    Result(Value),
    /// It failed; the model sees why and goes on.
    Error(Value),
}

impl Outcome {
    /// What the model is shown: text as it is, anything else as JSON.
    pub fn shown(&self) -> String {
        let (Outcome::Result(value) | Outcome::Error(value)) = self;
        match value {
            Value::Text(text) => text.clone(),
            other => touchstone_formats::json::write(other, false),
        }
    }

    /// True when it failed.
    pub fn failed(&self) -> bool {
        matches!(self, Outcome::Error(_))
    }
}
