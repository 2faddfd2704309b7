//! **Pure.** Conversations of the SDK as it stores them: a state, and a file for each event.
use super::{end_of_status, read_events, sdk};
use crate::pieces;
use crate::run::RunEnd;
use crate::sessions::{Session, finish, non_blank, parse, push_fact};
use crate::source::{Input, read_all, resolve};
use touchstone_model::error::ReadError;
use touchstone_model::json;
use touchstone_model::value::Value;

/// Maximum number of events.
const MOST_EVENTS: usize = 20_000;

/// Maximum number of bytes of all events.
const MOST_BYTES: u64 = 256 << 20;

/// Reads a conversation from its state and the events beside it.
pub(super) fn read(input: &Input<'_>) -> Result<Session, ReadError> {
    let state = json::read_python(&pieces::text(input.read_all()?)?)?;
    let folder = resolve(input.parent(), "events").unwrap_or_default();
    let mut events: Vec<Value> = Vec::new();
    let mut left = MOST_BYTES;
    let mut are_all = true;
    // The names begin with the number of the event.
    for name in input.folder.list(&folder).iter().filter(|name| name.starts_with("event-")) {
        let path = resolve(&folder, name);
        let Some(source) = path.and_then(|path| input.folder.open(&path)) else { continue };
        let size = source.size();
        if size > left || events.len() >= MOST_EVENTS {
            are_all = false;
            break;
        }
        left -= size;
        let text = read_all(&*source).ok().and_then(|bytes| pieces::text(bytes).ok());
        events.extend(text.as_deref().and_then(parse));
    }
    let read = read_events(&events);
    let mut run = read.run;
    if let Some(status) = state.text_at("execution_status") {
        run.end = end_of_status(Some(status));
        run.error = read.error.filter(|_| run.end == RunEnd::Error);
        run.facts.retain(|(key, _)| key != "status");
        push_fact(&mut run.facts, "status", state.get("execution_status"));
    }
    if let Some(stats) = state.get_non_null("stats") {
        sdk::read_stats(&mut run, stats);
    }
    let model = state.at_path(&["agent", "llm", "model"]).and_then(Value::text);
    run.model = run.model.or_else(|| non_blank(model));
    push_fact(&mut run.facts, "most iterations", state.get("max_iterations"));
    if !are_all {
        run.notes.push("The conversation is too large; its last events are left out.".to_owned());
    }
    let member = non_blank(state.text_at("id"));
    Ok(Session { member, run: Some(finish(run)), error: None })
}
