//! **Pure.** Summarizes a comparison in one line. The differences are collected once; the line is
//! then written with as much detail as fits.
use super::differences::DifferenceKind;
use super::display::{self, brief, counted, cut, kind_name};
use super::{Diff, Leaf, Node, PieceKind};
use data::{Fields, Group, Groups, Name, Rows, SummaryData};
use touchstone_model::value::Value;

mod data;

/// Maximum length of the line, in characters.
const LONGEST: usize = 160;
/// Work budget for the changes in a long text.
const WORK: u64 = 20_000_000;
/// Maximum length of a field path.
const PATH: usize = 40;
/// Number of examples and length of each value, from most to least detail.
const DETAIL: [(usize, usize); 6] = [(3, 40), (3, 24), (2, 16), (1, 24), (1, 12), (0, 8)];

#[derive(Clone, Copy)]
struct Detail {
    examples: usize,
    width: usize,
    voice: &'static Wording,
}

/// Wording for the relation of the two sides.
struct Wording {
    right: &'static str,
    changed: &'static str,
    missing: &'static str,
    extra: &'static str,
}

const EXPECTED: Wording =
    Wording { right: "right", changed: "wrong", missing: "missing", extra: "extra" };
const BETWEEN: Wording =
    Wording { right: "the same", changed: "differs", missing: "gone", extra: "new" };

impl Wording {
    fn for_comparison(between: bool) -> &'static Self {
        if between { &BETWEEN } else { &EXPECTED }
    }

    fn is_between(&self) -> bool {
        self.right == BETWEEN.right
    }

    fn word(&self, what: ChangeKind) -> &'static str {
        match what {
            ChangeKind::Changed => self.changed,
            ChangeKind::Missing => self.missing,
            ChangeKind::Extra => self.extra,
        }
    }
}

/// Kind of a difference.
#[derive(Clone, Copy)]
enum ChangeKind {
    Changed,
    Missing,
    Extra,
}

impl Diff<'_> {
    /// Returns the differences in one line: `8 of 10 rows right, 1 missing (#143), 1 field differs:
    /// priority_score 84.1 → 81.9`.
    pub fn summary(&self) -> String {
        let told = SummaryData::new(&self.root);
        let also = self.remarks();
        let coarse = if self.coarse || is_coarse(&told) { " (compared coarsely)" } else { "" };
        let key = self.key_not_there.as_ref().map_or_else(String::new, |fields| {
            let them = if fields.len() == 1 { "it" } else { "them" };
            format!(" (not by {}: rows lack {them})", cut(&fields.join(", "), PATH))
        });
        let coarse = coarse.to_owned() + &key;
        let room = LONGEST - coarse.chars().count();
        let voice = Wording::for_comparison(self.between);
        let line = |(examples, width)| write(&told, Detail { examples, width, voice }) + &also;
        let fits = DETAIL.into_iter().map(line).find(|line| line.chars().count() <= room);
        fits.unwrap_or_else(|| cut(&line(DETAIL[DETAIL.len() - 1]), room - 1)) + &coarse
    }

    /// Returns true if any part was compared coarsely: the alignment, or the words of a top-level
    /// text.
    pub fn is_coarse(&self) -> bool {
        self.coarse || is_coarse(&SummaryData::new(&self.root))
    }

    /// Returns remarks on values that are right but in another form.
    fn remarks(&self) -> String {
        if matches!(self.root, Node::Leaf(_)) {
            return String::new();
        }
        let counts = &self.counts;
        let said = [
            (counts.other_type, "of another type"),
            (counts.other_notation, "in another notation"),
            (counts.within_tolerance, "within tolerance"),
        ];
        let said = said.iter().filter(|(count, _)| *count > 0);
        said.map(|(count, what)| format!(", {} {what}", counted(*count, "value")))
            .collect::<Vec<_>>()
            .concat()
    }
}

fn is_coarse(told: &SummaryData<'_>) -> bool {
    matches!(told, SummaryData::Leaf { words: Some((_, true)), .. })
}

/// Summarizes the differences in a part of a value.
pub(super) fn of_part(node: &Node<'_>, between: bool) -> String {
    write(
        &SummaryData::new(node),
        Detail { examples: 1, width: 24, voice: Wording::for_comparison(between) },
    )
}

fn write(told: &SummaryData<'_>, detail: Detail) -> String {
    match told {
        SummaryData::Right { count, noun } => all_right(*count, noun, detail.voice),
        SummaryData::Equal(value) => format!("equal: {}", brief(value, detail.width.max(12))),
        SummaryData::Leaf { leaf, words } => of_leaf(leaf, words.map(|(words, _)| words), detail),
        SummaryData::Fields(fields) => of_fields(fields, detail),
        SummaryData::Rows(rows) => of_rows(rows, detail),
    }
}

fn all_right(count: usize, noun: &str, voice: &Wording) -> String {
    let right = voice.right;
    if count == 1 {
        format!("1 of 1 {noun} {right}")
    } else {
        format!("all {} {right}", counted(count, noun))
    }
}

/// Describes a leaf. `words` is the number of words that a text lost and gained.
fn of_leaf(leaf: &Leaf<'_>, words: Option<(usize, usize)>, detail: Detail) -> String {
    let note = leaf.note().map(|note| format!(" ({note})")).unwrap_or_default();
    let width = detail.width.max(8);
    let (expected, actual) = (brief(&leaf.expected, width), brief(&leaf.actual, width));
    match (leaf.expected.as_ref(), leaf.actual.as_ref()) {
        _ if leaf.equal => format!("equal: {expected} and {actual}{note}"),
        (Value::List(_) | Value::Map(_), _) | (_, Value::List(_) | Value::Map(_)) => {
            let kind = |value: &Value, shown: &str| match value {
                Value::List(_) | Value::Map(_) | Value::Null => shown.to_owned(),
                value => format!("{} {shown}", kind_name(value)),
            };
            let (expected, actual) = (kind(&leaf.expected, &expected), kind(&leaf.actual, &actual));
            if detail.voice.is_between() {
                format!("{expected} there, {actual} here")
            } else {
                format!("{expected} was expected, and {actual} came")
            }
        }
        (Value::Text(a), Value::Text(b)) if a.chars().count().max(b.chars().count()) > width => {
            match words {
                Some((removed, added)) if leaf.remark.is_none() => {
                    let Wording { missing, extra, .. } = detail.voice;
                    format!(
                        "the text differs: {} {missing}, {} {extra}",
                        counted(removed, "word"),
                        counted(added, "word")
                    )
                }
                _ => format!("the text differs{note}"),
            }
        }
        (a, b) if expected == actual => {
            let (expected, actual) = apart(&display::words(a), &display::words(b), width);
            format!("{expected} → {actual}{note}")
        }
        _ => format!("{expected} → {actual}{note}"),
    }
}

/// Returns the parts of two long values around their first difference.
fn apart(expected: &str, actual: &str, width: usize) -> (String, String) {
    let same = expected.chars().zip(actual.chars()).take_while(|(a, b)| a == b).count();
    let before = same.saturating_sub(width / 2);
    let left_out = if before > 0 { "…" } else { "" };
    let part = |text: &str| {
        let rest: String = text.chars().skip(before).collect();
        format!("{left_out}{}", cut(&rest, width))
    };
    (part(expected), part(actual))
}

/// Returns the number of words that a text lost and gained, and whether the count is coarse.
fn words(leaf: &Leaf<'_>) -> ((usize, usize), bool) {
    let text = leaf.pieces(WORK);
    let count = |kind: PieceKind| {
        let pieces = text.pieces.iter().filter(|piece| piece.kind == kind);
        pieces.map(|piece| piece.text.split_whitespace().count()).sum()
    };
    ((count(PieceKind::Removed), count(PieceKind::Added)), text.coarse)
}

fn of_fields(fields: &Fields<'_>, detail: Detail) -> String {
    let Wording { right, missing, extra, .. } = detail.voice;
    let mut parts =
        vec![format!("{} of {} {right}", fields.right, counted(fields.expected, "field"))];
    for (names, word) in [(&fields.missing, missing), (&fields.extra, extra)] {
        if !names.is_empty() {
            let shown: Vec<String> =
                names.iter().take(detail.examples).map(|name| cut(name, PATH)).collect();
            parts.push(format!("{} {word}{}", names.len(), few(" (", &shown, names.len(), ")")));
        }
    }
    if !fields.changed.is_empty() {
        let changed = fields.changed.iter().take(detail.examples);
        let changed: Vec<String> =
            changed.map(|(path, leaf)| of_changed(path, leaf, detail)).collect();
        let count = fields.changed.len();
        let word = if count == 1 { "differs" } else { "differ" };
        parts.push(format!("{count} {word}{}", few(": ", &changed, count, "")));
    }
    parts.extend(
        fields
            .lists
            .iter()
            .map(|(name, rows)| format!("{}: {}", cut(name, PATH), of_rows(rows, detail))),
    );
    parts.join(", ")
}

fn of_rows(rows: &Rows<'_>, detail: Detail) -> String {
    let Rows { noun, expected, right, equal, .. } = *rows;
    let (missing, extra, moved) = (rows.missing.count, rows.extra.count, rows.moved.count);
    let voice = detail.voice;
    let head = if expected == 0 && voice.is_between() {
        return format!("{} here, none there", counted(extra, noun));
    } else if expected == 0 {
        return format!("no {noun}s were expected, and {extra} came");
    } else if missing == expected && extra == 0 {
        let none = if voice.is_between() {
            format!("all {expected} {noun}s are {}", voice.missing)
        } else {
            format!("none of {expected} {noun}s is there")
        };
        return if expected == 1 { format!("the only {noun} is {}", voice.missing) } else { none };
    } else if right == expected && extra == 0 {
        return all_right(expected, noun, voice);
    } else if equal == expected && (moved > 0 || !rows.reordered.is_empty()) {
        if expected == 1 {
            format!("the {noun} is there")
        } else {
            format!("all {expected} {noun}s are there")
        }
    } else {
        format!("{right} of {} {}", counted(expected, noun), voice.right)
    };
    let name = |row: &Name<'_>| row.write(detail.width);
    let mut parts = vec![head];
    for (some, word) in [(&rows.missing, voice.missing), (&rows.extra, voice.extra)] {
        if some.count > 0 {
            let names: Vec<String> = some.first.iter().take(detail.examples).map(name).collect();
            parts.push(format!("{} {word}{}", some.count, few(" (", &names, some.count, ")")));
        }
    }
    parts.extend(inside(&rows.inside, noun, detail));
    if moved > 0 {
        let places = |row: &Name<'_>| {
            format!("{} ({} → {})", name(row), format_position(row.from), format_position(row.to))
        };
        let places: Vec<String> =
            rows.moved.first.iter().take(detail.examples).map(places).collect();
        parts.push(format!("{moved} moved{}", few(": ", &places, moved, "")));
    }
    if !rows.reordered.is_empty() {
        let told = |(path, of): &(String, usize)| {
            let rows = counted(*of, noun);
            if path.is_empty() { rows } else { format!("{} in {rows}", cut(path, PATH)) }
        };
        let told: Vec<String> = rows.reordered.iter().take(detail.examples).map(told).collect();
        parts.push(format!("another order inside{}", few(": ", &told, rows.reordered.len(), "")));
    }
    parts.join(", ")
}

/// Describes the differences inside rows that are present on both sides.
fn inside(groups: &Groups<'_>, noun: &str, detail: Detail) -> Option<String> {
    let all = groups.all;
    match &groups.groups[..] {
        [] => None,
        // Changed items of the list itself.
        [only] if only.path.is_empty() => {
            let changed =
                only.first.iter().take(detail.examples).map(|leaf| of_leaf(leaf, None, detail));
            let word = if all == 1 { "differs" } else { "differ" };
            Some(format!(
                "{} {word}{}",
                counted(all, noun),
                few(": ", &changed.collect::<Vec<_>>(), all, "")
            ))
        }
        [only] if all == 1 => Some(match (only.first.first(), only.items_of()) {
            (Some(leaf), items) if detail.examples > 0 => {
                let what = match items {
                    Some("") => "item of a list inside",
                    Some(_) => "item",
                    None => "field",
                };
                format!(
                    "1 {what} differs: {}",
                    of_changed(items.unwrap_or(&only.path), leaf, detail)
                )
            }
            (Some(_), _) => "1 field differs".to_owned(),
            (None, Some(list)) => {
                format!("1 item of {} {}", list_name(list), detail.voice.word(only.what))
            }
            (None, None) => {
                format!("1 field {}: {}", detail.voice.word(only.what), cut(&only.path, PATH))
            }
        }),
        many => {
            let told = |group: &Group<'_>| match (group.first.first(), group.items_of()) {
                (Some(leaf), items) if group.count == 1 => {
                    of_changed(items.unwrap_or(&group.path), leaf, detail)
                }
                (_, Some(list)) => {
                    let word = detail.voice.word(group.what);
                    let items =
                        format!("{} of {} {word}", counted(group.count, "item"), list_name(list));
                    if group.count == 1 {
                        items
                    } else {
                        format!("{items} in {}", counted(group.rows, noun))
                    }
                }
                _ => {
                    let told =
                        format!("{} {}", cut(&group.path, PATH), detail.voice.word(group.what));
                    if group.count == 1 {
                        told
                    } else {
                        format!("{told} in {}", counted(group.rows, noun))
                    }
                }
            };
            let told: Vec<String> = many.iter().take(detail.examples).map(told).collect();
            let items = many.iter().filter(|group| group.items_of().is_some()).count();
            let what = match items {
                0 => "field",
                _ if items == many.len() => "item",
                _ => "value",
            };
            let word = if all == 1 { "differs" } else { "differ" };
            Some(format!("{} {word}{}", counted(all, what), few(": ", &told, many.len(), "")))
        }
    }
}

/// Describes a changed value: `priority_score 84.1 → 81.9`. An unnamed list item has no name.
fn of_changed(path: &str, leaf: &Leaf<'_>, detail: Detail) -> String {
    let name = if path.is_empty() { String::new() } else { format!("{} ", cut(path, PATH)) };
    name + &of_leaf(leaf, None, detail)
}

/// Returns the name of a list inside a row; an unnamed list is the whole row.
fn list_name(path: &str) -> String {
    if path.is_empty() { "a list inside".to_owned() } else { cut(path, PATH) }
}

impl Name<'_> {
    fn write(&self, width: usize) -> String {
        match (self.given, self.value) {
            (Some(name), _) => cut(name, width),
            (None, Some(value)) if !matches!(value, Value::Map(_) | Value::List(_)) => {
                brief(value, width)
            }
            _ => format!("row {}", format_position(self.from.or(self.to))),
        }
    }
}

fn format_position(at: Option<usize>) -> String {
    at.map_or_else(String::new, |at| (at + 1).to_string())
}

/// Joins a few of many examples between two delimiters; empty if none is shown.
fn few(open: &str, shown: &[String], all: usize, close: &str) -> String {
    if shown.is_empty() {
        return String::new();
    }
    let more = if all > shown.len() { ", …" } else { "" };
    format!("{open}{}{more}{close}", shown.join(", "))
}

/// Returns the kind of a difference without its values.
fn change_kind(kind: &DifferenceKind<'_>) -> ChangeKind {
    match kind {
        DifferenceKind::Changed(_) => ChangeKind::Changed,
        DifferenceKind::Missing(_) => ChangeKind::Missing,
        DifferenceKind::Extra(_) => ChangeKind::Extra,
    }
}
