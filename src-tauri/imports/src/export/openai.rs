//! **Pure.** Messages of `OpenAI`'s chat completions: one object for each run.
use super::summary::write_summary;
use super::thread::{Dialect, read_messages, write_messages};
use super::walk::arrange;
use super::{ExportRun, MOST_LEVELS, list, object};
use crate::run::{Event, EventKind};
use touchstone_formats::json;
use touchstone_formats::value::Value;

/// Returns the object of a run: `messages`, `tools` if they are known, and `metadata` with everything
/// that is no message.
pub fn value(one: &ExportRun) -> Value {
    let written = write_messages(&arrange(&one.run.events), Dialect::OpenAi);
    let mut metadata = write_summary(one);
    if let (Value::Map(entries), Some(beside)) = (&mut metadata, list(written.beside)) {
        entries.push((Value::from("beside"), beside));
    }
    object([
        ("messages", Some(Value::List(written.messages))),
        ("tools", list(one.tools.clone())),
        ("metadata", Some(metadata)),
    ])
}

/// Writes the object of a run: as one line, or else in several lines.
pub fn write(one: &ExportRun, is_line: bool) -> String {
    json::write(&value(one), !is_line) + "\n"
}

/// Reads the events of a run from the object that [`value`] returns.
pub fn read_events(chat: &Value) -> Vec<Event> {
    let beside = chat.at_path(&["metadata", "beside"]).cloned();
    let messages = chat.get("messages").cloned();
    let mut events =
        read_messages(&object([("messages", messages), ("beside", beside.clone())]), MOST_LEVELS);
    let marks = beside.as_ref().map(Value::items).unwrap_or_default();
    let failed: Vec<&str> = marks
        .iter()
        .filter(|one| one.text_at("kind") == Some("failed"))
        .filter_map(|one| one.text_at("call"))
        .collect();
    for event in &mut events {
        if let EventKind::Result { id: Some(id), failed: mark, .. } = &mut event.kind
            && failed.contains(&id.as_str())
        {
            *mark = Some(true);
        }
    }
    events
}
