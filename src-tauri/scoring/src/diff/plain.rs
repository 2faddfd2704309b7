//! **Pure.** Renders a comparison as lines for a terminal, split into styled spans that the caller
//! may colour.
use super::display::{Kind, counted};
use super::side::{Columns, FoldItem};
use super::table::{Table, TableCell, TableRow};
use super::{Diff, PieceKind, words};
use std::borrow::Cow;

/// Maximum width of a cell, in characters.
const WIDEST: usize = 60;
/// Number of columns above which lines are rendered instead of a table.
const MOST_COLUMNS: usize = 12;
/// Number of equal lines shown around a difference.
const AROUND: usize = 3;
/// Maximum number of lines.
const MOST_LINES: usize = 2_000;

/// Styled part of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// Style of the part.
    pub style: Style,
    /// Its text.
    pub text: String,
}

/// Style of a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Style {
    /// Normal text.
    Plain,
    /// Less important text: headings, equal parts.
    Faint,
    /// Expected, but missing.
    Missing,
    /// Present, but not expected.
    Extra,
    /// Equal in another notation, or moved.
    Alike,
}

/// Renders a comparison as lines, without its summary. `visible` must return text on one line
/// without terminal control sequences.
pub fn plain(diff: &Diff<'_>, visible: &dyn Fn(&str) -> String) -> Vec<Vec<Span>> {
    match Table::from_diff(diff) {
        _ if diff.root.kind() == Kind::Same => Vec::new(),
        Some(table)
            if table.of.is_none() && table.columns.len() <= MOST_COLUMNS && !table.is_empty() =>
        {
            of_table(&table, visible)
        }
        _ => of_lines(diff, visible),
    }
}

fn span(style: Style, text: impl Into<String>) -> Span {
    Span { style, text: text.into() }
}

/// Renders the rows that are not equal as a table.
fn of_table(table: &Table<'_>, visible: &dyn Fn(&str) -> String) -> Vec<Vec<Span>> {
    let heads = ["", "row"].into_iter().map(str::to_owned);
    let heads: Vec<String> =
        heads.chain(table.columns.iter().map(|column| short(&visible(&column.name)))).collect();
    let mut rows: Vec<Vec<Vec<Span>>> =
        vec![heads.into_iter().map(|head| vec![span(Style::Faint, head)]).collect()];
    let mut equal = 0;
    let mut left_out = 0;
    for at in 0..table.len() {
        if table.is_same(at) {
            equal += 1;
        } else if rows.len() > MOST_LINES {
            left_out += 1;
        } else {
            rows.extend(table.row(at).map(|row| cells(&row, visible)));
        }
    }
    let mut lines = aligned(&rows);
    for (count, what) in [(equal, "equal"), (left_out, "more")] {
        if count > 0 {
            lines.push(vec![span(
                Style::Faint,
                format!("{count} {what} {}", if count == 1 { "row" } else { "rows" }),
            )]);
        }
    }
    lines
}

fn cells(row: &TableRow<'_>, visible: &dyn Fn(&str) -> String) -> Vec<Vec<Span>> {
    let (word, style) = match row.kind {
        Kind::Missing => ("missing", Style::Missing),
        Kind::Extra => ("extra", Style::Extra),
        Kind::Changed => ("differs", Style::Plain),
        Kind::Alike => ("alike", Style::Alike),
        Kind::Same => ("", Style::Plain),
    };
    let place = |at: Option<usize>| at.map_or_else(String::new, |at| (at + 1).to_string());
    let mut state = vec![span(style, word)];
    if row.moved {
        let gap = if word.is_empty() { "" } else { ", " };
        state.push(span(
            Style::Alike,
            format!("{gap}moved {} → {}", place(row.from), place(row.to)),
        ));
    }
    let stands =
        if row.from.is_some() { place(row.from) } else { format!("→ {}", place(row.to)) };
    let mut cells = vec![state, vec![span(Style::Faint, stands)]];
    cells.extend(
        row.cells
            .iter()
            .map(|cell| cell.as_ref().map_or_else(Vec::new, |cell| of_cell(cell, visible))),
    );
    cells
}

fn of_cell(cell: &TableCell<'_>, visible: &dyn Fn(&str) -> String) -> Vec<Span> {
    let shown = |value: &Option<Cow<'_, touchstone_model::value::Value>>| {
        value.as_ref().map(|value| short(&visible(&words(value)))).unwrap_or_default()
    };
    let (left, right) = (shown(&cell.left), shown(&cell.right));
    let mut spans = match cell.kind {
        Kind::Same => vec![span(Style::Plain, left)],
        Kind::Missing => vec![span(Style::Missing, left)],
        Kind::Extra => vec![span(Style::Extra, right)],
        Kind::Changed => {
            vec![span(Style::Missing, left), span(Style::Faint, " → "), span(Style::Extra, right)]
        }
        Kind::Alike => {
            vec![span(Style::Plain, left), span(Style::Faint, " = "), span(Style::Alike, right)]
        }
    };
    if let Some(note) = &cell.note {
        spans.push(span(Style::Faint, format!(" ({})", visible(note))));
    }
    spans
}

fn short(text: &str) -> String {
    match text.char_indices().nth(WIDEST) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

/// Pads cells to columns, two spaces apart.
fn aligned(rows: &[Vec<Vec<Span>>]) -> Vec<Vec<Span>> {
    let width = |cell: &[Span]| cell.iter().map(|span| span.text.chars().count()).sum::<usize>();
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns)
        .map(|column| {
            rows.iter().filter_map(|row| row.get(column)).map(|cell| width(cell)).max().unwrap_or(0)
        })
        .collect();
    let line = |row: &Vec<Vec<Span>>| {
        let last = row.iter().rposition(|cell| width(cell) > 0).unwrap_or(0);
        let mut line = Vec::new();
        for (column, cell) in row.iter().enumerate().take(last + 1) {
            line.extend(cell.iter().filter(|span| !span.text.is_empty()).cloned());
            if column < last {
                line.push(span(Style::Plain, " ".repeat(widths[column] - width(cell) + 2)));
            }
        }
        line
    };
    rows.iter().map(line).collect()
}

/// Renders both sides as a unified diff: `-` expected, `+` actual.
fn of_lines(diff: &Diff<'_>, visible: &dyn Fn(&str) -> String) -> Vec<Vec<Span>> {
    let columns = Columns::from_diff(diff);
    let mut lines: Vec<Vec<Span>> = Vec::new();
    for shown in columns.folded(AROUND) {
        if lines.len() > MOST_LINES {
            lines.push(vec![span(Style::Faint, "… and so on")]);
            break;
        }
        match shown {
            FoldItem::Folded(range) => {
                lines.push(vec![span(
                    Style::Faint,
                    format!("  … {}", counted(range.len(), "equal line")),
                )]);
            }
            FoldItem::Line(at) => {
                lines.extend(columns.line(at).iter().flat_map(|line| of_line(line, visible)));
            }
        }
    }
    lines
}

fn of_line(line: &super::side::Line<'_>, visible: &dyn Fn(&str) -> String) -> Vec<Vec<Span>> {
    if line.kind == Kind::Same {
        let text = line.left.map_or("", |left| left.text);
        return vec![vec![span(Style::Plain, format!("  {}", visible(text)))]];
    }
    let pieces = line.pieces();
    let quiet = line.kind == Kind::Alike;
    let side = |sign: &str, style: Style, other: PieceKind| {
        let style = if quiet { Style::Alike } else { style };
        let mut spans = vec![span(style, format!("{sign} "))];
        spans.extend(pieces.iter().filter(|piece| piece.kind != other).map(|piece| {
            let style = if piece.kind == PieceKind::Same { Style::Plain } else { style };
            span(style, visible(&piece.text))
        }));
        spans
    };
    let left = line.left.map(|_| side("-", Style::Missing, PieceKind::Added));
    let right = line.right.map(|_| side("+", Style::Extra, PieceKind::Removed));
    left.into_iter().chain(right).collect()
}
