//! **Pure.** Text of scalars.
use touchstone_model::value::Value;

/// Returns the text of a scalar.
pub(crate) fn word(value: &Value) -> Option<String> {
    match value {
        Value::Text(text) | Value::Number(text) => Some(text.clone()),
        Value::Bool(bool) => Some(bool.to_string()),
        Value::Null | Value::List(_) | Value::Map(_) => None,
    }
}
