//! **Pure.** A list of objects as a table: columns, cells, order, CSV.
use super::pieces::{Budget, short, weight};
use crate::csv;
use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::HashMap;
use touchstone_api::{Body, Cell, CellKind, RowPiece, RowRequest, TableColumn};
use touchstone_model::json;
use touchstone_model::value::Value;

/// Maximum number of columns. A list with more distinct keys is not shown as a table.
const MAX_COLUMNS: usize = 200;
/// Number of rows sent when a run opens.
const FIRST_ROWS: usize = 50;
/// Maximum number of rows read at once.
const MAX_ROWS: usize = 500;
/// Maximum bytes shown of a cell.
const MAX_CELL: usize = 2_000;
/// Maximum bytes shown of a column name.
const MAX_NAME: usize = 200;
/// Maximum JSON bytes of one reply with rows (`MAX_REPLY`), and of a table when a run opens
/// (`MAX_FIRST`).
const MAX_REPLY: usize = 512 << 10;
const MAX_FIRST: usize = 64 << 10;
/// Estimated JSON overhead of a cell, in bytes.
const CELL_FRAME: usize = 32;

/// A table view of a value.
pub(super) struct Table<'a> {
    columns: Vec<TableColumn>,
    /// Full names of the columns, in order of appearance.
    names: Vec<Cow<'a, str>>,
    rows: &'a [Value],
}

impl<'a> Table<'a> {
    /// Returns the table of a list of at least one object; `None` for any other value, and for more
    /// than [`MAX_COLUMNS`] columns.
    pub(super) fn from_value(value: &'a Value) -> Option<Self> {
        let Value::List(rows) = value else { return None };
        if rows.is_empty() || !rows.iter().all(|row| matches!(row, Value::Map(_))) {
            return None;
        }
        let mut at: HashMap<Cow<'a, str>, usize> = HashMap::new();
        let (mut names, mut numbers, mut others) = (Vec::new(), Vec::new(), Vec::new());
        for (key, value) in rows.iter().flat_map(Value::entries) {
            let name = key_text(key);
            let column = *at.entry(name).or_insert_with_key(|name| {
                names.push(name.clone());
                numbers.push(false);
                others.push(false);
                names.len() - 1
            });
            if column == MAX_COLUMNS {
                return None;
            }
            match value {
                Value::Number(_) => numbers[column] = true,
                Value::Null => {}
                _ => others[column] = true,
            }
        }
        let numeric = numbers.iter().zip(&others).map(|(numbers, others)| *numbers && !others);
        let columns = names
            .iter()
            .zip(numeric)
            .map(|(name, numeric)| TableColumn { name: short(name, MAX_NAME), numeric })
            .collect();
        Some(Self { columns, names, rows })
    }

    /// Returns the columns and first rows; `None` if not even the header fits.
    pub(super) fn body(&self, budget: &mut Budget) -> Option<Body> {
        let allowed = budget.left.min(MAX_FIRST);
        let mut left = Budget::new(allowed);
        left.spend(self.columns.iter().map(|column| weight(&column.name) + CELL_FRAME).sum());
        if left.left < self.columns.len() * CELL_FRAME {
            return None;
        }
        let rows = self.fill(0..self.rows.len().min(FIRST_ROWS), &mut left);
        budget.spend(allowed - left.left);
        Some(Body::Table { columns: self.columns.clone(), rows, total: self.rows.len() as u64 })
    }

    /// Returns the requested rows in the requested order.
    pub(super) fn read(&self, request: &RowRequest) -> RowPiece {
        let total = self.rows.len();
        let start = (request.span.offset as usize).min(total);
        let end = start.saturating_add((request.span.limit as usize).min(MAX_ROWS)).min(total);
        let mut budget = Budget::new(MAX_REPLY);
        let column = request.column.and_then(|at| self.names.get(at as usize));
        let rows = match column {
            None => self.fill(start..end, &mut budget),
            Some(name) => {
                let order = self.order(name, request.descending);
                self.fill(order[start..end].iter().copied(), &mut budget)
            }
        };
        RowPiece { rows, total: total as u64 }
    }

    /// Formats the whole table as CSV. A missing value is an empty field, an empty text a quoted
    /// one.
    pub(super) fn csv(&self) -> String {
        let mut out = String::new();
        csv::line(&mut out, self.names.iter().map(|name| Some(Cow::Borrowed(name.as_ref()))));
        for values in self.rows {
            let fields = self.values(values).into_iter();
            csv::line(
                &mut out,
                fields.map(|value| value.filter(|value| **value != Value::Null).map(cell_text)),
            );
        }
        out
    }

    /// Returns the cells of rows, as many rows as fit. The first row is always included, with
    /// shorter cells if necessary.
    fn fill(&self, rows: impl IntoIterator<Item = usize>, budget: &mut Budget) -> Vec<Vec<Cell>> {
        let mut filled = Vec::new();
        for at in rows {
            let values = self.values(&self.rows[at]);
            let mut rest = *budget;
            let row = cells(&values, MAX_CELL, &mut rest);
            if rest.left == 0 {
                if filled.is_empty() {
                    let each = budget.left / (values.len().max(1) * 6);
                    filled.push(cells(&values, each, budget));
                }
                break;
            }
            *budget = rest;
            filled.push(row);
        }
        filled
    }

    fn values(&self, row: &'a Value) -> Vec<Option<&'a Value>> {
        let entries = row.entries();
        let value = |(at, name): (usize, &Cow<'a, str>)| {
            let named = |(key, _): &&(Value, Value)| key_text(key) == *name;
            // Keys are nearly always at the position of their column.
            let entry = entries.get(at).filter(named).or_else(|| entries.iter().find(named));
            entry.map(|(_, value)| value)
        };
        self.names.iter().enumerate().map(value).collect()
    }

    fn order(&self, name: &str, descending: bool) -> Vec<usize> {
        let value = |row: &'a Value| {
            row.entries().iter().find(|(key, _)| key_text(key) == name).map(|(_, value)| value)
        };
        let mut keyed: Vec<(SortKey<'a>, usize)> =
            self.rows.iter().enumerate().map(|(at, row)| (SortKey::new(value(row)), at)).collect();
        keyed.sort_by(|(a, _), (b, _)| a.compare(b, descending));
        keyed.into_iter().map(|(_, at)| at).collect()
    }
}

/// Sort key of a value: numbers, then texts, then nested values; missing values last.
enum SortKey<'a> {
    Number(f64, &'a str),
    Text(Cow<'a, str>),
    Nested(String),
    Missing,
}

impl<'a> SortKey<'a> {
    fn new(value: Option<&'a Value>) -> Self {
        match value {
            None | Some(Value::Null) => SortKey::Missing,
            Some(Value::Number(text)) => match text.replace('_', "").parse() {
                Ok(number) => SortKey::Number(number, text),
                Err(_) => SortKey::Text(Cow::Borrowed(text)),
            },
            Some(value @ (Value::List(_) | Value::Map(_))) => {
                SortKey::Nested(json::write(value, false))
            }
            Some(value) => SortKey::Text(cell_text(value)),
        }
    }

    fn compare(&self, other: &Self, descending: bool) -> Ordering {
        let (a, b) = (self.rank(), other.rank());
        if a != b || a == 3 {
            // The order of the kinds is not reversed.
            return a.cmp(&b);
        }
        let order = match (self, other) {
            // Integers beyond the precision of a float still differ.
            (SortKey::Number(a, x), SortKey::Number(b, y)) => {
                a.total_cmp(b).then_with(|| match (x.parse::<i128>(), y.parse()) {
                    (Ok(x), Ok(y)) => x.cmp(&y),
                    _ => Ordering::Equal,
                })
            }
            (SortKey::Text(a), SortKey::Text(b)) => a.cmp(b),
            (SortKey::Nested(a), SortKey::Nested(b)) => a.cmp(b),
            _ => Ordering::Equal,
        };
        if descending { order.reverse() } else { order }
    }

    fn rank(&self) -> u8 {
        match self {
            SortKey::Number(..) => 0,
            SortKey::Text(_) => 1,
            SortKey::Nested(_) => 2,
            SortKey::Missing => 3,
        }
    }
}

fn cells(values: &[Option<&Value>], most: usize, budget: &mut Budget) -> Vec<Cell> {
    let cell = |value: Option<&Value>| {
        let text = value.map_or(Cow::Borrowed(""), cell_text);
        budget.spend(CELL_FRAME);
        let shown = budget.fit(&text, most);
        let text = if shown.len() < text.len() { format!("{shown}…") } else { shown.to_owned() };
        Cell { text, kind: value.map_or(CellKind::Missing, kind) }
    };
    values.iter().copied().map(cell).collect()
}

fn kind(value: &Value) -> CellKind {
    match value {
        Value::Null => CellKind::Null,
        Value::Bool(_) => CellKind::Bool,
        Value::Number(_) => CellKind::Number,
        Value::Text(_) => CellKind::Text,
        Value::List(_) | Value::Map(_) => CellKind::Nested,
    }
}

fn cell_text(value: &Value) -> Cow<'_, str> {
    match value {
        Value::Text(text) | Value::Number(text) => Cow::Borrowed(text),
        Value::Bool(bool) => Cow::Borrowed(if *bool { "true" } else { "false" }),
        Value::Null => Cow::Borrowed("null"),
        Value::List(_) | Value::Map(_) => Cow::Owned(json::write(value, false)),
    }
}

fn key_text(key: &Value) -> Cow<'_, str> {
    cell_text(key)
}
