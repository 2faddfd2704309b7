//! **Pure.** Short display texts for values and remarks.
use super::{DateRemark, Leaf, Remark};
use std::borrow::Cow;
use touchstone_model::json;
use touchstone_model::value::Value;

/// Relation of two values, for display.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Equal.
    Same,
    /// Equal in another notation.
    Alike,
    /// Different values.
    Changed,
    /// Only on the expected side.
    Missing,
    /// Only on the actual side.
    Extra,
}

/// Returns a value as text: texts and numbers as they are, the rest as JSON.
pub fn words(value: &Value) -> Cow<'_, str> {
    match value {
        Value::Text(text) | Value::Number(text) => Cow::Borrowed(text),
        Value::Bool(bool) => Cow::Borrowed(if *bool { "true" } else { "false" }),
        Value::Null => Cow::Borrowed("null"),
        Value::List(_) | Value::Map(_) => Cow::Owned(json::write(value, false)),
    }
}

/// Formats a count with its noun: `1 row`, `3 rows`.
pub(super) fn counted(count: usize, thing: &str) -> String {
    if count == 1 {
        return format!("1 {thing}");
    }
    match thing.strip_suffix('y') {
        Some(start) if !start.ends_with(['a', 'e', 'o']) => format!("{count} {start}ies"),
        _ => format!("{count} {thing}s"),
    }
}

/// Describes a value on one line; texts and numbers are cut to at most this many characters.
pub(crate) fn brief(value: &Value, most: usize) -> String {
    match value {
        Value::List(items) if items.is_empty() => "an empty list".to_owned(),
        Value::List(items) => format!("a list of {}", items.len()),
        Value::Map(entries) if entries.is_empty() => "an empty object".to_owned(),
        Value::Map(entries) => format!("an object of {}", counted(entries.len(), "field")),
        Value::Text(text) if text.trim().is_empty() => format!("\"{}\"", cut(text, most)),
        value => cut(&words(value), most),
    }
}

/// Returns the beginning of a text, on one line.
pub(crate) fn cut(text: &str, most: usize) -> String {
    let mut out = String::new();
    let mut blank = false;
    for (count, c) in text.trim().chars().enumerate() {
        if count >= most {
            out.push('…');
            return out;
        }
        if !(c.is_whitespace() && blank) {
            out.push(if c.is_whitespace() { ' ' } else { c });
        }
        blank = c.is_whitespace();
    }
    out
}

/// Returns the name of a value's type.
pub(super) fn kind_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "yes or no",
        Value::Number(_) => "number",
        Value::Text(_) => "text",
        Value::List(_) => "list",
        Value::Map(_) => "object",
    }
}

impl Leaf<'_> {
    /// Returns the relation of the two values.
    pub fn kind(&self) -> Kind {
        if self.equal { Kind::Alike } else { Kind::Changed }
    }

    /// Returns a short remark on the two values: `text instead of number`, `same day, other
    /// notation`.
    pub fn note(&self) -> Option<String> {
        if self.type_differs {
            let near = if self.remark == Some(Remark::WithinTolerance) {
                ", within tolerance"
            } else {
                ""
            };
            return Some(format!(
                "{} instead of {}{near}",
                kind_name(&self.actual),
                kind_name(&self.expected)
            ));
        }
        // `84.10` and `84.1` need no remark.
        Some(match self.remark? {
            Remark::WithinTolerance => "within tolerance".to_owned(),
            Remark::SameNumber => "the same number, written otherwise".to_owned(),
            Remark::OnlyCase => "only upper and lower case differ".to_owned(),
            Remark::OnlySpaces => "only white space differs".to_owned(),
            Remark::OnlyCaseAndSpaces => "only case and white space differ".to_owned(),
            Remark::OnlyLetters => {
                "they look the same, but letters are written with other characters".to_owned()
            }
            Remark::Date(remark) => of_dates(remark),
        })
    }
}

fn of_dates(remark: DateRemark) -> String {
    let off = |count: i64, thing: &str| {
        let word = if count < 0 { "earlier" } else { "later" };
        format!(
            "{} {word}",
            counted(usize::try_from(count.unsigned_abs()).unwrap_or(usize::MAX), thing)
        )
    };
    match remark {
        DateRemark::OtherNotation => "same date, other notation".to_owned(),
        DateRemark::OtherPrecision => "same day, one with a time".to_owned(),
        DateRemark::DayAndMonth => "same date if day and month are swapped".to_owned(),
        DateRemark::Days(days) => off(days, "day"),
        DateRemark::Seconds(0) => "less than a second apart".to_owned(),
        DateRemark::Seconds(seconds) if seconds % 3600 == 0 => off(seconds / 3600, "hour"),
        DateRemark::Seconds(seconds) if seconds % 60 == 0 => off(seconds / 60, "minute"),
        DateRemark::Seconds(seconds) => off(seconds, "second"),
    }
}
