//! Columns of one's own in lists: a fact of the file, a label, a score, an imported verdict, or a part of
//! the answer. A value that a run does not have is none.
use super::labels::{all_names, sets};
use super::{IndexError, Lists, Reader, id_of};
use crate::filter::Labels;
use rusqlite::{OptionalExtension as _, params};
use std::sync::Arc;
use touchstone_formats::json;
use touchstone_formats::value::Value;

/// Maximum bytes of an answer that is read for a column.
const MOST_ANSWER: i64 = 1 << 20;
/// Maximum characters of a value.
const MOST_CHARS: usize = 300;
/// What stands for a part of an answer that is not read.
const TOO_LARGE: &str = "larger than 1 MB";
/// Maximum bytes of a column as it is typed.
const LONGEST: usize = 300;

/// A column of one's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OwnColumn {
    /// Short fact of the file, by its key: `run.version`.
    Fact(String),
    /// Label: its values, or `yes`.
    Label(String),
    /// Score by a scorer.
    Score(String),
    /// Imported verdict of an evaluator.
    Verdict(String),
    /// Part of the answer.
    Answer(Vec<Piece>),
}

/// A step into a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Key of a map.
    Key(String),
    /// Index in a list, from 0.
    Index(usize),
}

impl OwnColumn {
    /// Returns true if its values may quote what was said in a run: all but labels and scores. Values
    /// of a label whose values are texts do too.
    pub fn quotes(&self) -> bool {
        match self {
            Self::Fact(_) | Self::Verdict(_) | Self::Answer(_) => true,
            Self::Label(_) | Self::Score(_) => false,
        }
    }

    /// Parses a column: `answer.items[0].id`, `fact:run.version`, `label:severity`, `score:fields` or
    /// `verdict:relevance`. Fails with a sentence.
    pub fn parse(typed: &str) -> Result<Self, String> {
        let typed = typed.trim();
        let name = |name: &str| {
            let is_bad =
                name.is_empty() || typed.len() > LONGEST || name.contains(char::is_control);
            if is_bad { Err(format!("“{typed}” names nothing.")) } else { Ok(name.to_owned()) }
        };
        match typed.split_once(':') {
            Some(("fact", key)) => return name(key).map(OwnColumn::Fact),
            Some(("label", label)) => return name(label).map(OwnColumn::Label),
            Some(("score", scorer)) => return name(scorer).map(OwnColumn::Score),
            Some(("verdict", evaluator)) => return name(evaluator).map(OwnColumn::Verdict),
            _ => {}
        }
        let path = typed.strip_prefix("answer").filter(|_| typed.len() <= LONGEST);
        path.and_then(pieces).map(OwnColumn::Answer).ok_or_else(|| {
            format!(
                "There is no column “{typed}”. Write answer.items[0].id for a part of the answer, or \
                 fact:KEY, label:NAME, score:SCORER or verdict:EVALUATOR."
            )
        })
    }
}

/// Parses `.items[0]["a key"]`. Returns `None` for anything else.
fn pieces(mut path: &str) -> Option<Vec<Piece>> {
    let mut pieces = Vec::new();
    while !path.is_empty() {
        if let Some(rest) = path.strip_prefix('.') {
            let end = rest.find(['.', '[']).unwrap_or(rest.len());
            let key = rest.get(..end).filter(|key| !key.is_empty())?;
            pieces.push(Piece::Key(key.to_owned()));
            path = &rest[end..];
        } else if let Some(rest) = path.strip_prefix("[\"") {
            let (key, rest) = rest.split_once("\"]")?;
            pieces.push(Piece::Key(key.to_owned()));
            path = rest;
        } else {
            let (index, rest) = path.strip_prefix('[')?.split_once(']')?;
            pieces.push(Piece::Index(index.parse().ok()?));
            path = rest;
        }
    }
    Some(pieces)
}

impl Lists {
    /// Returns the values of columns for runs, by their ids. A run that is not there has none.
    pub fn own_values(
        &self,
        index: &Reader<'_>,
        columns: &[OwnColumn],
        keys: &[String],
    ) -> Result<Vec<Vec<Option<String>>>, IndexError> {
        let ids: Vec<Option<i64>> =
            keys.iter().map(|key| id_of(index, key)).collect::<Result<_, _>>()?;
        let labels = self.labels();
        let known: Vec<i64> = ids.iter().flatten().copied().collect();
        let of_labels = self.label_values(index, (&labels, columns), &known)?;
        let mut labelled = of_labels.into_iter();
        let mut values = Vec::with_capacity(ids.len());
        for id in ids {
            let Some(id) = id else {
                values.push(vec![None; columns.len()]);
                continue;
            };
            let labels = labelled.next().unwrap_or_default();
            values.push(of_run(index, columns, id, &labels)?);
        }
        Ok(values)
    }

    /// Returns the value of each label column for each of these runs.
    fn label_values(
        &self,
        index: &Reader<'_>,
        (labels, columns): (&Arc<Labels>, &[OwnColumn]),
        ids: &[i64],
    ) -> Result<Vec<Vec<(String, String)>>, IndexError> {
        let is_label = |column: &OwnColumn| matches!(column, OwnColumn::Label(_));
        if ids.is_empty() || !columns.iter().any(is_label) {
            return Ok(vec![Vec::new(); ids.len()]);
        }
        let sets = sets(index, labels, all_names(labels), (Some(ids), &|| self.given(index)))?;
        let of_run = |id: &i64| {
            let of_run = sets.of_run(labels, *id).into_iter();
            of_run.map(|one| (one.name, one.value.unwrap_or_else(|| "yes".to_owned()))).collect()
        };
        Ok(ids.iter().map(of_run).collect())
    }
}

fn of_run(
    index: &Reader<'_>,
    columns: &[OwnColumn],
    id: i64,
    labels: &[(String, String)],
) -> Result<Vec<Option<String>>, IndexError> {
    let is = |wanted: fn(&OwnColumn) -> bool| columns.iter().any(wanted);
    let facts =
        if is(|one| matches!(one, OwnColumn::Fact(_))) { facts(index, id)? } else { Vec::new() };
    let is_answer = is(|one| matches!(one, OwnColumn::Answer(_)));
    let answer = if is_answer { answer(index, id)? } else { StoredAnswer::None };
    let value = |column: &OwnColumn| -> Result<Option<String>, IndexError> {
        Ok(match column {
            OwnColumn::Fact(key) => {
                facts.iter().find(|(known, _)| known == key).map(|(_, text)| text.clone())
            }
            OwnColumn::Label(name) => {
                let values: Vec<&str> = labels
                    .iter()
                    .filter(|(known, _)| known.eq_ignore_ascii_case(name))
                    .map(|(_, value)| value.as_str())
                    .collect();
                (!values.is_empty()).then(|| values.join(", "))
            }
            OwnColumn::Score(scorer) => score(index, id, scorer)?,
            OwnColumn::Verdict(evaluator) => verdict(index, id, evaluator)?,
            OwnColumn::Answer(path) => match &answer {
                StoredAnswer::None => None,
                StoredAnswer::TooLarge => Some(TOO_LARGE.to_owned()),
                StoredAnswer::Is(answer) => part(answer, path).map(cell_text),
            },
        })
    };
    columns.iter().map(value).collect()
}

fn facts(index: &Reader<'_>, id: i64) -> Result<Vec<(String, String)>, IndexError> {
    let facts: Option<String> = index
        .prepare_cached("SELECT facts FROM facts WHERE run = ?")?
        .query_row([id], |row| row.get(0))
        .optional()?;
    Ok(facts.and_then(|json| serde_json::from_str(&json).ok()).unwrap_or_default())
}

/// Answer of a run as it can be shown.
enum StoredAnswer {
    None,
    TooLarge,
    Is(Value),
}

fn answer(index: &Reader<'_>, id: i64) -> Result<StoredAnswer, IndexError> {
    // An answer that is larger than is kept has no text, but is there.
    const SMALL: &str = "SELECT CASE WHEN length(answer) <= ?2 THEN answer END FROM answers \
                         WHERE run = ?1 AND lenient IS NOT NULL";
    let text: Vec<Option<String>> = index
        .prepare_cached(SMALL)?
        .query_map(params![id, MOST_ANSWER], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    Ok(match text.into_iter().next() {
        None => StoredAnswer::None,
        Some(None) => StoredAnswer::TooLarge,
        Some(Some(text)) => json::read(&text).map_or(StoredAnswer::None, StoredAnswer::Is),
    })
}

fn score(index: &Reader<'_>, id: i64, scorer: &str) -> Result<Option<String>, IndexError> {
    let score: Option<Option<f64>> = index
        .prepare_cached("SELECT score FROM scores WHERE run = ? AND scorer = ? ORDER BY place")?
        .query_row(params![id, scorer], |row| row.get(0))
        .optional()?;
    Ok(score.flatten().map(|score| score.to_string()))
}

fn verdict(index: &Reader<'_>, id: i64, evaluator: &str) -> Result<Option<String>, IndexError> {
    const OF: &str = "SELECT coalesce(score, word, result) FROM stored \
                      WHERE run = ? AND evaluator = ? AND result <> 'none' ORDER BY place";
    Ok(index
        .prepare_cached(OF)?
        .query_row(params![id, evaluator], |row| row.get::<_, Option<String>>(0))
        .optional()?
        .flatten())
}

fn part<'v>(value: &'v Value, path: &[Piece]) -> Option<&'v Value> {
    path.iter().try_fold(value, |value, piece| match piece {
        Piece::Key(key) => value.get(key),
        Piece::Index(at) => match value {
            Value::List(items) => items.get(*at),
            _ => None,
        },
    })
}

/// Formats a value on one line: a text as it is, anything else as JSON.
fn cell_text(value: &Value) -> String {
    let text = match value {
        Value::Text(text) => text.clone(),
        value => json::write(value, false),
    };
    match text.char_indices().nth(MOST_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_is_a_path_or_a_name_and_anything_else_is_refused() {
        let key = |key: &str| Piece::Key(key.to_owned());
        for (typed, column) in [
            ("answer", OwnColumn::Answer(Vec::new())),
            (
                " answer.items[0].id ",
                OwnColumn::Answer(vec![key("items"), Piece::Index(0), key("id")]),
            ),
            ("answer[\"a.b [c]\"]", OwnColumn::Answer(vec![key("a.b [c]")])),
            ("fact:run.version", OwnColumn::Fact("run.version".to_owned())),
            ("label:dear one", OwnColumn::Label("dear one".to_owned())),
            ("score:fields", OwnColumn::Score("fields".to_owned())),
            ("verdict:a:b", OwnColumn::Verdict("a:b".to_owned())),
        ] {
            let quotes = !typed.starts_with("label:") && !typed.starts_with("score:");
            assert_eq!(column.quotes(), quotes, "{typed}");
            assert_eq!(OwnColumn::parse(typed), Ok(column), "{typed}");
        }
        for typed in [
            "",
            "answers",
            "answer.",
            "answer..a",
            "answer[x]",
            "answer[-1]",
            "answer[0",
            "cost",
            "fact:",
            "x:y",
        ] {
            assert!(OwnColumn::parse(typed).is_err(), "{typed}");
        }
        assert!(OwnColumn::parse(&format!("answer.{}", "x".repeat(400))).is_err());
    }

    #[test]
    fn a_part_of_an_answer_is_shown_as_it_is_written() {
        let answer = json::read(r#"{"items":[{"id":1.50,"n":null},{"id":"a b"}],"x y":{"z":[1]}}"#);
        let answer = answer.unwrap();
        let at = |typed: &str| match OwnColumn::parse(typed).unwrap() {
            OwnColumn::Answer(path) => part(&answer, &path).map(cell_text),
            _ => None,
        };
        assert_eq!(at("answer.items[0].id").as_deref(), Some("1.50"));
        assert_eq!(at("answer.items[0].n").as_deref(), Some("null"));
        assert_eq!(at("answer.items[1].id").as_deref(), Some("a b"));
        assert_eq!(at("answer[\"x y\"]").as_deref(), Some("{\"z\":[1]}"));
        for missing in ["answer.items[2].id", "answer.items.id", "answer[0]", "answer.none"] {
            assert_eq!(at(missing), None, "{missing}");
        }
        assert_eq!(cell_text(&Value::Text("é".repeat(400))).chars().count(), 301);
    }
}
