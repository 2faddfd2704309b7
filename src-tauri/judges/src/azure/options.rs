//! **Pure.** Options of an evaluator, read one by one. Options that are never read are errors.
use std::cell::RefCell;
use touchstone_model::nearest::nearest;
use touchstone_model::value::Value;

/// A number that keeps its notation: `3` stays `3` in results, and `3.0` stays `3.0`.
#[derive(Debug, Clone, PartialEq)]
pub struct Limit {
    /// Notation in results.
    pub written: String,
    /// Value for comparisons.
    pub value: f64,
}

impl Limit {
    /// Creates a limit from a text that is a number, such as `0.5`.
    pub(super) fn usual(written: &str) -> Self {
        Self { written: written.to_owned(), value: written.parse().unwrap_or(f64::NAN) }
    }

    /// Returns the limit as a value of a result.
    pub fn to_value(&self) -> Value {
        Value::Number(self.written.clone())
    }
}

/// Reader of options that remembers which names were read.
pub(super) struct Options<'a> {
    kind: &'a str,
    given: &'a Value,
    asked: RefCell<Vec<&'static str>>,
}

impl<'a> Options<'a> {
    pub(super) fn new(kind: &'a str, given: &'a Value) -> Self {
        Self { kind, given, asked: RefCell::new(vec!["kind"]) }
    }

    /// Returns an option; `None` when it is missing or `null`.
    pub(super) fn get(&self, name: &'static str) -> Option<&'a Value> {
        self.asked.borrow_mut().push(name);
        self.given.get(name).filter(|value| **value != Value::Null)
    }

    /// Returns a number, or the default when it is missing.
    pub(super) fn limit(&self, name: &'static str, usual: &str) -> Result<Limit, String> {
        let Some(value) = self.get(name) else { return Ok(Limit::usual(usual)) };
        let limit = match value {
            Value::Number(written) => {
                Some(Limit::usual(written)).filter(|limit| limit.value.is_finite())
            }
            _ => None,
        };
        limit.ok_or_else(|| format!("`{name}` of `{}` has to be a number.", self.kind))
    }

    /// Returns a text, or the default when it is missing.
    pub(super) fn text(&self, name: &'static str, usual: &str) -> Result<String, String> {
        match self.get(name) {
            None => Ok(usual.to_owned()),
            Some(Value::Text(text)) => Ok(text.clone()),
            Some(_) => Err(format!("`{name}` of `{}` has to be a text.", self.kind)),
        }
    }

    /// Returns a boolean, or the default when it is missing.
    pub(super) fn flag(&self, name: &'static str, usual: bool) -> Result<bool, String> {
        match self.get(name) {
            None => Ok(usual),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(_) => Err(format!("`{name}` of `{}` has to be true or false.", self.kind)),
        }
    }

    /// Returns a list of texts; empty when it is missing.
    pub(super) fn texts(&self, name: &'static str) -> Result<Vec<String>, String> {
        let wrong = || format!("`{name}` of `{}` has to be a list of texts.", self.kind);
        match self.get(name) {
            None => Ok(Vec::new()),
            Some(Value::List(items)) => {
                items.iter().map(|item| item.text().map(str::to_owned).ok_or_else(wrong)).collect()
            }
            Some(_) => Err(wrong()),
        }
    }

    /// Fails on the first option that was never read.
    pub(super) fn finish(&self) -> Result<(), String> {
        let asked = self.asked.borrow();
        let mut names = self.given.entries().iter().filter_map(|(key, _)| key.text());
        let Some(name) = names.find(|name| !asked.contains(name)) else { return Ok(()) };
        let near =
            nearest(name, asked.iter().copied()).map(|near| format!(" Did you mean `{near}`?"));
        Err(format!("`{}` has no option named `{name}`.{}", self.kind, near.unwrap_or_default()))
    }
}
