//! **Pure.** `fields`: share of a structured answer that is right, field by field.
use super::read::list;
use super::scorer::{Fields, Scorer};
use super::words::{self, decimals, float};
use super::{Case, Outcome, Scored};
use crate::diff::{ExtraFields, Field, List, Node, Options, Sides, diff};
use std::collections::BTreeSet;
use touchstone_model::value::Value;

/// Maximum number of fields named in a sentence.
const BESIDE: usize = 3;

/// Scores `right / (expected + extra)`: the share of the expected fields that are right, where
/// every extra row counts like a wrong expected row.
///
/// A field is a scalar value in a row found by its key. All fields of a missing row are wrong. An
/// unexpected field costs nothing, unless `strict`; an expected empty object counts as one field,
/// which is wrong if anything is in it. An unexpected row costs as many fields as the expected rows
/// of its list have on average, or its own number if that is smaller. The order of rows does not
/// matter, unless `ordered`: then the position of each row is one more field. The answer passes if
/// everything is right.
pub(super) fn score(scorer: &Scorer, case: &Case<'_>, rule: &Fields) -> Outcome {
    let Some(expected) = case.expected else { return super::no_expected() };
    let Some(answer) = case.answer else { return super::no_answer() };
    let options = options(rule, case.key);
    let found = diff(expected, answer, &options);
    let mut tally = FieldCounts {
        rule,
        right: 0,
        expected: 0,
        changed: 0,
        extra: 0.0,
        beside: BTreeSet::new(),
    };
    tally.node(&found.root);
    let (right, whole) = (float(tally.right), float(tally.expected));
    // If no field is left to compare, the answer is right only if nothing differs.
    let nothing = if found.is_equal() { 1.0 } else { 0.0 };
    let over = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { nothing };
    let score = over(right, whole + tally.extra).clamp(0.0, 1.0);
    let precision = over(right, right + float(tally.changed) + tally.extra);
    let recall = over(right, whole);
    let f1 = if precision + recall > 0.0 {
        2.0 * precision * recall / (precision + recall)
    } else {
        0.0
    };
    let other_order = !rule.ordered && is_reordered(&found.root);
    let reason = if words::kind_word(expected) == words::kind_word(answer) || found.is_equal() {
        found.summary() + if other_order { "; in another order, which does not count" } else { "" }
    } else {
        words::instead(&words::kind(expected), answer)
    };
    let verdict =
        Scored::new(score, scorer.passes(score, found.is_equal()), reason + &tally.aside())
            .with("fields", format!("{} of {}", tally.right, tally.expected))
            .with("extra", decimals(tally.extra, 2))
            .with("precision", decimals(precision, 4))
            .with("recall", decimals(recall, 4))
            .with("f1", decimals(f1, 4));
    Outcome::Scored(verdict)
}

/// Returns the comparison options.
pub(super) fn options(rule: &Fields, key: Option<&str>) -> Options {
    let named = || key.map(|key| vec![key.to_owned()]);
    Options {
        key: Some(rule.key.clone()).filter(|key| !key.is_empty()).or_else(named),
        tolerance: rule.tolerance,
        ignore_order: !rule.ordered,
        places_say_nothing: !rule.ordered,
        ignore: rule.ignore.clone(),
        extra_fields: if rule.strict { ExtraFields::Wrong } else { ExtraFields::Allowed },
        dates: rule.dates,
        ..Options::default()
    }
}

struct FieldCounts<'r> {
    rule: &'r Fields,
    right: usize,
    expected: usize,
    changed: usize,
    extra: f64,
    /// Unexpected fields that cost nothing.
    beside: BTreeSet<String>,
}

impl FieldCounts<'_> {
    /// Returns the remark on unexpected fields that were not counted.
    fn aside(&self) -> String {
        if self.beside.is_empty() {
            return String::new();
        }
        let names = list(self.beside.iter().take(BESIDE).map(String::as_str));
        let more = if self.beside.len() > BESIDE { ", …" } else { "" };
        format!("; not expected, and not counted: {names}{more}")
    }

    fn node(&mut self, node: &Node) {
        match node {
            Node::Same(value) => {
                let all = self.weight(value);
                self.right += all;
                self.expected += all;
            }
            Node::Leaf(leaf) if leaf.equal => {
                self.right += 1;
                self.expected += 1;
            }
            Node::Leaf(leaf) => {
                self.expected += self.weight(&leaf.expected);
                self.changed += 1;
                if self.rule.strict {
                    self.extra += float(self.weight(&leaf.actual).saturating_sub(1));
                }
            }
            Node::Map(fields) if fields.iter().all(|field| field.from.is_none()) => {
                self.nothing(fields);
            }
            Node::Map(fields) => fields.iter().for_each(|field| self.field(field)),
            Node::List(list) => self.list(list),
        }
    }

    /// Counts an expected empty object as one field, right or wrong, however much is in it.
    fn nothing(&mut self, came: &[Field]) {
        let came = came.iter().filter(|field| field.counts).map(|field| match &field.sides {
            Sides::Extra(value) => self.weight(value),
            Sides::Both(_) | Sides::Missing(_) => 0,
        });
        let (some, weight) = came.fold((false, 0), |(_, sum), weight| (true, sum + weight));
        self.expected += 1;
        self.right += usize::from(!some);
        self.changed += usize::from(some);
        if self.rule.strict {
            self.extra += float(weight.saturating_sub(1));
        }
    }

    fn field(&mut self, field: &Field) {
        if !field.counts {
            let name = field.key.text().filter(|name| {
                field.from.is_none() && !self.rule.ignore.iter().any(|other| other == name)
            });
            self.beside.extend(name.map(words::cut));
            return;
        }
        match &field.sides {
            Sides::Both(node) => self.node(node),
            Sides::Missing(value) => self.expected += self.weight(value),
            Sides::Extra(value) => self.extra += float(self.weight(value)),
        }
    }

    fn list(&mut self, list: &List) {
        let (before, place) = (self.expected, usize::from(self.rule.ordered));
        let mut extra = Vec::new();
        for row in &list.rows {
            match &row.sides {
                Sides::Both(node) => {
                    self.node(node);
                    if self.rule.ordered {
                        self.expected += 1;
                        self.right += usize::from(!row.moved);
                        self.changed += usize::from(row.moved);
                    }
                }
                Sides::Missing(value) => self.expected += self.weight(value) + place,
                Sides::Extra(value) => extra.push(self.weight(value) + place),
            }
        }
        let rows = list.rows.len() - extra.len();
        let usual =
            if rows == 0 { f64::INFINITY } else { float(self.expected - before) / float(rows) };
        self.extra += extra.into_iter().map(|fields| float(fields.max(1)).min(usual)).sum::<f64>();
    }

    /// Returns the weight of a value: its fields, plus the position of each row in it if positions
    /// count. Missing values weigh the same as present ones.
    fn weight(&self, value: &Value) -> usize {
        self.leaves(value) + if self.rule.ordered { self.places(value) } else { 0 }
    }

    /// Returns the number of leaves, without ignored fields.
    fn leaves(&self, value: &Value) -> usize {
        match value {
            Value::List(items) if !items.is_empty() => {
                items.iter().map(|item| self.leaves(item)).sum()
            }
            Value::Map(entries) if !entries.is_empty() => {
                self.counted(entries).map(|value| self.leaves(value)).sum()
            }
            _ => 1,
        }
    }

    /// Returns the number of rows in all lists inside.
    fn places(&self, value: &Value) -> usize {
        let rows: usize = value.items().iter().map(|row| 1 + self.places(row)).sum();
        rows + self.counted(value.entries()).map(|value| self.places(value)).sum::<usize>()
    }

    /// Returns the fields that are not ignored.
    fn counted<'v>(&self, entries: &'v [(Value, Value)]) -> impl Iterator<Item = &'v Value> {
        let is_ignored = |key: &Value| {
            key.text().is_some_and(|key| self.rule.ignore.iter().any(|other| other == key))
        };
        entries.iter().filter(move |(key, _)| !is_ignored(key)).map(|(_, value)| value)
    }
}

/// Returns true if common rows are in another order, in a list that is not inside a row.
fn is_reordered(node: &Node) -> bool {
    match node {
        Node::List(list) => {
            let mut places: Vec<(usize, usize)> =
                list.rows.iter().filter_map(|row| row.from.zip(row.to)).collect();
            places.sort_unstable();
            !places.is_sorted_by_key(|(_, to)| *to)
        }
        Node::Map(fields) => fields
            .iter()
            .any(|field| matches!(&field.sides, Sides::Both(node) if is_reordered(node))),
        Node::Same(_) | Node::Leaf(_) => false,
    }
}
