//! Reads the columns of a list that people added: a fact of the file, a label, a score, an imported
//! verdict, or a part of the answer. A value that a run does not have is none.
use super::labels::{all_names, sets};
use super::own_values::{StoredAnswer, answer, facts, part, score, verdict};
use super::{IndexError, Lists, Reader, id_of};
use crate::filter::{Labels, OwnColumn};
use std::sync::Arc;
use touchstone_model::json;
use touchstone_model::value::Value;

/// Maximum characters of a value.
const MOST_CHARS: usize = 300;
/// What stands for a part of an answer that is not read.
const TOO_LARGE: &str = "larger than 1 MB";

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
        let sets =
            sets(index, labels, all_names(labels), (Some(ids), &|| self.people_labels(index)))?;
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
