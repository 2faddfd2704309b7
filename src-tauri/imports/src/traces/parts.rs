//! **Pure.** Parts of messages in the shapes of the `GenAI` conventions, Gemini, the AI SDK and
//! Bedrock, brought into the shape that [`crate::messages`] reads.
use touchstone_model::value::Value;

/// Returns a part in the shape of Anthropic's messages; one of unknown shape as it is.
pub(super) fn normal_part(part: &Value) -> Value {
    let kind = part.text_at("type").unwrap_or_default();
    match kind {
        "text" | "input_text" | "output_text" if part.get("text").is_none() => {
            tagged("text", [("text", part.get("content"))])
        }
        "thinking" | "reasoning" => thinking(part).unwrap_or_else(|| part.clone()),
        "tool_call" | "tool-call" | "function_call" => call(part),
        "tool_call_response" | "tool-result" | "function_call_output" => result(part),
        "blob" | "uri" => media(part),
        "" => untyped(part).unwrap_or_else(|| part.clone()),
        _ if kind.ends_with("ReasoningContent") => thinking(part).unwrap_or_default(),
        _ => part.clone(),
    }
}

/// Returns true if a part is the result of a call.
pub(super) fn is_result(part: &Value) -> bool {
    part.text_at("type") == Some("tool_result")
}

/// Returns the first value that is there and not null.
pub(super) fn first<'a>(value: &'a Value, keys: &[&str]) -> Option<&'a Value> {
    keys.iter().find_map(|key| value.get_non_null(key))
}

/// Creates an object from a type and the values that are there.
fn tagged<const N: usize>(kind: &str, entries: [(&str, Option<&Value>); N]) -> Value {
    let mut map = vec![(Value::from("type"), Value::from(kind))];
    let known = entries.into_iter().filter_map(|(key, value)| Some((key, value?)));
    map.extend(known.map(|(key, value)| (Value::from(key), value.clone())));
    Value::Map(map)
}

/// Returns reasoning whose text stands in `content`; `None` if it stands elsewhere.
fn thinking(part: &Value) -> Option<Value> {
    let content = part.get("content")?;
    let text = content.text().or_else(|| content.text_at("text"))?;
    Some(tagged("thinking", [("thinking", Some(&Value::from(text)))]))
}

/// Returns a call in the shape of Anthropic's messages.
pub(super) fn call(part: &Value) -> Value {
    tagged(
        "tool_use",
        [
            ("id", first(part, &["call_id", "toolCallId", "tool_call_id", "toolUseId", "id"])),
            ("name", first(part, &["name", "toolName", "tool_name"])),
            ("input", first(part, &["arguments", "args", "input"])),
        ],
    )
}

/// Returns a result in the shape of Anthropic's messages.
pub(super) fn result(part: &Value) -> Value {
    let value = first(part, &["result", "response", "output", "content"]);
    // The AI SDK wraps outputs: `{type: "error-text", value: …}`.
    let kind = value.and_then(|value| value.text_at("type")).unwrap_or_default();
    let wrapped = matches!(kind, "text" | "json" | "error-text" | "error-json" | "content");
    let inside = value.filter(|_| wrapped).and_then(|value| value.get("value"));
    let value = inside.or(value).map(|value| match value {
        Value::List(items) => Value::List(items.iter().map(normal_part).collect()),
        other => other.clone(),
    });
    let failed = kind.starts_with("error-") && inside.is_some();
    let failed = if failed || part.text_at("status") == Some("error") {
        Some(Value::Bool(true))
    } else {
        first(part, &["is_error", "isError"]).cloned()
    };
    tagged(
        "tool_result",
        [
            (
                "tool_use_id",
                first(part, &["call_id", "toolCallId", "tool_call_id", "toolUseId", "id"]),
            ),
            ("name", first(part, &["name", "toolName", "tool_name"])),
            ("content", value.as_ref()),
            ("is_error", failed.as_ref()),
        ],
    )
}

fn media(part: &Value) -> Value {
    let modality = part.text_at("modality").unwrap_or("file");
    tagged(
        modality,
        [("mime_type", part.get("mime_type")), ("data", first(part, &["content", "uri"]))],
    )
}

/// Parts of Gemini and Bedrock have no type; the key of their content tells what they are.
fn untyped(part: &Value) -> Option<Value> {
    if let Some(inside) = first(part, &["function_call", "functionCall", "toolUse"]) {
        return Some(call(inside));
    }
    if let Some(inside) = first(part, &["function_response", "functionResponse", "toolResult"]) {
        return Some(result(inside));
    }
    if let Some(inside) = first(part, &["inline_data", "inlineData", "file_data", "fileData"]) {
        let mime = first(inside, &["mime_type", "mimeType"]);
        let data = first(inside, &["data", "file_uri", "fileUri"]);
        return Some(tagged("file", [("mime_type", mime), ("data", data)]));
    }
    if let Some(inside) = part.get("reasoningContent") {
        let text = inside.at_path(&["reasoningText", "text"]);
        return Some(tagged("thinking", [("thinking", text)]));
    }
    let text = part.get("text").or_else(|| part.get("json"))?;
    let is_thought = part.get("thought").and_then(Value::bool) == Some(true);
    let kind = if is_thought { "thinking" } else { "text" };
    Some(tagged(kind, [(if is_thought { "thinking" } else { "text" }, Some(text))]))
}
