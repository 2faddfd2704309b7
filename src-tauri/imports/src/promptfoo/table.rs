//! **Pure.** Results as a table: a row for each test, a group of columns for each prompt and
//! provider.
use super::naming::{Name, Test, name_tests};
use crate::format::ImportedFile;
use crate::run::{EventKind, ImportedRun, ImportedVerdict, Repeat, RunEnd};
use crate::text::is_blank;
use crate::{csv, pieces};
use std::ops::Range;
use touchstone_model::error::{ReadError, ReadErrorKind};
use touchstone_model::json;
use touchstone_model::value::Value;

/// Columns of a prompt with a provider.
#[derive(Debug)]
struct Group {
    /// Column of the answer.
    answer: usize,
    /// Columns of the verdicts, with their heads, up to the next group.
    columns: Vec<(usize, String)>,
    system: String,
    model: Option<String>,
}

/// Table of results.
#[derive(Debug)]
pub(super) struct Table {
    text: String,
    rows: Vec<Range<usize>>,
    groups: Vec<Group>,
    /// Row and group of each run.
    places: Vec<(usize, usize)>,
    names: Vec<Name>,
    is_cut: bool,
}

/// Returns true if the first record has the columns of results.
pub(super) fn is_table(path: &str, start: &[u8]) -> bool {
    let is_named = path.len() > 4
        && path.get(path.len() - 4..).is_some_and(|end| end.eq_ignore_ascii_case(".csv"));
    let Some(text) = is_named.then(|| pieces::text(start.to_vec()).ok()).flatten() else {
        return false;
    };
    let (records, _) = csv::records(&text);
    let Some(record) = records.first().and_then(|place| text.get(place.clone())) else {
        return false;
    };
    csv::fields(record).windows(4).any(|heads| {
        let third = heads[3].as_str();
        (heads[1].as_str(), heads[2].as_str()) == ("Status", "Score")
            && (matches!(third, "Named Scores" | "Grader Reason") || third.starts_with("Metric: "))
    })
}

impl Table {
    pub(super) fn read(bytes: Vec<u8>) -> Result<Self, ReadError> {
        let text = pieces::text(bytes)?;
        let (mut rows, is_whole) = csv::records(&text);
        if !is_whole {
            rows.pop();
        }
        if rows.is_empty() {
            return Err(ReadError::new(ReadErrorKind::Truncated, "The table has no first row."));
        }
        let heads = csv::fields(text.get(rows.remove(0)).unwrap_or_default());
        let groups = read_groups(&heads);
        let (mut tests, mut places) = (Vec::new(), Vec::new());
        for (row, place) in rows.iter().enumerate() {
            let cells = csv::fields(text.get(place.clone()).unwrap_or_default());
            let first = groups.first().map_or(0, |group| group.answer);
            let (description, variables) = read_variables(&heads, &cells, first);
            for (at, group) in groups.iter().enumerate() {
                // A prompt that was not asked for this row has no status.
                if cell(&cells, group.answer + 1).is_empty() {
                    continue;
                }
                places.push((row, at));
                tests.push(Test {
                    description: description.clone(),
                    variables: variables.clone(),
                    prompt: group.system.clone(),
                    provider: group.model.clone().unwrap_or_default(),
                    order: (row as u64, at as u64),
                });
            }
        }
        let names = name_tests(&tests);
        Ok(Table { text, rows, groups, places, names, is_cut: !is_whole })
    }
}

fn cell(cells: &[String], at: usize) -> &str {
    cells.get(at).map(String::as_str).unwrap_or_default()
}

/// Finds the groups: a column that `Status` follows begins one.
fn read_groups(heads: &[String]) -> Vec<Group> {
    let starts: Vec<usize> =
        (1..heads.len()).filter(|at| heads[*at] == "Status").map(|at| at - 1).collect();
    let group = |(at, start): (usize, &usize)| {
        let end = starts.get(at + 1).copied().unwrap_or(heads.len());
        let parts = heads[*start].strip_prefix('[').and_then(|head| head.split_once("] "));
        let (model, system) = match parts {
            Some((model, system)) => (Some(model.to_owned()), system),
            None => (None, heads[*start].as_str()),
        };
        let columns = (start + 1..end).map(|at| (at, heads[at].clone())).collect();
        Group { answer: *start, columns, system: system.to_owned(), model }
    };
    starts.iter().enumerate().map(group).collect()
}

/// Reads the description and the variables, which stand before the first group.
fn read_variables(heads: &[String], cells: &[String], end: usize) -> (Option<String>, Value) {
    let is_described = end > 0 && heads.first().is_some_and(|head| head == "Description");
    let description = Some(cell(cells, 0)).filter(|text| is_described && !text.is_empty());
    let variables = (usize::from(is_described)..end)
        .filter(|at| !cell(cells, *at).is_empty())
        .map(|at| (Value::Text(heads[at].clone()), Value::from(cell(cells, at))))
        .collect();
    (description.map(str::to_owned), Value::Map(variables))
}

impl ImportedFile for Table {
    fn len(&self) -> usize {
        self.places.len()
    }

    fn member(&self, at: usize) -> Option<String> {
        self.places.get(at).map(|(row, group)| format!("row {row} output {group}"))
    }

    fn read(&self, at: usize) -> Result<ImportedRun, ReadError> {
        let missing = || ReadError::new(ReadErrorKind::BadValue, "The table has no such cell.");
        let (row, group) = *self.places.get(at).ok_or_else(missing)?;
        let group = self.groups.get(group).ok_or_else(missing)?;
        let place = self.rows.get(row).cloned().ok_or_else(missing)?;
        let cells = csv::fields(self.text.get(place).unwrap_or_default());
        let name = self.names.get(at).cloned().unwrap_or_default();
        let mut run = ImportedRun {
            task: Some(name.task),
            system: Some(group.system.clone()),
            model: group.model.clone(),
            repeat: Repeat::Number(name.repeat),
            ..ImportedRun::default()
        };
        let answer = cell(&cells, group.answer);
        if !is_blank(answer) {
            run.push(EventKind::Assistant(answer.to_owned()));
            run.answer = Some(answer.to_owned());
        }
        let status = cell(&cells, group.answer + 1);
        if status == "ERROR" {
            run.end = RunEnd::Error;
        } else {
            run.verdicts = read_verdicts(group, &cells, status);
        }
        let comment = group.columns.iter().find(|(_, head)| head == "Comment");
        let comment = comment.map(|(at, _)| cell(&cells, *at)).filter(|text| !text.is_empty());
        run.facts.extend(comment.map(|text| ("comment".to_owned(), Value::from(text))));
        run.notes.push(
            "A table holds neither the prompt nor tokens, cost, duration and the text of errors. \
             Export the evaluation as JSON to see them."
                .to_owned(),
        );
        Ok(run)
    }

    fn file_error(&self) -> Option<ReadError> {
        self.is_cut.then(pieces::cut_off)
    }
}

fn read_verdicts(group: &Group, cells: &[String], status: &str) -> Vec<ImportedVerdict> {
    let column = |name: &str| {
        let found = group.columns.iter().find(|(_, head)| head == name);
        found.map(|(at, _)| cell(cells, *at)).unwrap_or_default()
    };
    let first = ImportedVerdict {
        name: "success".to_owned(),
        value: read_number(column("Score")),
        passed: match status {
            "PASS" => Some(true),
            "FAIL" => Some(false),
            _ => None,
        },
        reason: Some(column("Grader Reason").to_owned()).filter(|text| !text.is_empty()),
        threshold: None,
    };
    let metrics = group.columns.iter().filter_map(|(at, head)| {
        let name = head.strip_prefix("Metric: ")?;
        let value = cell(cells, *at);
        (!value.is_empty()).then(|| ImportedVerdict {
            name: name.to_owned(),
            value: read_number(value),
            ..ImportedVerdict::default()
        })
    });
    std::iter::once(first).chain(metrics).collect()
}

fn read_number(text: &str) -> Value {
    match json::read(text) {
        _ if text.is_empty() => Value::Null,
        Ok(number @ Value::Number(_)) => number,
        _ => Value::from(text),
    }
}
