//! **Pure.** The answer that a model wrote into its messages.
use crate::json;
use crate::run::Answer;
use crate::value::Value;

/// The last ```` ```json ```` fence of the last message, else of the latest message that has one; else, when the suite names a
/// tag, the text inside the last `<tag>…</tag>`, as JSON when it is JSON. Strict JSON first, then what models write.
pub fn extract(messages: &[&str], result_tag_name: Option<&str>) -> Option<Answer> {
    let last = messages.len().checked_sub(1)?;
    let fenced = messages.iter().enumerate().rev().find_map(|(at, message)| {
        let (value, lenient) = parse(last_fence(message)?)?;
        let source = if at == last { "last ```json fence" } else { "```json fence of an earlier message" };
        Some(Answer { value, source: source.to_owned(), lenient })
    });
    fenced.or_else(|| {
        let tag = result_tag_name.filter(|tag| !tag.is_empty())?;
        messages.iter().rev().find_map(|message| {
            let inside = last_tag(message, tag)?.trim();
            let (value, lenient) = parse(inside).unwrap_or_else(|| (Value::from(inside), false));
            Some(Answer { value, source: format!("<{tag}>"), lenient })
        })
    })
}

/// JSON, and whether it had to be read leniently.
pub fn parse(text: &str) -> Option<(Value, bool)> {
    let text = text.trim();
    match json::read(text) {
        Ok(value) => Some((value, false)),
        Err(_) => json::read_leniently(text).ok().map(|value| (value, true)),
    }
}

/// What stands inside the last closed ```` ```json ```` fence; a fence at the very end may be open.
fn last_fence(message: &str) -> Option<&str> {
    let mut found = None;
    let mut start = None;
    let mut at = 0;
    for line in message.split_inclusive('\n') {
        let words = line.trim();
        match start {
            None if opens_json(words) => start = Some(at + line.len()),
            // A fence of another language hides what looks like a fence inside it.
            None if words.starts_with("```") && words.len() > 3 => start = Some(usize::MAX),
            Some(begin) if words == "```" => {
                found = message.get(begin..at).or(found);
                start = None;
            }
            _ => {}
        }
        at += line.len();
    }
    match start {
        Some(begin) => message.get(begin..).filter(|rest| json::read_leniently(rest).is_ok()).or(found),
        None => found,
    }
}

fn opens_json(words: &str) -> bool {
    words.strip_prefix("```").is_some_and(|rest| rest.trim().eq_ignore_ascii_case("json"))
}

fn last_tag<'a>(message: &'a str, tag: &str) -> Option<&'a str> {
    let (open, close) = (format!("<{tag}>"), format!("</{tag}>"));
    let end = message.rfind(&close)?;
    let start = message[..end].rfind(&open)? + open.len();
    message.get(start..end)
}
