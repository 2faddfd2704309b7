//! **Pure.** Outputs and histories of `OpenHands`.
mod actions;
mod conversation;
mod output;
mod sdk;
#[cfg(test)]
mod tests;

use crate::format::{Detected, Format, HEAD_BYTES, ImportedFile};
use crate::head::Head;
use crate::pieces;
use crate::run::{Event, ImportedRun, RunEnd};
use crate::sessions::{Session, finish, has_extension, objects, seconds_between};
use crate::source::{Folder, Input};
use touchstone_model::error::ReadError;
use touchstone_model::json;
use touchstone_model::value::Value;

/// The format.
#[derive(Debug, Clone, Copy)]
pub struct OpenHands;

/// Name of the file that stands for a conversation of the SDK.
const STATE: &str = "base_state.json";

impl Format for OpenHands {
    fn name(&self) -> &'static str {
        "openhands"
    }

    fn title(&self) -> &'static str {
        "OpenHands"
    }

    fn files(&self) -> &'static str {
        "output.jsonl, lists of events (.json, .jsonl), base_state.json"
    }

    fn documentation(&self) -> &'static str {
        include_str!("openhands.md")
    }

    fn detect(&self, path: &str, _start: &[u8], head: Option<&Head>) -> Option<Detected> {
        let head = head?;
        let name = path.rsplit('/').next().unwrap_or_default();
        if name == STATE && head.has(&["id", "agent"]) && !head.is_list {
            return Some(Detected::Run);
        }
        let is_event_file = name.starts_with("event-") && has_extension(name, "json");
        if is_event_file && !head.is_list && is_sdk_event(head) {
            let reason = "It is an event of a conversation, whose run is base_state.json.";
            return Some(Detected::NoRun(reason.to_owned()));
        }
        if !head.is_list && is_output(head) {
            return Some(Detected::Runs);
        }
        let is_events = is_sdk_event(head) || (head.is_list && is_action(head));
        is_events.then_some(Detected::Run)
    }

    fn open<'a>(&self, input: Input<'a>) -> Result<Box<dyn ImportedFile + 'a>, ReadError> {
        if input.name() == STATE {
            return Ok(Box::new(conversation::read(&input)?));
        }
        let bytes = input.read_all()?;
        let start = bytes.get(..HEAD_BYTES).unwrap_or(&bytes);
        let head = Head::read(start).unwrap_or_default();
        if !head.is_list && is_output(&head) {
            return Ok(Box::new(output::Output::new(bytes, input)?));
        }
        let mut error = None;
        let mut odd = 0;
        let events: Vec<Value> = if head.is_list {
            let text = pieces::text(bytes)?;
            let items = pieces::items(text.trim());
            error = (!items.is_complete).then(pieces::cut_off);
            items.parts.into_iter().filter_map(|part| json::read_python(part).ok()).collect()
        } else {
            let (objects, count) = objects(&bytes);
            odd = count;
            objects.collect()
        };
        let mut run = read_events(&events).run;
        if odd > 0 {
            let lines = if odd == 1 { "line is" } else { "lines are" };
            run.notes.push(format!("{odd} {lines} no JSON object, and left out."));
        }
        Ok(Box::new(Session { member: None, run: Some(finish(run)), error }))
    }

    fn owner(&self, path: &str, _folder: &dyn Folder) -> Option<String> {
        let (folder, name) = path.rsplit_once('/')?;
        let conversation = folder.strip_suffix("/events")?;
        name.starts_with("event-").then(|| format!("{conversation}/{STATE}"))
    }
}

/// Returns true for the line of an instance.
fn is_output(head: &Head) -> bool {
    let is_instance = head.has(&["instance_id"])
        && (head.has(&["history"])
            || head.has(&["test_result", "instruction"])
            || head.has_inner("test_result", "git_patch"));
    is_instance || head.has(&["issue", "issue_type"])
}

/// Returns true for an event of the SDK; its kind may stand behind a long text.
fn is_sdk_event(head: &Head) -> bool {
    let is_kind = |kind: &str| {
        kind.ends_with("Event") || kind.starts_with("Condensation") || kind.ends_with("Observation")
    };
    head.has(&["source"])
        && match head.value("kind") {
            Some(kind) => is_kind(kind),
            None => head.has(&["id", "timestamp", "system_prompt"]),
        }
}

/// Returns true for an event with an action or an observation.
fn is_action(head: &Head) -> bool {
    let is_event = head.has(&["action"]) || head.has(&["observation"]);
    is_event && (head.has(&["source"]) || head.has(&["args"]))
}

/// Run from events alone, and what they say about the model calls.
#[derive(Debug, Default)]
struct EventRun {
    run: ImportedRun,
    /// Error that was recorded last.
    error: Option<String>,
}

/// Reads a history of any generation.
fn read_events(events: &[Value]) -> EventRun {
    let is_sdk = events.iter().any(|event| event.text_at("kind").is_some());
    let mut read = if is_sdk { sdk::read(events) } else { actions::read(events) };
    read.run.system = Some("openhands".to_owned());
    let times = || events.iter().flat_map(flat).filter_map(|event| event.text_at("timestamp"));
    read.run.started = times().next().map(str::to_owned);
    read.run.seconds = times()
        .next()
        .zip(times().next_back())
        .and_then(|(first, last)| seconds_between(first, last));
    read
}

/// Returns the events of an entry: the oldest histories are lists of pairs.
fn flat(entry: &Value) -> &[Value] {
    match entry {
        Value::List(events) => events,
        event => std::slice::from_ref(event),
    }
}

/// Creates an event at the time of a record.
fn at_time(record: &Value, kind: crate::run::EventKind) -> Event {
    let time = record.text_at("timestamp").map(str::to_owned);
    Event { kind, time, ..Event::default() }
}

/// Returns how a conversation ended, by the last status that the tool recorded.
fn end_of_status(status: Option<&str>) -> RunEnd {
    match status {
        Some("finished") => RunEnd::Complete,
        Some("error" | "stuck") => RunEnd::Error,
        _ => RunEnd::Unfinished,
    }
}
