//! **Pure.** Redacts all texts of a run before it is written.
use super::ExportRun;
use crate::run::{Event, EventKind};
use crate::text::text_or_json;
use touchstone_formats::redact::{Redactions, redact_text, redact_value};
use touchstone_formats::value::Value;

impl ExportRun {
    /// Redacts what looks like a key, an e-mail address or a home folder in all texts of the run,
    /// its name and its task included. Returns the numbers of places.
    pub fn redact(&mut self) -> Redactions {
        let mut counts = Redactions::default();
        let run = &mut self.run;
        let names = [&mut run.task, &mut run.system, &mut run.model];
        let texts = [&mut run.error, &mut run.answer, &mut run.started, &mut self.variation];
        let some = names.into_iter().chain(texts).flatten();
        for text in some.chain([&mut self.name]).chain(&mut run.notes) {
            redact_text(text, &mut counts);
        }
        run.expected.iter_mut().for_each(|value| redact_value(value, &mut counts));
        for verdict in &mut run.verdicts {
            for text in verdict.reason.iter_mut().chain([&mut verdict.name]) {
                redact_text(text, &mut counts);
            }
            for value in verdict.threshold.iter_mut().chain([&mut verdict.value]) {
                redact_value(value, &mut counts);
            }
        }
        redact_facts(&mut run.facts, &mut counts);
        self.tools.iter_mut().for_each(|tool| redact_value(tool, &mut counts));
        redact_events(&mut run.events, &mut counts);
        counts
    }
}

/// Redacts facts as entries of one map: a key says what its value is.
fn redact_facts(facts: &mut Vec<(String, Value)>, counts: &mut Redactions) {
    let entries = facts.drain(..).map(|(key, value)| (Value::Text(key), value));
    let mut map = Value::Map(entries.collect());
    redact_value(&mut map, counts);
    if let Value::Map(entries) = map {
        let text = |(key, value)| Some((text_or_json(&key)?, value));
        facts.extend(entries.into_iter().filter_map(text));
    }
}

fn redact_events(events: &mut [Event], counts: &mut Redactions) {
    // Sub-agents may be nested deeper than the stack would bear.
    let mut levels = vec![events];
    while let Some(events) = levels.pop() {
        for event in events {
            event.time.iter_mut().for_each(|time| redact_text(time, counts));
            match &mut event.kind {
                EventKind::System(text)
                | EventKind::User(text)
                | EventKind::SimulatedUser(text)
                | EventKind::Assistant(text)
                | EventKind::Reasoning(text)
                | EventKind::Compaction(text)
                | EventKind::Error(text)
                | EventKind::Note(text) => redact_text(text, counts),
                EventKind::Media(media) => redact_text(&mut media.text, counts),
                EventKind::Call { id, name, arguments, .. } => {
                    id.iter_mut().chain([name]).for_each(|text| redact_text(text, counts));
                    redact_value(arguments, counts);
                }
                EventKind::Result { id, name, value, .. } => {
                    id.iter_mut().chain(name).for_each(|text| redact_text(text, counts));
                    redact_value(value, counts);
                }
                EventKind::SubAgent { name, call, events } => {
                    call.iter_mut().chain([name]).for_each(|text| redact_text(text, counts));
                    levels.push(events);
                }
                EventKind::Abandoned(events) => levels.push(events),
            }
        }
    }
}
