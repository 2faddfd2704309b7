//! **Pure.** Decodes a response of the Messages API, whole or streamed, into a [`Reply`].
use super::stream;
use crate::conversation::Call;
use crate::provider::fault::{self, Service};
use crate::provider::wire::{self, count, words};
use crate::provider::{Fault, FaultKind, HttpReply, Reply, StopReason, Usage};
use std::collections::HashSet;
use touchstone_model::value::Value;

/// Decodes a response into a reply. Fails if the status is not 2xx, or if the body is an error,
/// truncated, or not a message.
pub fn decode(reply: &HttpReply) -> Result<Reply, Fault> {
    if !(200..300).contains(&reply.status) {
        return Err(fault::fault_from_reply(Service::Anthropic, reply));
    }
    let message = if wire::is_stream(reply) {
        stream::message(reply)?
    } else {
        wire::object(Service::Anthropic, reply)?
    };
    if !matches!(message.get("content"), Some(Value::List(_))) {
        let message =
            "The Anthropic API answered, but with no message; check its `base_url`.".to_owned();
        return Err(Fault { kind: FaultKind::Refused, message, status: Some(reply.status) });
    }
    Ok(read(&message))
}

fn read(message: &Value) -> Reply {
    let mut texts = Vec::new();
    let mut kept = Vec::new();
    let mut calls = Vec::new();
    let mut seen = HashSet::new();
    for block in message.get("content").map(Value::items).unwrap_or_default() {
        match block.get("type").and_then(Value::text) {
            Some("text") => texts.extend(words(block, "text")),
            Some("thinking" | "redacted_thinking") => kept.push(block.clone()),
            Some("tool_use") => calls.push(call(block, &mut seen)),
            // No offered tool is answered with other kinds of blocks.
            _ => {}
        }
    }
    let text = (!texts.is_empty()).then(|| texts.join("\n\n"));
    let stop = stop(message, text.as_ref(), !calls.is_empty());
    let model_id = words(message, "model").map(str::to_owned);
    Reply { text, kept, calls, stop, usage: usage(message.get("usage")), model_id }
}

fn call(block: &Value, seen: &mut HashSet<String>) -> Call {
    let id = wire::unique_id(seen, words(block, "id").unwrap_or_default(), |id| !id.is_empty());
    let name = words(block, "name").unwrap_or_default().to_owned();
    let params = match block.get("input") {
        Some(Value::Null) | None => Value::Map(Vec::new()),
        Some(input) => input.clone(),
    };
    Call { id, name, params, outcome: None }
}

fn stop(message: &Value, text: Option<&String>, calls: bool) -> StopReason {
    match message.get("stop_reason").and_then(Value::text) {
        Some("max_tokens" | "model_context_window_exceeded") => StopReason::Length,
        Some("refusal") => StopReason::Refused(text.cloned()),
        Some("end_turn" | "stop_sequence" | "tool_use") if calls => StopReason::Calls,
        Some("end_turn" | "stop_sequence") => StopReason::Done,
        Some("tool_use") => StopReason::Other("tool_use without a call".to_owned()),
        Some(other) => StopReason::Other(other.to_owned()),
        None => StopReason::Other("no stop_reason".to_owned()),
    }
}

/// Returns the token usage in a body, or in the events of a stream received until now. Output
/// tokens are taken from the end of a stream only; the number in `message_start` is not the final
/// count.
pub(in crate::provider) fn parse_usage(bodies: &[Value]) -> Option<Usage> {
    let last = bodies
        .iter()
        .rev()
        .find_map(|body| body.get("usage").filter(|usage| matches!(usage, Value::Map(_))));
    let first = bodies.iter().find_map(|body| body.get("message")?.get("usage"));
    let (first, last) = (first.map(|first| usage(Some(first))), last.map(|last| usage(Some(last))));
    if first.is_none() && last.is_none() {
        return None;
    }
    let (first, last) = (first.unwrap_or_default(), last.unwrap_or_default());
    Some(Usage {
        input: last.input.or(first.input),
        output: last.output,
        cache_read: last.cache_read.or(first.cache_read),
        cache_write: last.cache_write.or(first.cache_write),
        reasoning: None,
    })
}

fn usage(usage: Option<&Value>) -> Usage {
    let tokens = |key| usage.and_then(|usage| count(usage.get(key)));
    Usage {
        input: tokens("input_tokens"),
        output: tokens("output_tokens"),
        cache_read: tokens("cache_read_input_tokens"),
        cache_write: tokens("cache_creation_input_tokens"),
        reasoning: None,
    }
}
