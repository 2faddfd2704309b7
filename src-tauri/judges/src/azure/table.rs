//! **Pure.** Rows of a data file: JSON Lines, a JSON list, or CSV. Values keep their types: a text
//! that looks like a number is a text, and a number keeps its digits. Unreadable lines are reported
//! by line number; nothing is dropped silently.
use super::Quirks;
use super::csv::{self, Cell};
use super::{pandas, pandas_numbers};
use std::collections::HashMap;
use touchstone_formats::stabletoolbench::python_json;
use touchstone_model::error::ReadErrorKind;
use touchstone_model::json;
use touchstone_model::value::Value;

/// Rows with named columns.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Table {
    /// Column names, in the order of first occurrence.
    pub columns: Vec<String>,
    /// Rows, in order.
    pub rows: Vec<Row>,
    /// Lines that could not be parsed.
    pub wrong: Vec<BadLine>,
    /// Index of each column.
    places: HashMap<String, usize>,
}

/// Maximum number of columns.
const MOST_COLUMNS: usize = 2_000;
/// Maximum number of cells, including empty ones: results files write all columns in each row.
const MOST_CELLS: usize = 20_000_000;
/// Maximum number of bytes that a results file needs for names and punctuation alone, because each
/// row repeats the names.
const MOST_BYTES: usize = 400_000_000;
/// Below this number of bytes, the table may be arbitrarily sparse.
const FREE_BYTES: usize = 32_000_000;
/// Maximum ratio of these bytes to the bytes needed by the filled cells.
const EMPTIEST: usize = 16;
/// Punctuation bytes around a name and its value.
const SIGNS: usize = 16;

/// Checks the limits on columns and rows. The error is a sentence.
pub(super) fn check_limits(columns: usize, rows: usize) -> Result<(), String> {
    if columns > MOST_COLUMNS {
        return Err(format!(
            "There are more than {MOST_COLUMNS} columns. Give every row the same keys, and put what differs from row to row into an object."
        ));
    }
    if columns.saturating_mul(rows) > MOST_CELLS {
        return Err(format!(
            "{rows} rows with {columns} columns are more than {MOST_CELLS} cells. Leave out columns that no evaluator needs, or split the file."
        ));
    }
    Ok(())
}

/// A row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Line at which the row begins, from 1; in a JSON list, the number of the item.
    pub line: usize,
    /// Present cells with their column index, sorted by it. Absent cells take no memory.
    cells: Vec<(usize, Value)>,
}

/// A line that could not be parsed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadLine {
    /// Line number, from 1.
    pub line: usize,
    /// Message, a sentence that names the line.
    pub message: String,
}

impl Row {
    /// Returns the cell of the column with this index. A missing value differs from `null`.
    pub fn cell(&self, column: usize) -> Option<&Value> {
        let at = self.cells.binary_search_by_key(&column, |(known, _)| *known).ok()?;
        Some(&self.cells[at].1)
    }

    pub(super) fn set(&mut self, column: usize, value: Value) {
        if self.cells.last().is_none_or(|(last, _)| *last < column) {
            return self.cells.push((column, value));
        }
        match self.cells.binary_search_by_key(&column, |(known, _)| *known) {
            Ok(at) => self.cells[at].1 = value,
            Err(at) => self.cells.insert(at, (column, value)),
        }
    }
}

impl Table {
    /// Parses a file. The error is a sentence; unreadable lines are collected in `wrong`.
    pub fn read(text: &str, csv: bool, quirks: &Quirks) -> Result<Self, String> {
        let pandas = quirks.has("pandas_types");
        let is_list = text.trim_start_matches('\u{feff}').trim_start().starts_with('[');
        if pandas && !csv && (is_list || text.starts_with('\u{feff}')) {
            return Err(
                "The package reads JSON Lines without a mark of the byte order, and nothing else."
                    .to_owned(),
            );
        }
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut table = match (csv, is_list) {
            (true, _) => of_csv(text, pandas)?,
            (false, true) => of_list(text)?,
            (false, false) => of_lines(text, pandas)?,
        };
        table.is_filled()?;
        if pandas {
            pandas::coerce(&mut table, csv)?;
        }
        Ok(table)
    }

    /// Builds a table from the named values of each row. Fails with a sentence when a limit is
    /// exceeded.
    pub fn from_rows(
        rows: impl IntoIterator<Item = Vec<(String, Option<Value>)>>,
    ) -> Result<Self, String> {
        let mut table = Self::default();
        for (at, entries) in rows.into_iter().enumerate() {
            table.add(at + 1, entries)?;
        }
        table.is_filled()?;
        Ok(table)
    }

    /// Checks that the table is not too sparse for a file that repeats all columns in each row. The
    /// error is a sentence.
    pub(super) fn is_filled(&self) -> Result<(), String> {
        let size = |column: usize| self.columns[column].len() + SIGNS;
        let width: usize = (0..self.columns.len()).map(size).sum();
        let (rows, columns) = (self.rows.len(), self.columns.len());
        let all = width.saturating_mul(rows);
        let filled = || self.rows.iter().flat_map(|row| &row.cells);
        if all > FREE_BYTES && all / EMPTIEST > filled().map(|(column, _)| size(*column)).sum() {
            return Err(format!(
                "{rows} rows with {columns} columns hold only {} values. Give every row the same keys, and put what differs from row to row into an object.",
                filled().count()
            ));
        }
        if all > MOST_BYTES {
            return Err(format!(
                "The names of {columns} columns in each of {rows} rows are more than {MOST_BYTES} \
                 bytes. Leave out columns that no evaluator needs, or split the file."
            ));
        }
        Ok(())
    }

    /// Returns the value of a row in the column of that name.
    pub fn value(&self, row: usize, column: &str) -> Option<&Value> {
        self.rows.get(row)?.cell(*self.places.get(column)?)
    }

    /// Returns the index of a column, which is added if it is new.
    fn column(&mut self, name: String) -> usize {
        if let Some(at) = self.places.get(&name) {
            return *at;
        }
        self.columns.push(name.clone());
        self.places.insert(name, self.columns.len() - 1);
        self.columns.len() - 1
    }

    /// Appends a row. Fails when a limit is exceeded.
    pub(super) fn add(
        &mut self,
        line: usize,
        entries: impl IntoIterator<Item = (String, Option<Value>)>,
    ) -> Result<(), String> {
        let entries: Vec<_> = entries.into_iter().collect();
        let new = entries.iter().filter(|(key, _)| !self.places.contains_key(key)).count();
        check_limits(self.columns.len() + new, self.rows.len() + 1)?;
        self.put(line, entries);
        Ok(())
    }

    fn put(&mut self, line: usize, entries: impl IntoIterator<Item = (String, Option<Value>)>) {
        let mut row = Row { line, cells: Vec::new() };
        for (key, value) in entries {
            let column = self.column(key);
            if let Some(value) = value {
                row.set(column, value);
            }
        }
        row.cells.shrink_to_fit();
        self.rows.push(row);
    }

    /// Returns the table without the column of that name, if there is one.
    #[must_use]
    pub(super) fn without(mut self, column: &str) -> Self {
        if let Some(at) = self.places.get(column).copied() {
            self.columns.remove(at);
            self.places =
                self.columns.iter().enumerate().map(|(at, name)| (name.clone(), at)).collect();
            for row in &mut self.rows {
                row.cells.retain(|(column, _)| *column != at);
                row.cells
                    .iter_mut()
                    .filter(|(column, _)| *column > at)
                    .for_each(|(column, _)| *column -= 1);
            }
        }
        self
    }

    fn refuse(&mut self, line: usize, why: &str) {
        self.wrong.push(BadLine { line, message: format!("Line {line} {why}") });
    }
}

fn named(entries: Vec<(Value, Value)>) -> impl Iterator<Item = (String, Option<Value>)> {
    entries.into_iter().filter_map(|(key, value)| match key {
        Value::Text(key) => Some((key, Some(value))),
        _ => None,
    })
}

/// Parses a JSON text, in which Python may have written `NaN`. With `pandas`, the last of duplicate
/// keys counts. The error is the end of a sentence.
fn json_of(text: &str, pandas: bool) -> Result<Value, String> {
    let why = match json::read_python(text) {
        Ok(value) => return Ok(value),
        Err(why) => why,
    };
    match python_json::read(text).ok().filter(|_| pandas) {
        Some(value) => Ok(value.value()),
        None if why.kind == ReadErrorKind::Duplicate => Err(format!(
            "is not read: {} JSON allows that; which of both counts is not guessed here.",
            why.message
        )),
        None => Err(format!("is not JSON: {}", why.message)),
    }
}

fn of_lines(text: &str, pandas: bool) -> Result<Table, String> {
    let mut table = Table::default();
    for (at, line) in text.split('\n').enumerate() {
        let line = line.trim();
        if line.is_empty() {
            continue;
        }
        let value = json_of(line, pandas);
        let value = if pandas {
            value.and_then(|value| Ok(pandas_numbers::of_json(value)?))
        } else {
            value
        };
        match value {
            Ok(Value::Map(entries)) => table.add(at + 1, named(entries))?,
            Ok(_) => table.refuse(at + 1, "is not a JSON object."),
            Err(why) => table.refuse(at + 1, &why),
        }
    }
    Ok(table)
}

fn of_list(text: &str) -> Result<Table, String> {
    let items = match json_of(text, false) {
        Ok(Value::List(items)) => items,
        Ok(_) => return Err("The file is neither JSON Lines nor a JSON list.".to_owned()),
        Err(why) => return Err(format!("The file begins as a JSON list and {why}")),
    };
    let mut table = Table::default();
    for (at, item) in items.into_iter().enumerate() {
        match item {
            Value::Map(entries) => table.add(at + 1, named(entries))?,
            _ => table.refuse(at + 1, "of the list is not a JSON object."),
        }
    }
    Ok(table)
}

fn of_csv(text: &str, pandas: bool) -> Result<Table, String> {
    let mut table = Table::default();
    // The package supports commas only.
    let separator = if pandas { ',' } else { csv::separator(text) };
    let mut records = csv::records(text, separator).filter(|record| !record.is_blank());
    let Some(header) = records.next() else { return Ok(table) };
    let names = header.cells.into_iter().map(|cell| match cell {
        Cell::Plain(name) | Cell::Quoted(name) => name,
    });
    let names: Vec<String> = names.collect();
    for name in if pandas { pandas::distinct(names) } else { names } {
        if table.places.contains_key(&name) {
            return Err(format!("Two columns are named `{name}`."));
        }
        table.column(name);
    }
    for record in records {
        check_limits(table.columns.len(), table.rows.len() + 1)?;
        let (found, wanted) = (record.cells.len(), table.columns.len());
        if record.open {
            table.refuse(record.line, "opens a quote that is never closed.");
        } else if found > wanted || (found < wanted && !pandas) {
            let cells = if found == 1 { "1 cell".to_owned() } else { format!("{found} cells") };
            table.refuse(record.line, &format!("has {cells}, and the header has {wanted}."));
        } else {
            let cells =
                record.cells.into_iter().enumerate().filter_map(|(column, cell)| match cell {
                    Cell::Plain(text) if text.is_empty() => None,
                    Cell::Plain(text) | Cell::Quoted(text) => Some((column, Value::Text(text))),
                });
            table.rows.push(Row { line: record.line, cells: cells.collect() });
        }
    }
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format_table(text: &str, csv: bool, switches: &[&str]) -> String {
        let quirks = Quirks::from_names(switches.iter().copied()).unwrap();
        let table = match Table::read(text, csv, &quirks) {
            Ok(table) => table,
            Err(why) => return why,
        };
        let cell = |cell: Option<&Value>| {
            cell.map_or_else(|| "-".to_owned(), |value| json::write(value, false))
        };
        let mut lines = vec![table.columns.join(" | ")];
        for row in &table.rows {
            let cells: Vec<String> =
                (0..table.columns.len()).map(|at| cell(row.cell(at))).collect();
            lines.push(format!("{}: {}", row.line, cells.join(" | ")));
        }
        lines.extend(table.wrong.into_iter().map(|wrong| wrong.message));
        lines.join("\n")
    }

    const MIXED: &str = "\u{feff}{\"a\": 1.50, \"b\": \"007\", \"c\": 12345678901234567890}\r\n\r\n{\"b\": null, \"d\": [1.0]}\nnot json\n[1]\n{\"a\": NaN}";

    #[test]
    fn rows_keep_their_types_and_digits_and_lines_that_are_none_are_told() {
        insta::assert_snapshot!(format_table(MIXED, false, &[]), @r#"
        a | b | c | d
        1: 1.50 | "007" | 12345678901234567890 | -
        3: - | null | - | [1.0]
        6: ".nan" | - | - | -
        Line 4 is not JSON: This is not a JSON value.
        Line 5 is not a JSON object.
        "#);
        insta::assert_snapshot!(format_table("[{\"a\": 1}, 2]", false, &[]), @"
        a
        1: 1
        Line 2 of the list is not a JSON object.
        ");
        insta::assert_snapshot!(format_table("", false, &[]), @"");
        insta::assert_snapshot!(format_table("[{\"a\": 1}", false, &[]), @"The file begins as a JSON list and is not JSON: The JSON text ends in the middle.");
    }

    #[test]
    fn cells_of_csv_are_texts_and_rows_of_another_width_are_told() {
        let text =
            "\u{feff}q,r\r\n\"a, b\",\"1\n2\"\r\n,\"\"\r\n\r\n007,NA\r\nlost\r\n1,2,3\r\n\"open,";
        insta::assert_snapshot!(format_table(text, true, &[]), @r#"
        q | r
        2: "a, b" | "1\n2"
        4: - | ""
        6: "007" | "NA"
        Line 7 has 1 cell, and the header has 2.
        Line 8 has 3 cells, and the header has 2.
        Line 9 opens a quote that is never closed.
        "#);
        insta::assert_snapshot!(format_table("a;b\n1,5;\"x;y\"", true, &[]), @r#"
        a | b
        2: "1,5" | "x;y"
        "#);
        insta::assert_snapshot!(format_table("a;b\n1;x", true, &["pandas_types"]), @r#"
        a;b
        2: "1;x"
        "#);
        insta::assert_snapshot!(format_table("a,a\n1,2", true, &[]), @"Two columns are named `a`.");
        insta::assert_snapshot!(format_table("", true, &[]), @"");
    }

    #[test]
    fn a_file_whose_rows_all_have_other_keys_is_refused_before_it_fills_the_memory() {
        let rows: Vec<String> = (0..100_000).map(|at| format!("{{\"k{at}\": 1}}")).collect();
        let (lines, list) = (rows.join("\n"), format!("[{}]", rows.join(",")));
        let header = (0..=MOST_COLUMNS).map(|at| format!("k{at}")).collect::<Vec<_>>().join(",");
        let csv = format!("{header}\n1");
        for (text, csv) in [(lines, false), (list, false), (csv, true)] {
            let why = Table::read(&text, csv, &Quirks::default()).unwrap_err();
            assert!(why.starts_with("There are more than 2000 columns. Give every row"), "{why}");
        }
        assert_eq!(check_limits(MOST_COLUMNS, 10_000), Ok(()));
        assert!(
            check_limits(MOST_COLUMNS, 10_001)
                .unwrap_err()
                .starts_with("10001 rows with 2000 columns are more than")
        );
    }

    #[test]
    fn a_table_that_is_nearly_empty_is_refused_and_a_full_one_of_the_same_size_is_not() {
        let wide = (0..1_999).map(|at| format!("\"k{at}\":1")).collect::<Vec<_>>().join(",");
        let sparse = |rows: usize| format!("{{{wide}}}\n{}", "{\"k1998\":1}\n".repeat(rows));
        let why = Table::read(&sparse(9_900), false, &Quirks::default()).unwrap_err();
        assert!(
            why.starts_with("9901 rows with 1999 columns hold only 11899 values. Give every row"),
            "{why}"
        );
        assert_eq!(Table::read(&sparse(500), false, &Quirks::default()).unwrap().rows.len(), 501);
        // A row stores only its present cells.
        let table = Table::read(&sparse(500), false, &Quirks::default()).unwrap();
        assert_eq!((table.rows[0].cells.len(), table.rows[500].cells.len()), (1_999, 1));
        let full = format!(
            "{}\n{}",
            wide.replace("\":1", "").replace('"', ""),
            vec!["1"; 1_999].join(",") + "\n"
        );
        let (header, row) = full.split_once('\n').unwrap();
        assert_eq!(
            Table::read(&format!("{header}\n{}", row.repeat(1_000)), true, &Quirks::default())
                .unwrap()
                .rows
                .len(),
            1_000
        );
        let long = format!("{}\n{}", "k".repeat(1_000_000), "1\n".repeat(400));
        let why = Table::read(&long, true, &Quirks::default()).unwrap_err();
        assert!(
            why.starts_with("The names of 1 columns in each of 400 rows are more than"),
            "{why}"
        );
    }

    #[test]
    fn what_a_target_says_has_bounds_too() {
        let row = |at: usize| {
            (0..300)
                .map(move |key| (format!("k{}", at * 300 + key), Some(Value::Null)))
                .collect::<Vec<_>>()
        };
        let why = Table::from_rows((0..100).map(row)).unwrap_err();
        assert!(why.starts_with("There are more than 2000 columns."), "{why}");
        let sparse = (0..9_900).map(|at| {
            row(if at < 6 { at } else { 0 })
                .into_iter()
                .skip(if at < 6 { 0 } else { 299 })
                .collect()
        });
        let why = Table::from_rows(sparse).unwrap_err();
        assert!(why.starts_with("9900 rows with 1800 columns hold only"), "{why}");
    }

    #[test]
    fn the_last_of_two_values_under_a_key_counts_for_pandas_and_neither_for_us() {
        let text = "{\"a\": 1, \"a\": 2, \"b\": 3}\n{\"a\": 4, \"b\": NaN, \"b\": 5}";
        insta::assert_snapshot!(format_table(text, false, &["pandas_types"]), @r#"
        a | b
        1: 2 | 3
        2: 4 | 5
        "#);
        insta::assert_snapshot!(format_table("{\"a\": 1, \"a\": 2}\n{\"a\": 3}", false, &[]), @r#"
        a
        2: 3
        Line 1 is not read: The key `a` appears twice in the same object. JSON allows that; which of both counts is not guessed here.
        "#);
        insta::assert_snapshot!(format_table("[{\"a\": 1, \"a\": 2}]", false, &[]), @"\
            The file begins as a JSON list and is not read: The key `a` appears twice in the same \
            object. JSON allows that; which of both counts is not guessed here.");
    }

    #[test]
    fn values_are_found_by_the_name_of_their_column_also_after_one_was_left_out() {
        let table =
            Table::read("{\"a\": 1, \"b\": 2, \"c\": 3}", false, &Quirks::default()).unwrap();
        let number =
            |table: &Table, name: &str| table.value(0, name).map(|value| json::write(value, false));
        assert_eq!(number(&table, "c"), Some("3".to_owned()));
        let table = table.without("a");
        assert_eq!((number(&table, "a"), number(&table, "c")), (None, Some("3".to_owned())));
    }
}
