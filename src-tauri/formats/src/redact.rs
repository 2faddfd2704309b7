//! **Pure.** Removes what looks like a key, an e-mail address or a home folder from texts that are
//! to be shared. Keys that are known by their value are the runner's matter.
use crate::value::Value;
use shapes::{KEYS, Kind, OTHERS, Shape, is_secret};
use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

mod shapes;
#[cfg(test)]
mod tests;

/// Replacement for what was removed.
pub const MARK: &str = "[redacted]";
/// Start of the replacement, which a number may follow.
const MARK_START: &str = "[redacted";

/// Maximum number of times that a text is searched: a removal may uncover another match.
const MOST_PASSES: usize = 4;
/// Numbers of places that were redacted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Redactions {
    /// Keys, tokens and passwords.
    pub keys: u64,
    /// E-mail addresses.
    pub emails: u64,
    /// Names of users in home folders.
    pub paths: u64,
}

impl Redactions {
    /// Returns the number of all places.
    pub fn total(&self) -> u64 {
        self.keys + self.emails + self.paths
    }

    /// Adds the places of another text.
    pub fn add(&mut self, other: Redactions) {
        self.keys += other.keys;
        self.emails += other.emails;
        self.paths += other.paths;
    }

    /// Returns a sentence on the places, also if there are none.
    pub fn describe(&self) -> String {
        let counted = |count: u64, one: &str, many: &str| {
            (count > 0).then(|| format!("{count} {}", if count == 1 { one } else { many }))
        };
        let kinds: Vec<String> = [
            counted(self.keys, "key", "keys"),
            counted(self.emails, "e-mail address", "e-mail addresses"),
            counted(self.paths, "home folder", "home folders"),
        ]
        .into_iter()
        .flatten()
        .collect();
        match self.total() {
            0 => "Nothing was found to redact.".to_owned(),
            1 => format!("1 place was redacted: {}.", kinds.join(", ")),
            total => format!("{total} places were redacted: {}.", kinds.join(", ")),
        }
    }

    fn count(&mut self, kind: Kind) {
        match kind {
            Kind::Key => self.keys += 1,
            Kind::Email => self.emails += 1,
            Kind::Path => self.paths += 1,
        }
    }
}

/// Replaces keys, e-mail addresses and the names of users in home folders. Redacting a redacted
/// text changes nothing. Borrows the text if nothing is found.
pub fn redact(text: &str) -> (Cow<'_, str>, Redactions) {
    let mut clean = Cow::Borrowed(text);
    let mut counts = Redactions::default();
    for _ in 0..MOST_PASSES {
        let found = find(&clean, KEYS.iter().chain(OTHERS.iter()));
        if found.is_empty() {
            break;
        }
        let mut next = String::with_capacity(clean.len());
        let mut from = 0;
        for (range, kind) in found {
            next.push_str(&clean[from..range.start]);
            next.push_str(MARK);
            from = range.end;
            counts.count(kind);
        }
        next.push_str(&clean[from..]);
        clean = Cow::Owned(next);
    }
    (clean, counts)
}

/// Redacts a text in its place.
pub fn redact_text(text: &mut String, counts: &mut Redactions) {
    if let Some(clean) = redacted(text, None, counts) {
        *text = clean;
    }
}

/// Redacts all texts of a value in their places, keys of maps included. The value of a key that
/// names a secret is judged together with that key, and so are the items of its list. Keys that
/// would become equal get numbers: `[redacted 2]`.
pub fn redact_value(value: &mut Value, counts: &mut Redactions) {
    redact_item(value, None, counts);
}

fn redact_item(value: &mut Value, name: Option<&str>, counts: &mut Redactions) {
    match value {
        Value::Text(text) => {
            if let Some(clean) = redacted(text, name, counts) {
                *text = clean;
            }
        }
        Value::List(items) => items.iter_mut().for_each(|item| redact_item(item, name, counts)),
        Value::Map(entries) => {
            let mut keys = Keys::default();
            for (key, item) in entries {
                redact_item(item, key.text(), counts);
                redact_item(key, None, counts);
                if let Value::Text(key) = key {
                    keys.number(key);
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Returns the redacted text under a name, if it differs.
fn redacted(text: &str, name: Option<&str>, counts: &mut Redactions) -> Option<String> {
    if name.is_some_and(|name| is_secret(name, text)) {
        counts.count(Kind::Key);
        return Some(MARK.to_owned());
    }
    let (clean, found) = redact(text);
    counts.add(found);
    match clean {
        Cow::Owned(clean) => Some(clean),
        Cow::Borrowed(_) => None,
    }
}

/// Redacted keys of one map, each with the highest number that its mark has got.
#[derive(Default)]
struct Keys(HashMap<String, usize>);

impl Keys {
    /// Numbers the mark of a key that the map has already, so that no entry is lost.
    fn number(&mut self, key: &mut String) {
        if !key.contains(MARK_START) {
            return;
        }
        let mut number = self.0.get(key).copied().unwrap_or(1);
        let mut next = key.clone();
        while self.0.contains_key(&next) {
            number += 1;
            next = key.replacen(MARK_START, &format!("{MARK_START} {number}"), 1);
        }
        self.0.insert(next.clone(), 1);
        self.0.insert(std::mem::replace(key, next), number);
    }
}

/// List or map of a JSON document.
#[derive(Default)]
struct Level {
    keys: Keys,
    /// Key of a list.
    name: Option<String>,
}

/// Redacts the texts of a JSON document, keys included, like [`redact_value`]. Everything else
/// stays as it is written.
pub fn redact_json(document: &str) -> (String, Redactions) {
    let mut counts = Redactions::default();
    let mut clean = String::with_capacity(document.len());
    let mut rest = document;
    let mut levels: Vec<Level> = Vec::new();
    // Key whose value comes next.
    let mut key: Option<String> = None;
    while let Some(start) = rest.find('"') {
        let (before, literal) = rest.split_at(start);
        let end = literal_end(literal);
        let (literal, after) = literal.split_at(end);
        clean.push_str(before);
        for byte in before.bytes() {
            match byte {
                b'{' => levels.push(Level::default()),
                b'[' => {
                    let outer = || levels.last().and_then(|level| level.name.clone());
                    let name = key.take().or_else(outer);
                    levels.push(Level { name, ..Level::default() });
                }
                b'}' | b']' => drop(levels.pop()),
                _ => {}
            }
            if !(byte == b':' || byte.is_ascii_whitespace()) {
                key = None;
            }
        }
        let is_key = after.trim_start().starts_with(':');
        let text = crate::json::read(literal).ok();
        let text = text.as_ref().and_then(Value::text);
        let list = levels.last().and_then(|level| level.name.as_deref());
        let name = key.as_deref().or(list);
        let mut next = text.and_then(|text| redacted(text, name, &mut counts));
        if let (true, Some(text), Some(level)) = (is_key, text, levels.last_mut()) {
            let mut numbered = next.unwrap_or_else(|| text.to_owned());
            level.keys.number(&mut numbered);
            next = Some(numbered).filter(|numbered| numbered != text);
        }
        match next {
            Some(next) => clean.push_str(&crate::json::write(&Value::Text(next), false)),
            None => clean.push_str(literal),
        }
        key = text.filter(|_| is_key).map(str::to_owned);
        rest = after;
    }
    clean.push_str(rest);
    (clean, counts)
}

/// Returns the length of the literal at the start of a text, with both quotation marks.
fn literal_end(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// Returns the ranges of a text that look like a key by their form alone, in order. They do not
/// overlap.
pub fn find_keys(text: &str) -> Vec<Range<usize>> {
    find(text, KEYS.iter()).into_iter().map(|(range, _)| range).collect()
}

/// Finds the places of some shapes, in order. Places that overlap become one of the first kind.
fn find<'a>(text: &str, shapes: impl Iterator<Item = &'a Shape>) -> Vec<(Range<usize>, Kind)> {
    let mut found: Vec<_> = shapes.flat_map(|shape| shape.places(text)).collect();
    found.sort_by_key(|(range, _)| range.start);
    let mut merged: Vec<(Range<usize>, Kind)> = Vec::new();
    for (range, kind) in found {
        match merged.last_mut() {
            Some((last, _)) if range.start < last.end => last.end = last.end.max(range.end),
            _ => merged.push((range, kind)),
        }
    }
    merged
}
