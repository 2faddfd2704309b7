//! **Pure.** Inputs of the judge of tool calls: the calls with their results, and the definitions
//! of the called tools.
use super::normal::with;
use super::numbers::is_whole;
use super::python_number::written;
use super::{Inputs, Quirks, inputs, normal};
use std::collections::{HashMap, HashSet, VecDeque};
use touchstone_formats::azure::PendingCalls;
use touchstone_model::json;
use touchstone_model::value::Value;

/// Tool calls, and the distinct definitions of their tools.
pub type ToolInputs = (Vec<Value>, Vec<Value>);

/// Reason why the judge of tool calls is not asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkipReason {
    /// There is nothing to judge. Holds the package's message.
    NotApplicable(&'static str),
    /// The package fails because it looks up keys in a value that is not an object.
    Fails(&'static str),
}

/// Position of a call: index of its message, and of its part in the message.
pub(super) type CallPosition = (usize, usize);

/// Returns the tool calls of an answer with their results where known; empty when the answer is not
/// a list of messages. Fails where the package fails.
pub fn calls_of(response: &Value, quirks: &Quirks) -> Result<Vec<Value>, &'static str> {
    let response = normal::messages(response, quirks);
    let messages = response.items();
    let results = if quirks.has("repeated_ids_share_results") {
        results_by_id(messages)?
    } else {
        results_by_call(messages)
    };
    let complete = |(place, call): (CallPosition, &Value)| match results.get(&place) {
        Some(result) => with(call.entries(), "tool_result", result.clone()),
        None => call.clone(),
    };
    Ok(calls(messages).map(complete).collect())
}

fn is(value: &Value, kind: &str) -> bool {
    value.get("type").and_then(Value::text) == Some(kind)
}

fn parts(message: &Value) -> &[Value] {
    message.get("content").map(Value::items).unwrap_or_default()
}

/// Returns the tool calls of assistant messages, with their positions.
pub(super) fn calls(messages: &[Value]) -> impl Iterator<Item = (CallPosition, &Value)> {
    let spoken = messages.iter().enumerate();
    let spoken = spoken
        .filter(|(_, message)| message.get("role").and_then(Value::text) == Some("assistant"));
    spoken.flat_map(|(at, message)| {
        let calls = parts(message).iter().enumerate().filter(|(_, part)| is(part, "tool_call"));
        calls.map(move |(part, call)| ((at, part), call))
    })
}

/// Returns the id of a call.
pub(super) fn id(call: &Value) -> Option<&Value> {
    let nested = call.get("tool_call").filter(|inside| inside.get("function").is_some());
    nested.map_or_else(|| call.get("tool_call_id"), |call| call.get("id"))
}

/// Returns the id of a call as text; `null` when it has none.
pub(super) fn id_of(call: &Value) -> String {
    key(id(call).unwrap_or(&Value::Null))
}

/// Returns a map key with Python's equality, in which `1`, `1.0` and `true` are equal.
pub(super) fn key(value: &Value) -> String {
    match value {
        Value::Bool(yes) => u8::from(*yes).to_string(),
        Value::Number(number) => {
            let whole = written(number).filter(|float| float.fract() == 0.0 && !is_whole(number));
            whole.map_or_else(|| number.clone(), |float| format!("{:.0}", float + 0.0))
        }
        other => json::write(other, false),
    }
}

/// Returns whether an id is a list or an object, which are not valid ids.
pub(super) fn is_nested(id: &Value) -> bool {
    matches!(id, Value::List(_) | Value::Map(_))
}

/// Assigns results like the package: all calls with the same id receive the last result of that id.
fn results_by_id(messages: &[Value]) -> Result<HashMap<CallPosition, Value>, &'static str> {
    const NO_ID: &str = "The id of a call in the response is a list or an object.";
    if !messages.iter().all(is_object) {
        return Err("A message of the response is not an object.");
    }
    let mut results = HashMap::new();
    for message in
        messages.iter().filter(|message| message.get("role").and_then(Value::text) == Some("tool"))
    {
        let id = message.get("tool_call_id").filter(|id| inputs::truthy(id));
        let result = parts(message).first().filter(|part| is(part, "tool_result"));
        let Some((id, result)) = id.zip(result) else { continue };
        if is_nested(id) {
            return Err(NO_ID);
        }
        results.insert(key(id), result.get("tool_result"));
    }
    let mut found = HashMap::new();
    for (place, call) in calls(messages) {
        let Some(id) = call.get("tool_call_id") else { continue };
        if is_nested(id) {
            return Err(NO_ID);
        }
        if let Some(result) = results.get(&key(id)) {
            found.insert(
                place,
                result.cloned().ok_or("A part with the result of a call has no `tool_result`.")?,
            );
        }
    }
    Ok(found)
}

fn is_object(value: &Value) -> bool {
    matches!(value, Value::Map(_))
}

/// Returns the result of each call. Some programs restart the numbering of calls in every turn. A
/// result belongs to the first open call of its id in the last preceding message that has one. When
/// all calls of the id have results, it replaces the latest result. A result that precedes every
/// call of its id belongs to the first of these calls that no later result answers.
pub(super) fn results_by_call(messages: &[Value]) -> HashMap<CallPosition, Value> {
    let (mut waiting, mut last) = (PendingCalls::default(), HashMap::new());
    let (mut results, mut called) = (HashMap::new(), calls(messages).peekable());
    let mut early: Vec<(String, Value)> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        while let Some(((_, part), call)) = called.next_if(|((of, _), _)| *of == at) {
            waiting.call(&id_of(call), at, part);
        }
        let is_tool = message.get("role").and_then(Value::text) == Some("tool");
        let Some(id) = message.get("tool_call_id").filter(|_| is_tool) else { continue };
        let found = parts(message).iter().filter(|part| is(part, "tool_result"));
        let mut found: Vec<Value> =
            found.map(|part| part.get("tool_result").cloned().unwrap_or_default()).collect();
        let id = key(id);
        let place = waiting.take_call(&id).or_else(|| last.get(&id).copied());
        let result = if found.len() > 1 { Some(Value::List(found)) } else { found.pop() };
        match place {
            Some(place) => {
                results.extend(result.map(|result| (place, result)));
                last.insert(id, place);
            }
            None => early.extend(result.map(|result| (id, result))),
        }
    }
    let mut open: HashMap<String, VecDeque<CallPosition>> = HashMap::new();
    if !early.is_empty() {
        for (place, call) in calls(messages).filter(|(place, _)| !results.contains_key(place)) {
            open.entry(id_of(call)).or_default().push_back(place);
        }
    }
    // When there are more results than calls the last result counts, like in the package.
    let mut put: HashMap<String, CallPosition> = HashMap::new();
    for (id, result) in early {
        let next = open.get_mut(&id).and_then(VecDeque::pop_front);
        if let Some(place) = next.or_else(|| put.get(&id).copied()) {
            results.insert(place, result);
            put.insert(id, place);
        }
    }
    results
}

/// Returns the inputs shown to the judge, or the reason why it is not asked.
pub fn tool_inputs(given: &Inputs, quirks: &Quirks) -> Result<ToolInputs, SkipReason> {
    use SkipReason::{Fails, NotApplicable};
    const UNKNOWN: SkipReason =
        NotApplicable("Tool definitions for all tool calls must be provided.");
    let response = given.there("response").filter(|value| inputs::truthy(value));
    let found = response.map(|value| calls_of(value, quirks)).transpose().map_err(Fails)?;
    let calls = match found.filter(|calls| !calls.is_empty()) {
        Some(calls) => calls,
        None => listed(given.there("tool_calls"), quirks)
            .iter()
            .map(|call| normal_call(call, quirks))
            .collect(),
    };
    if calls.is_empty() {
        return Err(NotApplicable("No tool calls found in response or provided tool_calls."));
    }
    let definitions =
        given.there("tool_definitions").map(|value| normal::definitions(value, quirks));
    let definitions = listed(definitions.as_ref(), quirks);
    if definitions.is_empty() {
        return Err(NotApplicable("Tool definitions must be provided."));
    }
    let typed = || calls.iter().filter(|call| is(call, "tool_call"));
    let countable = |value: &Value| !matches!(value, Value::Number(_) | Value::Bool(_));
    let looked_into = typed().next().is_some() && !definitions.iter().all(is_object);
    if quirks.has("openai_calls_unread")
        && (looked_into || !given.there("tool_definitions").is_none_or(countable))
    {
        return Err(Fails("A definition of a tool is not an object."));
    }
    // When call and definition both nest their names, the package sees no name in either and treats
    // them as equal.
    let name = |value: &Value| match value.get("name") {
        None if !quirks.has("openai_calls_unread") => None,
        name => Some(key(name.unwrap_or(&Value::Null))),
    };
    let mut known: HashMap<String, Vec<&Value>> = HashMap::new();
    for tool in &definitions {
        let kind = tool.get("type").map_or(Some("function"), Value::text);
        if let Some(name) = name(tool).filter(|_| kind == Some("function")) {
            known.entry(name).or_default().push(tool);
        }
    }
    let (mut names, mut seen, mut needed) = (HashSet::new(), HashSet::new(), Vec::new());
    for call in typed() {
        let name = name(call).ok_or(UNKNOWN)?;
        let of = known.get(&name).ok_or(UNKNOWN)?;
        if names.insert(name) {
            needed.extend(
                of.iter()
                    .filter(|tool| seen.insert(json::write(tool, false)))
                    .map(|tool| (*tool).clone()),
            );
        }
    }
    if needed.is_empty() { Err(UNKNOWN) } else { Ok((calls, needed)) }
}

fn normal_call(call: &Value, quirks: &Quirks) -> Value {
    if quirks.has("openai_calls_unread") { call.clone() } else { normal::call(call) }
}

/// Returns the items of a list. A single value becomes a list of one; missing and empty values
/// become an empty list.
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
