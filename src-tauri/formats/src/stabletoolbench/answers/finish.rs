//! **Pure.** Interprets the arguments of `Finish`: an answer, giving up, or neither.
use touchstone_model::json;
use touchstone_model::run::FinishOutcome;
use touchstone_model::run::{Answer, Part};
use touchstone_model::value::Value;

/// Outcome of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finish {
    /// Ended with this answer.
    Answer(Value),
    /// Gave up and requested a restart.
    GaveUp,
    /// Neither: the arguments have no `return_type` or no answer.
    Nothing,
}

impl Finish {
    /// Returns the outcome without the answer itself.
    pub fn ended(&self) -> FinishOutcome {
        match self {
            Finish::Answer(_) => FinishOutcome::Answered,
            Finish::GaveUp => FinishOutcome::GaveUp,
            Finish::Nothing => FinishOutcome::Otherwise,
        }
    }

    /// Returns the answer.
    pub fn answer(self) -> Option<Answer> {
        let Finish::Answer(value) = self else { return None };
        Some(Answer { value, source: ARGUMENTS.to_owned(), lenient: false })
    }
}

/// Source label of an answer from the arguments of `Finish`.
pub(super) const ARGUMENTS: &str = "arguments of Finish";

/// Parses the arguments of a call of `Finish`: JSON, or the rest of it if it was cut.
pub fn arguments(text: &str) -> Finish {
    match json::read_leniently(text) {
        Ok(value @ Value::Map(_)) => of_value(&value),
        _ => scan(text),
    }
}

/// Returns true if a `return_type` means giving up; `None` for unknown values.
pub fn parse_return_type(return_type: &str) -> Option<bool> {
    let gives_up = return_type.starts_with("give_up");
    (gives_up || return_type == "give_answer").then_some(gives_up)
}

/// Parses a `final_answer` of a file: the arguments of `Finish`, or the answer itself as some
/// programs write it. Returns [`Finish::Nothing`] if it is empty.
pub fn final_answer(value: &Value) -> Finish {
    match value {
        Value::Null => Finish::Nothing,
        Value::Map(_) if value.get("return_type").is_some() => of_value(value),
        Value::Text(text) if text.trim().is_empty() => Finish::Nothing,
        Value::Text(text) if after(text, "return_type").is_some() => match arguments(text) {
            Finish::Nothing => Finish::Answer(value.clone()),
            read => read,
        },
        other => Finish::Answer(other.clone()),
    }
}

/// Parses the parts of a call of `Finish` in a run: its arguments one by one, or all of them as one
/// value or text.
pub fn of_parts(parts: &[Part]) -> Finish {
    let mut said = FinishArguments::default();
    for part in parts {
        said.take(&part.label, &part.value);
    }
    said.finish()
}

/// Outcome collected from the parts of a call of `Finish`.
#[derive(Debug, Default)]
pub(crate) struct FinishArguments {
    gave_up: Option<bool>,
    answer: Option<Value>,
    /// Outcome from a part that holds all arguments.
    whole: Option<Finish>,
}

impl FinishArguments {
    /// Adds one part. Results and errors are ignored.
    pub(crate) fn take(&mut self, label: &str, value: &Value) {
        match label {
            "result" | "error" => {}
            "return_type" => {
                self.gave_up = value.text().and_then(parse_return_type).or(self.gave_up);
            }
            "final_answer" => {
                self.answer = Some(value.clone()).filter(|value| *value != Value::Null);
            }
            _ if self.whole.is_some() => {}
            _ => {
                let read = match value {
                    Value::Map(_) => of_value(value),
                    Value::Text(text) if matches!(label, "params" | "arguments") => arguments(text),
                    Value::Text(text) => {
                        json::embedded(text).map_or(Finish::Nothing, |inside| of_value(&inside))
                    }
                    _ => Finish::Nothing,
                };
                self.whole = Some(read).filter(|read| *read != Finish::Nothing);
            }
        }
    }

    /// Returns the outcome. An answer counts even without a `return_type`.
    pub(crate) fn finish(self) -> Finish {
        match (self.gave_up, self.answer) {
            (Some(true), _) => Finish::GaveUp,
            (_, Some(answer)) => Finish::Answer(answer),
            _ => self.whole.unwrap_or(Finish::Nothing),
        }
    }
}

fn of_value(value: &Value) -> Finish {
    match (
        value.get("return_type").and_then(Value::text).and_then(parse_return_type),
        value.get("final_answer"),
    ) {
        (Some(true), _) => Finish::GaveUp,
        (Some(false), Some(answer)) if *answer != Value::Null => Finish::Answer(answer.clone()),
        _ => Finish::Nothing,
    }
}

/// Parses arguments that are not valid JSON: all text after the key is the answer.
fn scan(text: &str) -> Finish {
    let end = |rest: &str| rest.find(['"', '\'', '\\']).unwrap_or(rest.len());
    match after(text, "return_type").and_then(|rest| parse_return_type(&rest[..end(rest)])) {
        Some(true) => Finish::GaveUp,
        Some(false) => after(text, "final_answer")
            .map_or(Finish::Nothing, |answer| Finish::Answer(Value::from(answer))),
        None => Finish::Nothing,
    }
}

/// Returns the text after a key and the opening quote of its value, in JSON or Python notation with
/// any whitespace. The first occurrence counts, since the answer may mention the key as well.
fn after<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    const QUOTES: [char; 2] = ['"', '\''];
    text.match_indices(key).find_map(|(at, _)| {
        let rest = text[..at]
            .ends_with(QUOTES)
            .then(|| text[at + key.len()..].trim_start_matches('\\'))?;
        let rest = rest.strip_prefix(QUOTES)?.trim_start().strip_prefix(':')?.trim_start();
        rest.trim_start_matches('\\').strip_prefix(QUOTES)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_finishes_with_an_answer_or_gives_up_or_does_neither() {
        let answer = |text: &str| Finish::Answer(Value::from(text));
        for (text, read) in [
            (r#"{"return_type": "give_answer", "final_answer": "Yes."}"#, answer("Yes.")),
            (
                "{\"return_type\": \"give_answer\", \"final_answer\": \"two\nlines\"}",
                answer("two\nlines"),
            ),
            (r#"{"return_type":"give_up_and_restart"}"#, Finish::GaveUp),
            (r#"{"return_type": "give_answer", "final_answer": "cut he"#, answer("cut he")),
            (r#"{"return_type": "give_up_and_restart", "fin"#, Finish::GaveUp),
            (r#"{"return_type":"give_up_and_restart","final_ans"#, Finish::GaveUp),
            ("{'return_type' : 'give_up_and_restart', 'fin", Finish::GaveUp),
            (r#"{\"return_type\": \"give_up"#, Finish::GaveUp),
            (r#"{"return_type": "give_up"}"#, Finish::GaveUp),
            (
                r#"{"return_type":"give_answer","final_answer":"no 'return_type': 'give_up"#,
                answer("no 'return_type': 'give_up"),
            ),
            (r#"{"return_type": "never", "final_answer": "x"}"#, Finish::Nothing),
            (r#"{"return_type": "give_answer"}"#, Finish::Nothing),
            (r#"{"final_answer": "x"}"#, Finish::Nothing),
            ("", Finish::Nothing),
            ("[1]", Finish::Nothing),
        ] {
            assert_eq!(arguments(text), read, "{text}");
        }
        assert_eq!(final_answer(&Value::from("Just a text.")), answer("Just a text."));
        assert_eq!(final_answer(&Value::from(" ")), Finish::Nothing);
        for gave_up in [
            r#"{"return_type": "give_up_and_restart"}"#,
            r#"{"return_type": "give_up"}"#,
            "{'return_type': 'give_up_and_restart'}",
            r#"{"return_type":"give_up_and_restart","final_ans"#,
            r#""{\"return_type\": \"give_up_and_restart\"}""#,
        ] {
            assert_eq!(final_answer(&Value::from(gave_up)), Finish::GaveUp, "{gave_up}");
        }
        for said in [
            "I give up and restart.",
            "{'x': {'return_type': 'give_up_and_restart'}}",
            "Its return_type: 'give_up'",
        ] {
            assert_eq!(final_answer(&Value::from(said)), answer(said), "{said}");
        }
    }

    #[test]
    fn a_call_of_finish_is_read_from_its_arguments_however_they_stand_there() {
        let part = |label: &str, value: &str| {
            crate::transcript::build::part(
                label,
                crate::transcript::sink::Role::Param,
                json::read(value).unwrap(),
            )
        };
        let answer = || Finish::Answer(Value::from("x"));
        for (parts, read) in [
            (&[("return_type", r#""give_answer""#), ("final_answer", r#""x""#)][..], answer()),
            (
                &[("final_answer", r#""x""#), ("result", r#""{\"return_type\": \"give_up\"}""#)],
                answer(),
            ),
            (&[("return_type", r#""give_up""#), ("final_answer", r#""x""#)], Finish::GaveUp),
            (
                &[("arguments", r#""{'return_type': 'give_answer', 'final_answer': 'x'}""#)],
                answer(),
            ),
            (&[("params", r#"{"return_type": "give_answer", "final_answer": "x"}"#)], answer()),
            (&[("return_type", r#""give_answer""#), ("final_answer", "null")], Finish::Nothing),
            (&[("result", r#""x""#)], Finish::Nothing),
            (&[], Finish::Nothing),
        ] {
            let parts: Vec<Part> = parts.iter().map(|(label, value)| part(label, value)).collect();
            assert_eq!(of_parts(&parts), read, "{parts:?}");
        }
    }
}
