//! **Pure.** Encodes a model request for the Chat Completions API.
use crate::conversation::{AssistantMessage, Call, Turn};
use crate::provider::wire::{self, int_value, map, put, switched};
use crate::provider::{Auth, HttpRequest, ModelRequest, ToolOffer};
use touchstone_model::json;
use touchstone_model::value::Value;

/// Encodes a question as an HTTP request.
pub fn encode(ask: &ModelRequest) -> HttpRequest {
    let model = ask.model;
    let mut body = map([("model", Value::from(model.model_id.as_str()))]);
    if let Some(most) = model.max_tokens {
        put(
            &mut body,
            if model.reasoning { "max_completion_tokens" } else { "max_tokens" },
            int_value(most),
        );
    }
    if let Some(temperature @ Value::Number(_)) = model.setting("temperature")
        && !model.reasoning
    {
        put(&mut body, "temperature", temperature.clone());
    }
    if let Some(effort @ Value::Text(_)) = model.setting("reasoning_effort") {
        put(&mut body, "reasoning_effort", effort.clone());
    }
    if switched(model, "stream") {
        put(&mut body, "stream", Value::Bool(true));
        put(&mut body, "stream_options", map([("include_usage", Value::Bool(true))]));
    }
    if !ask.tools.is_empty() {
        put(&mut body, "tools", Value::List(ask.tools.iter().map(tool).collect()));
    }
    put(&mut body, "messages", messages(ask));
    let auth = if model.key.is_some() { Auth::Bearer } else { Auth::None };
    let url = format!("{}/chat/completions", model.base_url.trim_end_matches('/'));
    HttpRequest {
        patience: wire::patience(model.reasoning),
        ..wire::request(url, &[], auth, &body)
    }
}

fn tool(offer: &ToolOffer) -> Value {
    let function = map([
        ("name", Value::from(offer.name.as_str())),
        ("description", Value::from(offer.description.as_str())),
        ("parameters", offer.parameters.clone()),
    ]);
    map([("type", Value::from("function")), ("function", function)])
}

fn messages(ask: &ModelRequest) -> Value {
    let mut messages = Vec::new();
    if !ask.system.trim().is_empty() {
        messages.push(message(
            if ask.model.reasoning && !ask.model.keeps_system { "developer" } else { "system" },
            ask.system,
        ));
    }
    for (turn, ids) in ask.turns.iter().zip(wire::ids(ask.turns, |id| !id.is_empty())) {
        match turn {
            Turn::User(words) => messages.push(message("user", words)),
            Turn::Assistant(said) => {
                messages.push(assistant(said, &ids));
                messages.extend(said.calls.iter().zip(&ids).map(|(call, id)| result(call, id)));
            }
        }
    }
    Value::List(messages)
}

fn message(role: &str, words: &str) -> Value {
    map([("role", Value::from(role)), ("content", Value::from(words))])
}

fn assistant(said: &AssistantMessage, ids: &[String]) -> Value {
    let content = match (&said.text, said.calls.is_empty()) {
        (Some(text), _) => Value::from(text.as_str()),
        (None, true) => Value::from(""),
        (None, false) => Value::Null,
    };
    let mut message = map([("role", Value::from("assistant")), ("content", content)]);
    if !said.calls.is_empty() {
        let calls = said.calls.iter().zip(ids).map(|(call, id)| {
            let arguments = Value::Text(arguments(&call.params));
            let function =
                map([("name", Value::from(call.name.as_str())), ("arguments", arguments)]);
            map([
                ("id", Value::from(id.as_str())),
                ("type", Value::from("function")),
                ("function", function),
            ])
        });
        put(&mut message, "tool_calls", Value::List(calls.collect()));
    }
    message
}

/// Returns arguments as text; arguments that could not be parsed are sent back unchanged.
fn arguments(params: &Value) -> String {
    match params {
        Value::Text(raw) => raw.clone(),
        Value::Null => "{}".to_owned(),
        other => json::write(other, false),
    }
}

/// Encodes a tool result. The API has no flag for a failed call, so the text is prefixed with
/// `error:`.
fn result(call: &Call, id: &str) -> Value {
    let shown = match &call.outcome {
        Some(outcome) if outcome.failed() => format!("error: {}", outcome.to_model_text()),
        Some(outcome) => outcome.to_model_text(),
        None => "error: This call was not run.".to_owned(),
    };
    map([
        ("role", Value::from("tool")),
        ("tool_call_id", Value::from(id)),
        ("content", Value::Text(shown)),
    ])
}
