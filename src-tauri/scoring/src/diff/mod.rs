//! **Pure.** What differs between an expected value and an actual one. Values are aligned first
//! (rows by key, by likeness or by place; moves stay moves) and compared then, each kind by its own
//! rules. What comes out is a tree of plain values ([`Diff`]); how it looks is in `table`, `side`,
//! `plain`, `summary` and `tree_value`.
//!
//! There is no clock here: work is counted, and when [`Options::budget`] is spent the rest is
//! compared coarsely and says so.
mod align;
mod apply;
mod budget;
mod compare;
mod counts;
mod dates;
mod differences;
mod identity;
mod leaf;
mod number;
mod options;
mod plain;
mod sequence;
mod settings;
mod shown;
mod side;
mod summary;
mod table;
mod text;
mod tree;
mod tree_value;

pub(crate) use number::Number;

pub use apply::{Side, apply, revert};
pub use differences::{Difference, DifferenceKind};
pub use options::{Dates, ExtraFields, Measured, Options, Tolerance};
pub use plain::{Span, Style, plain};
pub use shown::{Kind, words};
pub use side::{Columns, Line, LineSide, Shown};
pub use table::{Column, Table, TableCell, TableRow};
pub use text::{Text, text};
pub use tree::{
    Alignment, Counts, DateRemark, Diff, Field, Leaf, List, Node, Piece, PieceKind, Remark, Row,
    RowCounts, Sides,
};

use touchstone_formats::value::Value;

/// Compares an actual value with the expected one.
pub fn diff<'a>(expected: &'a Value, actual: &'a Value, options: &Options) -> Diff<'a> {
    compare::compare(expected, actual, options)
}
