//! **Pure.** Hashes of values and texts in normal form, without irrelevant detail: key order,
//! number notation, whitespace in SQL, times of the run, call ids. Equal forms mean the same.
use std::borrow::Cow;
use std::hash::{DefaultHasher, Hasher as _};
use touchstone_model::run::Language;
use touchstone_model::value::Value;
use touchstone_model::{answer, json};

/// Minimum number of different values in a table for it to be evidence that two calls that return
/// it requested the same.
const SUBSTANCE: usize = 6;

/// Details that hold only for one run.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RunDetails<'a> {
    /// Day on which the run began, as in `2026-01-31`.
    pub(crate) day: Option<&'a str>,
    /// Id of the call.
    pub(crate) call: Option<&'a str>,
}

pub(crate) fn hash_of(thing: impl std::hash::Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    thing.hash(&mut hasher);
    hasher.finish()
}

/// Returns the hash of a value exactly as it is, except for the order of keys.
pub(crate) fn exact(value: &Value) -> u64 {
    walk(value, &|text| hash_of(text), &|number| hash_of(number))
}

/// Returns the hash of a value's meaning: in normal form, by language.
pub(crate) fn meaning(value: &Value, language: Language, own: RunDetails<'_>) -> u64 {
    match (value, language) {
        (Value::Text(text), Language::Sql) => hash_of(sql(&without_run_details(text, own))),
        (Value::Text(text), Language::Json) => match answer::parse(text) {
            Some((value, _)) => meaning(&value, Language::Plain, own),
            None => hash_of(collapse_whitespace(&without_run_details(text, own))),
        },
        (value, _) => walk(
            value,
            &|text| hash_of(collapse_whitespace(&without_run_details(text, own))),
            &|text| hash_of(number(text)),
        ),
    }
}

/// Returns the hash of a table's contents, regardless of column names and row order. `None` for
/// anything but a table, and for tables with so few values that two may be equal by chance.
pub(crate) fn table(value: &Value) -> Option<u64> {
    let rows = match value {
        Value::Map(entries) => {
            entries.iter().map(|(_, value)| value.items()).find(|items| is_table(items))?
        }
        value => value.items(),
    };
    if !is_table(rows) {
        return None;
    }
    let mut different = std::collections::HashSet::new();
    let mut hashes: Vec<u64> = Vec::with_capacity(rows.len());
    for row in rows {
        let cell = |value: &Value| meaning(value, Language::Plain, RunDetails::default());
        let mut cells: Vec<u64> = row.entries().iter().map(|(_, value)| cell(value)).collect();
        if different.len() < SUBSTANCE {
            let says = |value: &Value| {
                !matches!(value, Value::Null | Value::Bool(_)) && json::length(value, false) > 1
            };
            different.extend(
                row.entries().iter().filter(|(_, value)| says(value)).map(|(_, value)| cell(value)),
            );
        }
        cells.sort_unstable();
        hashes.push(hash_of(cells));
    }
    hashes.sort_unstable();
    (different.len() >= SUBSTANCE).then(|| hash_of(hashes))
}

fn is_table(items: &[Value]) -> bool {
    !items.is_empty()
        && items.iter().all(|item| matches!(item, Value::Map(entries) if !entries.is_empty()))
}

fn walk(value: &Value, text: &dyn Fn(&str) -> u64, number: &dyn Fn(&str) -> u64) -> u64 {
    match value {
        Value::Null => hash_of(0_u8),
        Value::Bool(bool) => hash_of((1_u8, bool)),
        Value::Number(digits) => hash_of((2_u8, number(digits))),
        Value::Text(words) => hash_of((3_u8, text(words))),
        Value::List(items) => {
            hash_of((4_u8, items.iter().map(|item| walk(item, text, number)).collect::<Vec<_>>()))
        }
        Value::Map(entries) => {
            let entry = |(key, value): &(Value, Value)| {
                (walk(key, text, number), walk(value, text, number))
            };
            let mut entries: Vec<_> = entries.iter().map(entry).collect();
            entries.sort_unstable();
            hash_of((5_u8, entries))
        }
    }
}

/// Returns a number in normal form: `1.50` becomes `1.5`. A number with more digits than a float
/// can hold stays unchanged.
fn number(text: &str) -> String {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    match text.parse::<f64>() {
        Ok(number) if digits <= 15 && number.is_finite() => (number + 0.0).to_string(),
        _ => text.to_owned(),
    }
}

/// Collapses whitespace to single spaces.
pub(crate) fn collapse_whitespace(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

/// Returns SQL without comments, in lower case outside quotes, with one space between tokens.
pub(crate) fn sql(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = if rest.starts_with("--") {
            rest.find('\n').unwrap_or(rest.len())
        } else if let Some(comment) = rest.strip_prefix("/*") {
            comment.find("*/").map_or(rest.len(), |at| at + 4)
        } else if matches!(first, '\'' | '"' | '`') {
            let end = rest[1..].find(first).map_or(rest.len(), |at| at + 2);
            push(&mut out, &rest[..end], false);
            end
        } else if is_word(first) {
            let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
            push(&mut out, &rest[..end], true);
            end
        } else {
            let end = first.len_utf8();
            if !first.is_whitespace() {
                push(&mut out, &rest[..end], false);
            }
            end
        };
        rest = &rest[end..];
    }
    while let Some(shorter) = out.strip_suffix(';') {
        out.truncate(shorter.trim_end().len());
    }
    out
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '.'
}

fn push(out: &mut String, token: &str, small: bool) {
    if !out.is_empty() {
        out.push(' ');
    }
    if small { out.extend(token.chars().flat_map(char::to_lowercase)) } else { out.push_str(token) }
}

/// Replaces details that differ between otherwise equal runs: the call id, timestamps on the day on
/// which the run began, names of temporary files, memory addresses.
pub(crate) fn without_run_details<'t>(text: &'t str, own: RunDetails<'_>) -> Cow<'t, str> {
    let mut out = Cow::Borrowed(text);
    if let Some(id) = own.call.filter(|id| id.len() >= 6 && text.contains(id)) {
        out = Cow::Owned(text.replace(id, "\u{b7}"));
    }
    if let Some(day) = own.day {
        out = without(out, day, |rest| Some(rest.len() - time(rest).len()));
    }
    out = without(out, "/tmp/tmp", |rest| {
        let name = rest.get(..8)?;
        name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_').then_some(8)
    });
    without(out, " at 0x", |rest| {
        rest.find(|c: char| !c.is_ascii_hexdigit()).filter(|end| *end >= 6)
    })
}

/// Replaces each `mark`, together with as many bytes after it as `length` returns. Where `length`
/// returns `None`, the mark stays.
fn without<'t>(
    text: Cow<'t, str>,
    mark: &str,
    length: impl Fn(&str) -> Option<usize>,
) -> Cow<'t, str> {
    if !text.contains(mark) {
        return text;
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_ref();
    while let Some(at) = rest.find(mark) {
        let after = &rest[at + mark.len()..];
        let end = length(after);
        out.push_str(&rest[..at]);
        out.push_str(if end.is_some() { "\u{b7}" } else { mark });
        rest = &after[end.unwrap_or(0)..];
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Returns the rest of the text after a time of day (`T10:00:00.123Z`, ` 10:00+01:00`).
fn time(text: &str) -> &str {
    let Some(clock) = text.strip_prefix(['T', ' ']) else { return text };
    let clock_length =
        clock.find(|c: char| !c.is_ascii_digit() && c != ':' && c != '.').unwrap_or(clock.len());
    if clock_length < 5 || clock.as_bytes().get(2) != Some(&b':') {
        return text;
    }
    let rest = &clock[clock_length..];
    match rest.strip_prefix(['+', '-']) {
        Some(zone) if zone.starts_with(|c: char| c.is_ascii_digit()) => {
            zone.trim_start_matches(|c: char| c.is_ascii_digit() || c == ':')
        }
        _ => rest.strip_prefix('Z').unwrap_or(rest),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Value {
        json::read(text).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn values_are_compared_by_meaning_and_not_notation() {
        let own = RunDetails { day: Some("2026-01-31"), call: Some("call_123") };
        let meaning = |text: &str| super::meaning(&value(text), Language::Plain, own);
        for (a, b, equal) in [
            (r#"{"a": 1, "b": [1.50]}"#, r#"{"b": [1.5], "a": 1.0}"#, true),
            (r"[1, 2]", r"[2, 1]", false),
            (r#"["1"]"#, r"[1]", false),
            (r"[123456789012345678]", r"[123456789012345679]", false),
            (r#"["at 2026-01-31T10:00:00.5Z"]"#, r#"["at 2026-01-31 11:30"]"#, true),
            (r#"["at 2026-01-30T10:00:00.5Z"]"#, r#"["at 2026-01-29T10:00:00.5Z"]"#, false),
            (r#"["2026-01-31T10:00:00+01:00."]"#, r#"["2026-01-31."]"#, true),
            (r#"["see call_123, please"]"#, r#"["see \u00b7, please"]"#, true),
            (r#"["File \"/tmp/tmpasl2zc3j.py\""]"#, r#"["File \"/tmp/tmp01234567.py\""]"#, true),
            (r#"["/tmp/report.csv"]"#, r#"["/tmp/summary.csv"]"#, false),
            (r#"["<A at 0x7f0012345678>"]"#, r#"["<A at 0x7f0012ffffff>"]"#, true),
            (r#"["two  words\n"]"#, r#"["two words"]"#, true),
        ] {
            assert_eq!(meaning(a) == meaning(b), equal, "{a} / {b}");
        }
        assert_ne!(exact(&value("[1.0]")), exact(&value("[1]")));
        assert_eq!(exact(&value(r#"{"a": 1, "b": 2}"#)), exact(&value(r#"{"b": 2, "a": 1}"#)));
    }

    #[test]
    fn sql_is_the_same_whatever_its_spaces_comments_and_capitals() {
        for (a, b, equal) in [
            ("SELECT a,b FROM t;", "select a ,  b\n  from T -- all of it\n;", true),
            ("SELECT 'A' FROM t", "SELECT 'a' FROM t", false),
            ("SELECT \"A\"", "SELECT \"a\"", false),
            ("SELECT 'it''s  so'", "SELECT 'it''s so'", false),
            ("SELECT 1 /* one */", "SELECT 1", true),
            ("SELECT a FROM t", "SELECT b FROM t", false),
            ("SELECT 'open", "SELECT 'open", true),
            ("SELECT 1.50", "SELECT 1.5", false),
            ("", ";", true),
        ] {
            assert_eq!(sql(a) == sql(b), equal, "{a} / {b}");
        }
    }

    #[test]
    fn tables_are_equal_by_what_they_hold_and_only_when_that_says_something() {
        let wide =
            r#"[{"id": 10, "name": "ann"}, {"id": 11, "name": "bob"}, {"id": 12, "name": "eve"}]"#;
        let renamed = r#"[{"n": "eve", "ticket": 12.0}, {"n": "ann", "ticket": 10}, {"n": "bob", "ticket": 11}]"#;
        assert_eq!(table(&value(wide)), table(&value(renamed)));
        assert!(table(&value(wide)).is_some());
        assert_eq!(
            table(&value(wide)),
            table(&value(&format!(r#"{{"rows": {wide}, "count": 3}}"#)))
        );
        let other = wide.replace("eve", "eva");
        assert_ne!(table(&value(wide)), table(&value(&other)));
        for small in [
            "[]",
            "null",
            r#"[{"count": 42}]"#,
            r"[1, 2, 3, 4, 5, 6, 7]",
            r#"{"stdout": "", "exitCode": 0}"#,
        ] {
            assert_eq!(table(&value(small)), None, "{small}");
        }
    }
}
