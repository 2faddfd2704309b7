//! Requested runs that are not started, as text and as events.
use super::terminal::one_line;
use serde_json::json;
use std::io::{self, Write};
use std::time::{SystemTime, UNIX_EPOCH};
use touchstone_api::{Act, PlannedRun};

/// Requested runs that are not complete and are not started.
pub(super) struct SkippedRuns(pub(super) Vec<PlannedRun>);

impl SkippedRuns {
    /// Number of runs that no process executes. A run in progress in another process is not a
    /// failure.
    pub(super) fn failed(&self) -> usize {
        self.0.iter().filter(|run| run.act != Act::Elsewhere).count()
    }

    /// Formats their number with the verb, for a sentence.
    pub(super) fn are(&self) -> String {
        if self.0.len() == 1 { "1 is".to_owned() } else { format!("{} are", self.0.len()) }
    }

    /// Formats one line for each run, with the reason.
    pub(super) fn lines(&self) -> impl Iterator<Item = String> {
        self.0.iter().map(|run| {
            format!("{:<9} {}: {}", act(run.act), one_line(&run.path), one_line(&why(run)))
        })
    }

    /// Writes each run as an event, one JSON line each.
    pub(super) fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let at_ms = u64::try_from(now.as_millis()).unwrap_or(u64::MAX);
        self.0.iter().try_for_each(|run| {
            let why = why(run);
            let event = json!({ "at_ms": at_ms, "run": run.path, "event": "left_out", "act": run.act, "why": why });
            writeln!(out, "{event}")
        })
    }
}

pub(super) fn why(run: &PlannedRun) -> String {
    match &run.differs {
        Some(differs) => format!("{} {differs}", run.why),
        None => run.why.clone(),
    }
}

pub(super) fn act(act: Act) -> &'static str {
    match act {
        Act::Start => "start",
        Act::StartOver => "start over",
        Act::Continue => "continue",
        Act::Nothing => "complete",
        Act::Damaged => "damaged",
        Act::Elsewhere => "running elsewhere",
        Act::Refused => "refused",
    }
}
