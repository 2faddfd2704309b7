//! **Pure.** `numeric`: closeness of numbers.
use super::scorer::{Numeric, Scorer};
use super::words::{self, decimals, float, share};
use super::{Case, Outcome, Scored};
use crate::diff::{Alignment, List, Measured, Node, Number, Options, Sides, diff};
use touchstone_model::value::Value;

/// Default cutoff, as a share of the expected number.
pub(super) const CUTOFF: f64 = 0.05;
/// Maximum score of a number that is close but not equal.
const BELOW_ALL: f64 = 1.0 - f64::EPSILON / 2.0;
/// Number of times the score halves on the way to the cutoff.
const HALVES: f64 = 5.0;

/// Scores 1 for the expected number, 0 from `cutoff` on, and in between `(2^(−5e/cutoff) − 2^−5) /
/// (1 − 2^−5)` for an error of `e`: the score halves about every fifth of the way. The cutoff is in
/// the unit of the number, or with `relative` a share of it; the default is 5 % of the expected
/// number. The answer passes if every number is right.
///
/// If a list or an object is expected, its numbers are compared field by field and the score is
/// their mean: over all numbers, or those in `field`. Fields that identify rows, and others whose
/// name ends in `id`, are not compared. The fields in `field`, and the last number of a row, do not
/// identify rows unless `key` names them. A missing number counts 0, and so does each number of an
/// extra row. A text that is nothing but a number counts as that number.
pub(super) fn score(scorer: &Scorer, case: &Case<'_>, rule: &Numeric) -> Outcome {
    let Some(expected) = case.expected else { return super::no_expected() };
    match (number(expected), expected) {
        (Some(wanted), _) => {
            single(scorer, case, rule, &Written { value: expected, number: wanted })
        }
        (None, Value::List(_) | Value::Map(_)) => several(scorer, case, rule, expected),
        (None, other) => Outcome::Unfit(format!(
            "`{}` compares numbers, and {} is expected.",
            scorer.name(),
            words::kind(other)
        )),
    }
}

fn single(scorer: &Scorer, case: &Case<'_>, rule: &Numeric, wanted: &Written<'_>) -> Outcome {
    let Some(answer) = case.answer else { return super::no_answer() };
    let Some(given) = Written::from_value(answer) else {
        return Outcome::Scored(Scored::nothing(words::instead(
            &format!("the number {}", wanted.words()),
            answer,
        )));
    };
    let near = Near::new(wanted, &given, rule);
    let as_text = if matches!(answer, Value::Text(_)) { ", as a text" } else { "" };
    let reason = if near.right {
        format!("{} as expected{as_text}", given.words())
    } else {
        format!(
            "{} came instead of {}{as_text}: {}",
            given.words(),
            wanted.words(),
            near.words(wanted)
        )
    };
    let verdict = Scored::new(near.points, scorer.passes(near.points, near.right), reason)
        .with("expected", wanted.words())
        .with("answer", given.words())
        .with("off by", figure(near.off))
        .with("cutoff", figure(near.cutoff));
    Outcome::Scored(verdict)
}

/// Closeness of a number to the expected one.
struct Near {
    points: f64,
    right: bool,
    off: f64,
    cutoff: f64,
    above: bool,
}

impl Near {
    fn new(wanted: &Written<'_>, came: &Written<'_>, rule: &Numeric) -> Self {
        let relative = rule.relative || rule.cutoff.is_none();
        let cutoff = rule.cutoff.unwrap_or(CUTOFF)
            * if relative { wanted.number.float().abs() } else { 1.0 };
        let (apart, right) = (wanted.number.distance(&came.number), wanted.number == came.number);
        let off = apart.abs();
        let points = if right { 1.0 } else { decay(off / cutoff).min(BELOW_ALL) };
        Self { points, right, off, cutoff, above: apart > 0.0 }
    }

    /// Describes the deviation: `2.8 above (0.12 %)`.
    fn words(&self, wanted: &Written<'_>) -> String {
        if !self.off.is_finite() {
            return "not near".to_owned();
        }
        let side = if self.above { "above" } else { "below" };
        let percent = self.off / wanted.number.float().abs() * 100.0;
        let percent =
            if percent.is_finite() { format!(" ({} %)", figure(percent)) } else { String::new() };
        let beyond = if self.points > 0.0 { "" } else { ", beyond the cutoff" };
        format!("{} {side}{percent}{beyond}", figure(self.off))
    }
}

/// Maps the error as a share of the cutoff to a score: 1 at 0, falling to 0 at 1 and beyond,
/// including NaN.
fn decay(way: f64) -> f64 {
    if !(0.0..1.0).contains(&way) {
        return 0.0;
    }
    let end = (-HALVES).exp2();
    (((-HALVES * way).exp2() - end) / (1.0 - end)).clamp(0.0, 1.0)
}

fn several(scorer: &Scorer, case: &Case<'_>, rule: &Numeric, expected: &Value) -> Outcome {
    let missing_answer = Value::Null;
    let options = options(rule, case.key);
    let found = diff(expected, case.answer.unwrap_or(&missing_answer), &options);
    let mut walk = Walk { rule, options: &options, pairs: Vec::new(), extra: 0 };
    walk.node(&found.root, &Position::default());
    if walk.pairs.is_empty() {
        let what = match &rule.fields[..] {
            [] => "no number is expected".to_owned(),
            fields => format!(
                "no number is expected in {}",
                super::read::list(fields.iter().map(String::as_str))
            ),
        };
        return Outcome::Unfit(format!("`{}` compares numbers, and {what}.", scorer.name()));
    }
    let Some(answer) = case.answer else { return super::no_answer() };
    if words::kind_word(expected) != words::kind_word(answer) {
        return Outcome::Scored(Scored::nothing(words::instead(&words::kind(expected), answer)));
    }
    mean(scorer, rule, &walk)
}

/// Returns the options for comparing lists and objects.
pub(super) fn options(rule: &Numeric, key: Option<&str>) -> Options {
    let named = || key.map(|key| vec![key.to_owned()]);
    Options {
        key: Some(rule.key.clone()).filter(|key| !key.is_empty()).or_else(named),
        measured: if rule.fields.is_empty() {
            Measured::Numbers
        } else {
            Measured::Fields(rule.fields.clone())
        },
        ignore_order: true,
        places_say_nothing: true,
        ..Options::default()
    }
}

fn mean(scorer: &Scorer, rule: &Numeric, walk: &Walk<'_>) -> Outcome {
    let whole = walk.pairs.len() + walk.extra;
    let (mut sum, mut right, mut missing) = (0.0, 0, 0);
    let mut worst: Option<(&Pair<'_>, Near)> = None;
    for pair in &walk.pairs {
        let Some(came) = pair.came.as_ref() else {
            missing += 1;
            continue;
        };
        let near = Near::new(&pair.wanted, came, rule);
        sum += near.points;
        right += usize::from(near.right);
        let is_worse = |(_, worst): &(&Pair<'_>, Near)| {
            near.points < worst.points || (near.points <= worst.points && near.off > worst.off)
        };
        if !near.right && worst.as_ref().is_none_or(is_worse) {
            worst = Some((pair, near));
        }
    }
    let most = if right == whole { 1.0 } else { BELOW_ALL };
    let score = (sum / float(whole)).clamp(0.0, most);
    let mut parts = vec![format!("{} right", share(right, walk.pairs.len(), "number"))];
    if missing > 0 {
        parts.push(format!("{missing} missing"));
    }
    if walk.extra > 0 {
        parts.push(format!("{} in extra rows", walk.extra));
    }
    if let Some((pair, near)) = &worst {
        let came = pair.came.as_ref().map(Written::words).unwrap_or_default();
        let label = if pair.label.is_empty() { String::new() } else { format!("{} ", pair.label) };
        parts.push(format!(
            "farthest: {label}{} → {came}, {}",
            pair.wanted.words(),
            near.words(&pair.wanted)
        ));
    }
    let verdict = Scored::new(score, scorer.passes(score, right == whole), parts.join(", "))
        .with("right", format!("{right} of {}", walk.pairs.len()))
        .with("missing", missing.to_string())
        .with("extra", walk.extra.to_string());
    Outcome::Scored(match &worst {
        Some((_, near)) => verdict.with("farthest off", figure(near.off)),
        None => verdict,
    })
}

/// An expected number and the actual number in its place.
struct Pair<'a> {
    wanted: Written<'a>,
    came: Option<Written<'a>>,
    label: String,
}

/// Position in a value.
#[derive(Clone, Copy, Default)]
struct Position<'a> {
    field: Option<&'a str>,
    row: Option<&'a str>,
    /// Key fields by which the current row was found.
    keys: &'a [String],
    /// True inside a field that `field` names.
    asked: bool,
}

struct Walk<'a> {
    rule: &'a Numeric,
    options: &'a Options,
    pairs: Vec<Pair<'a>>,
    /// Numbers in rows that were not expected.
    extra: usize,
}

impl<'a> Walk<'a> {
    fn node(&mut self, node: &'a Node, place: &Position<'a>) {
        match node {
            Node::Same(value) => self.value(value, place, true),
            Node::Leaf(leaf) => match self.expected_number(&leaf.expected, place) {
                Some(wanted) => self.add(wanted, Written::from_value(&leaf.actual), place),
                None => self.value(&leaf.expected, place, false),
            },
            Node::Map(fields) => {
                for field in fields {
                    let Some(inside) = self.inside(place, &field.key) else { continue };
                    match &field.sides {
                        Sides::Both(node) => self.node(node, &inside),
                        Sides::Missing(value) => self.value(value, &inside, false),
                        Sides::Extra(_) => {}
                    }
                }
            }
            Node::List(list) => self.list(list, place),
        }
    }

    fn list(&mut self, list: &'a List, place: &Position<'a>) {
        if list.rows.iter().all(|row| is_plain(&row.sides)) {
            return self.plain(list, place);
        }
        let keys: &[String] =
            if let Alignment::Key { fields, .. } = &list.alignment { fields } else { &[] };
        for row in &list.rows {
            let here = Position { row: row.name.as_deref().or(place.row), keys, ..*place };
            match &row.sides {
                Sides::Both(node) => self.node(node, &here),
                Sides::Missing(value) => self.value(value, &here, false),
                Sides::Extra(value) => {
                    let before = self.pairs.len();
                    self.value(value, &here, false);
                    self.extra += self.pairs.len() - before;
                    self.pairs.truncate(before);
                }
            }
        }
    }

    /// Compares a list of scalars by position.
    fn plain(&mut self, list: &'a List, place: &Position<'a>) {
        let (mut expected, mut actual) = (Vec::new(), Vec::new());
        for row in &list.rows {
            let (left, right) = match &row.sides {
                Sides::Both(Node::Leaf(leaf)) => (Some(&leaf.expected), Some(&leaf.actual)),
                Sides::Both(Node::Same(value)) => (Some(value), Some(value)),
                Sides::Missing(value) => (Some(value), None),
                Sides::Extra(value) => (None, Some(value)),
                Sides::Both(_) => (None, None),
            };
            expected.extend(row.from.zip(left));
            actual.extend(row.to.zip(right));
        }
        expected.sort_by_key(|(at, _)| *at);
        actual.sort_by_key(|(at, _)| *at);
        for (at, (_, value)) in expected.iter().enumerate() {
            if let Some(wanted) = self.expected_number(value, place) {
                self.add(
                    wanted,
                    actual.get(at).and_then(|(_, value)| Written::from_value(value)),
                    place,
                );
            }
        }
        let beyond = actual.iter().skip(expected.len());
        self.extra +=
            beyond.filter(|(_, value)| self.expected_number(value, place).is_some()).count();
    }

    /// Collects the numbers of a value that is present on both sides, or expected only.
    fn value(&mut self, value: &'a Value, place: &Position<'a>, both: bool) {
        if let Some(wanted) = self.expected_number(value, place) {
            let came = both.then(|| wanted.clone());
            return self.add(wanted, came, place);
        }
        let rows = Position { keys: &[], ..*place };
        value.items().iter().for_each(|item| self.value(item, &rows, both));
        for (key, value) in value.entries() {
            if let Some(inside) = self.inside(place, key) {
                self.value(value, &inside, both);
            }
        }
    }

    /// Enters a field of an object; `None` for an identifier, unless `field` names it.
    fn inside(&self, place: &Position<'a>, key: &'a Value) -> Option<Position<'a>> {
        let name = key.text();
        let asked = place.asked
            || name.is_some_and(|name| self.rule.fields.iter().any(|field| field == name));
        let is_name =
            name.is_some_and(|name| place.keys.iter().any(|key| key == name) || self.is_name(name));
        (asked || !is_name).then_some(Position {
            field: name.or(place.field),
            row: place.row,
            keys: &[],
            asked,
        })
    }

    fn is_name(&self, field: &str) -> bool {
        let ends = ["_id", "-id", " id", "Id", "ID"].iter().any(|end| field.ends_with(end));
        ends || field.eq_ignore_ascii_case("id")
            || self.options.key.iter().flatten().any(|key| key == field)
    }

    /// Returns the number to compare at a position; a text counts as a number only where `field`
    /// names it.
    fn expected_number(&self, value: &'a Value, place: &Position<'a>) -> Option<Written<'a>> {
        let counts =
            place.asked || (self.rule.fields.is_empty() && matches!(value, Value::Number(_)));
        counts.then(|| Written::from_value(value)).flatten()
    }

    fn add(&mut self, wanted: Written<'a>, came: Option<Written<'a>>, place: &Position<'a>) {
        let words = [place.row, place.field];
        let label = words.into_iter().flatten().map(words::cut).collect::<Vec<_>>().join(" ");
        self.pairs.push(Pair { wanted, came, label });
    }
}

/// A number and its notation.
#[derive(Clone)]
struct Written<'a> {
    value: &'a Value,
    number: Number<'a>,
}

impl<'a> Written<'a> {
    fn from_value(value: &'a Value) -> Option<Self> {
        Some(Self { value, number: number(value)? })
    }

    fn words(&self) -> String {
        words::format_value(self.value)
    }
}

/// Returns the number that a value is or spells.
fn number(value: &Value) -> Option<Number<'_>> {
    match value {
        Value::Number(text) => Number::read(text),
        Value::Text(text) => Number::parse_text(text.trim()),
        _ => None,
    }
}

/// Returns true for a row that is neither a list nor an object.
fn is_plain(sides: &Sides) -> bool {
    let plain = |value: &Value| !matches!(value, Value::List(_) | Value::Map(_));
    match sides {
        Sides::Both(Node::Leaf(leaf)) => plain(&leaf.expected) && plain(&leaf.actual),
        Sides::Both(Node::Same(value)) | Sides::Missing(value) | Sides::Extra(value) => {
            plain(value)
        }
        Sides::Both(Node::Map(_) | Node::List(_)) => false,
    }
}

/// Formats a number with a useful number of digits.
fn figure(number: f64) -> String {
    let size = number.abs();
    match size {
        _ if !size.is_finite() => number.to_string(),
        _ if size >= 1e15 => format!("{number:.2e}"),
        _ if size >= 1000.0 => decimals(number, 2),
        _ if size >= 0.01 || size == 0.0 => decimals(number, 4),
        _ => format!("{number:.2e}"),
    }
}
