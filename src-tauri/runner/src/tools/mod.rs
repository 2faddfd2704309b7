//! Tools that a model may call. Owns the types that all kinds of tools share; each kind has a
//! submodule.

pub mod mcp;
mod names;
pub mod python;
pub mod sql;
pub mod tool_folder;
pub mod tool_index;
pub mod virtual_api;

use touchstone_model::value::Value;

/// Result of a tool call; the model sees both the value and the error.
pub type Called = Result<Value, ToolFailure>;

/// Error of a tool call. The run continues.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ToolFailure {
    /// Message for the model, one sentence. Never contains a key, a password, or a path outside the
    /// workspace.
    pub message: String,
}

impl ToolFailure {
    /// Creates an error with this message.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }
}

/// Error of a tool that cannot be used at all; reported before any request is sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Unusable {
    /// Message for the user, one sentence.
    pub message: String,
    /// Advice for fixing the problem.
    pub fix: Option<String>,
}
