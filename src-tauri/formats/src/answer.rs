//! **Pure.** The answer that a model wrote into its messages.
use crate::run::Answer;
use crate::value::Value;
use crate::{fences, json};

/// The last ```` ```json ```` fence of the last message, else of the latest message that has one;
/// else, when the suite names a tag, the text inside the last `<tag>…</tag>`, as JSON when it is
/// JSON. Strict JSON first, then what models write. A last fence that cannot be read is no answer;
/// what stands in fences before it was not meant.
pub fn extract(messages: &[&str], result_tag_name: Option<&str>) -> Option<Answer> {
    let last = messages.len().checked_sub(1)?;
    let inside = messages
        .iter()
        .enumerate()
        .rev()
        .find_map(|(at, message)| Some((at, fences::last_json(message)?)));
    let fenced = inside.and_then(|(at, text)| {
        let (value, lenient) = parse(text)?;
        let source =
            if at == last { "last ```json fence" } else { "```json fence of an earlier message" };
        Some(Answer { value, source: source.to_owned(), lenient })
    });
    fenced.or_else(|| {
        let tag = result_tag_name.filter(|tag| *tag != WHOLE_MESSAGE)?;
        messages.iter().rev().find_map(|message| in_tag(message, tag))
    })
}

/// Stands for the tag where all of the last message is the answer: queries of `StableToolBench` are
/// answered in words.
pub const WHOLE_MESSAGE: &str = "";

/// Where such an answer was found.
pub const LAST_MESSAGE: &str = "last message";

/// Where the answer stands of a conversation that came to its end and has none of its own.
#[derive(Debug, Clone, PartialEq)]
pub enum Place {
    /// Where it is found without knowing the task: in a fence, or nowhere.
    AsFound,
    /// In what the last call of `Finish` was given.
    Finish,
    /// In the last message.
    Said(Answer),
    /// Nowhere, whatever stands in fences.
    Nowhere,
}

/// Returns where the answer stands, for a task whose answers stand in this tag. A fence goes before
/// a tag. Queries of `StableToolBench` ([`WHOLE_MESSAGE`]) know no fences: what `Finish` was given
/// is their answer, else all of the last message, `said`.
pub fn place(tag: &str, said: &str, is_fenced: bool, ended: Ended) -> Place {
    if tag != WHOLE_MESSAGE {
        let found = if is_fenced { None } else { in_tag(said, tag) };
        return found.map_or(Place::AsFound, Place::Said);
    }
    match ended {
        Ended::Answered => Place::Finish,
        Ended::GaveUp => Place::Nowhere,
        Ended::Otherwise => in_tag(said, tag).map_or(Place::Nowhere, Place::Said),
    }
}

/// How the last call of `Finish` ended a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Ended {
    /// With an answer.
    Answered,
    /// It gave up.
    GaveUp,
    /// There is none, or it says neither.
    #[default]
    Otherwise,
}

/// What stands in the last `<tag>…</tag>` of a message, as JSON when it is JSON. With
/// [`WHOLE_MESSAGE`], its text as it is.
pub fn in_tag(message: &str, tag: &str) -> Option<Answer> {
    if tag == WHOLE_MESSAGE {
        let text = message.trim();
        let answer =
            || Answer { value: Value::from(text), source: LAST_MESSAGE.to_owned(), lenient: false };
        return (!text.is_empty()).then(answer);
    }
    let inside = last_tag(message, tag)?.trim();
    let (value, lenient) = parse(inside).unwrap_or_else(|| (Value::from(inside), false));
    Some(Answer { value, source: format!("<{tag}>"), lenient })
}

/// Why messages have no answer although one of them ends in a fence for it, as a sentence.
pub fn why_unread(messages: &[&str]) -> Option<String> {
    let text = messages.iter().rev().find_map(|message| fences::last_json(message))?.trim();
    if text.is_empty() {
        return None;
    }
    let error = json::read(text).err().and_then(|_| json::read_leniently(text).err())?;
    let line = error.line.map_or_else(String::new, |line| format!(" (line {line})"));
    Some(format!("The last ```json fence is no JSON that can be read{line}: {}", error.message))
}

/// JSON, and whether it had to be read leniently.
pub fn parse(text: &str) -> Option<(Value, bool)> {
    let text = text.trim();
    match json::read(text) {
        Ok(value) => Some((value, false)),
        Err(_) => json::read_leniently(text).ok().map(|value| (value, true)),
    }
}

fn last_tag<'a>(message: &'a str, tag: &str) -> Option<&'a str> {
    let (open, close) = (format!("<{tag}>"), format!("</{tag}>"));
    let end = message.rfind(&close)?;
    let start = message[..end].rfind(&open)? + open.len();
    message.get(start..end)
}
