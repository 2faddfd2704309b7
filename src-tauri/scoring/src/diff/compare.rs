//! **Pure.** Walks two values side by side and builds the tree of differences.
use super::align::{align, arrange};
use super::budget::{Budget, steps};
use super::{
    Diff, ExtraFields, Field, Leaf, List, Node, Options, Row, Sides, counts, identity, leaf, words,
};
use std::borrow::Cow;
use touchstone_model::value::Value;

/// Maximum nesting depth that is compared. Readers accept 64.
const DEPTH: usize = 128;
/// Placeholder for a value that is nested deeper.
const TOO_DEEP: &str = "(nested too deep to be compared)";
/// Maximum length of a row's name, in characters.
const NAME: usize = 40;

pub(super) fn compare<'a>(expected: &'a Value, actual: &'a Value, options: &Options) -> Diff<'a> {
    if is_deep(expected) || is_deep(actual) {
        return too_deep(expected, actual, options);
    }
    let mut comparing =
        Comparing { options, budget: Budget::new(options.budget), key: Key::NotSought };
    let root = comparing.node(expected, actual);
    let counts = counts::count(&root, options);
    let key_not_there = if comparing.key == Key::NotThere { options.key.clone() } else { None };
    Diff { root, counts, coarse: comparing.budget.coarse, key_not_there, between: options.between }
}

struct Comparing<'o> {
    options: &'o Options,
    budget: Budget,
    key: Key,
}

/// Result of looking for the configured key in the rows of any list.
#[derive(Clone, Copy, PartialEq)]
enum Key {
    NotSought,
    NotThere,
    There,
}

impl Comparing<'_> {
    fn node<'a>(&mut self, expected: &'a Value, actual: &'a Value) -> Node<'a> {
        self.budget.spend(4);
        match (expected, actual) {
            (Value::Map(a), Value::Map(b)) if !(a.is_empty() && b.is_empty()) => {
                if self.is_same(expected, actual) {
                    Node::Same(Cow::Borrowed(expected))
                } else {
                    Node::Map(self.fields(a, b))
                }
            }
            (Value::List(a), Value::List(b)) if !(a.is_empty() && b.is_empty()) => {
                if self.is_same(expected, actual) {
                    Node::Same(Cow::Borrowed(expected))
                } else {
                    Node::List(self.rows(a, b))
                }
            }
            _ if expected == actual => Node::Same(Cow::Borrowed(expected)),
            _ => Node::Leaf(Box::new(leaf::compare(expected, actual, self.options))),
        }
    }

    /// Returns true if two values are exactly equal and need no further comparison; with ignored
    /// fields, they are always compared further.
    fn is_same(&self, expected: &Value, actual: &Value) -> bool {
        self.options.ignore.is_empty() && expected == actual
    }

    fn fields<'a>(
        &mut self,
        expected: &'a [(Value, Value)],
        actual: &'a [(Value, Value)],
    ) -> Vec<Field<'a>> {
        let pairs = identity::pairs(expected, actual);
        self.budget.spend(steps(expected.len() + actual.len()) * 4);
        let places = arrange(&pairs, actual.len(), true);
        let field = |place: super::align::RowPlacement| {
            let (from, to) = (place.from, place.to);
            let (left, right) =
                (from.and_then(|at| expected.get(at)), to.and_then(|at| actual.get(at)));
            let key = left.or(right).map(|(key, _)| Cow::Borrowed(key)).unwrap_or_default();
            let actual_key =
                right.map(|(key, _)| key).filter(|other| **other != *key).map(Cow::Borrowed);
            let ignored = key
                .text()
                .is_some_and(|key| self.options.ignore.iter().any(|ignored| ignored == key));
            // An expected empty object means that nothing is expected in it.
            let allowed = left.is_none()
                && !expected.is_empty()
                && self.options.extra_fields == ExtraFields::Allowed;
            let sides = self.sides(left.map(|(_, value)| value), right.map(|(_, value)| value));
            Field { key, actual_key, from, to, counts: !ignored && !allowed, sides }
        };
        places.into_iter().map(field).collect()
    }

    fn rows<'a>(&mut self, expected: &'a [Value], actual: &'a [Value]) -> List<'a> {
        let aligned = align(expected, actual, self.options, &mut self.budget);
        let of_objects = |rows: &[Value]| rows.iter().any(|row| matches!(row, Value::Map(_)));
        if self.options.key.as_ref().is_some_and(|key| !key.is_empty())
            && of_objects(expected)
            && of_objects(actual)
        {
            let found = matches!(aligned.alignment, super::Alignment::Key { inferred: false, .. });
            self.key = if found || self.key == Key::There { Key::There } else { Key::NotThere };
        }
        let places = arrange(&aligned.matches, actual.len(), self.options.ignore_order);
        let row = |place: super::align::RowPlacement| {
            let (left, right) =
                (place.from.map(|at| &expected[at]), place.to.map(|at| &actual[at]));
            let name = left.or(right).and_then(|row| aligned.name(row));
            Row {
                from: place.from,
                to: place.to,
                moved: place.moved,
                name,
                sides: self.sides(left, right),
            }
        };
        let rows = places.into_iter().map(row).collect();
        List { rows, alignment: aligned.alignment }
    }

    fn sides<'a>(&mut self, expected: Option<&'a Value>, actual: Option<&'a Value>) -> Sides<'a> {
        match (expected, actual) {
            (Some(expected), Some(actual)) => Sides::Both(self.node(expected, actual)),
            (Some(expected), None) => Sides::Missing(Cow::Borrowed(expected)),
            (None, actual) => Sides::Extra(actual.map(Cow::Borrowed).unwrap_or_default()),
        }
    }
}

impl super::align::Aligned {
    /// Returns the name of a row by its key.
    fn name(&self, row: &Value) -> Option<String> {
        let super::Alignment::Key { fields, .. } = &self.alignment else { return None };
        let values: Option<Vec<&Value>> = fields.iter().map(|field| row.get(field)).collect();
        let values = values.filter(|values| {
            values.iter().all(|value| identity::Identity::from_value(value).is_some())
        })?;
        let is_number = |value: &Value| {
            matches!(identity::Identity::from_value(value), Some(identity::Identity::Number(_)))
        };
        if let [one] = &values[..]
            && is_number(one)
        {
            return Some(cut(&format!("#{}", words(one))));
        }
        Some(cut(&values.into_iter().map(words).collect::<Vec<_>>().join(" / ")))
    }
}

/// Truncates a name.
fn cut(name: &str) -> String {
    match name.char_indices().nth(NAME) {
        Some((at, _)) => format!("{}…", &name[..at]),
        None => name.to_owned(),
    }
}

/// Returns true if a value is nested more deeply than the limit. Not recursive, so deep values
/// cannot overflow the stack.
fn is_deep(value: &Value) -> bool {
    let mut level: Vec<&Value> = vec![value];
    for _ in 0..DEPTH {
        level = level
            .into_iter()
            .flat_map(|value| {
                let fields = value.entries().iter().flat_map(|(key, value)| [key, value]);
                value
                    .items()
                    .iter()
                    .chain(fields)
                    .filter(|value| matches!(value, Value::List(_) | Value::Map(_)))
            })
            .collect();
        if level.is_empty() {
            return false;
        }
    }
    true
}

/// Returns true if both values are exactly equal, at any depth. Not recursive.
fn is_identical(a: &Value, b: &Value) -> bool {
    let mut open = vec![(a, b)];
    while let Some((a, b)) = open.pop() {
        match (a, b) {
            (Value::List(a), Value::List(b)) if a.len() == b.len() => open.extend(a.iter().zip(b)),
            (Value::Map(a), Value::Map(b)) if a.len() == b.len() => {
                open.extend(a.iter().zip(b).flat_map(|(a, b)| [(&a.0, &b.0), (&a.1, &b.1)]));
            }
            (Value::List(_) | Value::Map(_), _) | (_, Value::List(_) | Value::Map(_)) => {
                return false;
            }
            (a, b) if a != b => return false,
            _ => {}
        }
    }
    true
}

/// Compares values that are nested too deeply: only for exact equality, without showing them.
fn too_deep<'a>(expected: &'a Value, actual: &'a Value, options: &Options) -> Diff<'a> {
    let shown = |value: &'a Value| {
        if is_deep(value) { Cow::Owned(Value::from(TOO_DEEP)) } else { Cow::Borrowed(value) }
    };
    let leaf = Leaf {
        equal: is_identical(expected, actual),
        expected: shown(expected),
        actual: shown(actual),
        type_differs: std::mem::discriminant(expected) != std::mem::discriminant(actual),
        remark: None,
    };
    let root = Node::Leaf(Box::new(leaf));
    let counts = counts::count(&root, options);
    Diff { root, counts, coarse: true, key_not_there: None, between: options.between }
}
