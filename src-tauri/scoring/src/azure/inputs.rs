//! **Pure.** What an evaluator is given: named values.
use touchstone_formats::value::Value;

/// Names with values, in their order. A name that is missing is not the same as one with `null`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Inputs(pub Vec<(String, Value)>);

impl Inputs {
    /// The value of a name.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }
}
