//! **Pure.** Decodes a response of the Chat Completions API, whole or streamed, into a [`Reply`].
use super::stream;
use crate::conversation::Call;
use crate::provider::fault::{self, Service};
use crate::provider::wire::{self, count, words};
use crate::provider::{Fault, FaultKind, HttpReply, Reply, StopReason, Usage};
use std::collections::HashSet;
use touchstone_model::json;
use touchstone_model::value::Value;
use xxhash_rust::xxh3::xxh3_64;

/// Decodes a response into a reply. Fails if the status is not 2xx, or if the body is an error,
/// truncated, or without a message.
pub fn decode(reply: &HttpReply) -> Result<Reply, Fault> {
    if !(200..300).contains(&reply.status) {
        return Err(fault::fault_from_reply(Service::OpenAi, reply));
    }
    let completion = if wire::is_stream(reply) {
        stream::completion(reply)?
    } else {
        wire::object(Service::OpenAi, reply)?
    };
    let choice = completion.get("choices").and_then(|choices| choices.items().first());
    let Some((choice, message @ Value::Map(_))) =
        choice.and_then(|choice| Some((choice, choice.get("message")?)))
    else {
        let message =
            "The model server answered, but with no message; check its `base_url`.".to_owned();
        return Err(Fault { kind: FaultKind::Refused, message, status: Some(reply.status) });
    };
    let text = content(message.get("content"), "text");
    let calls = calls(message, &reply.body);
    let refusal = words(message, "refusal")
        .map(str::to_owned)
        .or_else(|| content(message.get("content"), "refusal"));
    let stop = stop(choice, refusal, text.as_ref(), !calls.is_empty());
    let model_id = words(&completion, "model").map(str::to_owned);
    Ok(Reply {
        text,
        kept: Vec::new(),
        calls,
        stop,
        usage: usage(completion.get("usage")),
        model_id,
    })
}

/// Returns the text, or the text of the parts of this kind; `None` if it is blank.
fn content(content: Option<&Value>, kind: &str) -> Option<String> {
    let text = match content? {
        Value::Text(text) if kind == "text" => text.clone(),
        Value::List(parts) => {
            let parts =
                parts.iter().filter(|part| part.get("type").and_then(Value::text) == Some(kind));
            parts.filter_map(|part| part.get(kind).and_then(Value::text)).collect()
        }
        _ => return None,
    };
    (!text.trim().is_empty()).then_some(text)
}

/// Returns the tool calls with unique ids, because some servers send no ids or equal ones. A
/// generated id is a hash of the response body: it is stable when the response is decoded again,
/// and differs in the next response.
fn calls(message: &Value, body: &[u8]) -> Vec<Call> {
    let mut seen = HashSet::new();
    let calls = message.get("tool_calls").map(Value::items).unwrap_or_default();
    let mark = || format!("call_{:016x}", xxh3_64(body));
    let calls = calls.iter().filter_map(|call| Some((call, call.get("function")?)));
    calls
        .map(|(call, function)| {
            let given = words(call, "id").map_or_else(mark, str::to_owned);
            let id = wire::unique_id(&mut seen, &given, |_| true);
            let name = words(function, "name").unwrap_or_default().to_owned();
            Call { id, name, params: params(function.get("arguments")), outcome: None }
        })
        .collect()
}

/// Returns the arguments if they are an object, otherwise the text as the model wrote it.
fn params(arguments: Option<&Value>) -> Value {
    let raw = match arguments {
        None | Some(Value::Null) => return Value::Map(Vec::new()),
        Some(object @ Value::Map(_)) => return object.clone(),
        Some(Value::Text(raw)) => raw.clone(),
        Some(other) => json::write(other, false),
    };
    if raw.trim().is_empty() {
        return Value::Map(Vec::new());
    }
    json::read(&raw).ok().filter(|read| matches!(read, Value::Map(_))).unwrap_or(Value::Text(raw))
}

fn stop(choice: &Value, refusal: Option<String>, text: Option<&String>, calls: bool) -> StopReason {
    if refusal.is_some() {
        return StopReason::Refused(refusal);
    }
    match choice.get("finish_reason").and_then(Value::text) {
        Some("length") => StopReason::Length,
        Some("content_filter") => StopReason::Refused(text.cloned()),
        Some("stop" | "tool_calls" | "function_call") if calls => StopReason::Calls,
        Some("stop") => StopReason::Done,
        Some("tool_calls") => StopReason::Other("tool_calls without a call".to_owned()),
        Some(other) => StopReason::Other(other.to_owned()),
        None => StopReason::Other("no finish_reason".to_owned()),
    }
}

/// Returns the token usage in a body, or the last one in the events of a stream received until now.
pub(in crate::provider) fn parse_usage(bodies: &[Value]) -> Option<Usage> {
    let said = bodies
        .iter()
        .rev()
        .find_map(|body| body.get("usage").filter(|usage| matches!(usage, Value::Map(_))));
    said.map(|said| usage(Some(said)))
}

/// Converts the usage. The API's `prompt_tokens` includes cached tokens; [`Usage::input`] does not.
fn usage(usage: Option<&Value>) -> Usage {
    let tokens = |key| usage.and_then(|usage| count(usage.get(key)));
    let part = |of, key| usage.and_then(|usage| count(usage.get(of)?.get(key)));
    let cache_read = part("prompt_tokens_details", "cached_tokens");
    Usage {
        input: tokens("prompt_tokens")
            .map(|all| all.saturating_sub(cache_read.unwrap_or_default())),
        output: tokens("completion_tokens"),
        cache_read,
        cache_write: None,
        reasoning: part("completion_tokens_details", "reasoning_tokens"),
    }
}
