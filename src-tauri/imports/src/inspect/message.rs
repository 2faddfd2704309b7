//! **Pure.** A message of a sample.
use super::pieces::Pieces;
use crate::export::restore_marks;
use crate::messages::read_message;
use crate::run::Event;
use touchstone_model::error::ReadError;
use touchstone_model::value::Value;

/// Message of a sample, with its events.
pub(super) struct Message {
    pub(super) id: Option<String>,
    /// True if the message is the summary of a compaction.
    pub(super) is_summary: bool,
    pub(super) events: Vec<Event>,
}

impl Message {
    pub(super) fn read(pieces: &Pieces, text: &str) -> Result<Self, ReadError> {
        Ok(Self::from_value(pieces.parse("messages", text)?))
    }

    pub(super) fn from_value(mut value: Value) -> Self {
        let is_summary = value.at_path(&["metadata", "summary"]).is_some();
        let id = value.text_at("id").map(str::to_owned);
        modernize(&mut value);
        let mut events = read_message(&value);
        restore_marks(&value, &mut events);
        let model = value.text_at("model");
        let mut events: Vec<Event> = events.into_iter().map(Event::from).collect();
        for event in &mut events {
            event.set_model(model);
        }
        Message { id, is_summary, events }
    }
}

/// Renames what early versions wrote under other names.
fn modernize(message: &mut Value) {
    let error = message.get_non_null("tool_error").cloned();
    let Value::Map(entries) = message else { return };
    if let Some(error) = error {
        entries.retain(|(key, _)| key.text() != Some("error"));
        entries.push((Value::from("error"), error));
    }
}
