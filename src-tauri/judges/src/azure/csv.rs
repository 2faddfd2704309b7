//! **Pure.** CSV parser after RFC 4180: quoted cells, line breaks within quotes, and any kind of
//! line ending. Semicolons and tabs are detected as separators too, since programs in some locales
//! write them.

/// A CSV record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Record {
    /// Line on which the record begins, from 1.
    pub(super) line: usize,
    pub(super) cells: Vec<Cell>,
    /// True when a quote was opened and never closed.
    pub(super) open: bool,
}

/// A cell. An empty quoted cell is an empty text; an empty unquoted cell is a missing value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Cell {
    Plain(String),
    Quoted(String),
}

impl Record {
    /// Returns whether the line is blank.
    pub(super) fn is_blank(&self) -> bool {
        matches!(self.cells.as_slice(), [Cell::Plain(text)] if text.trim().is_empty())
    }
}

/// Alternative separators.
const OTHERS: [char; 2] = [';', '\t'];

/// Detects the separator of a text. Returns a comma unless the header contains no comma and splits,
/// with another separator, into as many cells as the first row.
pub(super) fn separator(text: &str) -> char {
    let cells = |separator: char| {
        let mut first = records(text, separator)
            .filter(|record| !record.is_blank())
            .map(|record| record.cells.len());
        (first.next().unwrap_or(0), first.next())
    };
    if cells(',').0 != 1 {
        return ',';
    }
    let fits = |other: &char| {
        let (header, row) = cells(*other);
        header > 1 && row.is_none_or(|row| row == header)
    };
    OTHERS.into_iter().find(fits).unwrap_or(',')
}

/// Returns the records of a text in order.
pub(super) fn records(text: &str, separator: char) -> impl Iterator<Item = Record> {
    let mut reader = Reader { text, at: 0, line: 1, separator };
    std::iter::from_fn(move || reader.record())
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    line: usize,
    separator: char,
}

impl<'a> Reader<'a> {
    fn record(&mut self) -> Option<Record> {
        if self.at >= self.text.len() {
            return None;
        }
        let mut record = Record { line: self.line, cells: Vec::new(), open: false };
        loop {
            record.cells.push(self.cell(&mut record.open));
            if !self.eat(self.separator.encode_utf8(&mut [0; 4])) {
                break;
            }
        }
        if self.eat("\r\n") || self.eat("\n") || self.eat("\r") {
            self.line += 1;
        }
        Some(record)
    }

    fn cell(&mut self, open: &mut bool) -> Cell {
        if !self.eat("\"") {
            return Cell::Plain(self.until(&[self.separator, '\r', '\n']).to_owned());
        }
        let mut text = String::new();
        loop {
            let part = self.until(&['"']);
            self.line += part.matches('\n').count();
            text.push_str(part);
            if !self.eat("\"") {
                *open = true;
                break;
            }
            if !self.eat("\"") {
                break;
            }
            text.push('"');
        }
        // Text after a closing quote belongs to the cell, like in other CSV readers.
        text.push_str(self.until(&[self.separator, '\r', '\n']));
        Cell::Quoted(text)
    }

    fn until(&mut self, ends: &[char]) -> &'a str {
        let rest = &self.text[self.at..];
        let part = &rest[..rest.find(ends).unwrap_or(rest.len())];
        self.at += part.len();
        part
    }

    fn eat(&mut self, what: &str) -> bool {
        let there = self.text[self.at..].starts_with(what);
        self.at += if there { what.len() } else { 0 };
        there
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn format_records(text: &str) -> Vec<String> {
        let cell = |cell: &Cell| match cell {
            Cell::Plain(text) => text.clone(),
            Cell::Quoted(text) => format!("«{text}»"),
        };
        let record = |record: Record| {
            let cells: Vec<String> = record.cells.iter().map(cell).collect();
            format!(
                "{}: {}{}",
                record.line,
                cells.join("|"),
                if record.open { " open" } else { "" }
            )
        };
        records(text, ',').map(record).collect()
    }

    #[test]
    fn quotes_hold_commas_quotes_and_line_ends() {
        assert_eq!(
            format_records("a,b\r\n\"1,\r\n\"\"2\"\"\",\r\n\n,\"\"\n"),
            ["1: a|b", "2: «1,\r\n\"2\"»|", "4: ", "5: |«»"]
        );
        assert_eq!(format_records("a\rb"), ["1: a", "2: b"]);
        assert_eq!(format_records("a,\"b\nc"), ["1: a|«b\nc» open"]);
        assert_eq!(format_records("\"a\"b,c"), ["1: «ab»|c"]);
        assert_eq!(format_records(""), Vec::<String>::new());
    }

    #[test]
    fn semicolons_and_tabs_stand_for_commas_where_the_header_has_none_and_the_row_below_it_has_as_many()
     {
        for (text, found) in [
            ("a,b\n1;2,3", ','),
            ("a;b\n1;2", ';'),
            ("\"a\";\"b\"\r\n\"1;\n5\";2\r\n", ';'),
            ("a\tb; c\n1\t2", '\t'),
            ("\na;b", ';'),
            // A column name that contains a separator.
            ("question; please\nwhy\n", ','),
            ("a;b\n1,5;2", ';'),
            ("a", ','),
            ("", ','),
        ] {
            assert_eq!(separator(text), found, "{text:?}");
        }
        let cells: Vec<usize> =
            records("a;b\n1,5;2", ';').map(|record| record.cells.len()).collect();
        assert_eq!(cells, [2, 2]);
    }

    proptest! {
        #[test]
        fn what_is_quoted_is_read_as_it_was(rows in prop::collection::vec(prop::collection::vec("[a\",\n\r é]{0,5}", 1..4), 1..5)) {
            let line = |row: &Vec<String>| row.iter().map(|cell| format!("\"{}\"", cell.replace('"', "\"\""))).collect::<Vec<_>>().join(",");
            let text: Vec<String> = rows.iter().map(line).collect();
            let read: Vec<Vec<Cell>> = records(&text.join("\n"), ',').map(|record| record.cells).collect();
            let expected: Vec<Vec<Cell>> = rows.iter().map(|row| row.iter().cloned().map(Cell::Quoted).collect()).collect();
            prop_assert_eq!(read, expected);
        }
    }
}
