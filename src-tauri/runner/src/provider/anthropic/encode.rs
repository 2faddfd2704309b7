//! **Pure.** Encodes a model request for the Messages API.
use crate::conversation::{AssistantMessage, Call, Outcome, Turn};
use crate::provider::wire::{self, count, int_value, map, put, switched};
use crate::provider::{Auth, HttpRequest, ModelRequest, ToolOffer};
use crate::spec::Model;
use touchstone_model::json;
use touchstone_model::value::Value;

/// Default limit of reply tokens when the model sets none: the API requires a number.
const MAX_TOKENS: u64 = 8192;
/// Smallest thinking budget that the API accepts.
const LEAST_THINKING: u64 = 1024;

/// Encodes a question as an HTTP request.
pub fn encode(ask: &ModelRequest) -> HttpRequest {
    let model = ask.model;
    let is_lost = is_thinking_lost(ask.turns);
    // A model that decides by itself whether it thinks may also go on without.
    let thinking = thinking(model).filter(|thinking| {
        !is_lost || thinking.get("type").and_then(Value::text) != Some("enabled")
    });
    let mut most = model.max_tokens.unwrap_or(MAX_TOKENS);
    if let Some(budget) =
        thinking.as_ref().and_then(|thinking| count(thinking.get("budget_tokens")))
        && most <= budget
    {
        // Thinking tokens count towards `max_tokens`, and the API refuses a request that leaves no
        // room for anything else.
        most = most.saturating_add(budget);
    }
    let mut body =
        map([("model", Value::from(model.model_id.as_str())), ("max_tokens", int_value(most))]);
    if switched(model, "stream") || takes_long(most) {
        put(&mut body, "stream", Value::Bool(true));
    }
    if let Some(temperature @ Value::Number(_)) = model.setting("temperature")
        && thinking.is_none()
        && !model.reasoning
    {
        put(&mut body, "temperature", temperature.clone());
    }
    let slow = model.reasoning || thinking.is_some() || takes_long(most);
    if let Some(thinking) = thinking {
        put(&mut body, "thinking", thinking);
    }
    if !ask.system.trim().is_empty() {
        put(&mut body, "system", Value::List(vec![marked(text(ask.system))]));
    }
    if !ask.tools.is_empty() {
        put(&mut body, "tools", tools(ask.tools));
    }
    put(&mut body, "messages", messages(ask.turns));
    let auth = if model.key.is_some() { Auth::ApiKey } else { Auth::None };
    let url = format!("{}/messages", model.base_url.trim_end_matches('/'));
    let request = wire::request(url, &[("anthropic-version", "2023-06-01")], auth, &body);
    HttpRequest { patience: wire::patience(slow), ..request }
}

/// Returns true if a reply of this length may take more than ten minutes, by the provider's own
/// rate of 128,000 tokens per hour. Proxies cut a connection that is silent for that long, hence
/// such a reply is streamed.
fn takes_long(max_tokens: u64) -> bool {
    max_tokens.saturating_mul(3600) > 600 * 128_000
}

/// Returns the `thinking` parameter from the setting of that name: a number of tokens, `true`, or
/// the map that the API takes.
fn thinking(model: &Model) -> Option<Value> {
    let budget = match model.setting("thinking")? {
        Value::Bool(true) => (model.max_tokens.unwrap_or(MAX_TOKENS) / 2).max(LEAST_THINKING),
        number @ Value::Number(_) => {
            count(Some(number)).filter(|budget| *budget > 0)?.max(LEAST_THINKING)
        }
        given @ Value::Map(entries) if !entries.is_empty() => {
            return Some(given.clone())
                .filter(|given| given.get("type").and_then(Value::text) != Some("disabled"));
        }
        _ => return None,
    };
    Some(map([("type", Value::from("enabled")), ("budget_tokens", int_value(budget))]))
}

/// Returns true if the last message of the user is followed by calls whose thinking is not there: they
/// are those of another model, or were edited. The API refuses to think on from there, and may think
/// again after the next message.
fn is_thinking_lost(turns: &[Turn]) -> bool {
    let is_said = |turn: &Turn| matches!(turn, Turn::User(words) if !words.trim().is_empty());
    let after = turns.iter().rposition(is_said).map_or(0, |at| at + 1);
    let first = turns.iter().skip(after).find_map(|turn| match turn {
        Turn::Assistant(said) => Some(said),
        Turn::User(_) => None,
    });
    first.is_some_and(|said| !said.calls.is_empty() && said.kept.is_empty())
}

fn text(words: &str) -> Value {
    map([("type", Value::from("text")), ("text", Value::from(words))])
}

/// Adds a cache mark to a block; the provider caches everything up to it.
fn marked(mut block: Value) -> Value {
    put(&mut block, "cache_control", map([("type", Value::from("ephemeral"))]));
    block
}

fn tools(offers: &[ToolOffer]) -> Value {
    let mut tools: Vec<Value> = offers.iter().map(tool).collect();
    if let Some(last) = tools.pop() {
        tools.push(marked(last));
    }
    Value::List(tools)
}

fn tool(offer: &ToolOffer) -> Value {
    map([
        ("name", Value::from(offer.name.as_str())),
        ("description", Value::from(offer.description.as_str())),
        ("input_schema", offer.parameters.clone()),
    ])
}

/// Converts turns to messages. Consecutive blocks of the same role are merged into one message.
fn messages(turns: &[Turn]) -> Value {
    let mut messages: Vec<(&str, Vec<Value>)> = Vec::new();
    let mut add = |role: &'static str, blocks: Vec<Value>| match messages.last_mut() {
        _ if blocks.is_empty() => {}
        Some((last, said)) if *last == role => said.extend(blocks),
        _ => messages.push((role, blocks)),
    };
    for (turn, ids) in turns.iter().zip(wire::ids(turns, fits)) {
        match turn {
            // The API refuses blank text.
            Turn::User(words) if words.trim().is_empty() => {}
            Turn::User(words) => add("user", vec![text(words)]),
            Turn::Assistant(said) => {
                add("assistant", assistant(said, &ids));
                add(
                    "user",
                    said.calls.iter().zip(&ids).map(|(call, id)| result(call, id)).collect(),
                );
            }
        }
    }
    if let Some(("user", blocks)) = messages.last_mut()
        && let Some(last) = blocks.pop()
    {
        blocks.push(marked(last));
    }
    let message =
        |(role, blocks)| map([("role", Value::from(role)), ("content", Value::List(blocks))]);
    Value::List(messages.into_iter().map(message).collect())
}

/// Returns true if the API accepts this id for a tool call.
fn fits(id: &str) -> bool {
    !id.is_empty()
        && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}

fn assistant(said: &AssistantMessage, ids: &[String]) -> Vec<Value> {
    let words = said.text.as_deref().filter(|words| !words.trim().is_empty());
    let calls = said.calls.iter().zip(ids).map(|(call, id)| {
        map([
            ("type", Value::from("tool_use")),
            ("id", Value::from(id.as_str())),
            ("name", Value::from(call.name.as_str())),
            ("input", input(&call.params)),
        ])
    });
    said.kept.iter().cloned().chain(words.map(text)).chain(calls).collect()
}

/// Returns parameters as an object, the only form the API takes.
fn input(params: &Value) -> Value {
    match params {
        Value::Map(_) => params.clone(),
        Value::Null => Value::Map(Vec::new()),
        Value::Text(raw) => map([("unreadable_arguments", Value::from(raw.as_str()))]),
        other => map([("unreadable_arguments", Value::Text(json::write(other, false)))]),
    }
}

fn result(call: &Call, id: &str) -> Value {
    let mut block = map([("type", Value::from("tool_result")), ("tool_use_id", Value::from(id))]);
    let (shown, failed) = match &call.outcome {
        Some(outcome @ (Outcome::Result(_) | Outcome::Error(_))) => {
            (outcome.to_model_text(), outcome.failed())
        }
        None => ("This call was not run.".to_owned(), true),
    };
    match (shown.is_empty(), failed) {
        (false, _) => put(&mut block, "content", Value::Text(shown)),
        // The API refuses an empty error, but accepts an empty result.
        (true, true) => put(&mut block, "content", Value::from("The call failed.")),
        (true, false) => {}
    }
    if failed {
        put(&mut block, "is_error", Value::Bool(true));
    }
    block
}
