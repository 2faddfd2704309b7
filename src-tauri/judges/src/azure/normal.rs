//! **Pure.** Converts messages, tool calls and tool definitions from the common formats to the one
//! that the package understands: contents are lists of parts, calls are parts with `tool_call_id`,
//! `name` and `arguments`, and definitions are flat.
use super::Quirks;
use touchstone_model::json;
use touchstone_model::value::Value;

/// Normalizes messages. A value that is not a list of messages is returned unchanged.
pub(super) fn messages(value: &Value, quirks: &Quirks) -> Value {
    let one = matches!(value, Value::Map(_)) && value.get("role").is_some();
    match value {
        Value::List(items) => Value::List(items.iter().map(|item| message(item, quirks)).collect()),
        // Tables hold messages as JSON text.
        Value::Text(text) if !quirks.has("contents_unread") => {
            match json::embedded(text).filter(are_messages) {
                Some(inside) => messages(&inside, quirks),
                None => value.clone(),
            }
        }
        _ if one && !quirks.has("contents_unread") => Value::List(vec![message(value, quirks)]),
        other => other.clone(),
    }
}

fn are_messages(value: &Value) -> bool {
    let is_message = |value: &Value| matches!(value, Value::Map(_)) && value.get("role").is_some();
    match value {
        Value::List(items) => !items.is_empty() && items.iter().all(is_message),
        other => is_message(other),
    }
}

fn message(value: &Value, quirks: &Quirks) -> Value {
    let Value::Map(entries) = value else { return value.clone() };
    let role = value.get("role").and_then(Value::text).unwrap_or_default();
    if role == "developer" && !quirks.has("contents_unread") {
        return message(&with(entries, "role", "system".into()), quirks);
    }
    let (plain, openai) = (!quirks.has("contents_unread"), !quirks.has("openai_calls_unread"));
    let content = value.get("content").cloned().unwrap_or_default();
    let mut parts = match (content, role) {
        (Value::List(items), "system") if plain => {
            return with(entries, "content", Value::Text(texts(&items)));
        }
        (Value::Text(text), "tool") if plain => {
            vec![map([("type", "tool_result".into()), ("tool_result", Value::Text(text))])]
        }
        (Value::List(items), "tool") if plain && !items.is_empty() && items.iter().all(is_text) => {
            vec![map([("type", "tool_result".into()), ("tool_result", Value::Text(texts(&items)))])]
        }
        (Value::Text(text), "user" | "assistant") if plain => {
            vec![map([("type", "text".into()), ("text", Value::Text(text))])]
        }
        (Value::Null, "assistant") if plain || openai => Vec::new(),
        (Value::List(items), _) => items,
        _ => return value.clone(),
    };
    if openai && role == "assistant" {
        parts = parts.iter().map(call).collect();
        parts
            .extend(value.get("tool_calls").map(Value::items).unwrap_or_default().iter().map(call));
    }
    with(entries, "content", Value::List(parts))
}

fn is_text(part: &Value) -> bool {
    let typed = || part.get("type").is_none_or(|kind| kind.text() == Some("text"));
    part.text().is_some() || (typed() && part.get("text").is_some_and(|text| text.text().is_some()))
}

/// Joins the texts of a list of parts with line breaks.
fn texts(parts: &[Value]) -> String {
    let text = |part: &Value| part.text().or_else(|| part.get("text")?.text()).map(str::to_owned);
    parts.iter().filter_map(text).collect::<Vec<_>>().join("\n")
}

/// Returns a content as text; for a list of parts, their texts.
pub(super) fn text_of(content: &Value) -> Value {
    match content {
        Value::List(parts) => Value::Text(texts(parts)),
        other => other.clone(),
    }
}

/// Normalizes a tool call of any format. Other parts are returned unchanged.
pub(super) fn call(part: &Value) -> Value {
    let inside =
        part.get("tool_call").filter(|inside| inside.get("function").is_some()).unwrap_or(part);
    let kind = part.get("type").and_then(Value::text);
    let Some(function) = inside.get("function").filter(|function| function.get("name").is_some())
    else {
        return match part.get("name") {
            // Calls that are given outside of a message may lack a type.
            Some(_) if kind.is_none() && part.get("arguments").is_some() => {
                let Value::Map(entries) = part else { return part.clone() };
                parsed([vec![("type".into(), "tool_call".into())], entries.clone()].concat())
            }
            Some(_) if kind == Some("tool_call") => parsed(part.entries().to_vec()),
            _ => part.clone(),
        };
    };
    let id = inside.get("id").or_else(|| part.get("tool_call_id")).cloned().unwrap_or_default();
    let name = function.get("name").cloned().unwrap_or_default();
    let arguments = function.get("arguments").cloned().unwrap_or_else(|| Value::Map(Vec::new()));
    let mut entries = vec![
        ("type".into(), "tool_call".into()),
        ("tool_call_id".into(), id),
        ("name".into(), name),
    ];
    entries.push(("arguments".into(), arguments));
    entries.extend(part.get("tool_result").map(|result| ("tool_result".into(), result.clone())));
    parsed(entries)
}

/// Replaces arguments that are JSON text with the object in it.
fn parsed(mut entries: Vec<(Value, Value)>) -> Value {
    for (key, value) in &mut entries {
        if key.text() != Some("arguments") {
            continue;
        }
        if let Value::Text(text) = value
            && let Some(object) = if text.trim().is_empty() {
                Some(Value::Map(Vec::new()))
            } else {
                json::embedded(text)
            }
        {
            *value = object;
        }
    }
    Value::Map(entries)
}

/// Normalizes tool definitions to a list of flat definitions.
pub(super) fn definitions(value: &Value, quirks: &Quirks) -> Value {
    if quirks.has("openai_calls_unread") {
        return value.clone();
    }
    let flat = |definition: &Value| match definition.get("function") {
        Some(Value::Map(function)) => {
            Value::Map([vec![("type".into(), "function".into())], function.clone()].concat())
        }
        _ => definition.clone(),
    };
    let known = |definition: Value| {
        let Value::Map(entries) = definition else { return definition };
        Value::Map(entries.into_iter().filter(|(_, value)| *value != Value::Null).collect())
    };
    match value {
        Value::List(items) => Value::List(items.iter().map(|item| known(flat(item))).collect()),
        Value::Map(entries) if !entries.is_empty() => Value::List(vec![known(flat(value))]),
        Value::Text(text) => json::embedded(text)
            .map_or_else(|| value.clone(), |inside| definitions(&inside, quirks)),
        other => other.clone(),
    }
}

fn map<const N: usize>(entries: [(&str, Value); N]) -> Value {
    Value::Map(entries.map(|(key, value)| (key.into(), value)).to_vec())
}

/// Returns the entries with the value of a key replaced, or appended if the key is missing.
pub(super) fn with(entries: &[(Value, Value)], key: &str, value: Value) -> Value {
    let mut entries = entries.to_vec();
    match entries.iter_mut().find(|(known, _)| known.text() == Some(key)) {
        Some(entry) => entry.1 = value,
        None => entries.push((key.into(), value)),
    }
    Value::Map(entries)
}
