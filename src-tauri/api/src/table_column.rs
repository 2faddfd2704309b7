//! **Pure.** Columns of tables in runs and in comparisons of answers.
use serde::Serialize;

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct TableColumn {
    /// Name of the column.
    pub name: String,
    /// True if every value is a number or missing; such columns are right-aligned.
    pub numeric: bool,
}
