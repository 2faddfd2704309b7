//! **Pure.** What the judge of tool calls is shown: the calls that were made, with what they returned, and the tools of their names.
use super::normal::with;
use super::{Inputs, Quirks, inputs, normal};
use std::collections::{HashMap, HashSet};
use touchstone_formats::azure::Waiting;
use touchstone_formats::json;
use touchstone_formats::value::Value;

/// Calls and the definitions of their tools, each once.
pub type ToolInputs = (Vec<Value>, Vec<Value>);

/// Where a call stands: its message, and its part in that.
pub(super) type Place = (usize, usize);

/// The calls of an answer, each with what it returned when that is known. What is no list of messages has none.
pub fn calls_of(response: &Value, quirks: &Quirks) -> Vec<Value> {
    let response = normal::messages(response, quirks);
    let messages = response.items();
    let results = if quirks.has("repeated_ids_share_results") { shared(messages) } else { returned(messages) };
    let complete = |(place, call): (Place, &Value)| match results.get(&place) {
        Some(result) => with(call.entries(), "tool_result", result.clone()),
        None => call.clone(),
    };
    calls(messages).map(complete).collect()
}

fn is(value: &Value, kind: &str) -> bool {
    value.get("type").and_then(Value::text) == Some(kind)
}

fn parts(message: &Value) -> &[Value] {
    message.get("content").map(Value::items).unwrap_or_default()
}

/// The calls of the messages of an assistant, with their places.
pub(super) fn calls(messages: &[Value]) -> impl Iterator<Item = (Place, &Value)> {
    let spoken = messages.iter().enumerate();
    let spoken = spoken.filter(|(_, message)| message.get("role").and_then(Value::text) == Some("assistant"));
    spoken.flat_map(|(at, message)| {
        let calls = parts(message).iter().enumerate().filter(|(_, part)| is(part, "tool_call"));
        calls.map(move |(part, call)| ((at, part), call))
    })
}

/// The id of a call, `null` where it has none.
pub(super) fn id_of(call: &Value) -> String {
    let nested = call.get("tool_call").filter(|inside| inside.get("function").is_some());
    json::write(nested.map_or_else(|| call.get("tool_call_id"), |call| call.get("id")).unwrap_or(&Value::Null), false)
}

/// The package's way: calls that share an id have the last result of that id, whoever was called when.
fn shared(messages: &[Value]) -> HashMap<Place, Value> {
    let mut results = HashMap::new();
    for message in messages.iter().filter(|message| message.get("role").and_then(Value::text) == Some("tool")) {
        let id = message.get("tool_call_id").filter(|id| inputs::truthy(id));
        let result = parts(message).first().filter(|part| is(part, "tool_result"));
        let result = result.map(|part| part.get("tool_result").unwrap_or(&Value::Null));
        results.extend(id.map(|id| json::write(id, false)).zip(result));
    }
    let of = |call: &Value| {
        let id = call.get("tool_call_id").filter(|id| inputs::truthy(id))?;
        results.get(&json::write(id, false)).map(|result| (*result).clone())
    };
    calls(messages).filter_map(|(place, call)| Some((place, of(call)?))).collect()
}

/// What each call returned. Some programs number their calls anew in every turn: a result is that of the last message before it that
/// calls by its id and has no result yet, and of the first such call in that. When all have one, it takes the place of the last.
pub(super) fn returned(messages: &[Value]) -> HashMap<Place, Value> {
    let (mut waiting, mut last) = (Waiting::default(), HashMap::new());
    let (mut results, mut called) = (HashMap::new(), calls(messages).peekable());
    for (at, message) in messages.iter().enumerate() {
        while let Some(((_, part), call)) = called.next_if(|((of, _), _)| *of == at) {
            waiting.call(&id_of(call), at, part);
        }
        let is_tool = message.get("role").and_then(Value::text) == Some("tool");
        let Some(id) = message.get("tool_call_id").filter(|_| is_tool) else { continue };
        let found = parts(message).iter().filter(|part| is(part, "tool_result"));
        let mut found: Vec<Value> = found.map(|part| part.get("tool_result").cloned().unwrap_or_default()).collect();
        let id = json::write(id, false);
        let Some(place) = waiting.answered(&id).or_else(|| last.get(&id).copied()) else { continue };
        let result = if found.len() > 1 { Some(Value::List(found)) } else { found.pop() };
        results.extend(result.map(|result| (place, result)));
        last.insert(id, place);
    }
    results
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
