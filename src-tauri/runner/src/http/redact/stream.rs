//! **Pure.** Removes secrets that are spread over several events of a stream. Models send words in
//! pieces, and joining the pieces would restore the secret.
use super::{MARK, Redactor};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use touchstone_model::json;
use touchstone_model::value::Value;

/// Text of one event, with the line of the event.
struct Part {
    line: usize,
    text: String,
}

/// Returns the stream without secrets that are spread over events; `None` if there are none, or if
/// it is not a stream of JSON events.
pub(super) fn clean(redactor: &Redactor, body: &str) -> Option<String> {
    if !body.starts_with("data:") && !body.starts_with("event:") && !body.contains("\ndata:") {
        return None;
    }
    let lines: Vec<&str> = body.split_inclusive('\n').collect();
    let mut values: Vec<Option<Value>> =
        lines.iter().map(|line| json::read(data(line)?.trim()).ok()).collect();
    let mut places: BTreeMap<String, Vec<Part>> = BTreeMap::new();
    for (line, value) in values.iter().enumerate() {
        let mut gather = |place: &str, text: &str| {
            let part = Part { line, text: text.to_owned() };
            places.entry(place.to_owned()).or_default().push(part);
        };
        if let Some(value) = value {
            walk(value, &mut String::new(), &mut gather);
        }
    }
    let mut cleaned: BTreeMap<(usize, String), String> = BTreeMap::new();
    for (place, parts) in places.into_iter().filter(|(_, parts)| parts.len() > 1) {
        let joined: String = parts.iter().map(|part| part.text.as_str()).collect();
        let secrets = redactor.found(joined.as_bytes());
        if secrets.is_empty() {
            continue;
        }
        let mut at = 0;
        for part in parts {
            let (from, to) = (at, at + part.text.len());
            at = to;
            let (mut text, mut kept) = (String::new(), from);
            for secret in secrets.iter().filter(|secret| secret.start < to && secret.end > from) {
                text.push_str(joined.get(kept..secret.start.max(kept)).unwrap_or_default());
                // The mark goes into the event in which the secret begins.
                text.push_str(if secret.start >= from { MARK } else { "" });
                kept = secret.end.min(to);
            }
            text.push_str(joined.get(kept..to).unwrap_or_default());
            if text != part.text {
                cleaned.insert((part.line, place.clone()), text);
            }
        }
    }
    if cleaned.is_empty() {
        return None;
    }
    let mut clean = String::with_capacity(body.len());
    for (at, line) in lines.iter().enumerate() {
        let is_changed =
            cleaned.range((at, String::new())..).next().is_some_and(|((line, _), _)| *line == at);
        match values[at].take().filter(|_| is_changed) {
            None => clean.push_str(line),
            Some(value) => {
                let value = replace(value, &mut String::new(), &|place| {
                    cleaned.get(&(at, place.to_owned())).cloned()
                });
                let end = &line[line.trim_end_matches(['\r', '\n']).len()..];
                let _ = write!(clean, "data: {}{end}", json::write(&value, false));
            }
        }
    }
    Some(clean)
}

/// Returns the data of a line of a stream.
fn data(line: &str) -> Option<&str> {
    line.strip_prefix("data:")
}

/// Calls `give` with every text of a value and its path. A map with an `index` contributes it to
/// the path.
fn walk(value: &Value, place: &mut String, give: &mut impl FnMut(&str, &str)) {
    let depth = place.len();
    match value {
        Value::Text(text) => give(place, text),
        Value::List(items) => {
            for (at, item) in items.iter().enumerate() {
                let _ = write!(place, "/{at}");
                walk(item, place, give);
                place.truncate(depth);
            }
        }
        Value::Map(entries) => {
            let index = own_index(value);
            for (key, item) in entries {
                let _ = write!(place, "{index}/{}", key.text().unwrap_or_default());
                walk(item, place, give);
                place.truncate(depth);
            }
        }
        _ => {}
    }
}

/// Returns the value with the texts at some paths replaced.
fn replace(value: Value, place: &mut String, by: &impl Fn(&str) -> Option<String>) -> Value {
    let depth = place.len();
    let index = own_index(&value);
    match value {
        Value::Text(text) => Value::Text(by(place).unwrap_or(text)),
        Value::List(items) => {
            let items = items.into_iter().enumerate().map(|(at, item)| {
                let _ = write!(place, "/{at}");
                let item = replace(item, place, by);
                place.truncate(depth);
                item
            });
            Value::List(items.collect())
        }
        Value::Map(entries) => {
            let entries = entries.into_iter().map(|(key, item)| {
                let _ = write!(place, "{index}/{}", key.text().unwrap_or_default());
                let item = replace(item, place, by);
                place.truncate(depth);
                (key, item)
            });
            Value::Map(entries.collect())
        }
        other => other,
    }
}

fn own_index(value: &Value) -> String {
    match value.get("index") {
        Some(Value::Number(index)) => format!("#{index}"),
        _ => String::new(),
    }
}
