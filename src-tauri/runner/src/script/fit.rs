//! **Pure.** Makes values from models and tools safe for a transcript. They may be too deep, too
//! large or too odd for a file that every reader has to be able to parse. A value that does not fit
//! is stored as the text of its JSON, which is displayed identically.
use std::collections::HashSet;
use touchstone_model::value::Value;
use touchstone_model::{json, yaml};

/// Maximum number of levels of a foreign value; the file adds some of its own.
const DEPTH: usize = yaml::DEPTH - 16;
/// Maximum number of nodes in a foreign value: many such values share a file.
const NODES: usize = yaml::NODES / 50;
/// Maximum number of bytes of one text. Longer texts are cut.
const TEXT: usize = yaml::SCALAR / 2;
/// Levels of a reply that are fitted part by part, and most parts per level.
const PARTS: usize = 5;
const WIDTH: usize = 12;

/// Returns the value in a form that may be stored in a file.
pub(crate) fn value(value: &Value) -> Value {
    let mut nodes = NODES;
    match value {
        Value::Text(text) => Value::Text(self::text(text)),
        other if fits(other, DEPTH, &mut nodes) => other.clone(),
        other => Value::Text(self::text(&json::write(other, false))),
    }
}

/// Fits the reply of a program, which has its own file: only the parts that do not fit are stored
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

/// Returns the text, cut if it is too long for a file.
pub(super) fn text(text: &str) -> String {
    if text.len() <= TEXT {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(TEXT);
    format!("{}\n(cut here: it was {} bytes long)", &text[..end], text.len())
}

/// Returns true if a value may be stored unchanged.
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

/// Returns true if all keys are text and unique; others could not be read back.
fn has_plain_keys(entries: &[(Value, Value)]) -> bool {
    let mut keys = HashSet::new();
    entries
        .iter()
        .all(|(key, _)| key.text().is_some_and(|key| key.len() <= 1_000 && keys.insert(key)))
}
