//! **Pure.** Nodes of converted answers, and what the published scripts make of the last one.
use super::details;
use touchstone_model::run::{TreeKind, TreeNode};
use touchstone_model::value::Value;

/// Returns true if the published scripts consider a run finished after its conversion: they check
/// the last call among these nodes.
pub(super) fn script_finishes<'a>(
    mut nodes: impl DoubleEndedIterator<Item = &'a TreeNode>,
) -> bool {
    let last = nodes.rfind(|node| matches!(node.kind, TreeKind::Call | TreeKind::Finish));
    last.is_some_and(|node| {
        let output = if node.kind == TreeKind::Finish { None } else { node.output.as_deref() };
        let input = node.input.as_deref().unwrap_or_default();
        let mut one = tool(&node.text, input, Value::from(output.unwrap_or_default()));
        if let Value::Map(entries) = &mut one {
            entries.push((Value::from("next"), Value::List(Vec::new())));
        }
        details::script_finishes(&Value::List(vec![one]))
    })
}

/// Builds a message.
pub(super) fn node(role: &str, message: Value) -> Value {
    map([("role", Value::from(role)), ("message", message)])
}

/// Builds a call with its reply.
pub(super) fn tool(name: &str, arguments: &str, response: Value) -> Value {
    let call = [
        ("name", Value::from(name)),
        ("arguments", Value::from(arguments)),
        ("response", response),
    ];
    node("tool", map(call))
}

/// Builds a map.
pub(super) fn map<const N: usize>(entries: [(&str, Value); N]) -> Value {
    Value::Map(entries.into_iter().map(|(key, value)| (Value::from(key), value)).collect())
}
