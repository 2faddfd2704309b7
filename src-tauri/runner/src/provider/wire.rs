//! **Pure.** What the codecs have in common: building JSON, reading a body, and ids that are unique
//! on the wire. Owns the rule of what a body is that cannot be read; knows no provider.
use super::fault::{self, Who};
use super::{Auth, Fault, FaultKind, HttpReply, HttpRequest};
use crate::spec::Model;
use crate::talk::Turn;
use std::collections::HashSet;
use touchstone_formats::ReadErrorKind;
use touchstone_formats::json;
use touchstone_formats::value::Value;

/// A map of these keys, in this order.
pub(super) fn map<const N: usize>(entries: [(&str, Value); N]) -> Value {
    Value::Map(entries.into_iter().map(|(key, value)| (Value::from(key), value)).collect())
}

/// Adds a key to a map; nothing happens to anything else.
pub(super) fn put(map: &mut Value, key: &str, value: Value) {
    if let Value::Map(entries) = map {
        entries.push((Value::from(key), value));
    }
}

/// A whole number.
pub(super) fn whole(number: u64) -> Value {
    Value::Number(number.to_string())
}

/// The highest count that is believed. No reply takes a trillion tokens, and sums of what is
/// believed never overflow.
const HIGHEST_COUNT: u64 = 1_000_000_000_000;

/// Returns a whole number from 0 to [`HIGHEST_COUNT`]; any other value counts as not stated.
pub(super) fn count(value: Option<&Value>) -> Option<u64> {
    match value {
        Some(Value::Number(text)) => text.parse().ok().filter(|count| *count <= HIGHEST_COUNT),
        _ => None,
    }
}

/// The text of a key, unless it is blank.
pub(super) fn words<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key).and_then(Value::text).filter(|text| !text.trim().is_empty())
}

/// How many bytes of text an event of a stream adds: what lies in a `delta` and is no sign of the
/// wire.
pub(super) fn said(event: &Value) -> usize {
    fn texts(value: &Value) -> usize {
        match value {
            Value::Text(text) => text.len(),
            Value::List(items) => items.iter().map(texts).sum(),
            Value::Map(entries) => {
                let said = entries.iter().filter(|(key, _)| {
                    !matches!(
                        key.text(),
                        Some("type" | "role" | "id" | "signature" | "stop_reason")
                    )
                });
                said.map(|(_, value)| texts(value)).sum()
            }
            _ => 0,
        }
    }
    match event {
        Value::List(items) => items.iter().map(said).sum(),
        Value::Map(entries) => {
            let each = |(key, value): &(Value, Value)| {
                if key.text() == Some("delta") { texts(value) } else { said(value) }
            };
            entries.iter().map(each).sum()
        }
        _ => 0,
    }
}

/// A setting that is `true` or `false`.
pub(super) fn switched(model: &Model, name: &str) -> bool {
    matches!(model.setting(name), Some(Value::Bool(true)))
}

/// Minutes are enough for most models; those that think take up to an hour.
pub(super) fn patience(slow: bool) -> u64 {
    if slow { 3600 } else { 600 }
}

/// A request with a JSON body.
pub(super) fn request(
    url: String,
    extra: &[(&str, &str)],
    auth: Auth,
    body: &Value,
) -> HttpRequest {
    let stream = matches!(body.get("stream"), Some(Value::Bool(true)));
    let accept = if stream { "text/event-stream" } else { "application/json" };
    let own = [("content-type", "application/json"), ("accept", accept)];
    let headers = own
        .iter()
        .chain(extra)
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    HttpRequest {
        url,
        headers,
        auth,
        body: json::write(body, false).into_bytes(),
        stream,
        patience: patience(false),
    }
}

/// Ids of the calls of every turn as they go over the wire: unique in the conversation, and of
/// letters that the provider takes. The same conversation always gives the same ids.
pub(super) fn ids(turns: &[Turn], fits: fn(&str) -> bool) -> Vec<Vec<String>> {
    let mut seen = HashSet::new();
    turns
        .iter()
        .map(|turn| match turn {
            Turn::User(_) => Vec::new(),
            Turn::Assistant(said) => {
                said.calls.iter().map(|call| fresh(&mut seen, &call.id, fits)).collect()
            }
        })
        .collect()
}

/// This id, or one like it that was not seen before.
pub(super) fn fresh(seen: &mut HashSet<String>, id: &str, fits: fn(&str) -> bool) -> String {
    let stem = if fits(id) { id } else { "call" };
    let later = (2..).map(|number| format!("{stem}_{number}"));
    let unused = std::iter::once(stem.to_owned())
        .chain(later)
        .find(|id| !seen.contains(id))
        .unwrap_or_default();
    seen.insert(unused.clone());
    unused
}

/// True when a body is a stream of events, whatever its headers say.
pub(super) fn is_stream(reply: &HttpReply) -> bool {
    let body = reply.body.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&reply.body).trim_ascii_start();
    let starts = ["data:", "event:", ":", "id:", "retry:"];
    if body.starts_with(b"{") || body.starts_with(b"<") {
        return false;
    }
    reply.header("content-type").is_some_and(|kind| kind.contains("event-stream"))
        || starts.iter().any(|start| body.starts_with(start.as_bytes()))
}

/// The JSON object that a body of status 2xx holds. A body that ends in the middle is truncated;
/// one that is no JSON at all may be a hiccup of whatever stands between, and is asked for again; a
/// page for people means that the address is wrong.
pub(super) fn object(who: Who, reply: &HttpReply) -> Result<Value, Fault> {
    let value = value(who, reply.status, &reply.body)?;
    if value.get("error").is_some_and(|error| *error != Value::Null) {
        return Err(fault::inside(who, reply.status, &value));
    }
    Ok(value)
}

/// The JSON object that this text holds.
pub(super) fn value(who: Who, status: u16, body: &[u8]) -> Result<Value, Fault> {
    let fault = |kind, message: String| Fault { kind, message, status: Some(status) };
    let cut = || fault(FaultKind::Truncated, format!("The reply of {who} ends in the middle."));
    let text = match std::str::from_utf8(body) {
        Ok(text) => text.trim_start_matches('\u{feff}').trim(),
        // Only a last letter that is cut has no length of its error.
        Err(error) if error.error_len().is_none() => return Err(cut()),
        Err(_) => {
            return Err(fault(
                FaultKind::Passing,
                format!("The reply of {who} is not UTF-8 text."),
            ));
        }
    };
    if text.starts_with('<') {
        let page = fault::quoted(text);
        let who = fault::at_the_beginning(who);
        let message = format!(
            "{who} answered with a page for people instead of JSON ({page}); check its `base_url`."
        );
        return Err(fault(FaultKind::Refused, message));
    }
    let read = json::read(text).or_else(|error| match error.kind {
        // What stands twice is read as its first, for the reply was paid for.
        ReadErrorKind::Duplicate => json::embedded(text).ok_or(error),
        _ => Err(error),
    });
    match read {
        Ok(value @ Value::Map(_)) => Ok(value),
        Ok(_) => {
            Err(fault(FaultKind::Passing, format!("The reply of {who} is JSON, but no object.")))
        }
        Err(error) if error.kind == ReadErrorKind::Truncated => Err(cut()),
        // An object that was cut inside `null` or an escape is no JSON, but it does not end as one
        // does either.
        Err(_) if text.starts_with('{') && !text.ends_with('}') => Err(cut()),
        Err(error) => Err(match error.kind {
            ReadErrorKind::TooDeep | ReadErrorKind::TooLarge => fault(
                FaultKind::Refused,
                format!("The reply of {who} cannot be read: {}", error.message),
            ),
            _ => fault(
                FaultKind::Passing,
                format!("The reply of {who} is no JSON: {}", error.message),
            ),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_that_no_reply_can_have_counts_as_not_stated() {
        for (text, count_of) in [
            ("0", Some(0)),
            ("1000000000000", Some(1_000_000_000_000)),
            ("1000000000001", None),
            ("18446744073709551615", None),
            ("-1", None),
            ("1.5", None),
        ] {
            assert_eq!(count(Some(&Value::Number(text.to_owned()))), count_of, "{text}");
        }
        assert_eq!(count(None), None);
    }
}
