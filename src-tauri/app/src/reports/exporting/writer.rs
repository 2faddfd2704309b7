//! Writes exported runs as documents and logs, each complete before it is handed out.
use super::document::{ExportedDocument, Spool};
use super::{Exported, NAMED, ReadRun};
use crate::error::AppError;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use touchstone_api::RunRow;
use touchstone_formats::redact::DocumentRedactor;
use touchstone_imports::export::{
    self, About, EventCounts, ExportRun, Target, atif, inspect, openai,
};

pub(super) struct Writer {
    pub(super) target: Target,
    pub(super) about: About,
    /// Redacts the texts, if that is asked for. Knows the names of users of all runs.
    pub(super) redactor: Option<DocumentRedactor>,
    pub(super) tally: EventCounts,
    /// True to write each chat as one line.
    pub(super) lines: bool,
    /// Samples of all logs.
    pub(super) samples: Spool,
    /// Logs of Inspect that are being written.
    pub(super) logs: BTreeMap<inspect::LogKey, OpenLog>,
    pub(super) done: Exported,
}

/// Log of Inspect that is being written.
pub(crate) struct OpenLog {
    /// Position of its first run among all runs.
    first: usize,
    log: inspect::Log,
    /// Places of its samples.
    samples: Vec<Range<u64>>,
}

impl Writer {
    /// Writes a run that was read. Returns its file; for Inspect, it is added to a log instead.
    pub(super) fn write(
        &mut self,
        (at, row): (usize, &RunRow),
        run: ReadRun,
    ) -> Result<Option<ExportedDocument>, AppError> {
        let mut run = match run {
            Ok(run) => run,
            Err(why) => {
                self.done.left_out += 1;
                // Further ones are only counted.
                if self.done.notes.len() < NAMED {
                    let path = &row.path;
                    let note = format!("Left out, because it cannot be read: {path}. {why}");
                    self.done.notes.push(note);
                }
                return Ok(None);
            }
        };
        // What is redacted does not tell apart which log a run belongs to.
        let key = inspect::LogKey::from_run(&run);
        if let Some(redactor) = &mut self.redactor {
            run.redact(redactor);
        }
        self.tally.add(&run.run.events);
        self.done.runs += 1;
        let stem = export::file_stem(&run.name);
        let document = ExportedDocument::from_text;
        Ok(Some(match self.target {
            Target::Inspect => return self.add_to_log(at, key, &run).map(|()| None),
            Target::OpenAi if self.lines => {
                document(openai::write(&run, true), format!("{stem}.jsonl"), "application/jsonl")
            }
            Target::OpenAi => {
                let name = format!("{stem}.messages.json");
                document(openai::write(&run, false), name, "application/json")
            }
            Target::Atif => {
                let name = format!("{stem}.trajectory.json");
                document(atif::write(&run), name, "application/json")
            }
        }))
    }

    fn add_to_log(
        &mut self,
        at: usize,
        key: inspect::LogKey,
        run: &ExportRun,
    ) -> Result<(), AppError> {
        let open = self.logs.entry(key).or_insert_with(|| OpenLog {
            first: at,
            log: inspect::Log::new(run),
            samples: Vec::new(),
        });
        open.first = open.first.min(at);
        let place = self.samples.write(&open.log.add(run))?;
        match open.samples.last_mut().filter(|last| last.end == place.start) {
            Some(last) => last.end = place.end,
            None => open.samples.push(place),
        }
        Ok(())
    }

    /// Returns the logs, in the order of their first runs, and the outcome.
    pub(super) fn end(self) -> (impl Iterator<Item = ExportedDocument>, Exported) {
        let Writer { about, mut done, samples, .. } = self;
        let more = done.left_out.saturating_sub(NAMED as u64);
        done.notes.extend((more > 0).then(|| format!("And {more} more that cannot be read.")));
        done.notes.extend(self.tally.describe(self.target));
        done.notes.extend(self.redactor.map(|redactor| redactor.counts().describe()));
        let mut logs: Vec<OpenLog> = self.logs.into_values().collect();
        logs.sort_by_key(|log| log.first);
        let spool = Arc::new(samples);
        let logs = logs.into_iter().map(move |OpenLog { log, samples, .. }| {
            let name = log.file_name(&about);
            let middle = (Arc::clone(&spool), samples);
            let parts = (log.start(&about), middle, inspect::Log::END);
            ExportedDocument::from_parts(name, "application/json", parts)
        });
        (logs, done)
    }
}
