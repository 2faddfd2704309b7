//! **Pure.** Redacts all texts of a run before it is written.
use super::ExportRun;
use crate::run::{Event, EventKind};
use crate::text::text_or_json;
use touchstone_formats::redact::DocumentRedactor;
use touchstone_model::value::Value;

impl ExportRun {
    /// Redacts what looks like a key, an e-mail address or a home folder in all texts of the run,
    /// its name and its task included, and the names of users that are found in them. In its system
    /// and its model, these names stay.
    pub fn redact(&mut self, redactor: &mut DocumentRedactor) {
        redactor.document(self, redact_texts);
    }

    /// Finds the names of users in the run, so that they are redacted in runs that are written
    /// before it, too.
    pub fn learn_users(mut self, redactor: &mut DocumentRedactor) {
        redactor.learn_users(&mut self, redact_texts);
    }
}

fn redact_texts(redactor: &mut DocumentRedactor, one: &mut ExportRun) {
    let run = &mut one.run;
    run.system.iter_mut().chain(&mut run.model).for_each(|label| redactor.label(label));
    let texts = [&mut run.task, &mut run.error, &mut run.answer, &mut run.started];
    let some = texts.into_iter().chain([&mut one.variation]).flatten();
    for text in some.chain([&mut one.name]).chain(&mut run.notes) {
        redactor.text(text);
    }
    run.expected.iter_mut().for_each(|value| redactor.value(value));
    for verdict in &mut run.verdicts {
        for text in verdict.reason.iter_mut().chain([&mut verdict.name]) {
            redactor.text(text);
        }
        for value in verdict.threshold.iter_mut().chain([&mut verdict.value]) {
            redactor.value(value);
        }
    }
    redact_facts(redactor, &mut run.facts);
    one.tools.iter_mut().for_each(|tool| redactor.value(tool));
    redact_events(redactor, &mut run.events);
}

/// Redacts facts as entries of one map: a key says what its value is.
fn redact_facts(redactor: &mut DocumentRedactor, facts: &mut Vec<(String, Value)>) {
    let entries = facts.drain(..).map(|(key, value)| (Value::Text(key), value));
    let mut map = Value::Map(entries.collect());
    redactor.value(&mut map);
    if let Value::Map(entries) = map {
        let text = |(key, value)| Some((text_or_json(&key)?, value));
        facts.extend(entries.into_iter().filter_map(text));
    }
}

fn redact_events(redactor: &mut DocumentRedactor, events: &mut [Event]) {
    // Sub-agents may be nested deeper than the stack would bear.
    let mut levels = vec![events];
    while let Some(events) = levels.pop() {
        for event in events {
            event.time.iter_mut().for_each(|time| redactor.text(time));
            match &mut event.kind {
                EventKind::System(text)
                | EventKind::User(text)
                | EventKind::SimulatedUser(text)
                | EventKind::Assistant(text)
                | EventKind::Reasoning(text)
                | EventKind::Compaction(text)
                | EventKind::Error(text)
                | EventKind::Note(text) => redactor.text(text),
                EventKind::Media(media) => redactor.text(&mut media.text),
                EventKind::Call { id, name, arguments, .. } => {
                    id.iter_mut().chain([name]).for_each(|text| redactor.text(text));
                    redactor.value(arguments);
                }
                EventKind::Result { id, name, value, .. } => {
                    id.iter_mut().chain(name).for_each(|text| redactor.text(text));
                    redactor.value(value);
                }
                EventKind::SubAgent { name, call, events } => {
                    call.iter_mut().chain([name]).for_each(|text| redactor.text(text));
                    levels.push(events);
                }
                EventKind::Abandoned(events) => levels.push(events),
            }
        }
    }
}
