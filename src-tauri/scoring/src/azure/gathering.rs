//! **Pure.** Rows of files of results as they come, whatever their columns: what the data say, what
//! evaluators came to, and what else there is. Columns stand in the order in which they come first.
use super::outputs::Outputs;
use super::table::{self, Table};
use super::{Outcome, numbers};
use std::collections::HashMap;
use touchstone_formats::value::Value;

/// What stands before the names of columns.
const INPUTS: &str = "inputs.";
const OUTPUTS: &str = "outputs.";

/// Rows that are being gathered.
#[derive(Debug)]
pub struct Gathering {
    most: usize,
    gathered: Gathered,
    /// Which evaluator and which of its columns a key stands for.
    places: HashMap<String, (usize, usize)>,
}

/// Rows by their columns.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Gathered {
    /// The data.
    pub data: Table,
    /// Other columns under their whole names: of a target, and of nobody.
    pub beside: Table,
    /// What each evaluator came to.
    pub outputs: Vec<Outputs>,
}

impl Gathering {
    /// Of not more rows than these.
    pub fn new(most: usize) -> Self {
        Self { most, gathered: Gathered::default(), places: HashMap::new() }
    }

    /// Takes a row as it stands in a file of results, and gives its place. The error is a sentence:
    /// there is too much of it.
    pub fn take(
        &mut self,
        entries: impl IntoIterator<Item = (String, Value)>,
    ) -> Result<usize, String> {
        let row = self.gathered.data.rows.len();
        let (mut data, mut beside) = (Vec::new(), Vec::new());
        for (place, (key, value)) in entries.into_iter().enumerate() {
            let missing = numbers::of(&value).is_some_and(f64::is_nan);
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

    /// Takes what an evaluator said of a row that was taken.
    pub fn say(&mut self, row: usize, evaluator: &str, outcome: &Outcome) -> Result<(), String> {
        outcome
            .iter()
            .try_for_each(|(key, value)| self.put((evaluator, key), (row, usize::MAX), Some(value)))
    }

    /// All of it. The error is a sentence: columns that hold next to nothing would make a file out
    /// of nothing.
    pub fn end(mut self) -> Result<Gathered, String> {
        let rows = self.gathered.data.rows.len();
        self.gathered.outputs.iter_mut().for_each(|outputs| outputs.end(rows));
        self.gathered.data.is_filled()?;
        self.gathered.beside.is_filled()?;
        Ok(self.gathered)
    }

    /// Puts a value under the key of an evaluator; a new column where there is none.
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
        table::room(self.places.len() + 1, self.most)?;
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

impl Gathered {
    /// What a target said, under names without what stands before them.
    pub(super) fn target(&self) -> Result<Table, String> {
        let of = |row: &super::Row| {
            let named = |(at, column): (usize, &String)| {
                Some((column.strip_prefix(OUTPUTS)?.to_owned(), row.cell(at).cloned()))
            };
            self.beside.columns.iter().enumerate().filter_map(named).collect()
        };
        Table::gathered(self.beside.rows.iter().map(of))
    }
}
