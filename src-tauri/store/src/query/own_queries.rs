//! Orders runs by columns that people added, and offers columns. Values are not in the index: each run
//! is read, and the order is remembered with the others.
use super::own_values::sort_key;
use super::{IndexError, Lists, Reader, labels};
use crate::filter::{OwnColumn, Piece, Sortable};
use std::collections::{BTreeSet, HashMap};
use touchstone_api::{Column, OwnName, Sort};
use touchstone_model::json;
use touchstone_model::value::Value;

/// Maximum number of runs whose facts and answers are looked at for completion.
const MOST_RUNS: u32 = 300;
/// Maximum bytes of an answer that is looked at for completion.
const MOST_BYTES: u32 = 64 << 10;
/// Maximum number of suggestions.
const MOST_SUGGESTED: usize = 200;
/// Maximum depth of suggested parts.
const MOST_DEPTH: usize = 4;

impl Lists {
    /// Returns the order under which a list is remembered: labels can get another question.
    pub(super) fn remembered_sort(&self, sort: &Sort) -> Sort {
        let Column::Own(name) = &sort.column else { return sort.clone() };
        let typed = format!("{}\n{:x}", name.as_str(), self.labels().hash());
        let column = match OwnName::try_from(typed) {
            Ok(name) if name.as_str().starts_with("label:") => Column::Own(name),
            _ => sort.column.clone(),
        };
        Sort { column, descending: sort.descending }
    }

    /// Returns all runs in the order of a column of one's own. Runs without a value come last in both
    /// directions, and ties are ordered by path.
    pub(super) fn own_order(
        &self,
        index: &Reader<'_>,
        column: &OwnColumn,
        descending: bool,
    ) -> Result<Vec<i64>, IndexError> {
        let by_path = self.order(index, &Sort { column: Column::Path, descending: false })?;
        let mut places = match column {
            OwnColumn::Label(name) => self.label_places(index, name)?,
            _ => HashMap::new(),
        };
        let (mut known, mut missing) = (Vec::new(), Vec::new());
        for id in by_path.iter().copied() {
            let place = match column {
                OwnColumn::Label(_) => places.remove(&id),
                _ => sort_key(index, column, id)?,
            };
            match place {
                Some(place) => known.push((place, id)),
                None => missing.push(id),
            }
        }
        // Stable, so that equal values stay ordered by path.
        known.sort_by(
            |(one, _), (other, _)| {
                if descending { other.cmp(one) } else { one.cmp(other) }
            },
        );
        let mut ids: Vec<i64> = known.into_iter().map(|(_, id)| id).collect();
        ids.append(&mut missing);
        Ok(ids)
    }

    /// Returns the place of each run with a label: that of its values, as they are shown.
    fn label_places(
        &self,
        index: &Reader<'_>,
        name: &str,
    ) -> Result<HashMap<i64, Sortable>, IndexError> {
        let labels = self.labels();
        let names = std::iter::once(name);
        let sets = labels::sets(index, &labels, names, (None, &|| self.people_labels(index)))?;
        let mut places = HashMap::new();
        for id in self.order(index, &Sort { column: Column::Path, descending: false })?.iter() {
            let of_run = sets.of_run(&labels, *id).into_iter();
            let of_run = of_run.filter(|label| label.name.eq_ignore_ascii_case(name));
            let values: Vec<String> =
                of_run.map(|one| one.value.unwrap_or_else(|| "yes".to_owned())).collect();
            if !values.is_empty() {
                places.insert(*id, Sortable::text(&values.join(", ")));
            }
        }
        Ok(places)
    }
}

/// Returns keys of facts that occur, of some runs.
pub(super) fn fact_keys(index: &Reader<'_>) -> Result<BTreeSet<String>, IndexError> {
    let mut query = index.prepare_cached("SELECT facts FROM facts ORDER BY run DESC LIMIT ?")?;
    let mut rows = query.query([MOST_RUNS])?;
    let mut keys = BTreeSet::new();
    while let Some(row) = rows.next()? {
        let json = row.get_ref(0)?.as_str().unwrap_or_default();
        let facts: Vec<(String, String)> = serde_json::from_str(json).unwrap_or_default();
        keys.extend(facts.into_iter().map(|(key, _)| key));
    }
    Ok(keys.into_iter().take(MOST_SUGGESTED).collect())
}

/// Returns parts of answers that occur, of some runs: of lists the first value.
pub(super) fn parts(index: &Reader<'_>) -> Result<Vec<String>, IndexError> {
    const SOME: &str = "SELECT answer FROM answers WHERE lenient IS NOT NULL \
                        AND length(answer) <= ? ORDER BY run DESC LIMIT ?";
    let mut query = index.prepare_cached(SOME)?;
    let mut rows = query.query([MOST_BYTES, MOST_RUNS])?;
    let mut parts = BTreeSet::new();
    while let Some(row) = rows.next()? {
        if let Ok(answer) = json::read(row.get_ref(0)?.as_str().unwrap_or_default()) {
            gather(&answer, &mut Vec::new(), &mut parts);
        }
    }
    Ok(parts.into_iter().collect())
}

fn gather(value: &Value, path: &mut Vec<Piece>, parts: &mut BTreeSet<String>) {
    if parts.len() >= MOST_SUGGESTED {
        return;
    }
    let is_deeper = path.len() < MOST_DEPTH;
    let mut inside = |piece: Piece, value: &Value| {
        path.push(piece);
        gather(value, path, parts);
        path.pop();
    };
    match value {
        Value::Map(entries) if !entries.is_empty() && is_deeper => {
            for (key, value) in entries {
                if let Value::Text(key) = key {
                    inside(Piece::Key(key.clone()), value);
                }
            }
        }
        Value::List(items) if !items.is_empty() && is_deeper => {
            inside(Piece::Index(0), &items[0]);
        }
        _ if path.is_empty() => {}
        _ => {
            let typed = OwnColumn::Answer(path.clone()).to_string();
            // Nothing is offered that cannot be typed.
            if OwnColumn::parse(&typed).is_ok() && !typed.contains('\\') {
                parts.insert(typed);
            }
        }
    }
}

/// Returns the column of one's own that an order is by.
pub(super) fn parsed(sort: &Sort) -> Option<OwnColumn> {
    match &sort.column {
        Column::Own(name) => OwnColumn::parse(name.as_str()).ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_index::{TestIndex, TestRun, paths, request};

    /// An index of runs `a`, `b`, … with these answers; none for a run without one.
    fn with_answers(answers: &[Option<&str>]) -> TestIndex {
        let name = |at: usize| "abcdefgh"[at..=at].to_owned();
        let runs: Vec<TestRun> =
            (0..answers.len()).map(|at| TestRun { path: name(at), ..TestRun::default() }).collect();
        let shelf = TestIndex::with(&runs);
        for (at, answer) in answers.iter().enumerate() {
            let Some(answer) = answer else { continue };
            shelf.change(&format!(
                "INSERT INTO answers (run, lenient, calls, said_at, said_len, answer, told) \
                 SELECT id, 0, '[]', 0, 0, '{answer}', '' FROM runs WHERE path = '{}'",
                name(at)
            ));
        }
        shelf
    }

    fn own_column(column: &str) -> Column {
        Column::Own(OwnName::try_from(column.to_owned()).unwrap())
    }

    #[test]
    fn numbers_are_ordered_as_numbers_and_missing_values_come_last_in_both_directions() {
        let shelf = with_answers(&[
            Some(r#"{"id":10}"#),
            Some(r#"{"id":"x"}"#),
            None,
            Some(r#"{"id":9}"#),
            Some(r#"{"id":null}"#),
            Some(r#"{"id":[1]}"#),
            Some(r#"{"id":9.0}"#),
            Some(r#"{"other":1}"#),
        ]);
        shelf.finish();
        let lists = Lists::default();
        let sorted = |descending| {
            paths(
                &lists
                    .list(&shelf.reader(), &request("", own_column("answer.id"), descending))
                    .unwrap(),
            )
        };
        assert_eq!(sorted(false), "d g a b f c e h");
        assert_eq!(sorted(true), "f b a d g c e h");
        let around = lists.locate(
            &shelf.reader(),
            "",
            &Sort { column: own_column("answer.id"), descending: false },
            "key of a",
        );
        assert_eq!(around.unwrap().position, Some(2));
    }

    #[test]
    fn a_filter_asks_for_the_values_of_a_part_and_negation_admits_missing_ones() {
        let shelf = with_answers(&[
            Some(r#"{"items":[{"id":7}]}"#),
            Some(r#"{"items":[{"id":"seven"}]}"#),
            Some(r#"{"items":[]}"#),
            None,
        ]);
        shelf.finish();
        let lists = Lists::default();
        for (filter, passing) in [
            ("answer.items[0].id=7", "a"),
            ("answer.items[0].id:7,SEV*", "a b"),
            ("answer.items[0].id>6", "a"),
            ("answer.items[0].id=*", "a b"),
            ("-answer.items[0].id=7", "b c d"),
            ("answer.items[0].id>7", ""),
        ] {
            let page = lists.list(&shelf.reader(), &request(filter, Column::Path, false)).unwrap();
            assert_eq!(page.misread, [], "{filter}");
            assert_eq!(paths(&page), passing, "{filter}");
        }
        assert_eq!(parts(&shelf.reader()).unwrap(), ["answer.items", "answer.items[0].id"]);
    }
}
