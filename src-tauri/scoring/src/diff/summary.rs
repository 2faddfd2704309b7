//! **Pure.** What differs, in one line that a person reads first.
use super::differences::{Difference, DifferenceKind, of_list, of_node};
use super::shown::{brief, counted, cut, kind_name};
use super::{Diff, Field, Leaf, List, Node, PieceKind, Row, Sides};
use touchstone_formats::value::Value;

/// A line is not longer than this, in characters.
const LONGEST: usize = 160;
/// How many examples are given, and how long each value may be, from the most to the least.
const DETAIL: [Detail; 6] = [
    Detail { examples: 3, width: 40 },
    Detail { examples: 3, width: 24 },
    Detail { examples: 2, width: 16 },
    Detail { examples: 1, width: 24 },
    Detail { examples: 1, width: 12 },
    Detail { examples: 0, width: 0 },
];

#[derive(Clone, Copy)]
struct Detail {
    examples: usize,
    width: usize,
}

impl Diff {
    /// What differs, in one line: `8 of 10 rows right, 1 missing (#143), 1 field differs: priority_score 84.1 → 81.9`.
    pub fn summary(&self) -> String {
        let coarse = if self.coarse { " (compared coarsely)" } else { "" };
        let room = LONGEST - coarse.len();
        let line = |detail: Detail| {
            let mut line = of(&self.root, detail);
            line.push_str(&self.also());
            line
        };
        let fits = DETAIL.iter().map(|detail| line(*detail)).find(|line| line.chars().count() <= room);
        let line = fits.unwrap_or_else(|| cut(&line(DETAIL[DETAIL.len() - 1]), room - 1));
        line + coarse
    }

    /// What is right and yet worth a word.
    fn also(&self) -> String {
        let counts = &self.counts;
        if matches!(self.root, Node::Leaf(_)) {
            return String::new();
        }
        let said = [
            (counts.other_type, "of another type"),
            (counts.other_notation, "in another notation"),
            (counts.within_tolerance, "within tolerance"),
        ];
        let said = said.iter().filter(|(count, _)| *count > 0);
        said.map(|(count, what)| format!(", {} {what}", counted(*count, "value"))).collect::<Vec<_>>().concat()
    }
}

/// What differs in a part of a value, in a few words.
pub(super) fn of_part(node: &Node) -> String {
    of(node, Detail { examples: 1, width: 24 })
}

fn of(node: &Node, detail: Detail) -> String {
    match node {
        Node::Same(Value::List(items)) if items.is_empty() => "equal: both are empty lists".to_owned(),
        Node::Same(Value::List(items)) => all_right(items.len(), noun(items.iter())),
        Node::Same(Value::Map(entries)) if !entries.is_empty() => all_right(entries.len(), "field"),
        Node::Same(value) => format!("equal: {}", brief(value, detail.width.max(12))),
        Node::Leaf(leaf) => of_leaf(leaf, detail),
        Node::Map(fields) => of_fields(fields, detail),
        Node::List(list) => of_rows(list, detail),
    }
}

fn all_right(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 of 1 {noun} right") } else { format!("all {} right", counted(count, noun)) }
}

/// Rows are objects, items are anything.
fn noun<'a>(mut values: impl Iterator<Item = &'a Value>) -> &'static str {
    if values.all(|value| matches!(value, Value::Map(_))) { "row" } else { "item" }
}

fn of_leaf(leaf: &Leaf, detail: Detail) -> String {
    let note = leaf.note().map(|note| format!(" ({note})")).unwrap_or_default();
    let width = detail.width.max(8);
    let (expected, actual) = (brief(&leaf.expected, width), brief(&leaf.actual, width));
    match (&leaf.expected, &leaf.actual) {
        _ if leaf.equal => format!("equal: {expected} and {actual}{note}"),
        (Value::List(_) | Value::Map(_), _) | (_, Value::List(_) | Value::Map(_)) => {
            let kind = |value: &Value, shown: &str| match value {
                Value::List(_) | Value::Map(_) | Value::Null => shown.to_owned(),
                value => format!("{} {shown}", kind_name(value)),
            };
            format!("{} was expected, and {} came", kind(&leaf.expected, &expected), kind(&leaf.actual, &actual))
        }
        (Value::Text(a), Value::Text(b)) if a.chars().count().max(b.chars().count()) > width => {
            if leaf.remark.is_some() {
                return format!("the text differs{note}");
            }
            let words = |kind: PieceKind| {
                let pieces = leaf.pieces.iter().filter(|piece| piece.kind == kind);
                pieces.map(|piece| piece.text.split_whitespace().count()).sum::<usize>()
            };
            let (removed, added) = (words(PieceKind::Removed), words(PieceKind::Added));
            format!("the text differs: {} missing, {} extra", counted(removed, "word"), counted(added, "word"))
        }
        _ => format!("{expected} → {actual}{note}"),
    }
}

fn of_fields(fields: &[Field], detail: Detail) -> String {
    let counted_fields = || fields.iter().filter(|field| field.counts);
    let expected = counted_fields().filter(|field| field.from.is_some()).count();
    let is_right = |field: &&Field| field.sides.is_equal() && !field.sides.is_moved();
    let right = counted_fields().filter(is_right).count();
    let extra = counted_fields().filter(|field| field.from.is_none()).count();
    if right == expected && extra == 0 {
        return all_right(expected, "field");
    }
    let mut parts = vec![format!("{right} of {} right", counted(expected, "field"))];
    let mut lists = Vec::new();
    let mut rest = Vec::new();
    for field in counted_fields() {
        let key = super::shown::words(&field.key).into_owned();
        match &field.sides {
            Sides::Both(Node::List(list)) if !is_right(&field) => {
                lists.push(format!("{}: {}", cut(&key, 40), of_rows(list, detail)));
            }
            Sides::Both(node) => rest.extend(of_node(node).into_iter().map(|mut found| {
                found.path = if found.path.is_empty() { key.clone() } else { format!("{key}.{}", found.path) };
                found
            })),
            Sides::Missing(value) => {
                rest.push(Difference { row: None, path: key, kind: DifferenceKind::Missing(value) });
            }
            Sides::Extra(value) => rest.push(Difference { row: None, path: key, kind: DifferenceKind::Extra(value) }),
        }
    }
    let named = |kind: fn(&DifferenceKind<'_>) -> bool, word: &str| {
        let names: Vec<String> =
            rest.iter().filter(|found| kind(&found.kind)).map(|found| cut(&found.path, 40)).collect();
        (!names.is_empty()).then(|| format!("{} {word}{}", names.len(), in_brackets(&names, detail)))
    };
    parts.extend(named(|kind| matches!(kind, DifferenceKind::Missing(_)), "missing"));
    parts.extend(named(|kind| matches!(kind, DifferenceKind::Extra(_)), "extra"));
    let changed: Vec<String> = rest.iter().filter_map(|found| changed(found, detail)).collect();
    if !changed.is_empty() {
        let word = if changed.len() == 1 { "differs" } else { "differ" };
        parts.push(format!("{} {word}{}", changed.len(), after_colon(&changed, detail)));
    }
    parts.extend(lists);
    parts.join(", ")
}

fn of_rows(list: &List, detail: Detail) -> String {
    let is_object = |row: &Row| {
        matches!(
            row.sides,
            Sides::Both(Node::Map(_) | Node::Same(Value::Map(_)))
                | Sides::Missing(Value::Map(_))
                | Sides::Extra(Value::Map(_))
        )
    };
    let noun = if list.rows.iter().all(is_object) { "row" } else { "item" };
    let expected = list.rows.iter().filter(|row| row.from.is_some()).count();
    let count = |is_it: fn(&Row) -> bool| list.rows.iter().filter(|row| is_it(row)).count();
    let (missing, extra) = (count(|row| row.to.is_none()), count(|row| row.from.is_none()));
    let equal = count(|row| row.sides.is_equal());
    let right = count(|row| row.sides.is_equal() && !row.moved && !row.sides.is_moved());
    let moved: Vec<&Row> = list.rows.iter().filter(|row| row.moved).collect();
    let head = if expected == 0 {
        return format!("no {noun}s were expected, and {extra} came");
    } else if right == expected && extra == 0 {
        return all_right(expected, noun);
    } else if missing == expected && extra == 0 {
        let none = format!("none of {expected} {noun}s is there");
        return if expected == 1 { format!("the only {noun} is missing") } else { none };
    } else if equal == expected && !moved.is_empty() {
        if expected == 1 {
            format!("the {noun} is there")
        } else {
            format!("all {} are there", counted(expected, noun))
        }
    } else {
        format!("{right} of {} right", counted(expected, noun))
    };
    let mut parts = vec![head];
    for (rows, word) in [(missing, "missing"), (extra, "extra")] {
        let names: Vec<String> = list
            .rows
            .iter()
            .filter(|row| if word == "missing" { row.to.is_none() } else { row.from.is_none() })
            .take(detail.examples + 1)
            .map(|row| name(row, detail))
            .collect();
        if rows > 0 {
            parts.push(format!("{rows} {word}{}", in_brackets_of(&names, rows, detail)));
        }
    }
    parts.extend(inside(list, noun, detail));
    if !moved.is_empty() {
        let places = |row: &&Row| format!("{} ({} → {})", name(row, detail), place(row.from), place(row.to));
        let places: Vec<String> = moved.iter().take(detail.examples + 1).map(places).collect();
        parts.push(format!("{} moved{}", moved.len(), after_colon_of(&places, moved.len(), detail)));
    }
    parts.join(", ")
}

/// What differs inside rows that are on both sides.
fn inside(list: &List, noun: &str, detail: Detail) -> Option<String> {
    let found: Vec<Difference<'_>> = of_list(list)
        .into_iter()
        .filter(|found| found.row.is_some_and(|row| matches!(list.rows[row].sides, Sides::Both(_))))
        .collect();
    if let Some(first) = found.first()
        && found.iter().all(|found| found.path.is_empty())
    {
        let word = if found.len() == 1 {
            format!("1 {noun} differs")
        } else {
            format!("{} differ", counted(found.len(), noun))
        };
        let all: Vec<String> = if found.len() == 1 {
            changed(first, detail).into_iter().collect()
        } else {
            found.iter().take(detail.examples + 1).filter_map(|found| changed(found, detail)).collect()
        };
        return Some(format!("{word}{}", after_colon_of(&all, found.len(), detail)));
    }
    match &found[..] {
        [] => None,
        [one] => Some(match one.kind {
            DifferenceKind::Changed(_) => {
                format!("1 field differs{}", after_colon(&changed(one, detail).into_iter().collect::<Vec<_>>(), detail))
            }
            DifferenceKind::Missing(_) => format!("1 field missing: {}", one.path),
            DifferenceKind::Extra(_) => format!("1 field extra: {}", one.path),
        }),
        many => {
            Some(format!("{} differ{}", counted(many.len(), "field"), after_colon(&groups(many, noun, detail), detail)))
        }
    }
}

/// The same difference in many rows is said once: `project_id missing in 10 rows`.
fn groups(found: &[Difference<'_>], noun: &str, detail: Detail) -> Vec<String> {
    let word = |kind: &DifferenceKind<'_>| match kind {
        DifferenceKind::Changed(_) => "wrong",
        DifferenceKind::Missing(_) => "missing",
        DifferenceKind::Extra(_) => "extra",
    };
    let mut groups: Vec<(&Difference<'_>, usize)> = Vec::new();
    let mut known: std::collections::HashMap<(&str, &str), usize> = std::collections::HashMap::new();
    for one in found {
        let at = *known.entry((&one.path, word(&one.kind))).or_insert_with(|| {
            groups.push((one, 0));
            groups.len() - 1
        });
        groups[at].1 += 1;
    }
    groups.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let told = groups.into_iter().map(|(one, count)| match changed(one, detail) {
        Some(changed) if count == 1 => changed,
        _ if count == 1 => format!("{} {}", cut(&one.path, 40), word(&one.kind)),
        _ => format!("{} {} in {}", cut(&one.path, 40), word(&one.kind), counted(count, noun)),
    });
    told.collect()
}

/// A changed value: `priority_score 84.1 → 81.9`.
fn changed(found: &Difference<'_>, detail: Detail) -> Option<String> {
    let DifferenceKind::Changed(leaf) = found.kind else { return None };
    let path = cut(&found.path, 40);
    Some(if path.is_empty() { of_leaf(leaf, detail) } else { format!("{path} {}", of_leaf(leaf, detail)) })
}

fn name(row: &Row, detail: Detail) -> String {
    match (&row.name, &row.sides) {
        (Some(name), _) => cut(name, detail.width.max(8)),
        (None, Sides::Both(Node::Same(value)) | Sides::Missing(value) | Sides::Extra(value))
            if !matches!(value, Value::Map(_) | Value::List(_)) =>
        {
            brief(value, detail.width.max(8))
        }
        _ => format!("row {}", place(row.from.or(row.to))),
    }
}

fn place(at: Option<usize>) -> String {
    at.map_or_else(String::new, |at| (at + 1).to_string())
}

fn in_brackets(names: &[String], detail: Detail) -> String {
    in_brackets_of(names, names.len(), detail)
}

fn in_brackets_of(names: &[String], all: usize, detail: Detail) -> String {
    let told = told(names, all, detail);
    if told.is_empty() { told } else { format!(" ({told})") }
}

fn after_colon(names: &[String], detail: Detail) -> String {
    after_colon_of(names, names.len(), detail)
}

fn after_colon_of(names: &[String], all: usize, detail: Detail) -> String {
    let told = told(names, all, detail);
    if told.is_empty() { told } else { format!(": {told}") }
}

/// The first few of many.
fn told(names: &[String], all: usize, detail: Detail) -> String {
    let shown = names.len().min(detail.examples);
    if shown == 0 {
        return String::new();
    }
    let more = if all > shown { ", …" } else { "" };
    format!("{}{more}", names[..shown].join(", "))
}
