//! **Pure.** Inputs of an evaluator: named values, and the check that the required ones are
//! present.
use super::numbers::is_missing;
use super::python_number::written;
use super::{Failure, Quirks};
use std::borrow::Cow;
use touchstone_formats::stabletoolbench::python;
use touchstone_model::json;
use touchstone_model::value::Value;

/// Named values, in order. A missing name differs from a name with the value `null`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Inputs(pub Vec<(String, Value)>);

impl Inputs {
    /// Returns the value of a name.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    /// Like [`Self::get`], but treats `null` as missing.
    pub(super) fn there(&self, name: &str) -> Option<&Value> {
        self.get(name).filter(|value| **value != Value::Null)
    }

    /// Returns the inputs without `NaN` values, Python's marker for missing values.
    pub(super) fn without_missing(&self, quirks: &Quirks) -> Cow<'_, Self> {
        let is_nan = |value: &Value| *value != Value::Null && is_missing(Some(value));
        if quirks.has("pandas_types") || !self.0.iter().any(|(_, value)| is_nan(value)) {
            return Cow::Borrowed(self);
        }
        Cow::Owned(Self(self.0.iter().filter(|(_, value)| !is_nan(value)).cloned().collect()))
    }

    /// Returns the conversation when one is given, and `None` when all required single values are
    /// present. Fails when required inputs are missing or both forms are given.
    pub(super) fn checked(
        &self,
        kind: &str,
        needs: &[&str],
        may_have: &[&str],
        quirks: &Quirks,
    ) -> Result<Option<&Value>, Failure> {
        let fault = |theirs: &str, ours: String| {
            let vague = quirks.has("vague_errors");
            let message = if vague { format!("{}: {theirs}", class_name(kind)) } else { ours };
            Failure { by_input: true, message }
        };
        let listed = |names: &[&str]| -> Vec<String> {
            names.iter().map(|name| format!("`{name}`")).collect()
        };
        if let Some(conversation) = self.there("conversation") {
            let single = needs.iter().chain(may_have).filter(|name| **name != "conversation");
            let both: Vec<&str> =
                single.filter(|name| self.get(name).is_some_and(truthy)).copied().collect();
            if !both.is_empty() {
                let theirs =
                    "Cannot provide both 'conversation' and individual inputs at the same time.";
                let ours = format!(
                    "The row has a `conversation` and {} as well. Give `{kind}` one or the other.",
                    listed(&both).join(", ")
                );
                return Err(fault(theirs, ours));
            }
            return Ok(Some(conversation));
        }
        let missing: Vec<&str> =
            needs.iter().filter(|name| self.there(name).is_none()).copied().collect();
        if missing.is_empty() {
            return Ok(None);
        }
        let instead =
            if may_have.contains(&"conversation") { ", and no `conversation` instead" } else { "" };
        let ours = format!(
            "The row has no {}{instead}. Map what `{kind}` takes to columns.",
            listed(&missing).join(" and no ")
        );
        Err(fault("Either 'conversation' or individual inputs must be provided.", ours))
    }
}

/// Returns whether Python treats the value as true.
pub(super) fn truthy(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(yes) => *yes,
        Value::Number(number) => written(number) != Some(0.0),
        Value::Text(text) => !text.is_empty(),
        Value::List(items) => !items.is_empty(),
        Value::Map(entries) => !entries.is_empty(),
    }
}

/// Formats a value for a judge's prompt.
pub(super) fn format_value(value: Option<&Value>, quirks: &Quirks) -> String {
    match value {
        _ if quirks.has("python_repr") => value.map_or_else(|| "None".to_owned(), python::text),
        None | Some(Value::Null) => "(none was given)".to_owned(),
        Some(Value::Text(text)) => text.clone(),
        Some(other) => json::write(other, false),
    }
}

/// Returns the class name of an evaluator in the package's errors, such as
/// `TaskAdherenceEvaluator`.
fn class_name(name: &str) -> String {
    if name == "qa" {
        return "QAEvaluator".to_owned();
    }
    let part = |part: &str| {
        part.get(..1).unwrap_or_default().to_uppercase() + part.get(1..).unwrap_or_default()
    };
    name.split('_').map(part).collect::<String>() + "Evaluator"
}

#[cfg(test)]
mod tests {
    use super::*;
    use touchstone_model::json;

    fn checked(inputs: &str, quirks: &Quirks) -> String {
        let inputs = json::read(inputs).unwrap();
        let inputs = Inputs(
            inputs
                .entries()
                .iter()
                .map(|(name, value)| (name.text().unwrap().to_owned(), value.clone()))
                .collect(),
        );
        match inputs.checked("x", &["response", "context"], &["query", "conversation"], quirks) {
            Ok(None) => "single".to_owned(),
            Ok(Some(_)) => "conversation".to_owned(),
            Err(failure) => failure.message,
        }
    }

    #[test]
    fn inputs_are_enough_or_it_is_said_what_is_missing_in_our_words_unless_the_package_is_followed()
    {
        const EITHER: &str =
            "XEvaluator: Either 'conversation' or individual inputs must be provided.";
        const BOTH: &str = "XEvaluator: Cannot provide both 'conversation' and individual inputs at the same time.";
        let none = |names: &str| {
            format!(
                "The row has no {names}, and no `conversation` instead. Map what `x` takes to columns."
            )
        };
        let both = |names: &str| {
            format!("The row has a `conversation` and {names} as well. Give `x` one or the other.")
        };
        let same = |word: &str| word.to_owned();
        for (inputs, theirs, ours) in [
            (r#"{"response": "", "context": []}"#, "single", same("single")),
            (r#"{"response": 0, "context": false, "query": null}"#, "single", same("single")),
            (r#"{"response": null, "query": "q"}"#, EITHER, none("`response` and no `context`")),
            (r#"{"context": "c"}"#, EITHER, none("`response`")),
            (r#"{"conversation": {}, "query": "q"}"#, BOTH, both("`query`")),
            (
                r#"{"conversation": {}, "query": "", "context": [], "response": {}, "other": 1}"#,
                "conversation",
                same("conversation"),
            ),
            (
                r#"{"conversation": null, "response": "r", "context": "c"}"#,
                "single",
                same("single"),
            ),
        ] {
            assert_eq!(checked(inputs, &Quirks::all()), theirs, "{inputs}");
            assert_eq!(checked(inputs, &Quirks::default()), ours, "{inputs}");
        }
    }

    #[test]
    fn values_are_shown_as_json_or_as_python_writes_them() {
        let value = json::read(r#"{"a": [1.0, true, null, "it's"]}"#).unwrap();
        assert_eq!(
            format_value(Some(&value), &Quirks::all()),
            r#"{'a': [1.0, True, None, "it's"]}"#
        );
        assert_eq!(
            format_value(Some(&value), &Quirks::default()),
            r#"{"a":[1.0,true,null,"it's"]}"#
        );
        assert_eq!(format_value(Some(&"plain".into()), &Quirks::all()), "plain");
        assert_eq!(
            (format_value(None, &Quirks::all()), format_value(None, &Quirks::default())),
            ("None".to_owned(), "(none was given)".to_owned())
        );
    }
}
