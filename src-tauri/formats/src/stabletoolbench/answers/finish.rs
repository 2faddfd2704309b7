//! **Pure.** What the arguments of `Finish` say: an answer, that the model gave up, or neither.
use crate::answer::Ended;
use crate::json;
use crate::run::{Answer, Part};
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

impl Finish {
    /// The same without the answer itself.
    pub fn ended(&self) -> Ended {
        match self {
            Finish::Answer(_) => Ended::Answered,
            Finish::GaveUp => Ended::GaveUp,
            Finish::Nothing => Ended::Otherwise,
        }
    }

    /// The answer.
    pub fn answer(self) -> Option<Answer> {
        let Finish::Answer(value) = self else { return None };
        Some(Answer { value, source: ARGUMENTS.to_owned(), lenient: false })
    }
}

/// Where an answer was found that `Finish` was given.
pub(super) const ARGUMENTS: &str = "arguments of Finish";

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

/// Reads a `final_answer` of a file: the arguments of `Finish`, or the answer itself as some
/// programs write it. Nothing when empty.
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

/// Reads the parts of a call of `Finish` as a run holds it: its arguments one by one, or all of
/// them as one value or text.
pub fn of_parts(parts: &[Part]) -> Finish {
    let mut said = Said::default();
    for part in parts {
        said.take(&part.label, &part.value);
    }
    said.finish()
}

/// What the parts of a call of `Finish` said so far.
#[derive(Debug, Default)]
pub(crate) struct Said {
    gave_up: Option<bool>,
    answer: Option<Value>,
    /// What all arguments as one value or text say.
    whole: Option<Finish>,
}

impl Said {
    /// Takes one part. What came back says nothing.
    pub(crate) fn take(&mut self, label: &str, value: &Value) {
        match label {
            "result" | "error" => {}
            "return_type" => self.gave_up = value.text().and_then(returned).or(self.gave_up),
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

    /// How the run ended. An answer counts without a `return_type`, too.
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
        value.get("return_type").and_then(Value::text).and_then(returned),
        value.get("final_answer"),
    ) {
        (Some(true), _) => Finish::GaveUp,
        (Some(false), Some(answer)) if *answer != Value::Null => Finish::Answer(answer.clone()),
        _ => Finish::Nothing,
    }
}

/// The same of a text that is no JSON: all that follows the key is the answer.
fn scan(text: &str) -> Finish {
    let end = |rest: &str| rest.find(['"', '\'', '\\']).unwrap_or(rest.len());
    match after(text, "return_type").and_then(|rest| returned(&rest[..end(rest)])) {
        Some(true) => Finish::GaveUp,
        Some(false) => after(text, "final_answer")
            .map_or(Finish::Nothing, |answer| Finish::Answer(Value::from(answer))),
        None => Finish::Nothing,
    }
}

/// Returns what follows a key and the quote that opens its value, in JSON as in what Python prints,
/// wherever blanks stand. The first place counts: an answer may speak of the key, too.
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
