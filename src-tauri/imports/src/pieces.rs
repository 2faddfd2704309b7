//! **Pure.** Splits JSON texts that may be cut off into their parts, without parsing them.
use std::ops::Range;
use touchstone_model::error::{ReadError, ReadErrorKind};

/// Maximum number of parts that are found. The places of more would take more memory than the text.
pub const MOST_PARTS: usize = 4_000_000;

/// Parts of a list or an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pieces<T> {
    /// Parts in order. The last is incomplete if the text ends within it.
    pub parts: Vec<T>,
    /// True if the list or object is closed, so that all its parts are complete and there are no
    /// others.
    pub is_complete: bool,
}

/// Returns the texts of the items of a list, as far as they go. Anything else has no items.
pub fn items(text: &str) -> Pieces<&str> {
    let mut scan = Scan { text, at: 0 };
    let mut pieces = Pieces { parts: Vec::new(), is_complete: false };
    if !scan.eat(b'[') {
        return pieces;
    }
    loop {
        if scan.eat(b']') {
            pieces.is_complete = true;
            return pieces;
        }
        let is_full = pieces.parts.len() >= MOST_PARTS;
        if is_full || (!pieces.parts.is_empty() && !scan.eat(b',')) {
            return pieces;
        }
        let (part, whole) = scan.value();
        if !part.is_empty() {
            pieces.parts.push(part);
        }
        if !whole {
            return pieces;
        }
    }
}

/// Returns the keys of an object with the texts of their values, keys as written, as far as they
/// go. Anything else has none.
pub fn members(text: &str) -> Pieces<(&str, &str)> {
    let mut scan = Scan { text, at: 0 };
    let mut pieces = Pieces { parts: Vec::new(), is_complete: false };
    if !scan.eat(b'{') {
        return pieces;
    }
    loop {
        if scan.eat(b'}') {
            pieces.is_complete = true;
            return pieces;
        }
        let is_full = pieces.parts.len() >= MOST_PARTS;
        if is_full || (!pieces.parts.is_empty() && !scan.eat(b',')) {
            return pieces;
        }
        let (key, whole) = scan.value();
        let key = key.strip_prefix('"').and_then(|key| key.strip_suffix('"'));
        let (Some(key), true, true) = (key, whole, scan.eat(b':')) else { return pieces };
        let (part, whole) = scan.value();
        if !part.is_empty() {
            pieces.parts.push((key, part));
        }
        if !whole {
            return pieces;
        }
    }
}

/// Returns the text of a key's value, of which the last counts.
pub fn member<'a>(pieces: &Pieces<(&'a str, &'a str)>, key: &str) -> Option<&'a str> {
    pieces.parts.iter().rev().find(|(known, _)| *known == key).map(|(_, part)| *part)
}

/// Returns true if the text is one complete value and nothing more.
pub fn is_whole(text: &str) -> bool {
    let mut scan = Scan { text, at: 0 };
    let (_, whole) = scan.value();
    scan.skip();
    whole && scan.at == text.len()
}

/// Splits a file into its documents: the lines that are not blank if the first line is a complete
/// document, else the whole text.
pub fn documents(text: &str) -> Vec<&str> {
    let first = text.trim_start().lines().next().unwrap_or_default();
    if first.starts_with(['{', '[']) && is_whole(first) {
        text.lines().map(str::trim).filter(|line| !line.is_empty()).collect()
    } else if text.trim().is_empty() {
        Vec::new()
    } else {
        vec![text.trim()]
    }
}

/// Returns the place of a part in the text it was cut from.
pub fn range_of_part(whole: &str, part: &str) -> Range<usize> {
    let start = part.as_ptr().addr().saturating_sub(whole.as_ptr().addr());
    start..start.saturating_add(part.len())
}

/// Returns the text of a file without its byte order mark. A character that is cut off at the end
/// is left out.
pub fn text(bytes: Vec<u8>) -> Result<String, ReadError> {
    let text = String::from_utf8(bytes).or_else(|error| {
        let fault = error.utf8_error();
        let mut bytes = error.into_bytes();
        if fault.error_len().is_none() {
            bytes.truncate(fault.valid_up_to());
        }
        String::from_utf8(bytes)
    });
    let text = text.map_err(|_| {
        ReadError::new(ReadErrorKind::NotUtf8, "The file holds bytes that are no UTF-8 text.")
            .advise("Copy the file again, or move it to another folder.")
    })?;
    Ok(match text.strip_prefix('\u{feff}') {
        Some(rest) => rest.to_owned(),
        None => text,
    })
}

/// Returns the error of a file that ends too early.
pub fn cut_off() -> ReadError {
    ReadError::new(ReadErrorKind::Truncated, "The file is cut off. Runs may be missing.")
}

struct Scan<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Scan<'a> {
    fn rest(&self) -> &'a [u8] {
        self.text.as_bytes().get(self.at..).unwrap_or_default()
    }

    fn skip(&mut self) {
        let space = |byte: &&u8| matches!(byte, b' ' | b'\n' | b'\r' | b'\t');
        self.at += self.rest().iter().take_while(space).count();
    }

    fn eat(&mut self, byte: u8) -> bool {
        self.skip();
        let found = self.rest().first() == Some(&byte);
        self.at += usize::from(found);
        found
    }

    /// Skips a value. Returns its text, and whether it is complete.
    fn value(&mut self) -> (&'a str, bool) {
        self.skip();
        let start = self.at;
        let mut depth = 0_usize;
        let whole = loop {
            match self.rest().first() {
                None => break depth == 0 && self.at > start,
                Some(b'"') => {
                    if !self.string() {
                        break false;
                    }
                }
                Some(b'{' | b'[') => {
                    depth += 1;
                    self.at += 1;
                }
                Some(b'}' | b']' | b',' | b':') if depth == 0 => break self.at > start,
                Some(b'}' | b']') => {
                    depth -= 1;
                    self.at += 1;
                }
                Some(_) => {
                    let plain = self.rest().iter().take_while(|byte| !is_mark(**byte)).count();
                    self.at += plain.max(1);
                }
            }
            if depth == 0 {
                break true;
            }
        };
        (self.text.get(start..self.at).unwrap_or_default().trim_end(), whole)
    }

    /// Skips a text in quotes. Returns false if it is not closed.
    fn string(&mut self) -> bool {
        self.at += 1;
        loop {
            let stop = self.rest().iter().position(|byte| matches!(byte, b'"' | b'\\'));
            let Some(stop) = stop else {
                self.at = self.text.len();
                return false;
            };
            let quote = self.rest()[stop] == b'"';
            self.at = (self.at + stop + if quote { 1 } else { 2 }).min(self.text.len());
            if quote {
                return true;
            }
        }
    }
}

fn is_mark(byte: u8) -> bool {
    matches!(byte, b'"' | b'{' | b'[' | b'}' | b']' | b',' | b':')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use touchstone_model::json::skim;

    #[test]
    fn parts_before_a_cut_are_found_and_the_last_is_incomplete() {
        let found = items(r#" [1, {"a": "]}"}, {"b": [2"#);
        assert_eq!(found.parts, ["1", r#"{"a": "]}"}"#, r#"{"b": [2"#]);
        assert!(!found.is_complete);
        let found = members(r#"{"a": [1], "b": {"c": "#);
        assert_eq!(found.parts, [("a", "[1]"), ("b", "{\"c\":")]);
        assert!(!found.is_complete && items("{}").parts.is_empty() && items("[ ]").is_complete);
    }

    #[test]
    fn lines_are_documents_only_if_the_first_is_complete() {
        assert_eq!(documents("{\"a\":1}\r\n\n{\"b\":"), ["{\"a\":1}", "{\"b\":"]);
        assert_eq!(documents("{\n\"a\":1}\n"), ["{\n\"a\":1}"]);
        assert!(documents(" \n").is_empty());
        let whole = "ab cd";
        assert_eq!(range_of_part(whole, &whole[3..]), 3..5);
    }

    #[test]
    fn a_character_cut_at_the_end_is_left_out_and_one_in_the_middle_is_an_error() {
        assert_eq!(text(b"\xef\xbb\xbfa\xc3".to_vec()).as_deref(), Ok("a"));
        assert!(text(b"a\xc3b".to_vec()).is_err());
    }

    proptest! {
        #[test]
        fn complete_texts_are_split_like_a_strict_split(text in "[\\[\\]{}\",:a1\\\\ é]{0,30}") {
            if let Some(found) = skim::items(&text) {
                prop_assert_eq!(items(&text).parts, found);
            }
            if let Some(found) = skim::members(&text) {
                prop_assert_eq!(members(&text).parts, found);
            }
            let _ = documents(&text);
        }
    }
}
