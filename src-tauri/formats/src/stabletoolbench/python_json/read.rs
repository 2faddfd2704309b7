//! **Pure.** Parses JSON as Python does.
use super::{Codes, Py};
use std::collections::HashMap;
use touchstone_model::error::{ReadError, ReadErrorKind};

/// Maximum nesting depth of lists and objects.
const DEPTH: usize = 200;

/// Parses a JSON text as Python does.
pub fn read(text: &str) -> Result<Py, ReadError> {
    let mut reader = Reader::new(text, true);
    reader.blanks();
    let value = reader.value()?;
    reader.end()?;
    Ok(value)
}

/// A text with the current read position. Without `build`, values are only skipped.
pub(in crate::stabletoolbench) struct Reader<'a> {
    text: &'a str,
    pub(in crate::stabletoolbench) at: usize,
    depth: usize,
    pub(in crate::stabletoolbench) build: bool,
}

impl<'a> Reader<'a> {
    pub(in crate::stabletoolbench) fn new(text: &'a str, build: bool) -> Self {
        Self { text, at: 0, depth: 0, build }
    }

    pub(in crate::stabletoolbench) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    pub(in crate::stabletoolbench) fn fault(&self, message: &str) -> ReadError {
        let kind = if self.at >= self.text.len() {
            ReadErrorKind::Truncated
        } else {
            ReadErrorKind::Syntax
        };
        ReadError::at_offset(kind, self.text, self.at.min(self.text.len()), message.to_owned())
    }

    pub(in crate::stabletoolbench) fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.at += 1;
        }
    }

    pub(in crate::stabletoolbench) fn end(&mut self) -> Result<(), ReadError> {
        self.blanks();
        if self.at < self.text.len() {
            Err(self.fault("There is more after the end of the JSON value."))
        } else {
            Ok(())
        }
    }

    pub(in crate::stabletoolbench) fn value(&mut self) -> Result<Py, ReadError> {
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
            return Err(ReadError::at_offset(ReadErrorKind::TooDeep, self.text, self.at, message));
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

    /// Parses a key with its colon and the whitespace after it.
    pub(in crate::stabletoolbench) fn key(&mut self) -> Result<Codes, ReadError> {
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

    pub(in crate::stabletoolbench) fn closes(&mut self, end: u8) -> bool {
        let closes = self.peek() == Some(end);
        self.at += usize::from(closes);
        closes
    }

    /// Consumes a comma and the whitespace around it. Returns false after the end of the list or
    /// object.
    pub(in crate::stabletoolbench) fn comma(&mut self, end: u8) -> Result<bool, ReadError> {
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
        // Invalid text directly after a number is detected by the caller.
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
            None => Err(self.fault("This is not a JSON value.")),
        }
    }

    fn string(&mut self) -> Result<Codes, ReadError> {
        self.at += 1;
        let mut out = Codes::default();
        loop {
            let rest = self.rest();
            let Some(stop) =
                rest.bytes().position(|byte| byte == b'"' || byte == b'\\' || byte < 0x20)
            else {
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
                if let Some(low) = low.filter(|_| (0xD800..0xDC00).contains(&high)) {
                    self.at += 6;
                    out.push(0x1_0000 + ((high - 0xD800) << 10) + (low - 0xDC00));
                } else {
                    out.push(high);
                }
                return Ok(());
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

    /// Returns the second half of a surrogate pair if it comes next.
    fn low(mut self) -> Option<u32> {
        if !self.rest().starts_with("\\u") {
            return None;
        }
        self.at += 1;
        self.hex().ok().filter(|low| (0xDC00..0xE000).contains(low))
    }

    /// Parses the four hexadecimal digits after the letter at the current position.
    fn hex(&mut self) -> Result<u32, ReadError> {
        let digits = self
            .text
            .get(self.at + 1..self.at + 5)
            .filter(|text| text.bytes().all(|b| b.is_ascii_hexdigit()));
        let Some(code) = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok()) else {
            return Err(self.fault("\\u needs four hexadecimal digits."));
        };
        self.at += 5;
        Ok(code)
    }
}
