//! **Pure.** Lists and objects that are still being read.
use crate::value::Value;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// A list or object that is being read.
pub(super) enum Open {
    List(Vec<Value>),
    Object(Object),
}

#[derive(Default)]
pub(super) struct Object {
    pub(super) entries: Vec<(Value, Value)>,
    /// The key whose value comes next.
    key: String,
    /// Where the value comes to when its key stood before.
    again: Option<usize>,
    /// All keys and their places, once there are too many to be looked through.
    seen: HashMap<String, usize>,
}

/// Up to so many keys are looked through.
const FEW: usize = 16;

impl Object {
    /// The place of an entry whose key has been read before.
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

    /// Takes a key whose value comes next, in place of the one of that entry if one is named.
    pub(super) fn expect(&mut self, key: String, again: Option<usize>) {
        self.key = key;
        self.again = again;
    }
}

impl Open {
    /// Adds a value; the byte that ends it all.
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
