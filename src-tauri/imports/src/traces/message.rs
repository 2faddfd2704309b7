//! **Pure.** Messages of model calls, with the roles that different tools use.
use super::parts::{call, first, is_result, normal_part, result};
use crate::messages;
use crate::run::EventKind;
use crate::text::{arguments, canonical_json, is_blank};
use std::hash::{DefaultHasher, Hasher};
use touchstone_model::json;
use touchstone_model::value::Value;

/// Role of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// System or developer.
    System,
    /// User.
    User,
    /// Model.
    Assistant,
    /// Tool, whose results it holds.
    Tool,
}

/// Message of a model call.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// Role.
    pub role: Role,
    /// Reasoning, text, calls and results.
    pub events: Vec<EventKind>,
}

impl Message {
    /// Creates a message of a text.
    pub fn from_text(role: Role, text: impl Into<String>) -> Message {
        let text = text.into();
        let kind = match role {
            Role::System => EventKind::System(text),
            Role::User => EventKind::User(text),
            Role::Assistant => EventKind::Assistant(text),
            Role::Tool => {
                EventKind::Result { id: None, name: None, value: Value::Text(text), failed: None }
            }
        };
        Message { role, events: vec![kind] }
    }

    /// Returns a key that is equal for messages that are alike in role, text, calls and results.
    /// `None` for instructions and for messages without any of these.
    pub(super) fn key(&self) -> Option<u128> {
        let (mut texts, mut calls, mut results) = (Vec::new(), Vec::new(), Vec::new());
        for event in &self.events {
            match event {
                EventKind::User(text) | EventKind::Assistant(text) => texts.push(text.clone()),
                EventKind::Call { name, arguments: given, .. } => {
                    calls.push(name.clone());
                    calls.push(canonical_json(&arguments(Some(given))));
                }
                EventKind::Result { value, .. } => results.push(canonical_json(value)),
                _ => {}
            }
        }
        texts.retain(|text| !is_blank(text));
        if self.role == Role::System || (texts.is_empty() && calls.is_empty() && results.is_empty())
        {
            return None;
        }
        let only_results = texts.is_empty() && calls.is_empty();
        let role = if only_results { Role::Tool } else { self.role };
        let half = |seed: u8| {
            let mut hasher = DefaultHasher::new();
            hasher.write_u8(seed);
            hasher.write_u8(role as u8);
            for list in [&texts, &calls, &results] {
                hasher.write_usize(list.len());
                for text in list {
                    hasher.write_usize(text.len());
                    hasher.write(text.as_bytes());
                }
            }
            u128::from(hasher.finish())
        };
        Some(half(0) << 64 | half(1))
    }
}

/// Reads a message, an item of a response, or a call that stands alone. `names` holds the calls
/// that came before it. Returns `None` for an object without role, and for the definition of a
/// function.
pub fn read_message(value: &Value, names: &[String]) -> Option<Message> {
    if let Some(message) = read_item(value) {
        return Some(message);
    }
    if let Some(inside) = value.get("kwargs").filter(|_| value.get("lc").is_some()) {
        let class = value.get("id").and_then(|id| id.items().last()).and_then(Value::text);
        return read_role(inside, inside.text_at("type").or(class)?, names);
    }
    let content = value.get("content").unwrap_or(&Value::Null);
    if let Some(role) = value.text_at("role") {
        return read_role(value, role, names);
    }
    if content.get("role").is_some() {
        return read_role(content, content.text_at("role")?, names);
    }
    let kind = value.text_at("type")?;
    find_role(kind).and_then(|_| read_role(value, kind, names))
}

/// Returns the role of a name, whatever the tool.
fn find_role(name: &str) -> Option<Role> {
    match name {
        "system" | "developer" | "SystemMessage" => Some(Role::System),
        "user" | "human" | "HumanMessage" | "HumanMessageChunk" => Some(Role::User),
        "assistant" | "ai" | "model" | "AIMessage" | "AIMessageChunk" => Some(Role::Assistant),
        "tool" | "function" | "ToolMessage" | "FunctionMessage" => Some(Role::Tool),
        _ => None,
    }
}

fn role_name(role: Role) -> &'static str {
    match role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
    }
}

/// Reads a message of a role. A tool's name in the place of the role makes it a result.
fn read_role(message: &Value, role: &str, names: &[String]) -> Option<Message> {
    let content = first(message, &["parts", "content"]).unwrap_or(&Value::Null);
    let known = find_role(role);
    let as_tool = known.is_none() && names.iter().any(|name| name == role);
    let role_of = if as_tool { Some(Role::Tool) } else { known };
    let Some(kind) = role_of else {
        let texts = messages::result_value(content);
        let note = EventKind::Note(format!("{role}: {}", texts.text()?));
        return Some(Message { role: Role::User, events: vec![note] });
    };
    if kind == Role::Tool && is_definition(content) {
        return None;
    }
    let content = match content {
        Value::List(parts) => Value::List(parts.iter().map(normal_part).collect()),
        other => other.clone(),
    };
    let results: Vec<Value> =
        content.items().iter().filter(|part| is_result(part)).cloned().collect();
    // The texts beside the results of a tool are theirs.
    let (shown, content) = if kind == Role::Tool && !results.is_empty() {
        (Role::User, Value::List(results))
    } else {
        (kind, content)
    };
    let mut entries = vec![
        (Value::from("role"), Value::from(role_name(shown))),
        (Value::from("content"), content),
    ];
    let kept = |key: &&str| !matches!(*key, "role" | "content" | "parts" | "type" | "name");
    let rest = message.entries().iter();
    entries.extend(rest.filter(|(key, _)| key.text().as_ref().is_some_and(kept)).cloned());
    if let Some(name) = message.get_non_null("name") {
        entries.push((Value::from("name"), name.clone()));
    } else if as_tool {
        entries.push((Value::from("name"), Value::from(role)));
    }
    let nested = message.at_path(&["additional_kwargs", "tool_calls"]);
    let own = message.get("tool_calls").map(Value::items).unwrap_or_default();
    if let Some(nested) = nested.filter(|_| own.is_empty()) {
        entries.retain(|(key, _)| key.text() != Some("tool_calls"));
        entries.push((Value::from("tool_calls"), nested.clone()));
    }
    let failed = message.text_at("status") == Some("error");
    if kind == Role::Tool && failed {
        entries.push((Value::from("is_error"), Value::Bool(true)));
    }
    Some(Message { role: kind, events: messages::read_message(&Value::Map(entries)) })
}

/// Returns true if the content of a tool's message is the definition of a function, which some
/// exports put among the messages.
fn is_definition(content: &Value) -> bool {
    let is_map = |value: &Value| {
        value.text_at("type") == Some("function")
            && value.at_path(&["function", "name"]).is_some()
            && value.at_path(&["function", "arguments"]).is_none()
    };
    match content {
        Value::Text(text) if text.contains("\"function\"") => {
            json::embedded(text).is_some_and(|value| is_map(&value))
        }
        value => is_map(value),
    }
}

/// Reads an item of the Responses interface, or a call of the AI SDK that stands alone.
fn read_item(value: &Value) -> Option<Message> {
    let assistant = |events| Some(Message { role: Role::Assistant, events });
    let parts = |part: Value| {
        let message = Value::Map(vec![
            (Value::from("role"), Value::from("assistant")),
            (Value::from("content"), Value::List(vec![part])),
        ]);
        messages::read_message(&message)
    };
    if value.get("role").is_some() {
        return None;
    }
    let kind = value.text_at("type").unwrap_or_default();
    match kind {
        "function_call" => assistant(parts(call(value))),
        "reasoning" => {
            let text = messages::read_reasoning(value).or_else(|| {
                let texts = value.get("content")?.items().iter();
                let text = crate::text::join(texts.filter_map(|part| part.text_at("text")));
                Some(text).filter(|text| !is_blank(text))
            });
            assistant(text.into_iter().map(EventKind::Reasoning).collect())
        }
        _ if kind.ends_with("_call_output") => {
            Some(Message { role: Role::Tool, events: parts(result(value)) })
        }
        "mcp_call" => {
            let mut events = parts(call(value));
            if let Some(output) = first(value, &["output", "error"]) {
                events.push(EventKind::Result {
                    id: value.text_at("id").map(str::to_owned),
                    name: value.text_at("name").map(str::to_owned),
                    value: output.clone(),
                    failed: Some(value.get_non_null("error").is_some()),
                });
            }
            assistant(events)
        }
        _ if kind.ends_with("_call") => {
            let name = value.text_at("name").or_else(|| kind.strip_suffix("_call"))?;
            let given = first(value, &["action", "input", "arguments", "code", "queries"]);
            let id = first(value, &["call_id", "id"]).and_then(Value::text);
            assistant(vec![EventKind::Call {
                id: id.map(str::to_owned),
                name: name.to_owned(),
                arguments: given.cloned().unwrap_or_default(),
                by_user: false,
            }])
        }
        _ if value.get("toolCallId").is_some() && value.get("toolName").is_some() => {
            let is_output = first(value, &["output", "result"]).is_some();
            if is_output {
                Some(Message { role: Role::Tool, events: parts(result(value)) })
            } else {
                assistant(parts(call(value)))
            }
        }
        _ => None,
    }
}
