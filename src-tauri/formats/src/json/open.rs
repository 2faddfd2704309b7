//! **Pure.** Lists and objects that are still being read.
use crate::value::Value;
use std::collections::HashSet;

/// A list or object that is being read.
pub(super) enum Open {
    List(Vec<Value>),
    Object(Object),
}

#[derive(Default)]
pub(super) struct Object {
    pub(super) entries: Vec<(Value, Value)>,
    /// The key whose value comes next.
    pub(super) key: String,
    /// All keys, once there are too many to be looked through.
    seen: HashSet<String>,
}

/// Up to so many keys are looked through.
const FEW: usize = 16;

impl Object {
    pub(super) fn is_new(&mut self, key: &str) -> bool {
        if self.entries.len() < FEW {
            return self.entries.iter().all(|(known, _)| known.text() != Some(key));
        }
        if self.seen.is_empty() {
            self.seen = self.entries.iter().filter_map(|(known, _)| known.text()).map(str::to_owned).collect();
        }
        self.seen.insert(key.to_owned())
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
                object.entries.push((Value::Text(std::mem::take(&mut object.key)), value));
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
