//! **Pure.** Compares two values as wholes: numbers by value, texts literally, with a remark on
//! their difference.
use super::number::Number;
use super::text::{Text, text};
use super::{DateRemark, Dates, Leaf, Options, Remark, dates};
use std::borrow::Cow;
use touchstone_model::value::Value;
use unicode_normalization::UnicodeNormalization as _;

/// Compares two values that are not both lists or both objects, and are not exactly equal.
pub(super) fn compare<'a>(expected: &'a Value, actual: &'a Value, options: &Options) -> Leaf<'a> {
    let type_differs = std::mem::discriminant(expected) != std::mem::discriminant(actual);
    let mut leaf = Leaf {
        equal: means_same(expected, actual),
        expected: Cow::Borrowed(expected),
        actual: Cow::Borrowed(actual),
        type_differs,
        remark: None,
    };
    if leaf.equal {
        return leaf;
    }
    if let (Value::Text(expected), Value::Text(actual)) = (expected, actual) {
        leaf.remark = of_texts(expected, actual);
        leaf.equal = leaf.remark == Some(Remark::Date(DateRemark::OtherNotation))
            && options.dates == Dates::ByMeaning;
    } else if let (Some(tolerance), Some(expected), Some(actual)) =
        (options.tolerance, number(expected), number(actual))
        && expected.is_near(&actual, tolerance)
    {
        leaf.equal = true;
        leaf.remark = Some(Remark::WithinTolerance);
    }
    leaf
}

impl Leaf<'_> {
    /// Returns the changes inside two different texts; empty for anything else. The budget is as in
    /// [`Options::budget`].
    pub fn pieces(&self, budget: u64) -> Text {
        match (self.expected.text(), self.actual.text()) {
            (Some(expected), Some(actual)) if !self.equal => text(expected, actual, budget),
            _ => Text::default(),
        }
    }
}

/// Returns true if two scalar values mean the same. A text equals the number or boolean that it
/// spells.
pub(super) fn means_same(a: &Value, b: &Value) -> bool {
    if a == b {
        return true;
    }
    match (a, b) {
        (Value::Number(_), Value::Number(_) | Value::Text(_))
        | (Value::Text(_), Value::Number(_)) => number(a).is_some_and(|a| number(b) == Some(a)),
        (Value::Bool(bool), Value::Text(text)) | (Value::Text(text), Value::Bool(bool)) => {
            text.eq_ignore_ascii_case(if *bool { "true" } else { "false" })
        }
        _ => false,
    }
}

/// Returns the number that a value is or spells.
pub(super) fn number(value: &Value) -> Option<Number<'_>> {
    match value {
        Value::Number(text) => Number::read(text),
        Value::Text(text) => Number::parse_text(text),
        _ => None,
    }
}

fn of_texts(expected: &str, actual: &str) -> Option<Remark> {
    if let (Some(a), Some(b)) = (Number::parse_text(expected), Number::parse_text(actual)) {
        return (a == b).then_some(Remark::SameNumber);
    }
    if let Some(remark) = dates::remark(expected, actual) {
        return Some(Remark::Date(remark));
    }
    if !(expected.is_ascii() && actual.is_ascii()) && expected.nfc().eq(actual.nfc()) {
        return Some(Remark::OnlyLetters);
    }
    if lower(expected.chars()).eq(lower(actual.chars())) {
        return Some(Remark::OnlyCase);
    }
    if dense(expected).eq(dense(actual)) {
        return Some(Remark::OnlySpaces);
    }
    lower(dense(expected)).eq(lower(dense(actual))).then_some(Remark::OnlyCaseAndSpaces)
}

fn lower(text: impl Iterator<Item = char>) -> impl Iterator<Item = char> {
    text.flat_map(char::to_lowercase)
}

fn dense(text: &str) -> impl Iterator<Item = char> {
    text.chars().filter(|c| !c.is_whitespace())
}

#[cfg(test)]
mod tests {
    use super::*;
    use touchstone_model::yaml;

    fn leaf(expected: &str, actual: &str) -> Leaf<'static> {
        let (expected, actual) = (yaml::read(expected).unwrap(), yaml::read(actual).unwrap());
        let leaf = compare(&expected, &actual, &Options::default());
        Leaf { expected: Cow::Owned(expected.clone()), actual: Cow::Owned(actual.clone()), ..leaf }
    }

    #[test]
    fn a_text_means_the_number_or_the_yes_or_no_that_it_spells_and_is_of_another_type() {
        for (a, b) in
            [("'84.10'", "84.1"), ("100", "'1e2'"), ("true", "'True'"), ("'false'", "false")]
        {
            let leaf = leaf(a, b);
            assert!(leaf.equal && leaf.type_differs, "{a} {b}");
        }
        for (a, b) in [("84.10", "84.1"), ("1e2", "100"), (".nan", ".NaN")] {
            let leaf = leaf(a, b);
            assert!(leaf.equal && !leaf.type_differs && leaf.remark.is_none(), "{a} {b}");
        }
        for (a, b) in [
            ("'007'", "7"),
            ("true", "1"),
            ("'null'", "null"),
            ("''", "null"),
            ("0", "false"),
            ("[]", "{}"),
        ] {
            let leaf = leaf(a, b);
            assert!(!leaf.equal && leaf.type_differs, "{a} {b}");
        }
    }

    #[test]
    fn what_is_to_be_said_of_two_texts_is_said() {
        for (a, b, remark) in [
            ("'1.10'", "'1.1'", Some(Remark::SameNumber)),
            ("'1.10'", "'1.2'", None),
            ("Free", "FREE", Some(Remark::OnlyCase)),
            ("a b", "'ab '", Some(Remark::OnlySpaces)),
            ("a b", "AB", Some(Remark::OnlyCaseAndSpaces)),
            ("caf\u{e9}", "cafe\u{301}", Some(Remark::OnlyLetters)),
            ("\u{212b}", "\u{c5}", Some(Remark::OnlyLetters)),
            ("caf\u{e9}", "cafe", None),
            ("free", "base", None),
            ("'2024-01-02'", "'2024-01-03'", Some(Remark::Date(DateRemark::Days(1)))),
        ] {
            let leaf = leaf(a, b);
            assert!(
                !leaf.equal && !leaf.type_differs && !leaf.pieces(1_000).pieces.is_empty(),
                "{a} {b}"
            );
            assert_eq!(leaf.remark, remark, "{a} {b}");
        }
        let same_day = leaf("'2024-01-02'", "'Jan 2, 2024'");
        assert!(same_day.equal && same_day.remark == Some(Remark::Date(DateRemark::OtherNotation)));
    }
}
