//! **Pure.** Extracts the answer that a model wrote into its messages.
use crate::run::{Answer, FinishOutcome};
use crate::value::Value;
use crate::{fences, json};

/// Extracts the answer of a run. Takes the last ```` ```json ```` fence of the last message, else
/// of the latest message that has one. Without a fence, and if the suite names a tag, takes the
/// text inside the last `<tag>…</tag>`, parsed as JSON where possible. JSON is read strictly first,
/// then leniently, since models write it carelessly. If the last fence cannot be parsed there is no
/// answer; earlier fences are not used in its place.
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

/// Tag value for which the whole last message is the answer: queries of `StableToolBench` are
/// answered in prose.
pub const WHOLE_MESSAGE: &str = "";

/// Source label of an answer that is the whole last message.
pub const LAST_MESSAGE: &str = "last message";

/// Location of the answer in a finished conversation that does not store an answer of its own.
#[derive(Debug, Clone, PartialEq)]
pub enum AnswerLocation {
    /// The result of the search that does not know the task: a fence, or no answer.
    AsFound,
    /// The arguments of the last call of `Finish`.
    Finish,
    /// The last message.
    Said(Answer),
    /// No answer, even if there are fences.
    Nowhere,
}

/// Returns the location of the answer for a task whose answers are in the tag `tag`. A fence takes
/// precedence over a tag. Queries of `StableToolBench` ([`WHOLE_MESSAGE`]) ignore fences: their
/// answer is the arguments of `Finish`, else the whole last message, `said`.
pub fn locate_answer(
    tag: &str,
    said: &str,
    is_fenced: bool,
    ended: FinishOutcome,
) -> AnswerLocation {
    if tag != WHOLE_MESSAGE {
        let found = if is_fenced { None } else { in_tag(said, tag) };
        return found.map_or(AnswerLocation::AsFound, AnswerLocation::Said);
    }
    match ended {
        FinishOutcome::Answered => AnswerLocation::Finish,
        FinishOutcome::GaveUp => AnswerLocation::Nowhere,
        FinishOutcome::Otherwise => {
            in_tag(said, tag).map_or(AnswerLocation::Nowhere, AnswerLocation::Said)
        }
    }
}

/// Returns the text in the last `<tag>…</tag>` of a message, parsed as JSON where possible. With
/// [`WHOLE_MESSAGE`], returns the whole text of the message unparsed.
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

/// Explains, in one sentence, that the last JSON fence of the messages could not be parsed. Returns
/// `None` if there is no such fence, it is empty, or it can be parsed.
pub fn explain_unparsable(messages: &[&str]) -> Option<String> {
    let text = messages.iter().rev().find_map(|message| fences::last_json(message))?.trim();
    if text.is_empty() {
        return None;
    }
    let error = json::read(text).err().and_then(|_| json::read_leniently(text).err())?;
    let line = error.line.map_or_else(String::new, |line| format!(" (line {line})"));
    Some(format!("The last ```json fence is not valid JSON{line}: {}", error.message))
}

/// Parses JSON, and returns true with it if lenient parsing was needed.
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
