//! **Pure.** Result of a comparison as a tree. It contains both values completely, so that
//! rendering needs nothing else; the values are borrowed until [`Diff::into_owned`].
use std::borrow::Cow;
use touchstone_model::value::Value;

/// Differences between an expected value and an actual one.
#[derive(Debug, Clone, PartialEq)]
pub struct Diff<'a> {
    /// The two values, aligned.
    pub root: Node<'a>,
    /// Counts of right and wrong values.
    pub counts: Counts,
    /// True if the values were too large for an exact comparison: some rows may be aligned, and
    /// some texts compared, less well than possible.
    pub coarse: bool,
    /// Requested key, if rows lack it and were aligned without it.
    pub key_not_there: Option<Vec<String>>,
    /// True if the first value is merely another actual value, not an expected one.
    pub between: bool,
}

/// Two aligned values.
#[derive(Debug, Clone, PartialEq)]
pub enum Node<'a> {
    /// Exactly equal on both sides.
    Same(Cow<'a, Value>),
    /// Two values compared as wholes.
    Leaf(Box<Leaf<'a>>),
    /// Two objects, field by field: expected fields in their order, extra ones at their positions.
    Map(Vec<Field<'a>>),
    /// Two lists, row by row: expected rows in their order, extra ones at their positions.
    List(List<'a>),
}

/// Two values compared as wholes: numbers, texts, or values of different types.
#[derive(Debug, Clone, PartialEq)]
pub struct Leaf<'a> {
    /// Expected value.
    pub expected: Cow<'a, Value>,
    /// Actual value.
    pub actual: Cow<'a, Value>,
    /// True if both mean the same in different notation: `84.10` and `84.1`, or `"84.1"` and
    /// `84.1`.
    pub equal: bool,
    /// True if their types differ, such as text and number.
    pub type_differs: bool,
    /// Remark on the difference.
    pub remark: Option<Remark>,
}

/// Remark on two values that are not exactly equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remark {
    /// Two numbers within the tolerance.
    WithinTolerance,
    /// Two texts that spell the same number, such as `1.10` and `1.1`. They may be versions, so
    /// they are not equal.
    SameNumber,
    /// Two texts that differ only in upper and lower case.
    OnlyCase,
    /// Two texts that differ only in whitespace.
    OnlySpaces,
    /// Two texts that differ only in case and whitespace.
    OnlyCaseAndSpaces,
    /// Two texts that look the same but differ in Unicode normalization, such as `é` and `e` with a
    /// combining accent.
    OnlyLetters,
    /// Two texts that are dates.
    Date(DateRemark),
}

/// Remark on two dates that are not exactly equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DateRemark {
    /// Equal day or moment in another notation.
    OtherNotation,
    /// Equal days; only one of the two has a time.
    OtherPrecision,
    /// Equal days if day and month are swapped.
    DayAndMonth,
    /// Another day: this many days later than expected, or earlier if negative.
    Days(i64),
    /// Equal days at different times: this many seconds later than expected, earlier if negative.
    Seconds(i64),
}

/// A piece of two texts. All but the added pieces form the expected text, all but the removed ones
/// the actual text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// Texts that contain it.
    pub kind: PieceKind,
    /// Its text; never empty.
    pub text: String,
}

/// Texts that contain a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PieceKind {
    /// Both.
    Same,
    /// Only in the expected text.
    Removed,
    /// Only in the actual text.
    Added,
}

/// A field of two objects.
#[derive(Debug, Clone, PartialEq)]
pub struct Field<'a> {
    /// Key of the field; the expected one if present.
    pub key: Cow<'a, Value>,
    /// Actual key, if it is written differently (`1` and `"1"`).
    pub actual_key: Option<Cow<'a, Value>>,
    /// Index in the expected object.
    pub from: Option<usize>,
    /// Index in the actual object.
    pub to: Option<usize>,
    /// False for a field that does not count.
    pub counts: bool,
    /// Values of the field.
    pub sides: Sides<'a>,
}

/// Two lists, aligned.
#[derive(Debug, Clone, PartialEq)]
pub struct List<'a> {
    /// Rows of both lists.
    pub rows: Vec<Row<'a>>,
    /// Method by which they were aligned.
    pub alignment: Alignment,
}

/// A row of two lists.
#[derive(Debug, Clone, PartialEq)]
pub struct Row<'a> {
    /// Index in the expected list.
    pub from: Option<usize>,
    /// Index in the actual list.
    pub to: Option<usize>,
    /// True if its order differs from that of the rows that stayed. As few rows as possible are
    /// marked as moved.
    pub moved: bool,
    /// Name of the row by its key: `#143`. `None` if rows have no key.
    pub name: Option<String>,
    /// Values of the row.
    pub sides: Sides<'a>,
}

/// Values of a field or row.
#[derive(Debug, Clone, PartialEq)]
pub enum Sides<'a> {
    /// Present on both sides.
    Both(Node<'a>),
    /// Expected, but missing.
    Missing(Cow<'a, Value>),
    /// Present, but not expected.
    Extra(Cow<'a, Value>),
}

/// Method by which rows were paired.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Alignment {
    /// By key.
    Key {
        /// Fields that identify rows.
        fields: Vec<String>,
        /// True if the key was inferred: unique and in use on both sides.
        inferred: bool,
    },
    /// Equal rows first, the rest by similarity. `best` is true if the total similarity is maximal,
    /// false if pairs were taken greedily because there are many rows.
    Likeness {
        /// True if the total similarity is maximal.
        best: bool,
    },
    /// Equal items, and items between the same neighbours.
    Value,
    /// By position, because nothing is similar.
    Place,
}

/// Counts of leaves, that is, values that contain no others (including empty lists and objects).
/// Invariants: `expected = right + changed + missing` and `actual = right + changed + extra`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Leaves of the expected value.
    pub expected: usize,
    /// Leaves of the actual value.
    pub actual: usize,
    /// Equal leaves.
    pub right: usize,
    /// Changed leaves.
    pub changed: usize,
    /// Expected leaves that are missing.
    pub missing: usize,
    /// Leaves that were not expected.
    pub extra: usize,
    /// Extra leaves that are not part of an extra row; included in `extra`.
    pub extra_in_rows: usize,
    /// Right leaves of another type.
    pub other_type: usize,
    /// Right leaves that are dates in another notation.
    pub other_notation: usize,
    /// Right leaves that are equal only within the tolerance.
    pub within_tolerance: usize,
    /// Leaves that do not count, on either side.
    pub ignored: usize,
    /// Rows of the outermost lists; lists inside rows are part of their row.
    pub rows: RowCounts,
}

/// Counts of rows. Invariants: `expected = equal + different + missing` and `actual = equal +
/// different + extra`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RowCounts {
    /// Lists that were present on both sides.
    pub lists: usize,
    /// Expected rows.
    pub expected: usize,
    /// Actual rows.
    pub actual: usize,
    /// Equal rows at any position.
    pub equal: usize,
    /// Equal rows in place.
    pub right: usize,
    /// Rows with differences inside.
    pub different: usize,
    /// Expected rows that are missing.
    pub missing: usize,
    /// Rows that were not expected.
    pub extra: usize,
    /// Rows that moved, equal or not.
    pub moved: usize,
}

impl Diff<'_> {
    /// Converts borrowed values into owned ones.
    pub fn into_owned(self) -> Diff<'static> {
        Diff { root: self.root.into_owned(), ..self }
    }

    /// Returns true if nothing is wrong: all values are equal, and in order where order matters.
    /// Notation may differ.
    pub fn is_equal(&self) -> bool {
        self.root.is_equal() && !self.root.is_moved()
    }
}

impl Node<'_> {
    fn into_owned(self) -> Node<'static> {
        match self {
            Node::Same(value) => Node::Same(owned(value)),
            Node::Leaf(leaf) => Node::Leaf(Box::new(Leaf {
                expected: owned(leaf.expected),
                actual: owned(leaf.actual),
                ..*leaf
            })),
            Node::Map(fields) => {
                let field = |field: Field<'_>| Field {
                    key: owned(field.key),
                    actual_key: field.actual_key.map(owned),
                    sides: field.sides.into_owned(),
                    ..field
                };
                Node::Map(fields.into_iter().map(field).collect())
            }
            Node::List(list) => {
                let row = |row: Row<'_>| Row { sides: row.sides.into_owned(), ..row };
                Node::List(List {
                    rows: list.rows.into_iter().map(row).collect(),
                    alignment: list.alignment,
                })
            }
        }
    }

    /// Returns true if nothing in it is wrong, ignoring moved rows.
    pub fn is_equal(&self) -> bool {
        match self {
            Node::Same(_) => true,
            Node::Leaf(leaf) => leaf.equal,
            Node::Map(fields) => fields.iter().all(|field| !field.counts || field.sides.is_equal()),
            Node::List(list) => list.rows.iter().all(|row| row.sides.is_equal()),
        }
    }

    /// Returns true if a row moved, at any depth.
    pub fn is_moved(&self) -> bool {
        match self {
            Node::Same(_) | Node::Leaf(_) => false,
            Node::Map(fields) => fields.iter().any(|field| field.counts && field.sides.is_moved()),
            Node::List(list) => list.rows.iter().any(|row| row.moved || row.sides.is_moved()),
        }
    }
}

fn owned(value: Cow<'_, Value>) -> Cow<'static, Value> {
    Cow::Owned(value.into_owned())
}

impl Sides<'_> {
    fn into_owned(self) -> Sides<'static> {
        match self {
            Sides::Both(node) => Sides::Both(node.into_owned()),
            Sides::Missing(value) => Sides::Missing(owned(value)),
            Sides::Extra(value) => Sides::Extra(owned(value)),
        }
    }

    /// Returns true if it is present on both sides and equal.
    pub fn is_equal(&self) -> bool {
        matches!(self, Sides::Both(node) if node.is_equal())
    }

    /// Returns true if a row inside moved.
    pub fn is_moved(&self) -> bool {
        matches!(self, Sides::Both(node) if node.is_moved())
    }
}
