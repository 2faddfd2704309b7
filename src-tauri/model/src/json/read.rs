//! **Pure.** The JSON parser.
use std::borrow::Cow;

use super::open::{Object, Open};
use super::{DEPTH, Mode};
use crate::error::{ReadError, ReadErrorKind};
use crate::value::Value;
use crate::yaml::NODES;

/// A text with the current read position.
pub struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    deepest: usize,
    nodes: usize,
    mode: Mode,
}

impl<'a> Reader<'a> {
    /// Creates a reader at the start of a text.
    pub fn new(text: &'a str, mode: Mode) -> Self {
        Reader { text, at: 0, depth: 0, deepest: DEPTH, nodes: 0, mode }
    }

    /// Sets another maximum depth for values that are read. Values that are skipped keep the
    /// default.
    pub(super) fn down_to(self, deepest: usize) -> Self {
        Reader { deepest, ..self }
    }

    pub(super) fn document(self) -> Result<Value, ReadError> {
        self.parse_all(Self::value)
    }

    /// Parses the whole text as one value with `read`, which may read or skip it. Fails if the text
    /// is empty or has more after the value.
    pub fn parse_all<T>(
        mut self,
        read: impl FnOnce(&mut Self) -> Result<T, ReadError>,
    ) -> Result<T, ReadError> {
        self.skip()?;
        if self.at == self.text.len() {
            return Err(ReadError::new(ReadErrorKind::Truncated, "The JSON text is empty."));
        }
        let value = read(&mut self)?;
        self.skip()?;
        if self.at < self.text.len() {
            return Err(self.fault("There is more after the end of the JSON value."));
        }
        Ok(value)
    }

    /// Returns the current byte offset.
    pub fn offset(&self) -> usize {
        self.at
    }

    /// Skips a value. Validates it like a parse does, except for duplicate keys.
    pub fn pass(&mut self) -> Result<(), ReadError> {
        self.count()?;
        match self.peek() {
            Some(b'{') => self.entries(|reader, _| reader.pass()),
            Some(b'[') => self.items(Self::pass),
            Some(b'"') => self.pass_string(),
            Some(b'-' | b'0'..=b'9') => self.digits_of_number().map(drop),
            Some(_) => self.word().map(drop),
            None => Err(self.fault("A value is missing.")),
        }
    }

    /// Reads the next value if it is text. Skips any other value and returns `None`.
    pub fn text(&mut self) -> Result<Option<Cow<'a, str>>, ReadError> {
        if self.peek() == Some(b'"') {
            self.string(b'"').map(Some)
        } else {
            self.pass().map(|()| None)
        }
    }

    /// Calls `take` for each item of the next list, which must read or skip it. Skips a value that
    /// is no list.
    pub fn items(
        &mut self,
        mut take: impl FnMut(&mut Self) -> Result<(), ReadError>,
    ) -> Result<(), ReadError> {
        if self.peek() != Some(b'[') {
            return self.pass();
        }
        self.nested(|reader| reader.list(&mut take))
    }

    /// Calls `take` with each key of the next object, which must read or skip the value. Skips a
    /// value that is no object.
    pub fn entries(
        &mut self,
        take: impl FnMut(&mut Self, &str) -> Result<(), ReadError>,
    ) -> Result<(), ReadError> {
        if self.peek() != Some(b'{') {
            return self.pass();
        }
        self.nested(|reader| reader.object(take))
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn fault(&self, message: impl Into<String>) -> ReadError {
        let cut = self.at >= self.text.trim_end().len();
        let kind = if cut { ReadErrorKind::Truncated } else { ReadErrorKind::Syntax };
        let message =
            if cut { "The JSON text ends in the middle.".to_owned() } else { message.into() };
        ReadError::at_offset(kind, self.text, self.at, message)
    }

    /// Like [`Self::fault`], with advice unless the text ends here.
    fn advised_fault(&self, message: &str, advice: &str) -> ReadError {
        let fault = self.fault(message);
        if fault.kind == ReadErrorKind::Truncated { fault } else { fault.advise(advice) }
    }

    fn lenient(&self) -> bool {
        self.mode.is_lenient()
    }

    /// Skips whitespace, and comments where they are accepted.
    fn skip(&mut self) -> Result<(), ReadError> {
        loop {
            while matches!(self.peek(), Some(b' ' | b'\n' | b'\r' | b'\t')) {
                self.at += 1;
            }
            let rest = &self.text[self.at..];
            if self.mode != Mode::Lenient {
                return Ok(());
            }
            if rest.starts_with("//") || rest.starts_with('#') {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if rest.starts_with("/*") {
                let Some(end) = rest.find("*/") else {
                    return Err(self.fault("A comment that is not closed."));
                };
                self.at += end + 2;
            } else {
                return Ok(());
            }
        }
    }

    fn count(&mut self) -> Result<(), ReadError> {
        self.nodes += 1;
        if self.nodes > NODES {
            let message = format!("More than {NODES} values.");
            return Err(ReadError::at_offset(ReadErrorKind::TooLarge, self.text, self.at, message));
        }
        Ok(())
    }

    /// Parses a value with everything in it. Not recursive: open lists and objects are kept on an
    /// explicit stack.
    pub fn value(&mut self) -> Result<Value, ReadError> {
        let mut open: Vec<Open> = Vec::new();
        loop {
            self.count()?;
            let mut value = match self.peek() {
                Some(b'{' | b'[') => {
                    let mut begun = self.open(open.len())?;
                    if self.goes_on(&mut begun)? {
                        open.push(begun);
                        continue;
                    }
                    begun.close()
                }
                Some(b'"') => self.string(b'"').map(|text| Value::Text(text.into_owned()))?,
                Some(b'\'') if self.lenient() => {
                    self.string(b'\'').map(|text| Value::Text(text.into_owned()))?
                }
                Some(b'-' | b'0'..=b'9') => self.number()?,
                Some(_) => self.word()?,
                None => return Err(self.fault("A value is missing.")),
            };
            loop {
                let Some(mut within) = open.pop() else { return Ok(value) };
                let end = within.put(value);
                if self.separator(end)? {
                    if self.goes_on(&mut within)? {
                        open.push(within);
                        break;
                    }
                } else {
                    self.at += 1;
                }
                value = within.close();
            }
        }
    }

    /// Enters a list or an object.
    fn open(&mut self, within: usize) -> Result<Open, ReadError> {
        if self.depth + within >= self.deepest {
            return Err(self.too_deep(self.deepest));
        }
        let list = self.peek() == Some(b'[');
        self.at += 1;
        Ok(if list { Open::List(Vec::new()) } else { Open::Object(Object::default()) })
    }

    fn too_deep(&self, deepest: usize) -> ReadError {
        let message = format!("Lists and objects are nested deeper than {deepest} levels.");
        ReadError::at_offset(ReadErrorKind::TooDeep, self.text, self.at, message)
    }

    /// Advances to the next value of an open list or object, past its key. Returns false at the
    /// closing bracket, which is consumed.
    fn goes_on(&mut self, open: &mut Open) -> Result<bool, ReadError> {
        self.skip()?;
        let (end, empty) = match open {
            Open::List(items) => (b']', items.is_empty()),
            Open::Object(object) => (b'}', object.entries.is_empty()),
        };
        if self.peek() == Some(end) && (empty || self.lenient()) {
            self.at += 1;
            return Ok(false);
        }
        if let Open::Object(object) = open {
            let (start, key) = self.key()?;
            let known = if matches!(self.mode, Mode::Embedded | Mode::Back) {
                None
            } else {
                object.place_of(&key)
            };
            if known.is_some() && !matches!(self.mode, Mode::Lenient | Mode::Reply) {
                let message = format!("The key `{key}` appears twice in the same object.");
                let fault =
                    ReadError::at_offset(ReadErrorKind::Duplicate, self.text, start, message);
                return Err(fault.advise("Remove or rename one of the two."));
            }
            object.expect(key.into_owned(), known);
        }
        Ok(true)
    }

    /// Parses a key and its colon. Returns the offset of the key with it.
    fn key(&mut self) -> Result<(usize, Cow<'a, str>), ReadError> {
        let start = self.at;
        let key = match self.peek() {
            Some(b'"') => self.string(b'"')?,
            Some(b'\'') if self.lenient() => self.string(b'\'')?,
            _ => return Err(self.fault("A key in double quotes is missing here.")),
        };
        self.skip()?;
        if self.peek() != Some(b':') {
            return Err(self.fault("A colon is missing after the key."));
        }
        self.at += 1;
        self.skip()?;
        Ok((start, key))
    }

    fn nested<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, ReadError>,
    ) -> Result<T, ReadError> {
        if self.depth >= DEPTH {
            return Err(self.too_deep(DEPTH));
        }
        self.depth += 1;
        self.at += 1;
        let value = read(self);
        self.depth -= 1;
        value
    }

    fn list(
        &mut self,
        take: &mut impl FnMut(&mut Self) -> Result<(), ReadError>,
    ) -> Result<(), ReadError> {
        let mut first = true;
        loop {
            self.skip()?;
            if self.peek() == Some(b']') && (first || self.lenient()) {
                break;
            }
            first = false;
            take(self)?;
            if !self.separator(b']')? {
                break;
            }
        }
        self.at += 1;
        Ok(())
    }

    /// Calls `take` with each key, before its value.
    fn object(
        &mut self,
        mut take: impl FnMut(&mut Self, &str) -> Result<(), ReadError>,
    ) -> Result<(), ReadError> {
        let mut first = true;
        loop {
            self.skip()?;
            if self.peek() == Some(b'}') && (first || self.lenient()) {
                break;
            }
            first = false;
            let (_, key) = self.key()?;
            take(self, &key)?;
            if !self.separator(b'}')? {
                break;
            }
        }
        self.at += 1;
        Ok(())
    }

    /// Consumes a comma. Returns false at the end of the list or object.
    fn separator(&mut self, end: u8) -> Result<bool, ReadError> {
        self.skip()?;
        match self.peek() {
            Some(b',') => {
                self.at += 1;
                Ok(true)
            }
            Some(byte) if byte == end => Ok(false),
            _ => Err(self.fault(format!("A comma or `{}` is missing here.", end as char))),
        }
    }

    fn number(&mut self) -> Result<Value, ReadError> {
        let start = self.at;
        self.at += usize::from(self.peek() == Some(b'-'));
        if self.mode.knows_all_numbers() && self.text[self.at..].starts_with("Infinity") {
            self.at += "Infinity".len();
            return Ok(Value::Number("-.inf".to_owned()));
        }
        self.at = start;
        self.digits_of_number().map(|digits| Value::Number(digits.to_owned()))
    }

    fn digits_of_number(&mut self) -> Result<&'a str, ReadError> {
        let start = self.at;
        self.at += usize::from(self.peek() == Some(b'-'));
        let whole = self.digits();
        let mut fits = whole > 0 && (whole == 1 || self.text.as_bytes()[self.at - whole] != b'0');
        if self.peek() == Some(b'.') {
            self.at += 1;
            fits &= self.digits() > 0;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            self.at += usize::from(matches!(self.peek(), Some(b'+' | b'-')));
            fits &= self.digits() > 0;
        }
        if !fits {
            let text = &self.text[start..self.at];
            return Err(self.fault(format!("`{text}` is not a JSON number.")));
        }
        Ok(&self.text[start..self.at])
    }

    fn digits(&mut self) -> usize {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        self.at - start
    }

    fn word(&mut self) -> Result<Value, ReadError> {
        let rest = &self.text[self.at..];
        let length = rest.find(|letter: char| !letter.is_ascii_alphabetic()).unwrap_or(rest.len());
        let value = match (&rest[..length], self.lenient()) {
            ("null", _) | ("None", true) => Value::Null,
            ("true", _) | ("True", true) => Value::Bool(true),
            ("false", _) | ("False", true) => Value::Bool(false),
            ("NaN", _) if self.mode.knows_all_numbers() => Value::Number(".nan".to_owned()),
            ("Infinity", _) if self.mode.knows_all_numbers() => Value::Number(".inf".to_owned()),
            _ => return Err(self.fault("This is not a JSON value.")),
        };
        self.at += length;
        Ok(value)
    }

    fn string(&mut self, quote: u8) -> Result<Cow<'a, str>, ReadError> {
        self.at += 1;
        let text = self.text;
        let mut out = String::new();
        loop {
            let rest = &text[self.at..];
            let stop = rest.bytes().position(|byte| byte == quote || byte == b'\\' || byte < 0x20);
            let Some(stop) = stop else {
                self.at = text.len();
                return Err(self.fault("A text that is not closed."));
            };
            self.at += stop;
            let plain = &rest[..stop];
            if self.peek() == Some(quote) {
                self.at += 1;
                return Ok(if out.is_empty() {
                    Cow::Borrowed(plain)
                } else {
                    Cow::Owned(out + plain)
                });
            }
            out.push_str(plain);
            match self.peek() {
                Some(b'\\') => self.escape(&mut out)?,
                Some(byte) if self.lenient() => {
                    out.push(byte as char);
                    self.at += 1;
                }
                _ => {
                    let message = "A line break or control character inside a text.";
                    return Err(self.advised_fault(message, "Write it as an escape, such as \\n."));
                }
            }
        }
    }

    /// Skips a string, validating its escapes without copying the text.
    fn pass_string(&mut self) -> Result<(), ReadError> {
        let from = self.at;
        self.at += 1;
        let mut escaped = String::new();
        loop {
            let rest = &self.text.as_bytes()[self.at..];
            self.at += rest
                .iter()
                .position(|byte| matches!(byte, b'"' | b'\\' | ..0x20))
                .unwrap_or(rest.len());
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b'\\') => {
                    escaped.clear();
                    self.escape(&mut escaped)?;
                }
                // The full parse of the string reports the error.
                _ => {
                    self.at = from;
                    return self.string(b'"').map(drop);
                }
            }
        }
    }

    fn escape(&mut self, out: &mut String) -> Result<(), ReadError> {
        self.at += 1;
        let letter = match self.peek() {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode(out),
            Some(b'\'') if self.lenient() => '\'',
            _ => {
                let advice = "Write \\\\ for a backslash.";
                return Err(self.advised_fault("An unknown escape.", advice));
            }
        };
        out.push(letter);
        self.at += 1;
        Ok(())
    }

    fn unicode(&mut self, out: &mut String) -> Result<(), ReadError> {
        let high = self.hex()?;
        let code = if (0xD800..0xDC00).contains(&high) && self.text[self.at..].starts_with("\\u") {
            self.at += 1;
            let low = self.hex()?;
            if (0xDC00..0xE000).contains(&low) {
                0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00)
            } else {
                high
            }
        } else {
            high
        };
        let Some(letter) = char::from_u32(code) else {
            return Err(self.fault("Half of a surrogate pair, which is no character."));
        };
        out.push(letter);
        Ok(())
    }

    /// Parses the four hexadecimal digits after the letter at the current position.
    fn hex(&mut self) -> Result<u32, ReadError> {
        let digits = self
            .text
            .get(self.at + 1..self.at + 5)
            .filter(|text| text.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let Some(code) = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok()) else {
            return Err(self.fault("\\u needs four hexadecimal digits."));
        };
        self.at += 5;
        Ok(code)
    }
}

#[cfg(test)]
mod tests;
