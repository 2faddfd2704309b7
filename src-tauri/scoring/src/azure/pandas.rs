//! **Pure.** What pandas 2.3 makes of columns on reading, for whoever wants the package's numbers: texts that all look like numbers become
//! numbers, whole numbers with a fraction of 0 lose it, and what is missing is `NaN`.
use super::numbers::{self, is_whole};
use super::python_number::{float, written};
use super::table::Table;
use touchstone_formats::value::Value;

/// Every column of a table that was read. The error is what the package says.
pub(super) fn coerce(table: &mut Table, csv: bool) -> Result<(), String> {
    if let (false, Some(wrong)) = (csv, table.wrong.first()) {
        return Err(format!("The package reads no file with such a line. {}", wrong.message));
    }
    for column in 0..table.columns.len() {
        if csv {
            of_csv(table, column);
        } else {
            if is_date(&table.columns[column]) && looks_like_dates(table, column) {
                return Err("(InternalError) Object of type Timestamp is not JSON serializable".to_owned());
            }
            of_json(table, column);
        }
    }
    Ok(())
}

/// What a cell holds for a column of numbers; none when the column has to stay as it is.
fn each(table: &Table, column: usize, read: impl Fn(Option<&Value>) -> Option<f64>) -> Option<Vec<f64>> {
    table.rows.iter().map(|row| read(row.cell(column))).collect()
}

fn of_json(table: &mut Table, column: usize) {
    let only = |wanted: fn(Option<&Value>) -> bool| table.rows.iter().all(|row| wanted(row.cell(column)));
    if only(|cell| matches!(cell, Some(Value::Bool(_)))) {
        return;
    }
    if only(|cell| matches!(cell, Some(Value::Number(written)) if is_whole(written))) {
        return;
    }
    let read = |cell: Option<&Value>| match cell {
        None | Some(Value::Null) => Some(f64::NAN),
        Some(Value::Bool(flag)) => Some(f64::from(u8::from(*flag))),
        Some(Value::Number(number)) => written(number),
        Some(Value::Text(text)) => float(text),
        Some(_) => None,
    };
    match each(table, column, read) {
        Some(values) => put(table, column, &values, true),
        None => keep(table, column),
    }
}

/// A column that is none of numbers: its numbers are still Python's, and what is missing is `NaN`.
fn keep(table: &mut Table, column: usize) {
    for row in &mut table.rows {
        let value = match row.cell(column) {
            None => Some(f64::NAN),
            Some(Value::Number(number)) if !is_whole(number) => written(number),
            Some(_) => None,
        };
        if let Some(value) = value {
            row.set(column, numbers::number(value));
        }
    }
}

fn put(table: &mut Table, column: usize, values: &[f64], wholes: bool) {
    let whole = wholes && values.iter().all(|value| value.fract() == 0.0 && value.abs() < 9.2e18);
    for (row, value) in table.rows.iter_mut().zip(values) {
        row.set(column, if whole { Value::Number(format!("{value:.0}")) } else { numbers::number(*value) });
    }
}

/// Cells of CSV that are nothing.
const NOTHING: [&str; 18] = [
    "", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A", "NA",
    "NULL", "NaN", "None", "n/a", "nan",
];

fn is_nothing(cell: Option<&Value>) -> bool {
    cell.is_none_or(|cell| cell.text().is_some_and(|text| text == "null" || NOTHING.contains(&text)))
}

fn of_csv(table: &mut Table, column: usize) {
    let text = |cell: Option<&Value>| cell.and_then(Value::text).unwrap_or_default().to_owned();
    let there: Vec<String> =
        table.rows.iter().map(|row| row.cell(column)).filter(|cell| !is_nothing(*cell)).map(text).collect();
    let every = there.len() == table.rows.len();
    let flags = !there.is_empty() && there.iter().all(|text| flag(text).is_some());
    let values = each(table, column, |cell| if is_nothing(cell) { Some(f64::NAN) } else { float(cell?.text()?) });
    match values {
        Some(values) => {
            let wholes = every && there.iter().all(|text| is_whole(text.trim().trim_start_matches('+')));
            put(table, column, &values, wholes);
        }
        None => {
            for row in &mut table.rows {
                let cell = row.cell(column);
                if is_nothing(cell) {
                    row.set(column, numbers::number(f64::NAN));
                } else if let Some(flag) = cell.and_then(Value::text).and_then(flag).filter(|_| flags) {
                    row.set(column, Value::Bool(flag));
                }
            }
        }
    }
}

fn flag(text: &str) -> Option<bool> {
    match text {
        "True" | "TRUE" | "true" => Some(true),
        "False" | "FALSE" | "false" => Some(false),
        _ => None,
    }
}

/// Names of columns that are read as dates.
fn is_date(name: &str) -> bool {
    let name = name.to_lowercase();
    name.ends_with("_at")
        || name.ends_with("_time")
        || name.starts_with("timestamp")
        || matches!(name.as_str(), "modified" | "date")
}

/// Only what surely is a date: pandas guesses more.
fn looks_like_dates(table: &Table, column: usize) -> bool {
    const YEAR: f64 = 31_536_000.0;
    let looks = |value: &Value| match value {
        Value::Number(written) => written.parse().is_ok_and(|seconds: f64| seconds > YEAR),
        Value::Text(text) => {
            let shape: String = text.chars().take(10).map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
            shape == "0000-00-00"
        }
        _ => false,
    };
    let mut there =
        table.rows.iter().filter_map(|row| row.cell(column)).filter(|cell| **cell != Value::Null).peekable();
    there.peek().is_some() && there.all(looks)
}
