//! **Pure.** Transcripts that are edited and rewritten. Unknown keys keep their content and
//! position. Comments and tags are lost; values, keys and their order are preserved for all YAML
//! parsers.
use super::sink::{Head, Role, Sink};
use super::{conversation, layout};
use std::collections::HashMap;
use touchstone_model::error::{ReadError, text_of};
use touchstone_model::node::{Node, Shape};
use touchstone_model::run::{Answer, Run, StepKind};
use touchstone_model::value::Value;
use touchstone_model::yaml;
use touchstone_model::yaml::tree::Item;

/// One entry of a conversation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ConversationEntry<'d> {
    /// Kind of the entry; `Unknown` for items that are not recognized.
    pub kind: StepKind,
    /// Turn, from 1. A message of the model and the calls of the same turn share it.
    pub turn: u32,
    /// Text of a message or map of a call; for an unknown item, the whole item.
    pub value: &'d Value,
    /// Item that holds the entry.
    pub item: &'d Value,
}

/// Sink that collects the turn of every step.
#[derive(Default)]
struct Turns(Vec<u32>);

impl<'t> Sink<'t> for Turns {
    fn step(&mut self, head: Head<'t>) {
        self.0.push(head.turn);
    }

    fn part<N: Node<'t>>(&mut self, _label: &str, _role: Role, _value: N) {}

    fn fact<N: Node<'t>>(&mut self, _key: &str, _value: N) {}

    fn answer<N: Node<'t>>(&mut self, _value: N, _source: &str) {}

    fn answer_found(&mut self, _answer: Answer) {}
}

/// A transcript file as keys and items. Equality compares the content only.
#[derive(Debug, Clone)]
pub struct Document {
    entries: Vec<(Value, Value)>,
    /// Texts that were unquoted in the source file, by top-level key and, in a conversation, by
    /// item.
    unquoted: HashMap<ItemKey, Vec<(String, bool)>>,
}

impl PartialEq for Document {
    fn eq(&self, other: &Self) -> bool {
        self.entries == other.entries
    }
}

/// Top-level key, and index of an item in it.
type ItemKey = (String, Option<usize>);

fn unquoted(root: Item<'_>) -> HashMap<ItemKey, Vec<(String, bool)>> {
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
    /// Returns an empty transcript of a tool-calling system.
    pub fn conversation() -> Self {
        Document {
            entries: vec![("conversation".into(), Value::List(Vec::new()))],
            ..Self::reply()
        }
    }

    /// Returns an empty transcript of a `PromptQL` system.
    pub fn reply() -> Self {
        Document { entries: Vec::new(), unquoted: HashMap::new() }
    }

    /// Parses a transcript for rewriting. Fails if the file is not a transcript.
    pub fn read(bytes: &[u8]) -> Result<Self, ReadError> {
        let tree = yaml::parse_fast(text_of(bytes)?)?;
        let value = tree.root().to_value();
        layout(&value)?;
        match value {
            Value::Map(entries) => Ok(Document { entries, unquoted: unquoted(tree.root()) }),
            _ => Ok(Document::reply()),
        }
    }

    /// Formats the file as YAML. Unchanged parts keep their meaning for every YAML parser.
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

    /// Appends, for each text of a value, the flag that it stays unquoted. All flags are false if
    /// the texts are not those of the source file.
    fn flag(&self, place: &ItemKey, value: &Value, flags: &mut Vec<bool>) {
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

    /// Converts the document to a run.
    pub fn run(&self) -> Result<Run, ReadError> {
        super::read(self.write().as_bytes())
    }

    /// Returns the value of a top-level key.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.entries.iter().find(|(k, _)| k.text() == Some(key)).map(|(_, value)| value)
    }

    /// Returns the items of the conversation.
    pub fn items(&self) -> &[Value] {
        self.get("conversation").map_or(&[], Value::items)
    }

    /// Returns the entries of the conversation in order. Their turns are equal to those in the
    /// [`Run`] of the file.
    pub fn conversation_entries(&self) -> Vec<ConversationEntry<'_>> {
        let mut turns = Turns::default();
        conversation::walk_items(self.items().iter(), &mut turns);
        let values = self.items().iter().flat_map(|item| {
            let known: Vec<_> =
                conversation::known_keys(item).map(|(kind, value)| (kind, value, item)).collect();
            if known.is_empty() { vec![(StepKind::Unknown, item, item)] } else { known }
        });
        values
            .zip(turns.0)
            .map(|((kind, value, item), turn)| ConversationEntry { kind, turn, value, item })
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

    /// Removes the last item of the conversation and returns it.
    pub fn pop(&mut self) -> Option<Value> {
        let Value::List(items) = self.slot("conversation") else { return None };
        let last = items.pop();
        let left = items.len();
        self.forget_items(left);
        last
    }

    /// Truncates the conversation to its first `count` items.
    pub fn keep(&mut self, count: usize) {
        if let Value::List(items) = self.slot("conversation") {
            items.truncate(count);
        }
        self.forget_items(count);
    }

    /// Forgets the quoting of removed items, since other items may take their place.
    fn forget_items(&mut self, from: usize) {
        self.unquoted.retain(|(_, at), _| at.is_none_or(|at| at < from));
    }

    /// Returns an item of the conversation for modification.
    pub fn item_mut(&mut self, at: usize) -> Option<&mut Value> {
        match self.slot("conversation") {
            Value::List(items) => items.get_mut(at),
            _ => None,
        }
    }

    /// Sets or removes the answer. Without an answer the key is absent, never `null`.
    pub fn set_answer(&mut self, answer: Option<Value>) {
        match answer {
            Some(value) => self.set("answer", value),
            None => self.remove("answer"),
        }
    }

    /// Sets a top-level key: in place if it exists, else at the end but before `run`.
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

    /// Returns the value of a top-level key, inserting null if the key is missing.
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
