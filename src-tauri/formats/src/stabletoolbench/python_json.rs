//! **Pure.** JSON as Python reads and writes it: `NaN` and `Infinity`, the last of two equal keys in the place of the first, and texts
//! that hold half of a surrogate pair. Keys of caches of API replies are made of it.
use super::python;
use crate::error::{ReadError, ReadErrorKind};
use crate::json;
use crate::value::Value;
use std::collections::HashMap;
use std::fmt::Write as _;

/// Lists and objects inside each other that are followed.
const DEPTH: usize = 200;

/// A value, as Python holds it.
#[derive(Debug, Clone, PartialEq)]
pub enum Py {
    /// `None`.
    Null,
    /// `True` or `False`.
    Bool(bool),
    /// A number as written; also `NaN`, `Infinity` and `-Infinity`.
    Number(String),
    /// A text.
    Text(Codes),
    /// A list.
    List(Vec<Py>),
    /// A dictionary, in order, no key twice.
    Map(Vec<(Codes, Py)>),
}

/// A text by its code points, which may be halves of surrogate pairs.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Codes(Vec<u32>);

impl Codes {
    /// As text; half a pair becomes the six characters that stand for it.
    pub fn shown(&self) -> String {
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
                let key = |key: &Value| key.text().map_or_else(|| json::write(key, false), str::to_owned);
                Self::Map(entries.iter().map(|(k, v)| (key(k).as_str().into(), Self::from(v))).collect())
            }
        }
    }
}

/// Reads a JSON text as Python does.
pub fn read(text: &str) -> Result<Py, ReadError> {
    let mut reader = Reader::new(text, true);
    reader.blanks();
    let value = reader.value()?;
    reader.end()?;
    Ok(value)
}

impl Py {
    /// The value of a key of a dictionary.
    pub fn get(&self, key: &str) -> Option<&Self> {
        let Self::Map(entries) = self else { return None };
        let wanted = Codes::from(key);
        entries.iter().find(|(known, _)| *known == wanted).map(|(_, value)| value)
    }

    /// The text, with halves of pairs as the six characters that stand for them.
    pub fn text(&self) -> Option<String> {
        match self {
            Self::Text(codes) => Some(codes.shown()),
            _ => None,
        }
    }

    /// `str()`: a text by itself is bare.
    pub fn str(&self) -> String {
        match self {
            Self::Text(codes) => codes.shown(),
            other => {
                let mut out = String::new();
                other.put_repr(&mut out);
                out
            }
        }
    }

    /// The same with the keys of all dictionaries in order.
    #[must_use]
    pub fn sorted(&self) -> Self {
        match self {
            Self::List(items) => Self::List(items.iter().map(Self::sorted).collect()),
            Self::Map(entries) => {
                let mut entries: Vec<_> = entries.iter().map(|(key, value)| (key.clone(), value.sorted())).collect();
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

    /// JSON as Python writes it by default, in ASCII.
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

    /// As our own values are, for showing: half a pair becomes six characters.
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
            Self::Text(codes) => Value::Text(codes.shown()),
            Self::List(items) => Value::List(items.iter().map(Self::value).collect()),
            Self::Map(entries) => {
                Value::Map(entries.iter().map(|(key, value)| (Value::Text(key.shown()), value.value())).collect())
            }
        }
    }
}

/// How JSON is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// `{"a": 1, "b": 2}`, ASCII.
    Python,
    /// `{"a":1,"b":2}`, ASCII.
    Compact,
    /// Four spaces a level, ASCII, as caches are written; so many levels deep already.
    Indented(usize),
    /// `{"a":1,"b":2}` as it goes over the wire: every letter as it is, and what JSON has no number for as text.
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
            out.push_str(if matches!(layout, Layout::Python | Layout::Indented(_)) { ": " } else { ":" });
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

/// A text and how far it was read. Without `build` values are only passed over.
pub(super) struct Reader<'a> {
    text: &'a str,
    pub(super) at: usize,
    depth: usize,
    pub(super) build: bool,
}

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str, build: bool) -> Self {
        Self { text, at: 0, depth: 0, build }
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    pub(super) fn fault(&self, message: &str) -> ReadError {
        let kind = if self.at >= self.text.len() { ReadErrorKind::Truncated } else { ReadErrorKind::Syntax };
        ReadError::at(kind, self.text, self.at.min(self.text.len()), message.to_owned())
    }

    pub(super) fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.at += 1;
        }
    }

    pub(super) fn end(&mut self) -> Result<(), ReadError> {
        self.blanks();
        if self.at < self.text.len() {
            Err(self.fault("There is more after the end of the JSON value."))
        } else {
            Ok(())
        }
    }

    pub(super) fn value(&mut self) -> Result<Py, ReadError> {
        match self.peek() {
            Some(b'{') => self.nested(Self::map),
            Some(b'[') => self.nested(Self::list),
            Some(b'"') => self.string().map(Py::Text),
            Some(b'-' | b'0'..=b'9') if !self.rest().starts_with("-I") => self.number(),
            _ => self.word(),
        }
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn nested(&mut self, read: fn(&mut Self) -> Result<Py, ReadError>) -> Result<Py, ReadError> {
        if self.depth >= DEPTH {
            let message = format!("Lists and objects are nested deeper than {DEPTH} levels.");
            return Err(ReadError::at(ReadErrorKind::TooDeep, self.text, self.at, message));
        }
        self.depth += 1;
        self.at += 1;
        self.blanks();
        let value = read(self);
        self.depth -= 1;
        value
    }

    fn list(&mut self) -> Result<Py, ReadError> {
        let mut items = Vec::new();
        if self.closes(b']') {
            return Ok(Py::List(items));
        }
        loop {
            let item = self.value()?;
            if self.build {
                items.push(item);
            }
            if !self.comma(b']')? {
                return Ok(Py::List(items));
            }
        }
    }

    fn map(&mut self) -> Result<Py, ReadError> {
        let mut entries: Vec<(Codes, Py)> = Vec::new();
        let mut places: HashMap<Codes, usize> = HashMap::new();
        if self.closes(b'}') {
            return Ok(Py::Map(entries));
        }
        loop {
            let key = self.key()?;
            let value = self.value()?;
            if self.build {
                let at = *places.entry(key.clone()).or_insert(entries.len());
                match entries.get_mut(at) {
                    Some(entry) => entry.1 = value,
                    None => entries.push((key, value)),
                }
            }
            if !self.comma(b'}')? {
                return Ok(Py::Map(entries));
            }
        }
    }

    /// A key with its colon and the blanks after it.
    pub(super) fn key(&mut self) -> Result<Codes, ReadError> {
        if self.peek() != Some(b'"') {
            return Err(self.fault("A key in double quotes is missing here."));
        }
        let key = self.string()?;
        self.blanks();
        if self.peek() != Some(b':') {
            return Err(self.fault("A colon is missing after the key."));
        }
        self.at += 1;
        self.blanks();
        Ok(key)
    }

    pub(super) fn closes(&mut self, end: u8) -> bool {
        let closes = self.peek() == Some(end);
        self.at += usize::from(closes);
        closes
    }

    /// Passes a comma and the blanks around it; false after the end of the list or object.
    pub(super) fn comma(&mut self, end: u8) -> Result<bool, ReadError> {
        self.blanks();
        if self.closes(end) {
            return Ok(false);
        }
        if self.peek() != Some(b',') {
            return Err(self.fault("A comma or an end is missing here."));
        }
        self.at += 1;
        self.blanks();
        Ok(true)
    }

    fn number(&mut self) -> Result<Py, ReadError> {
        let start = self.at;
        self.at += usize::from(self.peek() == Some(b'-'));
        if self.peek() == Some(b'0') {
            self.at += 1;
        } else if self.digits() == 0 {
            return Err(self.fault("A number is missing here."));
        }
        // What follows a number and does not belong to it is found by whoever reads on.
        if self.peek() == Some(b'.') {
            self.at += 1;
            if self.digits() == 0 {
                return Err(self.fault("Digits are missing after the point."));
            }
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            self.at += usize::from(matches!(self.peek(), Some(b'+' | b'-')));
            if self.digits() == 0 {
                return Err(self.fault("Digits are missing in the exponent."));
            }
        }
        Ok(if self.build { Py::Number(self.text[start..self.at].to_owned()) } else { Py::Null })
    }

    fn digits(&mut self) -> usize {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        self.at - start
    }

    fn word(&mut self) -> Result<Py, ReadError> {
        let number = |text: &str| Py::Number(text.to_owned());
        let words: [(&str, Py); 6] = [
            ("null", Py::Null),
            ("true", Py::Bool(true)),
            ("false", Py::Bool(false)),
            ("NaN", number("NaN")),
            ("Infinity", number("Infinity")),
            ("-Infinity", number("-Infinity")),
        ];
        let rest = self.rest();
        match words.into_iter().find(|(word, _)| rest.starts_with(word)) {
            Some((word, value)) => {
                self.at += word.len();
                Ok(value)
            }
            None => Err(self.fault("This is no JSON value.")),
        }
    }

    fn string(&mut self) -> Result<Codes, ReadError> {
        self.at += 1;
        let mut out = Codes::default();
        loop {
            let rest = self.rest();
            let Some(stop) = rest.bytes().position(|byte| byte == b'"' || byte == b'\\' || byte < 0x20) else {
                self.at = self.text.len();
                return Err(self.fault("A text that is not closed."));
            };
            if self.build {
                out.push_str(&rest[..stop]);
            }
            self.at += stop;
            match rest.as_bytes()[stop] {
                b'"' => {
                    self.at += 1;
                    return Ok(out);
                }
                b'\\' => self.escape(&mut out)?,
                _ => return Err(self.fault("A line break or control character inside a text.")),
            }
        }
    }

    fn escape(&mut self, out: &mut Codes) -> Result<(), ReadError> {
        self.at += 1;
        let letter = match self.peek() {
            Some(letter @ (b'"' | b'\\' | b'/')) => u32::from(letter),
            Some(b'b') => 0x8,
            Some(b'f') => 0xc,
            Some(b'n') => 0xa,
            Some(b'r') => 0xd,
            Some(b't') => 0x9,
            Some(b'u') => {
                let high = self.hex()?;
                let low = self.clone_at().low();
                return match low.filter(|_| (0xD800..0xDC00).contains(&high)) {
                    Some(low) => {
                        self.at += 6;
                        out.push(0x1_0000 + ((high - 0xD800) << 10) + (low - 0xDC00));
                        Ok(())
                    }
                    None => {
                        out.push(high);
                        Ok(())
                    }
                };
            }
            _ => return Err(self.fault("An unknown escape.")),
        };
        out.push(letter);
        self.at += 1;
        Ok(())
    }

    fn clone_at(&self) -> Self {
        Self { text: self.text, at: self.at, depth: self.depth, build: false }
    }

    /// The second half of a pair, when it is what comes next.
    fn low(mut self) -> Option<u32> {
        if !self.rest().starts_with("\\u") {
            return None;
        }
        self.at += 1;
        self.hex().ok().filter(|low| (0xDC00..0xE000).contains(low))
    }

    /// Four hexadecimal digits after the letter we are at.
    fn hex(&mut self) -> Result<u32, ReadError> {
        let digits = self.text.get(self.at + 1..self.at + 5).filter(|text| text.bytes().all(|b| b.is_ascii_hexdigit()));
        let Some(code) = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok()) else {
            return Err(self.fault("\\u needs four hexadecimal digits."));
        };
        self.at += 5;
        Ok(code)
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
            assert_eq!((value.str().as_str(), value.dumps(Layout::Python).as_str()), (key, dumped), "{text}");
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
            "{\n        \"\\u00e9\": [\n            1,\n            {\n                \"n\": NaN\n            }\n        ],\n        \"e\": {},\n        \"l\": []\n    }"
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
        assert_eq!(Py::from(&read("[NaN, -Infinity]").unwrap().value()), read("[NaN, -Infinity]").unwrap());
    }
}
