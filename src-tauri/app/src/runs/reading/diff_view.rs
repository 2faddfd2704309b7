//! **Pure.** Converts a comparison of two answers for the page: a window of table rows and of
//! side-by-side lines, bounded in size however large the answers are.
use super::pieces::{Budget, short, weight};
use super::run_cache::of_value;
use touchstone_api::{
    DiffCell, DiffKind, DiffLine, DiffRequest, DiffRow, DiffSide, DiffView, Span, TableColumn,
    TextChange,
};
use touchstone_model::value::Value;
use touchstone_scoring::diff::{
    Columns, Diff, FoldItem, Kind, Line, LineSide, Options, Piece, PieceKind, Table, TableCell,
    TableRow, diff, words,
};

/// Maximum number of rows and of lines sent at once.
const MAX_ROWS: usize = 500;
const MAX_LINES: usize = 1_000;
/// Maximum number of columns shown.
const MAX_COLUMNS: usize = 200;
/// Maximum bytes shown of a name, of a cell and of a line.
const MAX_NAME: usize = 200;
const MAX_CELL: usize = 2_000;
const MAX_LINE: usize = 4_000;
/// Maximum JSON bytes of the rows of one reply, and of its lines.
const MAX_REPLY: usize = 384 << 10;
/// Estimated JSON overhead of a cell, a piece or a line, in bytes.
const FRAME: usize = 60;
/// Maximum number of difference positions sent.
const MAX_STOPS: usize = 500;
/// Number of equal lines shown around a difference.
const AROUND: usize = 3;

/// The comparison of two answers.
pub(super) struct Compared {
    diff: Diff<'static>,
    lines: Columns,
    /// Lines when runs of equal lines are folded.
    folded: Vec<FoldItem>,
    /// Indexes of the rows that differ.
    differing: Vec<usize>,
    /// `None` if there is no answer.
    summary: Option<String>,
    notes: Vec<String>,
    /// Approximate memory in bytes.
    pub(super) weight: usize,
}

impl Compared {
    /// Compares an answer with the value on the left. Without an answer, everything on the left is
    /// missing.
    pub(super) fn new(
        left: &Value,
        right: Option<&Value>,
        options: &Options,
        mut notes: Vec<String>,
    ) -> Self {
        let nothing = match left {
            Value::List(_) => Value::List(Vec::new()),
            Value::Map(_) => Value::Map(Vec::new()),
            _ => Value::Null,
        };
        let diff = diff(left, right.unwrap_or(&nothing), options);
        let lines = if right.is_some() {
            Columns::from_diff(&diff)
        } else {
            Columns::from_single(left, Kind::Missing)
        };
        let summary = right.map(|_| diff.summary());
        let table = Table::from_diff(&diff);
        let rows = table.iter().flat_map(|table| (0..table.len()).filter(|at| !table.is_same(*at)));
        let differing: Vec<usize> = rows.collect();
        if lines.cut {
            notes
                .push(format!("Only the first {} lines are shown beside each other.", lines.len()));
        }
        let folded = lines.folded(AROUND);
        let weight = 2 * (of_value(left) + right.map_or(0, of_value))
            + lines.len() * 80
            + differing.len() * 8;
        Self { lines, folded, differing, summary, notes, weight, diff: diff.into_owned() }
    }

    /// Returns the requested window of the comparison.
    pub(super) fn window(&self, request: &DiffRequest) -> DiffView {
        let table = Table::from_diff(&self.diff);
        let changed_only = request.changed_only;
        let all_rows = table.as_ref().map_or(0, Table::len);
        let total_rows = if changed_only { self.differing.len() } else { all_rows };
        let total_lines = if changed_only { self.folded.len() } else { self.lines.len() };
        DiffView {
            summary: self.summary.clone().unwrap_or_else(|| "no answer".to_owned()),
            equal: self.summary.is_some() && self.diff.is_equal(),
            coarse: self.diff.coarse || self.lines.coarse,
            aligned: table
                .as_ref()
                .and_then(Table::alignment)
                .map(touchstone_scoring::diff::Alignment::words),
            columns: table.as_ref().map(columns).unwrap_or_default(),
            rows: table.as_ref().map(|table| self.rows(table, request)).unwrap_or_default(),
            total_rows: total_rows as u64,
            lines: self.some_lines(request),
            total_lines: total_lines as u64,
            stops: self.stops(changed_only),
            notes: self.notes.clone(),
        }
    }

    fn rows(&self, table: &Table<'_>, request: &DiffRequest) -> Vec<DiffRow> {
        let mut budget = Budget::new(MAX_REPLY);
        let mut rows = Vec::new();
        let total = if request.changed_only { self.differing.len() } else { table.len() };
        for at in clamp_span(request.rows, total, MAX_ROWS) {
            let at = if request.changed_only { self.differing[at] } else { at };
            let Some(row) = table.row(at) else { break };
            rows.push(one_row(&row, &mut budget));
            if budget.left == 0 {
                break;
            }
        }
        rows
    }

    fn some_lines(&self, request: &DiffRequest) -> Vec<DiffLine> {
        let mut budget = Budget::new(MAX_REPLY);
        let mut lines = Vec::new();
        let total = if request.changed_only { self.folded.len() } else { self.lines.len() };
        for at in clamp_span(request.lines, total, MAX_LINES) {
            let shown = if request.changed_only { &self.folded[at] } else { &FoldItem::Line(at) };
            lines.push(match shown {
                FoldItem::Folded(range) => DiffLine::Folded { count: count(range.len()) },
                FoldItem::Line(at) => {
                    let Some(line) = self.lines.line(*at) else { break };
                    one_line(&line, &mut budget)
                }
            });
            if budget.left == 0 {
                break;
            }
        }
        lines
    }

    /// Returns the positions where differences begin, among the lines shown.
    fn stops(&self, changed_only: bool) -> Vec<u32> {
        let differs = |kind: Kind| matches!(kind, Kind::Changed | Kind::Missing | Kind::Extra);
        let at_line = |at: usize| {
            differs(self.lines.kind(at)) && (at == 0 || !differs(self.lines.kind(at - 1)))
        };
        let places: Box<dyn Iterator<Item = usize>> = if changed_only {
            let begins = |(_, shown): &(usize, &FoldItem)| matches!(shown, FoldItem::Line(at) if at_line(*at));
            Box::new(self.folded.iter().enumerate().filter(begins).map(|(place, _)| place))
        } else {
            Box::new((0..self.lines.len()).filter(|at| at_line(*at)))
        };
        places.take(MAX_STOPS).map(count).collect()
    }
}

/// Clamps a requested span to the available and the permitted number of items.
fn clamp_span(span: Span, total: usize, most: usize) -> std::ops::Range<usize> {
    let start = (span.offset as usize).min(total);
    start..start.saturating_add((span.limit as usize).min(most)).min(total)
}

fn columns(table: &Table<'_>) -> Vec<TableColumn> {
    let column = |column: &touchstone_scoring::diff::Column<'_>| TableColumn {
        name: short(&column.name, MAX_NAME),
        numeric: column.numeric,
    };
    table.columns.iter().take(MAX_COLUMNS).map(column).collect()
}

fn one_row(row: &TableRow<'_>, budget: &mut Budget) -> DiffRow {
    let place = |at: Option<usize>| at.map(|at| count(at + 1));
    budget.spend(2 * FRAME);
    DiffRow {
        kind: kind(row.kind),
        label: budget.name(&row.label, MAX_NAME),
        from: place(row.from),
        to: place(row.to),
        moved: row.moved,
        cells: row
            .cells
            .iter()
            .take(MAX_COLUMNS)
            .map(|cell| one_cell(cell.as_ref(), budget))
            .collect(),
    }
}

fn one_cell(cell: Option<&TableCell<'_>>, budget: &mut Budget) -> DiffCell {
    budget.spend(FRAME);
    let Some(cell) = cell else {
        return DiffCell { kind: DiffKind::Absent, left: None, right: None, note: None };
    };
    let [left, right] = [&cell.left, &cell.right].map(|value| value.as_deref().map(words));
    let from = from_difference(left.as_deref(), right.as_deref(), MAX_CELL);
    let mut text = |text: Option<std::borrow::Cow<'_, str>>| {
        let text = &text?[from..];
        let shown = budget.fit(text, MAX_CELL);
        let (before, after) =
            (if from > 0 { "…" } else { "" }, if shown.len() < text.len() { "…" } else { "" });
        Some(format!("{before}{shown}{after}"))
    };
    let (left, right) = (text(left), text(right));
    let note = cell.note.as_ref().map(|note| budget.name(note, MAX_NAME));
    DiffCell { kind: kind(cell.kind), left, right, note }
}

fn one_line(line: &Line<'_>, budget: &mut Budget) -> DiffLine {
    budget.spend(2 * FRAME);
    let [left, right] = [line.left, line.right].map(|side| side.map(|side| side.text));
    let from = from_difference(left, right, MAX_LINE);
    let whole =
        |side: Option<LineSide<'_>>| side.is_none_or(|side| side.text.len() - from <= MAX_LINE);
    let (left_whole, right_whole) = (whole(line.left), whole(line.right));
    let cut = |side| cut_line(side, from);
    let short = Line { kind: line.kind, left: line.left.map(cut), right: line.right.map(cut) };
    let pieces = short.pieces();
    let mut side = |side: LineSide<'_>, own: PieceKind, whole: bool| {
        let kept = pieces.iter().filter(|piece| piece.kind == PieceKind::Same || piece.kind == own);
        let mut pieces: Vec<TextChange> =
            kept.filter_map(|piece| one_piece(piece, budget)).collect();
        let left_out = || TextChange { text: "…".to_owned(), change: DiffKind::Same };
        if from > 0 {
            pieces.insert(0, left_out());
        }
        if !whole {
            pieces.push(left_out());
        }
        DiffSide { number: side.number, pieces }
    };
    let left = short.left.map(|line| side(line, PieceKind::Removed, left_whole));
    let right = short.right.map(|line| side(line, PieceKind::Added, right_whole));
    DiffLine::Pair { change: kind(line.kind), left, right }
}

fn cut_line(side: LineSide<'_>, from: usize) -> LineSide<'_> {
    let text = &side.text[from..];
    LineSide { text: &text[..text.floor_char_boundary(MAX_LINE)], ..side }
}

/// Returns where to begin to show two texts of which at most `most` bytes are shown: shortly before
/// their first difference, if it is further behind; else 0.
fn from_difference(left: Option<&str>, right: Option<&str>, most: usize) -> usize {
    let (Some(left), Some(right)) = (left, right) else { return 0 };
    let equal = left.bytes().zip(right.bytes()).take_while(|(a, b)| a == b).count();
    if left == right || equal < most / 2 {
        return 0;
    }
    left.floor_char_boundary(equal - most / 4)
}

fn one_piece(piece: &Piece, budget: &mut Budget) -> Option<TextChange> {
    budget.spend(FRAME);
    let text = budget.fit(&piece.text, weight(&piece.text));
    let change = match piece.kind {
        PieceKind::Same => DiffKind::Same,
        PieceKind::Removed => DiffKind::Missing,
        PieceKind::Added => DiffKind::Extra,
    };
    (!text.is_empty()).then(|| TextChange { text: text.to_owned(), change })
}

fn kind(kind: Kind) -> DiffKind {
    match kind {
        Kind::Same => DiffKind::Same,
        Kind::Alike => DiffKind::Alike,
        Kind::Changed => DiffKind::Changed,
        Kind::Missing => DiffKind::Missing,
        Kind::Extra => DiffKind::Extra,
    }
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_shown_from_shortly_before_their_first_difference() {
        let same = "é".repeat(5_000);
        let (left, right) = (format!("{same}left"), format!("{same}right"));
        let from = from_difference(Some(&left), Some(&right), MAX_LINE);
        assert!(left[from..].len() < MAX_LINE && left[from..].ends_with("left"));
        assert!(right[from..].ends_with("right"));
        for (one, other) in [("abc", "abd"), (left.as_str(), left.as_str())] {
            assert_eq!(from_difference(Some(one), Some(other), MAX_LINE), 0);
        }
        assert_eq!(from_difference(None, Some(&right), MAX_LINE), 0);
    }
}
