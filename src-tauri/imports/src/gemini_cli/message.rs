//! **Pure.** One message of a session, and parts as the interface of Gemini has them.
use crate::messages::result_value;
use crate::run::{Event, EventKind, Media, MediaContent};
use crate::sessions::{non_blank, token_counts};
use crate::text::{is_blank, join};
use touchstone_model::value::Value;

/// Kinds of messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    User,
    Model,
    Error,
    /// Remark of the tool to the user.
    Notice,
}

/// Message as events.
#[derive(Debug, Clone)]
pub(super) struct Message {
    pub(super) kind: Kind,
    pub(super) model: Option<String>,
    pub(super) tokens: Option<crate::run::TokenCounts>,
    /// Ids of sub-agents, by the id of the call that started them.
    pub(super) agents: Vec<(String, String)>,
    pub(super) events: Vec<Event>,
}

impl Message {
    /// Reads a message. Returns `None` for a type that is not known.
    pub(super) fn read(value: &Value) -> Option<Message> {
        let kind = match value.text_at("type")? {
            "user" => Kind::User,
            "gemini" => Kind::Model,
            "error" => Kind::Error,
            "info" | "warning" => Kind::Notice,
            _ => return None,
        };
        let time = non_blank(value.text_at("timestamp"));
        let parts = Parts::read(value.get("content").unwrap_or(&Value::Null));
        let calls = value.get("toolCalls").map(Value::items).unwrap_or_default();
        let mut kinds: Vec<EventKind> = Vec::new();
        let thoughts = value.get("thoughts").map(Value::items).unwrap_or_default();
        kinds.extend(thoughts.iter().filter_map(read_thought).map(EventKind::Reasoning));
        kinds.extend(parts.thoughts.into_iter().map(EventKind::Reasoning));
        let text = join(parts.texts.iter().map(String::as_str));
        // Calls and results stand in `toolCalls`, and in the content only if that is missing.
        let (inner_calls, inner_results) =
            if calls.is_empty() { (parts.calls, parts.results) } else { Default::default() };
        kinds.extend(inner_results);
        // An image without a text is a message of its own.
        let is_image = kind == Kind::User && kinds.is_empty() && !parts.media.is_empty();
        let text = if is_blank(&text) { String::new() } else { text };
        if !text.is_empty() || is_image {
            kinds.push(match kind {
                Kind::User => EventKind::User(text),
                Kind::Model => EventKind::Assistant(text),
                Kind::Error => EventKind::Error(text),
                Kind::Notice => EventKind::Note(text),
            });
        }
        kinds.extend(parts.media.into_iter().map(EventKind::Media));
        kinds.extend(inner_calls);
        let mut events: Vec<Event> = kinds
            .into_iter()
            .map(|kind| Event { kind, time: time.clone(), ..Event::default() })
            .collect();
        events.extend(calls.iter().flat_map(read_call));
        let usage = value.get("tokens").unwrap_or(&Value::Null);
        let tokens = token_counts(usage, "input", "output", "total");
        if let Some(event) = events.first_mut() {
            event.tokens = tokens.and_then(|tokens| tokens.total);
        }
        let agent = |call: &Value| {
            Some((call.text_at("id")?.to_owned(), call.text_at("agentId")?.to_owned()))
        };
        let agents = calls.iter().filter_map(agent).collect();
        let model = non_blank(value.text_at("model"));
        for event in &mut events {
            event.set_model(model.as_deref());
        }
        Some(Message { kind, model, tokens, agents, events })
    }
}

fn read_thought(thought: &Value) -> Option<String> {
    let texts = ["subject", "description"].iter().filter_map(|key| thought.text_at(key));
    non_blank(Some(&join(texts)))
}

/// Reads a call and its result, if it has ended.
fn read_call(call: &Value) -> Vec<Event> {
    let time = non_blank(call.text_at("timestamp"));
    let id = call.text_at("id").map(str::to_owned);
    let name = call.text_at("name").unwrap_or_default().to_owned();
    let arguments = call.get("args").cloned().unwrap_or_default();
    let event = |kind| Event { kind, time: time.clone(), ..Event::default() };
    let mut events =
        vec![event(EventKind::Call { id: id.clone(), name, arguments, by_user: false })];
    let status = call.text_at("status").unwrap_or_default();
    let result = call.get_non_null("result");
    if result.is_some() || matches!(status, "success" | "error" | "cancelled") {
        let display = call.get("resultDisplay");
        let value = result.map(read_result).or_else(|| display.cloned()).unwrap_or_default();
        let failed = Some(matches!(status, "error" | "cancelled"));
        events.push(event(EventKind::Result { id, name: None, value, failed }));
    }
    events
}

/// Returns the text of a result: of the only response of a function, or of all parts.
fn read_result(result: &Value) -> Value {
    let parts = match result {
        Value::List(parts) => parts.as_slice(),
        part => std::slice::from_ref(part),
    };
    let response = |part: &Value| {
        let response = part.at_path(&["functionResponse", "response"])?;
        let inner = ["output", "error", "result"].iter().find_map(|key| response.get_non_null(key));
        Some(inner.unwrap_or(response).clone())
    };
    match parts {
        [part] => response(part)
            .or_else(|| part.get("text").cloned())
            .unwrap_or_else(|| result_value(result)),
        parts => {
            let texts: Option<Vec<String>> = parts
                .iter()
                .map(|part| {
                    let value = response(part).or_else(|| part.get("text").cloned())?;
                    crate::text::text_or_json(&value)
                })
                .collect();
            texts.map_or_else(|| result_value(result), |texts| Value::Text(texts.join("\n")))
        }
    }
}

/// Content of a message, by kind.
#[derive(Debug, Default)]
struct Parts {
    thoughts: Vec<String>,
    texts: Vec<String>,
    media: Vec<Media>,
    calls: Vec<EventKind>,
    results: Vec<EventKind>,
}

impl Parts {
    fn read(content: &Value) -> Parts {
        let mut parts = Parts::default();
        match content {
            Value::List(items) => items.iter().for_each(|item| parts.part(item)),
            item => parts.part(item),
        }
        parts
    }

    fn part(&mut self, part: &Value) {
        if let Some(text) = part.text().or_else(|| part.text_at("text")) {
            let is_thought = part.get("thought").and_then(Value::bool) == Some(true);
            if !is_thought {
                self.texts.push(text.to_owned());
            } else if !is_blank(text) {
                self.thoughts.push(text.to_owned());
            }
        } else if let Some(call) = part.get("functionCall") {
            self.calls.push(EventKind::Call {
                id: call.text_at("id").map(str::to_owned),
                name: call.text_at("name").unwrap_or_default().to_owned(),
                arguments: call.get("args").cloned().unwrap_or_default(),
                by_user: false,
            });
        } else if let Some(response) = part.get("functionResponse") {
            self.results.push(EventKind::Result {
                id: response.text_at("id").map(str::to_owned),
                name: response.text_at("name").map(str::to_owned),
                value: read_result(part),
                failed: None,
            });
        } else if let Some(data) = part.get("inlineData").or_else(|| part.get("fileData")) {
            let kind = data.text_at("mimeType").unwrap_or("file");
            self.media.push(match data.text_at("data") {
                Some(bytes) => Media {
                    text: format!("{kind}, {} kB", (bytes.len() / 4 * 3).div_ceil(1_000)),
                    content: MediaContent::from_text(bytes),
                },
                None => Media::described(
                    data.text_at("fileUri")
                        .map_or_else(|| kind.to_owned(), |place| format!("{kind}, {place}")),
                ),
            });
        }
    }
}
