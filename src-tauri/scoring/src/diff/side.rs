//! **Pure.** Renders a comparison as two columns of YAML, line by line. Corresponding lines are
//! side by side, also those of a row that moved, under a line with its two positions.
use super::budget::Budget;
use super::display::Kind;
use super::text::{Stretch, each_stretch};
use super::{Diff, Field, Leaf, List, Node, Piece, PieceKind, Row, Side, Sides, text};
use std::borrow::Cow;
use std::ops::Range;
use touchstone_model::value::Value;
use touchstone_model::yaml;

/// Maximum number of lines.
const MOST_LINES: usize = 400_000;
/// Work budgets: for the lines of all changed texts, and for the words of one line.
const WORK: u64 = 30_000_000;
const WORK_OF_A_LINE: u64 = 1_000_000;

/// Lines of both sides, in two columns.
#[derive(Debug, Default)]
pub struct Columns {
    text: String,
    lines: Vec<Entry>,
    /// True if there were more lines than the limit.
    pub cut: bool,
    /// True if some texts were too long for their lines to be aligned well.
    pub coarse: bool,
}

#[derive(Debug, Clone)]
struct Entry {
    kind: Kind,
    left: Option<Range<usize>>,
    right: Option<Range<usize>>,
    /// Number of lines above, on each side.
    above: (u32, u32),
}

/// A pair of lines.
#[derive(Debug, Clone, PartialEq)]
pub struct Line<'a> {
    /// Relation of the two lines.
    pub kind: Kind,
    /// Expected line.
    pub left: Option<LineSide<'a>>,
    /// Actual line.
    pub right: Option<LineSide<'a>>,
}

/// A line of one side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineSide<'a> {
    /// Line number, from 1.
    pub number: u32,
    /// Its text.
    pub text: &'a str,
}

/// Item of a view in which equal ranges are folded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FoldItem {
    /// A line, by index.
    Line(usize),
    /// A folded range of equal lines.
    Folded(Range<usize>),
}

impl Columns {
    /// Renders both sides of a comparison.
    pub fn from_diff(diff: &Diff<'_>) -> Self {
        let mut columns = Columns::default();
        let mut budget = Budget::new(WORK);
        for (side, kind) in [(Side::Expected, Kind::Missing), (Side::Actual, Kind::Extra)] {
            if diff.root.is_hollow(side) {
                for pair in single_side(&yaml::write(&diff.root.side(side)), kind) {
                    columns.push(&pair);
                }
            }
        }
        for pair in
            whole_text(&diff.root, &mut budget).unwrap_or_else(|| block(&diff.root, &mut budget))
        {
            columns.push(&pair);
        }
        columns.coarse = budget.coarse;
        columns
    }

    /// Renders a single value as one side, with nothing on the other.
    pub fn from_single(value: &Value, kind: Kind) -> Self {
        let mut columns = Columns::default();
        let text = value.text().map_or_else(|| Cow::Owned(yaml::write(value)), Cow::Borrowed);
        for pair in single_side(&text, kind) {
            columns.push(&pair);
        }
        columns
    }

    /// Returns the number of lines.
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// Returns true if there are no lines.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Returns the relation of the two sides of a line.
    pub fn kind(&self, at: usize) -> Kind {
        self.lines.get(at).map_or(Kind::Same, |line| line.kind)
    }

    /// Returns a pair of lines.
    pub fn line(&self, at: usize) -> Option<Line<'_>> {
        let entry = self.lines.get(at)?;
        let side = |range: &Option<Range<usize>>, above: u32| {
            let text = self.text.get(range.clone()?)?;
            Some(LineSide { number: above + 1, text })
        };
        Some(Line {
            kind: entry.kind,
            left: side(&entry.left, entry.above.0),
            right: side(&entry.right, entry.above.1),
        })
    }

    /// Folds ranges of equal lines, except for `around` lines next to each difference.
    pub fn folded(&self, around: usize) -> Vec<FoldItem> {
        let mut shown = Vec::new();
        let mut at = 0;
        while at < self.lines.len() {
            if self.lines[at].kind != Kind::Same {
                shown.push(FoldItem::Line(at));
                at += 1;
                continue;
            }
            let end = (at..self.lines.len())
                .find(|at| self.lines[*at].kind != Kind::Same)
                .unwrap_or(self.lines.len());
            let first = if at == 0 { at } else { at + around };
            let last = if end == self.lines.len() { end } else { end.saturating_sub(around) };
            // Folding a single line would hide nothing.
            if first + 1 < last {
                shown.extend((at..first).map(FoldItem::Line));
                shown.push(FoldItem::Folded(first..last));
                shown.extend((last..end).map(FoldItem::Line));
            } else {
                shown.extend((at..end).map(FoldItem::Line));
            }
            at = end;
        }
        shown
    }

    fn push(&mut self, pair: &Pair) {
        if self.lines.len() >= MOST_LINES {
            self.cut = true;
            return;
        }
        let above = self.lines.last().map_or((0, 0), |last| {
            (
                last.above.0 + u32::from(last.left.is_some()),
                last.above.1 + u32::from(last.right.is_some()),
            )
        });
        let mut add = |line: &Option<String>| {
            let line = line.as_ref()?;
            let start = self.text.len();
            self.text.push_str(line);
            Some(start..self.text.len())
        };
        let left = add(&pair.left);
        let right = if pair.kind == Kind::Same { left.clone() } else { add(&pair.right) };
        self.lines.push(Entry { kind: pair.kind, left, right, above });
    }
}

impl Line<'_> {
    /// Returns the two lines in pieces; the left line is all pieces but the added ones.
    pub fn pieces(&self) -> Vec<Piece> {
        let whole =
            |kind: PieceKind, side: &LineSide<'_>| vec![Piece { kind, text: side.text.to_owned() }];
        match (&self.left, &self.right) {
            (Some(left), Some(right)) if left.text != right.text => {
                text(left.text, right.text, WORK_OF_A_LINE).pieces
            }
            (Some(left), Some(_)) => whole(PieceKind::Same, left),
            (Some(left), None) => whole(PieceKind::Removed, left),
            (None, Some(right)) => whole(PieceKind::Added, right),
            (None, None) => Vec::new(),
        }
    }
}

/// A pair of lines, not yet part of the columns.
struct Pair {
    kind: Kind,
    left: Option<String>,
    /// `None` also if the line equals the left one.
    right: Option<String>,
}

fn pair(kind: Kind, left: Option<&str>, right: Option<&str>) -> Pair {
    Pair { kind, left: left.map(str::to_owned), right: right.map(str::to_owned) }
}

/// Returns top-level texts literally, without YAML quoting.
fn whole_text(node: &Node<'_>, budget: &mut Budget) -> Option<Vec<Pair>> {
    match node {
        Node::Same(value) => Some(single_side(value.text()?, Kind::Same)),
        Node::Leaf(leaf) => Some(lines(leaf, (leaf.expected.text()?, leaf.actual.text()?), budget)),
        Node::Map(_) | Node::List(_) => None,
    }
}

fn block(node: &Node<'_>, budget: &mut Budget) -> Vec<Pair> {
    match node {
        Node::Same(value) => single_side(&yaml::write(value), Kind::Same),
        Node::Leaf(leaf) => both_sides(leaf, &leaf.expected, &leaf.actual, budget),
        Node::Map(fields) => fields.iter().flat_map(|field| of_field(field, budget)).collect(),
        Node::List(list) => list.rows.iter().flat_map(|row| of_row(row, budget)).collect(),
    }
}

/// Returns lines of one side only, or of both if they are equal.
fn single_side(text: &str, kind: Kind) -> Vec<Pair> {
    let line = |line| {
        if kind == Kind::Extra {
            pair(kind, None, Some(line))
        } else {
            pair(kind, Some(line), None)
        }
    };
    text.lines().map(line).collect()
}

/// Returns the aligned lines of two values.
fn both_sides(leaf: &Leaf<'_>, expected: &Value, actual: &Value, budget: &mut Budget) -> Vec<Pair> {
    lines(leaf, (&yaml::write(expected), &yaml::write(actual)), budget)
}

fn lines(leaf: &Leaf<'_>, (left, right): (&str, &str), budget: &mut Budget) -> Vec<Pair> {
    let (left, right): (Vec<&str>, Vec<&str>) = (left.lines().collect(), right.lines().collect());
    let mut pairs = Vec::new();
    each_stretch(&left, &right, budget, |stretch, _| match stretch {
        Stretch::Same(range) => {
            pairs.extend(left[range].iter().map(|line| pair(Kind::Same, Some(line), None)));
        }
        Stretch::Changed(removed, added) => {
            for at in 0..removed.len().max(added.len()) {
                let (left, right) =
                    (left[removed.clone()].get(at).copied(), right[added.clone()].get(at).copied());
                let kind = match (left, right) {
                    _ if leaf.equal => Kind::Alike,
                    (Some(_), None) => Kind::Missing,
                    (None, Some(_)) => Kind::Extra,
                    _ => Kind::Changed,
                };
                pairs.push(pair(kind, left, right));
            }
        }
    });
    pairs
}

fn of_field(field: &Field<'_>, budget: &mut Budget) -> Vec<Pair> {
    let entry = |key: &Value, value: &Value| Value::Map(vec![(key.clone(), value.clone())]);
    let other_key = field.actual_key.as_deref().unwrap_or(&field.key);
    let mut pairs = match &field.sides {
        Sides::Missing(value) => {
            single_side(&yaml::write(&entry(&field.key, value)), Kind::Missing)
        }
        Sides::Extra(value) => single_side(&yaml::write(&entry(&field.key, value)), Kind::Extra),
        Sides::Both(Node::Same(value)) if field.actual_key.is_none() => {
            single_side(&yaml::write(&entry(&field.key, value)), Kind::Same)
        }
        Sides::Both(Node::Leaf(leaf)) => both_sides(
            leaf,
            &entry(&field.key, &leaf.expected),
            &entry(other_key, &leaf.actual),
            budget,
        ),
        Sides::Both(node) => {
            let mut pairs = key_lines(node, &field.key, other_key);
            pairs.extend(block(node, budget).into_iter().map(|pair| indented(pair, "  ")));
            pairs
        }
    };
    // Fields that do not count are not marked as differences.
    for pair in pairs.iter_mut().filter(|pair| !field.counts && pair.kind != Kind::Same) {
        pair.kind = Kind::Alike;
    }
    pairs
}

/// Returns the key lines above a block. A key has its own line, unless there is nothing below it.
fn key_lines(node: &Node<'_>, key: &Value, other_key: &Value) -> Vec<Pair> {
    let head = |side: Side, key: &Value| {
        let hollow = node.is_hollow(side);
        let below = if hollow { node.side(side) } else { Value::List(vec![Value::Null]) };
        let text = yaml::write(&Value::Map(vec![(key.clone(), below)]));
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.truncate(lines.len() - usize::from(!hollow));
        lines
    };
    let (left, right) = (head(Side::Expected, key), head(Side::Actual, other_key));
    let kind = match left == right {
        true => Kind::Same,
        false if node.is_equal() => Kind::Alike,
        false => Kind::Changed,
    };
    let line =
        |at: usize| pair(kind, left.get(at).map(String::as_str), right.get(at).map(String::as_str));
    (0..left.len().max(right.len())).map(line).collect()
}

fn of_row(row: &Row<'_>, budget: &mut Budget) -> Vec<Pair> {
    let item = |value: &Value| yaml::write(&Value::List(vec![value.clone()]));
    let mut pairs = Vec::new();
    if let (true, Some(from), Some(to)) = (row.moved, row.from, row.to) {
        let place = |at: usize| format!("# place {}", at + 1);
        pairs.push(pair(Kind::Changed, Some(&place(from)), Some(&place(to))));
    }
    match &row.sides {
        Sides::Missing(value) => pairs.extend(single_side(&item(value), Kind::Missing)),
        Sides::Extra(value) => pairs.extend(single_side(&item(value), Kind::Extra)),
        Sides::Both(Node::Same(value)) => pairs.extend(single_side(&item(value), Kind::Same)),
        Sides::Both(Node::Leaf(leaf)) => {
            let list = |value: &Value| Value::List(vec![value.clone()]);
            pairs.extend(both_sides(leaf, &list(&leaf.expected), &list(&leaf.actual), budget));
        }
        Sides::Both(node) => {
            for side in
                [Side::Expected, Side::Actual].into_iter().filter(|side| node.is_hollow(*side))
            {
                let kind = if side == Side::Expected { Kind::Missing } else { Kind::Extra };
                pairs.extend(single_side(&item(&node.side(side)), kind));
            }
            let (mut left, mut right) = (true, true);
            pairs.extend(
                block(node, budget).into_iter().map(|pair| dashed(pair, &mut left, &mut right)),
            );
        }
    }
    pairs
}

/// Indents a line of a row; the first one on each side begins with a dash.
fn dashed(mut pair: Pair, left: &mut bool, right: &mut bool) -> Pair {
    let dash = |first: &mut bool| if std::mem::take(first) { "- " } else { "  " };
    if pair.kind == Kind::Same && left != right {
        // The lines are equal, but only one of them is the first on its side.
        pair.right.clone_from(&pair.left);
        pair.kind = Kind::Alike;
    }
    if pair.kind == Kind::Same {
        *right = false;
    }
    if let Some(line) = &mut pair.left {
        line.insert_str(0, dash(left));
    }
    if let Some(line) = &mut pair.right {
        line.insert_str(0, dash(right));
    }
    pair
}

impl Node<'_> {
    /// Returns true if a side has no entries or rows.
    fn is_hollow(&self, side: Side) -> bool {
        match self {
            Node::Map(fields) => fields.iter().all(|field| field.index_in(side).is_none()),
            Node::List(List { rows, .. }) => rows.iter().all(|row| row.index_in(side).is_none()),
            Node::Same(_) | Node::Leaf(_) => false,
        }
    }
}

fn indented(mut pair: Pair, by: &str) -> Pair {
    for line in [&mut pair.left, &mut pair.right].into_iter().flatten() {
        line.insert_str(0, by);
    }
    pair
}
