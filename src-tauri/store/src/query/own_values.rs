//! Values of columns of one's own, read from the index for one run, and the runs that a filter admits
//! by them.
use super::{IndexError, Reader, RunSet};
use crate::filter::{Filter, FilterValue, OwnColumn, Piece, Sortable, fits};
use rusqlite::{OptionalExtension as _, params};
use touchstone_model::json;
use touchstone_model::value::Value;

/// Maximum bytes of an answer that is read for a column.
const MOST_ANSWER: i64 = 1 << 20;

/// Returns the facts of a run, as its file names them.
pub(super) fn facts(index: &Reader<'_>, id: i64) -> Result<Vec<(String, String)>, IndexError> {
    let facts: Option<String> = index
        .prepare_cached("SELECT facts FROM facts WHERE run = ?")?
        .query_row([id], |row| row.get(0))
        .optional()?;
    Ok(facts.and_then(|json| serde_json::from_str(&json).ok()).unwrap_or_default())
}

/// Answer of a run as it can be shown.
pub(super) enum StoredAnswer {
    None,
    TooLarge,
    Is(Value),
}

/// Returns the answer of a run.
pub(super) fn answer(index: &Reader<'_>, id: i64) -> Result<StoredAnswer, IndexError> {
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

/// Returns the score of a run by a scorer.
pub(super) fn score(
    index: &Reader<'_>,
    id: i64,
    scorer: &str,
) -> Result<Option<String>, IndexError> {
    let score: Option<Option<f64>> = index
        .prepare_cached("SELECT score FROM scores WHERE run = ? AND scorer = ? ORDER BY place")?
        .query_row(params![id, scorer], |row| row.get(0))
        .optional()?;
    Ok(score.flatten().map(|score| score.to_string()))
}

/// Returns what an evaluator found of a run.
pub(super) fn verdict(
    index: &Reader<'_>,
    id: i64,
    evaluator: &str,
) -> Result<Option<String>, IndexError> {
    const OF: &str = "SELECT coalesce(score, word, result) FROM stored \
                      WHERE run = ? AND evaluator = ? AND result <> 'none' ORDER BY place";
    Ok(index
        .prepare_cached(OF)?
        .query_row(params![id, evaluator], |row| row.get::<_, Option<String>>(0))
        .optional()?
        .flatten())
}

/// Returns the part of a value at a path.
pub(super) fn part<'v>(value: &'v Value, path: &[Piece]) -> Option<&'v Value> {
    path.iter().try_fold(value, |value, piece| match piece {
        Piece::Key(key) => value.get(key),
        Piece::Index(at) => match value {
            Value::List(items) => items.get(*at),
            _ => None,
        },
    })
}

/// Returns the place of a run in the order of a column. `None` if it has no value.
pub(super) fn sort_key(
    index: &Reader<'_>,
    column: &OwnColumn,
    id: i64,
) -> Result<Option<Sortable>, IndexError> {
    if let OwnColumn::Answer(path) = column {
        let StoredAnswer::Is(answer) = answer(index, id)? else { return Ok(None) };
        return Ok(part(&answer, path).and_then(Sortable::part));
    }
    Ok(text(index, column, id)?.map(|text| Sortable::text(&text)))
}

/// Returns the value of a run as a text. `None` if it has no value.
fn text(index: &Reader<'_>, column: &OwnColumn, id: i64) -> Result<Option<String>, IndexError> {
    match column {
        OwnColumn::Fact(key) => {
            Ok(facts(index, id)?.into_iter().find(|(known, _)| known == key).map(|(_, text)| text))
        }
        OwnColumn::Score(scorer) => score(index, id, scorer),
        OwnColumn::Verdict(evaluator) => verdict(index, id, evaluator),
        OwnColumn::Answer(path) => {
            let StoredAnswer::Is(answer) = answer(index, id)? else { return Ok(None) };
            Ok(part(&answer, path).map(|value| match value {
                Value::Text(text) => text.clone(),
                value => json::write(value, false),
            }))
        }
        // Labels have a key of their own in filters.
        OwnColumn::Label(_) => Ok(None),
    }
}

/// Keeps the runs that a filter admits by their columns of one's own.
pub(super) fn admitted(
    index: &Reader<'_>,
    filter: &Filter,
    set: RunSet,
) -> Result<RunSet, IndexError> {
    let mut left = set;
    for (wanted, negated) in filter.own_column_conditions() {
        let mut fitting = RunSet::default();
        for id in left.iter() {
            if holds(index, wanted, id)? != negated {
                fitting.insert(id);
            }
        }
        left = fitting;
    }
    Ok(left)
}

/// Returns true if a run has one of these values.
fn holds(index: &Reader<'_>, wanted: &[FilterValue], id: i64) -> Result<bool, IndexError> {
    let mut read: Option<(&OwnColumn, Option<String>)> = None;
    for value in wanted {
        let FilterValue::Own(column, condition) = value else { continue };
        // The values of a part of the answer stand behind the same path.
        let text = match read.take() {
            Some((known, text)) if known == column => text,
            _ => text(index, column, id)?,
        };
        if text.as_deref().is_some_and(|text| fits(condition, text)) {
            return Ok(true);
        }
        read = Some((column, text));
    }
    Ok(false)
}
