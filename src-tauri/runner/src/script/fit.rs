//! **Pure.** Makes foreign values fit for a transcript: what models and tools send may be too deep,
//! too large or too odd for a file that every reader can read again. What does not fit is written
//! as the text of its JSON, which is shown just the same.
use std::collections::HashSet;
use touchstone_formats::value::Value;
use touchstone_formats::{json, yaml};

/// Levels of a foreign value; the file adds some of its own.
const DEPTH: usize = yaml::DEPTH - 16;
/// Values inside a foreign value: many of them share a file.
const NODES: usize = yaml::NODES / 50;
/// Bytes of one text. A longer one is cut.
const TEXT: usize = yaml::SCALAR / 2;
/// Levels of a reply that are looked at part by part, and how many parts each may have.
const PARTS: usize = 5;
const WIDTH: usize = 12;

/// The value as it may stand in a file.
pub(crate) fn value(value: &Value) -> Value {
    let mut nodes = NODES;
    match value {
        Value::Text(text) => Value::Text(self::text(text)),
        other if fits(other, DEPTH, &mut nodes) => other.clone(),
        other => Value::Text(self::text(&json::write(other, false))),
    }
}

/// The reply of a program, which has a file for itself: only the parts that do not fit are written
/// as text.
pub(crate) fn parts(value: &Value) -> Value {
    let mut nodes = yaml::NODES / 3;
    if fits(value, DEPTH, &mut nodes) { value.clone() } else { each_part(value, PARTS) }
}

fn each_part(value: &Value, depth: usize) -> Value {
    let fitted =
        |part: &Value| if depth == 0 { self::value(part) } else { each_part(part, depth - 1) };
    match value {
        Value::List(items) if items.len() <= WIDTH => {
            Value::List(items.iter().map(fitted).collect())
        }
        Value::Map(entries) if entries.len() <= WIDTH && has_plain_keys(entries) => {
            Value::Map(entries.iter().map(|(key, part)| (key.clone(), fitted(part))).collect())
        }
        other => self::value(other),
    }
}

/// The text as it may stand in a file.
pub(super) fn text(text: &str) -> String {
    if text.len() <= TEXT {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(TEXT);
    format!("{}\n(cut here: it was {} bytes long)", &text[..end], text.len())
}

/// True for a value that may stand in a file as it is.
pub(super) fn is_fit(value: &Value) -> bool {
    fits(value, DEPTH, &mut NODES.clone())
}

fn fits(value: &Value, depth: usize, nodes: &mut usize) -> bool {
    if depth == 0 || *nodes == 0 {
        return false;
    }
    *nodes -= 1;
    match value {
        Value::Text(text) | Value::Number(text) => text.len() <= TEXT,
        Value::Null | Value::Bool(_) => true,
        Value::List(items) => items.iter().all(|item| fits(item, depth - 1, nodes)),
        Value::Map(entries) => {
            has_plain_keys(entries)
                && entries.iter().all(|(_, value)| fits(value, depth - 1, nodes))
        }
    }
}

/// Keys are text, and none is there twice: that could not be read again.
fn has_plain_keys(entries: &[(Value, Value)]) -> bool {
    let mut keys = HashSet::new();
    entries
        .iter()
        .all(|(key, _)| key.text().is_some_and(|key| key.len() <= 1_000 && keys.insert(key)))
}
