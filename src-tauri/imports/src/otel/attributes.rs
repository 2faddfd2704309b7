//! **Pure.** Attributes of spans, with the values of OTLP.
use crate::traces::unwrap_json;
use std::collections::BTreeMap;
use touchstone_model::value::Value;

/// Attributes in the order of the file.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Attributes(Vec<(String, Value)>);

/// Maximum nesting depth of values.
const DEPTH: usize = 16;

impl Attributes {
    /// Reads a list of `{key, value}`.
    pub(super) fn read(list: Option<&Value>) -> Attributes {
        let items = list.map(Value::items).unwrap_or_default().iter();
        let known = items.filter_map(|item| {
            Some((item.text_at("key")?.to_owned(), any_value(item.get("value")?, DEPTH)))
        });
        Attributes(known.collect())
    }

    /// Returns a value, unless it is null.
    pub(super) fn get(&self, key: &str) -> Option<&Value> {
        let found = self.0.iter().find(|(known, _)| known == key);
        found.map(|(_, value)| value).filter(|value| **value != Value::Null)
    }

    /// Returns the value of the first key that is there.
    pub(super) fn first(&self, keys: &[&str]) -> Option<&Value> {
        keys.iter().find_map(|key| self.get(key))
    }

    /// Returns a text that is not blank.
    pub(super) fn text(&self, key: &str) -> Option<&str> {
        self.get(key)?.text().filter(|text| !text.trim().is_empty())
    }

    /// Returns a value with the JSON in its text read.
    pub(super) fn unwrapped(&self, key: &str) -> Option<Value> {
        self.get(key).map(unwrap_json)
    }

    /// Returns all attributes as one object, with the JSON in texts read for some keys.
    pub(super) fn to_map(&self, unwrapped: &[&str]) -> Vec<(Value, Value)> {
        let entries = self.0.iter().map(|(key, value)| {
            let value =
                if unwrapped.contains(&key.as_str()) { unwrap_json(value) } else { value.clone() };
            (Value::from(key.as_str()), value)
        });
        entries.collect()
    }

    /// Returns the items of a list that is flattened to `<prefix>.<number>.<path>`, in the order of
    /// their numbers, which may have gaps. Paths become nested objects and lists.
    pub(super) fn flattened(&self, prefix: &str) -> Vec<Value> {
        let mut root = Node::default();
        for (key, value) in &self.0 {
            let rest = key.strip_prefix(prefix).and_then(|rest| rest.strip_prefix('.'));
            if let Some(rest) = rest {
                root.insert(rest, value);
            }
        }
        match root.into_value(DEPTH) {
            Value::List(items) => items,
            _ => Vec::new(),
        }
    }
}

/// Branch of flattened attributes.
#[derive(Default)]
struct Node {
    value: Option<Value>,
    numbered: BTreeMap<u64, Node>,
    named: BTreeMap<String, Node>,
}

impl Node {
    fn insert(&mut self, path: &str, value: &Value) {
        let mut node = self;
        for part in path.splitn(DEPTH, '.') {
            node = match part.parse::<u64>() {
                Ok(number) => node.numbered.entry(number).or_default(),
                Err(_) => node.named.entry(part.to_owned()).or_default(),
            };
        }
        node.value.get_or_insert_with(|| value.clone());
    }

    fn into_value(self, depth: usize) -> Value {
        let Some(depth) = depth.checked_sub(1) else { return Value::Null };
        if !self.numbered.is_empty() {
            let items = self.numbered.into_values().map(|node| node.into_value(depth));
            return Value::List(items.collect());
        }
        if self.named.is_empty() {
            return self.value.unwrap_or_default();
        }
        let entries = self.named.into_iter();
        Value::Map(
            entries.map(|(name, node)| (Value::Text(name), node.into_value(depth))).collect(),
        )
    }
}

/// Reads a value of OTLP: `{stringValue}`, `{intValue}`, `{arrayValue: {values}}`, …
fn any_value(value: &Value, depth: usize) -> Value {
    let Some(depth) = depth.checked_sub(1) else { return Value::Null };
    let Some((kind, inside)) = value.entries().first() else { return Value::Null };
    match kind.text().unwrap_or_default() {
        "stringValue" | "boolValue" => inside.clone(),
        "intValue" | "doubleValue" => match inside {
            Value::Text(text) if is_number(text) => Value::Number(text.clone()),
            other => other.clone(),
        },
        "arrayValue" => {
            let items = inside.get("values").map(Value::items).unwrap_or_default();
            Value::List(items.iter().map(|item| any_value(item, depth)).collect())
        }
        "kvlistValue" => {
            let items = inside.get("values").map(Value::items).unwrap_or_default().iter();
            let entries = items.filter_map(|item| {
                Some((Value::from(item.text_at("key")?), any_value(item.get("value")?, depth)))
            });
            Value::Map(entries.collect())
        }
        "bytesValue" => Value::from("[bytes]"),
        _ => Value::Null,
    }
}

fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    digits.starts_with(|letter: char| letter.is_ascii_digit())
        && text.parse::<f64>().is_ok_and(f64::is_finite)
}
