//! **Pure.** Short reason of a failed run. Errors are plain texts, replies of a provider, or
//! tracebacks of a program.
use touchstone_model::json;
use touchstone_model::node::{Node, Shape};
use touchstone_model::value::Value;

/// Maximum length of a reason, in characters.
const REASON: usize = 200;

/// Keys with the message in providers' replies, best first.
const SAID: [&str; 8] =
    ["message", "detail", "error", "reason", "error_message", "body", "text", "title"];

/// Returns the message of an error, with its status if there is one.
pub(super) fn describe_error<'t, N: Node<'t>>(error: N) -> Option<String> {
    let text = error_message(error)?;
    let status = ["status", "status_code", "code"].iter().find_map(|key| error.get(key)?.word());
    Some(match status.filter(|status| !text.contains(status)) {
        Some(status) => format!("{text} (status {status})"),
        None => text,
    })
}

fn error_message<'t, N: Node<'t>>(error: N) -> Option<String> {
    match error.shape() {
        Shape::Map => SAID.iter().find_map(|key| error_message(error.get_non_null(key)?)),
        Shape::List => error.items().next().and_then(error_message),
        Shape::Scalar(_) => {
            let text = error.text()?;
            let inside =
                json::embedded(text).as_ref().and_then(|value: &Value| error_message(value));
            inside.or_else(|| {
                if text.starts_with("Traceback (") { last_line(text) } else { first_line(text) }
            })
        }
    }
}

/// Returns the first line that is not blank, cut when it is long.
pub(super) fn first_line(text: &str) -> Option<String> {
    text.lines().find_map(cut)
}

/// Returns the last line of a traceback, which has the message.
fn last_line(text: &str) -> Option<String> {
    text.lines().rev().find_map(cut)
}

fn cut(line: &str) -> Option<String> {
    let line = line.trim();
    (!line.is_empty()).then(|| line.chars().take(REASON).collect())
}
