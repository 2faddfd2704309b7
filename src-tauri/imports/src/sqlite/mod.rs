//! **Pure.** Tables of an SQLite database, read from its pages. Nothing of the database is run: no
//! query, view or trigger. Nothing is written beside it, and its write-ahead log is read with it.
mod btree;
mod columns;
mod error;
mod pages;
mod record;
#[cfg(test)]
mod tests;

use crate::source::Input;
use btree::Cell;
pub use columns::Columns;
use error::{busy, damaged};
pub use pages::{MAGIC, Pages};
pub use record::{Field, Record};
use std::cell::{Ref, RefCell};
use std::ops::ControlFlow;
use touchstone_model::error::ReadError;

/// Number of times that reading begins again when another program changes the database meanwhile.
const TRIES: usize = 4;

/// Maximum number of tables, views and indexes.
const MOST_ENTRIES: usize = 10_000;

/// Table of a database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    root: u32,
    /// Columns.
    pub columns: Columns,
}

/// Database that another program may be writing to.
pub struct Database<'a> {
    input: Input<'a>,
    pages: RefCell<Pages<'a>>,
}

impl<'a> Database<'a> {
    /// Opens a database with its write-ahead log.
    pub fn open(input: Input<'a>) -> Result<Self, ReadError> {
        Ok(Database { input, pages: RefCell::new(Pages::open(&input)?) })
    }

    /// Reads something from one state of the database. Reads again if another program changed the
    /// database meanwhile.
    pub fn read<T>(
        &self,
        mut read: impl FnMut(&Pages<'a>) -> Result<T, ReadError>,
    ) -> Result<T, ReadError> {
        for _ in 0..TRIES {
            let pages: Ref<'_, Pages<'a>> = self.pages.borrow();
            let result = read(&pages);
            if pages.is_current() {
                return result;
            }
            drop(pages);
            *self.pages.borrow_mut() = Pages::open(&self.input)?;
        }
        Err(busy())
    }
}

impl Pages<'_> {
    /// Finds a table by its name. Views, virtual tables and tables without row numbers are none.
    pub fn table(&self, name: &str) -> Result<Option<Table>, ReadError> {
        let (mut found, mut count) = (None, 0);
        btree::walk(self, 1, &mut |cell| {
            count += 1;
            if count > MOST_ENTRIES {
                return Err(damaged("it lists too many tables"));
            }
            // Type, name, name of the table, first page, definition.
            let record = Record::read(self, &cell, &[0, 1, 3, 4])?;
            if record.text(0) != Some("table") || record.text(1) != Some(name) {
                return Ok(ControlFlow::Continue(()));
            }
            let root = record.integer(3).and_then(|root| u32::try_from(root).ok());
            let columns = record.text(4).and_then(Columns::parse);
            found = root
                .filter(|root| *root > 1)
                .zip(columns)
                .map(|(root, columns)| Table { root, columns });
            Ok(ControlFlow::Break(()))
        })?;
        Ok(found)
    }

    /// Returns the size of all pages in bytes, which is more than that of all rows.
    pub fn total_size(&self) -> u64 {
        u64::from(self.count) * self.usable as u64
    }

    /// Passes all rows of a table in order of their numbers, each with the columns at these places.
    /// A row that cannot be read is an error of its own.
    pub fn rows(
        &self,
        table: &Table,
        columns: &[usize],
        take: &mut dyn FnMut(i64, Result<Record, ReadError>) -> Result<ControlFlow<()>, ReadError>,
    ) -> Result<(), ReadError> {
        btree::walk(self, table.root, &mut |cell| {
            take(cell.row, Record::read(self, &cell, columns))
        })
    }

    /// Reads a row by its number, with the columns at these places.
    pub fn row(
        &self,
        table: &Table,
        row: i64,
        columns: &[usize],
    ) -> Result<Option<Record>, ReadError> {
        let cell: Option<Cell> = btree::find(self, table.root, row)?;
        cell.map(|cell| Record::read(self, &cell, columns)).transpose()
    }
}
