//! **Pure.** Formats a [`Value`] as YAML that people can read and edit, and that YAML 1.1 and 1.2
//! parsers read alike. `quoting` decides the notation of a single scalar.
use super::quoting::{self, Style};
use crate::value::Value;

/// Formats a value as YAML. Parsing the text gives an equal value.
pub fn write(value: &Value) -> String {
    write_as_it_was(value, &[])
}

/// Like [`write()`], but texts that were unquoted in the original file stay unquoted. `unquoted` has
/// one entry for each text in [`super::unquoted::of_value`].
pub fn write_as_it_was(value: &Value, unquoted: &[bool]) -> String {
    let mut out = Out { text: String::new(), unquoted: unquoted.iter() };
    match value {
        Value::Map(entries) if !entries.is_empty() => map(&mut out, entries, 0),
        Value::List(items) if !items.is_empty() => list(&mut out, items, 0),
        _ => {
            short(&mut out, value);
            out.push('\n');
        }
    }
    out.text
}

/// The text written so far.
struct Out<'a> {
    text: String,
    /// For each text that would be quoted, true if it is written without quotes.
    unquoted: std::slice::Iter<'a, bool>,
}

impl Out<'_> {
    fn push(&mut self, letter: char) {
        self.text.push(letter);
    }

    fn push_str(&mut self, text: &str) {
        self.text.push_str(text);
    }
}

/// Token in front of a value; decides where a map or list begins.
#[derive(Clone, Copy, PartialEq)]
enum After {
    /// `key:`
    Key,
    /// `-`, `?` or `:` of a long key
    Dash,
}

/// Writes the entries of a map that begins at the current column.
fn map(out: &mut Out<'_>, entries: &[(Value, Value)], indent: usize) {
    for (at, (key, value)) in entries.iter().enumerate() {
        if at > 0 {
            spaces(out, indent);
        }
        if is_short_key(key) {
            short(out, key);
            out.push(':');
            put(out, value, indent, After::Key);
        } else {
            out.push('?');
            put(out, key, indent, After::Dash);
            spaces(out, indent);
            out.push(':');
            put(out, value, indent, After::Dash);
        }
    }
}

fn list(out: &mut Out<'_>, items: &[Value], indent: usize) {
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            spaces(out, indent);
        }
        out.push('-');
        put(out, item, indent, After::Dash);
    }
}

/// Writes a value after its key or dash; `indent` is the indentation of the enclosing map or list.
fn put(out: &mut Out<'_>, value: &Value, indent: usize, after: After) {
    let begin = |out: &mut Out<'_>| {
        if after == After::Key {
            out.push('\n');
            spaces(out, indent + 2);
        } else {
            out.push(' ');
        }
    };
    match value {
        Value::Map(entries) if !entries.is_empty() => {
            begin(out);
            map(out, entries, indent + 2);
        }
        Value::List(items) if !items.is_empty() => {
            begin(out);
            list(out, items, indent + 2);
        }
        Value::Text(text) if quoting::style(text) == Style::Literal => {
            out.push(' ');
            literal(out, text, indent + 2);
        }
        _ => {
            out.push(' ');
            short(out, value);
            out.push('\n');
        }
    }
}

/// Writes a block literal with its lines at the given column.
fn literal(out: &mut Out<'_>, text: &str, indent: usize) {
    out.push('|');
    if text.starts_with([' ', '\n']) {
        out.push('2');
    }
    if !text.ends_with('\n') {
        out.push('-');
    } else if text.ends_with("\n\n") {
        out.push('+');
    }
    out.push('\n');
    for line in text.split_inclusive('\n') {
        if line != "\n" {
            spaces(out, indent);
        }
        out.push_str(line);
    }
    if !text.ends_with('\n') {
        out.push('\n');
    }
}

/// Writes a value on one line.
fn short(out: &mut Out<'_>, value: &Value) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(bool) => out.push_str(if *bool { "true" } else { "false" }),
        Value::Number(text) if crate::scalar::is_number(text) => out.push_str(text),
        Value::Text(text) if quoting::needs_quotes(text) && out.unquoted.next() == Some(&true) => {
            out.push_str(text);
        }
        Value::Number(text) | Value::Text(text) => quoting::quote(&mut out.text, text),
        Value::List(_) => out.push_str("[]"),
        Value::Map(_) => out.push_str("{}"),
    }
}

/// Returns true for a key that can be written on the line of its colon. Parsers search for the
/// colon only within 1,024 characters.
fn is_short_key(key: &Value) -> bool {
    match key {
        Value::Text(text) => text.len() <= 128,
        Value::Number(text) => text.len() <= 512,
        Value::List(items) => items.is_empty(),
        Value::Map(entries) => entries.is_empty(),
        Value::Null | Value::Bool(_) => true,
    }
}

fn spaces(out: &mut Out<'_>, count: usize) {
    out.text.extend(std::iter::repeat_n(' ', count));
}
