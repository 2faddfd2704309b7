//! **Pure.** Selects queries of a set by a file of their ids next to it.
use std::collections::BTreeSet;
use touchstone_model::error::{ReadError, ReadErrorKind};
use touchstone_model::json;
use touchstone_model::node::Node;
use touchstone_model::value::Value;

/// Directory of query sets, and the directory of their ids next to it.
const SETS: &str = "test_instruction";
const IDS: &str = "test_query_ids";

/// Ids of the selected queries.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ids {
    ids: BTreeSet<String>,
}

impl Ids {
    /// Parses an object whose keys are the ids, or a list of texts and numbers. Fails for anything
    /// else.
    pub fn read(text: &str) -> Result<Self, ReadError> {
        Self::from_value(&json::read_as(text, json::Mode::Embedded)?)
    }

    /// Converts a value, by the rules of [`Ids::read`].
    pub fn from_value(value: &Value) -> Result<Self, ReadError> {
        let bad = || {
            let message = "The ids are neither an object nor a list of texts and numbers.";
            ReadError::new(ReadErrorKind::BadValue, message)
                .advise("Write them as `{\"588\": 0}` or as `[588]`.")
        };
        let id = |value: &Value| match value {
            Value::Text(_) | Value::Number(_) => value.word().map(str::to_owned).ok_or_else(bad),
            _ => Err(bad()),
        };
        let ids = match value {
            Value::Map(entries) => entries.iter().map(|(key, _)| id(key)).collect(),
            Value::List(items) => items.iter().map(id).collect(),
            _ => Err(bad()),
        };
        Ok(Self { ids: ids? })
    }

    /// Returns true for a selected query. Without any ids, all queries are selected.
    pub fn admit(&self, id: &str) -> bool {
        self.ids.is_empty() || self.ids.contains(id)
    }

    /// Returns the number of ids that match no query.
    pub fn unknown<'a>(&self, queries: impl Iterator<Item = &'a str>) -> usize {
        let queries: BTreeSet<&str> = queries.collect();
        self.ids.iter().filter(|id| !queries.contains(id.as_str())).count()
    }
}

/// Returns the path of the ids of a query set, relative to the set. Returns `None` if the set is
/// not in a directory of sets.
pub fn beside(set_file: &str) -> Option<String> {
    let (dirs, name) = set_file.rsplit_once('/')?;
    (dirs.rsplit('/').next() == Some(SETS)).then(|| format!("../{IDS}/{name}"))
}

/// Returns true for a file of query ids, by its path.
pub fn is_one(file: &str) -> bool {
    let mut parts = file.rsplit('/');
    let named = parts
        .next()
        .is_some_and(|name| name.rsplit_once('.').is_some_and(|(_, end)| end == "json"));
    named && parts.next() == Some(IDS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_an_object_or_a_list_of_texts_or_numbers() {
        for text in [r#"{"588": 0, "12": 0}"#, r#"["588", "12"]"#, "[588, 12]", r#"[588, "12"]"#] {
            let ids = Ids::read(text).unwrap();
            assert!(ids.admit("588") && ids.admit("12") && !ids.admit("1"), "{text}");
            assert_eq!(ids.unknown(["588", "7"].into_iter()), 1, "{text}");
        }
        for text in ["{}", "[]"] {
            assert!(Ids::read(text).unwrap().admit("anything"), "{text}");
        }
        for text in ["", "3", "\"588\"", "[[588]]", "[null]", "[588"] {
            assert!(Ids::read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_ids_of_a_set_lie_beside_the_directory_of_sets() {
        assert_eq!(
            beside("a/test_instruction/G1_tool.json").as_deref(),
            Some("../test_query_ids/G1_tool.json")
        );
        assert_eq!((beside("G1_tool.json"), beside("sets/G1_tool.json")), (None, None));
        assert!(is_one("a/test_query_ids/G1.json") && is_one("test_query_ids/G1.json"));
        assert!(
            !is_one("test_query_ids/a/G1.json")
                && !is_one("G1.json")
                && !is_one("test_query_ids/notes.txt")
        );
    }
}
