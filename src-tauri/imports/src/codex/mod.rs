//! **Pure.** Sessions of Codex: rollouts, and what `codex exec --json` prints.
mod exec;
mod rollout;
#[cfg(test)]
mod tests;

use crate::format::{Detected, Format, ImportedFile};
use crate::head::Head;
use crate::run::{EventKind, Identity, ImportedRun, RunEnd};
use crate::sessions::{Session, finish, objects};
use crate::source::{Input, MOST_BYTES};
use crate::zstd;
use touchstone_model::error::{ReadError, ReadErrorKind};

/// The format.
#[derive(Debug, Clone, Copy)]
pub struct Codex;

impl Format for Codex {
    fn name(&self) -> &'static str {
        "codex"
    }

    fn title(&self) -> &'static str {
        "Codex"
    }

    fn files(&self) -> &'static str {
        "rollout-*.jsonl, rollout-*.jsonl.zst, output of codex exec --json"
    }

    fn documentation(&self) -> &'static str {
        include_str!("codex.md")
    }

    fn detect(&self, path: &str, start: &[u8], head: Option<&Head>) -> Option<Detected> {
        let name = path.rsplit('/').next().unwrap_or_default();
        let is_rollout = name.contains("rollout-");
        if start.starts_with(zstd::MAGIC) {
            return (is_rollout && name.ends_with(".jsonl.zst")).then_some(Detected::Run);
        }
        let head = head.filter(|head| !head.is_list)?;
        let is_line = |kinds: &[&str]| {
            head.has(&["timestamp", "payload"])
                && head.value("type").is_some_and(|kind| kinds.contains(&kind))
        };
        let is_ours = is_line(&["session_meta"])
            || is_line(&["turn_context", "response_item", "event_msg", "compacted"])
            || (head.value("type") == Some("thread.started") && head.has(&["thread_id"]))
            // Rollouts of 2025, before lines had a type.
            || (is_rollout && head.has(&["id", "timestamp", "instructions"]) && head.is_lines);
        is_ours.then_some(Detected::Run)
    }

    fn open<'a>(&self, input: Input<'a>) -> Result<Box<dyn ImportedFile + 'a>, ReadError> {
        let bytes = input.read_all()?;
        let (bytes, error) =
            if bytes.starts_with(zstd::MAGIC) { inflate(&bytes)? } else { (bytes, None) };
        let (objects, odd) = objects(&bytes);
        let mut objects = objects.peekable();
        let first = objects.peek().and_then(|first| first.text_at("type")).unwrap_or_default();
        let is_exec = ["thread.", "turn.", "item."].iter().any(|start| first.starts_with(start));
        let (member, run) = if is_exec { exec::read(objects) } else { rollout::read(objects) };
        let run = run.map(|mut run| {
            if odd > 0 {
                let lines = if odd == 1 { "line is" } else { "lines are" };
                run.notes.push(format!("{odd} {lines} no JSON object, and left out."));
            }
            run.identity = member.as_deref().map(|id| Identity {
                key: format!("codex/{id}"),
                rank: if is_exec { 0.0 } else { 1.0 },
            });
            // The error that ended the run is shown at its end.
            if run.end == RunEnd::Error {
                let error = run.error.as_ref();
                let is_last = |kind: &EventKind| {
                    matches!(kind, EventKind::Error(text) if Some(text) == error)
                };
                run.events.retain(|event| !is_last(&event.kind));
            }
            finish(run)
        });
        Ok(Box::new(Session { member, run, error }))
    }
}

/// Inflates all frames, as far as they go.
fn inflate(bytes: &[u8]) -> Result<(Vec<u8>, Option<ReadError>), ReadError> {
    let mut text = Vec::new();
    let read = zstd::decode(bytes, MOST_BYTES + 1, &mut text);
    if text.len() as u64 > MOST_BYTES {
        let message = format!(
            "The rollout is larger than {} MB, which is the most that is read at once.",
            MOST_BYTES >> 20
        );
        return Err(ReadError::new(ReadErrorKind::TooLarge, message));
    }
    let Err(error) = read else { return Ok((text, None)) };
    let message = format!("The compressed rollout is damaged or cut off: {error}.");
    let error = ReadError::new(ReadErrorKind::Truncated, message);
    if text.is_empty() { Err(error) } else { Ok((text, Some(error))) }
}

/// Creates a run of Codex.
fn new_run() -> ImportedRun {
    ImportedRun { system: Some("codex".to_owned()), ..ImportedRun::default() }
}
