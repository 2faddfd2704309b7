//! **Pure.** What an evaluator came to over all rows, by columns. Values that come again and again,
//! such as thresholds and verdicts, are kept once, so that a hundred thousand rows take little
//! room.
use super::{Evaluator, Outcome};
use touchstone_formats::value::Value;

/// Columns of one evaluator.
#[derive(Debug, Clone, PartialEq)]
pub struct Outputs {
    /// Its name in results.
    pub name: String,
    /// A grader: it is summed up by its pass rate.
    pub grader: bool,
    rows: usize,
    columns: Vec<Column>,
}

/// A key of results with its value in each row.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// `f1_score`.
    pub key: String,
    /// The row and the place in it where it comes first.
    first: (usize, usize),
    values: Vec<Value>,
    cells: Vec<u32>,
}

/// A row without a value.
const NONE: u32 = u32::MAX;
/// How many of the values that came first are compared with a new one.
const COMPARED: usize = 8;

impl Outputs {
    /// Of an evaluator over so many rows; there is no result yet.
    pub fn new(evaluator: &Evaluator, rows: usize) -> Self {
        Self::named(&evaluator.name, evaluator.takes.row, rows)
    }

    pub(super) fn named(name: &str, grader: bool, rows: usize) -> Self {
        Self { name: name.to_owned(), grader, rows, columns: Vec::new() }
    }

    /// Takes the result of a row, in whatever order rows are done.
    pub fn set(&mut self, row: usize, outcome: &Outcome) {
        for (place, (key, value)) in outcome.iter().enumerate() {
            self.put(key, (row, place), Some(value));
        }
        // In the order in which somebody who goes through the rows sees them first.
        if !self.columns.is_sorted_by_key(|column| column.first) {
            self.columns.sort_by_key(|column| column.first);
        }
    }

    /// One value, at a row and a place in it. Without a value there is a column all the same.
    pub(super) fn put(&mut self, key: &str, first: (usize, usize), value: Option<&Value>) {
        let at = self
            .columns
            .iter()
            .position(|column| column.key == key)
            .unwrap_or_else(|| self.add(key, first));
        self.put_at(at, first, value);
    }

    /// A new column, and where it stands.
    pub(super) fn add(&mut self, key: &str, first: (usize, usize)) -> usize {
        let (values, cells) = (Vec::new(), vec![NONE; self.rows]);
        self.columns.push(Column { key: key.to_owned(), first, values, cells });
        self.columns.len() - 1
    }

    /// The same as [`Self::put`] for a column that is known by where it stands.
    pub(super) fn put_at(&mut self, at: usize, first: (usize, usize), value: Option<&Value>) {
        let column = &mut self.columns[at];
        column.first = column.first.min(first);
        if let Some(value) = value {
            column.set(first.0, value);
        }
    }

    /// There are not more rows than these, and it is what its columns say.
    pub(super) fn end(&mut self, rows: usize) {
        self.rows = rows;
        self.columns.iter_mut().for_each(|column| column.cells.truncate(rows));
        self.grader = self.column("passed").is_some()
            && self.column(&format!("{}_result", self.name)).is_some();
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Its columns, in the order in which they come first.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The column of a key.
    pub fn column(&self, key: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.key == key)
    }

    /// Whether a row passes; none when nobody can say. Of several verdicts all count, except where
    /// one stands for the others.
    pub fn verdict(&self, row: usize) -> Option<bool> {
        let words: Vec<Option<&str>> =
            self.verdicts().map(|column| column.get(row).and_then(Value::text)).collect();
        if words.contains(&Some("fail")) {
            return Some(false);
        }
        // One part that nobody could judge leaves the whole open.
        (!words.is_empty() && words.iter().all(|word| *word == Some("pass"))).then_some(true)
    }

    /// The columns with its verdicts.
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

    /// The value of a row.
    pub fn get(&self, row: usize) -> Option<&Value> {
        self.values.get(*self.cells.get(row)? as usize)
    }

    /// The values of all rows.
    pub fn cells(&self) -> impl Iterator<Item = Option<&Value>> {
        self.cells.iter().map(|at| self.values.get(*at as usize))
    }

    /// As pandas has it: what all of its values are together.
    pub(super) fn type_of(&self) -> Type {
        Type::of(self.cells())
    }
}

impl Type {
    /// What all cells of a column are together.
    pub(super) fn of<'a>(cells: impl Iterator<Item = Option<&'a Value>>) -> Self {
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
                    // Those have 64 bits there.
                    others |=
                        whole && written.parse::<i64>().is_err() && written.parse::<u64>().is_err();
                }
                Some(_) => others = true,
            }
        }
        match (numbers, flags, others) {
            (true, false, false) if fractions || missing => Self::Fractions,
            (true, false, false) => Self::Wholes,
            // What a row does not have at all is no number, and so is all the rest of it then.
            (false, false, false) if absent => Self::Fractions,
            (false, true, false) if !missing => Self::Flags,
            _ => Self::Anything,
        }
    }
}

/// What a column of pandas holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Type {
    Wholes,
    Fractions,
    Flags,
    Anything,
}
