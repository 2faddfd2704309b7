//! **Pure.** Interprets the arguments of the `Finish` call that ends a search, even if they are not
//! valid JSON.
pub use touchstone_formats::stabletoolbench::functions::FINISH;
use touchstone_formats::stabletoolbench::functions::{GIVE_ANSWER, GIVE_UP};
use touchstone_model::json;
use touchstone_model::value::Value;

/// Meaning of a `Finish` call.
#[derive(Debug, Clone, PartialEq)]
pub enum Finish {
    /// The final answer.
    Answer(Value),
    /// This path is given up.
    GiveUp,
    /// Neither; with the error message for the model.
    Unusable(&'static str),
}

const NO_TYPE: &str = "`return_type` is missing or is neither `give_answer` nor `give_up_and_restart`, so nothing was finished.";
const NO_ANSWER: &str = "`final_answer` is missing, so nothing was finished.";

/// Interprets the arguments: a map, or the model's raw text if they could not be parsed.
pub fn read(params: &Value) -> Finish {
    let read = match params {
        Value::Text(text) => json::embedded(&without_controls(text)),
        other => Some(other.clone()),
    };
    let (kind, answer) = match (&read, params) {
        (Some(read), _) => (read.get("return_type").cloned(), read.get("final_answer").cloned()),
        (None, Value::Text(text)) => searched(text),
        (None, _) => (None, None),
    };
    match (kind.as_ref().and_then(Value::text), answer) {
        (Some(GIVE_UP), _) => Finish::GiveUp,
        (Some(GIVE_ANSWER), Some(answer)) => Finish::Answer(answer),
        (Some(GIVE_ANSWER), None) => Finish::Unusable(NO_ANSWER),
        _ => Finish::Unusable(NO_TYPE),
    }
}

/// Escapes control characters in strings. JSON forbids line breaks inside strings, but models write
/// them.
fn without_controls(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut inside, mut escaped) = (false, false);
    for c in text.chars() {
        match c {
            '\n' if inside => out.push_str("\\n"),
            '\r' if inside => out.push_str("\\r"),
            '\t' if inside => out.push_str("\\t"),
            c if inside && c.is_ascii_control() => out.push(' '),
            c => out.push(c),
        }
        if c == '"' && !escaped {
            inside = !inside;
        }
        escaped = inside && c == '\\' && !escaped;
    }
    out
}

/// Searches text that is not valid JSON for a known type, and for the answer up to its closing
/// quote or the end.
fn searched(text: &str) -> (Option<Value>, Option<Value>) {
    let has = |kind: &str| text.contains(&format!("\"return_type\": \"{kind}\""));
    let kind = [GIVE_ANSWER, GIVE_UP].into_iter().find(|kind| has(kind)).map(Value::from);
    let answer = text.split_once("\"final_answer\": \"").map(|(_, rest)| unquoted(rest));
    (kind, answer.map(Value::Text))
}

fn unquoted(rest: &str) -> String {
    let mut escaped = false;
    let end = rest.find(|c| {
        let closes = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        closes
    });
    let inside = &rest[..end.unwrap_or(rest.len())];
    let quoted = without_controls(&format!("\"{inside}\""));
    let read = json::read(&quoted).ok().and_then(|value| value.text().map(str::to_owned));
    read.unwrap_or_else(|| inside.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_understood_as_far_as_they_can_be() {
        let answer = |text: &str| Finish::Answer(text.into());
        for (text, finish) in [
            (r#"{"return_type": "give_answer", "final_answer": "x"}"#, answer("x")),
            ("{\"return_type\":\"give_answer\",\"final_answer\":\"a\nb\"}", answer("a\nb")),
            (r#"{"return_type": "give_answer", "final_answer": "abc"} oops"#, answer("abc")),
            (
                r#"{"return_type": "give_answer", "final_answer": "say \"a\", then"#,
                answer("say \"a\", then"),
            ),
            (r#"{"return_type": "give_answer", "final_answer": "half \"#, answer("half \\")),
            (
                r#"{"return_type":"give_answer","final_answer":"no space" oops"#,
                Finish::Unusable(NO_TYPE),
            ),
            (r#"{"return_type": "give_up_and_restart"} oops"#, Finish::GiveUp),
            (r#"{"return_type": "give_answer"}"#, Finish::Unusable(NO_ANSWER)),
            (r#"{"return_type": "other", "final_answer": "x"}"#, Finish::Unusable(NO_TYPE)),
            (r#"["give_answer"]"#, Finish::Unusable(NO_TYPE)),
            ("", Finish::Unusable(NO_TYPE)),
        ] {
            assert_eq!(read(&Value::from(text)), finish, "{text}");
            if let Ok(value @ Value::Map(_)) = json::read(text) {
                assert_eq!(read(&value), finish, "{text}");
            }
        }
        let object =
            json::read(r#"{"return_type": "give_answer", "final_answer": {"a": 1}}"#).unwrap();
        assert_eq!(read(&object), Finish::Answer(json::read(r#"{"a":1}"#).unwrap()));
    }
}
