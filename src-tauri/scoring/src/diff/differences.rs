//! **Pure.** Lists the differences of two values one by one: kind, path and row.
use super::{Diff, Leaf, List, Node, Sides};
use touchstone_model::value::Value;

/// Suffix of a list's name that denotes its items.
pub(super) const ITEMS: &str = "[]";

/// A single difference.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference<'a> {
    /// Row of the outermost list that contains it, as an index into [`List::rows`].
    pub row: Option<usize>,
    /// Fields that lead to it, from its row if the whole is a list, otherwise from the whole:
    /// `plan.name`, or `tags[]` for an item of an inner list. Empty for the row or the whole
    /// itself.
    pub path: String,
    /// Kind of the difference.
    pub kind: DifferenceKind<'a>,
}

/// Kind of a difference.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum DifferenceKind<'a> {
    /// Changed value.
    Changed(&'a Leaf<'a>),
    /// Expected, but missing.
    Missing(&'a Value),
    /// Present, but not expected.
    Extra(&'a Value),
}

impl Diff<'_> {
    /// Returns all differences that count, in order. Moved rows are not included; see
    /// [`super::Row::moved`].
    pub fn differences(&self) -> Vec<Difference<'_>> {
        let mut found = Vec::new();
        visit(&self.root, &mut |row, path, kind| {
            found.push(Difference { row, path: path.to_owned(), kind });
        });
        found
    }
}

/// Callback for a difference: receives its row, its path and its kind.
pub(super) type Visitor<'e, 'a> = &'e mut dyn FnMut(Option<usize>, &str, DifferenceKind<'a>);

/// Visits the differences of a value.
fn visit<'a>(node: &'a Node<'a>, each: Visitor<'_, 'a>) {
    walk(node, None, &mut String::new(), each);
}

/// Visits the differences of a list.
pub(super) fn visit_list<'a>(list: &'a List<'a>, each: Visitor<'_, 'a>) {
    rows(list, None, &mut String::new(), each);
}

fn walk<'a>(node: &'a Node<'a>, row: Option<usize>, path: &mut String, each: Visitor<'_, 'a>) {
    match node {
        Node::Same(_) => {}
        Node::Leaf(leaf) if leaf.equal => {}
        Node::Leaf(leaf) => each(row, path, DifferenceKind::Changed(leaf)),
        Node::Map(fields) => {
            for field in fields.iter().filter(|field| field.counts && !field.sides.is_equal()) {
                let length = path.len();
                if length > 0 {
                    path.push('.');
                }
                path.push_str(&super::words(&field.key));
                sides(&field.sides, row, path, each);
                path.truncate(length);
            }
        }
        Node::List(list) => rows(list, row, path, each),
    }
}

fn rows<'a>(list: &'a List<'a>, row: Option<usize>, path: &mut String, each: Visitor<'_, 'a>) {
    for (at, inner) in list.rows.iter().enumerate() {
        let length = path.len();
        // Rows inside a row are part of it; the path to an inner list leads to its rows.
        if row.is_some() || length > 0 {
            path.push_str(ITEMS);
        }
        sides(&inner.sides, row.or(Some(at)), path, each);
        path.truncate(length);
    }
}

fn sides<'a>(sides: &'a Sides<'a>, row: Option<usize>, path: &mut String, each: Visitor<'_, 'a>) {
    match sides {
        Sides::Both(node) => walk(node, row, path, each),
        Sides::Missing(value) => each(row, path, DifferenceKind::Missing(value)),
        Sides::Extra(value) => each(row, path, DifferenceKind::Extra(value)),
    }
}
