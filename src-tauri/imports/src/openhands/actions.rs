//! **Pure.** Histories of actions and observations: the two generations before the SDK.
use super::{EventRun, at_time, flat};
use crate::messages::result_value;
use crate::run::{EventKind, ImportedRun, Media, MediaContent, RunEnd, TokenCounts};
use crate::sessions::{add, non_blank, push_fact, token_counts};
use crate::text::text_or_json;
use std::collections::HashSet;
use touchstone_model::value::Value;

/// Actions of the agent that are no calls.
const NO_CALLS: [&str; 4] = ["system", "recall", "change_agent_state", "null"];

/// Observations that are no results.
const NO_RESULTS: [&str; 3] = ["recall", "null", "agent_state_changed"];

/// Reads a history. Alone, it is complete if the agent has finished.
pub(super) fn read(events: &[Value]) -> EventRun {
    let mut reader = Reader::default();
    for event in events.iter().flat_map(flat) {
        reader.event(event);
    }
    let mut run = reader.run;
    run.end = if reader.has_finished { RunEnd::Complete } else { RunEnd::Unfinished };
    run.tokens = TokenCounts::new(reader.input, reader.output, reader.total);
    EventRun { run, error: None }
}

#[derive(Debug, Default)]
struct Reader {
    run: ImportedRun,
    has_finished: bool,
    responses: HashSet<String>,
    input: Option<u64>,
    output: Option<u64>,
    total: Option<u64>,
}

impl Reader {
    fn event(&mut self, event: &Value) {
        let start = self.run.events.len();
        if let Some(action) = event.text_at("action") {
            self.action(event, action);
        } else if let Some(observation) = event.text_at("observation") {
            self.observation(event, observation);
        }
        let tokens = self.response(event);
        if let Some(event) = self.run.events.get_mut(start) {
            event.tokens = tokens;
        }
        let model = event.at_path(&["tool_call_metadata", "model_response", "model"]);
        for made in &mut self.run.events[start..] {
            made.set_model(model.and_then(Value::text));
        }
    }

    /// Counts the response of the model that made an event, once. Returns its tokens.
    fn response(&mut self, event: &Value) -> Option<u64> {
        let response = event.at_path(&["tool_call_metadata", "model_response"])?;
        let id = response.text_at("id").map(str::to_owned)?;
        if !self.responses.insert(id) {
            return None;
        }
        if self.run.model.is_none() {
            self.run.model = non_blank(response.text_at("model"));
        }
        let usage = response.get("usage")?;
        let usage = token_counts(usage, "prompt_tokens", "completion_tokens", "total_tokens")?;
        add(&mut self.input, usage.input);
        add(&mut self.output, usage.output);
        add(&mut self.total, usage.total);
        usage.total
    }

    fn push(&mut self, event: &Value, kind: EventKind) {
        self.run.events.push(at_time(event, kind));
    }

    fn text(&mut self, event: &Value, text: Option<&str>, kind: fn(String) -> EventKind) {
        if let Some(text) = non_blank(text) {
            self.push(event, kind(text));
        }
    }

    fn action(&mut self, event: &Value, action: &str) {
        let source = event.text_at("source");
        let thought = field(event, "thought").and_then(text_or_json);
        match action {
            "message" => {
                let is_agent = source == Some("agent");
                let kind = if is_agent { EventKind::Assistant } else { EventKind::User };
                let content = field(event, "content").and_then(text_or_json);
                let images = ["image_urls", "images_urls"].iter().find_map(|key| field(event, key));
                let images = images.map(Value::items).unwrap_or_default();
                match non_blank(content.as_deref()) {
                    Some(text) => self.push(event, kind(text)),
                    // Images alone are a message of their own.
                    None if !images.is_empty() => self.push(event, kind(String::new())),
                    None => {}
                }
                for image in images {
                    let url = image.text();
                    let shown = url.filter(|url| url.starts_with("http"));
                    let text =
                        shown.map_or_else(|| "image".to_owned(), |url| format!("image, {url}"));
                    let content = url.and_then(MediaContent::from_text);
                    self.push(event, EventKind::Media(Media { text, content }));
                }
            }
            "finish" => {
                self.has_finished = true;
                let last = field(event, "final_thought").and_then(text_or_json);
                let last = last.filter(|last| Some(last) != thought.as_ref());
                self.text(event, thought.as_deref(), EventKind::Assistant);
                self.text(event, last.as_deref(), EventKind::Assistant);
            }
            "system" => {
                let content = field(event, "content").and_then(text_or_json);
                self.text(event, content.as_deref(), EventKind::System);
                push_fact(&mut self.run.facts, "version", field(event, "openhands_version"));
            }
            action if NO_CALLS.contains(&action) => {}
            action if matches!(source, Some("user" | "environment")) => {
                let command = field(event, "command").and_then(text_or_json);
                let command = command.map(|command| format!(": {command}")).unwrap_or_default();
                self.push(event, EventKind::Note(format!("The user ran {action}{command}")));
            }
            action => {
                self.text(event, thought.as_deref(), EventKind::Assistant);
                let call = read_call(event, action);
                self.push(event, call);
            }
        }
    }

    fn observation(&mut self, event: &Value, observation: &str) {
        if NO_RESULTS.contains(&observation) {
            return;
        }
        let id = event.at_path(&["tool_call_metadata", "tool_call_id"]).and_then(Value::text);
        let id = id.map(str::to_owned).or_else(|| event.get("cause").and_then(text_or_json));
        let success = event.get("success").and_then(Value::bool).map(|success| !success);
        let codes: [&[&str]; 3] =
            [&["extras", "metadata", "exit_code"], &["extras", "exit_code"], &["exit_code"]];
        let code =
            codes.iter().find_map(|path| event.at_path(path)?.number()).map(|code| code != 0.0);
        let failed = if observation == "error" { Some(true) } else { success.or(code) };
        let value = result_value(event.get("content").unwrap_or(&Value::Null));
        self.push(event, EventKind::Result { id, name: None, value, failed });
    }
}

/// Returns a field of an action: in `args`, in old files beside the action.
fn field<'a>(event: &'a Value, key: &str) -> Option<&'a Value> {
    match event.get("args") {
        Some(arguments @ Value::Map(_)) => arguments.get_non_null(key),
        _ => event.get_non_null(key),
    }
}

/// Reads the call that an action is: the model's own, else the action with its fields.
fn read_call(event: &Value, action: &str) -> EventKind {
    let metadata = event.get("tool_call_metadata");
    let id = metadata.and_then(|metadata| metadata.text_at("tool_call_id"));
    if let Some(own) = metadata.and_then(|metadata| own_call(metadata, id)) {
        return own;
    }
    let id = id.map(str::to_owned).or_else(|| event.get("id").and_then(text_or_json));
    let only = |key: &str| {
        let value = field(event, key).cloned().unwrap_or_default();
        Value::Map(vec![(Value::from(key), value)])
    };
    let arguments = match action {
        "run" => only("command"),
        "run_ipython" => only("code"),
        _ => {
            let holder = match event.get("args") {
                Some(arguments @ Value::Map(_)) => arguments,
                _ => event,
            };
            let is_kept = |key: &Value| !matches!(key.text(), Some("action" | "thought"));
            let entries = holder.entries().iter().filter(|(key, _)| is_kept(key));
            Value::Map(entries.cloned().collect())
        }
    };
    EventKind::Call { id, name: action.to_owned(), arguments, by_user: false }
}

/// Finds the call in the response of the model.
fn own_call(metadata: &Value, id: Option<&str>) -> Option<EventKind> {
    let choices = metadata.at_path(&["model_response", "choices"])?.items();
    let calls = choices.iter().filter_map(|choice| choice.at_path(&["message", "tool_calls"]));
    let call = calls.flat_map(Value::items).find(|call| call.text_at("id") == id)?;
    crate::messages::read_call(call)
}
