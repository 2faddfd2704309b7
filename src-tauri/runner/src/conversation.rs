//! **Pure.** Conversation as a provider sees it: turns, with the results of tool calls beside the
//! calls. Owns no wire format and no file; transcripts are read into it, and every codec encodes
//! from it.
use touchstone_model::value::Value;

/// Turn of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub enum Turn {
    /// Message of the user, or a nudge.
    User(String),
    /// Reply of the model, with its tool calls.
    Assistant(AssistantMessage),
}

/// Assistant turn.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AssistantMessage {
    /// Text; none if the turn only calls tools. Never empty.
    pub text: Option<String>,
    /// Blocks that must be returned to the provider unchanged (signed thinking), as JSON values.
    pub kept: Vec<Value>,
    /// Tool calls, in order.
    pub calls: Vec<Call>,
}

/// Tool call with its outcome.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// Id, unique in the conversation.
    pub id: String,
    /// Name of the tool as the model wrote it.
    pub name: String,
    /// Arguments: a map, or the raw text if that is not a JSON object.
    pub params: Value,
    /// Outcome; none until the call was executed.
    pub outcome: Option<Outcome>,
}

/// Outcome of a tool call.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// The call succeeded.
    Result(Value),
    /// The call failed; the model receives the error and continues.
    Error(Value),
}

impl Outcome {
    /// Formats the outcome for the model: text unchanged, anything else as JSON.
    pub fn to_model_text(&self) -> String {
        let (Outcome::Result(value) | Outcome::Error(value)) = self;
        match value {
            Value::Text(text) => text.clone(),
            other => touchstone_model::json::write(other, false),
        }
    }

    /// Returns true if the call failed.
    pub fn failed(&self) -> bool {
        matches!(self, Outcome::Error(_))
    }
}
