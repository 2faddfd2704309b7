//! **Pure.** Conversion of tool arguments and results: JSON is preserved exactly, images are
//! described, long results are cut, and secrets are hidden.
use crate::tools::{Called, ToolFailure};
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use std::fmt::Write as _;
use touchstone_model::json;
use touchstone_model::value::Value;

/// Maximum number of bytes of a result to show to the model.
const MAX_RESULT_BYTES: usize = 1 << 20;
/// Maximum number of bytes of an error to show to the model.
const WHY: usize = 16 << 10;

/// Converts the arguments of a call. Fails if they are not a JSON object; the model sees the error
/// and tries again.
pub(super) fn arguments(
    params: &Value,
) -> Result<serde_json::Map<String, serde_json::Value>, ToolFailure> {
    let refused = || ToolFailure::new("The arguments of the call are not a JSON object.");
    match params {
        Value::Null => Ok(serde_json::Map::new()),
        Value::Map(_) => serde_json::from_str(&json::write(params, false)).map_err(|_| refused()),
        _ => Err(refused()),
    }
}

/// Converts a result, with secrets hidden.
pub(super) fn read(result: &CallToolResult, secrets: &[String]) -> Called {
    if result.is_error == Some(true) {
        let said = cut(hide(&joined(&result.content), secrets), WHY);
        let said = if said.trim().is_empty() {
            "The tool failed and did not say why.".to_owned()
        } else {
            said
        };
        return Err(ToolFailure::new(said));
    }
    let structured = result.structured_content.as_ref().filter(|value| !value.is_null());
    Ok(match (structured, &result.content[..]) {
        (Some(structured), blocks) => bounded(covered(exact(structured, blocks), secrets)),
        (None, [ContentBlock::Text(only)]) => text(&only.text, secrets),
        (None, blocks) => Value::Text(cut(hide(&joined(blocks), secrets), MAX_RESULT_BYTES)),
    })
}

/// Returns the text of a block; text that is a JSON list or object is parsed.
fn text(text: &str, secrets: &[String]) -> Value {
    let inside = if text.len() <= MAX_RESULT_BYTES { json::embedded(text) } else { None };
    match inside {
        Some(value) => covered(value, secrets),
        None => Value::Text(cut(hide(text, secrets), MAX_RESULT_BYTES)),
    }
}

/// Returns the structured result. Servers repeat it as text, which preserves the notation of
/// numbers; the text is parsed instead if it is equal.
fn exact(structured: &serde_json::Value, blocks: &[ContentBlock]) -> Value {
    let same = blocks.iter().find_map(|block| {
        let ContentBlock::Text(block) = block else { return None };
        let said: serde_json::Value = serde_json::from_str(&block.text).ok()?;
        (said == *structured).then(|| json::read(&block.text).ok())?
    });
    same.unwrap_or_else(|| value(structured))
}

/// Converts a `serde_json` value.
pub(super) fn value(value: &serde_json::Value) -> Value {
    match value {
        serde_json::Value::Null => Value::Null,
        serde_json::Value::Bool(is) => Value::Bool(*is),
        serde_json::Value::Number(number) => Value::Number(number.to_string()),
        serde_json::Value::String(text) => Value::Text(text.clone()),
        serde_json::Value::Array(items) => Value::List(items.iter().map(self::value).collect()),
        serde_json::Value::Object(entries) => Value::Map(
            entries
                .iter()
                .map(|(key, inner)| (Value::Text(key.clone()), self::value(inner)))
                .collect(),
        ),
    }
}

/// Returns the value, or the beginning of its JSON text if it is too large.
fn bounded(value: Value) -> Value {
    let written = json::write(&value, false);
    if written.len() <= MAX_RESULT_BYTES {
        value
    } else {
        Value::Text(cut(written, MAX_RESULT_BYTES))
    }
}

fn joined(blocks: &[ContentBlock]) -> String {
    blocks.iter().map(block).collect::<Vec<_>>().join("\n")
}

/// Formats a block as text. Binary content is only described: it would be useless to the model and
/// would fill the transcript.
fn block(block: &ContentBlock) -> String {
    match block {
        ContentBlock::Text(text) => text.text.clone(),
        ContentBlock::Image(image) => {
            format!("[image, {}, {} bytes]", image.mime_type, decoded(&image.data))
        }
        ContentBlock::Audio(audio) => {
            format!("[audio, {}, {} bytes]", audio.mime_type, decoded(&audio.data))
        }
        ContentBlock::Resource(embedded) => match &embedded.resource {
            ResourceContents::TextResourceContents { uri, text, .. } => {
                format!("[resource {uri}]\n{text}")
            }
            ResourceContents::BlobResourceContents { uri, mime_type, blob, .. } => {
                let kind = mime_type.as_deref().unwrap_or("bytes");
                format!("[resource {uri}, {kind}, {} bytes]", decoded(blob))
            }
            _ => "[resource of an unknown kind]".to_owned(),
        },
        ContentBlock::ResourceLink(link) => format!("[link to {} {}]", link.name, link.uri),
        _ => "[content of an unknown kind]".to_owned(),
    }
}

/// Returns the decoded size of base64 text, in bytes.
fn decoded(base64: &str) -> usize {
    base64.trim_end_matches('=').len() * 3 / 4
}

/// Cuts a text to its beginning, with a note.
fn cut(mut text: String, most: usize) -> String {
    let length = text.len();
    if length > most {
        text.truncate(text.floor_char_boundary(most));
        // Writing to a string cannot fail.
        let _ = write!(text, "\n[cut: this is the beginning of {length} bytes]");
    }
    text
}

/// Replaces the secrets in a text.
pub(super) fn hide(text: &str, secrets: &[String]) -> String {
    secrets.iter().fold(text.to_owned(), |text, secret| text.replace(secret.as_str(), "[secret]"))
}

/// Replaces the secrets in a value, including in keys.
fn covered(value: Value, secrets: &[String]) -> Value {
    if secrets.is_empty() {
        return value;
    }
    match value {
        Value::Text(text) => Value::Text(hide(&text, secrets)),
        Value::List(items) => {
            Value::List(items.into_iter().map(|item| covered(item, secrets)).collect())
        }
        Value::Map(entries) => {
            let pair = |(key, value)| (covered(key, secrets), covered(value, secrets));
            Value::Map(entries.into_iter().map(pair).collect())
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[expect(clippy::unwrap_in_result, reason = "the text of a test is JSON")]
    fn reply(json: &str) -> Called {
        read(&serde_json::from_str(json).unwrap(), &["t0ken-value".to_owned()])
    }

    fn display_result(json: &str) -> String {
        match reply(json) {
            Ok(Value::Text(text)) => format!("text {text}"),
            Ok(value) => format!("value {}", touchstone_model::json::write(&value, false)),
            Err(failure) => format!("failure {}", failure.message),
        }
    }

    #[test]
    fn replies_are_read_by_what_they_hold() {
        insta::assert_snapshot!([
            r#"{"content": [{"type": "text", "text": "hello"}]}"#,
            r#"{"content": [{"type": "text", "text": "[{\"n\": 1.50, \"big\": 12345678901234567890123}]"}]}"#,
            r#"{"content": [{"type": "text", "text": "42"}]}"#,
            r#"{"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}"#,
            r#"{"content": [{"type": "image", "data": "aGVsbG8=", "mimeType": "image/png"}, {"type": "audio", "data": "aGk=", "mimeType": "audio/wav"}]}"#,
            r#"{"content": [{"type": "resource", "resource": {"uri": "a://b", "text": "inside"}}, {"type": "resource_link", "uri": "a://c", "name": "c"}]}"#,
            r#"{"content": [{"type": "text", "text": "other"}], "structuredContent": {"z": 1, "a": 2}}"#,
            r#"{"content": [{"type": "text", "text": "{\"n\": 1.50}"}], "structuredContent": {"n": 1.5}}"#,
            r#"{"content": []}"#,
            r#"{"content": [{"type": "text", "text": "no such row"}], "isError": true}"#,
            r#"{"content": [], "isError": true}"#,
            r#"{"content": [{"type": "text", "text": "the key is t0ken-value."}]}"#,
            r#"{"content": [{"type": "text", "text": "{\"env\": {\"t0ken-value\": \"<t0ken-value>\"}}"}]}"#,
        ].map(display_result).join("\n"), @r#"
        text hello
        value [{"n":1.50,"big":12345678901234567890123}]
        text 42
        text a
        b
        text [image, image/png, 5 bytes]
        [audio, audio/wav, 2 bytes]
        text [resource a://b]
        inside
        [link to c a://c]
        value {"z":1,"a":2}
        value {"n":1.50}
        text 
        failure no such row
        failure The tool failed and did not say why.
        text the key is [secret].
        value {"env":{"[secret]":"<[secret]>"}}
        "#);
    }

    #[test]
    fn a_long_reply_is_cut_with_a_note_and_a_shorter_one_is_not() {
        let long = |count: usize| {
            let text = format!("[\"{}\"]", "é".repeat(count));
            reply(&serde_json::json!({"content": [{"type": "text", "text": text}]}).to_string())
                .unwrap()
        };
        assert!(matches!(long(1000), Value::List(_)));
        let Value::Text(text) = long(MAX_RESULT_BYTES) else { panic!("it is cut") };
        assert!(text.len() < MAX_RESULT_BYTES + 100);
        assert!(
            text.ends_with(&format!(
                "[cut: this is the beginning of {} bytes]",
                2 * MAX_RESULT_BYTES + 4
            )),
            "{}",
            &text[MAX_RESULT_BYTES - 9..]
        );
    }

    #[test]
    fn arguments_are_an_object_or_are_refused() {
        let params = json::read(r#"{"b": [1, 2.5, null], "a": "x"}"#).unwrap();
        assert_eq!(
            serde_json::to_string(&arguments(&params).unwrap()).unwrap(),
            r#"{"b":[1,2.5,null],"a":"x"}"#
        );
        assert!(arguments(&Value::Null).unwrap().is_empty());
        assert_eq!(
            arguments(&Value::from("{broken")).unwrap_err().message,
            "The arguments of the call are not a JSON object."
        );
    }
}
