//! **Pure.** The tree that a comparison yields. It holds everything of both sides, so that nothing
//! else is needed to show it; what it holds is borrowed until [`Diff::into_owned`].
use std::borrow::Cow;
use touchstone_formats::value::Value;

/// What differs between an expected value and an actual one.
#[derive(Debug, Clone, PartialEq)]
pub struct Diff<'a> {
    /// The two values, aligned.
    pub root: Node<'a>,
    /// How much of it is right.
    pub counts: Counts,
    /// Too large to look at everything closely: some rows may be aligned, and some texts compared,
    /// worse than they could be.
    pub coarse: bool,
    /// The key that was asked for, when rows had to find each other without it because they lack
    /// it.
    pub key_not_there: Option<Vec<String>>,
    /// The first value is nothing that was expected, only another one.
    pub between: bool,
}

/// Two values that belong together.
#[derive(Debug, Clone, PartialEq)]
pub enum Node<'a> {
    /// The same on both sides, to the letter.
    Same(Cow<'a, Value>),
    /// Two values that are compared as wholes.
    Leaf(Box<Leaf<'a>>),
    /// Two objects, field by field: those of the expected one in its order, extra ones where they
    /// stand.
    Map(Vec<Field<'a>>),
    /// Two lists, row by row: those of the expected one in its order, extra ones where they stand.
    List(List<'a>),
}

/// Two values that are compared as wholes: numbers, texts, or values of different kinds.
#[derive(Debug, Clone, PartialEq)]
pub struct Leaf<'a> {
    /// What was expected.
    pub expected: Cow<'a, Value>,
    /// What came.
    pub actual: Cow<'a, Value>,
    /// True when both mean the same, though they are not written the same: `84.10` and `84.1`, or
    /// `"84.1"` and `84.1`.
    pub equal: bool,
    /// True when one is a text and the other a number, and so on.
    pub type_differs: bool,
    /// What else is to be said.
    pub remark: Option<Remark>,
}

/// What can be said of two values that are not written the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remark {
    /// Two numbers that are near enough.
    WithinTolerance,
    /// Two texts that are the same number, such as `1.10` and `1.1`. They may be versions, so they
    /// are not equal.
    SameNumber,
    /// Two texts that differ only in upper and lower case.
    OnlyCase,
    /// Two texts that differ only in white space.
    OnlySpaces,
    /// Two texts that differ only in case and white space.
    OnlyCaseAndSpaces,
    /// Two texts that look the same: their letters are put together from other characters, such as
    /// `é` from `e` and its accent.
    OnlyLetters,
    /// Two texts that are dates.
    Date(DateRemark),
}

/// What can be said of two dates that are not written the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DateRemark {
    /// The same day or moment in another notation.
    OtherNotation,
    /// The same day, and only one of them says at what time.
    OtherPrecision,
    /// The same day if day and month are read the other way round.
    DayAndMonth,
    /// Another day: so many days later than expected, earlier when below 0.
    Days(i64),
    /// The same day at another time: so many seconds later than expected, earlier when below 0.
    Seconds(i64),
}

/// A piece of two texts. All but the added ones are the expected text, all but the removed ones the
/// actual text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// Where it stands.
    pub kind: PieceKind,
    /// What it says; never empty.
    pub text: String,
}

/// Where a piece of text stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PieceKind {
    /// In both.
    Same,
    /// Only in the expected text.
    Removed,
    /// Only in the actual text.
    Added,
}

/// A field of two objects.
#[derive(Debug, Clone, PartialEq)]
pub struct Field<'a> {
    /// Its key: the expected one where there is one.
    pub key: Cow<'a, Value>,
    /// The actual key, when it is written otherwise (`1` and `"1"`).
    pub actual_key: Option<Cow<'a, Value>>,
    /// Its place in the expected object, from 0.
    pub from: Option<usize>,
    /// Its place in the actual object, from 0.
    pub to: Option<usize>,
    /// False for a field that counts for nothing.
    pub counts: bool,
    /// Its values.
    pub sides: Sides<'a>,
}

/// What two lists hold, aligned.
#[derive(Debug, Clone, PartialEq)]
pub struct List<'a> {
    /// The rows.
    pub rows: Vec<Row<'a>>,
    /// How they were aligned.
    pub alignment: Alignment,
}

/// A row of two lists.
#[derive(Debug, Clone, PartialEq)]
pub struct Row<'a> {
    /// Its place in the expected list, from 0.
    pub from: Option<usize>,
    /// Its place in the actual list, from 0.
    pub to: Option<usize>,
    /// True when it stands in another order than the rows that stayed. As few rows as possible are
    /// moved.
    pub moved: bool,
    /// What it is called by its key: `#143`. None when rows have no key.
    pub name: Option<String>,
    /// Its values.
    pub sides: Sides<'a>,
}

/// The values of a field or row.
#[derive(Debug, Clone, PartialEq)]
pub enum Sides<'a> {
    /// On both sides.
    Both(Node<'a>),
    /// Expected, and not there.
    Missing(Cow<'a, Value>),
    /// There, and not expected.
    Extra(Cow<'a, Value>),
}

/// How rows found each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Alignment {
    /// By what they are called.
    Key {
        /// Fields that tell which row is which.
        fields: Vec<String>,
        /// True when nobody said so and they were found: unique on both sides, and in use on both.
        inferred: bool,
    },
    /// Equal rows first, the rest by likeness. `best` is true when no other pairing is more alike
    /// as a whole, false when each row took the most alike that was left, because there are many.
    Likeness {
        /// See above.
        best: bool,
    },
    /// Equal items, and what stands between the same neighbours.
    Value,
    /// By place, because nothing is alike.
    Place,
}

/// How much of a value is right, in leaves: values that are not made of others (an empty list or
/// object is one, too). It holds that `expected = right + changed + missing` and `actual = right +
/// changed + extra`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Leaves of the expected value.
    pub expected: usize,
    /// Leaves of the actual value.
    pub actual: usize,
    /// Equal ones.
    pub right: usize,
    /// Different ones.
    pub changed: usize,
    /// Expected ones that are not there.
    pub missing: usize,
    /// Ones that nobody expected.
    pub extra: usize,
    /// Of the extra ones, those in rows that were expected.
    pub extra_in_rows: usize,
    /// Of the right ones, those of another type.
    pub other_type: usize,
    /// Of the right ones, dates in another notation.
    pub other_notation: usize,
    /// Of the right ones, numbers that are only near.
    pub within_tolerance: usize,
    /// Leaves that count for nothing, on either side.
    pub ignored: usize,
    /// Rows of the outermost lists; lists inside rows are part of their row.
    pub rows: RowCounts,
}

/// How many rows are right. It holds that `expected = equal + different + missing` and `actual =
/// equal + different + extra`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RowCounts {
    /// Lists that were expected and came.
    pub lists: usize,
    /// Expected rows.
    pub expected: usize,
    /// Actual rows.
    pub actual: usize,
    /// Equal rows, wherever they stand.
    pub equal: usize,
    /// Equal rows in their place.
    pub right: usize,
    /// Rows with something different inside.
    pub different: usize,
    /// Expected rows that are not there.
    pub missing: usize,
    /// Rows that nobody expected.
    pub extra: usize,
    /// Rows that moved, equal or not.
    pub moved: usize,
}

impl Diff<'_> {
    /// The same, holding what it borrowed.
    pub fn into_owned(self) -> Diff<'static> {
        Diff { root: self.root.into_owned(), ..self }
    }

    /// True when nothing is wrong: all values are equal, and in order where order matters. Values
    /// may be written otherwise.
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

    /// True when nothing in it is wrong but, perhaps, where its rows stand.
    pub fn is_equal(&self) -> bool {
        match self {
            Node::Same(_) => true,
            Node::Leaf(leaf) => leaf.equal,
            Node::Map(fields) => fields.iter().all(|field| !field.counts || field.sides.is_equal()),
            Node::List(list) => list.rows.iter().all(|row| row.sides.is_equal()),
        }
    }

    /// True when a row stands in another place, at any depth.
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

    /// True when it is on both sides and equal.
    pub fn is_equal(&self) -> bool {
        matches!(self, Sides::Both(node) if node.is_equal())
    }

    /// True when something inside stands in another place.
    pub fn is_moved(&self) -> bool {
        matches!(self, Sides::Both(node) if node.is_moved())
    }
}
