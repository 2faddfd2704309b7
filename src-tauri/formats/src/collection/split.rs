//! **Pure.** Finds the start and end of each member in a file. Looks only at brackets and quotes
//! and does not recurse, so a file of any size is split without parsing it, and a broken member
//! does not affect the others.
use std::ops::Range;

/// A position in a JSON text that may be invalid.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: if bytes.starts_with("\u{feff}".as_bytes()) { 3 } else { 0 } }
    }

    /// Returns a cursor for a range of the text; offsets still count from the start of the text.
    pub(super) fn within(bytes: &'a [u8], span: &Range<usize>) -> Self {
        Self { bytes: &bytes[..span.end.min(bytes.len())], at: span.start }
    }

    /// Returns the next byte that is not whitespace, without consuming it.
    pub(super) fn peek(&mut self) -> Option<u8> {
        while matches!(self.bytes.get(self.at), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.at += 1;
        }
        self.bytes.get(self.at).copied()
    }

    /// Consumes the next byte if it is `byte`.
    pub(super) fn eat(&mut self, byte: u8) -> bool {
        let there = self.peek() == Some(byte);
        self.at += usize::from(there);
        there
    }

    /// Skips a string and returns its span including the quotes. Returns `None` if it is not
    /// closed.
    fn text(&mut self) -> Option<Range<usize>> {
        let start = self.at;
        self.at += 1;
        loop {
            let stop = memchr::memchr2(b'"', b'\\', self.bytes.get(self.at..)?)?;
            self.at += stop + 1;
            if self.bytes[self.at - 1] == b'"' {
                return Some(start..self.at);
            }
            self.at += 1;
        }
    }

    /// Skips a value and returns its span. Returns `None` if it does not end.
    pub(super) fn value(&mut self) -> Option<Range<usize>> {
        let start = self.peek().map(|_| self.at)?;
        let mut depth = 0_usize;
        loop {
            match *self.bytes.get(self.at)? {
                b'"' => {
                    self.text()?;
                }
                b'{' | b'[' => {
                    depth += 1;
                    self.at += 1;
                }
                b'}' | b']' if depth > 0 => {
                    depth -= 1;
                    self.at += 1;
                }
                b',' | b'}' | b']' if depth == 0 => return Some(start..self.at),
                _ => self.at += 1,
            }
            if depth == 0 && matches!(self.bytes[start], b'"' | b'{' | b'[') {
                return Some(start..self.at);
            }
        }
    }
}

/// Next entry of an object or a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Next {
    /// A key and its value; in a list the key is empty.
    Entry { key: Range<usize>, value: Range<usize> },
    /// A key whose value does not end, or a malformed entry: nothing after it can be split.
    Broken { key: Range<usize>, from: usize },
}

/// Iterator over the entries of an object or a list, up to the first malformed one.
pub(super) struct Entries<'a> {
    cursor: Cursor<'a>,
    end: u8,
    first: bool,
    done: bool,
}

/// Returns the entries of the object at the cursor, or `None` if there is no object.
pub(super) fn object(mut cursor: Cursor<'_>) -> Option<Entries<'_>> {
    cursor.eat(b'{').then_some(Entries { cursor, end: b'}', first: true, done: false })
}

/// Returns the items of the list at the cursor, or `None` if there is no list.
pub(super) fn list(mut cursor: Cursor<'_>) -> Option<Entries<'_>> {
    cursor.eat(b'[').then_some(Entries { cursor, end: b']', first: true, done: false })
}

impl Entries<'_> {
    fn entry(&mut self) -> Option<Next> {
        let first = std::mem::take(&mut self.first);
        if self.cursor.eat(self.end) {
            self.done = true;
            return None;
        }
        if !first && !self.cursor.eat(b',') {
            return Some(self.broken(0..0));
        }
        let mut key = 0..0;
        if self.end == b'}' {
            let quoted = self.cursor.peek() == Some(b'"');
            let named = if quoted { self.cursor.text() } else { None };
            match named {
                Some(span) if self.cursor.eat(b':') => key = span,
                _ => return Some(self.broken(0..0)),
            }
        }
        self.cursor.peek();
        let before = self.cursor;
        match self.cursor.value() {
            // A value is at least one byte long.
            Some(value) if !value.is_empty() => Some(Next::Entry { key, value }),
            _ => {
                self.cursor = before;
                Some(self.broken(key))
            }
        }
    }

    fn broken(&mut self, key: Range<usize>) -> Next {
        self.done = true;
        Next::Broken { key, from: self.cursor.at.min(self.cursor.bytes.len()) }
    }
}

impl Iterator for Entries<'_> {
    type Item = Next;

    fn next(&mut self) -> Option<Next> {
        if self.done { None } else { self.entry() }
    }
}

/// Returns the span of a value by its key, in the object at `within`.
pub(super) fn value_of(bytes: &[u8], within: &Range<usize>, name: &str) -> Option<Range<usize>> {
    let quoted =
        |key: &Range<usize>| bytes.get(key.start + 1..key.end - 1) == Some(name.as_bytes());
    object(Cursor::within(bytes, within))?.find_map(|next| match next {
        Next::Entry { key, value } if quoted(&key) => Some(value),
        _ => None,
    })
}

/// Iterator over the rows of a tab-separated table, as spans. Quoted cells may contain tabs and
/// line breaks.
pub(super) struct Rows<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// Returns the rows of a text.
pub(super) fn rows(bytes: &[u8]) -> Rows<'_> {
    Rows { bytes, at: Cursor::new(bytes).at }
}

impl Iterator for Rows<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        let start = self.at;
        if start >= self.bytes.len() {
            return None;
        }
        let mut place = In::Start;
        while let Some(byte) = self.bytes.get(self.at) {
            self.at += 1;
            place = match (place, byte) {
                (In::Quotes, b'"') => In::End,
                (In::Quotes, _) | (In::Start | In::End, b'"') => In::Quotes,
                (_, b'\n') => return Some(start..self.at - 1),
                (_, b'\t') => In::Start,
                _ => In::Text,
            };
        }
        Some(start..self.at)
    }
}

/// Position of a byte in a cell.
#[derive(Clone, Copy)]
enum In {
    Start,
    Text,
    Quotes,
    /// After a quote inside quotes, which ends them unless another quote follows.
    End,
}

/// Returns the cells of a row, at most `most`: a row of only tabs could have millions.
pub(super) fn cells(row: &str, most: usize) -> Vec<String> {
    let mut cells = Vec::new();
    let mut rest = row.strip_suffix('\r').unwrap_or(row);
    while cells.len() < most {
        let Some(mut inside) = rest.strip_prefix('"') else {
            let (cell, after) =
                rest.split_once('\t').map_or((rest, None), |(cell, after)| (cell, Some(after)));
            cells.push(cell.to_owned());
            match after {
                Some(after) => rest = after,
                None => return cells,
            }
            continue;
        };
        let mut cell = String::new();
        loop {
            let (text, after) = inside.split_once('"').unwrap_or((inside, ""));
            cell.push_str(text);
            let Some(more) = after.strip_prefix('"') else {
                inside = after;
                break;
            };
            cell.push('"');
            inside = more;
        }
        let (tail, after) =
            inside.split_once('\t').map_or((inside, None), |(tail, after)| (tail, Some(after)));
        cell.push_str(tail);
        cells.push(cell);
        match after {
            Some(after) => rest = after,
            None => return cells,
        }
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn cut(text: &str) -> Vec<(String, String)> {
        let piece = |span: Range<usize>| text[span].to_owned();
        let entries =
            object(Cursor::new(text.as_bytes())).or_else(|| list(Cursor::new(text.as_bytes())));
        let told = |next| match next {
            Next::Entry { key, value } => (piece(key), piece(value)),
            Next::Broken { key, from } => (piece(key), format!("broken from {}", &text[from..])),
        };
        entries.into_iter().flatten().map(told).collect()
    }

    #[test]
    fn entries_are_cut_at_commas_outside_of_brackets_and_quotes() {
        let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        for (text, entries) in [
            ("{}", vec![]),
            (
                "\u{feff} { \"a\" : {\"b\": [1, \"}\\\"\"]} , \"c\": 2 }",
                vec![pair("\"a\"", "{\"b\": [1, \"}\\\"\"]}"), pair("\"c\"", "2 ")],
            ),
            ("[1, [2, 3], \"x,y\"]", vec![pair("", "1"), pair("", "[2, 3]"), pair("", "\"x,y\"")]),
            ("{\"a\": oops, \"b\": 1}", vec![pair("\"a\"", "oops"), pair("\"b\"", "1")]),
            ("{\"a\": 1, \"b\": {\"c", vec![pair("\"a\"", "1"), pair("\"b\"", "broken from {\"c")]),
            ("{\"a\": 1, b: 2}", vec![pair("\"a\"", "1"), pair("", "broken from b: 2}")]),
            ("{\"a\": {} \"b\": 2}", vec![pair("\"a\"", "{}"), pair("", "broken from \"b\": 2}")]),
            ("{\"a\": , \"b\": 2}", vec![pair("\"a\"", "broken from , \"b\": 2}")]),
            ("{\"a", vec![pair("", "broken from a")]),
        ] {
            assert_eq!(cut(text), entries, "{text}");
        }
        assert_eq!(value_of(b"{\"x\": 1, \"y\": [2]}", &(0..18), "y"), Some(14..17));
    }

    #[test]
    fn rows_end_at_line_breaks_outside_of_quotes() {
        let text = "a\tb\r\n\"x\ny\"\t\"say \"\"z\"\"\"\nit's \"q\"\t\n";
        let read: Vec<_> = rows(text.as_bytes()).map(|row| cells(&text[row], usize::MAX)).collect();
        assert_eq!(read, [vec!["a", "b"], vec!["x\ny", "say \"z\""], vec!["it's \"q\"", ""]]);
        let row = "\"a\"\tb".to_owned() + &"\t".repeat(10_000_000);
        assert_eq!(
            (cells(&row, 3), cells(&row, 0).len()),
            (vec!["a".to_owned(), "b".to_owned(), String::new()], 0)
        );
    }

    proptest! {
        #[test]
        fn cutting_never_leaves_the_text_and_always_ends(text in "[\\[\\]{}\",:\\\\ a1\t\n]{0,60}") {
            let _ = cut(&text);
            prop_assert!(rows(text.as_bytes()).count() <= text.len());
            let covered: usize = rows(text.as_bytes()).map(|row| row.len() + 1).sum();
            prop_assert!(covered == text.len() || covered == text.len() + 1);
            rows(text.as_bytes()).for_each(|row| drop(cells(&text[row], usize::MAX)));
        }

        #[test]
        fn cells_are_those_that_were_written(table in prop::collection::vec(prop::collection::vec("[a\"\t\n' ]{0,5}", 1..4), 1..4)) {
            let quote = |cell: &String| format!("\"{}\"", cell.replace('"', "\"\""));
            let line = |cells: &Vec<String>| cells.iter().map(quote).collect::<Vec<_>>().join("\t") + "\n";
            let text: String = table.iter().map(line).collect();
            let read: Vec<Vec<String>> = rows(text.as_bytes()).map(|row| cells(&text[row], usize::MAX)).collect();
            prop_assert_eq!(read, table);
        }
    }
}
