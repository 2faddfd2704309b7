//! **Pure.** Assembles the chunks of a streamed reply into the completion that the API would have
//! sent whole. A stream is complete with a `finish_reason` and `[DONE]`. A server that never sends
//! `[DONE]` cannot be told apart from a connection that was cut before the usage arrived, and has
//! to be called without streaming; the error message says so.
use crate::provider::fault::{self, Service};
use crate::provider::wire::{count, map, words};
use crate::provider::{Fault, HttpReply, sse, wire};
use touchstone_model::json;
use touchstone_model::value::Value;

/// Assembles the completion of a stream. Fails if the stream contains an error or ends too early.
pub(super) fn completion(reply: &HttpReply) -> Result<Value, Fault> {
    let mut built = CompletionBuilder::default();
    for event in sse::events(&reply.body) {
        if event.data.trim() == "[DONE]" {
            return match built.finish {
                Some(_) => Ok(built.completion()),
                None => Err(fault::truncated_stream(
                    Service::OpenAi,
                    reply.status,
                    "ended without a reason to stop.",
                )),
            };
        }
        if event.data.trim().is_empty() {
            continue;
        }
        let chunk = wire::value(Service::OpenAi, reply.status, event.data.as_bytes())?;
        let told = chunk.get("error").is_some_and(|error| *error != Value::Null);
        if told || event.name == "error" {
            return Err(fault::fault_from_body(Service::OpenAi, reply.status, &chunk));
        }
        built.take(&chunk);
    }
    let why = if built.finish.is_some() {
        "ended without its `[DONE]`; if this server never sends it, set `stream: false` for the model."
    } else {
        "ended before its last event."
    };
    Err(fault::truncated_stream(Service::OpenAi, reply.status, why))
}

#[derive(Debug, Default)]
struct CompletionBuilder {
    model: Option<String>,
    text: String,
    refusal: String,
    calls: Vec<Piece>,
    finish: Option<String>,
    usage: Value,
}

/// A partially received tool call.
#[derive(Debug, Default)]
struct Piece {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
}

impl CompletionBuilder {
    fn take(&mut self, chunk: &Value) {
        if self.model.is_none() {
            self.model = words(chunk, "model").map(str::to_owned);
        }
        if let Some(usage @ Value::Map(_)) = chunk.get("usage") {
            self.usage = usage.clone();
        }
        // Requests ask for only one choice.
        let choices = chunk.get("choices").map(Value::items).unwrap_or_default();
        let Some(choice) =
            choices.iter().find(|choice| count(choice.get("index")).unwrap_or_default() == 0)
        else {
            return;
        };
        if let Some(reason) = words(choice, "finish_reason") {
            self.finish = Some(reason.to_owned());
        }
        let Some(delta) = choice.get("delta") else { return };
        match delta.get("content") {
            Some(Value::Text(text)) => self.text.push_str(text),
            Some(Value::List(parts)) => {
                parts
                    .iter()
                    .filter_map(|part| part.get("text")?.text())
                    .for_each(|text| self.text.push_str(text));
            }
            _ => {}
        }
        self.refusal.push_str(delta.get("refusal").and_then(Value::text).unwrap_or_default());
        delta
            .get("tool_calls")
            .map(Value::items)
            .unwrap_or_default()
            .iter()
            .for_each(|call| self.take_call(call));
    }

    fn take_call(&mut self, delta: &Value) {
        let index = count(delta.get("index"));
        let id = words(delta, "id").unwrap_or_default();
        // Some servers give every call the index 0, or none; then another id starts another call.
        let same = |piece: &Piece| {
            piece.index == index && (id.is_empty() || piece.id.is_empty() || piece.id == id)
        };
        let function = delta.get("function").unwrap_or(&Value::Null);
        let at = self.calls.iter().rposition(same).unwrap_or(self.calls.len());
        if at == self.calls.len() {
            self.calls.push(Piece { index, ..Piece::default() });
        }
        let Some(at) = self.calls.get_mut(at) else { return };
        if at.id.is_empty() {
            id.clone_into(&mut at.id);
        }
        if at.name.is_empty() {
            words(function, "name").unwrap_or_default().clone_into(&mut at.name);
        }
        match function.get("arguments") {
            Some(Value::Text(piece)) => at.arguments.push_str(piece),
            Some(Value::Null) | None => {}
            Some(whole) => at.arguments.push_str(&json::write(whole, false)),
        }
    }

    fn completion(self) -> Value {
        let calls = self.calls.into_iter().map(|piece| {
            let function = map([
                ("name", Value::Text(piece.name)),
                ("arguments", Value::Text(piece.arguments)),
            ]);
            map([("id", Value::Text(piece.id)), ("function", function)])
        });
        let message = map([
            ("content", Value::Text(self.text)),
            ("refusal", Value::Text(self.refusal)),
            ("tool_calls", Value::List(calls.collect())),
        ]);
        let finish = self.finish.map_or(Value::Null, Value::Text);
        let choice = map([("message", message), ("finish_reason", finish)]);
        let model = self.model.map_or(Value::Null, Value::Text);
        map([("model", model), ("choices", Value::List(vec![choice])), ("usage", self.usage)])
    }
}
