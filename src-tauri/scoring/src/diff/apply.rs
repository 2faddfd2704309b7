//! **Pure.** Reconstructs one side exactly from the other side and the difference.
use super::{Diff, Field, Leaf, List, Node, Sides};
use touchstone_model::value::Value;

/// Side of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Expected side.
    Expected,
    /// Actual side.
    Actual,
}

/// Returns the actual value, from the expected one and the difference. `None` if the difference
/// does not belong to that value.
pub fn apply(expected: &Value, diff: &Diff<'_>) -> Option<Value> {
    node(expected, &diff.root, Side::Actual)
}

/// Returns the expected value, from the actual one and the difference. `None` if the difference
/// does not belong to that value.
pub fn revert(actual: &Value, diff: &Diff<'_>) -> Option<Value> {
    node(actual, &diff.root, Side::Expected)
}

impl Node<'_> {
    /// Returns the complete value of one side.
    pub fn side(&self, side: Side) -> Value {
        match self {
            Node::Same(value) => value.as_ref().clone(),
            Node::Leaf(leaf) => leaf.side(side).clone(),
            Node::Map(fields) => {
                Value::Map(in_order(fields.iter().filter_map(|field| field.entry(side))))
            }
            Node::List(List { rows, .. }) => {
                let item =
                    |row: &super::Row<'_>| Some((row.index_in(side)?, row.sides.side(side)?));
                Value::List(in_order(rows.iter().filter_map(item)))
            }
        }
    }
}

impl Sides<'_> {
    /// Returns the value of one side, if present.
    pub fn side(&self, side: Side) -> Option<Value> {
        match (self, side) {
            (Sides::Both(node), _) => Some(node.side(side)),
            (Sides::Missing(value), Side::Expected) | (Sides::Extra(value), Side::Actual) => {
                Some(value.as_ref().clone())
            }
            _ => None,
        }
    }
}

impl Leaf<'_> {
    /// Returns the value of one side.
    pub fn side(&self, side: Side) -> &Value {
        match side {
            Side::Expected => &self.expected,
            Side::Actual => &self.actual,
        }
    }
}

impl Field<'_> {
    /// Returns the position of the field in one of the objects.
    pub fn index_in(&self, side: Side) -> Option<usize> {
        if side == Side::Expected { self.from } else { self.to }
    }

    fn key(&self, side: Side) -> &Value {
        self.actual_key.as_deref().filter(|_| side == Side::Actual).unwrap_or(&self.key)
    }

    fn entry(&self, side: Side) -> Option<(usize, (Value, Value))> {
        Some((self.index_in(side)?, (self.key(side).clone(), self.sides.side(side)?)))
    }
}

impl super::Row<'_> {
    /// Returns the position of the row in one of the lists.
    pub fn index_in(&self, side: Side) -> Option<usize> {
        if side == Side::Expected { self.from } else { self.to }
    }
}

fn in_order<T>(placed: impl Iterator<Item = (usize, T)>) -> Vec<T> {
    let mut all: Vec<(usize, T)> = placed.collect();
    all.sort_by_key(|(place, _)| *place);
    all.into_iter().map(|(_, one)| one).collect()
}

/// Converts a value to the other side; unchanged parts are taken from the value itself.
fn node(value: &Value, node: &Node<'_>, wanted: Side) -> Option<Value> {
    let given = if wanted == Side::Actual { Side::Expected } else { Side::Actual };
    match (node, value) {
        (Node::Same(same), _) => (same.as_ref() == value).then(|| value.clone()),
        (Node::Leaf(leaf), _) => (leaf.side(given) == value).then(|| leaf.side(wanted).clone()),
        (Node::Map(fields), Value::Map(entries)) => {
            let known = fields.iter().filter(|field| field.index_in(given).is_some()).count();
            let mut out = Vec::with_capacity(fields.len());
            for field in fields {
                let from = match field.index_in(given) {
                    Some(place) => {
                        Some(entries.get(place).filter(|(key, _)| key == field.key(given))?)
                    }
                    None => None,
                };
                if let Some(place) = field.index_in(wanted) {
                    out.push((
                        place,
                        (
                            field.key(wanted).clone(),
                            sides(from.map(|(_, value)| value), &field.sides, wanted)?,
                        ),
                    ));
                }
            }
            (known == entries.len()).then(|| Value::Map(in_order(out.into_iter())))
        }
        (Node::List(list), Value::List(items)) => {
            let known = list.rows.iter().filter(|row| row.index_in(given).is_some()).count();
            let mut out = Vec::with_capacity(list.rows.len());
            for row in &list.rows {
                let from = match row.index_in(given) {
                    Some(place) => Some(items.get(place)?),
                    None => None,
                };
                if let Some(place) = row.index_in(wanted) {
                    out.push((place, sides(from, &row.sides, wanted)?));
                }
            }
            (known == items.len()).then(|| Value::List(in_order(out.into_iter())))
        }
        _ => None,
    }
}

fn sides(value: Option<&Value>, sides: &Sides<'_>, wanted: Side) -> Option<Value> {
    match (sides, value) {
        (Sides::Both(inner), Some(value)) => node(value, inner, wanted),
        (other, _) => other.side(wanted),
    }
}
