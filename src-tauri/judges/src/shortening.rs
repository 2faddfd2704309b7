//! **Pure.** Shortens the pieces of a run until a judge can be shown all of it.
use touchstone_model::json;
use touchstone_model::run::{Step, StepKind};
use touchstone_model::value::Value;

/// Maximum size of the process in bytes; longer pieces are shortened until it fits.
pub(super) const MOST: usize = 200_000;
/// Maximum length of a piece, from generous to tight.
pub(super) const PIECES: [usize; 3] = [20_000, 2_000, 300];

/// Returns true for calls of `Finish`.
pub(super) fn is_finish(step: &Step) -> bool {
    step.kind == StepKind::ToolCall && step.title.as_deref() == Some("Finish")
}

/// Returns text as it is, and other values as JSON.
pub(super) fn to_text(value: Value) -> String {
    match value {
        Value::Text(text) => text,
        other => json::write(&other, false),
    }
}

/// Returns the length of a piece in bytes.
pub(super) fn length(value: &Value) -> usize {
    match value {
        Value::Text(text) => text.len(),
        other => json::length(other, false),
    }
}

/// Returns a piece, truncated to `most` characters.
pub(super) fn cut(value: &Value, most: usize) -> Value {
    let text = to_text(value.clone());
    let count = text.chars().count();
    if count <= most {
        return value.clone();
    }
    let kept: String = text.chars().take(most).collect();
    Value::Text(format!("{kept} … ({} more characters are left out)", count - most))
}
