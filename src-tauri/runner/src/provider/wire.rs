//! **Pure.** Helpers shared by the codecs: building JSON, parsing bodies, and ids that are unique
//! in a request. Owns the classification of bodies that cannot be parsed; knows no provider.
use super::fault::{self, Service};
use super::{Auth, Fault, FaultKind, HttpReply, HttpRequest};
use crate::conversation::Turn;
use crate::spec::Model;
use std::collections::HashSet;
use touchstone_model::error::ReadErrorKind;
use touchstone_model::json;
use touchstone_model::value::Value;

/// Builds a map with these keys, in this order.
pub(super) fn map<const N: usize>(entries: [(&str, Value); N]) -> Value {
    Value::Map(entries.into_iter().map(|(key, value)| (Value::from(key), value)).collect())
}

/// Appends a key to a map; does nothing to other values.
pub(super) fn put(map: &mut Value, key: &str, value: Value) {
    if let Value::Map(entries) = map {
        entries.push((Value::from(key), value));
    }
}

/// Converts a whole number to a value.
pub(super) fn int_value(number: u64) -> Value {
    Value::Number(number.to_string())
}

/// Highest token count that is accepted. No reply has a trillion tokens, and sums of accepted
/// counts never overflow.
const HIGHEST_COUNT: u64 = 1_000_000_000_000;

/// Returns a whole number from 0 to [`HIGHEST_COUNT`]; any other value counts as not stated.
pub(super) fn count(value: Option<&Value>) -> Option<u64> {
    match value {
        Some(Value::Number(text)) => text.parse().ok().filter(|count| *count <= HIGHEST_COUNT),
        _ => None,
    }
}

/// Returns the text of a key, unless it is blank.
pub(super) fn words<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key).and_then(Value::text).filter(|text| !text.trim().is_empty())
}

/// Returns the number of bytes of text in the `delta` fields of a stream event, without those of
/// protocol fields such as ids.
pub(super) fn text_bytes(event: &Value) -> usize {
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
        Value::List(items) => items.iter().map(text_bytes).sum(),
        Value::Map(entries) => {
            let each = |(key, value): &(Value, Value)| {
                if key.text() == Some("delta") { texts(value) } else { text_bytes(value) }
            };
            entries.iter().map(each).sum()
        }
        _ => 0,
    }
}

/// Returns true if a boolean setting is `true`.
pub(super) fn switched(model: &Model, name: &str) -> bool {
    matches!(model.setting(name), Some(Value::Bool(true)))
}

/// Returns the timeout in seconds: ten minutes for most models, an hour for those that think.
pub(super) fn patience(slow: bool) -> u64 {
    if slow { 3600 } else { 600 }
}

/// Builds a request with a JSON body.
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

/// Returns the call ids of every turn for the request: unique in the conversation, and of the form
/// that the provider accepts. The same conversation always gives the same ids.
pub(super) fn ids(turns: &[Turn], fits: fn(&str) -> bool) -> Vec<Vec<String>> {
    let mut seen = HashSet::new();
    turns
        .iter()
        .map(|turn| match turn {
            Turn::User(_) => Vec::new(),
            Turn::Assistant(said) => {
                said.calls.iter().map(|call| unique_id(&mut seen, &call.id, fits)).collect()
            }
        })
        .collect()
}

/// Returns this id, or a numbered variant if it was used before or is not accepted.
pub(super) fn unique_id(seen: &mut HashSet<String>, id: &str, fits: fn(&str) -> bool) -> String {
    let stem = if fits(id) { id } else { "call" };
    let later = (2..).map(|number| format!("{stem}_{number}"));
    let unused = std::iter::once(stem.to_owned())
        .chain(later)
        .find(|id| !seen.contains(id))
        .unwrap_or_default();
    seen.insert(unused.clone());
    unused
}

/// Returns true if a body is an event stream, whatever its headers say.
pub(super) fn is_stream(reply: &HttpReply) -> bool {
    let body = reply.body.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&reply.body).trim_ascii_start();
    let starts = ["data:", "event:", ":", "id:", "retry:"];
    if body.starts_with(b"{") || body.starts_with(b"<") {
        return false;
    }
    reply.header("content-type").is_some_and(|kind| kind.contains("event-stream"))
        || starts.iter().any(|start| body.starts_with(start.as_bytes()))
}

/// Parses the JSON object in a body of status 2xx. A body that ends early is truncated. A body that
/// is not JSON may be a glitch of a proxy and is retried. An HTML page means that the address is
/// wrong.
pub(super) fn object(who: Service, reply: &HttpReply) -> Result<Value, Fault> {
    let value = value(who, reply.status, &reply.body)?;
    if value.get("error").is_some_and(|error| *error != Value::Null) {
        return Err(fault::fault_from_body(who, reply.status, &value));
    }
    Ok(value)
}

/// Parses the JSON object in this text.
pub(super) fn value(who: Service, status: u16, body: &[u8]) -> Result<Value, Fault> {
    let fault = |kind, message: String| Fault { kind, message, status: Some(status) };
    let cut = || fault(FaultKind::Truncated, format!("The reply of {who} ends in the middle."));
    let text = match std::str::from_utf8(body) {
        Ok(text) => text.trim_start_matches('\u{feff}').trim(),
        // Only an incomplete last character gives an error without a length.
        Err(error) if error.error_len().is_none() => return Err(cut()),
        Err(_) => {
            return Err(fault(
                FaultKind::Passing,
                format!("The reply of {who} is not UTF-8 text."),
            ));
        }
    };
    if text.starts_with('<') {
        let page = fault::sanitize(text);
        let who = fault::at_the_beginning(who);
        let message = format!(
            "{who} answered with a page for people instead of JSON ({page}); check its `base_url`."
        );
        return Err(fault(FaultKind::Refused, message));
    }
    let read = json::read(text).or_else(|error| match error.kind {
        // For duplicate keys the first value is used, because the reply has been paid for.
        ReadErrorKind::Duplicate => json::embedded(text).ok_or(error),
        _ => Err(error),
    });
    match read {
        Ok(value @ Value::Map(_)) => Ok(value),
        Ok(_) => {
            Err(fault(FaultKind::Passing, format!("The reply of {who} is JSON, but no object.")))
        }
        Err(error) if error.kind == ReadErrorKind::Truncated => Err(cut()),
        // An object that was cut inside `null` or an escape is a syntax error rather than
        // truncated, but does not end in `}`.
        Err(_) if text.starts_with('{') && !text.ends_with('}') => Err(cut()),
        Err(error) => Err(match error.kind {
            ReadErrorKind::TooDeep | ReadErrorKind::TooLarge => fault(
                FaultKind::Refused,
                format!("The reply of {who} cannot be read: {}", error.message),
            ),
            _ => fault(
                FaultKind::Passing,
                format!("The reply of {who} is not JSON: {}", error.message),
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
