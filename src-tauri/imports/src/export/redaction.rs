//! **Pure.** Redacts all texts of a run before it is written.
use super::ExportRun;
use crate::run::{Event, EventKind};
use touchstone_formats::redact::{Redactions, redact_text, redact_value};

impl ExportRun {
    /// Redacts what looks like a key, an e-mail address or a home folder in all texts of the run,
    /// its name and its task included. Returns the numbers of places.
    pub fn redact(&mut self) -> Redactions {
        let mut counts = Redactions::default();
        let run = &mut self.run;
        let names = [&mut run.task, &mut run.system, &mut run.model];
        let texts = [&mut run.error, &mut run.answer, &mut self.variation];
        let some = names.into_iter().chain(texts).flatten();
        for text in some.chain([&mut self.name]).chain(&mut run.notes) {
            redact_text(text, &mut counts);
        }
        run.expected.iter_mut().for_each(|value| redact_value(value, &mut counts));
        for verdict in &mut run.verdicts {
            redact_value(&mut verdict.value, &mut counts);
            verdict.reason.iter_mut().for_each(|reason| redact_text(reason, &mut counts));
        }
        for (_, value) in &mut run.facts {
            redact_value(value, &mut counts);
        }
        self.tools.iter_mut().for_each(|tool| redact_value(tool, &mut counts));
        redact_events(&mut run.events, &mut counts);
        counts
    }
}

fn redact_events(events: &mut [Event], counts: &mut Redactions) {
    // Sub-agents may be nested deeper than the stack would bear.
    let mut levels = vec![events];
    while let Some(events) = levels.pop() {
        for event in events {
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
                EventKind::Call { arguments, .. } => redact_value(arguments, counts),
                EventKind::Result { value, .. } => redact_value(value, counts),
                EventKind::SubAgent { name, events, .. } => {
                    redact_text(name, counts);
                    levels.push(events);
                }
                EventKind::Abandoned(events) => levels.push(events),
            }
        }
    }
}
