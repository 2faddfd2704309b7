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

    /// Returns the value at a path of text keys.
    pub fn at_path(&self, path: &[&str]) -> Option<&Value> {
        path.iter().try_fold(self, |value, key| value.get(key))
    }

    /// Returns the value of a text key, unless it is null.
    pub fn get_non_null(&self, key: &str) -> Option<&Value> {
        self.get(key).filter(|value| **value != Value::Null)
    }

    /// Returns the text of a key of a map.
    pub fn text_at(&self, key: &str) -> Option<&str> {
        self.get(key)?.text()
    }

    /// Returns the number, if the value is a finite number.
    pub fn number(&self) -> Option<f64> {
        match self {
            Value::Number(text) => text.parse().ok().filter(|number: &f64| number.is_finite()),
            _ => None,
        }
    }

    /// Returns the number, if the value is a whole number that is not negative.
    pub fn whole_number(&self) -> Option<u64> {
        let Value::Number(text) = self else { return None };
        let whole = || text.parse::<f64>().ok().filter(|number| number.fract() == 0.0);
        text.parse().ok().or_else(|| format!("{:.0}", whole()?).parse().ok())
    }

    /// Returns the truth value, if the value is one.
    pub fn bool(&self) -> Option<bool> {
        match self {
            Value::Bool(bool) => Some(*bool),
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
