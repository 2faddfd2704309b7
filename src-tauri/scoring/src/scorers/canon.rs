//! **Pure.** Canonical text of a value, for comparing, sorting and counting: numbers by value, keys
//! in any order.
use crate::diff::Number;
use touchstone_model::json;
use touchstone_model::value::Value;

/// Returns the canonical text of a value. A text and a number differ, even if they read the same.
pub(super) fn canonical(value: &Value) -> String {
    let mut out = String::new();
    put(&mut out, value);
    out
}

/// Returns the identity of a list item: like [`canonical`], but `"143"` and `143` are the same
/// item, because models write identifiers either way.
pub(super) fn item(value: &Value) -> String {
    match value {
        Value::Text(text)
            if Number::parse_text(text).is_some_and(|number| number.name() == *text) =>
        {
            text.clone()
        }
        value => canonical(value),
    }
}

fn put(out: &mut String, value: &Value) {
    match value {
        Value::Number(text) => match Number::read(text) {
            Some(number) => out.push_str(&number.name()),
            None => out.push_str(text),
        },
        Value::List(items) => {
            out.push('[');
            for item in items {
                put(out, item);
                out.push(',');
            }
            out.push(']');
        }
        Value::Map(entries) => {
            let mut fields: Vec<(String, String)> =
                entries.iter().map(|(key, value)| (canonical(key), canonical(value))).collect();
            fields.sort_unstable();
            out.push('{');
            for (key, value) in fields {
                out.push_str(&key);
                out.push(':');
                out.push_str(&value);
                out.push(',');
            }
            out.push('}');
        }
        // Texts are quoted, so that they differ from everything else.
        plain => out.push_str(&json::write(plain, false)),
    }
}
