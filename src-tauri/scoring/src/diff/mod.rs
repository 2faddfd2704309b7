//! **Pure.** Compares an expected value with an actual one. Values are first aligned (rows by key,
//! similarity or position; moves are kept as moves), then compared by the rules of their types. The
//! result is a tree of plain values ([`Diff`]); `table`, `side`, `plain`, `summary` and
//! `tree_value` render it.
//!
//! No clock is used: work is counted, and once [`Options::budget`] is spent, the rest is compared
//! coarsely and marked as such.
mod align;
mod apply;
mod budget;
mod compare;
mod counts;
mod dates;
mod differences;
mod display;
mod identity;
mod leaf;
mod number;
mod options;
mod plain;
mod sequence;
mod settings;
mod side;
mod summary;
mod table;
mod text;
mod tree;
mod tree_value;

pub(crate) use display::{brief, cut};
pub(crate) use number::Number;

pub use apply::{Side, apply, revert};
pub use differences::{Difference, DifferenceKind};
pub use display::{Kind, words};
pub use options::{Dates, ExtraFields, Measured, Options, Tolerance};
pub use plain::{Span, Style, plain};
pub use side::{Columns, FoldItem, Line, LineSide};
pub use table::{Column, Table, TableCell, TableRow};
pub use text::{Text, text};
pub use tree::{
    Alignment, Counts, DateRemark, Diff, Field, Leaf, List, Node, Piece, PieceKind, Remark, Row,
    RowCounts, Sides,
};

use touchstone_model::value::Value;

/// Compares an actual value with the expected one.
pub fn diff<'a>(expected: &'a Value, actual: &'a Value, options: &Options) -> Diff<'a> {
    compare::compare(expected, actual, options)
}
