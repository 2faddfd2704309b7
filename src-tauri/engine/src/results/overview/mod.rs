//! **Pure.** Runs as a matrix: tasks and their variations against systems with models. Owns what a cell counts and what suites expect
//! that is not there; intervals come from `scoring`. Knows neither the index nor the page.
//!
//! A matrix is made once of all runs that pass a filter, and asked for parts of it from then on: folding and scrolling count nothing
//! again. Only the intervals of the rows in sight are worked out when they are asked for.
mod doubt;
mod expected;
mod gather;
mod page;
mod tally;
#[cfg(test)]
mod tests;

use crate::results::suites::Tasks;
use crate::rows::OverviewCell;
use std::sync::Arc;
use tally::Tally;

/// More columns than these are nothing to look at; those with the most runs are kept.
pub const MOST_COLUMNS: usize = 60;

/// All runs that pass a filter, by where they stand.
pub struct Matrix {
    /// The suites it was made with.
    suites: Arc<Tasks>,
    columns: Vec<Column>,
    columns_left_out: usize,
    tasks: Vec<TaskRows>,
    loose: Option<Loose>,
    scorers: Vec<String>,
    totals: Totals,
}

/// Counts of everything that passes.
#[derive(Debug, Default, Clone, Copy)]
struct Totals {
    runs: u64,
    scored: u64,
    errors: u64,
    no_expected: u64,
    unasked: u64,
    missing: Option<u64>,
}

/// A system with a model, and what all its tasks come to.
struct Column {
    system: Option<String>,
    model: Option<String>,
    cell: OverviewCell,
}

/// A task with its variations.
struct TaskRows {
    /// Id of its suite, or what its runs say.
    id: String,
    /// What it is called instead.
    label: Option<String>,
    /// What its runs call it; its id when there are none.
    names: Vec<String>,
    variations: Vec<VariationRow>,
}

struct VariationRow {
    place: Place,
    label: Option<String>,
    /// Some of its runs say its name, and no number.
    by_name: bool,
    tallies: Tallies,
}

impl VariationRow {
    fn new(place: Place, label: Option<String>) -> Self {
        Self { place, label, by_name: false, tallies: Tallies::default() }
    }

    fn runs(&self) -> u64 {
        self.tallies.0.iter().map(|(_, tally)| u64::from(tally.counts.runs)).sum()
    }
}

/// Which variation: by its number, or by its name where layouts have no numbers.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Numbered(u32),
    Named(String),
    Unknown,
}

/// Runs without a task. Those that say who made them may stand in a column; no column is there for their sake.
#[derive(Default)]
struct Loose {
    runs: u64,
    tallies: Tallies,
}

/// What is in the columns of a row, by their position. Most rows of odd folders have few.
#[derive(Default)]
struct Tallies(Vec<(usize, Tally)>);

impl Tallies {
    fn at(&mut self, column: usize) -> &mut Tally {
        let at = match self.0.binary_search_by_key(&column, |(at, _)| *at) {
            Ok(at) => at,
            Err(at) => {
                self.0.insert(at, (column, Tally::default()));
                at
            }
        };
        &mut self.0[at].1
    }

    fn get(&self, column: usize) -> Option<&Tally> {
        let at = self.0.binary_search_by_key(&column, |(at, _)| *at).ok()?;
        Some(&self.0[at].1)
    }
}

impl Matrix {
    /// Whether it was made with these suites, and not with those of before they changed.
    pub fn is_of(&self, suites: &Arc<Tasks>) -> bool {
        Arc::ptr_eq(&self.suites, suites)
    }
}
