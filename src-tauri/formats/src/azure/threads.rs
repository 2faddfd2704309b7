//! **Pure.** Files of threads: a single thread as JSON, a list of them, or one per line. The form
//! is detected automatically.
use super::message::{self, Message, first, text_item};
use super::{Thread, tools};
use touchstone_model::error::{ReadError, ReadErrorKind, text_of};
use touchstone_model::json;
use touchstone_model::value::Value;

/// Parses the threads of a file: Azure AI agents, `OpenAI` and Anthropic chats, and Semantic Kernel
/// threads. Fails if the file holds no thread.
pub fn read(bytes: &[u8]) -> Result<Vec<Thread>, ReadError> {
    let text = text_of(bytes)?;
    let threads = match json::read_python(text) {
        Ok(value) => of_document(&value),
        Err(error) => match of_lines(text)? {
            Some(threads) => Some(threads),
            None => return Err(error),
        },
    };
    threads.filter(|threads| !threads.is_empty()).ok_or_else(no_thread)
}

/// Parses one thread per line. Returns `None` if there is only one line or the first is not valid
/// JSON, since the file then has another form.
fn of_lines(text: &str) -> Result<Option<Vec<Thread>>, ReadError> {
    let lines = || text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let first = lines().next().is_some_and(|(_, line)| json::read_python(line).is_ok());
    if !first || lines().nth(1).is_none() {
        return Ok(None);
    }
    let mut threads = Vec::new();
    for (at, line) in lines() {
        let placed = |error: ReadError| ReadError { line: u32::try_from(at + 1).ok(), ..error };
        let value = json::read_python(line).map_err(placed)?;
        threads.push(parse_thread(&value).ok_or_else(|| placed(no_thread()))?);
    }
    Ok(Some(threads))
}

fn of_document(value: &Value) -> Option<Vec<Thread>> {
    match value {
        Value::List(items)
            if !items.is_empty() && items.iter().all(|item| message::read(item).is_none()) =>
        {
            items.iter().map(parse_thread).collect()
        }
        other => Some(vec![parse_thread(other)?]),
    }
}

/// Parses a thread: an object with messages, or a list of messages.
pub(crate) fn parse_thread(value: &Value) -> Option<Thread> {
    let inner = value
        .get("conversation")
        .filter(|inner| first(inner, &["messages"]).is_some())
        .unwrap_or(value);
    let listed = match inner {
        Value::List(_) => inner,
        _ => first(inner, &["messages", "Messages"])?,
    };
    let mut messages = messages(listed).filter(|messages| !messages.is_empty())?;
    let instructions =
        inner.get("instructions").and_then(Value::text).filter(|text| !text.trim().is_empty());
    if let Some(text) =
        instructions.filter(|_| messages.iter().all(|message| message.role != "system"))
    {
        let content = vec![text_item(text)];
        messages.insert(0, Message { role: "system".to_owned(), content, ..Message::default() });
    }
    let tools = first(value, &["tools", "tool_definitions", "functions"])
        .or_else(|| first(inner, &["tools"]));
    Some(Thread { messages, tools: tools.map(tools::definitions).unwrap_or_default() })
}

/// Parses a list of messages. Returns `None` if any item is not a message.
pub(crate) fn messages(list: &Value) -> Option<Vec<Message>> {
    let Value::List(items) = list else { return None };
    let read: Option<Vec<Vec<Message>>> = items.iter().map(message::read).collect();
    read.map(|read| read.into_iter().flatten().collect())
}

fn no_thread() -> ReadError {
    let error = ReadError::new(ReadErrorKind::NotTranscript, "It holds no thread of messages.");
    error.advise("A thread is a list of messages that have a `role`, or an object with `messages`, and with `tools` where there are any.")
}
