//! **Pure.** The differences of two values as a list: what, where, and in which row.
use super::{Diff, Leaf, List, Node, Sides};
use std::borrow::Cow;
use touchstone_formats::value::Value;

/// One difference.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference<'a> {
    /// The row of the outermost list it is in, by its place among [`List::rows`].
    pub row: Option<usize>,
    /// Fields that lead to it from its row, or from the whole: `plan.name`. Empty for the row or the whole itself.
    pub path: String,
    /// What it is.
    pub kind: DifferenceKind<'a>,
}

/// What differs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum DifferenceKind<'a> {
    /// Another value.
    Changed(&'a Leaf),
    /// Expected, and not there.
    Missing(&'a Value),
    /// There, and not expected.
    Extra(&'a Value),
}

impl Diff {
    /// Every difference that counts, in order. Moved rows are none; see [`super::Row::moved`].
    pub fn differences(&self) -> Vec<Difference<'_>> {
        let mut found = Vec::new();
        walk(&self.root, None, &mut Vec::new(), &mut found);
        found
    }
}

/// The differences in one list, whose rows have the numbers they have there.
pub(super) fn of_list(list: &List) -> Vec<Difference<'_>> {
    let mut found = Vec::new();
    rows(list, None, &mut Vec::new(), &mut found);
    found
}

/// The differences in one value.
pub(super) fn of_node(node: &Node) -> Vec<Difference<'_>> {
    let mut found = Vec::new();
    walk(node, None, &mut Vec::new(), &mut found);
    found
}

fn walk<'a>(node: &'a Node, row: Option<usize>, path: &mut Vec<Cow<'a, str>>, found: &mut Vec<Difference<'a>>) {
    match node {
        Node::Same(_) => {}
        Node::Leaf(leaf) if leaf.equal => {}
        Node::Leaf(leaf) => found.push(Difference { row, path: path.join("."), kind: DifferenceKind::Changed(leaf) }),
        Node::Map(fields) => {
            for field in fields.iter().filter(|field| field.counts) {
                path.push(super::shown::words(&field.key));
                sides(&field.sides, row, path, found);
                path.pop();
            }
        }
        Node::List(list) => rows(list, row, path, found),
    }
}

fn rows<'a>(list: &'a List, row: Option<usize>, path: &mut Vec<Cow<'a, str>>, found: &mut Vec<Difference<'a>>) {
    for (at, inner) in list.rows.iter().enumerate() {
        // Rows inside a row are part of it.
        if row.is_some() {
            sides(&inner.sides, row, path, found);
        } else {
            sides(&inner.sides, Some(at), &mut Vec::new(), found);
        }
    }
}

fn sides<'a>(sides: &'a Sides, row: Option<usize>, path: &mut Vec<Cow<'a, str>>, found: &mut Vec<Difference<'a>>) {
    let kind = match sides {
        Sides::Both(node) => return walk(node, row, path, found),
        Sides::Missing(value) => DifferenceKind::Missing(value),
        Sides::Extra(value) => DifferenceKind::Extra(value),
    };
    found.push(Difference { row, path: path.join("."), kind });
}
