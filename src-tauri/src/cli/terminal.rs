//! Terminal output: escapes control characters of file contents, aligns columns, and uses colour
//! only where it is supported.
use std::{
    borrow::Cow,
    fmt::Write as _,
    io::{self, Write},
};
use touchstone_app::error::AppError;
pub(super) use touchstone_app::visible::{lines, one_line};

/// Prints an error and its hint on standard error.
pub(super) fn complain(error: &AppError) {
    let mut err = io::stderr().lock();
    let _ = writeln!(err, "{}", lines(&error.message));
    if let Some(hint) = &error.hint {
        let _ = writeln!(err, "{}", lines(hint));
    }
}

/// Applies colours, or leaves text plain if false.
#[derive(Clone, Copy)]
pub(super) struct Paint(pub(super) bool);

impl Paint {
    fn wrap(self, code: &str, text: &str) -> String {
        if self.0 { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
    pub(super) fn bold(self, text: &str) -> String {
        self.wrap("1", text)
    }
    pub(super) fn dim(self, text: &str) -> String {
        self.wrap("2", text)
    }
    pub(super) fn red(self, text: &str) -> String {
        self.wrap("31", text)
    }
    pub(super) fn green(self, text: &str) -> String {
        self.wrap("32", text)
    }
    pub(super) fn yellow(self, text: &str) -> String {
        self.wrap("33", text)
    }
}

/// Table with aligned columns. Cells are plain text; colour is applied after their width was
/// measured.
pub(super) struct Columns {
    heads: Vec<Head>,
    rows: Vec<Vec<String>>,
}

/// Head of a column.
pub(super) struct Head {
    /// Title of the column.
    pub(super) title: Cow<'static, str>,
    /// True for right alignment, used for numbers.
    pub(super) right: bool,
}

impl Columns {
    pub(super) fn new(heads: Vec<Head>) -> Self {
        Self { heads, rows: Vec::new() }
    }

    pub(super) fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// Writes the table. Each cell goes through `dress` with the index of its column, the heads are
    /// dimmed with `paint`, and every line begins with `indent`.
    pub(super) fn write(
        &self,
        out: &mut dyn Write,
        indent: &str,
        paint: Paint,
        dress: &dyn Fn(usize, &str) -> String,
    ) -> io::Result<()> {
        let width = |n: usize| {
            let cells =
                self.rows.iter().filter_map(|row| row.get(n)).map(|cell| cell.chars().count());
            cells.chain([self.heads[n].title.chars().count()]).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.heads.len()).map(width).collect();
        let titles: Vec<String> =
            self.heads.iter().map(|head| head.title.clone().into_owned()).collect();
        writeln!(out, "{indent}{}", self.line(&titles, &widths, &|_, text| paint.dim(text)))?;
        for row in &self.rows {
            writeln!(out, "{indent}{}", self.line(row, &widths, dress))?;
        }
        Ok(())
    }

    fn line(
        &self,
        cells: &[String],
        widths: &[usize],
        dress: &dyn Fn(usize, &str) -> String,
    ) -> String {
        let mut line = String::new();
        for (n, (cell, width)) in cells.iter().zip(widths).enumerate() {
            let pad = " ".repeat(width.saturating_sub(cell.chars().count()));
            let last = n + 1 == self.heads.len();
            let gap = if last { "" } else { "  " };
            let pad_after = if last { "" } else { pad.as_str() };
            let _ = if self.heads[n].right {
                write!(line, "{pad}{}{gap}", dress(n, cell))
            } else {
                write!(line, "{}{pad_after}{gap}", dress(n, cell))
            };
        }
        line.trim_end().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_file_steers_the_terminal() {
        let hostile = "\x1b]0;title\x07\x1b[2K\rALL PASSED\u{202e}gnp.exe\u{200b}\u{9b}31m";
        let shown = one_line(hostile);
        assert!(!shown.contains(|c: char| c.is_control() || c == '\u{202e}'), "{shown}");
        assert_eq!(one_line("a\nb\tc"), "a b c");
        assert_eq!(lines("a\nb\r\n\x1b[1m"), "a\nb\\u{d}\n\\u{1b}[1m");
        assert!(matches!(one_line("plain, café, 日本"), Cow::Borrowed(_)));
    }

    #[test]
    fn columns_stand_under_each_other_with_and_without_colour() {
        let head = |title: &'static str, right| Head { title: title.into(), right };
        let mut columns =
            Columns::new(vec![head("state", false), head("n", true), head("file", false)]);
        columns.row(vec!["error".into(), "7".into(), "é.yaml".into()]);
        columns.row(vec!["answered".into(), "1234".into(), "b.yaml".into()]);
        let written = |paint: Paint| {
            let mut out = Vec::new();
            columns
                .write(&mut out, "  ", paint, &|n, text| {
                    if n == 0 { paint.red(text) } else { text.to_owned() }
                })
                .unwrap();
            String::from_utf8(out).unwrap()
        };
        assert_eq!(
            written(Paint(false)),
            "  state        n  file\n  error        7  é.yaml\n  answered  1234  b.yaml\n"
        );
        assert!(written(Paint(true)).contains("\x1b[31merror\x1b[0m        7  é.yaml\n"));
    }
}
