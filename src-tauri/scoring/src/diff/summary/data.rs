//! **Pure.** Data for the summary of a comparison, collected once: counts, and the first few
//! examples of each kind.
use super::{ChangeKind, DifferenceKind, change_kind, words};
use crate::diff::differences::{ITEMS, visit_list};
use crate::diff::{Field, Leaf, List, Node, Row, Sides};
use std::collections::HashMap;
use touchstone_model::value::Value;

/// Maximum number of examples kept per kind.
const EXAMPLES: usize = 3;

/// Summary data of a value.
pub(super) enum SummaryData<'a> {
    /// All items are right.
    Right { count: usize, noun: &'static str },
    /// Equal values on both sides that are scalar or empty.
    Equal(&'a Value),
    /// Two values compared as wholes; `words` is the number of words that a text lost and gained,
    /// and whether that count is coarse.
    Leaf { leaf: &'a Leaf<'a>, words: Option<((usize, usize), bool)> },
    /// An object.
    Fields(Fields<'a>),
    /// A list.
    Rows(Rows<'a>),
}

/// Summary data of an object.
pub(super) struct Fields<'a> {
    pub(super) expected: usize,
    pub(super) right: usize,
    pub(super) missing: Vec<String>,
    pub(super) extra: Vec<String>,
    pub(super) changed: Vec<(String, &'a Leaf<'a>)>,
    /// Lists in it at any depth, except those inside other lists.
    pub(super) lists: Vec<(String, Rows<'a>)>,
}

/// Summary data of a list.
pub(super) struct Rows<'a> {
    /// `row` if all are objects, otherwise `item`.
    pub(super) noun: &'static str,
    pub(super) expected: usize,
    /// Equal rows, in place or not.
    pub(super) equal: usize,
    /// Equal rows in place.
    pub(super) right: usize,
    pub(super) missing: Several<'a>,
    pub(super) extra: Several<'a>,
    pub(super) moved: Several<'a>,
    /// Differences inside rows that are present on both sides.
    pub(super) inside: Groups<'a>,
    /// Paths of lists inside rows whose order changed, with the number of rows, most frequent
    /// first.
    pub(super) reordered: Vec<(String, usize)>,
}

/// Number of rows, and the first few of them.
#[derive(Default)]
pub(super) struct Several<'a> {
    pub(super) count: usize,
    pub(super) first: Vec<Name<'a>>,
}

/// Data from which a row is named.
pub(super) struct Name<'a> {
    pub(super) given: Option<&'a str>,
    /// Value of the row, if it is equal on both sides or present on one side only.
    pub(super) value: Option<&'a Value>,
    pub(super) from: Option<usize>,
    pub(super) to: Option<usize>,
}

/// Differences grouped by path and kind, most frequent first.
#[derive(Default)]
pub(super) struct Groups<'a> {
    pub(super) groups: Vec<Group<'a>>,
    pub(super) all: usize,
}

/// Differences of the same kind at the same path, across rows.
pub(super) struct Group<'a> {
    pub(super) path: String,
    pub(super) what: ChangeKind,
    pub(super) count: usize,
    /// Number of rows.
    pub(super) rows: usize,
    /// Row of the last difference.
    row: Option<usize>,
    /// First few changed values.
    pub(super) first: Vec<&'a Leaf<'a>>,
}

impl<'a> SummaryData<'a> {
    pub(super) fn new(node: &'a Node<'a>) -> Self {
        match node {
            Node::Same(value) => match value.as_ref() {
                Value::List(items) if !items.is_empty() => {
                    let objects = items.iter().all(|item| matches!(item, Value::Map(_)));
                    SummaryData::Right {
                        count: items.len(),
                        noun: if objects { "row" } else { "item" },
                    }
                }
                Value::Map(entries) if !entries.is_empty() => {
                    SummaryData::Right { count: entries.len(), noun: "field" }
                }
                value => SummaryData::Equal(value),
            },
            Node::Leaf(leaf) => {
                let texts = leaf.expected.text().is_some() && leaf.actual.text().is_some();
                SummaryData::Leaf { leaf, words: texts.then(|| words(leaf)) }
            }
            Node::Map(fields) => {
                let told = Fields::new(fields);
                if told.right == told.expected && told.extra.is_empty() {
                    return SummaryData::Right { count: told.expected, noun: "field" };
                }
                SummaryData::Fields(told)
            }
            Node::List(list) => SummaryData::Rows(Rows::new(list)),
        }
    }
}

impl<'a> Fields<'a> {
    fn new(fields: &'a [Field<'a>]) -> Self {
        let mut told = Fields {
            expected: 0,
            right: 0,
            missing: Vec::new(),
            extra: Vec::new(),
            changed: Vec::new(),
            lists: Vec::new(),
        };
        for field in fields.iter().filter(|field| field.counts) {
            let key = crate::diff::words(&field.key);
            let right = field.sides.is_equal() && !field.sides.is_moved();
            told.expected += usize::from(field.from.is_some());
            told.right += usize::from(right);
            told.field(key.into_owned(), &field.sides);
        }
        told
    }

    /// Collects the differences of a field at any depth.
    fn field(&mut self, path: String, sides: &'a Sides<'a>) {
        match sides {
            Sides::Both(node) if node.is_equal() && !node.is_moved() => {}
            Sides::Both(Node::Same(_)) => {}
            Sides::Both(Node::Leaf(leaf)) => self.changed.push((path, leaf)),
            Sides::Both(Node::List(list)) => self.lists.push((path, Rows::new(list))),
            Sides::Both(Node::Map(fields)) => {
                for field in fields.iter().filter(|field| field.counts) {
                    self.field(format!("{path}.{}", crate::diff::words(&field.key)), &field.sides);
                }
            }
            Sides::Missing(_) => self.missing.push(path),
            Sides::Extra(_) => self.extra.push(path),
        }
    }
}

impl<'a> Rows<'a> {
    fn new(list: &'a List<'a>) -> Self {
        let noun = if list.rows.iter().all(is_object) { "row" } else { "item" };
        let mut told = Rows {
            noun,
            expected: 0,
            equal: 0,
            right: 0,
            missing: Several::default(),
            extra: Several::default(),
            moved: Several::default(),
            inside: Groups::new(list),
            reordered: reordered(list),
        };
        for row in &list.rows {
            let equal = row.sides.is_equal();
            told.expected += usize::from(row.from.is_some());
            told.equal += usize::from(equal);
            told.right += usize::from(equal && !row.moved && !row.sides.is_moved());
            for (is_one, some) in [
                (row.to.is_none(), &mut told.missing),
                (row.from.is_none(), &mut told.extra),
                (row.moved, &mut told.moved),
            ] {
                if is_one {
                    some.add(row);
                }
            }
        }
        told
    }
}

/// Returns the lists inside rows whose own rows moved.
fn reordered(list: &List<'_>) -> Vec<(String, usize)> {
    let mut counts: Vec<(String, usize)> = Vec::new();
    for row in &list.rows {
        let mut paths = Vec::new();
        moves(&row.sides, &mut String::new(), &mut paths);
        for path in paths {
            match counts.iter_mut().find(|(known, _)| *known == path) {
                Some((_, rows)) => *rows += 1,
                None => counts.push((path, 1)),
            }
        }
    }
    counts.sort_by_key(|(_, rows)| std::cmp::Reverse(*rows));
    counts
}

fn moves(sides: &Sides<'_>, path: &mut String, found: &mut Vec<String>) {
    let length = path.len();
    match sides {
        Sides::Both(node) if !node.is_moved() => {}
        Sides::Both(Node::Map(fields)) => {
            for field in fields.iter().filter(|field| field.counts) {
                if length > 0 {
                    path.push('.');
                }
                path.push_str(&crate::diff::words(&field.key));
                moves(&field.sides, path, found);
                path.truncate(length);
            }
        }
        Sides::Both(Node::List(list)) => {
            if list.rows.iter().any(|row| row.moved) && !found.contains(path) {
                found.push(path.clone());
            }
            path.push_str(ITEMS);
            for row in &list.rows {
                moves(&row.sides, path, found);
            }
            path.truncate(length);
        }
        Sides::Both(_) | Sides::Missing(_) | Sides::Extra(_) => {}
    }
}

fn is_object(row: &Row<'_>) -> bool {
    match &row.sides {
        Sides::Both(Node::Map(_)) => true,
        Sides::Both(Node::Same(value)) | Sides::Missing(value) | Sides::Extra(value) => {
            matches!(value.as_ref(), Value::Map(_))
        }
        Sides::Both(_) => false,
    }
}

impl<'a> Several<'a> {
    fn add(&mut self, row: &'a Row<'a>) {
        self.count += 1;
        if self.first.len() < EXAMPLES {
            let value = match &row.sides {
                Sides::Both(Node::Same(value)) | Sides::Missing(value) | Sides::Extra(value) => {
                    Some(value.as_ref())
                }
                Sides::Both(_) => None,
            };
            self.first.push(Name { given: row.name.as_deref(), value, from: row.from, to: row.to });
        }
    }
}

impl Group<'_> {
    /// Returns the path of the list whose items these are, if they are items of a list inside a
    /// row.
    pub(super) fn items_of(&self) -> Option<&str> {
        self.path.strip_suffix(ITEMS)
    }
}

impl<'a> Groups<'a> {
    fn new(list: &'a List<'a>) -> Self {
        let mut told = Groups::default();
        let mut known: HashMap<String, [Option<usize>; 3]> = HashMap::new();
        visit_list(list, &mut |row, path, kind| {
            if !row.is_some_and(|row| matches!(list.rows[row].sides, Sides::Both(_))) {
                return;
            }
            told.all += 1;
            if !known.contains_key(path) {
                known.insert(path.to_owned(), [None; 3]);
            }
            let Some(places) = known.get_mut(path) else { return };
            let place = match kind {
                DifferenceKind::Changed(_) => &mut places[0],
                DifferenceKind::Missing(_) => &mut places[1],
                DifferenceKind::Extra(_) => &mut places[2],
            };
            let at = *place.get_or_insert_with(|| {
                told.groups.push(Group {
                    path: path.to_owned(),
                    what: change_kind(&kind),
                    count: 0,
                    rows: 0,
                    row: None,
                    first: Vec::new(),
                });
                told.groups.len() - 1
            });
            let group = &mut told.groups[at];
            group.count += 1;
            group.rows += usize::from(group.row != row);
            group.row = row;
            if let DifferenceKind::Changed(leaf) = kind
                && group.first.len() < EXAMPLES
            {
                group.first.push(leaf);
            }
        });
        told.groups.sort_by_key(|group| std::cmp::Reverse(group.count));
        told
    }
}
