//! **Pure.** Conversions that pandas 2.3 applies to columns when reading, used to reproduce the
//! package's numbers: texts that all look like numbers become numbers, floats with a fraction of 0
//! become integers, and missing values become `NaN`.
use super::numbers::{self, is_whole};
use super::pandas_dates;
use super::pandas_numbers::{of_csv as number_of_csv, whole_of_csv};
use super::python_number::{float, written};
use super::table::Table;
use std::collections::HashMap;
use touchstone_model::value::Value;

/// Converts every column of a table. Fails where the package fails, with its message.
pub(super) fn coerce(table: &mut Table, csv: bool) -> Result<(), String> {
    if let Some(wrong) = table.wrong.first() {
        return Err(format!("The package reads no file with such a line. {}", wrong.message));
    }
    for column in 0..table.columns.len() {
        if csv {
            of_csv(table, column);
        } else {
            let cells = || table.rows.iter().map(|row| row.cell(column));
            if pandas_dates::is_tried(&table.columns[column]) && pandas_dates::are_dates(cells) {
                return Err(
                    "(InternalError) Object of type Timestamp is not JSON serializable".to_owned()
                );
            }
            of_json(table, column);
        }
    }
    Ok(())
}

/// Returns the column as numbers; `None` when any cell is not a number and the column stays
/// unchanged.
fn column_as_floats(
    table: &Table,
    column: usize,
    read: impl Fn(Option<&Value>) -> Option<f64>,
) -> Option<Vec<f64>> {
    table.rows.iter().map(|row| read(row.cell(column))).collect()
}

fn of_json(table: &mut Table, column: usize) {
    let only =
        |wanted: fn(Option<&Value>) -> bool| table.rows.iter().all(|row| wanted(row.cell(column)));
    if only(|cell| matches!(cell, Some(Value::Bool(_)))) {
        return;
    }
    if only(|cell| matches!(cell, Some(Value::Number(written)) if is_whole(written)))
        && is_of_one_width(table, column)
    {
        return;
    }
    let read = |cell: Option<&Value>| match cell {
        None | Some(Value::Null) => Some(f64::NAN),
        Some(Value::Bool(flag)) => Some(f64::from(u8::from(*flag))),
        Some(Value::Number(number)) => written(number),
        Some(Value::Text(text)) => float(text),
        Some(_) => None,
    };
    match column_as_floats(table, column, read) {
        Some(values) => put(table, column, &values),
        None => keep(table, column),
    }
}

/// Converts a column that is not numeric: its floats follow Python, and missing values become
/// `NaN`.
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

/// Returns whether all integers fit into 64 bits, either all signed or all unsigned.
fn is_of_one_width(table: &Table, column: usize) -> bool {
    let number = |cell: &Value| match cell {
        Value::Number(written) => written.parse().ok(),
        _ => None,
    };
    let numbers: Vec<i128> =
        table.rows.iter().filter_map(|row| number(row.cell(column)?)).collect();
    is_of(&numbers, is_signed) || is_of(&numbers, |number| number >= 0)
}

/// Bound from which floats no longer fit into 64-bit integers.
const WHOLE: f64 = 9_223_372_036_854_775_808.0;

fn put(table: &mut Table, column: usize, values: &[f64]) {
    let whole = values.iter().all(|value| value.fract() == 0.0 && (-WHOLE..WHOLE).contains(value));
    for (row, value) in table.rows.iter_mut().zip(values) {
        // Adding 0 turns -0 into 0.
        row.set(
            column,
            if whole {
                Value::Number(format!("{:.0}", value + 0.0))
            } else {
                numbers::number(*value)
            },
        );
    }
}

/// CSV cells that count as missing.
const NOTHING: [&str; 18] = [
    "", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN",
    "<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan",
];

fn is_nothing(cell: Option<&Value>) -> bool {
    cell.is_none_or(|cell| {
        cell.text().is_some_and(|text| text == "null" || NOTHING.contains(&text))
    })
}

fn of_csv(table: &mut Table, column: usize) {
    let text = |cell: Option<&Value>| cell.and_then(Value::text).unwrap_or_default().to_owned();
    let there: Vec<String> = table
        .rows
        .iter()
        .map(|row| row.cell(column))
        .filter(|cell| !is_nothing(*cell))
        .map(text)
        .collect();
    let every = !there.is_empty() && there.len() == table.rows.len();
    let flags = !there.is_empty() && there.iter().all(|text| flag(text).is_some());
    let wholes: Option<Vec<i128>> = there.iter().map(|text| whole_of_csv(text)).collect();
    if let Some(wholes) =
        wholes.filter(|wholes| every || (!wholes.is_empty() && !is_of(wholes, is_signed)))
    {
        let fits = every
            && (is_of(&wholes, is_signed) || is_of(&wholes, |whole| u64::try_from(whole).is_ok()));
        for (at, row) in table.rows.iter_mut().enumerate() {
            if fits {
                row.set(column, Value::Number(wholes[at].to_string()));
            } else if row.cell(column).is_none() {
                row.set(column, "".into());
            }
        }
        return;
    }
    // Integers are parsed as integers before they become floats; the minimum 64-bit integer is the
    // marker for missing values meanwhile.
    let whole = |text: &str| {
        let whole = i64::try_from(whole_of_csv(text)?).ok()?;
        Some(if whole == i64::MIN { f64::NAN } else { float_of(whole) })
    };
    let are_wholes = there.iter().all(|text| whole(text).is_some());
    let number = |text: &str| if are_wholes { whole(text) } else { number_of_csv(text) };
    let read = |cell: Option<&Value>| {
        if is_nothing(cell) { Some(f64::NAN) } else { number(cell?.text()?) }
    };
    match column_as_floats(table, column, read) {
        Some(values) => {
            for (row, value) in table.rows.iter_mut().zip(values) {
                row.set(column, numbers::number(value));
            }
        }
        None => {
            for row in &mut table.rows {
                let cell = row.cell(column);
                if is_nothing(cell) {
                    row.set(column, numbers::number(f64::NAN));
                } else if let Some(flag) =
                    cell.and_then(Value::text).and_then(flag).filter(|_| flags)
                {
                    row.set(column, Value::Bool(flag));
                }
            }
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "that is what becomes of it there")]
fn float_of(whole: i64) -> f64 {
    whole as f64
}

fn is_of(wholes: &[i128], fits: fn(i128) -> bool) -> bool {
    wholes.iter().all(|whole| fits(*whole))
}

fn is_signed(whole: i128) -> bool {
    i64::try_from(whole).is_ok()
}

/// Makes CSV column names unique: an empty name gets the number of its column, and duplicates are
/// numbered.
pub(super) fn distinct(names: Vec<String>) -> Vec<String> {
    let filled =
        |(at, name): (usize, String)| if name.is_empty() { format!("Unnamed: {at}") } else { name };
    let names: Vec<String> = names.into_iter().enumerate().map(filled).collect();
    let mut counts: HashMap<String, usize> = HashMap::new();
    let mut one = |name: &String| {
        let mut own = name.clone();
        let mut count = counts.get(name).copied().unwrap_or(0);
        while count > 0 {
            counts.insert(name.clone(), count + 1);
            own = format!("{name}.{count}");
            count = if names.contains(&own) {
                count + 1
            } else {
                counts.get(&own).copied().unwrap_or(0)
            };
        }
        counts.insert(own.clone(), 1);
        own
    };
    names.iter().map(&mut one).collect()
}

fn flag(text: &str) -> Option<bool> {
    [("true", true), ("false", false)]
        .into_iter()
        .find_map(|(word, flag)| text.eq_ignore_ascii_case(word).then_some(flag))
}
