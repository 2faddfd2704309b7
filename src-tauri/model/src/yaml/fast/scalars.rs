//! **Pure.** Block literals and plain scalars in the fast parser.
use super::Fast;
use crate::error::count;
use crate::yaml::tree::{Form, Text};

/// Treatment of the line ends at the end of a literal.
#[derive(Clone, Copy, PartialEq)]
enum Chomp {
    Clip,
    Strip,
    Keep,
}

impl<'a> Fast<'a> {
    /// Parses a value on the line of its key or dash, in the map or list at column `parent`.
    /// Advances to the next line.
    pub(super) fn scalar(&mut self, parent: usize) -> Option<()> {
        self.scalar = self.at;
        match self.byte()? {
            b'|' => self.literal(parent)?,
            b'"' | b'\'' => {
                self.quoted(parent)?;
                self.skip_spaces();
                if self.byte() != Some(b'\n') {
                    return None;
                }
                self.at += 1;
            }
            b'[' => self.nothing(*b"[]\n", Form::List)?,
            b'{' => self.nothing(*b"{}\n", Form::Map)?,
            _ => self.plain(parent)?,
        }
        self.next_line()
    }

    /// Parses an empty list or map.
    fn nothing(&mut self, written: [u8; 3], form: Form) -> Option<()> {
        if self.bytes.get(self.at..self.at + 3)? != written {
            return None;
        }
        self.at += 3;
        self.push(form, Text::Buffer(0, 0))
    }

    fn literal(&mut self, parent: usize) -> Option<()> {
        self.at += 1;
        let (mut chomp, mut given) = (Chomp::Clip, None);
        loop {
            match self.byte()? {
                b'-' if chomp == Chomp::Clip => chomp = Chomp::Strip,
                b'+' if chomp == Chomp::Clip => chomp = Chomp::Keep,
                digit @ b'1'..=b'9' if given.is_none() => {
                    given = Some(parent + usize::from(digit - b'0'));
                }
                b'\n' => break,
                _ => return None,
            }
            self.at += 1;
        }
        self.at += 1;
        let indent = match given {
            Some(indent) => indent,
            None => self.detect().filter(|indent| *indent > parent)?,
        };
        let from = count(self.tree.buffer.len());
        let blanks = self.lines(indent)?;
        if self.tree.buffer.len() == from as usize {
            return None;
        }
        match chomp {
            Chomp::Clip => {}
            Chomp::Strip => {
                self.tree.buffer.pop();
            }
            Chomp::Keep => self.tree.buffer.extend(std::iter::repeat_n('\n', blanks)),
        }
        self.push(Form::Quoted, Text::Buffer(from, count(self.tree.buffer.len())))
    }

    /// Returns the indentation of the first line that is not blank. Returns `None` if a blank line
    /// before it is longer.
    fn detect(&self) -> Option<usize> {
        let mut at = self.at;
        let mut longest = 0;
        loop {
            let start = at;
            while self.byte_at(at) == Some(b' ') {
                at += 1;
            }
            let indent = at - start;
            if self.byte_at(at)? != b'\n' {
                return (longest <= indent).then_some(indent);
            }
            longest = longest.max(indent);
            at += 1;
        }
    }

    /// Copies the lines of a literal. Returns the number of blank lines after them.
    fn lines(&mut self, indent: usize) -> Option<usize> {
        let (from, mut blanks) = (self.tree.buffer.len(), 0);
        while self.at < self.bytes.len() {
            let mut at = self.at;
            let limit = (at + indent).min(self.bytes.len());
            while at < limit && self.bytes[at] == b' ' {
                at += 1;
            }
            if self.bytes.get(at) == Some(&b'\n') {
                blanks += 1;
                self.at = at + 1;
                continue;
            }
            if at < self.at + indent {
                break;
            }
            let end = memchr::memchr(b'\n', &self.bytes[at..])
                .map_or(self.bytes.len(), |length| at + length + 1);
            if self.tree.buffer.len() == from {
                self.scalar = at;
            }
            // The last line end may be stripped and does not count.
            self.check_length(
                (self.tree.buffer.len() - from + blanks + end - at).saturating_sub(1),
            )?;
            self.tree.buffer.extend(std::iter::repeat_n('\n', blanks));
            blanks = 0;
            self.tree.buffer.push_str(&self.text[at..end]);
            self.at = end;
        }
        Some(blanks)
    }

    /// Parses a plain scalar on one or more lines. Ends at the start of a line.
    fn plain(&mut self, parent: usize) -> Option<()> {
        let end = self.line_end();
        let text = self.plain_line(self.at, end)?.trim_end_matches(' ');
        self.at = end + 1;
        let Some((mut next, mut blanks)) = self.continues(parent)? else {
            return self.push(Form::Plain, Text::Source(text));
        };
        self.check_length(text.len())?;
        let from = count(self.tree.buffer.len());
        self.tree.buffer.push_str(text);
        loop {
            let end =
                memchr::memchr(b'\n', &self.bytes[next..]).map_or(self.bytes.len(), |at| next + at);
            let line = self.plain_line(next, end)?.trim_end_matches(' ');
            self.check_length(self.tree.buffer.len() - from as usize + blanks.max(1) + line.len())?;
            self.fold(blanks);
            self.tree.buffer.push_str(line);
            self.at = end + 1;
            match self.continues(parent)? {
                Some(more) => (next, blanks) = more,
                None => break,
            }
        }
        self.push(Form::Plain, Text::Buffer(from, count(self.tree.buffer.len())))
    }

    /// Folds line breaks inside a scalar: a line end becomes a space, and blank lines become line
    /// ends.
    pub(super) fn fold(&mut self, blanks: usize) {
        if blanks == 0 {
            self.tree.buffer.push(' ');
        } else {
            self.tree.buffer.extend(std::iter::repeat_n('\n', blanks));
        }
    }

    /// Returns the first character of the next line if it is indented deeper than `parent`, with
    /// the number of blank lines before it.
    #[expect(clippy::option_option, reason = "the outer none means: not in the subset")]
    fn continues(&self, parent: usize) -> Option<Option<(usize, usize)>> {
        let (mut at, mut blanks) = (self.at, 0);
        loop {
            let start = at;
            while self.byte_at(at) == Some(b' ') {
                at += 1;
            }
            match self.byte_at(at) {
                Some(b'\n') => {
                    blanks += 1;
                    at += 1;
                }
                Some(b'\t') => return None,
                Some(_) if at - start > parent => return Some(Some((at, blanks))),
                _ => return Some(None),
            }
        }
    }

    /// Returns a line of a plain scalar or key, if nothing in it could have another meaning in
    /// YAML.
    pub(super) fn plain_line(&self, from: usize, to: usize) -> Option<&'a str> {
        let line = self.bytes.get(from..to)?;
        let second = line.get(1).copied().unwrap_or(b' ');
        let begins = match *line.first()? {
            b'-' => !matches!(second, b' ' | b',' | b'[' | b']' | b'{' | b'}'),
            b'?' | b':' | b',' | b'[' | b']' | b'{' | b'}' | b'#' | b'&' | b'*' | b'!' | b'|'
            | b'>' | b'\'' | b'"' | b'%' | b'@' | b'`' => false,
            _ => true,
        };
        let clear = memchr::memchr3_iter(b':', b'#', b'\t', line).all(|at| match line[at] {
            b':' => !matches!(line.get(at + 1), None | Some(b' ')),
            b'#' => at > 0 && line[at - 1] != b' ',
            _ => false,
        });
        if begins && clear { self.text.get(from..to) } else { None }
    }
}
