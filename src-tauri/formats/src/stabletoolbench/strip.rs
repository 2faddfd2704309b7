//! **Pure.** Shortens replies, and parses replies written by a simulator.
use super::python_json::{self, Codes, Py};

/// Maximum length of a reply, in characters.
const LONGEST: usize = 2048;

/// Method of shortening a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Strip {
    /// Only cuts the text.
    #[default]
    Truncate,
    /// First removes the keys that the schema does not name.
    Filter,
    /// One or the other, at random.
    Random,
}

impl Strip {
    /// Parses the name of a method; every unknown name only cuts, as in the original.
    pub fn from_word(word: &str) -> Self {
        match word {
            "filter" => Self::Filter,
            "random" => Self::Random,
            _ => Self::Truncate,
        }
    }
}

/// Shortens a response: formats it as Python does and cuts the text. If the schema does not match,
/// the response is not filtered.
pub fn strip(response: &Py, mode: Strip, schema: Option<&Py>, coin: bool) -> String {
    let filters = mode == Strip::Filter || (mode == Strip::Random && coin);
    let filtered = schema.filter(|_| filters).and_then(|schema| filter(response, schema).ok());
    filtered.as_ref().unwrap_or(response).str().chars().take(LONGEST).collect()
}

/// Error of a schema that does not match its response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SchemaMismatch;

/// Keeps only the keys that the schema names, at every depth. Fails if the schema does not match.
pub fn filter(response: &Py, schema: &Py) -> Result<Py, SchemaMismatch> {
    let Py::Map(entries) = response else { return Ok(response.clone()) };
    let mut kept = Vec::new();
    for (key, value) in entries {
        if let Some(inner) = named(schema, key)? {
            kept.push((key.clone(), inside(value, inner)?));
        }
    }
    Ok(Py::Map(kept))
}

/// Schema of a key that is only named.
static NOTHING: Py = Py::Null;

/// Returns the schema of a key. A schema that is a text or a list only names the keys in it.
fn named<'a>(schema: &'a Py, key: &Codes) -> Result<Option<&'a Py>, SchemaMismatch> {
    match schema {
        Py::Map(entries) => {
            Ok(entries.iter().find(|(known, _)| known == key).map(|(_, value)| value))
        }
        Py::Text(words) => {
            Ok(words.to_display_text().contains(&key.to_display_text()).then_some(&NOTHING))
        }
        Py::List(items) => Ok(items.contains(&Py::Text(key.clone())).then_some(&NOTHING)),
        _ => Err(SchemaMismatch),
    }
}

fn inside(value: &Py, schema: &Py) -> Result<Py, SchemaMismatch> {
    match value {
        Py::Map(_) => filter(value, schema),
        Py::List(items) if matches!(items.first(), Some(Py::Map(_))) => {
            let Py::List(schemas) = schema else { return Err(SchemaMismatch) };
            let first = schemas.first().ok_or(SchemaMismatch)?;
            items.iter().map(|item| filter(item, first)).collect::<Result<_, _>>().map(Py::List)
        }
        other => Ok(other.clone()),
    }
}

/// A simulator's output, interpreted as a reply.
#[derive(Debug, Clone, PartialEq)]
pub enum SimulatorOutput {
    /// A reply with an error and a response.
    Reply(Py),
    /// JSON without one of them, or not an object.
    Odd(Py),
    /// Text that could not be interpreted.
    Nothing,
}

/// Parses the output of a model trained to imitate an API: JSON, or the recoverable parts of broken
/// JSON.
pub fn parse_trained_simulator(text: &str) -> SimulatorOutput {
    match python_json::read(text) {
        Ok(reply) if reply.get("error").is_some() && reply.get("response").is_some() => {
            SimulatorOutput::Reply(reply)
        }
        Ok(other) => SimulatorOutput::Odd(other),
        Err(_) => captured(text).unwrap_or(SimulatorOutput::Nothing),
    }
}

/// Extracts the response from `"error": "…", "response": "…`, taking all text that follows.
fn captured(text: &str) -> Option<SimulatorOutput> {
    let after = |text: &'_ str, word: &str| -> Option<usize> {
        let begin = text.len() - text.trim_start().len();
        let rest = text[begin..].strip_prefix(word)?;
        let rest = rest.trim_start().strip_prefix(':')?.trim_start().strip_prefix('"')?;
        Some(text.len() - rest.len())
    };
    text.match_indices("\"error\"").find_map(|(at, _)| {
        let rest = &text[at..];
        let rest = &rest[after(rest, "\"error\"")?..];
        let (error, rest) = rest.split_once('"')?;
        let rest = rest.trim_start().strip_prefix(',')?;
        let response = &rest[after(rest, "\"response\"")?..];
        let entries = vec![("error".into(), error.into()), ("response".into(), response.into())];
        Some(SimulatorOutput::Reply(Py::Map(entries)))
    })
}

/// Parses the output of a model that was prompted for JSON, possibly inside code fences.
pub fn parse_prompted_simulator(text: &str) -> Option<Py> {
    let bare = text.replace("```json", "").replace("```", "");
    let text = if text.contains("```json") { bare.trim() } else { text };
    python_json::read(text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn py(text: &str) -> Py {
        python_json::read(text).unwrap()
    }

    #[test]
    fn only_what_the_schema_names_is_kept() {
        let response = py(r#"{"a":1,"b":{"c":[{"d":1,"e":2},{"e":3}]},"z":2}"#);
        let schema = py(r#"{"a":"int","b":{"c":[{"d":"int"}]}}"#);
        assert_eq!(
            strip(&response, Strip::Filter, Some(&schema), false),
            "{'a': 1, 'b': {'c': [{'d': 1}, {}]}}"
        );
        assert_eq!(
            strip(&response, Strip::Random, Some(&schema), true),
            "{'a': 1, 'b': {'c': [{'d': 1}, {}]}}"
        );
        for (mode, schema) in [
            (Strip::Random, Some(&schema)),
            (Strip::Truncate, Some(&schema)),
            (Strip::Filter, None),
        ] {
            assert_eq!(strip(&response, mode, schema, false), response.str());
        }
        assert_eq!(
            strip(&response, Strip::Filter, Some(&py(r#"{"b":{"c":[]}}"#)), false),
            response.str(),
            "it does not fit"
        );
        assert_eq!(
            strip(&"é".repeat(3000).as_str().into(), Strip::Truncate, None, false).chars().count(),
            2048
        );
    }

    #[test]
    fn what_a_simulator_wrote_is_read_also_when_it_is_broken() {
        let reply = |error: &str, response: &str| {
            SimulatorOutput::Reply(Py::Map(vec![
                ("error".into(), error.into()),
                ("response".into(), response.into()),
            ]))
        };
        assert_eq!(parse_trained_simulator(r#"{"error": "", "response": "a"}"#), reply("", "a"));
        assert_eq!(
            parse_trained_simulator(r#"{"error": "x", "response": "a "b" c"}"#),
            reply("x", r#"a "b" c"}"#)
        );
        assert_eq!(
            parse_trained_simulator("{\"error\" :\"\",\n \"response\":\"cut"),
            reply("", "cut")
        );
        assert_eq!(
            parse_trained_simulator(r#"{"error": "a "b"", "response": "c"}"#),
            SimulatorOutput::Nothing
        );
        assert_eq!(parse_trained_simulator("hello"), SimulatorOutput::Nothing);
        assert!(
            matches!(parse_trained_simulator("[]"), SimulatorOutput::Odd(_))
                && matches!(parse_trained_simulator(r#"{"error":""}"#), SimulatorOutput::Odd(_))
        );
    }

    #[test]
    fn fences_around_json_are_taken_off() {
        assert_eq!(parse_prompted_simulator("```json\n{\"a\":1}\n```"), Some(py(r#"{"a":1}"#)));
        assert_eq!(parse_prompted_simulator("[1]"), Some(py("[1]")));
        assert_eq!(
            (parse_prompted_simulator("nope"), parse_prompted_simulator("```\n{}\n```")),
            (None, None)
        );
    }
}
