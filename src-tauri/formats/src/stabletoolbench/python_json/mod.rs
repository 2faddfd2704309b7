//! **Pure.** JSON as Python reads and writes it: with `NaN` and `Infinity`, with the last of equal
//! keys at the position of the first, and with texts that contain half a surrogate pair. The keys
//! of API reply caches are made from it.
mod read;

pub(super) use read::Reader;
pub use read::read;

use super::python;
use std::fmt::Write as _;
use touchstone_model::json;
use touchstone_model::value::Value;

/// A value, as Python represents it.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Py {
    /// `None`.
    #[default]
    Null,
    /// `True` or `False`.
    Bool(bool),
    /// A number as written; also `NaN`, `Infinity` and `-Infinity`.
    Number(String),
    /// A text.
    Text(Codes),
    /// A list.
    List(Vec<Py>),
    /// A dictionary, in order, with unique keys.
    Map(Vec<(Codes, Py)>),
}

/// A text as code points, which may be halves of surrogate pairs.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Codes(Vec<u32>);

impl Codes {
    /// Converts to text; half a surrogate pair becomes its six-character escape.
    pub fn to_display_text(&self) -> String {
        let mut out = String::with_capacity(self.0.len());
        for code in &self.0 {
            match char::from_u32(*code) {
                Some(c) => out.push(c),
                None => drop(write!(out, "\\u{code:04x}")),
            }
        }
        out
    }

    fn push(&mut self, code: u32) {
        self.0.push(code);
    }

    fn push_str(&mut self, text: &str) {
        self.0.extend(text.chars().map(u32::from));
    }

    fn put_json(&self, out: &mut String, ascii: bool) {
        out.push('"');
        for code in &self.0 {
            match char::from_u32(*code) {
                Some('"') => out.push_str("\\\""),
                Some('\\') => out.push_str("\\\\"),
                Some('\n') => out.push_str("\\n"),
                Some('\r') => out.push_str("\\r"),
                Some('\t') => out.push_str("\\t"),
                Some('\u{8}') => out.push_str("\\b"),
                Some('\u{c}') => out.push_str("\\f"),
                Some(c) if (' '..='~').contains(&c) || (!ascii && c >= ' ') => out.push(c),
                Some(c) => {
                    let mut halves = [0; 2];
                    for half in c.encode_utf16(&mut halves) {
                        let _ = write!(out, "\\u{half:04x}");
                    }
                }
                None => drop(write!(out, "\\u{code:04x}")),
            }
        }
        out.push('"');
    }
}

impl From<&str> for Codes {
    fn from(text: &str) -> Self {
        Self(text.chars().map(u32::from).collect())
    }
}

impl From<&str> for Py {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl From<&Value> for Py {
    fn from(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(bool) => Self::Bool(*bool),
            Value::Number(text) => Self::Number(match text.as_str() {
                ".nan" => "NaN".to_owned(),
                ".inf" => "Infinity".to_owned(),
                "-.inf" => "-Infinity".to_owned(),
                _ => text.clone(),
            }),
            Value::Text(text) => text.as_str().into(),
            Value::List(items) => Self::List(items.iter().map(Self::from).collect()),
            Value::Map(entries) => {
                let key =
                    |key: &Value| key.text().map_or_else(|| json::write(key, false), str::to_owned);
                Self::Map(
                    entries.iter().map(|(k, v)| (key(k).as_str().into(), Self::from(v))).collect(),
                )
            }
        }
    }
}

impl Py {
    /// Returns the value of a key of a dictionary.
    pub fn get(&self, key: &str) -> Option<&Self> {
        let Self::Map(entries) = self else { return None };
        let wanted = Codes::from(key);
        entries.iter().find(|(known, _)| *known == wanted).map(|(_, value)| value)
    }

    /// Returns the text, if the value is one; half a surrogate pair becomes its six-character
    /// escape.
    pub fn text(&self) -> Option<String> {
        match self {
            Self::Text(codes) => Some(codes.to_display_text()),
            _ => None,
        }
    }

    /// Formats the value like `str()`: a text is not quoted.
    pub fn str(&self) -> String {
        match self {
            Self::Text(codes) => codes.to_display_text(),
            other => {
                let mut out = String::new();
                other.put_repr(&mut out);
                out
            }
        }
    }

    /// Returns the value with the keys of all dictionaries sorted.
    #[must_use]
    pub fn sorted(&self) -> Self {
        match self {
            Self::List(items) => Self::List(items.iter().map(Self::sorted).collect()),
            Self::Map(entries) => {
                let mut entries: Vec<_> =
                    entries.iter().map(|(key, value)| (key.clone(), value.sorted())).collect();
                entries.sort_by(|(a, _), (b, _)| a.cmp(b));
                Self::Map(entries)
            }
            other => other.clone(),
        }
    }

    fn put_repr(&self, out: &mut String) {
        match self {
            Self::Null => out.push_str("None"),
            Self::Bool(bool) => out.push_str(if *bool { "True" } else { "False" }),
            Self::Number(text) => out.push_str(&python::number(text)),
            Self::Text(codes) => python::put_codes(out, codes.0.iter().copied()),
            Self::List(items) => {
                out.push('[');
                for (at, item) in items.iter().enumerate() {
                    out.push_str(if at > 0 { ", " } else { "" });
                    item.put_repr(out);
                }
                out.push(']');
            }
            Self::Map(entries) => {
                out.push('{');
                for (at, (key, value)) in entries.iter().enumerate() {
                    out.push_str(if at > 0 { ", " } else { "" });
                    python::put_codes(out, key.0.iter().copied());
                    out.push_str(": ");
                    value.put_repr(out);
                }
                out.push('}');
            }
        }
    }

    /// Formats the value as JSON in the given layout.
    pub fn dumps(&self, layout: Layout) -> String {
        let mut out = String::new();
        self.put_json(&mut out, layout, 0);
        out
    }

    fn put_json(&self, out: &mut String, layout: Layout, depth: usize) {
        match self {
            Self::Null => out.push_str("null"),
            Self::Bool(bool) => out.push_str(if *bool { "true" } else { "false" }),
            Self::Number(text) => put_number(out, text, layout),
            Self::Text(codes) => codes.put_json(out, layout != Layout::Wire),
            Self::List(items) => {
                let parts = items.iter().map(|item| (None, item));
                put_parts(out, ('[', ']'), parts, layout, depth);
            }
            Self::Map(entries) => {
                let parts = entries.iter().map(|(key, value)| (Some(key), value));
                put_parts(out, ('{', '}'), parts, layout, depth);
            }
        }
    }

    /// Converts to a [`Value`] for display; half a surrogate pair becomes its six-character escape.
    pub fn value(&self) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::Bool(bool) => Value::Bool(*bool),
            Self::Number(text) => Value::Number(match text.as_str() {
                "NaN" => ".nan".to_owned(),
                "Infinity" => ".inf".to_owned(),
                "-Infinity" => "-.inf".to_owned(),
                _ => text.clone(),
            }),
            Self::Text(codes) => Value::Text(codes.to_display_text()),
            Self::List(items) => Value::List(items.iter().map(Self::value).collect()),
            Self::Map(entries) => Value::Map(
                entries
                    .iter()
                    .map(|(key, value)| (Value::Text(key.to_display_text()), value.value()))
                    .collect(),
            ),
        }
    }
}

/// Layout of JSON text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// `{"a": 1, "b": 2}`, ASCII: Python's default.
    Python,
    /// `{"a":1,"b":2}`, ASCII.
    Compact,
    /// Four spaces per level, ASCII, the format of cache files; the number is the level to start
    /// at.
    Indented(usize),
    /// `{"a":1,"b":2}`, the format of responses: characters are not escaped, and numbers that JSON
    /// does not have are texts.
    Wire,
}

fn put_parts<'a>(
    out: &mut String,
    (open, close): (char, char),
    parts: impl ExactSizeIterator<Item = (Option<&'a Codes>, &'a Py)>,
    layout: Layout,
    depth: usize,
) {
    let none = parts.len() == 0;
    out.push(open);
    for (at, (key, value)) in parts.enumerate() {
        if at > 0 {
            out.push_str(if layout == Layout::Python { ", " } else { "," });
        }
        line(out, layout, depth + 1);
        if let Some(key) = key {
            key.put_json(out, layout != Layout::Wire);
            out.push_str(if matches!(layout, Layout::Python | Layout::Indented(_)) {
                ": "
            } else {
                ":"
            });
        }
        value.put_json(out, layout, depth + 1);
    }
    if !none {
        line(out, layout, depth);
    }
    out.push(close);
}

fn line(out: &mut String, layout: Layout, depth: usize) {
    if let Layout::Indented(outer) = layout {
        out.push('\n');
        out.extend(std::iter::repeat_n("    ", outer + depth));
    }
}

fn put_number(out: &mut String, text: &str, layout: Layout) {
    let named = |written: &str| match written {
        "nan" => Some("NaN"),
        "inf" => Some("Infinity"),
        "-inf" => Some("-Infinity"),
        _ => None,
    };
    let written = python::number(text);
    match named(&written) {
        Some(name) if layout == Layout::Wire => {
            let _ = write!(out, "\"{name}\"");
        }
        Some(name) => out.push_str(name),
        None => out.push_str(&written),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_python_reads_is_read_and_written_as_python_does() {
        for (text, key, dumped) in [
            ("NaN", "nan", "NaN"),
            (
                "[-Infinity, Infinity, 1e400, -0, -0.0, 1.50]",
                "[-inf, inf, inf, 0, -0.0, 1.5]",
                "[-Infinity, Infinity, Infinity, 0, -0.0, 1.5]",
            ),
            (r#"{"a":1,"b":2,"a":3}"#, "{'a': 3, 'b': 2}", r#"{"a": 3, "b": 2}"#),
            (
                r#" {"a" : "\ude00x", "b":"\ud83d\ude00", "c":"\ud83dx"} "#,
                r"{'a': '\ude00x', 'b': '😀', 'c': '\ud83dx'}",
                r#"{"a": "\ude00x", "b": "\ud83d\ude00", "c": "\ud83dx"}"#,
            ),
            (r#""\udfff""#, r"\udfff", r#""\udfff""#),
            ("\"\u{10ffff}\u{7f}é\"", "\u{10ffff}\u{7f}é", r#""\udbff\udfff\u007f\u00e9""#),
            ("[]", "[]", "[]"),
            (r#"{"a":{},"b":[[]]}"#, "{'a': {}, 'b': [[]]}", r#"{"a": {}, "b": [[]]}"#),
        ] {
            let value = read(text).unwrap();
            assert_eq!(
                (value.str().as_str(), value.dumps(Layout::Python).as_str()),
                (key, dumped),
                "{text}"
            );
            assert_eq!(read(&value.dumps(Layout::Compact)).unwrap().str(), key, "{text}");
        }
    }

    #[test]
    fn what_python_does_not_read_is_not_read() {
        for text in [
            "",
            " ",
            "{",
            "{a:1}",
            "{'a':1}",
            "{\"a\":1,}",
            "[1,]",
            "[,1]",
            "01",
            "1.",
            ".5",
            "+1",
            "1e",
            "-",
            "-I",
            "nan",
            "True",
            "None",
            "\"a",
            "\"\n\"",
            "\"\\x\"",
            "\"\\u12\"",
            "\"\\u12é4\"",
            "1 2",
            "{\"a\" 1}",
            "\u{feff}{}",
            "Infinit",
        ] {
            assert!(read(text).is_err(), "{text:?}");
            let mut passed = Reader::new(text, false);
            passed.blanks();
            assert!(passed.value().and_then(|_| passed.end()).is_err(), "{text:?}");
        }
        assert!(read(&"[".repeat(100_000)).is_err());
    }

    #[test]
    fn the_layouts_are_those_of_caches_and_of_the_wire() {
        let value = read(r#"{"é":[1,{"n":NaN}],"e":{},"l":[]}"#).unwrap();
        assert_eq!(value.dumps(Layout::Compact), r#"{"\u00e9":[1,{"n":NaN}],"e":{},"l":[]}"#);
        assert_eq!(value.dumps(Layout::Wire), r#"{"é":[1,{"n":"NaN"}],"e":{},"l":[]}"#);
        assert_eq!(
            value.dumps(Layout::Indented(1)),
            "{\n        \"\\u00e9\": [\n            1,\n            {\n                \"n\": NaN\
             \n            }\n        ],\n        \"e\": {},\n        \"l\": []\n    }"
        );
    }

    #[test]
    fn sorting_reaches_inside() {
        let value = read(r#"{"b":[{"d":1,"c":2}],"a":"x"}"#).unwrap();
        assert_eq!(value.sorted().str(), "{'a': 'x', 'b': [{'c': 2, 'd': 1}]}");
    }

    #[test]
    fn our_values_and_pythons_are_the_same() {
        let value = json::read(r#"{"a":[null,true,1.50,"x\u00e9"],"b":{}}"#).unwrap();
        assert_eq!(Py::from(&value).value(), value);
        assert_eq!(
            Py::from(&read("[NaN, -Infinity]").unwrap().value()),
            read("[NaN, -Infinity]").unwrap()
        );
    }
}
