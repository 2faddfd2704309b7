//! **Pure.** Messages of a model call in the attributes and events of its span.
use super::span::{Span, SpanEvent};
use crate::traces::{Message, Side, read_message, read_messages, unwrap_json};
use touchstone_model::value::Value;

/// Returns the messages that were sent.
pub(super) fn input(span: &Span) -> Vec<Message> {
    let mut messages = read_side(span, Side::Input);
    if let Some(instructions) = find_details(span, "gen_ai.system_instructions") {
        messages.splice(0..0, read_instructions(&instructions));
    }
    messages
}

/// Returns the messages that the model wrote.
pub(super) fn output(span: &Span) -> Vec<Message> {
    read_side(span, Side::Output)
}

fn read_side(span: &Span, side: Side) -> Vec<Message> {
    let (current, indexed, older, completion, raw) = match side {
        Side::Input => (
            "gen_ai.input.messages",
            "llm.input_messages",
            "gen_ai.prompt",
            ("llm.prompts", "prompt"),
            ("input.value", "input.mime_type"),
        ),
        Side::Output => (
            "gen_ai.output.messages",
            "llm.output_messages",
            "gen_ai.completion",
            ("llm.choices", "completion"),
            ("output.value", "output.mime_type"),
        ),
    };
    if let Some(value) = find_details(span, current) {
        return read_messages(&value, side);
    }
    let list = span.attributes.flattened(indexed);
    if !list.is_empty() {
        return read_all(list.iter().map(openinference_message), side);
    }
    let list = span.attributes.flattened(older);
    if !list.is_empty() {
        return read_all(list.into_iter().map(|item| with_role(item, side)), side);
    }
    let list = span.attributes.flattened(completion.0);
    let texts: Vec<Message> = list
        .iter()
        .filter_map(|item| item.at_path(&[completion.1, "text"])?.text())
        .flat_map(|text| read_messages(&Value::from(text), side))
        .collect();
    if !texts.is_empty() {
        return texts;
    }
    let events = read_events(span, side);
    if !events.is_empty() {
        return events;
    }
    // The raw request and reply count only where they are known to hold messages.
    let is_json = span.attributes.text(raw.1) == Some("application/json");
    match span.attributes.unwrapped(raw.0) {
        Some(value @ Value::Map(_)) if is_json => read_messages(&value, side),
        _ => Vec::new(),
    }
}

/// Returns an attribute of the span, or of the event that holds the details of the operation.
fn find_details(span: &Span, key: &str) -> Option<Value> {
    span.attributes.unwrapped(key).or_else(|| {
        let mut events = span.events.iter();
        let details = "gen_ai.client.inference.operation.details";
        events.find(|event| event.name == details)?.attributes.unwrapped(key)
    })
}

fn read_all(items: impl Iterator<Item = Value>, side: Side) -> Vec<Message> {
    read_messages(&Value::List(items.collect()), side)
}

fn read_instructions(value: &Value) -> Option<Message> {
    let text = value.text();
    let message = entries([
        ("role", Some(Value::from("system"))),
        ("content", Some(text.map_or_else(|| value.clone(), Value::from))),
    ]);
    read_message(&message, &[]).filter(|message| !message.events.is_empty())
}

fn entries<const N: usize>(entries: [(&str, Option<Value>); N]) -> Value {
    let known = entries.into_iter().filter_map(|(key, value)| Some((Value::from(key), value?)));
    Value::Map(known.collect())
}

/// Adds the role of a side to a message that has none.
fn with_role(item: Value, side: Side) -> Value {
    let role = if side == Side::Input { "user" } else { "assistant" };
    match item {
        Value::Map(mut list) if !list.iter().any(|(key, _)| key.text() == Some("role")) => {
            list.push((Value::from("role"), Value::from(role)));
            Value::Map(list)
        }
        other => other,
    }
}

/// Brings a message of `OpenInference` into the shape of a chat message.
fn openinference_message(item: &Value) -> Value {
    let message = item.get("message").unwrap_or(item);
    let calls = message.get("tool_calls").map(Value::items).unwrap_or_default();
    let mut calls: Vec<Value> =
        calls.iter().map(|call| call.get("tool_call").unwrap_or(call).clone()).collect();
    if let Some(name) = message.get_non_null("function_call_name") {
        let arguments = message.get_non_null("function_call_arguments_json").cloned();
        calls.push(entries([("name", Some(name.clone())), ("arguments", arguments)]));
    }
    let parts = message.get("contents").map(Value::items).unwrap_or_default();
    let parts: Vec<Value> = parts.iter().map(openinference_part).collect();
    let own = message.get_non_null("content").cloned();
    let content = if parts.is_empty() { own } else { Some(Value::List(parts)) };
    // The calls among the parts are listed once more beside them.
    let has_calls =
        content.iter().flat_map(Value::items).any(|part| part.text_at("type") == Some("tool_use"));
    entries([
        ("role", message.get_non_null("role").cloned()),
        ("content", content),
        ("name", message.get_non_null("name").cloned()),
        ("tool_call_id", message.get_non_null("tool_call_id").cloned()),
        ("tool_calls", Some(Value::List(calls)).filter(|_| !has_calls)),
    ])
}

fn openinference_part(item: &Value) -> Value {
    let part = item.get("message_content").unwrap_or(item);
    let call = item.get("tool_call").or_else(|| part.get("tool_call"));
    if let Some(call) = call {
        return entries([
            ("type", Some(Value::from("tool_use"))),
            ("id", call.get_non_null("id").cloned()),
            ("name", call.at_path(&["function", "name"]).cloned()),
            ("input", call.at_path(&["function", "arguments"]).cloned()),
        ]);
    }
    if let Some(image) = part.get("image") {
        let url = image.at_path(&["image", "url"]).or_else(|| image.get("url")).cloned();
        return entries([("type", Some(Value::from("image"))), ("url", url)]);
    }
    part.clone()
}

/// Reads the events of the conventions before 1.37: one for each message, and one for each choice.
fn read_events(span: &Span, side: Side) -> Vec<Message> {
    // Some instrumentations write the events into an attribute instead.
    let listed = span.attributes.unwrapped("events");
    let listed = listed.iter().flat_map(Value::items).filter_map(|event| {
        read_event(event.text_at("event.name")?, event.entries().to_vec(), side)
    });
    let recorded = span.events.iter().filter_map(|event| {
        let (name, body) = event_body(event);
        read_event(name, body, side)
    });
    let messages: Vec<Value> = recorded.chain(listed).collect();
    read_messages(&Value::List(messages), side)
}

fn event_body(event: &SpanEvent) -> (&str, Vec<(Value, Value)>) {
    let keys = ["gen_ai.event.content", "event_body", "body"];
    let body = keys.iter().find_map(|key| match event.attributes.unwrapped(key)? {
        Value::Map(entries) => Some(entries),
        _ => None,
    });
    let unwrapped = ["content", "message", "tool_calls", "gen_ai.prompt", "gen_ai.completion"];
    let body = body.unwrap_or_else(|| event.attributes.to_map(&unwrapped));
    (&event.name, body)
}

/// Returns the message of an event, if it belongs to the side.
fn read_event(name: &str, body: Vec<(Value, Value)>, side: Side) -> Option<Value> {
    let (role, of) = match name {
        "gen_ai.system.message" => ("system", Side::Input),
        "gen_ai.user.message" => ("user", Side::Input),
        "gen_ai.assistant.message" => ("assistant", Side::Input),
        "gen_ai.tool.message" => ("tool", Side::Input),
        "gen_ai.choice" => ("assistant", Side::Output),
        "gen_ai.content.prompt" | "gen_ai.content.completion" => {
            let is_prompt = name.ends_with("prompt");
            let of = if is_prompt { Side::Input } else { Side::Output };
            let key = if is_prompt { "gen_ai.prompt" } else { "gen_ai.completion" };
            return Value::Map(body).get(key).filter(|_| of == side).cloned();
        }
        _ => return None,
    };
    if of != side {
        return None;
    }
    let body = Value::Map(body);
    let inside = match body.get("message").map(unwrap_json) {
        Some(message @ Value::Map(_)) => message,
        Some(content) => entries([("content", Some(content))]),
        None => body,
    };
    let Value::Map(mut list) = inside else { return None };
    if !list.iter().any(|(key, value)| key.text() == Some("role") && value.text().is_some()) {
        list.push((Value::from("role"), Value::from(role)));
    }
    // The id of a tool's message is that of its call.
    for (key, value) in &mut list {
        match key.text() {
            Some("id") if role == "tool" => *key = Value::from("tool_call_id"),
            Some("tool_calls") => *value = unwrap_json(value),
            _ => {}
        }
    }
    Some(Value::Map(list))
}
