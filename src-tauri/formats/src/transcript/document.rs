//! **Pure.** A transcript that is rewritten: what we do not know stays as it is and where it is. Comments and the way scalars
//! were quoted do not survive; values, keys and their order do.
use super::sink::{Head, Role, Sink};
use super::{conversation, layout};
use crate::error::{ReadError, text_of};
use crate::node::Node;
use crate::run::{Answer, Run, StepKind};
use crate::value::Value;
use crate::yaml;

/// One thing that a conversation holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Said<'d> {
    /// What it is; what we do not know is `Unknown`.
    pub kind: StepKind,
    /// Turn, from 1. A message of the model and the calls of the same turn have the same.
    pub turn: u32,
    /// The text of a message, the map of a call; all of an item that we do not know.
    pub value: &'d Value,
    /// The item that it stands in.
    pub item: &'d Value,
}

/// Listens to a walk for the turn of every step.
#[derive(Default)]
struct Turns(Vec<u32>);

impl<'t> Sink<'t> for Turns {
    fn step(&mut self, head: Head<'t>) {
        self.0.push(head.turn);
    }

    fn part<N: Node<'t>>(&mut self, _label: &str, _role: Role, _value: N) {}

    fn fact<N: Node<'t>>(&mut self, _key: &str, _value: N) {}

    fn answer<N: Node<'t>>(&mut self, _value: N, _source: &str) {}

    fn found(&mut self, _answer: Answer) {}
}

/// A transcript file as keys and items.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    entries: Vec<(Value, Value)>,
}

impl Document {
    /// A transcript of a tool-calling system with nothing in it.
    pub fn conversation() -> Self {
        Document { entries: vec![("conversation".into(), Value::List(Vec::new()))] }
    }

    /// A transcript of a `PromptQL` system with nothing in it.
    pub fn reply() -> Self {
        Document { entries: Vec::new() }
    }

    /// Reads a file to rewrite it.
    pub fn read(bytes: &[u8]) -> Result<Self, ReadError> {
        let value = yaml::read(text_of(bytes)?)?;
        layout(&value)?;
        match value {
            Value::Map(entries) => Ok(Document { entries }),
            _ => Ok(Document::reply()),
        }
    }

    /// The text of the file.
    pub fn write(&self) -> String {
        yaml::write(&Value::Map(self.entries.clone()))
    }

    /// What the file says, as a run.
    pub fn run(&self) -> Result<Run, ReadError> {
        super::read(self.write().as_bytes())
    }

    /// The value of a top-level key.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.entries.iter().find(|(k, _)| k.text() == Some(key)).map(|(_, value)| value)
    }

    /// Items of the conversation.
    pub fn items(&self) -> &[Value] {
        self.get("conversation").map_or(&[], Value::items)
    }

    /// What the conversation holds, in order, with its turn: the same turns that a reader of the run sees.
    pub fn said(&self) -> Vec<Said<'_>> {
        let mut turns = Turns::default();
        conversation::walk_items(self.items().iter(), &mut turns);
        let values = self.items().iter().flat_map(|item| {
            let known: Vec<_> = conversation::known_keys(item).map(|(kind, value)| (kind, value, item)).collect();
            if known.is_empty() { vec![(StepKind::Unknown, item, item)] } else { known }
        });
        values.zip(turns.0).map(|((kind, value, item), turn)| Said { kind, turn, value, item }).collect()
    }

    /// Appends an item to the conversation.
    pub fn push(&mut self, kind: &str, value: Value) {
        let item = Value::Map(vec![(kind.into(), value)]);
        match self.slot("conversation") {
            Value::List(items) => items.push(item),
            other => *other = Value::List(vec![item]),
        }
    }

    /// Takes the last item of the conversation away.
    pub fn pop(&mut self) -> Option<Value> {
        match self.slot("conversation") {
            Value::List(items) => items.pop(),
            _ => None,
        }
    }

    /// Keeps the first items of the conversation.
    pub fn keep(&mut self, count: usize) {
        if let Value::List(items) = self.slot("conversation") {
            items.truncate(count);
        }
    }

    /// An item of the conversation, to be changed.
    pub fn item_mut(&mut self, at: usize) -> Option<&mut Value> {
        match self.slot("conversation") {
            Value::List(items) => items.get_mut(at),
            _ => None,
        }
    }

    /// Sets or removes the answer. No answer is no key, never `null`.
    pub fn set_answer(&mut self, answer: Option<Value>) {
        match answer {
            Some(value) => self.set("answer", value),
            None => self.remove("answer"),
        }
    }

    /// Sets a top-level key, in place when it is there, else at the end but before `run`.
    pub fn set(&mut self, key: &str, value: Value) {
        *self.slot(key) = value;
    }

    /// Removes a top-level key.
    pub fn remove(&mut self, key: &str) {
        self.entries.retain(|(k, _)| k.text() != Some(key));
    }

    /// Sets a key under `run:`.
    pub fn set_run(&mut self, key: &str, value: Value) {
        let run = self.slot("run");
        if !matches!(run, Value::Map(_)) {
            *run = Value::Map(Vec::new());
        }
        if let Value::Map(entries) = run {
            match entries.iter_mut().find(|(k, _)| k.text() == Some(key)) {
                Some((_, old)) => *old = value,
                None => entries.push((key.into(), value)),
            }
        }
    }

    /// The value of a top-level key, which is made when it is missing.
    fn slot(&mut self, key: &str) -> &mut Value {
        let place = |entries: &[(Value, Value)], key: &str| entries.iter().position(|(k, _)| k.text() == Some(key));
        let at = if let Some(at) = place(&self.entries, key) {
            at
        } else {
            let end = place(&self.entries, "run").unwrap_or(self.entries.len());
            self.entries.insert(end, (key.into(), Value::Null));
            end
        };
        &mut self.entries[at].1
    }
}
