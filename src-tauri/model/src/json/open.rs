//! **Pure.** Lists and objects that are still being parsed.
use crate::value::Value;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// A list or object that is still being parsed.
pub(super) enum Open {
    List(Vec<Value>),
    Object(Object),
}

#[derive(Default)]
pub(super) struct Object {
    pub(super) entries: Vec<(Value, Value)>,
    /// Key of the next value.
    key: String,
    /// Index of the entry to overwrite, if the key is a duplicate.
    again: Option<usize>,
    /// Index of every key, filled once there are too many for a linear search.
    seen: HashMap<String, usize>,
}

/// Number of keys up to which a linear search is used.
const FEW: usize = 16;

impl Object {
    /// Returns the index of the entry with this key, if the key occurred before.
    pub(super) fn place_of(&mut self, key: &str) -> Option<usize> {
        if self.entries.len() < FEW {
            return self.entries.iter().position(|(known, _)| known.text() == Some(key));
        }
        if self.seen.is_empty() {
            let keys = self.entries.iter().enumerate();
            self.seen =
                keys.filter_map(|(at, (known, _))| Some((known.text()?.to_owned(), at))).collect();
        }
        match self.seen.entry(key.to_owned()) {
            Entry::Occupied(known) => Some(*known.get()),
            Entry::Vacant(new) => {
                new.insert(self.entries.len());
                None
            }
        }
    }

    /// Sets the key of the next value, which overwrites the entry at index `again` if there is one.
    pub(super) fn expect(&mut self, key: String, again: Option<usize>) {
        self.key = key;
        self.again = again;
    }
}

impl Open {
    /// Adds a value. Returns the byte that closes the list or object.
    pub(super) fn put(&mut self, value: Value) -> u8 {
        match self {
            Self::List(items) => {
                items.push(value);
                b']'
            }
            Self::Object(object) => {
                let key = std::mem::take(&mut object.key);
                match object.again.take().and_then(|at| object.entries.get_mut(at)) {
                    Some((_, former)) => *former = value,
                    None => object.entries.push((Value::Text(key), value)),
                }
                b'}'
            }
        }
    }

    pub(super) fn close(self) -> Value {
        match self {
            Self::List(items) => Value::List(items),
            Self::Object(object) => Value::Map(object.entries),
        }
    }
}
