//! **Pure.** Outputs of an evaluator over all rows, by column. Repeated values, such as thresholds
//! and verdicts, are stored once, so that a hundred thousand rows take little memory.
use super::{Evaluator, Outcome};
use touchstone_model::value::Value;

/// Output columns of one evaluator.
#[derive(Debug, Clone, PartialEq)]
pub struct Outputs {
    /// Name in results.
    pub name: String,
    /// True for graders, which are aggregated by their pass rate.
    pub grader: bool,
    rows: usize,
    columns: Vec<Column>,
}

/// A result key with its value in each row.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// Result key, such as `f1_score`.
    pub key: String,
    /// Row, and position within it, of the first occurrence.
    first: (usize, usize),
    values: Vec<Value>,
    cells: Vec<u32>,
}

/// Marks a row without a value.
const NONE: u32 = u32::MAX;
/// Number of earlier values that a new one is compared with.
const COMPARED: usize = 8;

impl Outputs {
    /// Creates empty outputs of an evaluator for `rows` rows.
    pub fn new(evaluator: &Evaluator, rows: usize) -> Self {
        Self::named(&evaluator.name, evaluator.takes.row, rows)
    }

    pub(super) fn named(name: &str, grader: bool, rows: usize) -> Self {
        Self { name: name.to_owned(), grader, rows, columns: Vec::new() }
    }

    /// Stores the result of a row. Rows can arrive in any order.
    pub fn set(&mut self, row: usize, outcome: &Outcome) {
        for (place, (key, value)) in outcome.iter().enumerate() {
            self.put(key, (row, place), Some(value));
        }
        // Columns are ordered by first occurrence in row order.
        if !self.columns.is_sorted_by_key(|column| column.first) {
            self.columns.sort_by_key(|column| column.first);
        }
    }

    /// Stores a value at a row and a position within it. Adds the column even when there is no
    /// value.
    pub(super) fn put(&mut self, key: &str, first: (usize, usize), value: Option<&Value>) {
        let at = self
            .columns
            .iter()
            .position(|column| column.key == key)
            .unwrap_or_else(|| self.add(key, first));
        self.put_at(at, first, value);
    }

    /// Adds a column and returns its index.
    pub(super) fn add(&mut self, key: &str, first: (usize, usize)) -> usize {
        let (values, cells) = (Vec::new(), vec![NONE; self.rows]);
        self.columns.push(Column { key: key.to_owned(), first, values, cells });
        self.columns.len() - 1
    }

    /// Like [`Self::put`], for the column with index `at`.
    pub(super) fn put_at(&mut self, at: usize, first: (usize, usize), value: Option<&Value>) {
        let column = &mut self.columns[at];
        column.first = column.first.min(first);
        if let Some(value) = value {
            column.set(first.0, value);
        }
    }

    /// Truncates to the given number of rows and detects from the columns whether this is a grader.
    pub(super) fn end(&mut self, rows: usize) {
        self.rows = rows;
        self.columns.iter_mut().for_each(|column| column.cells.truncate(rows));
        self.grader = self.column("passed").is_some()
            && self.column(&format!("{}_result", self.name)).is_some();
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Returns the columns, in the order of first occurrence.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Returns the column of a key.
    pub fn column(&self, key: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.key == key)
    }

    /// Returns whether a row passes; `None` when that is undecided. When there are several verdicts
    /// all of them count, except where one of them represents the others.
    pub fn verdict(&self, row: usize) -> Option<bool> {
        let words: Vec<Option<&str>> =
            self.verdicts().map(|column| column.get(row).and_then(Value::text)).collect();
        if words.contains(&Some("fail")) {
            return Some(false);
        }
        // A single undecided verdict leaves the row undecided.
        (!words.is_empty() && words.iter().all(|word| *word == Some("pass"))).then_some(true)
    }

    /// Returns the columns with verdicts.
    fn verdicts(&self) -> impl Iterator<Item = &Column> {
        const FOR_ALL: [&str; 2] = ["ndcg@3_result", "rouge_f1_score_result"];
        let one = FOR_ALL.iter().find_map(|key| self.column(key));
        let all = self.columns.iter().filter(|column| column.key.ends_with("_result"));
        all.filter(move |column| one.is_none_or(|one| one.key == column.key))
    }
}

impl Column {
    fn set(&mut self, row: usize, value: &Value) {
        let known = self.values.iter().take(COMPARED).position(|known| known == value);
        let at = known.unwrap_or_else(|| {
            self.values.push(value.clone());
            self.values.len() - 1
        });
        if let Some(cell) = self.cells.get_mut(row) {
            *cell = u32::try_from(at).unwrap_or(NONE);
        }
    }

    /// Returns the value of a row.
    pub fn get(&self, row: usize) -> Option<&Value> {
        self.values.get(*self.cells.get(row)? as usize)
    }

    /// Returns the values of all rows.
    pub fn cells(&self) -> impl Iterator<Item = Option<&Value>> {
        self.cells.iter().map(|at| self.values.get(*at as usize))
    }

    /// Returns the column's pandas type.
    pub(super) fn type_of(&self) -> Type {
        Type::from_cells(self.cells())
    }
}

impl Type {
    /// Returns the pandas type for a column with these cells.
    pub(super) fn from_cells<'a>(cells: impl Iterator<Item = Option<&'a Value>>) -> Self {
        let (mut numbers, mut fractions, mut flags, mut others, mut missing) =
            (false, false, false, false, false);
        let mut absent = false;
        for cell in cells {
            match cell {
                None => (missing, absent) = (true, true),
                Some(Value::Null) => missing = true,
                Some(Value::Bool(_)) => flags = true,
                Some(Value::Number(written)) => {
                    let whole = super::numbers::is_whole(written);
                    numbers = true;
                    fractions |= !whole;
                    // Integers in pandas have 64 bits.
                    others |=
                        whole && written.parse::<i64>().is_err() && written.parse::<u64>().is_err();
                }
                Some(_) => others = true,
            }
        }
        match (numbers, flags, others) {
            (true, false, false) if fractions || missing => Self::Fractions,
            (true, false, false) => Self::Wholes,
            // A column of absent cells is a column of floats in pandas.
            (false, false, false) if absent => Self::Fractions,
            (false, true, false) if !missing => Self::Flags,
            _ => Self::Anything,
        }
    }
}

/// Column types of pandas.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Type {
    Wholes,
    Fractions,
    Flags,
    Anything,
}
