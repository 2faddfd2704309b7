//! **Pure.** What the arguments of `Finish` say: an answer, that the model gave up, or neither.
use crate::json;
use crate::value::Value;

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finish {
    /// With this answer.
    Answer(Value),
    /// It gave up and asked to begin anew.
    GaveUp,
    /// Neither: the arguments say no `return_type`, or no answer.
    Nothing,
}

/// Reads the arguments of a call of `Finish`: JSON, or what is left of it when it was cut.
pub fn arguments(text: &str) -> Finish {
    match json::read_leniently(text) {
        Ok(value @ Value::Map(_)) => of_value(&value),
        _ => scan(text),
    }
}

/// Whether a `return_type` gives up; none for words that are none.
pub fn returned(return_type: &str) -> Option<bool> {
    let gives_up = return_type.starts_with("give_up");
    (gives_up || return_type == "give_answer").then_some(gives_up)
}

/// Reads a `final_answer` of a file: the arguments of `Finish`, or the answer itself as some programs write it. Nothing when empty.
pub fn final_answer(value: &Value) -> Finish {
    match value {
        Value::Null => Finish::Nothing,
        Value::Map(_) if value.get("return_type").is_some() => of_value(value),
        Value::Text(text) if text.trim().is_empty() => Finish::Nothing,
        Value::Text(text) if text.contains("\"return_type\"") => match arguments(text) {
            Finish::Nothing => Finish::Answer(value.clone()),
            read => read,
        },
        other => Finish::Answer(other.clone()),
    }
}

fn of_value(value: &Value) -> Finish {
    match (value.get("return_type").and_then(Value::text), value.get("final_answer")) {
        (Some("give_up_and_restart"), _) => Finish::GaveUp,
        (Some("give_answer"), Some(answer)) if *answer != Value::Null => Finish::Answer(answer.clone()),
        _ => Finish::Nothing,
    }
}

/// The same of a text that is no JSON: all that follows the key is the answer.
fn scan(text: &str) -> Finish {
    let says = |kind: &str| text.contains(&format!("\"return_type\": \"{kind}\""));
    if says("give_up_and_restart") {
        return Finish::GaveUp;
    }
    match text.split_once("\"final_answer\": \"") {
        Some((_, answer)) if says("give_answer") => Finish::Answer(Value::from(answer)),
        _ => Finish::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_finishes_with_an_answer_or_gives_up_or_does_neither() {
        let answer = |text: &str| Finish::Answer(Value::from(text));
        for (text, read) in [
            (r#"{"return_type": "give_answer", "final_answer": "Yes."}"#, answer("Yes.")),
            ("{\"return_type\": \"give_answer\", \"final_answer\": \"two\nlines\"}", answer("two\nlines")),
            (r#"{"return_type":"give_up_and_restart"}"#, Finish::GaveUp),
            (r#"{"return_type": "give_answer", "final_answer": "cut he"#, answer("cut he")),
            (r#"{"return_type": "give_up_and_restart", "fin"#, Finish::GaveUp),
            (r#"{"return_type": "give_answer"}"#, Finish::Nothing),
            (r#"{"final_answer": "x"}"#, Finish::Nothing),
            ("", Finish::Nothing),
            ("[1]", Finish::Nothing),
        ] {
            assert_eq!(arguments(text), read, "{text}");
        }
        assert_eq!(final_answer(&Value::from("Just a text.")), answer("Just a text."));
        assert_eq!(final_answer(&Value::from(" ")), Finish::Nothing);
        assert_eq!(final_answer(&Value::from(r#"{"return_type": "give_up_and_restart"}"#)), Finish::GaveUp);
    }
}
