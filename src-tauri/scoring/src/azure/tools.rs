//! **Pure.** What the judge of tool calls is shown: the calls that were made, with what they returned, and the tools of their names.
use super::normal::with;
use super::{Inputs, Quirks, inputs, normal};
use std::collections::{HashMap, HashSet};
use touchstone_formats::json;
use touchstone_formats::value::Value;

/// Calls and the definitions of their tools, each once.
pub type ToolInputs = (Vec<Value>, Vec<Value>);

/// The calls of an answer, each with what it returned when that is known. What is no list of messages has none.
pub fn calls_of(response: &Value, quirks: &Quirks) -> Vec<Value> {
    let response = normal::messages(response, quirks);
    let (mut calls, mut results) = (Vec::new(), HashMap::new());
    let typed = |value: &Value, kind: &str| value.get("type").and_then(Value::text) == Some(kind);
    for message in response.items() {
        let parts = message.get("content").map(Value::items).unwrap_or_default();
        match message.get("role").and_then(Value::text) {
            Some("assistant") => calls.extend(parts.iter().filter(|part| typed(part, "tool_call")).cloned()),
            Some("tool") => {
                let id = message.get("tool_call_id").filter(|id| inputs::truthy(id));
                let result = parts.first().filter(|part| typed(part, "tool_result"));
                let result = result.map(|part| part.get("tool_result").unwrap_or(&Value::Null));
                results.extend(id.map(|id| json::write(id, false)).zip(result));
            }
            _ => {}
        }
    }
    let complete = |call: Value| {
        let id = call.get("tool_call_id").filter(|id| inputs::truthy(id));
        match id.and_then(|id| results.get(&json::write(id, false))) {
            Some(result) => with(call.entries(), "tool_result", (*result).clone()),
            None => call,
        }
    };
    calls.into_iter().map(complete).collect()
}

/// What the judge is shown, or why it has nothing to judge.
pub fn tool_inputs(given: &Inputs, quirks: &Quirks) -> Result<ToolInputs, &'static str> {
    const UNKNOWN: &str = "Tool definitions for all tool calls must be provided.";
    let found = given.there("response").filter(|value| inputs::truthy(value)).map(|value| calls_of(value, quirks));
    let calls = match found.filter(|calls| !calls.is_empty()) {
        Some(calls) => calls,
        None => listed(given.there("tool_calls"), quirks).iter().map(|call| normal_call(call, quirks)).collect(),
    };
    if calls.is_empty() {
        return Err("No tool calls found in response or provided tool_calls.");
    }
    let definitions = given.there("tool_definitions").map(|value| normal::definitions(value, quirks));
    let definitions = listed(definitions.as_ref(), quirks);
    if definitions.is_empty() {
        return Err("Tool definitions must be provided.");
    }
    let mut known: HashMap<String, Vec<&Value>> = HashMap::new();
    for tool in &definitions {
        let kind = tool.get("type").map_or(Some("function"), Value::text);
        if let Some(name) = tool.get("name").filter(|_| kind == Some("function")) {
            known.entry(json::write(name, false)).or_default().push(tool);
        }
    }
    let (mut names, mut seen, mut needed) = (HashSet::new(), HashSet::new(), Vec::new());
    for call in calls.iter().filter(|call| call.get("type").and_then(Value::text) == Some("tool_call")) {
        let name = json::write(call.get("name").ok_or(UNKNOWN)?, false);
        let of = known.get(&name).ok_or(UNKNOWN)?;
        if names.insert(name) {
            needed.extend(of.iter().filter(|tool| seen.insert(json::write(tool, false))).map(|tool| (*tool).clone()));
        }
    }
    if needed.is_empty() { Err(UNKNOWN) } else { Ok((calls, needed)) }
}

fn normal_call(call: &Value, quirks: &Quirks) -> Value {
    if quirks.has("openai_calls_unread") { call.clone() } else { normal::call(call) }
}

/// The items of a list; a single value is a list of one, and nothing and empty ones are none.
fn listed(value: Option<&Value>, quirks: &Quirks) -> Vec<Value> {
    match value {
        Some(Value::List(items)) => items.clone(),
        Some(Value::Text(text)) if !quirks.has("openai_calls_unread") => {
            json::embedded(text).map(|inside| listed(Some(&inside), quirks)).unwrap_or_default()
        }
        Some(other) if inputs::truthy(other) => vec![other.clone()],
        _ => Vec::new(),
    }
}
