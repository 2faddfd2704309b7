//! **Pure.** A transcript that is rewritten: what we do not know stays as it is and where it is. Comments and the way scalars
//! were quoted do not survive; values, keys and their order do.
use super::layout;
use crate::error::{ReadError, text_of};
use crate::run::Run;
use crate::value::Value;
use crate::yaml;

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
