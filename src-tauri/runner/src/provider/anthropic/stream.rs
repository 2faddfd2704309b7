//! **Pure.** Assembles the events of a streamed reply into the message that the API would have sent
//! whole. A stream is complete once it has a `stop_reason` and a `message_stop`; anything less is
//! an error.
use crate::provider::fault::{self, Service};
use crate::provider::{Fault, HttpReply, sse, wire};
use std::collections::BTreeMap;
use touchstone_model::json;
use touchstone_model::value::Value;

/// Assembles the message of a stream. Fails if the stream contains an error or ends too early.
pub(super) fn message(reply: &HttpReply) -> Result<Value, Fault> {
    let mut built = MessageBuilder::default();
    for event in sse::events(&reply.body) {
        let event = wire::value(Service::Anthropic, reply.status, event.data.as_bytes())?;
        match event.get("type").and_then(Value::text) {
            Some("error") => {
                return Err(fault::fault_from_body(Service::Anthropic, reply.status, &event));
            }
            Some("message_stop") => return built.message(reply.status),
            _ => built.take(&event),
        }
    }
    Err(fault::truncated_stream(Service::Anthropic, reply.status, "ended before its last event."))
}

#[derive(Debug, Default)]
struct MessageBuilder {
    /// Fields of `message_start`, updated by `message_delta`.
    message: Vec<(Value, Value)>,
    blocks: BTreeMap<u64, Block>,
}

/// A content block, and the text appended to its keys.
#[derive(Debug)]
struct Block {
    start: Value,
    added: Vec<(&'static str, String)>,
}

impl MessageBuilder {
    /// Applies an event. Unknown kinds of events are ignored, as the provider's documentation
    /// requires.
    fn take(&mut self, event: &Value) {
        let index = wire::count(event.get("index")).unwrap_or_default();
        match event.get("type").and_then(Value::text) {
            Some("message_start") => {
                self.message =
                    event.get("message").map(Value::entries).unwrap_or_default().to_vec();
            }
            Some("content_block_start") => {
                let start = event.get("content_block").cloned().unwrap_or_default();
                self.blocks.insert(index, Block { start, added: Vec::new() });
            }
            Some("content_block_delta") => {
                if let (Some(block), Some(delta)) =
                    (self.blocks.get_mut(&index), event.get("delta"))
                {
                    block.take(delta);
                }
            }
            Some("message_delta") => {
                for (key, value) in event.get("delta").map(Value::entries).unwrap_or_default() {
                    set(&mut self.message, key, value.clone());
                }
                self.count(event.get("usage"));
            }
            _ => {}
        }
    }

    /// Updates the usage. Later counts cover the whole reply, therefore they replace earlier ones.
    fn count(&mut self, later: Option<&Value>) {
        let key = Value::from("usage");
        let known = self
            .message
            .iter()
            .find(|(known, _)| *known == key)
            .map(|(_, usage)| usage.entries().to_vec());
        let mut usage = known.unwrap_or_default();
        for (key, value) in later.map(Value::entries).unwrap_or_default() {
            if *value != Value::Null {
                set(&mut usage, key, value.clone());
            }
        }
        set(&mut self.message, &key, Value::Map(usage));
    }

    fn message(mut self, status: u16) -> Result<Value, Fault> {
        let content = self.blocks.into_values().map(Block::into_value).collect();
        set(&mut self.message, &Value::from("content"), Value::List(content));
        let message = Value::Map(self.message);
        match message.get("stop_reason") {
            Some(Value::Text(_)) => Ok(message),
            _ => Err(fault::truncated_stream(
                Service::Anthropic,
                status,
                "ended without a reason to stop.",
            )),
        }
    }
}

impl Block {
    fn take(&mut self, delta: &Value) {
        let (from, key) = match delta.get("type").and_then(Value::text) {
            Some("text_delta") => ("text", "text"),
            Some("input_json_delta") => ("partial_json", "input"),
            Some("thinking_delta") => ("thinking", "thinking"),
            Some("signature_delta") => ("signature", "signature"),
            _ => return,
        };
        let Some(piece) = delta.get(from).and_then(Value::text) else { return };
        match self.added.iter_mut().find(|(known, _)| *known == key) {
            Some((_, text)) => text.push_str(piece),
            None => self.added.push((key, piece.to_owned())),
        }
    }

    fn into_value(self) -> Value {
        let mut entries = self.start.entries().to_vec();
        for (key, text) in self.added {
            let begun = self.start.get(key).and_then(Value::text).unwrap_or_default();
            let value = match key {
                // A call without parameters streams no input at all.
                "input" if text.trim().is_empty() => continue,
                "input" => json::read(&text)
                    .ok()
                    .filter(|input| matches!(input, Value::Map(_)))
                    .unwrap_or(Value::Text(text)),
                _ => Value::Text(format!("{begun}{text}")),
            };
            set(&mut entries, &Value::from(key), value);
        }
        Value::Map(entries)
    }
}

fn set(entries: &mut Vec<(Value, Value)>, key: &Value, value: Value) {
    match entries.iter_mut().find(|(known, _)| known == key) {
        Some((_, old)) => *old = value,
        None => entries.push((key.clone(), value)),
    }
}
