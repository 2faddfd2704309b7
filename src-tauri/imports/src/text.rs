//! **Pure.** Texts and numbers in the values of other tools' files.
use touchstone_model::json;
use touchstone_model::value::Value;

/// Returns true if a text is nothing but white space.
pub fn is_blank(text: &str) -> bool {
    text.chars().all(char::is_whitespace)
}

/// Returns the text of a value: text as it is, null as nothing, and anything else as canonical
/// JSON.
pub fn text_or_json(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::Text(text) => Some(text.clone()),
        other => Some(canonical_json(other)),
    }
}

/// Joins the texts of a message by line feeds, without the blank ones.
pub fn join<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    texts.into_iter().filter(|text| !is_blank(text)).collect::<Vec<_>>().join("\n")
}

/// Formats a value as JSON with sorted keys and without white space; numbers stay as in the file.
pub fn canonical_json(value: &Value) -> String {
    json::write(&sorted(value, json::DEEP), false)
}

fn sorted(value: &Value, depth: usize) -> Value {
    let Some(depth) = depth.checked_sub(1) else { return value.clone() };
    match value {
        Value::List(items) => Value::List(items.iter().map(|item| sorted(item, depth)).collect()),
        Value::Map(entries) => {
            let mut entries: Vec<_> =
                entries.iter().map(|(key, value)| (key.clone(), sorted(value, depth))).collect();
            entries.sort_by(|(a, _), (b, _)| a.text().cmp(&b.text()));
            Value::Map(entries)
        }
        other => other.clone(),
    }
}

/// Returns the arguments of a call: text that holds a JSON object or list is parsed, and null,
/// missing or empty arguments are an empty object.
pub fn arguments(value: Option<&Value>) -> Value {
    match value {
        None | Some(Value::Null) => Value::Map(Vec::new()),
        Some(Value::Text(text)) if text.is_empty() => Value::Map(Vec::new()),
        Some(Value::Text(text)) => {
            json::embedded(text).unwrap_or_else(|| Value::Text(text.clone()))
        }
        Some(value) => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_that_are_the_text_of_an_object_are_the_object() {
        let text = |text: &str| arguments(Some(&Value::from(text)));
        assert_eq!(
            canonical_json(&text("{\"b\": 1.50, \"a\": [\"é\"]}")),
            "{\"a\":[\"é\"],\"b\":1.50}"
        );
        assert_eq!(text("7"), Value::from("7"));
        assert_eq!((text(""), arguments(None)), (Value::Map(Vec::new()), Value::Map(Vec::new())));
    }

    #[test]
    fn blank_parts_are_left_out_and_others_are_not_trimmed() {
        assert_eq!(join([" a\r\n", "\t", "b "]), " a\r\n\nb ");
        assert!(is_blank(" \u{a0}\n") && !is_blank("."));
    }
}
