//! **Pure.** The differences of two values one by one: what, where, and in which row.
use super::{Diff, Leaf, List, Node, Sides};
use touchstone_formats::value::Value;

/// What stands behind the name of a list for its items.
pub(super) const ITEMS: &str = "[]";

/// One difference.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference<'a> {
    /// The row of the outermost list it is in, by its place among [`List::rows`].
    pub row: Option<usize>,
    /// Fields that lead to it from its row where the whole is a list, else from the whole:
    /// `plan.name`, and `tags[]` for an item of a list inside. Empty for the row or the whole
    /// itself.
    pub path: String,
    /// What it is.
    pub kind: DifferenceKind<'a>,
}

/// What differs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum DifferenceKind<'a> {
    /// Another value.
    Changed(&'a Leaf<'a>),
    /// Expected, and not there.
    Missing(&'a Value),
    /// There, and not expected.
    Extra(&'a Value),
}

impl Diff<'_> {
    /// Every difference that counts, in order. Moved rows are none; see [`super::Row::moved`].
    pub fn differences(&self) -> Vec<Difference<'_>> {
        let mut found = Vec::new();
        each(&self.root, &mut |row, path, kind| {
            found.push(Difference { row, path: path.to_owned(), kind });
        });
        found
    }
}

/// What is done with a difference: its row, its path, and what it is.
pub(super) type Each<'e, 'a> = &'e mut dyn FnMut(Option<usize>, &str, DifferenceKind<'a>);

/// Goes through the differences of a value.
fn each<'a>(node: &'a Node<'a>, each: Each<'_, 'a>) {
    walk(node, None, &mut String::new(), each);
}

/// Goes through the differences of a list, by its rows.
pub(super) fn each_of_list<'a>(list: &'a List<'a>, each: Each<'_, 'a>) {
    rows(list, None, &mut String::new(), each);
}

fn walk<'a>(node: &'a Node<'a>, row: Option<usize>, path: &mut String, each: Each<'_, 'a>) {
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

fn rows<'a>(list: &'a List<'a>, row: Option<usize>, path: &mut String, each: Each<'_, 'a>) {
    for (at, inner) in list.rows.iter().enumerate() {
        let length = path.len();
        // Rows inside a row are part of it, and what leads to a list leads to its rows.
        if row.is_some() || length > 0 {
            path.push_str(ITEMS);
        }
        sides(&inner.sides, row.or(Some(at)), path, each);
        path.truncate(length);
    }
}

fn sides<'a>(sides: &'a Sides<'a>, row: Option<usize>, path: &mut String, each: Each<'_, 'a>) {
    match sides {
        Sides::Both(node) => walk(node, row, path, each),
        Sides::Missing(value) => each(row, path, DifferenceKind::Missing(value)),
        Sides::Extra(value) => each(row, path, DifferenceKind::Extra(value)),
    }
}
