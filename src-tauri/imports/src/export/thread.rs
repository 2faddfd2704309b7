//! **Pure.** Conversations as lists of messages, for `OpenAI` and Inspect, and what stands beside the
//! messages: sub-agents, abandoned branches, remarks. Such an object says after how many messages it
//! stands; [`read_beside`] reads it back.
use super::walk::{Agent, Call, Item, ItemKind, Reply, Thread, Turn};
use super::{MOST_LEVELS, content, integer, list, maybe_text, object, text};
use crate::messages::read_message;
use crate::run::{Event, EventKind, Media};
use touchstone_model::json;
use touchstone_model::value::Value;

/// Key, in the metadata of a message, of the ids of calls whose arguments are no object. They stand
/// as the only value of an object.
const WRAPPED: &str = "touchstone_wrapped";
/// Key of that value.
pub(super) const INPUT: &str = "input";
/// Name of a user that a model plays.
const SIMULATED: &str = "simulated_user";

/// Kind of messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    OpenAi,
    Inspect,
}

/// Messages, and what stands beside them.
#[derive(Debug, Default)]
pub(super) struct Messages {
    pub(super) messages: Vec<Value>,
    pub(super) beside: Vec<Value>,
}

/// Writes a conversation.
pub(super) fn write_messages(thread: &Thread, dialect: Dialect) -> Messages {
    let mut written = Messages::default();
    for item in &thread.items {
        written.item(item, dialect);
    }
    written
}

impl Messages {
    fn item(&mut self, item: &Item, dialect: Dialect) {
        match &item.kind {
            ItemKind::System(said) => self.message("system", said, None),
            ItemKind::User { text: said, is_simulated } => {
                let mark = match dialect {
                    Dialect::OpenAi => ("name", text(SIMULATED)),
                    Dialect::Inspect => {
                        ("metadata", Some(object([("touchstone_event", text(SIMULATED))])))
                    }
                };
                self.message("user", said, is_simulated.then_some(mark));
            }
            ItemKind::Turn(turn) if turn.by_user => {
                // Only the model's messages may hold calls.
                let mut inner = Messages::default();
                inner.turn(turn, dialect, "user");
                self.beside("user_calls", [("messages", list(inner.messages))]);
            }
            ItemKind::Turn(turn) => self.turn(turn, dialect, "assistant"),
            ItemKind::Reply(reply) => {
                let message = tool_message(reply, reply.id.as_deref(), None, dialect);
                self.beside("result", [("messages", list(vec![message]))]);
            }
            ItemKind::SubAgent(agent) => self.agent(agent, None, dialect),
            ItemKind::Abandoned(thread) => {
                let inner = write_messages(thread, dialect);
                let beside = ("beside", list(inner.beside));
                self.beside("abandoned", [("messages", list(inner.messages)), beside]);
            }
            ItemKind::Compaction(said) => self.beside("compaction", [("text", text(said))]),
            ItemKind::Error(said) => self.beside("error", [("text", text(said))]),
            ItemKind::Note(said) => self.beside("note", [("text", text(said))]),
        }
        for media in &item.media {
            self.beside("media", [("text", text(media))]);
        }
    }

    fn message(&mut self, role: &str, said: &str, mark: Option<(&'static str, Option<Value>)>) {
        let entries = [("role", text(role)), ("content", text(said))];
        self.messages.push(object(entries.into_iter().chain(mark)));
    }

    fn beside<'a>(
        &mut self,
        kind: &str,
        entries: impl IntoIterator<Item = (&'a str, Option<Value>)>,
    ) {
        let start = [("kind", text(kind)), ("after", integer(self.messages.len() as u64))];
        self.beside.push(object(start.into_iter().chain(entries)));
    }

    fn agent(&mut self, agent: &Agent, call: Option<&str>, dialect: Dialect) {
        let inner = write_messages(&agent.thread, dialect);
        let entries = [
            ("name", text(&agent.name)),
            ("call", maybe_text(call)),
            ("messages", list(inner.messages)),
            ("beside", list(inner.beside)),
        ];
        self.beside("sub_agent", entries);
    }

    fn turn(&mut self, turn: &Turn, dialect: Dialect, role: &str) {
        self.messages.push(match dialect {
            Dialect::OpenAi => openai_turn(turn, role),
            Dialect::Inspect => inspect_turn(turn, role),
        });
        for call in &turn.calls {
            for agent in &call.agents {
                self.agent(agent, Some(&call.id), dialect);
            }
        }
        for call in &turn.calls {
            for reply in &call.replies {
                let message = tool_message(reply, Some(&call.id), Some(&call.name), dialect);
                self.messages.push(message);
                // These messages have no mark of a failure.
                if dialect == Dialect::OpenAi && reply.failed == Some(true) {
                    self.beside("failed", [("call", text(&call.id))]);
                }
            }
        }
    }
}

fn openai_turn(turn: &Turn, role: &str) -> Value {
    let call = |call: &Call| {
        let arguments = match &call.arguments {
            Value::Null => "{}".to_owned(),
            Value::Text(text) => text.clone(),
            other => json::write(other, false),
        };
        let function = object([("name", text(&call.name)), ("arguments", text(arguments))]);
        object([("id", text(&call.id)), ("type", text("function")), ("function", Some(function))])
    };
    object([
        ("role", text(role)),
        ("content", Some(turn.text.as_deref().map_or(Value::Null, Value::from))),
        ("reasoning_content", (!turn.reasoning.is_empty()).then(|| reasoning_text(turn))),
        ("tool_calls", list(turn.calls.iter().map(call).collect())),
    ])
}

/// Joins the blocks of reasoning, for formats that have one text for all.
pub(super) fn reasoning_text(turn: &Turn) -> Value {
    Value::Text(turn.reasoning.join("\n\n"))
}

fn inspect_turn(turn: &Turn, role: &str) -> Value {
    let said = turn.text.as_deref().unwrap_or_default();
    let content = if turn.reasoning.is_empty() {
        Value::from(said)
    } else {
        let thought = turn
            .reasoning
            .iter()
            .map(|thought| object([("type", text("reasoning")), ("reasoning", text(thought))]));
        let said = turn.text.as_deref();
        let said = said.map(|said| object([("type", text("text")), ("text", text(said))]));
        Value::List(thought.chain(said).collect())
    };
    let call = |call: &Call| {
        object([
            ("id", text(&call.id)),
            ("function", text(&call.name)),
            ("arguments", Some(wrapped_arguments(&call.arguments).0)),
            ("type", text("function")),
        ])
    };
    let wrapped = turn.calls.iter().filter(|call| wrapped_arguments(&call.arguments).1);
    let wrapped = list(wrapped.map(|call| Value::from(call.id.as_str())).collect());
    object([
        ("role", text(role)),
        ("content", Some(content)),
        ("tool_calls", list(turn.calls.iter().map(call).collect())),
        ("metadata", wrapped.map(|ids| object([(WRAPPED, Some(ids))]))),
    ])
}

/// Returns the arguments as an object, and whether they had to be wrapped for that.
pub(super) fn wrapped_arguments(given: &Value) -> (Value, bool) {
    match crate::text::arguments(Some(given)) {
        given @ Value::Map(_) => (given, false),
        other => (object([(INPUT, Some(other))]), true),
    }
}

fn tool_message(reply: &Reply, id: Option<&str>, name: Option<&str>, dialect: Dialect) -> Value {
    let said = content(&reply.value);
    let entries = [("role", text("tool")), ("tool_call_id", maybe_text(id))];
    let rest = match dialect {
        Dialect::OpenAi => [("content", text(said)), ("name", None), ("error", None)],
        Dialect::Inspect => {
            let error = (reply.failed == Some(true))
                .then(|| object([("type", text("unknown")), ("message", text(&said))]));
            let name = maybe_text(name.or(reply.name.as_deref()));
            [("content", text(said)), ("function", name), ("error", error)]
        }
    };
    object(entries.into_iter().chain(rest))
}

/// What stands beside the messages, with the number of messages before it.
pub(crate) struct Beside {
    pub(crate) after: usize,
    pub(crate) events: Vec<Event>,
}

/// Reads what stands beside messages, in order.
pub(crate) fn read_beside(beside: &Value) -> Vec<Beside> {
    read_beside_level(beside, MOST_LEVELS)
}

fn read_beside_level(beside: &Value, levels: usize) -> Vec<Beside> {
    let read = |one: &Value| {
        let after = usize::try_from(one.get("after")?.whole_number()?).ok()?;
        let said = || one.text_at("text").map(str::to_owned);
        let events = || Some(read_messages(one, levels.checked_sub(1)?));
        let events = match one.text_at("kind")? {
            "sub_agent" => vec![
                EventKind::SubAgent {
                    name: one.text_at("name").unwrap_or_default().to_owned(),
                    call: one.text_at("call").map(str::to_owned),
                    events: events()?,
                }
                .into(),
            ],
            "abandoned" => vec![EventKind::Abandoned(events()?).into()],
            "user_calls" => {
                let mut events = events()?;
                for event in &mut events {
                    if let EventKind::Call { by_user, .. } = &mut event.kind {
                        *by_user = true;
                    }
                }
                events
            }
            "result" => events()?,
            "compaction" => vec![EventKind::Compaction(said()?).into()],
            "error" => vec![EventKind::Error(said()?).into()],
            "note" => vec![EventKind::Note(said()?).into()],
            "media" => vec![EventKind::Media(Media::described(said()?)).into()],
            _ => return None,
        };
        Some(Beside { after, events })
    };
    beside.items().iter().filter_map(read).collect()
}

/// Reads messages with what stands beside them.
fn read_messages(holder: &Value, levels: usize) -> Vec<Event> {
    let messages = holder.get("messages").map(Value::items).unwrap_or_default();
    let beside = holder.get("beside").unwrap_or(&Value::Null);
    let mut beside = read_beside_level(beside, levels).into_iter().peekable();
    let mut events = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        while let Some(one) = beside.next_if(|one| one.after <= at) {
            events.extend(one.events);
        }
        let mut own = read_message(message);
        restore_marks(message, &mut own);
        events.extend(own.into_iter().map(Event::from));
    }
    events.extend(beside.flat_map(|one| one.events));
    events
}

/// Restores what a message of this program says in its marks: arguments that are no object, and a
/// user that a model plays.
pub(crate) fn restore_marks(message: &Value, events: &mut [EventKind]) {
    let event = message.at_path(&["metadata", "touchstone_event"]).and_then(Value::text);
    let is_simulated = event == Some(SIMULATED) || message.text_at("name") == Some(SIMULATED);
    let wrapped = message.at_path(&["metadata", WRAPPED]).map(Value::items).unwrap_or_default();
    for kind in events {
        match kind {
            EventKind::User(said) if is_simulated => {
                *kind = EventKind::SimulatedUser(std::mem::take(said));
            }
            EventKind::Call { id: Some(id), arguments, .. }
                if wrapped.iter().any(|known| known.text() == Some(id)) =>
            {
                if let Some(input) = arguments.get(INPUT) {
                    *arguments = input.clone();
                }
            }
            _ => {}
        }
    }
}
