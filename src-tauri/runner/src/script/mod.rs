//! **Pure.** A tool-calling transcript that is being written: parsed into turns, extended, and
//! finished. Unknown content of the file is preserved in place. Owns no file and no provider.
mod facts;
mod fit;
mod search_tree;
mod user;
pub(super) mod walk;

pub use facts::{Facts, ForkedFrom};

use super::conversation::{AssistantMessage, Call, Outcome, Turn};
use super::provider::{Reply, Usage};
use crate::scalar_text::word;
use std::collections::HashSet;
use touchstone_formats::answer_tag;
use touchstone_formats::transcript::{self, Document, is_automatic, is_simulated_item};
use touchstone_model::value::Value;
use touchstone_model::{answer, json};
use walk::{AssistantTurn, Group, KINDS, Kind, Piece, parse_u64};

pub(super) use facts::{get as facts_of, set as set_facts};
pub(super) use fit::{parts as fit_parts, value as fit};
pub(super) use search_tree::{fit_reply, fitted_outcome};
pub use user::UserFacts;

/// A transcript that is being written.
#[derive(Debug, Clone, PartialEq)]
pub struct TranscriptWriter {
    document: Document,
}

/// Last element of a conversation; it determines the next step of the run.
#[derive(Debug, Clone, PartialEq)]
pub enum End {
    /// The conversation has no messages.
    AbsentFirstMessage,
    /// A user message or a nudge.
    User,
    /// An assistant turn with calls that have not been run.
    OpenCalls,
    /// An assistant turn whose calls all have outcomes.
    CallsDone,
    /// A message of the model.
    Assistant,
    /// A system error.
    Error {
        /// The error in the file.
        error: Value,
    },
}

/// A tool call that has not been run.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenCall {
    /// Index of its item in the conversation.
    pub index: usize,
    /// Number of its assistant turn, from 1.
    pub turn: u32,
    /// The call.
    pub call: Call,
}

impl From<Document> for TranscriptWriter {
    fn from(document: Document) -> Self {
        Self { document }
    }
}

impl TranscriptWriter {
    /// Creates a conversation that starts with this message.
    pub fn new(first_user_message: &str) -> Self {
        let mut script = Self { document: Document::conversation() };
        script.nudge(first_user_message);
        script
    }

    /// Creates a conversation without messages, which a simulated user begins.
    pub fn without_messages() -> Self {
        Self { document: Document::conversation() }
    }

    /// Returns the document.
    pub fn document(&self) -> &Document {
        &self.document
    }

    /// Formats the document as the text of the file.
    pub fn write(&self) -> String {
        self.document.write()
    }

    /// Returns the turns in order. Before the next model request every call needs an outcome; see
    /// [`Self::open_calls`].
    pub fn turns(&self) -> Vec<Turn> {
        let pieces = walk::pieces(self.document.items());
        let mut ids = Ids::default();
        let (groups, _) = walk::group(&pieces);
        let items = self.document.items();
        let mut is_taken_back = false;
        // From a message that was taken back to the next one of a user. A nudge is none: it belongs
        // to the answer before it.
        let seen = groups.iter().filter(|group| {
            if let Group::User(message) = group {
                let item = items.get(message.item);
                let is_nudge = !item.is_some_and(is_simulated_item)
                    && is_automatic(&message_text(message.value));
                if !is_nudge {
                    is_taken_back = item.is_some_and(user::is_taken_back);
                }
            }
            !is_taken_back
        });
        let turns = seen.map(|group| match group {
            Group::User(message) => Turn::User(message_text(message.value)),
            Group::Assistant(spoken) => {
                let text = spoken
                    .message
                    .map(|message| message_text(message.value))
                    .filter(|text| !text.is_empty());
                let calls =
                    spoken.calls.iter().map(|call| ids.call(call.item, call.value)).collect();
                Turn::Assistant(AssistantMessage {
                    text,
                    kept: self.thinking(spoken.number),
                    calls,
                })
            }
        });
        // A reply without text and calls is in the file, but providers do not accept it.
        turns
            .filter(|turn| !matches!(turn, Turn::Assistant(said) if *said == AssistantMessage::default()))
            .collect()
    }

    /// Returns the number of the next assistant turn.
    pub fn next_turn(&self) -> u32 {
        let (_, last) = walk::group(&walk::pieces(self.document.items()));
        u32::try_from(last).unwrap_or(u32::MAX).saturating_add(1)
    }

    /// Appends a reply, and returns the number of its turn. An empty reply is stored as an empty
    /// message, which makes it visible.
    pub fn push_reply(&mut self, reply: &Reply) -> u32 {
        let turn = self.next_turn();
        let number = || Value::Number(turn.to_string());
        if reply.text.is_some() || reply.calls.is_empty() {
            let text = fit::text(reply.text.as_deref().unwrap_or_default());
            self.document.push("assistant_message", Value::Text(text));
        }
        for call in &reply.calls {
            let entries = [
                ("id", Value::Text(call.id.clone())),
                ("name", Value::Text(fit::text(&call.name))),
                ("params", fit::value(&call.params)),
                ("turn", number()),
            ];
            self.document.push(
                "tool_call",
                Value::Map(entries.map(|(key, value)| (key.into(), value)).into()),
            );
        }
        // The blocks are signed, and useless if they are changed.
        if !reply.kept.is_empty() && reply.kept.iter().all(fit::is_fit) {
            let mut all =
                self.run("thinking").map_or_else(Vec::new, |thinking| thinking.items().to_vec());
            let blocks = Value::List(reply.kept.clone());
            all.push(Value::Map(vec![("turn".into(), number()), ("blocks".into(), blocks)]));
            self.document.set_run("thinking", Value::List(all));
        }
        turn
    }

    /// Returns every call without an outcome, in order, including those in the middle that were
    /// left open by an edit.
    pub fn open_calls(&self) -> Vec<OpenCall> {
        let pieces = walk::pieces(self.document.items());
        let mut ids = Ids::default();
        let mut open = Vec::new();
        for group in walk::group(&pieces).0 {
            let Group::Assistant(AssistantTurn { number, calls, .. }) = group else { continue };
            for piece in calls {
                let call = ids.call(piece.item, piece.value);
                if call.outcome.is_none() {
                    let turn = u32::try_from(number).unwrap_or(u32::MAX);
                    open.push(OpenCall { index: piece.item, turn, call });
                }
            }
        }
        open
    }

    /// Writes the outcome of a call into its item.
    pub fn close_call(&mut self, index: usize, outcome: &Outcome, seconds: Option<f64>) {
        let Some(Value::Map(entries)) = self.document.item_mut(index) else { return };
        let Some((_, call)) = entries.iter_mut().find(|(key, _)| key.text() == Some("tool_call"))
        else {
            return;
        };
        if !matches!(call, Value::Map(_)) {
            // A hand-written call may consist of only its name.
            *call = Value::Map(vec![("name".into(), call.clone())]);
        }
        let Value::Map(entries) = call else { return };
        let (key, value) = match outcome {
            Outcome::Result(value) => ("result", value),
            Outcome::Error(value) => ("error", value),
        };
        entries.retain(|(key, value)| !(key.text() == Some("error") && *value == Value::Null));
        put(entries, key, fit::value(value));
        if let Some(seconds) = seconds {
            put(entries, "seconds", Value::Number(format!("{}", (seconds * 1e3).round() / 1e3)));
        }
    }

    /// Appends a message of the user, or an automatic nudge.
    pub fn nudge(&mut self, text: &str) {
        self.document.push("user_message", Value::Text(fit::text(text)));
    }

    /// Ends the run with a system error.
    pub fn fail(&mut self, error: &Value) {
        self.document.push("error", fit::value(error));
    }

    /// Removes the error at the end. Other, unknown content beside it is preserved.
    pub fn drop_error(&mut self) {
        if self.document.get("error").is_some() {
            self.document.remove("error");
        }
        let items = self.document.items();
        let pieces = walk::pieces(items);
        let talk = |kind| matches!(kind, Kind::User | Kind::Assistant | Kind::Call);
        let last = pieces.iter().rposition(|piece| talk(piece.kind)).map_or(0, |at| at + 1);
        let errors = pieces.iter().skip(last).filter(|piece| piece.kind == Kind::Error);
        let errors: HashSet<usize> = errors.map(|piece| piece.item).collect();
        if !errors.is_empty() {
            let left = items.iter().enumerate().filter_map(|(at, item)| {
                if errors.contains(&at) { without_error(item) } else { Some(item.clone()) }
            });
            let left = left.collect();
            self.document.set("conversation", Value::List(left));
        }
    }

    /// Returns the last element of the conversation.
    pub fn end(&self) -> End {
        if let Some(error) = self.document.get("error").filter(|error| **error != Value::Null) {
            return End::Error { error: error.clone() };
        }
        let pieces = walk::pieces(self.document.items());
        let last =
            pieces.iter().rev().find(|piece| !matches!(piece.kind, Kind::System | Kind::Unknown));
        match last.map(|piece| (piece.kind, piece.value)) {
            Some((Kind::Error, error)) => End::Error { error: error.clone() },
            Some((Kind::User, _)) => End::User,
            Some((Kind::Assistant, _)) => End::Assistant,
            Some((Kind::Call, _)) => match walk::group(&pieces).0.last() {
                Some(Group::Assistant(spoken))
                    if spoken.calls.iter().any(|call| outcome(call.value).is_none()) =>
                {
                    End::OpenCalls
                }
                _ => End::CallsDone,
            },
            _ => End::AbsentFirstMessage,
        }
    }

    /// Returns true if the conversation has any message or call.
    pub fn is_spoken(&self) -> bool {
        let pieces = walk::pieces(self.document.items());
        pieces.iter().any(|piece| matches!(piece.kind, Kind::User | Kind::Assistant | Kind::Call))
    }

    /// Returns the first user message.
    pub fn first_message(&self) -> Option<String> {
        let pieces = walk::pieces(self.document.items());
        pieces.iter().find(|piece| piece.kind == Kind::User).map(|piece| message_text(piece.value))
    }

    /// Returns the number of user messages after the first. Nudges are subtracted, using their
    /// count in the file; if the file has no start time, also the number of messages with a nudge's
    /// wording.
    pub fn follow_ups(&self) -> usize {
        let pieces = walk::pieces(self.document.items());
        let items = self.document.items();
        let is_sent = |piece: &&Piece<'_>| {
            piece.kind == Kind::User && !items.get(piece.item).is_some_and(is_simulated_item)
        };
        // A message that a model wrote in the role of the user is no follow-up of a person.
        let has_user = items.iter().any(is_simulated_item);
        let later: Vec<&Piece<'_>> =
            pieces.iter().filter(is_sent).skip(usize::from(!has_user)).collect();
        let facts = self.facts();
        let seen = if facts.started.is_some() { 0 } else { self.nudges_by_words() };
        let told = facts.nudges.and_then(|count| usize::try_from(count).ok()).unwrap_or(0);
        later.len().saturating_sub(seen.max(told))
    }

    /// Returns the number of messages after the first that have the wording of an automatic nudge.
    pub fn nudges_by_words(&self) -> usize {
        let pieces = walk::pieces(self.document.items());
        let later = pieces.iter().filter(|piece| piece.kind == Kind::User).skip(1);
        later.filter(|piece| is_automatic(&message_text(piece.value))).count()
    }

    /// Returns the number of steps, counted the way the page numbers them.
    pub fn steps(&self) -> usize {
        walk::pieces(self.document.items()).len()
    }

    /// Returns the names of all called tools, in order, including failed calls.
    pub fn called(&self) -> Vec<String> {
        let pieces = walk::pieces(self.document.items());
        pieces
            .iter()
            .filter(|piece| piece.kind == Kind::Call)
            .map(|piece| name_of(piece.value))
            .collect()
    }

    /// Returns the run facts in the file.
    pub fn facts(&self) -> Facts {
        facts::get(&self.document)
    }

    /// Writes the known facts; a fact that is `None` stays unchanged.
    pub fn set_facts(&mut self, facts: &Facts) {
        facts::set(&mut self.document, facts);
    }

    /// Adds the usage and cost of a request to the run facts.
    pub fn spend(&mut self, usage: &Usage, cost: Option<f64>) {
        let mut facts = self.facts();
        // Once a request was counted, a missing cost means an unknown cost.
        let first = facts.turns.is_none() && self.next_turn() == 1;
        facts.turns = Some(facts.turns.unwrap_or(0));
        let used = facts.usage.map_or(*usage, |before| before.plus(usage));
        facts.usage = (used != Usage::default()).then_some(used);
        facts.cost = match (facts.cost, cost) {
            (Some(sum), Some(cost)) => Some(sum + cost),
            (None, Some(cost)) if first => Some(cost),
            _ => None,
        };
        if facts.cost.is_none() {
            self.forget("cost");
        }
        self.set_facts(&facts);
    }

    /// Removes a fact, such as a cost that is no longer known or the end time of a resumed run.
    pub fn forget(&mut self, fact: &str) {
        facts::forget(&mut self.document, fact);
    }

    /// Writes the model's answer if the conversation is complete, and removes the key otherwise.
    /// For a query (`result_tag` is [`answer::WHOLE_MESSAGE`]) it is the answer that a reader would
    /// find in the transcript.
    pub fn finish(&mut self, result_tag: Option<&str>) {
        let found = match self.end() {
            End::Assistant if result_tag == Some(answer::WHOLE_MESSAGE) => {
                self.document.set_answer(None);
                let run = transcript::read(self.write().as_bytes()).ok();
                run.and_then(|mut run| {
                    answer_tag::apply(&mut run, answer::WHOLE_MESSAGE);
                    run.answer
                })
            }
            End::Assistant => {
                let pieces = walk::pieces(self.document.items());
                let said = pieces.iter().filter(|piece| piece.kind == Kind::Assistant);
                let messages: Vec<&str> = said.filter_map(|piece| piece.value.text()).collect();
                answer::extract(&messages, result_tag)
            }
            _ => None,
        };
        let lenient = found.as_ref().is_some_and(|answer| answer.lenient);
        self.document.set_answer(found.map(|answer| fit::value(&answer.value)));
        if lenient {
            self.document.set_run("answer_lenient", Value::Bool(true));
        } else {
            self.forget("answer_lenient");
        }
    }

    /// Returns true if the file has an answer.
    pub fn has_answer(&self) -> bool {
        self.document.get("answer").is_some()
    }

    fn run(&self, key: &str) -> Option<&Value> {
        self.document.get("run")?.get(key)
    }

    /// Returns the thinking blocks of an assistant turn.
    fn thinking(&self, turn: u64) -> Vec<Value> {
        let all = self.run("thinking").map_or(&[][..], Value::items);
        let of_turn = all.iter().find(|entry| entry.get("turn").and_then(parse_u64) == Some(turn));
        of_turn
            .and_then(|entry| entry.get("blocks"))
            .map_or_else(Vec::new, |blocks| blocks.items().to_vec())
    }
}

/// Sets a key in place, or inserts it before `turn:`, which keeps the outcome of a call beside its
/// parameters.
fn put(entries: &mut Vec<(Value, Value)>, key: &str, value: Value) {
    if let Some((_, old)) = entries.iter_mut().find(|(known, _)| known.text() == Some(key)) {
        *old = value;
        return;
    }
    let end =
        entries.iter().position(|(known, _)| known.text() == Some("turn")).unwrap_or(entries.len());
    entries.insert(end, (key.into(), value));
}

/// Returns an item without its error, or `None` if nothing else is left.
fn without_error(item: &Value) -> Option<Value> {
    let ours = |key: &Value| {
        key.text().is_some_and(|key| {
            KINDS.iter().any(|(kind, _)| *kind == key) || matches!(key, "seconds" | "tokens")
        })
    };
    let said = |(key, value): &(Value, Value)| {
        let is_error = key.text() == Some("error");
        !is_error && (!ours(key) || *value != Value::Null)
    };
    let left: Vec<(Value, Value)> =
        item.entries().iter().filter(|entry| said(entry)).cloned().collect();
    left.iter()
        .any(|(key, _)| !matches!(key.text(), Some("seconds" | "tokens")))
        .then_some(Value::Map(left))
}

/// Returns a message as text; other values are formatted as JSON.
pub(super) fn message_text(message: &Value) -> String {
    match message {
        Value::Null => String::new(),
        other => word(other).unwrap_or_else(|| json::write(other, false)),
    }
}

fn name_of(call: &Value) -> String {
    word(call).or_else(|| call.get("name").and_then(word)).unwrap_or_default()
}

/// Returns the outcome of a call, from its item.
pub(super) fn outcome(call: &Value) -> Option<Outcome> {
    match call.get("error").filter(|error| **error != Value::Null) {
        Some(error) => Some(Outcome::Error(error.clone())),
        None => call.get("result").cloned().map(Outcome::Result),
    }
}

/// Gives every call a unique id: files may have none, and some models repeat the same one.
#[derive(Default)]
struct Ids {
    seen: HashSet<String>,
}

impl Ids {
    fn call(&mut self, item: usize, call: &Value) -> Call {
        let mut id = call
            .get("id")
            .and_then(word)
            .filter(|id| !id.is_empty())
            .unwrap_or_else(|| format!("call_{item}"));
        // Only earlier calls matter, so that resuming does not change requests that were sent
        // before.
        while !self.seen.insert(id.clone()) {
            id = format!("{id}_{item}");
        }
        let params = match call.get("params") {
            None | Some(Value::Null) => Value::Map(Vec::new()),
            Some(params @ (Value::Map(_) | Value::Text(_))) => params.clone(),
            Some(other) => Value::Text(json::write(other, false)),
        };
        Call { id, name: name_of(call), params, outcome: outcome(call) }
    }
}

#[cfg(test)]
mod tests;
