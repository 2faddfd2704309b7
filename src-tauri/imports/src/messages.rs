//! **Pure.** Chat messages as most tools write them, after the interfaces of `OpenAI` and Anthropic:
//! `role`, `content` as text or parts, `tool_calls`, `tool_call_id`.
use crate::media::is_data_address;
use crate::run::{Event, EventKind, Media, MediaContent};
use crate::text::{is_blank, join, text_or_json};
use touchstone_model::value::Value;

/// Reads a list of messages.
pub fn read_thread(messages: &[Value]) -> Vec<Event> {
    messages.iter().flat_map(read_message).map(Event::from).collect()
}

/// Reads one message: its reasoning, its text, what else it holds, and its calls. A value that is
/// no message gives nothing.
pub fn read_message(message: &Value) -> Vec<EventKind> {
    let Some(role) = message.text_at("role") else { return Vec::new() };
    let content = message.get("content").unwrap_or(&Value::Null);
    if matches!(role, "tool" | "function") {
        return std::iter::once(result(message, content)).chain(result_media(content)).collect();
    }
    let mut parts = Parts::default();
    let reasoning = ["reasoning_content", "reasoning"].iter().find_map(|key| message.text_at(key));
    parts.reasoning.extend(reasoning.map(str::to_owned));
    parts.read(content);
    // A refusal stands in the place of a content.
    let refusal = message.text_at("refusal").filter(|_| *content == Value::Null);
    parts.texts.extend(refusal.map(str::to_owned));
    let calls = message.get("tool_calls").map(Value::items).unwrap_or_default();
    parts.calls.extend(calls.iter().filter_map(read_call));
    if calls.is_empty()
        && let Some(call) = message.get_non_null("function_call")
    {
        parts.calls.extend(read_call(call));
    }
    parts.into_events(role)
}

/// Reads the content of a message whose role stands elsewhere, like [`read_message`].
pub fn read_content(role: &str, content: &Value) -> Vec<EventKind> {
    let mut parts = Parts::default();
    parts.read(content);
    parts.into_events(role)
}

/// Content of a message, by kind.
#[derive(Debug, Default)]
struct Parts {
    reasoning: Vec<String>,
    texts: Vec<String>,
    media: Vec<Media>,
    calls: Vec<EventKind>,
    results: Vec<EventKind>,
}

impl Parts {
    fn read(&mut self, content: &Value) {
        match content {
            Value::Text(text) => self.texts.push(text.clone()),
            Value::List(items) => items.iter().for_each(|item| self.part(item)),
            Value::Null => {}
            other => self.texts.extend(text_or_json(other)),
        }
    }

    fn part(&mut self, part: &Value) {
        if let Some(text) = part.text() {
            self.texts.push(text.to_owned());
            return;
        }
        match part.text_at("type").unwrap_or_default() {
            "text" | "input_text" | "output_text" => {
                self.texts.extend(part.get("text").and_then(text_or_json));
            }
            "thinking" | "reasoning" => self.reasoning.extend(read_reasoning(part)),
            "redacted_thinking" => {}
            "tool_use" | "server_tool_use" | "mcp_tool_use" => self.tool_use(part),
            "tool_call" if part.text_at("name").is_some() => self.calls.extend(read_call(part)),
            "tool_result" => {
                self.results.push(tool_result(part));
                self.results.extend(part.get("content").into_iter().flat_map(result_media));
            }
            // Results of tools that the model's server ran follow their calls.
            kind if kind.ends_with("_tool_result") && part.get("tool_use_id").is_some() => {
                self.calls.push(tool_result(part));
            }
            kind => {
                let known = ["text", "refusal"].iter().find_map(|key| part.text_at(key));
                match known {
                    Some(text) if kind.is_empty() || kind == "refusal" => {
                        self.texts.push(text.to_owned());
                    }
                    _ => self.media.push(read_media(part)),
                }
            }
        }
    }

    /// Reads a call. Tools that the model's server ran have their result beside it.
    fn tool_use(&mut self, part: &Value) {
        let id = part.text_at("id").map(str::to_owned);
        let name = part.text_at("name").unwrap_or_default().to_owned();
        let arguments = ["input", "arguments"].iter().find_map(|key| part.get(key));
        let arguments = arguments.cloned().unwrap_or_default();
        self.calls.push(EventKind::Call { id: id.clone(), name, arguments, by_user: false });
        if let Some(result) = part.get("result") {
            let error = part.get_non_null("error");
            let is_empty = matches!(result, Value::Null) || result.text() == Some("");
            let value = error.filter(|_| is_empty).unwrap_or(result);
            self.calls.push(EventKind::Result {
                id,
                name: part.text_at("name").map(str::to_owned),
                value: result_value(value),
                failed: Some(error.is_some()),
            });
        }
    }

    fn into_events(self, role: &str) -> Vec<EventKind> {
        let text = join(self.texts.iter().map(String::as_str));
        let mut events: Vec<EventKind> =
            self.reasoning.into_iter().map(EventKind::Reasoning).collect();
        // The results of calls stand before what the user adds to them.
        events.extend(self.results);
        let is_model = matches!(role, "assistant" | "ai" | "model");
        // An image without a text is a message of its own, unless it stands beside a result, a
        // thought or a call.
        let is_alone = events.is_empty() && !self.media.is_empty() && self.calls.is_empty();
        let has_image = self.media.iter().any(|media| media.content.is_some());
        let is_from_someone = match role {
            "system" | "developer" => false,
            _ => !is_model || has_image,
        };
        let text = if is_blank(&text) { String::new() } else { text };
        if !text.is_empty() || (is_alone && is_from_someone) {
            events.push(match role {
                "system" | "developer" => EventKind::System(text),
                _ if is_model => EventKind::Assistant(text),
                _ => EventKind::User(text),
            });
        }
        events.extend(self.media.into_iter().map(EventKind::Media));
        events.extend(self.calls);
        events
    }
}

/// Returns the readable text of a part that holds reasoning: its summary, or else the reasoning
/// itself unless it is redacted.
pub fn read_reasoning(part: &Value) -> Option<String> {
    let redacted = part.get("redacted").and_then(Value::bool) == Some(true);
    let summary = match part.get("summary") {
        Some(Value::List(items)) => {
            Some(join(items.iter().filter_map(|item| item.text().or_else(|| item.text_at("text")))))
        }
        Some(Value::Text(text)) => Some(text.clone()),
        _ => None,
    };
    let whole = || {
        let keys = ["thinking", "reasoning", "text", "content"];
        keys.iter().find_map(|key| part.text_at(key)).filter(|_| !redacted).map(str::to_owned)
    };
    summary.filter(|text| !is_blank(text)).or_else(whole).filter(|text| !is_blank(text))
}

/// Reads a call of a tool, with the function inside (`function: {name, arguments}`) or beside
/// (`function` or `name`, and `arguments`, `args` or `input`).
pub fn read_call(call: &Value) -> Option<EventKind> {
    let inside = call.get("function").filter(|function| function.get("name").is_some());
    let holder = inside.unwrap_or(call);
    let name = holder.text_at("name").or_else(|| call.text_at("function"))?;
    let arguments = ["arguments", "args", "input"].iter().find_map(|key| holder.get_non_null(key));
    let id = ["id", "call_id", "tool_call_id"].iter().find_map(|key| call.text_at(key));
    Some(EventKind::Call {
        id: id.map(str::to_owned),
        name: name.to_owned(),
        arguments: arguments.cloned().unwrap_or_default(),
        by_user: false,
    })
}

fn tool_result(part: &Value) -> EventKind {
    EventKind::Result {
        id: part.text_at("tool_use_id").map(str::to_owned),
        name: part.text_at("name").map(str::to_owned),
        value: result_value(part.get("content").unwrap_or(&Value::Null)),
        failed: part.get("is_error").and_then(Value::bool),
    }
}

fn result(message: &Value, content: &Value) -> EventKind {
    let id = ["tool_call_id", "call_id", "id"].iter().find_map(|key| message.text_at(key));
    let name = ["name", "function"].iter().find_map(|key| message.text_at(key));
    let error = message.get_non_null("error");
    let value = match result_value(content) {
        // A failed call often has no content beside its error.
        Value::Text(text)
            if text.is_empty() && error.is_some_and(|error| error.bool().is_none()) =>
        {
            error.cloned().unwrap_or_default()
        }
        value => value,
    };
    let failed = error.map(|error| error.bool().unwrap_or(true));
    EventKind::Result {
        id: id.map(str::to_owned),
        name: name.map(str::to_owned),
        value,
        failed: failed.or_else(|| message.get("is_error").and_then(Value::bool)),
    }
}

/// Returns the content of a result: the texts of its parts joined, if all of them are texts or can
/// be described, else the value as it is.
pub fn result_value(content: &Value) -> Value {
    let Value::List(items) = content else { return content.clone() };
    let texts: Option<Vec<String>> = items
        .iter()
        .map(|item| match item.text_at("type") {
            Some("text" | "input_text" | "output_text") => item.text_at("text").map(str::to_owned),
            Some(kind) if is_media(kind) => Some(format!("[{}]", describe_media(item))),
            _ => item.text().map(str::to_owned),
        })
        .collect();
    texts.map_or_else(|| content.clone(), |texts| Value::Text(texts.join("\n")))
}

/// Returns true for the type of a part of a result that is no text.
fn is_media(kind: &str) -> bool {
    let kinds = ["image", "image_url", "input_image", "audio", "video", "document", "file", "data"];
    kinds.contains(&kind)
}

/// Returns what a result holds beside text, where the files of the run have its content. The text
/// of the result describes it too.
pub fn result_media(content: &Value) -> impl Iterator<Item = EventKind> {
    let items = content.items().iter();
    let media = items.filter(|item| item.text_at("type").is_some_and(is_media)).map(read_media);
    media.filter(|media| media.content.is_some()).map(EventKind::Media)
}

/// Reads a part of a message that is no text.
fn read_media(part: &Value) -> Media {
    let path = part.at_path(&["source", "path"]).and_then(Value::text);
    let content = find_data(part)
        .and_then(MediaContent::from_text)
        .or_else(|| path.and_then(MediaContent::from_path));
    Media { text: describe_media(part), content }
}

/// Describes a part of a message that is no text: its type, its media type and its size.
fn describe_media(part: &Value) -> String {
    let kind = part.text_at("type").unwrap_or("part");
    let data = find_data(part);
    let declared = [["source", "media_type"], ["source", "mime_type"]];
    let mime = declared.iter().find_map(|path| part.at_path(path)).and_then(Value::text);
    let mime = mime.or_else(|| part.text_at("mime_type")).or_else(|| part.text_at("media_type"));
    let from_data = data
        .and_then(|data| data.get(5..).filter(|_| is_data_address(data))?.split([';', ',']).next());
    let name = mime.or(from_data).unwrap_or(kind);
    match data {
        Some(data) if data.starts_with("http") => format!("{name}, {data}"),
        Some(data) => format!("{name}, {}", describe_size(data.len() / 4 * 3)),
        None => name.to_owned(),
    }
}

fn find_data(part: &Value) -> Option<&str> {
    let paths: [&[&str]; 11] = [
        &["source", "data"],
        &["image_url", "url"],
        &["image_url"],
        &["image"],
        &["audio"],
        &["video"],
        &["document"],
        &["input_audio", "data"],
        &["data"],
        &["file", "file_data"],
        &["url"],
    ];
    paths.iter().find_map(|path| part.at_path(path)?.text())
}

fn describe_size(bytes: usize) -> String {
    if bytes < 1_000 { format!("{bytes} B") } else { format!("{} kB", bytes.div_ceil(1_000)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use touchstone_model::json;

    fn read(text: &str) -> Vec<EventKind> {
        read_message(&json::read(text).unwrap())
    }

    fn call(name: &str) -> EventKind {
        EventKind::Call {
            id: Some("c1".to_owned()),
            name: name.to_owned(),
            arguments: json::read("{\"a\":1}").unwrap(),
            by_user: false,
        }
    }

    #[test]
    fn a_call_is_read_in_each_of_its_forms() {
        for message in [
            r#"{"role":"assistant","content":null,"tool_calls":[{"id":"c1","function":{"name":"f","arguments":{"a":1}}}]}"#,
            r#"{"role":"assistant","content":"","tool_calls":[{"id":"c1","function":"f","arguments":{"a":1}}]}"#,
            r#"{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"f","input":{"a":1}}]}"#,
        ] {
            assert_eq!(read(message), [call("f")], "{message}");
        }
    }

    #[test]
    fn parts_of_a_message_are_told_apart_and_blank_ones_left_out() {
        let message = r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":[{"type":"text","text":"x"}],"is_error":true},
            {"type":"text","text":"a"},{"type":"text","text":" "},{"type":"text","text":"b"},
            {"type":"image","source":{"media_type":"image/png","data":"AAAA"}}]}"#;
        let result = EventKind::Result {
            id: Some("c1".to_owned()),
            name: None,
            value: Value::from("x"),
            failed: Some(true),
        };
        let expected = [
            result,
            EventKind::User("a\nb".to_owned()),
            EventKind::Media(Media {
                text: "image/png, 3 B".to_owned(),
                content: Some(MediaContent::Encoded("AAAA".to_owned())),
            }),
        ];
        assert_eq!(read(message), expected);
        let thinking = r#"{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"y"}]}"#;
        assert_eq!(
            read(thinking),
            [EventKind::Reasoning("hm".to_owned()), EventKind::Assistant("y".to_owned())]
        );
    }

    #[test]
    fn an_image_alone_is_a_message_of_its_own_and_beside_a_result_it_is_not() {
        let image = r#"{"type":"image","source":{"media_type":"image/png","data":"AAAA"}}"#;
        let result = r#"{"type":"tool_result","tool_use_id":"c1","content":"x"}"#;
        let kinds = |role: &str, parts: &str| {
            let events = read(&format!(r#"{{"role":"{role}","content":[{parts}]}}"#));
            let names = events.iter().map(|event| match event {
                EventKind::User(text) => format!("user {text:?}"),
                EventKind::Assistant(text) => format!("assistant {text:?}"),
                EventKind::Result { .. } => "result".to_owned(),
                EventKind::Media(_) => "media".to_owned(),
                EventKind::Call { .. } => "call".to_owned(),
                other => format!("{other:?}"),
            });
            names.collect::<Vec<_>>().join(", ")
        };
        let call = r#"{"type":"tool_use","id":"c1","name":"f","input":{}}"#;
        for (role, parts, expected) in [
            ("user", image.to_owned(), "user \"\", media"),
            ("user", format!(r#"{{"type":"text","text":" "}},{image}"#), "user \"\", media"),
            ("user", format!("{result},{image}"), "result, media"),
            ("assistant", image.to_owned(), "assistant \"\", media"),
            ("assistant", format!("{image},{call}"), "media, call"),
            ("assistant", r#"{"type":"unknown"}"#.to_owned(), "media"),
            ("system", image.to_owned(), "media"),
        ] {
            assert_eq!(kinds(role, &parts), expected, "{role} {parts}");
        }
    }

    #[test]
    fn a_failed_result_without_content_shows_its_error() {
        let message = r#"{"role":"tool","tool_call_id":"c1","content":"","error":{"type":"timeout","message":"late"}}"#;
        let [EventKind::Result { value, failed, .. }] = &read(message)[..] else { panic!() };
        assert_eq!((value.text_at("message"), *failed), (Some("late"), Some(true)));
    }
}
