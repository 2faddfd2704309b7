//! **Pure.** Decides if a reply of an API should be kept: by the exact rules of the original, or
//! without its false alarms. Also recognizes texts that report a failure.
use super::python_json::Py;

/// Rules for judging a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Rules {
    /// Rules that the original applies before it falls back to a simulator.
    #[default]
    Compat,
    /// Rules of the original's simulator servers, which lack one of the words.
    CompatMirror,
    /// Words count only in places where failures are reported.
    Strict,
}

/// Parts of texts for which the original rejects a reply, in lower case.
const REJECTED: [&str; 22] = [
    "rate limit",
    "time out",
    "timed out",
    "does not exist",
    "404",
    "504",
    "500",
    "internal error",
    "authoriz",
    "authenticat",
    "unauthorized",
    "blocked",
    "unsubscribe",
    "401",
    "403",
    "credential",
    "unauthenticated",
    "disabled for your subscription",
    "invalid consumer key",
    "parameter",
    "parse",
    "is not defined",
];
/// Further parts, compared case-sensitively.
const REJECTED_EXACTLY: [&str; 4] =
    ["Service Not Found", "ACCESS_DENIED", "status_code=50", "status_code=429"];

/// Returns true if a reply should be kept.
pub fn accepts(reply: &Py, rules: Rules) -> bool {
    let (Some(error), Some(response)) = (reply.get("error"), reply.get("response")) else {
        return false;
    };
    if error.text().as_deref() != Some("") {
        return false;
    }
    let text = response.str();
    if rules == Rules::Strict {
        return !text.is_empty() && !fails(response);
    }
    if text.to_lowercase().contains("got an unexpected keyword argument") {
        return true;
    }
    let small = text.to_lowercase();
    let known =
        REJECTED.iter().filter(|word| rules == Rules::Compat || **word != "invalid consumer key");
    !text.is_empty()
        && !known.into_iter().any(|word| small.contains(word))
        && !REJECTED_EXACTLY.iter().any(|word| text.contains(word))
        && text != r#"{'message': "API doesn't exists"}"#
}

/// Maximum length of a failure message, in characters. Longer texts are content.
const LONGEST_MESSAGE: usize = 300;
/// Keys under which failures are reported.
const TOLD: [&str; 9] = [
    "message",
    "messages",
    "msg",
    "detail",
    "details",
    "reason",
    "description",
    "error_description",
    "error_message",
];
/// Phrases that report a failure, matched as whole words.
const FAILURES: [&str; 40] = [
    "rate limit",
    "rate limited",
    "rate limiting",
    "too many requests",
    "exceeded the monthly quota",
    "you have exceeded",
    "time out",
    "timed out",
    "timeout",
    "does not exist",
    "doesn't exist",
    "doesn't exists",
    "internal error",
    "internal server error",
    "service not found",
    "page not found",
    "endpoint not found",
    "service unavailable",
    "bad gateway",
    "bad request",
    "unauthorized",
    "unauthorised",
    "unauthenticated",
    "not authorized",
    "not authenticated",
    "authorization required",
    "authentication required",
    "authorization failed",
    "authentication failed",
    "access denied",
    "access_denied",
    "forbidden",
    "blocked user",
    "not subscribed",
    "disabled for your subscription",
    "invalid consumer key",
    "invalid api key",
    "invalid credentials",
    "is not defined",
    "api not working",
];
/// Words that report a failure in combination with "parameter".
const LACKS: [&str; 5] = ["missing", "invalid", "required", "unknown", "unexpected"];

/// Returns true if a response reports a failure in a place where failures are reported.
fn fails(response: &Py) -> bool {
    match response {
        Py::Text(codes) => {
            let text = codes.to_display_text();
            match super::python_json::read(&text) {
                Ok(inner @ (Py::Map(_) | Py::List(_))) => fails(&inner),
                _ => says_failure(&text),
            }
        }
        Py::Map(entries) => {
            let about = |key: &str, value: &Py| match key.to_ascii_lowercase().as_str() {
                "error" | "errors" => has_error_value(value),
                "success" | "ok" => *value == Py::Bool(false),
                "status" | "statuscode" | "status_code" | "code" | "httpcode" => {
                    is_bad_status(value)
                }
                // Next to other content, a message is about that content.
                key if TOLD.contains(&key) && entries.len() <= 4 => {
                    value.text().is_some_and(|text| says_failure(&text))
                }
                _ => false,
            };
            entries.iter().any(|(key, value)| about(&key.to_display_text(), value))
        }
        _ => false,
    }
}

/// Returns true if the value under an error key is not empty.
fn has_error_value(value: &Py) -> bool {
    match value {
        Py::Null => false,
        Py::Bool(there) => *there,
        Py::Number(text) => text.parse::<f64>().is_ok_and(|number| number != 0.0),
        Py::Text(codes) => {
            !matches!(codes.to_display_text().trim(), "" | "0" | "null" | "none" | "None" | "false")
        }
        Py::List(items) => !items.is_empty(),
        Py::Map(entries) => !entries.is_empty(),
    }
}

fn is_bad_status(value: &Py) -> bool {
    let text = match value {
        Py::Number(text) => text.clone(),
        Py::Text(codes) => codes.to_display_text(),
        _ => return false,
    };
    matches!(text.to_ascii_lowercase().as_str(), "error" | "fail" | "failed" | "failure")
        || text.parse::<u16>().is_ok_and(|status| (400..600).contains(&status))
}

fn says_failure(text: &str) -> bool {
    let text = text.trim().to_lowercase();
    if text.chars().count() > LONGEST_MESSAGE {
        return false;
    }
    let whole = |word: &str| has_word(&text, word);
    // The tool exists and gave this message: the call is wrong, which is useful information.
    if text.contains("got an unexpected keyword argument") {
        return false;
    }
    FAILURES.iter().any(|word| whole(word))
        || ((whole("parameter") || whole("parameters")) && LACKS.iter().any(|word| whole(word)))
        || (whole("parse")
            && ["could not", "cannot", "can't", "failed to", "unable to"]
                .iter()
                .any(|word| whole(word)))
        || (whole("parse error") || whole("unsubscribed"))
        || names_status(&text)
}

/// Returns true for `HTTP 504`, `status_code=502`, `error 404`, `404 not found`, or the number
/// alone.
fn names_status(text: &str) -> bool {
    let words: Vec<&str> =
        text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let is_bad = |word: &str| {
        word.len() == 3 && word.parse::<u16>().is_ok_and(|status| (400..600).contains(&status))
    };
    let before = ["http", "status", "code", "error", "statuscode"];
    let after = [
        "not",
        "forbidden",
        "unauthorized",
        "bad",
        "internal",
        "gateway",
        "service",
        "error",
        "client",
        "server",
    ];
    words.iter().enumerate().any(|(at, word)| {
        let near = |at: Option<usize>, known: &[&str]| {
            at.and_then(|at| words.get(at)).is_some_and(|w| known.contains(w))
        };
        is_bad(word)
            && (words.len() == 1
                || near(at.checked_sub(1), &before)
                || (at == 0 && near(Some(1), &after)))
    })
}

/// Returns true if a text contains a phrase as whole words.
fn has_word(text: &str, word: &str) -> bool {
    let outside = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
    text.match_indices(word).any(|(at, _)| {
        outside(text[..at].chars().next_back()) && outside(text[at + word.len()..].chars().next())
    })
}

#[cfg(test)]
mod tests {
    use super::super::python_json;
    use super::*;

    fn judged(response: &str, rules: Rules) -> bool {
        let response = Py::from(response);
        accepts(&Py::Map(vec![("error".into(), "".into()), ("response".into(), response)]), rules)
    }

    #[test]
    fn strict_rules_have_none_of_the_false_alarms() {
        for content in [
            "price 1500",
            "The price is 1500 USD, order 404-88.",
            "a sparse matrix",
            "parameters of the orbit: a = 1",
            "the authorized dealer",
            "an authentic painting, authenticated in 1950",
            "unsubscribe at any time",
            "He was blocked at the 500 m line",
            r#"{"price": 500, "stock": 404}"#,
            r#"{"results": [{"title": "The API does not exist"}], "total": 1}"#,
            r#"{"error": null, "items": []}"#,
            r#"{"errors": [], "status": "ok", "code": 200}"#,
            "f() got an unexpected keyword argument 'a' 500",
        ] {
            assert!(judged(content, Rules::Strict), "{content}");
        }
        assert!(!judged("a sparse matrix", Rules::Compat) && !judged("price 1500", Rules::Compat));
    }

    #[test]
    fn strict_rules_find_failures_where_they_are_told() {
        for failure in [
            "",
            "Rate limit exceeded",
            "The request timed out.",
            "404 Not Found",
            "HTTP 504",
            "Response error: status_code=502",
            "404",
            "unauthorized",
            "missing parameter: q",
            "failed to parse the input",
            "x is not defined",
            "Service not found",
            r#"{"message": "API doesn't exists"}"#,
            r#"{"message": "You are not subscribed to this API."}"#,
            r#"{"error": "bad key"}"#,
            r#"{"status": 500, "message": "oops"}"#,
            r#"{"success": false, "data": null}"#,
        ] {
            assert!(!judged(failure, Rules::Strict), "{failure}");
        }
    }

    #[test]
    fn a_reply_needs_an_empty_error_and_a_response() {
        for (reply, accepted) in [
            (r#"{"error":"","response":[]}"#, true),
            (r#"{"error":"","response":null}"#, true),
            (r#"{"error":null,"response":"x"}"#, false),
            (r#"{"error":0,"response":"x"}"#, false),
            (r#"{"error":""}"#, false),
            (r#"{"response":"x"}"#, false),
            ("[1,2]", false),
        ] {
            for rules in [Rules::Compat, Rules::CompatMirror, Rules::Strict] {
                assert_eq!(accepts(&python_json::read(reply).unwrap(), rules), accepted, "{reply}");
            }
        }
        assert!(
            judged("Invalid Consumer Key", Rules::CompatMirror)
                && !judged("Invalid Consumer Key", Rules::Compat)
        );
    }
}
