//! **Pure.** Counts right, wrong, missing and extra values in a comparison.
use super::{Counts, DateRemark, Field, Leaf, List, Node, Options, Remark, RowCounts, Sides};
use touchstone_model::value::Value;

pub(super) fn count(root: &Node<'_>, options: &Options) -> Counts {
    let mut counting = Counting { options, counts: Counts::default() };
    counting.node(root, Inside::Nothing);
    counting.counts
}

/// Context of a node.
#[derive(Clone, Copy, PartialEq)]
enum Inside {
    Nothing,
    Row,
}

struct Counting<'o> {
    options: &'o Options,
    counts: Counts,
}

impl Counting<'_> {
    fn node(&mut self, node: &Node<'_>, inside: Inside) {
        match node {
            Node::Same(value) => self.same(value, inside),
            Node::Leaf(leaf) => self.leaf(leaf),
            Node::Map(fields) => fields.iter().for_each(|field| self.field(field, inside)),
            Node::List(list) => self.list(list, inside),
        }
    }

    fn same(&mut self, value: &Value, inside: Inside) {
        let leaves = self.leaves(value);
        self.counts.expected += leaves;
        self.counts.actual += leaves;
        self.counts.right += leaves;
        if inside == Inside::Nothing {
            each_list(value, &mut |items| {
                let rows = &mut self.counts.rows;
                rows.lists += 1;
                for count in
                    [&mut rows.expected, &mut rows.actual, &mut rows.equal, &mut rows.right]
                {
                    *count += items.len();
                }
            });
        }
    }

    fn leaf(&mut self, leaf: &Leaf<'_>) {
        let counts = (self.leaves(&leaf.expected), self.leaves(&leaf.actual));
        let all = &mut self.counts;
        if leaf.equal {
            all.expected += 1;
            all.actual += 1;
            all.right += 1;
            all.other_type += usize::from(leaf.type_differs);
            all.other_notation +=
                usize::from(leaf.remark == Some(Remark::Date(DateRemark::OtherNotation)));
            all.within_tolerance += usize::from(leaf.remark == Some(Remark::WithinTolerance));
            return;
        }
        // One value in place of another: one leaf is changed, and any others are missing or extra.
        all.expected += counts.0;
        all.actual += counts.1;
        let changed = counts.0.min(counts.1).min(1);
        all.changed += changed;
        all.missing += counts.0 - changed;
        all.extra += counts.1 - changed;
        all.extra_in_rows += counts.1 - changed;
    }

    fn field(&mut self, field: &Field<'_>, inside: Inside) {
        if !field.counts {
            self.counts.ignored += match &field.sides {
                Sides::Both(node) => self.leaves_of(node),
                Sides::Missing(value) | Sides::Extra(value) => self.leaves(value),
            };
            return;
        }
        match &field.sides {
            Sides::Both(node) => self.node(node, inside),
            Sides::Missing(value) => self.missing(value),
            Sides::Extra(value) => {
                self.counts.extra_in_rows += self.leaves(value);
                self.extra(value);
            }
        }
    }

    fn list(&mut self, list: &List<'_>, inside: Inside) {
        for row in &list.rows {
            match &row.sides {
                Sides::Both(node) => self.node(node, Inside::Row),
                Sides::Missing(value) => self.missing(value),
                Sides::Extra(value) => self.extra(value),
            }
        }
        if inside == Inside::Nothing {
            let rows = &mut self.counts.rows;
            rows.lists += 1;
            for row in &list.rows {
                rows.expected += usize::from(row.from.is_some());
                rows.actual += usize::from(row.to.is_some());
                rows.moved += usize::from(row.moved);
                match &row.sides {
                    Sides::Missing(_) => rows.missing += 1,
                    Sides::Extra(_) => rows.extra += 1,
                    Sides::Both(node) if node.is_equal() => {
                        rows.equal += 1;
                        rows.right += usize::from(!row.moved && !node.is_moved());
                    }
                    Sides::Both(_) => rows.different += 1,
                }
            }
        }
    }

    fn missing(&mut self, value: &Value) {
        let leaves = self.leaves(value);
        self.counts.expected += leaves;
        self.counts.missing += leaves;
    }

    fn extra(&mut self, value: &Value) {
        let leaves = self.leaves(value);
        self.counts.actual += leaves;
        self.counts.extra += leaves;
    }

    /// Returns the number of leaves in a value, without ignored fields.
    fn leaves(&self, value: &Value) -> usize {
        match value {
            Value::List(items) if !items.is_empty() => {
                items.iter().map(|item| self.leaves(item)).sum()
            }
            Value::Map(entries) if !entries.is_empty() => {
                let ignored = |key: &Value| {
                    key.text()
                        .is_some_and(|key| self.options.ignore.iter().any(|other| other == key))
                };
                entries
                    .iter()
                    .filter(|(key, _)| !ignored(key))
                    .map(|(_, value)| self.leaves(value))
                    .sum()
            }
            _ => 1,
        }
    }

    fn leaves_of(&self, node: &Node<'_>) -> usize {
        match node {
            Node::Same(value) => self.leaves(value),
            Node::Leaf(_) => 1,
            Node::Map(fields) => {
                fields.iter().map(|field| self.leaves_of_sides(&field.sides)).sum()
            }
            Node::List(list) => list.rows.iter().map(|row| self.leaves_of_sides(&row.sides)).sum(),
        }
    }

    fn leaves_of_sides(&self, sides: &Sides<'_>) -> usize {
        match sides {
            Sides::Both(node) => self.leaves_of(node),
            Sides::Missing(value) | Sides::Extra(value) => self.leaves(value),
        }
    }
}

/// Calls `each` for each list that is not inside a row of another list.
fn each_list(value: &Value, each: &mut impl FnMut(&[Value])) {
    match value {
        Value::List(items) => each(items),
        Value::Map(entries) => entries.iter().for_each(|(_, value)| each_list(value, each)),
        _ => {}
    }
}

impl RowCounts {
    /// Returns true if there is no list whose rows could be counted.
    pub fn is_none(&self) -> bool {
        self.lists == 0
    }
}
