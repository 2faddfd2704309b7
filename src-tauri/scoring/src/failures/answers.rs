//! **Pure.** How an answer is wrong: its form, its fields, its rows.
use super::modes::{Cause, Fault, Mode};
use super::text::quote_value;
use crate::diff::{DateRemark, DifferenceKind, Leaf, Options, Remark, cut, diff};
use std::collections::BTreeMap;
use touchstone_model::value::Value;

/// Maximum number of wrong fields that are told apart in one answer.
const MOST_FIELDS: usize = 8;
/// Maximum number of characters of the path of a field.
const LONGEST_PATH: usize = 80;
/// Work budget of one comparison: far less than for one that a person waits for.
const BUDGET: u64 = 4_000_000;
/// Length from which two texts are prose, in which another value says nothing.
const PROSE: usize = 80;

/// A wrong part of an answer.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct WrongPart {
    pub(super) cause: Cause,
    /// Expected and actual value.
    pub(super) quote: String,
}

/// Faults of one field, over all rows.
#[derive(Default)]
struct Field {
    faults: BTreeMap<Fault, (usize, String)>,
    first: usize,
}

/// Returns what is wrong with an answer, the most frequent fault first within a mode. Empty if the
/// difference has no form, as between two texts.
pub(super) fn wrong_parts(expected: &Value, answer: &Value, options: &Options) -> Vec<WrongPart> {
    if let Some(broken) = broken_form(expected, answer) {
        return vec![broken];
    }
    let options = Options { budget: options.budget.min(BUDGET), ..options.clone() };
    let diff = diff(expected, answer, &options);
    let mut parts = Parts::default();
    for difference in diff.differences() {
        parts.add(difference.row.is_some(), &difference.path, &difference.kind);
    }
    parts.finish(diff.root.is_moved() && !options.ignore_order)
}

/// Returns the fault of an answer of another kind than the expected one, such as prose instead of a
/// list.
fn broken_form(expected: &Value, answer: &Value) -> Option<WrongPart> {
    let kind = |value: &Value| match value {
        Value::List(_) => "a list",
        Value::Map(_) => "an object",
        Value::Text(_) => "text",
        Value::Null => "nothing",
        Value::Number(_) => "a number",
        Value::Bool(_) => "yes or no",
    };
    let nested = |value: &Value| matches!(value, Value::List(_) | Value::Map(_));
    let differs = (nested(expected) || nested(answer)) && kind(expected) != kind(answer);
    differs.then(|| WrongPart {
        cause: Cause::new(
            Mode::FormatBreak,
            "",
            &format!("is {} instead of {}", kind(answer), kind(expected)),
        ),
        quote: quote_value(answer),
    })
}

#[derive(Default)]
struct Parts {
    fields: BTreeMap<String, Field>,
    missing: BTreeMap<String, (usize, String)>,
    extra: BTreeMap<String, (usize, String)>,
}

impl Parts {
    fn add(&mut self, in_row: bool, path: &str, kind: &DifferenceKind<'_>) {
        let whole_row = path.ends_with("[]") || path.is_empty() && in_row;
        let list = || cut(path.trim_end_matches("[]"), LONGEST_PATH);
        let count = |rows: &mut BTreeMap<String, (usize, String)>, how: &str, value: &Value| {
            let quote = || format!("{how}: {}", quote_value(value));
            rows.entry(list()).or_insert_with(|| (0, quote())).0 += 1;
        };
        match kind {
            DifferenceKind::Missing(value) if whole_row => {
                count(&mut self.missing, "missing", value);
            }
            DifferenceKind::Extra(value) if whole_row => {
                count(&mut self.extra, "not expected", value);
            }
            DifferenceKind::Missing(value) => {
                let quote = format!("expected {}, which is missing", quote_value(value));
                self.field(path, Fault::Missing, || quote);
            }
            DifferenceKind::Extra(value) => {
                let quote = format!("not expected: {}", quote_value(value));
                self.field(path, Fault::Extra, || quote);
            }
            DifferenceKind::Changed(leaf) => {
                let quote = || {
                    let (expected, actual) =
                        (quote_value(&leaf.expected), quote_value(&leaf.actual));
                    format!("expected {expected}, got {actual}")
                };
                self.field(path, fault(leaf), quote);
            }
        }
    }

    fn field(&mut self, path: &str, fault: Fault, quote: impl FnOnce() -> String) {
        let first = self.fields.len();
        let path = cut(path, LONGEST_PATH);
        let field = self.fields.entry(path).or_insert_with(|| Field { first, ..Field::default() });
        field.faults.entry(fault).or_insert_with(|| (0, quote())).0 += 1;
    }

    fn finish(self, moved: bool) -> Vec<WrongPart> {
        let mut fields: Vec<(String, Field, usize)> = self
            .fields
            .into_iter()
            .map(|(path, field)| {
                let total = field.faults.values().map(|(count, _)| count).sum();
                (path, field, total)
            })
            .collect();
        // Fields that are there come before extra ones; else the most frequent comes first.
        let is_extra = |field: &Field| field.faults.keys().all(|fault| *fault == Fault::Extra);
        fields.sort_by_key(|(_, field, total)| {
            (is_extra(field), std::cmp::Reverse(*total), field.first)
        });
        let mut parts: Vec<WrongPart> = fields
            .into_iter()
            .take(MOST_FIELDS)
            .filter_map(|(path, field, total)| wrong_field(&path, field, total))
            .collect();
        let rows = |mode: Mode, rows: BTreeMap<String, (usize, String)>| {
            let mut rows: Vec<_> = rows.into_iter().collect();
            rows.sort_by_key(|(_, (count, _))| std::cmp::Reverse(*count));
            rows.into_iter().take(2).map(move |(list, (_, quote))| WrongPart {
                cause: Cause::new(mode, "", &list),
                quote,
            })
        };
        parts.extend(rows(Mode::MissingRows, self.missing));
        parts.extend(rows(Mode::ExtraRows, self.extra));
        if moved && parts.is_empty() {
            parts.push(WrongPart {
                cause: Cause::new(Mode::WrongOrder, "", ""),
                quote: String::new(),
            });
        }
        parts
    }
}

/// Returns the cause of a wrong field: its fault, if it is wrong in the same way nearly everywhere.
fn wrong_field(path: &str, field: Field, total: usize) -> Option<WrongPart> {
    let (fault, (count, quote)) = field
        .faults
        .into_iter()
        .max_by_key(|(fault, (count, _))| (*count, std::cmp::Reverse(*fault)))?;
    let fault = if count * 4 >= total * 3 { fault } else { Fault::Other };
    if path.is_empty() && fault == Fault::Other {
        // Prose that differs has no fault of its own.
        return None;
    }
    Some(WrongPart { cause: Cause::new(Mode::WrongField, path, &fault.words()), quote })
}

/// Returns the way in which a value is wrong.
fn fault(leaf: &Leaf<'_>) -> Fault {
    match leaf.remark {
        Some(
            Remark::OnlyCase | Remark::OnlySpaces | Remark::OnlyCaseAndSpaces | Remark::OnlyLetters,
        ) => {
            return Fault::Spelling;
        }
        Some(Remark::Date(DateRemark::DayAndMonth)) => return Fault::DayAndMonth,
        Some(Remark::Date(DateRemark::Days(_) | DateRemark::Seconds(_))) => return Fault::Date,
        _ => {}
    }
    let (expected, actual) = (leaf.expected.as_ref(), leaf.actual.as_ref());
    if let (Some(expected), Some(actual)) = (digits(expected), digits(actual)) {
        return number_fault(expected, actual);
    }
    let is_empty = |value: &Value| {
        matches!(value, Value::Null) || value.text().is_some_and(|text| text.trim().is_empty())
    };
    if is_empty(actual) && !is_empty(expected) {
        return Fault::Empty;
    }
    match (kind(expected), kind(actual)) {
        (Some(expected), Some(actual)) if expected != actual => Fault::Type(expected, actual),
        _ => Fault::Other,
    }
}

fn kind(value: &Value) -> Option<&'static str> {
    match value {
        Value::Null => None,
        Value::Bool(_) => Some("yes or no"),
        Value::Number(_) => Some("a number"),
        Value::Text(text) if text.chars().count() > PROSE => Some("prose"),
        Value::Text(_) => Some("text"),
        Value::List(_) => Some("a list"),
        Value::Map(_) => Some("an object"),
    }
}

/// Returns the text of a number, or of a text that is one.
fn digits(value: &Value) -> Option<&str> {
    let text = match value {
        Value::Number(text) | Value::Text(text) => text.as_str(),
        _ => return None,
    };
    text.parse::<f64>().is_ok_and(f64::is_finite).then_some(text)
}

#[expect(clippy::float_cmp, reason = "factors and signs are exact up to the given error")]
fn number_fault(expected: &str, actual: &str) -> Fault {
    let (Ok(e), Ok(a)) = (expected.parse::<f64>(), actual.parse::<f64>()) else {
        return Fault::Other;
    };
    if e != 0.0 && a == -e {
        return Fault::Sign;
    }
    let places = |text: &str| text.split_once('.').map_or(0, |(_, places)| places.len());
    let near = |one: f64, other: f64, places: usize| {
        let half = 0.5 * 10_f64.powi(-i32::try_from(places).unwrap_or(0));
        (one - other).abs() <= half * (1.0 + 1e-9)
    };
    if e != 0.0 && a != 0.0 {
        for power in [1, 2, 3, 6, -1, -2, -3, -6] {
            let wanted = e * 10_f64.powi(power);
            if (a - wanted).abs() <= wanted.abs() * 1e-9 {
                return Fault::Factor(power);
            }
        }
    }
    let (of_expected, of_actual) = (places(expected), places(actual));
    if of_actual > of_expected && near(a, e, of_expected) {
        return Fault::Unrounded;
    }
    if of_actual < of_expected && near(a, e, of_actual) {
        return Fault::Rounded;
    }
    if of_expected == 0 && of_actual == 0 && (a - e).abs() == 1.0 {
        return Fault::OffByOne;
    }
    Fault::Other
}

#[cfg(test)]
mod tests {
    use super::*;
    use touchstone_model::json;

    fn titles(expected: &str, answer: &str) -> Vec<String> {
        let (expected, answer) = (json::read(expected).unwrap(), json::read(answer).unwrap());
        let options = Options { key: Some(vec!["id".to_owned()]), ..Options::default() };
        let parts = wrong_parts(&expected, &answer, &options);
        parts.into_iter().map(|part| part.cause.title((0, 0))).collect()
    }

    #[test]
    fn a_field_is_wrong_in_one_of_many_ways() {
        for (expected, actual, fault) in [
            ("57.5", "5750", "is too large by a factor of 100"),
            ("1500", "1.5", "is too small by a factor of 1000"),
            ("12.5", "-12.5", "has the wrong sign"),
            ("57.5", "57.4961", "is not rounded"),
            ("57.46", "57.5", "is rounded too much"),
            ("7", "8", "is off by one"),
            ("7", "42", "has another value"),
            ("7", "\"unknown\"", "is text instead of a number"),
            ("7", "null", "is empty"),
            ("\"team\"", "\"\"", "is empty"),
            ("\"team\"", "\"Team\"", "is spelled differently"),
            ("\"team\"", "\"hobby\"", "has another value"),
            ("\"2025-01-02\"", "\"2025-01-03\"", "is another date"),
            ("[1]", "\"1\"", "is text instead of a list"),
        ] {
            let field = |value: &str| format!("{{\"total\": {value}, \"id\": 1}}");
            assert_eq!(
                titles(&field(expected), &field(actual)),
                [format!("Field `total` {fault}")],
                "{expected} {actual}"
            );
        }
    }

    #[test]
    fn fields_and_rows_are_missing_extra_or_moved() {
        let both = "[{\"id\": 1, \"a\": 2}, {\"id\": 2, \"a\": 3}]";
        for (answer, expected) in [
            ("[{\"id\": 1}, {\"id\": 2}]", "Field `a` is missing"),
            ("[{\"id\": 1, \"a\": 2}]", "Rows are missing"),
            ("[{\"id\": 2, \"a\": 3}, {\"id\": 1, \"a\": 2}]", "Rows are in another order"),
            ("{\"id\": 1}", "Answer is an object instead of a list"),
            ("\"There are two.\"", "Answer is text instead of a list"),
        ] {
            assert_eq!(titles(both, answer), [expected], "{answer}");
        }
        let extra = "[{\"id\": 1, \"a\": 2}, {\"id\": 2, \"a\": 3}, {\"id\": 9, \"a\": 3}]";
        assert_eq!(titles(both, extra), ["Rows that were not expected"]);
        let inner = |tags: &str| format!("{{\"id\": 1, \"tags\": {tags}}}");
        assert_eq!(
            titles(&inner("[\"a\", \"b\"]"), &inner("[\"a\"]")),
            ["Items of `tags` are missing"]
        );
    }

    #[test]
    fn the_field_that_is_wrong_in_most_rows_comes_first() {
        let row = |id: u32, a: u32, b: u32| format!("{{\"id\": {id}, \"a\": {a}, \"b\": {b}}}");
        let expected = format!("[{}, {}, {}]", row(1, 10, 20), row(2, 30, 40), row(3, 50, 60));
        let answer = format!("[{}, {}, {}]", row(1, 11, 2000), row(2, 30, 4000), row(3, 50, 6000));
        assert_eq!(
            titles(&expected, &answer),
            ["Field `b` is too large by a factor of 100", "Field `a` is off by one"]
        );
    }

    #[test]
    fn a_field_that_is_wrong_in_many_ways_has_another_value() {
        let expected = "[{\"id\": 1, \"a\": 10}, {\"id\": 2, \"a\": 20}]";
        let answer = "[{\"id\": 1, \"a\": 1000}, {\"id\": 2, \"a\": 21}]";
        assert_eq!(titles(expected, answer), ["Field `a` has another value"]);
    }

    #[test]
    fn a_number_as_the_whole_answer_has_a_fault_and_prose_has_none() {
        assert_eq!(titles("12.5", "1250"), ["Answer is too large by a factor of 100"]);
        assert!(titles("\"a long text\"", "\"another text\"").is_empty());
        assert!(titles("[1]", "[1]").is_empty());
    }
}
