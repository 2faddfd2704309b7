//! Tools that a model may call. Owns what every kind has in common; each kind has its own room.

pub mod mcp;
mod names;
pub mod pool;
pub mod python;
pub mod shelf;
pub mod sql;
pub mod virtual_api;

use touchstone_formats::value::Value;

/// What came of a call that worked, or why it failed: both go to the model.
pub type Called = Result<Value, ToolFailure>;

/// Why a tool call failed. The run goes on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ToolFailure {
    /// What the model is told, as a sentence. Never a key, a password or a path outside the
    /// workspace.
    pub message: String,
}

impl ToolFailure {
    /// A failure with its sentence.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }
}

/// Why a tool cannot be used at all: said before anything is sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Unusable {
    /// One sentence.
    pub message: String,
    /// How to mend it.
    pub fix: Option<String>,
}
