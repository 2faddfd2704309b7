//! **Pure.** Collects the rows of results files, whatever their columns, into data, evaluator
//! outputs and other columns. Columns keep the order in which they first occur.
use super::outputs::Outputs;
use super::table::{self, Table};
use super::{Outcome, numbers};
use std::collections::HashMap;
use touchstone_model::value::Value;

/// Prefixes of column names.
const INPUTS: &str = "inputs.";
const OUTPUTS: &str = "outputs.";

/// Builder that collects rows.
#[derive(Debug)]
pub struct RowCollector {
    most: usize,
    gathered: CollectedRows,
    /// Index of the evaluator and of its column, by key.
    places: HashMap<String, (usize, usize)>,
}

/// Collected rows, by column.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CollectedRows {
    /// Input data.
    pub data: Table,
    /// Other columns under their full names: of a target, or unknown.
    pub beside: Table,
    /// Outputs of each evaluator.
    pub outputs: Vec<Outputs>,
}

impl RowCollector {
    /// Creates a builder for at most `most` rows.
    pub fn new(most: usize) -> Self {
        Self { most, gathered: CollectedRows::default(), places: HashMap::new() }
    }

    /// Adds a row of a results file and returns its index. Fails with a sentence when there are too
    /// many columns.
    pub fn take(
        &mut self,
        entries: impl IntoIterator<Item = (String, Value)>,
    ) -> Result<usize, String> {
        let row = self.gathered.data.rows.len();
        let (mut data, mut beside) = (Vec::new(), Vec::new());
        for (place, (key, value)) in entries.into_iter().enumerate() {
            let missing = numbers::to_f64(&value).is_some_and(f64::is_nan);
            let value = (!missing).then_some(value);
            if let Some(column) = key.strip_prefix(INPUTS) {
                data.push((column.to_owned(), value));
            } else if let Some(name) =
                key.strip_prefix(OUTPUTS).and_then(|name| name.rsplit_once('.'))
            {
                self.put(name, (row, place), value.as_ref())?;
            } else {
                beside.push((key, value));
            }
        }
        self.gathered.data.add(row + 1, data)?;
        self.gathered.beside.add(row + 1, beside)?;
        Ok(row)
    }

    /// Adds an evaluator's result for a row that was added before.
    pub fn add_outcome(
        &mut self,
        row: usize,
        evaluator: &str,
        outcome: &Outcome,
    ) -> Result<(), String> {
        outcome
            .iter()
            .try_for_each(|(key, value)| self.put((evaluator, key), (row, usize::MAX), Some(value)))
    }

    /// Returns the collected rows. Fails with a sentence when the columns are almost empty, because
    /// a small file could otherwise grow into a huge table.
    pub fn end(mut self) -> Result<CollectedRows, String> {
        let rows = self.gathered.data.rows.len();
        self.gathered.outputs.iter_mut().for_each(|outputs| outputs.end(rows));
        self.gathered.data.is_filled()?;
        self.gathered.beside.is_filled()?;
        Ok(self.gathered)
    }

    /// Stores a value under an evaluator's key and adds the column when it is new.
    fn put(
        &mut self,
        (evaluator, key): (&str, &str),
        first: (usize, usize),
        value: Option<&Value>,
    ) -> Result<(), String> {
        let name = format!("{evaluator}.{key}");
        if let Some((which, at)) = self.places.get(&name) {
            self.gathered.outputs[*which].put_at(*at, first, value);
            return Ok(());
        }
        table::check_limits(self.places.len() + 1, self.most)?;
        let outputs = &mut self.gathered.outputs;
        let which =
            outputs.iter().position(|outputs| outputs.name == evaluator).unwrap_or(outputs.len());
        if which == outputs.len() {
            outputs.push(Outputs::named(evaluator, false, self.most));
        }
        let at = outputs[which].add(key, first);
        outputs[which].put_at(at, first, value);
        self.places.insert(name, (which, at));
        Ok(())
    }
}

impl CollectedRows {
    /// Returns the target's columns, without their prefix.
    pub(super) fn target(&self) -> Result<Table, String> {
        let of = |row: &super::Row| {
            let named = |(at, column): (usize, &String)| {
                Some((column.strip_prefix(OUTPUTS)?.to_owned(), row.cell(at).cloned()))
            };
            self.beside.columns.iter().enumerate().filter_map(named).collect()
        };
        Table::from_rows(self.beside.rows.iter().map(of))
    }
}
