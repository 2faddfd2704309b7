//! **Pure.** Quoted scalars in the fast parser, on one line or folded over several.
use super::Fast;
use crate::error::count;
use crate::yaml::tree::{Form, Text};

/// Returns the index of the quote that closes the one at the start of the line.
pub(super) fn close(line: &[u8], quote: u8) -> Option<usize> {
    let mut at = 1;
    loop {
        at += memchr::memchr2(quote, b'\\', line.get(at..)?)?;
        match line[at] {
            b'\\' if quote == b'"' => at += 2,
            b'\\' => at += 1,
            _ if quote == b'\'' && line.get(at + 1) == Some(&b'\'') => at += 2,
            _ => return Some(at),
        }
    }
}

impl Fast<'_> {
    /// Parses a quoted scalar, up to the character after its end. Continuation lines must be
    /// indented deeper than `parent`.
    pub(super) fn quoted(&mut self, parent: usize) -> Option<()> {
        let quote = self.byte()?;
        let start = self.at + 1;
        // A text without escapes and folds is borrowed.
        let stop = start + memchr::memchr3(quote, b'\\', b'\n', &self.bytes[start..])?;
        let doubled = quote == b'\'' && self.byte_at(stop + 1) == Some(b'\'');
        if self.bytes[stop] == quote && !doubled {
            let text = self.text.get(start..stop)?;
            self.at = stop + 1;
            return if text.contains('\t') {
                None
            } else {
                self.push(Form::Quoted, Text::Source(text))
            };
        }
        let from = count(self.tree.buffer.len());
        self.at = start;
        self.unquote(quote, parent)?;
        self.push(Form::Quoted, Text::Buffer(from, count(self.tree.buffer.len())))
    }

    fn unquote(&mut self, quote: u8, parent: usize) -> Option<()> {
        // Spaces before a line end are dropped, but not those before this offset.
        let mut guard = self.tree.buffer.len();
        let from = guard;
        loop {
            let stop = self.at + memchr::memchr3(quote, b'\\', b'\n', &self.bytes[self.at..])?;
            let piece = self.text.get(self.at..stop)?;
            if piece.contains('\t') {
                return None;
            }
            self.check_length(self.tree.buffer.len() - from + piece.trim_end_matches(' ').len())?;
            self.tree.buffer.push_str(piece);
            self.at = stop + 1;
            match self.bytes[stop] {
                b'\n' => {
                    let kept = self.tree.buffer.trim_end_matches(' ').len();
                    self.tree.buffer.truncate(kept.max(guard));
                    let blanks = self.next_piece(parent)?;
                    self.fold(blanks);
                    guard = self.tree.buffer.len();
                }
                b'\\' if quote == b'\'' => self.tree.buffer.push('\\'),
                b'\\' => {
                    self.escape(parent)?;
                    guard = self.tree.buffer.len();
                }
                _ if quote == b'\'' && self.byte() == Some(b'\'') => {
                    self.tree.buffer.push('\'');
                    self.at += 1;
                }
                _ => return Some(()),
            }
        }
    }

    /// Advances to the first character of the next line that is not blank. Returns the number of
    /// blank lines before it.
    fn next_piece(&mut self, parent: usize) -> Option<usize> {
        let mut blanks = 0;
        loop {
            let start = self.at;
            self.skip_spaces();
            match self.byte()? {
                b'\n' => {
                    blanks += 1;
                    self.at += 1;
                }
                b'\t' => return None,
                _ => return (self.at - start > parent).then_some(blanks),
            }
        }
    }

    fn escape(&mut self, parent: usize) -> Option<()> {
        let byte = self.byte()?;
        self.at += 1;
        let letter = match byte {
            b'n' => '\n',
            b't' => '\t',
            b'r' => '\r',
            b'"' => '"',
            b'\\' => '\\',
            b'/' => '/',
            b' ' => ' ',
            b'0' => '\0',
            b'a' => '\u{7}',
            b'b' => '\u{8}',
            b'e' => '\u{1b}',
            b'f' => '\u{c}',
            b'v' => '\u{b}',
            b'N' => '\u{85}',
            b'_' => '\u{a0}',
            b'L' => '\u{2028}',
            b'P' => '\u{2029}',
            b'x' => self.hex(2)?,
            b'u' => self.hex(4)?,
            b'U' => self.hex(8)?,
            b'\n' => return (self.next_piece(parent)? == 0).then_some(()),
            _ => return None,
        };
        self.tree.buffer.push(letter);
        Some(())
    }

    /// Parses a character from its hexadecimal digits. Halves of surrogate pairs are left to the
    /// full parser.
    fn hex(&mut self, digits: usize) -> Option<char> {
        let text = self.text.get(self.at..self.at + digits)?;
        if !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        self.at += digits;
        char::from_u32(u32::from_str_radix(text, 16).ok()?)
    }
}
