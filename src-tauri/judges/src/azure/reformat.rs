//! **Pure.** Renders lists of messages and tool definitions for judge prompts. Returns `None` for
//! input of an unknown format; the caller then renders the raw value.
use super::inputs::format_value;
use super::tools::{self, CallPosition};
use super::{Quirks, normal};
use std::collections::HashMap;
use touchstone_formats::stabletoolbench::python;
use touchstone_metrics::text::python::is_space;
use touchstone_model::value::Value;

/// Texts of the messages of one turn.
type TurnTexts = Vec<Vec<String>>;

/// Renders the conversation up to now turn by turn, with the system message if `system` is set.
pub fn conversation_history(query: &Value, system: bool, quirks: &Quirks) -> Option<String> {
    let query = normal::messages(query, quirks);
    let Value::List(messages) = &query else { return None };
    let mut instructions = None;
    // Turns of both sides in order; `true` marks the user's turns.
    let mut turns: Vec<(bool, TurnTexts)> = Vec::new();
    let (mut side, mut open) = (None, false);
    for message in messages {
        let Some(role) = role(message).ok()? else { continue };
        let Some(content) = message.get("content") else { continue };
        if system && role == &Value::from("system") {
            instructions = Some(content);
        }
        let person = match role.text() {
            Some("user") => true,
            Some("assistant") => false,
            _ => continue,
        };
        // A message without text still ends the other side's turn.
        open &= side == Some(person);
        let texts = texts(content)?;
        if texts.is_empty() {
            continue;
        }
        side = Some(person);
        match turns.last_mut().filter(|_| open) {
            Some((_, said)) => said.push(texts),
            None => turns.push((person, vec![texts])),
        }
        open = true;
    }
    let told = match instructions {
        None | Some(Value::Null) => String::new(),
        Some(text) => format!("SYSTEM_PROMPT:\n  {}\n\n", indented(text.text()?, "    ", quirks)),
    };
    let asked = turns.iter().filter(|(person, _)| *person).count();
    if quirks.has("odd_histories_unread") {
        return (asked == turns.len() - asked + 1).then(|| told + &paired(&turns, quirks));
    }
    (!turns.is_empty()).then(|| told + &in_order(&turns, quirks))
}

/// Pairs the user's nth turn with the assistant's nth turn, like the package.
fn paired(turns: &[(bool, TurnTexts)], quirks: &Quirks) -> String {
    let of =
        |side: bool| turns.iter().filter(move |(person, _)| *person == side).map(|(_, said)| said);
    let mut agent = of(false);
    let pair = |(at, said): (usize, &TurnTexts)| {
        let answer = agent.next().map(|said| turn("Agent", at + 1, said, quirks));
        turn("User", at + 1, said, quirks) + &answer.unwrap_or_default()
    };
    of(true).enumerate().map(pair).collect()
}

fn in_order(turns: &[(bool, TurnTexts)], quirks: &Quirks) -> String {
    let mut asked = 0;
    let one = |(person, said): &(bool, TurnTexts)| {
        asked += usize::from(*person);
        turn(if *person { "User" } else { "Agent" }, asked, said, quirks)
    };
    turns.iter().map(one).collect()
}

fn turn(who: &str, number: usize, said: &TurnTexts, quirks: &Quirks) -> String {
    let one = |texts: &Vec<String>| {
        let texts: Vec<String> = texts.iter().map(|text| indented(text, "    ", quirks)).collect();
        format!("  {}", texts.join("\n  "))
    };
    let messages: Vec<String> = said.iter().map(one).collect();
    let between = if quirks.has("messages_run_together") { "" } else { "\n" };
    format!("{who} turn {number}:\n{}\n\n", messages.join(between))
}

/// All characters that end a line.
const ENDS: [char; 7] = ['\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}'];

/// Indents all lines after the first, so that none of them looks like a turn or a tool call.
fn indented(text: &str, by: &str, quirks: &Quirks) -> String {
    if quirks.has("messages_run_together") {
        return text.to_owned();
    }
    text.replace("\r\n", "\n").split(ENDS).collect::<Vec<_>>().join(&format!("\n{by}"))
}

/// Renders a text of the assistant. A text that begins like a tool call or tool result is marked
/// with `(said)`.
fn spoken(text: &str, quirks: &Quirks) -> String {
    let text = indented(text, "  ", quirks);
    let forged = text.trim_start().get(..6).is_some_and(|head| head.eq_ignore_ascii_case("[TOOL_"));
    if forged && !quirks.has("messages_run_together") { format!("(said) {text}") } else { text }
}

/// Renders a tool call or tool result on one line by escaping line breaks.
fn one_line(line: String, quirks: &Quirks) -> String {
    if quirks.has("messages_run_together") || !line.contains(ENDS) {
        return line;
    }
    line.chars()
        .map(|c| if ENDS.contains(&c) { c.escape_default().to_string() } else { c.to_string() })
        .collect()
}

/// Returns the role of a message, if it has one. Fails when the value is not a message.
fn role(message: &Value) -> Result<Option<&Value>, ()> {
    match message {
        Value::Map(_) => Ok(message.get("role")),
        Value::Text(text) if !text.contains("role") => Ok(None),
        Value::List(items) if !items.contains(&"role".into()) => Ok(None),
        _ => Err(()),
    }
}

/// Returns the texts of a content; `None` when its format is unknown.
fn texts(content: &Value) -> Option<Vec<String>> {
    let items = match content {
        Value::List(items) => items,
        // Python iterates over the characters of a text, none of which is a part with a text.
        Value::Text(_) => return Some(Vec::new()),
        Value::Map(entries) => {
            return entries
                .iter()
                .all(|(key, _)| key.text().is_some_and(|key| !key.contains("text")))
                .then(Vec::new);
        }
        _ => return None,
    };
    let text = |part: &Value| match part {
        Value::Map(_) => part.get("text").map(|text| text.text().map(str::to_owned)),
        Value::Text(text) if !text.contains("text") => None,
        Value::List(inside) if !inside.contains(&"text".into()) => None,
        _ => Some(None),
    };
    items.iter().filter_map(text).collect()
}

/// Renders the assistant's answer line by line, with tool calls and tool results if `tools` is set.
pub fn agent_response(response: &Value, tools: bool, quirks: &Quirks) -> Option<String> {
    let response = normal::messages(response, quirks);
    let messages = match &response {
        Value::Null => return Some(String::new()),
        Value::List(messages) if messages.is_empty() => return Some(String::new()),
        Value::List(messages) => messages,
        _ => return None,
    };
    let results = if tools { results(messages, quirks)? } else { HashMap::new() };
    let mut lines = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let assistant = role(message).ok()?.is_some_and(|role| role.text() == Some("assistant"));
        let Some(content) = message.get("content").filter(|_| assistant) else { continue };
        lines.extend(texts(content)?.iter().map(|text| spoken(text, quirks)));
        if tools {
            lines.extend(calls(content, |part| results.get(&(at, part)), quirks)?);
        }
    }
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// Returns the rendered result of each tool call.
fn results(messages: &[Value], quirks: &Quirks) -> Option<HashMap<CallPosition, String>> {
    let line = |result: &Value| one_line(format!("[TOOL_RESULT] {}", bare(result, quirks)), quirks);
    let mut by_id = HashMap::new();
    for message in messages {
        let Value::Map(_) = message else { return None };
        let (Some("tool"), Some(id)) =
            (message.get("role").and_then(Value::text), message.get("tool_call_id"))
        else {
            continue;
        };
        for part in parts(message.get("content"))? {
            if part.get("type").and_then(Value::text) == Some("tool_result") {
                if tools::is_nested(id) {
                    return None;
                }
                by_id.insert(tools::key(id), part.get("tool_result").unwrap_or(&Value::Null));
            }
        }
    }
    if quirks.has("repeated_ids_share_results") {
        // The last result of an id applies to all calls with that id.
        let of = |call: &Value| by_id.get(&tools::id_of(call)).map(|result| line(result));
        return Some(
            tools::calls(messages).filter_map(|(place, call)| Some((place, of(call)?))).collect(),
        );
    }
    Some(
        tools::results_by_call(messages)
            .iter()
            .map(|(place, result)| (*place, line(result)))
            .collect(),
    )
}

/// Returns the parts of a content; `None` when any part is not an object.
fn parts(content: Option<&Value>) -> Option<&[Value]> {
    match content {
        None => Some(&[]),
        Some(Value::List(items)) => {
            items.iter().all(|item| matches!(item, Value::Map(_))).then_some(items)
        }
        Some(Value::Text(text)) if text.is_empty() => Some(&[]),
        Some(Value::Map(entries)) if entries.is_empty() => Some(&[]),
        _ => None,
    }
}

fn calls<'r>(
    content: &Value,
    result: impl Fn(usize) -> Option<&'r String>,
    quirks: &Quirks,
) -> Option<Vec<String>> {
    let mut lines = Vec::new();
    for (at, part) in parts(Some(content))?.iter().enumerate() {
        if part.get("type").and_then(Value::text) != Some("tool_call") {
            continue;
        }
        let of = called(part)?;
        let name = of.get("name").map(python::text).unwrap_or_default();
        let arguments = match of.get("arguments") {
            None => String::new(),
            Some(Value::Map(entries)) => {
                let one = |(key, value): &(Value, Value)| {
                    format!("{}=\"{}\"", python::text(key), bare(value, quirks))
                };
                entries.iter().map(one).collect::<Vec<_>>().join(", ")
            }
            Some(_) => return None,
        };
        if tools::id(part).is_some_and(tools::is_nested) {
            return None;
        }
        lines.push(one_line(format!("[TOOL_CALL] {name}({arguments})"), quirks));
        lines.extend(result(at).cloned());
    }
    Some(lines)
}

/// Returns the object that holds the name and the arguments of a call: the part itself, or an
/// object nested in it.
fn called(part: &Value) -> Option<&Value> {
    let own = match part.get("tool_call") {
        None => true,
        Some(Value::Map(entries)) => !entries.iter().any(|(key, _)| key.text() == Some("function")),
        Some(Value::Text(text)) => !text.contains("function"),
        Some(Value::List(items)) => !items.contains(&"function".into()),
        Some(_) => false,
    };
    if own {
        Some(part)
    } else {
        part.get("tool_call")?.get("function").filter(|of| matches!(of, Value::Map(_)))
    }
}

/// Formats a value for use within a line.
fn bare(value: &Value, quirks: &Quirks) -> String {
    match value {
        Value::Null if !quirks.has("python_repr") => "null".to_owned(),
        value => format_value(Some(value), quirks),
    }
}

/// Renders tool definitions, one per line.
pub fn tool_definitions(definitions: &Value, quirks: &Quirks) -> Option<String> {
    let definitions = normal::definitions(definitions, quirks);
    let items = match &definitions {
        Value::List(items) => items.as_slice(),
        // Empty texts and objects are iterated without effect in Python.
        Value::Text(text) if text.is_empty() => &[],
        Value::Map(entries) if entries.is_empty() => &[],
        _ => return None,
    };
    let line = |tool: &Value| {
        let Value::Map(_) = tool else { return None };
        let name = tool.get("name").map_or_else(|| "unnamed_tool".to_owned(), python::text);
        let what = match tool.get("description") {
            None => "",
            Some(text) => text.text()?.trim_matches(is_space),
        };
        let properties = match tool.get("parameters") {
            None => None,
            Some(Value::Map(_)) => tool.get("parameters").and_then(|of| of.get("properties")),
            Some(_) => return None,
        };
        let inputs = match properties.filter(|of| super::inputs::truthy(of)) {
            None => "no parameters".to_owned(),
            Some(Value::Map(of)) => {
                of.iter().map(|(key, _)| key.text()).collect::<Option<Vec<_>>>()?.join(", ")
            }
            Some(_) => return None,
        };
        Some(format!("- {name}: {what} (inputs: {inputs})"))
    };
    let lines: Option<Vec<String>> = items.iter().map(line).collect();
    Some([vec!["TOOL_DEFINITIONS:".to_owned()], lines?].concat().join("\n"))
}
