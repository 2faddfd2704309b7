//! **Pure.** Classifies provider errors by HTTP status and error body. Owns the wording of the
//! messages and keeps API keys out of them; the retry policy is elsewhere.
use super::{Fault, FaultKind, HttpReply};
use regex::Regex;
use std::fmt;
use std::sync::LazyLock;
use touchstone_model::json;
use touchstone_model::value::Value;

/// Maximum number of bytes of a provider's own message to keep.
const WORDS: usize = 4096;
/// Maximum number of bytes of a body to search for that message.
const LOOKED_AT: usize = 64 * 1024;

/// Patterns of keys and tokens. Providers repeat parts of a wrong key in their messages.
static KEYS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let shapes = [
        r"\b(?:sk|pk|rk|key|pql)-[A-Za-z0-9_*.\-]{4,}",
        r"\bBearer\s+[^\s,;]{4,}",
        r"\bgh[a-z]_[A-Za-z0-9]{8,}",
        r"\bAIza[A-Za-z0-9_\-]{8,}",
        r"\beyJ[A-Za-z0-9_\-]{8,}(?:\.[A-Za-z0-9_\-]+)*",
        r"\b(?:AKIA|xai-|gsk_|hf_)[A-Za-z0-9_\-]{8,}",
        r"[A-Za-z0-9_\-]*\*{4,}[A-Za-z0-9_\-]*",
    ];
    Regex::new(&format!("(?i:{})", shapes.join("|"))).ok()
});

/// The service that an error message names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Service {
    Anthropic,
    /// `OpenAI` itself or any compatible server.
    OpenAi,
    PromptQl,
}

impl fmt::Display for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Service::Anthropic => "the Anthropic API",
            Service::OpenAi => "the model server",
            Service::PromptQl => "PromptQL",
        })
    }
}

/// Error details from a provider's response.
#[derive(Debug, Default)]
struct ErrorDetails {
    /// Identifiers of the error: type, code, status, and the code inside `details`.
    names: Vec<String>,
    words: String,
}

/// Returns the fault for a response whose status is not 2xx.
pub(super) fn fault_from_reply(who: Service, reply: &HttpReply) -> Fault {
    let head = &reply.body[..reply.body.len().min(LOOKED_AT)];
    let text = String::from_utf8_lossy(head);
    let said = match json::read(text.trim_start_matches('\u{feff}').trim()) {
        Ok(body) => parse_error_details(&body),
        Err(_) => ErrorDetails { names: Vec::new(), words: sanitize(&text) },
    };
    let kind = by_names(&said).unwrap_or_else(|| by_status(reply.status, &said));
    Fault { kind, message: sentence(who, kind, reply.status, &said), status: Some(reply.status) }
}

/// Returns the fault for an error in a body of status 2xx or in a stream event.
pub(super) fn fault_from_body(who: Service, status: u16, body: &Value) -> Fault {
    let said = parse_error_details(body);
    // Some gateways put the status of their upstream into the body as a number.
    let relayed = said
        .names
        .iter()
        .find_map(|name| name.parse::<u16>().ok())
        .filter(|code| (400..600).contains(code));
    let kind = by_names(&said)
        .or_else(|| relayed.map(|code| by_status(code, &said)))
        .unwrap_or_else(|| by_type(&said));
    Fault { kind, message: sentence(who, kind, status, &said), status: Some(status) }
}

/// Returns the fault for a stream that ended too early.
pub(super) fn truncated_stream(who: Service, status: u16, why: &str) -> Fault {
    Fault {
        kind: FaultKind::Truncated,
        message: format!("The stream of {who} {why}"),
        status: Some(status),
    }
}

fn parse_error_details(body: &Value) -> ErrorDetails {
    let error = body.get("error").filter(|error| **error != Value::Null).unwrap_or(body);
    if let Value::Text(words) = error {
        return ErrorDetails { names: Vec::new(), words: sanitize(words) };
    }
    let details = error.get("details").unwrap_or(&Value::Null);
    let names =
        [error.get("type"), error.get("code"), error.get("status"), details.get("error_code")];
    let names = names.into_iter().flatten().filter_map(|name| match name {
        Value::Text(text) | Value::Number(text) if !text.is_empty() && text.len() <= 80 => {
            Some(sanitize(text))
        }
        _ => None,
    });
    let words = error
        .get("message")
        .or_else(|| error.get("detail"))
        .or_else(|| error.get("error_description"));
    let words = match words {
        Some(Value::Text(text)) => sanitize(text),
        Some(Value::Null) | None => sanitize(&json::write(body, false)),
        Some(other) => sanitize(&json::write(other, false)),
    };
    ErrorDetails { names: names.collect(), words }
}

/// Classifies by the provider's error identifiers and message, whatever the status is. Returns
/// `None` if they are not conclusive.
fn by_names(said: &ErrorDetails) -> Option<FaultKind> {
    let named = |known: &[&str]| said.names.iter().any(|name| known.contains(&name.as_str()));
    let words = said.words.to_lowercase();
    if named(&EXHAUSTED) || words.contains("credit balance is too low") {
        Some(FaultKind::Exhausted)
    } else if named(&[
        "authentication_error",
        "invalid_api_key",
        "missing_api_key",
        "invalid_authentication",
    ]) || (named(&["permission_error"]) && words.contains("key"))
    {
        Some(FaultKind::Key)
    } else if words.contains("not valid json") && words.contains("unexpected end of data") {
        // Anthropic answers 400 when the request was cut in transit.
        Some(FaultKind::Passing)
    } else {
        None
    }
}

/// Classifies an error without a status: most errors in the middle of a reply are transient.
fn by_type(said: &ErrorDetails) -> FaultKind {
    let lasting = |name: &String| LASTING.contains(&name.as_str());
    if said.names.iter().any(lasting) { FaultKind::Refused } else { FaultKind::Passing }
}

const EXHAUSTED: [&str; 7] = [
    "insufficient_quota",
    "credit_balance_exhausted",
    "enforced_spend_limit_reached",
    "billing_error",
    "billing_hard_limit_reached",
    "billing_not_active",
    "insufficient_credits",
];

const LASTING: [&str; 5] = [
    "invalid_request_error",
    "not_found_error",
    "request_too_large",
    "permission_error",
    "model_not_found",
];

fn by_status(status: u16, said: &ErrorDetails) -> FaultKind {
    match status {
        401 => FaultKind::Key,
        402 => FaultKind::Exhausted,
        403 if said.words.to_lowercase().contains("api key") => FaultKind::Key,
        // A status below 200 cannot carry a reply.
        ..200 | 408 | 409 | 425 | 429 | 500.. => FaultKind::Passing,
        _ => FaultKind::Refused,
    }
}

/// Returns the service name with an upper-case first letter, for the beginning of a sentence.
pub(super) fn at_the_beginning(who: Service) -> String {
    let mut name = who.to_string();
    if let Some(first) = name.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    name
}

fn sentence(who: Service, kind: FaultKind, status: u16, said: &ErrorDetails) -> String {
    let name = at_the_beginning(who);
    let what = match kind {
        FaultKind::Passing | FaultKind::Truncated => "could not answer this time",
        FaultKind::Refused if (300..400).contains(&status) => {
            "redirects elsewhere, which is not followed (check its `base_url`)"
        }
        FaultKind::Refused => "refused the request",
        FaultKind::Exhausted => {
            "reports that money or quota is used up (raise the limit there, then continue)"
        }
        FaultKind::Key => "rejects the key (fix it, then continue)",
    };
    let names = said.names.iter().flat_map(|name| [", ", name]).collect::<String>();
    let words = if said.words.is_empty() { "no reason was given" } else { said.words.as_str() };
    let end = if words.ends_with(['.', '!', '?', '…']) { "" } else { "." };
    format!("{name} {what}, status {status}{names}: {words}{end}")
}

/// Makes text from a provider safe to quote: one line, without keys or markup, and at most
/// [`WORDS`] bytes long.
pub(super) fn sanitize(text: &str) -> String {
    let text = &text[..text.floor_char_boundary(LOOKED_AT)];
    let text = if text.trim_start().starts_with('<') { title(text) } else { text };
    let line = text.split(|letter: char| letter.is_whitespace() || letter.is_control());
    let line = line.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    // Without the patterns keys cannot be recognized, and the whole text is dropped.
    let Some(keys) = KEYS.as_ref() else { return String::new() };
    let line = keys.replace_all(&line, "[key]");
    if line.len() <= WORDS {
        return line.into_owned();
    }
    format!("{}…", &line[..line.floor_char_boundary(WORDS)])
}

/// Returns the title of an HTML page.
fn title(page: &str) -> &str {
    let lower = page.to_ascii_lowercase();
    let inside = lower.find("<title>").map(|at| at + "<title>".len()).and_then(|from| {
        let to = lower[from..].find("</title>")? + from;
        page.get(from..to)
    });
    inside.unwrap_or("a web page")
}
