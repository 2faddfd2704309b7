//! **Pure.** Message lists as Anthropic and `OpenAI` use them, with blocks as objects or as Python
//! reprs of such objects.
use std::collections::{BTreeSet, HashMap};

use super::python;
use crate::transcript::build::part;
use crate::transcript::sink::Role;
use touchstone_model::json;
use touchstone_model::run::{Part, Run, Step, StepKind};
use touchstone_model::value::Value;

/// Converts a list of messages to a run.
pub(super) fn read(messages: &[Value]) -> Run {
    let mut reader = Reader::default();
    for message in messages {
        reader.message(message);
    }
    reader.run
}

#[derive(Default)]
struct Reader {
    run: Run,
    turn: u32,
    users: u32,
    /// Calls without a result, by id and by step index.
    by_id: HashMap<String, usize>,
    waiting: BTreeSet<usize>,
}

impl Reader {
    fn message(&mut self, message: &Value) {
        let read = message.text().and_then(python::block);
        let message = read.as_ref().unwrap_or(message);
        let content = message.get("content").cloned().unwrap_or_default();
        match message.get("role").and_then(Value::text) {
            Some("user") => self.user(&content),
            Some("assistant") => self.assistant(message, &content),
            Some("tool" | "function") => {
                let id = message.get("tool_call_id").and_then(Value::text);
                self.result(id, &content, false);
            }
            Some("system" | "developer") => self.say(StepKind::System, content),
            role => {
                let title = role.map(str::to_owned);
                let parts = vec![part("message", Role::Other, message.clone())];
                self.push(Step { kind: StepKind::Unknown, title, parts, ..Step::default() });
            }
        }
    }

    fn push(&mut self, step: Step) {
        self.run.steps.push(Step { turn: self.turn.max(1), ..step });
    }

    fn say(&mut self, kind: StepKind, content: Value) {
        let nudge = kind == StepKind::User && self.users > 1;
        self.push(Step {
            kind,
            nudge,
            parts: vec![part("message", Role::Message, content)],
            ..Step::default()
        });
    }

    /// Adds a user message. It may carry tool results, which are assigned to their calls.
    fn user(&mut self, content: &Value) {
        let said: Vec<Value> =
            blocks(content).into_iter().filter(|block| !self.took_result(block)).collect();
        if said.is_empty() && matches!(content, Value::List(items) if !items.is_empty()) {
            return;
        }
        self.turn += 1;
        self.users += 1;
        let texts: Option<Vec<&str>> = said.iter().map(block_text).collect();
        let content = texts.map_or_else(|| content.clone(), |texts| Value::Text(texts.join("\n")));
        self.say(StepKind::User, content);
    }

    fn took_result(&mut self, block: &Value) -> bool {
        if block.get("type").and_then(Value::text) != Some("tool_result") {
            return false;
        }
        let failed = block.get("is_error") == Some(&Value::Bool(true));
        let id = block.get("tool_use_id").and_then(Value::text);
        let content = block.get("content").cloned().unwrap_or_default();
        self.result(id, &content, failed);
        true
    }

    /// Assigns a result to its call.
    fn result(&mut self, id: Option<&str>, content: &Value, failed: bool) {
        let blocks = blocks(content);
        let texts: Option<Vec<&str>> = blocks.iter().map(block_text).collect();
        let value = texts
            .filter(|texts| !texts.is_empty())
            .map_or_else(|| content.clone(), |texts| Value::Text(texts.join("\n")));
        let part = if failed {
            part("error", Role::Other, value)
        } else {
            part("result", Role::Result, value)
        };
        let call = match id {
            Some(id) => self.by_id.remove(id),
            None => self.waiting.first().copied(),
        };
        if let Some(step) =
            call.filter(|at| self.waiting.remove(at)).and_then(|at| self.run.steps.get_mut(at))
        {
            step.failed = Some(failed);
            step.parts.push(part);
        } else {
            let call_id = id.map(str::to_owned);
            self.push(Step {
                kind: StepKind::ToolCall,
                call_id,
                failed: Some(failed),
                parts: vec![part],
                ..Step::default()
            });
        }
    }

    fn assistant(&mut self, message: &Value, content: &Value) {
        self.turn += 1;
        let mut parts: Vec<Part> = Vec::new();
        let mut calls = Vec::new();
        for block in blocks(content) {
            match block.get("type").and_then(Value::text) {
                Some("tool_use") => calls.push(block),
                Some("thinking") => {
                    let thinking = block.get("thinking").cloned().unwrap_or_default();
                    parts.push(part("thinking", Role::Message, thinking));
                }
                _ => {
                    let value = block_text(&block).map_or_else(|| block.clone(), Value::from);
                    parts.push(part("message", Role::Message, value));
                }
            }
        }
        parts.retain(|part| !matches!(&part.value, Value::Null) && part.value.text() != Some(""));
        if !parts.is_empty() {
            self.push(Step { kind: StepKind::Assistant, parts, ..Step::default() });
        }
        for call in calls {
            self.call(
                call.get("name"),
                call.get("id"),
                call.get("input").cloned().unwrap_or_default(),
            );
        }
        let calls = message.get("tool_calls").map_or(&[][..], Value::items).iter().flat_map(block);
        // `function_call` is the older form of a single call.
        for call in
            calls.chain(message.get("function_call").filter(|call| **call != Value::Null).cloned())
        {
            let function = call.get("function").unwrap_or(&call);
            let arguments = function.get("arguments").cloned().unwrap_or_default();
            let input = arguments.text().and_then(json::embedded).unwrap_or(arguments);
            self.call(function.get("name"), call.get("id"), input);
        }
    }

    fn call(&mut self, name: Option<&Value>, id: Option<&Value>, input: Value) {
        let text = |value: Option<&Value>| value.and_then(Value::text).map(str::to_owned);
        let parts = match input {
            Value::Map(entries) => {
                let label = |key: &Value| key.text().unwrap_or("?").to_owned();
                entries
                    .into_iter()
                    .map(|(key, value)| part(&label(&key), Role::Param, value))
                    .collect()
            }
            Value::Null => Vec::new(),
            other => vec![part("params", Role::Param, other)],
        };
        let call_id = text(id);
        self.waiting.insert(self.run.steps.len());
        self.by_id.extend(call_id.clone().map(|id| (id, self.run.steps.len())));
        self.push(Step {
            kind: StepKind::ToolCall,
            title: text(name),
            call_id,
            parts,
            ..Step::default()
        });
    }
}

/// Returns the blocks of a content, with reprs parsed. A text is a single block.
fn blocks(content: &Value) -> Vec<Value> {
    match content {
        Value::Null => Vec::new(),
        Value::List(items) => items.iter().flat_map(block).collect(),
        other => block(other),
    }
}

fn block(value: &Value) -> Vec<Value> {
    match value.text().and_then(python::block) {
        Some(Value::List(items)) => items,
        Some(block) => vec![block],
        None => vec![value.clone()],
    }
}

/// Returns the text of a text block.
fn block_text(block: &Value) -> Option<&str> {
    match block {
        Value::Text(text) => Some(text),
        _ if block.get("type").and_then(Value::text) == Some("text") => {
            block.get("text").and_then(Value::text)
        }
        _ => None,
    }
}
