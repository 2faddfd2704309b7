//! **Pure.** Fast parser for the YAML subset that programs write: block maps and lists, literals,
//! quoted and plain scalars. It reports only one error, a scalar that is too long, because the full
//! parser would be slow on it. Anything else that it does not know or finds invalid is left to the
//! full parser, with which it always agrees.
mod quoted;
mod scalars;

use super::tree::{Form, Raw, Text, Tree};
use super::{DEPTH, NODES, SCALAR, faults};
use crate::error::{ReadError, count};
use crate::scalar::Scalar;

/// Parses a document in the subset. Returns `None` for any other document.
pub(crate) fn parse(text: &str) -> Result<Option<Tree<'_>>, ReadError> {
    // If a scalar could be too long, that error has priority over the check of the subset.
    let small = text.len() <= SCALAR;
    if small && !fits(text) {
        return Ok(None);
    }
    let mut fast = Fast {
        text,
        bytes: text.as_bytes(),
        at: 0,
        line: 0,
        indent: None,
        depth: 0,
        scalar: 0,
        too_long: false,
        tree: Tree::default(),
    };
    let whole = fast.document();
    if fast.too_long {
        return Err(faults::too_long(text, fast.scalar));
    }
    Ok(whole.filter(|()| small || fits(text)).map(|()| fast.tree))
}

/// Returns true if the text has only line feeds as line ends, ends with one, and has no characters
/// that the full parser treats specially.
fn fits(text: &str) -> bool {
    let bytes = text.as_bytes();
    let odd = |byte: u8| (byte < b' ' && byte != b'\n' && byte != b'\t') || byte == 0x7f;
    let follows =
        |at: usize, fits: fn(&[u8]) -> bool| fits(bytes.get(at + 1..).unwrap_or_default());
    bytes.last() == Some(&b'\n')
        && u32::try_from(text.len()).is_ok_and(|length| length < u32::MAX / 4)
        && !bytes
            .chunks(4096)
            .any(|chunk| chunk.iter().fold(false, |found, byte| found | odd(*byte)))
        && !memchr::memchr_iter(0xC2, bytes)
            .any(|at| follows(at, |next| matches!(next, [0x80..=0x9f, ..])))
        && !memchr::memchr_iter(0xEF, bytes).any(|at| {
            follows(at, |next| matches!(next, [0xBB, 0xBF, ..] | [0xBF, 0xBE | 0xBF, ..]))
        })
}

/// State of the parser. `None` from any step means that the document is not in the subset.
struct Fast<'a> {
    text: &'a str,
    bytes: &'a [u8],
    /// Current offset; after `next_line`, the first character of a line.
    at: usize,
    /// Offset of the start of the line.
    line: usize,
    /// Indentation of the line; `None` at the end of the text.
    indent: Option<usize>,
    depth: usize,
    /// Offset of the scalar being read.
    scalar: usize,
    /// True if that scalar exceeds the maximum length.
    too_long: bool,
    tree: Tree<'a>,
}

impl<'a> Fast<'a> {
    fn document(&mut self) -> Option<()> {
        self.tree.nodes.reserve(self.text.len() / 256 + 16);
        self.next_line()?;
        if self.indent? != 0 {
            return None;
        }
        self.block(0)?;
        self.indent.is_none().then_some(())
    }

    /// Advances from the start of a line to the first character of the next line that is neither
    /// blank nor a comment.
    fn next_line(&mut self) -> Option<()> {
        loop {
            self.line = self.at;
            while self.byte() == Some(b' ') {
                self.at += 1;
            }
            match self.byte() {
                Some(b'\n') => self.at += 1,
                Some(b'#') => self.at = self.line_end() + 1,
                Some(b'\t') => return None,
                None => {
                    self.indent = None;
                    return Some(());
                }
                Some(_) => break,
            }
        }
        let indent = self.at - self.line;
        let marks =
            indent == 0 && matches!(self.bytes.get(self.at..self.at + 3), Some(b"---" | b"..."));
        self.indent = Some(indent);
        (!marks).then_some(())
    }

    fn byte(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn byte_at(&self, at: usize) -> Option<u8> {
        self.bytes.get(at).copied()
    }

    /// Returns the offset of the line feed that ends the current line.
    fn line_end(&self) -> usize {
        memchr::memchr(b'\n', &self.bytes[self.at..]).map_or(self.bytes.len(), |at| self.at + at)
    }

    fn skip_spaces(&mut self) {
        while self.byte() == Some(b' ') {
            self.at += 1;
        }
    }

    /// Returns true at a dash that begins a list item.
    fn at_dash(&self) -> bool {
        self.byte() == Some(b'-') && matches!(self.byte_at(self.at + 1), Some(b' ' | b'\n'))
    }

    fn deeper(&self, column: usize) -> bool {
        self.indent.is_some_and(|indent| indent > column)
    }

    /// Parses the list or map that begins at the current position.
    fn block(&mut self, column: usize) -> Option<()> {
        if self.at_dash() { self.list(column) } else { self.map(column) }
    }

    fn list(&mut self, column: usize) -> Option<()> {
        let at = self.open(Form::List)?;
        loop {
            self.at += 1;
            self.skip_spaces();
            if self.byte() == Some(b'\n') {
                self.below(column)?;
            } else {
                self.item(column)?;
            }
            if self.indent != Some(column) || !self.at_dash() {
                break;
            }
        }
        self.close(at, column)
    }

    /// Parses the value on the line of its dash.
    fn item(&mut self, parent: usize) -> Option<()> {
        let column = self.at - self.line;
        if self.at_dash() {
            self.list(column)
        } else if self.key_end().is_some() {
            self.map(column)
        } else {
            self.scalar(parent)
        }
    }

    /// Parses the value on the lines below a dash or key: a deeper block, or null.
    fn below(&mut self, column: usize) -> Option<()> {
        self.at += 1;
        self.next_line()?;
        if self.deeper(column) {
            self.block(self.indent?)
        } else {
            self.push(Form::Plain, Text::Source(""))
        }
    }

    fn map(&mut self, column: usize) -> Option<()> {
        let at = self.open(Form::Map)?;
        loop {
            let end = self.key_end()?;
            self.key(end)?;
            self.skip_spaces();
            if self.byte() == Some(b'\n') {
                self.at += 1;
                self.next_line()?;
                if self.deeper(column) {
                    self.block(self.indent?)?;
                } else if self.indent == Some(column) && self.at_dash() {
                    self.list(column)?;
                } else {
                    self.push(Form::Plain, Text::Source(""))?;
                }
            } else {
                self.scalar(column)?;
            }
            if self.indent != Some(column) {
                break;
            }
        }
        self.no_duplicates(at)?;
        self.close(at, column)
    }

    /// Returns the offset of the colon that ends the key at the current position. Returns `None` if
    /// this is no key.
    fn key_end(&self) -> Option<usize> {
        let line = &self.bytes[self.at..self.line_end()];
        let follows = |at: usize| matches!(line.get(at + 1), None | Some(b' '));
        if let Some(quote @ (b'"' | b'\'')) = self.byte() {
            let colon = quoted::close(line, quote)? + 1;
            return (line.get(colon) == Some(&b':') && follows(colon)).then_some(self.at + colon);
        }
        memchr::memchr_iter(b':', line).find(|colon| follows(*colon)).map(|colon| self.at + colon)
    }

    fn key(&mut self, end: usize) -> Option<()> {
        let line = &self.bytes[self.at..end];
        // The full parser searches for the colon only within 1,024 characters.
        if line.is_empty() || line.len() > 1000 {
            return None;
        }
        let after = end + 1;
        if matches!(self.byte(), Some(b'"' | b'\'')) {
            self.quoted(usize::MAX)?;
        } else {
            let text = self.plain_line(self.at, end)?;
            let common =
                matches!(Scalar::plain(text), Scalar::Text(_) | Scalar::Number(_)) && text != "<<";
            if !common || text.ends_with(' ') {
                return None;
            }
            self.push(Form::Plain, Text::Source(text))?;
        }
        self.at = after;
        Some(())
    }

    /// Fails for keys with the same text: the full parser decides if they are duplicates.
    fn no_duplicates(&self, map: u32) -> Option<()> {
        let tree = &self.tree;
        let mut next = map as usize + 1;
        let keys = std::iter::from_fn(|| {
            let key = tree.nodes.get(next)?;
            next = tree.nodes.get(key.end as usize)?.end as usize;
            Some(tree.text(key))
        });
        let mut few: [&str; 8] = [""; 8];
        let mut many = std::collections::HashSet::new();
        for (at, key) in keys.enumerate() {
            let fresh = match few.get_mut(at) {
                Some(slot) => {
                    *slot = key;
                    !few[..at].contains(&key)
                }
                None => !few.contains(&key) && many.insert(key),
            };
            if !fresh {
                return None;
            }
        }
        Some(())
    }

    fn open(&mut self, form: Form) -> Option<u32> {
        self.depth += 1;
        let at = count(self.tree.nodes.len());
        self.push(form, Text::Buffer(0, 0))?;
        (self.depth <= DEPTH).then_some(at)
    }

    /// Ends a list or map. Fails if the current line is indented more deeply than it.
    fn close(&mut self, at: u32, column: usize) -> Option<()> {
        self.depth -= 1;
        let end = count(self.tree.nodes.len());
        self.tree.nodes.get_mut(at as usize)?.end = end;
        (!self.deeper(column)).then_some(())
    }

    fn push(&mut self, form: Form, text: Text<'a>) -> Option<()> {
        let length = match text {
            Text::Source(text) => text.len(),
            Text::Buffer(from, to) => (to - from) as usize,
        };
        if self.tree.nodes.len() >= NODES {
            return None;
        }
        self.check_length(length)?;
        let end = count(self.tree.nodes.len()) + 1;
        self.tree.nodes.push(Raw { form, text, end });
        Some(())
    }

    /// Fails if a scalar of this length exceeds the maximum. Called before the text is copied.
    fn check_length(&mut self, length: usize) -> Option<()> {
        self.too_long = length > SCALAR;
        (!self.too_long).then_some(())
    }
}
