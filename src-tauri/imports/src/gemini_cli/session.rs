//! **Pure.** The run of a session: its messages, as later records changed them.
use super::message::{Kind, Message};
use crate::run::{Event, EventKind, ImportedRun, RunEnd, TokenCounts};
use crate::sessions::{add, all_answered, non_blank, objects, push_fact, seconds_between};
use crate::source::{Input, read_all};
use std::collections::{HashMap, HashSet};
use touchstone_model::value::Value;

/// Maximum number of bytes that are read from the files of sub-agents.
const MOST_BYTES: u64 = 64 << 20;

/// Conversation as its records leave it.
#[derive(Debug, Default)]
pub(super) struct Conversation {
    metadata: HashMap<String, Value>,
    /// All messages in order of their first record, with whether they still count.
    messages: Vec<(Message, bool)>,
    /// Indexes of the messages that still count, in order, with their ids.
    current: Vec<(usize, String)>,
    by_id: HashMap<String, usize>,
}

/// Keys of the metadata that are kept.
const METADATA: [&str; 6] =
    ["sessionId", "startTime", "lastUpdated", "summary", "kind", "directories"];

impl Conversation {
    /// Takes a record: metadata, a message, a change, or a whole conversation.
    pub(super) fn add(&mut self, record: &Value) {
        if let Some(id) = record.text_at("$rewindTo") {
            self.rewind(id);
        } else if record.text_at("id").is_some() {
            self.message(record);
        } else if let Some(set) = record.get("$set") {
            if let Some(messages) = set.get("messages") {
                self.replace(messages.items());
            }
            self.metadata(set);
        } else if record.text_at("sessionId").is_some() {
            self.metadata(record);
            let messages = record.get("messages").map(Value::items).unwrap_or_default();
            for message in messages {
                self.message(message);
            }
        }
    }

    fn metadata(&mut self, record: &Value) {
        for key in METADATA {
            if let Some(value) = record.get_non_null(key) {
                self.metadata.insert(key.to_owned(), value.clone());
            }
        }
    }

    /// Takes a message. A later record of the same id stands for the earlier one.
    fn message(&mut self, record: &Value) {
        let (Some(id), Some(message)) = (record.text_at("id"), Message::read(record)) else {
            return;
        };
        if let Some(known) = self.by_id.get(id).and_then(|at| self.messages.get_mut(*at)) {
            known.0 = message;
            return;
        }
        let at = self.messages.len();
        self.by_id.insert(id.to_owned(), at);
        self.current.push((at, id.to_owned()));
        self.messages.push((message, true));
    }

    /// Abandons a message and all after it; all messages if there is none of this id.
    fn rewind(&mut self, id: &str) {
        let to = self.by_id.get(id).copied();
        while let Some((at, id)) = self.current.pop_if(|(at, _)| to.is_none_or(|to| *at >= to)) {
            self.by_id.remove(&id);
            self.messages[at].1 = false;
        }
    }

    /// Puts other messages in the place of all: those that are not among them are abandoned.
    fn replace(&mut self, messages: &[Value]) {
        let kept: HashSet<&str> = messages.iter().filter_map(|one| one.text_at("id")).collect();
        for (at, id) in std::mem::take(&mut self.current) {
            if kept.contains(id.as_str()) {
                self.current.push((at, id));
            } else {
                self.by_id.remove(&id);
                self.messages[at].1 = false;
            }
        }
        for message in messages {
            self.message(message);
        }
    }

    fn text(&self, key: &str) -> Option<String> {
        non_blank(self.metadata.get(key).and_then(Value::text))
    }

    /// Returns the id of the session.
    pub(super) fn id(&self) -> Option<String> {
        self.text("sessionId")
    }

    /// Builds the run.
    pub(super) fn into_run(self, input: &Input<'_>) -> ImportedRun {
        let mut run =
            ImportedRun { system: Some("gemini-cli".to_owned()), ..ImportedRun::default() };
        let current = || self.messages.iter().filter(|(_, counts)| *counts).map(|(one, _)| one);
        run.model = current().find_map(|message| message.model.clone());
        run.tokens = tokens(self.messages.iter().map(|(message, _)| message));
        (run.end, run.error) = end(current());
        run.started = self.text("startTime");
        let last = self.text("lastUpdated");
        run.seconds = run
            .started
            .as_deref()
            .zip(last.as_deref())
            .and_then(|(first, last)| seconds_between(first, last));
        let facts = [("title", "summary"), ("kind", "kind"), ("folders", "directories")];
        for (name, key) in facts {
            push_fact(&mut run.facts, name, self.metadata.get(key));
        }
        let session = self.id().unwrap_or_default();
        let mut agents = Agents { input, session, left: MOST_BYTES, opened: HashSet::new() };
        run.events = agents.events(self.messages);
        // The error that ended the run is shown at its end.
        if run.end == RunEnd::Error
            && matches!(run.events.last(), Some(Event { kind: EventKind::Error(_), .. }))
        {
            run.events.pop();
        }
        run
    }
}

/// Sub-agents, each in a file of its own.
struct Agents<'a, 'b> {
    input: &'b Input<'a>,
    session: String,
    left: u64,
    opened: HashSet<String>,
}

impl Agents<'_, '_> {
    /// Puts messages in order: those that were abandoned folded, sub-agents behind their calls.
    fn events(&mut self, messages: Vec<(Message, bool)>) -> Vec<Event> {
        let (mut events, mut left) = (Vec::new(), Vec::new());
        for (message, counts) in messages {
            if counts && !left.is_empty() {
                events.push(EventKind::Abandoned(std::mem::take(&mut left)).into());
            }
            let agents: HashMap<String, String> = message.agents.into_iter().collect();
            let target = if counts { &mut events } else { &mut left };
            for event in message.events {
                let started = match &event.kind {
                    EventKind::Call { id: Some(id), name, .. } => {
                        let agent = agents.get(id);
                        agent.map(|agent| (id.clone(), name.clone(), agent.clone()))
                    }
                    _ => None,
                };
                target.push(event);
                if let Some((call, name, agent)) = started
                    && let Some(events) = self.open(&agent)
                {
                    target.push(EventKind::SubAgent { name, call: Some(call), events }.into());
                }
            }
        }
        if !left.is_empty() {
            events.push(EventKind::Abandoned(left).into());
        }
        events
    }

    /// Reads the file of a sub-agent, once.
    fn open(&mut self, id: &str) -> Option<Vec<Event>> {
        let is_name = |text: &str| !text.is_empty() && !text.contains(['/', '\\', '.']);
        if !is_name(id) || !is_name(&self.session) || !self.opened.insert(id.to_owned()) {
            return None;
        }
        // Sub-agents have no folder of their own: those they start lie beside them.
        let parent = self.input.parent();
        let session = &self.session;
        let path = format!("{parent}/{session}/{id}.jsonl");
        let source = self.input.folder.open(path.trim_start_matches('/'))?;
        let size = source.size();
        if size > self.left {
            return None;
        }
        self.left -= size;
        let bytes = read_all(&*source).ok()?;
        let mut conversation = Conversation::default();
        objects(&bytes).0.for_each(|record| conversation.add(&record));
        // A sub-agent starts others rarely; every file is opened once, so this ends.
        (self.opened.len() < MOST_AGENTS).then(|| self.events(conversation.messages))
    }
}

/// Maximum number of sub-agents of a session.
const MOST_AGENTS: usize = 64;

/// Sums up the tokens of all answers, those of abandoned branches too.
fn tokens<'a>(messages: impl Iterator<Item = &'a Message>) -> Option<TokenCounts> {
    let (mut input, mut output, mut total) = (None, None, None);
    for tokens in messages.filter_map(|message| message.tokens) {
        add(&mut input, tokens.input);
        add(&mut output, tokens.output);
        add(&mut total, tokens.total);
    }
    TokenCounts::new(input, output, total)
}

/// Returns how a session ended, by its last message.
fn end<'a>(messages: impl Iterator<Item = &'a Message>) -> (RunEnd, Option<String>) {
    let last = messages.filter(|message| message.kind != Kind::Notice).last();
    let Some(last) = last else { return (RunEnd::Unfinished, None) };
    let text = last.events.iter().find_map(|event| match &event.kind {
        EventKind::Error(text) => Some(text.clone()),
        _ => None,
    });
    match last.kind {
        Kind::Error => (RunEnd::Error, text),
        Kind::Model if all_answered(last.events.iter().map(|event| &event.kind)) => {
            (RunEnd::Complete, None)
        }
        _ => (RunEnd::Unfinished, None),
    }
}
