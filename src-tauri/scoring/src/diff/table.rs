//! **Pure.** Renders a comparison of lists as a table: one row per item, one column per field of
//! any item.
use super::display::Kind;
use super::{Alignment, Diff, Field, List, Node, Row, Side, Sides};
use std::borrow::Cow;
use std::collections::HashMap;
use touchstone_model::value::Value;

/// Maximum number of columns; further fields are left out, because such a table is not readable
/// anyway.
const MOST_COLUMNS: usize = 500;
/// Column name for items that are not objects.
const ITSELF: &str = "value";

/// Comparison of lists, row by row.
#[derive(Debug)]
pub struct Table<'a> {
    /// Name of the list, if it is not the whole value.
    pub of: Option<Cow<'a, str>>,
    /// Columns: expected ones in their order, then extra ones.
    pub columns: Vec<Column<'a>>,
    rows: Rows<'a>,
    between: bool,
    at: HashMap<Cow<'a, str>, usize>,
}

/// A column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column<'a> {
    /// Name of the field.
    pub name: Cow<'a, str>,
    /// True if it has only numbers.
    pub numeric: bool,
}

#[derive(Debug)]
enum Rows<'a> {
    Compared(&'a List<'a>),
    /// Both lists are equal.
    Same(&'a [Value]),
}

/// A row of the table.
#[derive(Debug, Clone, PartialEq)]
pub struct TableRow<'a> {
    /// Missing, extra, changed, alike or the same.
    pub kind: Kind,
    /// Key of the row, or `row 3`.
    pub label: Cow<'a, str>,
    /// Index on the expected side.
    pub from: Option<usize>,
    /// Index on the actual side.
    pub to: Option<usize>,
    /// True if the row moved.
    pub moved: bool,
    /// One cell per column; `None` if neither side has the field.
    pub cells: Vec<Option<TableCell<'a>>>,
}

/// A field of a row.
#[derive(Debug, Clone, PartialEq)]
pub struct TableCell<'a> {
    /// Relation of the two values.
    pub kind: Kind,
    /// The expected value.
    pub left: Option<Cow<'a, Value>>,
    /// Actual value; `None` if it equals the expected one or is absent.
    pub right: Option<Cow<'a, Value>>,
    /// Short remark on the difference.
    pub note: Option<String>,
}

impl<'a> Table<'a> {
    /// Creates the table for two lists, or two objects that contain exactly one list. `None` for
    /// anything else.
    pub fn from_diff(diff: &'a Diff<'a>) -> Option<Self> {
        let (of, rows) = match &diff.root {
            Node::Map(fields) => only(fields.iter().filter_map(|field| match &field.sides {
                Sides::Both(node) => Some((Some(super::words(&field.key)), rows(node)?)),
                _ => None,
            }))?,
            Node::Same(value) if !value.entries().is_empty() => only(
                value
                    .entries()
                    .iter()
                    .filter_map(|(key, value)| Some((Some(super::words(key)), same(value)?))),
            )?,
            node => (None, rows(node)?),
        };
        let mut table =
            Table { of, columns: Vec::new(), rows, between: diff.between, at: HashMap::new() };
        table.find_columns();
        Some(table)
    }

    /// Returns the method by which rows were paired; `None` if both lists are equal.
    pub fn alignment(&self) -> Option<&'a Alignment> {
        match self.rows {
            Rows::Compared(list) => Some(&list.alignment),
            Rows::Same(_) => None,
        }
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        match self.rows {
            Rows::Compared(list) => list.rows.len(),
            Rows::Same(items) => items.len(),
        }
    }

    /// Returns true if neither side has a row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns true if a row is unchanged and unmoved, without building its cells.
    pub fn is_same(&self, at: usize) -> bool {
        match self.rows {
            Rows::Compared(list) => {
                list.rows.get(at).is_none_or(|row| !row.moved && kind_of(&row.sides) == Kind::Same)
            }
            Rows::Same(_) => true,
        }
    }

    /// Returns a row with its cells.
    pub fn row(&self, at: usize) -> Option<TableRow<'a>> {
        let mut cells = vec![None; self.columns.len()];
        match self.rows {
            Rows::Same(items) => {
                let item = items.get(at)?;
                self.fill_one(&mut cells, item, Kind::Same);
                let label = Cow::Owned(format!("row {}", at + 1));
                Some(TableRow {
                    kind: Kind::Same,
                    label,
                    from: Some(at),
                    to: Some(at),
                    moved: false,
                    cells,
                })
            }
            Rows::Compared(list) => {
                let row = list.rows.get(at)?;
                self.fill(&mut cells, row);
                let label = match &row.name {
                    Some(name) => Cow::Borrowed(name.as_str()),
                    None => Cow::Owned(format!("row {}", row.from.or(row.to).unwrap_or(at) + 1)),
                };
                let kind = kind_of(&row.sides);
                Some(TableRow { kind, label, from: row.from, to: row.to, moved: row.moved, cells })
            }
        }
    }

    fn fill(&self, cells: &mut [Option<TableCell<'a>>], row: &'a Row<'a>) {
        match &row.sides {
            Sides::Missing(value) => self.fill_one(cells, value, Kind::Missing),
            Sides::Extra(value) => self.fill_one(cells, value, Kind::Extra),
            Sides::Both(Node::Same(value)) => self.fill_one(cells, value, Kind::Same),
            Sides::Both(Node::Map(fields)) => {
                for field in fields {
                    self.put(
                        cells,
                        &super::words(&field.key),
                        cell(&field.sides, field.counts, self.between),
                    );
                }
            }
            Sides::Both(_) => self.put(cells, ITSELF, cell(&row.sides, true, self.between)),
        }
    }

    fn fill_one(&self, cells: &mut [Option<TableCell<'a>>], value: &'a Value, kind: Kind) {
        match value {
            Value::Map(entries) => {
                for (key, value) in entries {
                    self.put(cells, &super::words(key), single_cell(value, kind));
                }
            }
            value => self.put(cells, ITSELF, single_cell(value, kind)),
        }
    }

    fn put(&self, cells: &mut [Option<TableCell<'a>>], name: &str, cell: TableCell<'a>) {
        if let Some(place) = self.at.get(name).and_then(|at| cells.get_mut(*at)) {
            *place = Some(cell);
        }
    }

    fn find_columns(&mut self) {
        let mut found = Found::default();
        match self.rows {
            Rows::Same(items) => items.iter().for_each(|item| found.item(item)),
            Rows::Compared(list) => {
                for row in &list.rows {
                    match &row.sides {
                        Sides::Missing(value)
                        | Sides::Extra(value)
                        | Sides::Both(Node::Same(value)) => {
                            found.item(value);
                        }
                        Sides::Both(Node::Map(fields)) => {
                            for field in fields {
                                found.field(field);
                            }
                        }
                        Sides::Both(Node::Leaf(leaf)) => {
                            found.column(Cow::Borrowed(ITSELF), &leaf.expected);
                            found.column(Cow::Borrowed(ITSELF), &leaf.actual);
                        }
                        Sides::Both(Node::List(_)) => {
                            found.column(Cow::Borrowed(ITSELF), &Value::List(Vec::new()));
                        }
                    }
                }
            }
        }
        self.columns = found
            .columns
            .into_iter()
            .map(|(name, numbers)| Column { name, numeric: numbers == Some(true) })
            .collect();
        self.at = found.at;
    }
}

/// Columns found so far, and whether they have only numbers; `None` while only nulls were seen.
#[derive(Default)]
struct Found<'a> {
    columns: Vec<(Cow<'a, str>, Option<bool>)>,
    at: HashMap<Cow<'a, str>, usize>,
}

impl<'a> Found<'a> {
    fn item(&mut self, value: &'a Value) {
        match value {
            Value::Map(entries) => {
                for (key, value) in entries {
                    self.column(super::words(key), value);
                }
            }
            value => self.column(Cow::Borrowed(ITSELF), value),
        }
    }

    fn field(&mut self, field: &'a Field<'a>) {
        let name = super::words(&field.key);
        match &field.sides {
            Sides::Missing(value) | Sides::Extra(value) | Sides::Both(Node::Same(value)) => {
                self.column(name, value);
            }
            Sides::Both(Node::Leaf(leaf)) => {
                self.column(name.clone(), &leaf.expected);
                self.column(name, &leaf.actual);
            }
            Sides::Both(_) => self.column(name, &Value::List(Vec::new())),
        }
    }

    fn column(&mut self, name: Cow<'a, str>, value: &Value) {
        let known = self.at.get(&name).copied();
        if known.is_none() && self.columns.len() >= MOST_COLUMNS {
            return;
        }
        let at = known.unwrap_or_else(|| {
            self.at.insert(name.clone(), self.columns.len());
            self.columns.push((name, None));
            self.columns.len() - 1
        });
        let numbers = &mut self.columns[at].1;
        match value {
            Value::Null => {}
            Value::Number(_) => *numbers = Some(numbers.unwrap_or(true)),
            _ => *numbers = Some(false),
        }
    }
}

fn only<T>(mut all: impl Iterator<Item = T>) -> Option<T> {
    let one = all.next()?;
    all.next().is_none().then_some(one)
}

fn rows<'a>(node: &'a Node<'a>) -> Option<Rows<'a>> {
    match node {
        Node::List(list) => Some(Rows::Compared(list)),
        Node::Same(value) => same(value),
        _ => None,
    }
}

fn same(value: &Value) -> Option<Rows<'_>> {
    match value {
        Value::List(items) => Some(Rows::Same(items)),
        _ => None,
    }
}

fn kind_of(sides: &Sides<'_>) -> Kind {
    match sides {
        Sides::Missing(_) => Kind::Missing,
        Sides::Extra(_) => Kind::Extra,
        Sides::Both(node) => node.kind(),
    }
}

impl Node<'_> {
    /// Returns the relation of the two values.
    pub fn kind(&self) -> Kind {
        match self {
            Node::Same(_) => Kind::Same,
            Node::Leaf(leaf) => leaf.kind(),
            node if !node.is_equal() || node.is_moved() => Kind::Changed,
            _ => Kind::Alike,
        }
    }
}

fn single_cell(value: &Value, kind: Kind) -> TableCell<'_> {
    let value = Some(Cow::Borrowed(value));
    let (left, right) = if kind == Kind::Extra { (None, value) } else { (value, None) };
    TableCell { kind, left, right, note: None }
}

fn cell<'a>(sides: &'a Sides<'a>, counts: bool, between: bool) -> TableCell<'a> {
    let mut cell = match sides {
        Sides::Missing(value) => single_cell(value, Kind::Missing),
        Sides::Extra(value) => single_cell(value, Kind::Extra),
        Sides::Both(Node::Same(value)) => single_cell(value, Kind::Same),
        Sides::Both(Node::Leaf(leaf)) => TableCell {
            kind: leaf.kind(),
            left: Some(Cow::Borrowed(&leaf.expected)),
            right: Some(Cow::Borrowed(&leaf.actual)),
            note: leaf.note(),
        },
        Sides::Both(node) => TableCell {
            kind: node.kind(),
            left: Some(Cow::Owned(node.side(Side::Expected))),
            right: Some(Cow::Owned(node.side(Side::Actual))),
            note: Some(super::summary::of_part(node, between)),
        },
    };
    if !counts {
        cell.note = Some("does not count".to_owned());
    }
    cell
}
