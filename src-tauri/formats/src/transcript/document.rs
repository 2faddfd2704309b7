//! **Pure.** A transcript that is rewritten: what we do not know stays as it is and where it is.
//! Comments and tags do not survive; values, keys and their order do, for readers of any YAML.
use super::sink::{Head, Role, Sink};
use super::{conversation, layout};
use crate::error::{ReadError, text_of};
use crate::node::{Node, Shape};
use crate::run::{Answer, Run, StepKind};
use crate::value::Value;
use crate::yaml;
use crate::yaml::tree::Item;
use std::collections::HashMap;

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

/// A transcript file as keys and items. Two are equal when they say the same.
#[derive(Debug, Clone)]
pub struct Document {
    entries: Vec<(Value, Value)>,
    /// What the file it was read from left without quotes, by top-level key and, in a conversation,
    /// by item.
    unquoted: HashMap<Place, Vec<(String, bool)>>,
}

impl PartialEq for Document {
    fn eq(&self, other: &Self) -> bool {
        self.entries == other.entries
    }
}

/// A top-level key, and an item in it.
type Place = (String, Option<usize>);

fn unquoted(root: Item<'_>) -> HashMap<Place, Vec<(String, bool)>> {
    let mut all = HashMap::new();
    for (key, value) in root.entries() {
        let name = key.text().unwrap_or_default();
        let mut put = |at: Option<usize>, item: Item<'_>| {
            let found = yaml::unquoted::of_item(item);
            if found.iter().any(|(_, unquoted)| *unquoted) {
                all.insert((name.to_owned(), at), found);
            }
        };
        if name == "conversation" && value.shape() == Shape::List {
            value.items().enumerate().for_each(|(at, item)| put(Some(at), item));
        } else {
            put(None, value);
        }
    }
    all
}

impl Document {
    /// A transcript of a tool-calling system with nothing in it.
    pub fn conversation() -> Self {
        Document {
            entries: vec![("conversation".into(), Value::List(Vec::new()))],
            ..Self::reply()
        }
    }

    /// A transcript of a `PromptQL` system with nothing in it.
    pub fn reply() -> Self {
        Document { entries: Vec::new(), unquoted: HashMap::new() }
    }

    /// Reads a file to rewrite it.
    pub fn read(bytes: &[u8]) -> Result<Self, ReadError> {
        let tree = yaml::parse_fast(text_of(bytes)?)?;
        let value = tree.root().to_value();
        layout(&value)?;
        match value {
            Value::Map(entries) => Ok(Document { entries, unquoted: unquoted(tree.root()) }),
            _ => Ok(Document::reply()),
        }
    }

    /// The text of the file. What was not changed says to every reader what it said before.
    pub fn write(&self) -> String {
        let mut flags = Vec::new();
        for (key, value) in &self.entries {
            let mut of_key = Vec::new();
            yaml::unquoted::of_value(key, &mut of_key);
            flags.extend(of_key.iter().map(|_| false));
            let name = key.text().unwrap_or_default();
            match value {
                Value::List(items) if name == "conversation" => {
                    items.iter().enumerate().for_each(|(at, item)| {
                        self.flag(&(name.to_owned(), Some(at)), item, &mut flags);
                    });
                }
                value => self.flag(&(name.to_owned(), None), value, &mut flags),
            }
        }
        yaml::write_as_it_was(&Value::Map(self.entries.clone()), &flags)
    }

    /// Which texts of a value stay without quotes; none when others stood there.
    fn flag(&self, place: &Place, value: &Value, flags: &mut Vec<bool>) {
        let mut texts = Vec::new();
        yaml::unquoted::of_value(value, &mut texts);
        let before = self
            .unquoted
            .get(place)
            .filter(|before| before.iter().map(|(text, _)| text).eq(&texts));
        match before {
            Some(before) => flags.extend(before.iter().map(|(_, unquoted)| *unquoted)),
            None => flags.extend(texts.iter().map(|_| false)),
        }
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

    /// What the conversation holds, in order, with its turn: the same turns that a reader of the
    /// run sees.
    pub fn said(&self) -> Vec<Said<'_>> {
        let mut turns = Turns::default();
        conversation::walk_items(self.items().iter(), &mut turns);
        let values = self.items().iter().flat_map(|item| {
            let known: Vec<_> =
                conversation::known_keys(item).map(|(kind, value)| (kind, value, item)).collect();
            if known.is_empty() { vec![(StepKind::Unknown, item, item)] } else { known }
        });
        values
            .zip(turns.0)
            .map(|((kind, value, item), turn)| Said { kind, turn, value, item })
            .collect()
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
        let Value::List(items) = self.slot("conversation") else { return None };
        let last = items.pop();
        let left = items.len();
        self.forget_items(left);
        last
    }

    /// Keeps the first items of the conversation.
    pub fn keep(&mut self, count: usize) {
        if let Value::List(items) = self.slot("conversation") {
            items.truncate(count);
        }
        self.forget_items(count);
    }

    /// What comes in place of items that were taken away is something else.
    fn forget_items(&mut self, from: usize) {
        self.unquoted.retain(|(_, at), _| at.is_none_or(|at| at < from));
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
        let place = |entries: &[(Value, Value)], key: &str| {
            entries.iter().position(|(k, _)| k.text() == Some(key))
        };
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
