//! **Pure.** Reads a file given by the user for a comparison: JSON, YAML, one number or text, or
//! the answer of a transcript.
use super::error::RunReadError;
use touchstone_formats::{suite, transcript};
use touchstone_model::error::ReadError;
use touchstone_model::value::Value;
use touchstone_model::{answer, json, yaml};

/// A file given by the user.
#[derive(Debug, Clone)]
pub struct InputFile {
    /// Name used in messages; its extension decides how the file is read.
    pub name: String,
    /// Content of the file.
    pub bytes: Vec<u8>,
}

/// Reads the value of a file. Also returns a note if the file was read leniently or is a
/// transcript. Fails if it is not UTF-8, does not parse, or is a transcript without an answer.
pub(crate) fn value(given: &InputFile) -> Result<(Value, Option<String>), RunReadError> {
    let name = &given.name;
    let unreadable =
        |why: &ReadError| RunReadError::Given { name: name.clone(), why: sentence(why) };
    let text = std::str::from_utf8(&given.bytes).map_err(|_| RunReadError::Given {
        name: name.clone(),
        why: "It is not UTF-8 text.".to_owned(),
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let (value, lenient) =
        match name.rsplit_once('.').map(|(_, end)| end.to_ascii_lowercase()).as_deref() {
            Some("json") => match json::read(text) {
                Ok(value) => (value, false),
                Err(why) => answer::parse(text).ok_or_else(|| unreadable(&why))?,
            },
            Some("yaml" | "yml") => (yaml::read(text).map_err(|why| unreadable(&why))?, false),
            Some("txt") => {
                (suite::ground_truth(name, text).map_err(|why| unreadable(&why))?, false)
            }
            _ => anything(text),
        };
    if is_transcript(&value) {
        let run = transcript::read(&given.bytes).map_err(|why| unreadable(&why))?;
        let answer =
            run.answer.ok_or_else(|| RunReadError::GivenNoAnswer { name: name.clone() })?;
        return Ok((
            answer.value,
            Some(format!("{name} is a transcript: its answer is compared.")),
        ));
    }
    let note = lenient.then(|| format!("{name} is not strict JSON; it was read leniently."));
    Ok((value, note))
}

/// Reads a text whose extension says nothing: as JSON, as structured YAML, leniently as JSON, or as
/// plain text.
fn anything(text: &str) -> (Value, bool) {
    let structured = |value: &Value| matches!(value, Value::List(_) | Value::Map(_));
    if let Ok(value) = json::read(text) {
        return (value, false);
    }
    if let Some(value) = yaml::read(text).ok().filter(structured) {
        return (value, false);
    }
    match answer::parse(text).filter(|(value, _)| structured(value)) {
        Some(read) => read,
        None => (Value::from(text.trim()), false),
    }
}

/// Returns true for transcripts. A single top-level key that transcripts use is not enough.
fn is_transcript(value: &Value) -> bool {
    let has = |key: &str| value.get(key).is_some();
    matches!(value.get("conversation"), Some(Value::List(_)))
        || (has("run") && has("answer"))
        || matches!(value.get("output"), Some(output) if output.get("assistant_actions").or(output.get("modified_artifacts")).is_some())
}

fn sentence(why: &ReadError) -> String {
    let line = why.line.map(|line| format!("Line {line}: ")).unwrap_or_default();
    let advice = why.advice.as_deref().map(|advice| format!(" {advice}")).unwrap_or_default();
    format!("{line}{}{advice}", why.message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &str, text: &str) -> Result<(Value, Option<String>), String> {
        value(&InputFile { name: name.to_owned(), bytes: text.as_bytes().to_vec() })
            .map_err(|error| error.to_string())
    }

    #[test]
    fn a_file_is_read_as_its_name_says_and_a_transcript_stands_for_its_answer() {
        let number = |text: &str| Ok((Value::Number(text.to_owned()), None));
        assert_eq!(read("a.json", "84.10"), number("84.10"));
        assert_eq!(read("a.yaml", "84.10"), number("84.10"));
        assert_eq!(read("a.txt", " 84.10\n"), number("84.10"));
        assert_eq!(read("-", "84.10\n"), number("84.10"));
        assert_eq!(read("-", "just: a\nvalue: 1").unwrap().0.entries().len(), 2);
        assert_eq!(
            read("-", "a sentence, with no structure\n").unwrap().0,
            Value::from("a sentence, with no structure")
        );
        assert_eq!(read("a.yaml", "answer: 5\n").unwrap().0.entries().len(), 1);
        let (value, note) =
            read("t.yaml", "conversation:\n- user_message: a\nanswer: 5\n").unwrap();
        assert_eq!(
            (value, note.unwrap().as_str()),
            (Value::Number("5".into()), "t.yaml is a transcript: its answer is compared.")
        );
        assert!(read("a.json", "[1, 2,]").unwrap().1.unwrap().contains("not strict JSON"));
    }

    #[test]
    fn what_cannot_be_read_is_said_with_its_place() {
        assert_eq!(
            read("a.json", "{\"a\": }").unwrap_err(),
            "a.json cannot be read. Line 1: This is not a JSON value."
        );
        assert!(
            read("a.yaml", "a: 1\na: 2")
                .unwrap_err()
                .starts_with("a.yaml cannot be read. Line 2: ")
        );
        assert_eq!(
            read("t.yaml", "conversation:\n- user_message: a\n").unwrap_err(),
            "t.yaml is a transcript without an answer."
        );
        let error =
            value(&InputFile { name: "x".to_owned(), bytes: vec![0xff] }).unwrap_err().to_string();
        assert_eq!(error, "x cannot be read. It is not UTF-8 text.");
    }
}
