//! **Pure.** A YAML or JSON value that keeps the text of numbers and the order of keys.

/// Any YAML or JSON value. Numbers keep their text, so `1.0` and `1` are not equal.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Value {
    /// Null.
    #[default]
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number, exactly as written.
    Number(String),
    /// Text.
    Text(String),
    /// A list.
    List(Vec<Value>),
    /// Pairs of key and value, in order. Keys are nearly always text.
    Map(Vec<(Value, Value)>),
}

impl Value {
    /// Returns the value of a text key of a map.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.entries().iter().find(|(k, _)| k.text() == Some(key)).map(|(_, v)| v)
    }

    /// Returns the text, if the value is text.
    pub fn text(&self) -> Option<&str> {
        match self {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the items of a list; empty for anything else.
    pub fn items(&self) -> &[Value] {
        match self {
            Value::List(items) => items,
            _ => &[],
        }
    }

    /// Returns the entries of a map; empty for anything else.
    pub fn entries(&self) -> &[(Value, Value)] {
        match self {
            Value::Map(entries) => entries,
            _ => &[],
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Value::Text(text.to_owned())
    }
}
