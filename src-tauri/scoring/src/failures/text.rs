//! **Pure.** Texts of evidence: bounded quotations of messages and values.
use crate::diff::{brief, cut, words};
use touchstone_model::json;
use touchstone_model::run::{Step, StepKind};
use touchstone_model::value::Value;

/// Maximum number of characters of a quotation.
const QUOTE: usize = 240;
/// Maximum number of characters of a quoted value.
const VALUE: usize = 60;
/// Length in bytes from which a list or an object is described rather than quoted.
const LARGE: usize = 4_000;

/// Returns the beginning of a message for a quotation.
pub(super) fn quote(text: &str) -> String {
    cut(text, QUOTE)
}

/// Returns a value for a quotation.
pub(super) fn quote_value(value: &Value) -> String {
    match value {
        Value::List(_) | Value::Map(_) if json::length(value, false) <= LARGE => {
            cut(&words(value), VALUE)
        }
        value => brief(value, VALUE),
    }
}

/// Returns the last message of the model on the main path, with its step.
pub(super) fn last_message(steps: &[Step]) -> Option<(usize, &str)> {
    let is_said = |step: &Step| step.kind == StepKind::Assistant && step.depth == 0;
    steps.iter().enumerate().rev().filter(|(_, step)| is_said(step)).find_map(|(at, step)| {
        let message = step.parts.iter().rev().find(|part| part.label == "message")?;
        Some((at, message.value.text()?)).filter(|(_, text)| !text.trim().is_empty())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use touchstone_model::run::Part;

    #[test]
    fn small_values_are_quoted_and_large_ones_described() {
        let small = json::read("{\"id\": 1, \"plan\": \"team\"}").unwrap();
        assert_eq!(quote_value(&small), "{\"id\":1,\"plan\":\"team\"}");
        let large = Value::List(vec![Value::from("0123456789"); 1_000]);
        assert_eq!(quote_value(&large), "a list of 1000");
        assert_eq!(quote_value(&Value::Null), "null");
    }

    #[test]
    fn the_last_message_is_one_of_the_main_path() {
        let said = |text: &str, depth| Step {
            kind: StepKind::Assistant,
            depth,
            parts: vec![Part { label: "message".into(), value: text.into(), ..Part::default() }],
            ..Step::default()
        };
        let steps = [said("main", 0), said(" ", 0), said("nested", 1)];
        assert_eq!(last_message(&steps), Some((0, "main")));
        assert_eq!(last_message(&steps[1..]), None);
    }
}
