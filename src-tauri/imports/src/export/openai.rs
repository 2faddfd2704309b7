//! **Pure.** Messages of `OpenAI`'s chat completions: one object for each run.
use super::summary::write_summary;
use super::thread::{Dialect, write_messages};
use super::walk::arrange;
use super::{ExportRun, list, object};
use touchstone_model::json;
use touchstone_model::value::Value;

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
