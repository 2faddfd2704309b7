//! **Pure.** Compares two aligned steps part by part: texts word by word, other values as
//! structures. The output is bounded in size, however long the parts are.
use super::digest::day;
use super::normal_form::{self, RunDetails};
use crate::diff::{self, Options, Piece, PieceKind};
use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};
use touchstone_model::json;
use touchstone_model::run::{Language, Part, Run};
use touchstone_model::value::Value;

/// Work budget for one part, in steps of some nanoseconds each.
const WORK: u64 = 20_000_000;
/// Bytes of a long equal stretch that are kept at its beginning and at its end.
const EQUAL: usize = 1_500;
/// Byte limit for all pieces of two steps together.
const MOST: usize = 192 << 10;

/// Two thresholds in letters. If either text has fewer than `SHORT`, the two are interleaved
/// regardless of overlap; equal stretches with fewer than `SHARED` do not count as overlap.
const SHORT: usize = 60;
const SHARED: usize = 8;

/// Comparison of one part of a step, present in either step or in both.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// Label of the part within the step.
    pub label: String,
    /// Relation of the two parts.
    pub change: Change,
    /// One-line summary of the differences, unless both values are texts.
    pub summary: Option<String>,
    /// Text of both parts in pieces; empty if they are equal.
    pub pieces: Vec<Piece>,
    /// False if some of the text is left out.
    pub whole: bool,
    /// True if the parts were too long for an exact comparison.
    pub coarse: bool,
}

/// Relation of two parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// Equal.
    Same,
    /// Written differently with the same meaning.
    Alike,
    /// Different in meaning.
    Changed,
    /// Present only on the left.
    Missing,
    /// Present only on the right.
    Extra,
}

/// Compares a step of one run with a step of another; empty if either run has no such step. Parts
/// are in the order of the left step. Parts that only the right step has follow the part that they
/// follow there.
pub fn differences(left: (&Run, usize), right: (&Run, usize)) -> Vec<Difference> {
    let days = [day(left.0), day(right.0)];
    let (Some(left), Some(right)) = (left.0.steps.get(left.1), right.0.steps.get(right.1)) else {
        return Vec::new();
    };
    let owns = [
        RunDetails { day: days[0], call: left.call_id.as_deref() },
        RunDetails { day: days[1], call: right.call_id.as_deref() },
    ];
    let mut room = MOST;
    let mut found = Vec::new();
    for (a, b) in pairs(&left.parts, &right.parts) {
        let mut difference = match (a, b) {
            (Some(a), Some(b)) => compare(a, b, owns),
            (Some(part), None) => alone(part, Change::Missing, PieceKind::Removed),
            (None, Some(part)) => alone(part, Change::Extra, PieceKind::Added),
            (None, None) => continue,
        };
        difference.whole = shorten(&mut difference.pieces, &mut room);
        found.push(difference);
    }
    found
}

/// Pairs parts by label: the first with the first, the second with the second.
fn pairs<'s>(left: &'s [Part], right: &'s [Part]) -> Vec<(Option<&'s Part>, Option<&'s Part>)> {
    let mut taken = vec![false; right.len()];
    let mut places: HashMap<&str, VecDeque<usize>> = HashMap::with_capacity(right.len());
    for (at, part) in right.iter().enumerate() {
        places.entry(&part.label).or_default().push_back(at);
    }
    let twins: Vec<Option<usize>> =
        left.iter().map(|part| places.get_mut(part.label.as_str())?.pop_front()).collect();
    twins.iter().flatten().for_each(|at| taken[*at] = true);
    let mut pairs = Vec::with_capacity(left.len() + right.len());
    let mut follow = |pairs: &mut Vec<(Option<&'s Part>, Option<&'s Part>)>, from: usize| {
        for (part, taken) in right.iter().zip(&mut taken).skip(from) {
            if std::mem::replace(taken, true) {
                break;
            }
            pairs.push((None, Some(part)));
        }
    };
    follow(&mut pairs, 0);
    for (part, twin) in left.iter().zip(twins) {
        pairs.push((Some(part), twin.and_then(|at| right.get(at))));
        if let Some(at) = twin {
            follow(&mut pairs, at + 1);
        }
    }
    pairs
}

fn compare(left: &Part, right: &Part, owns: [RunDetails<'_>; 2]) -> Difference {
    let label = left.label.clone();
    let same = Difference {
        label,
        change: Change::Same,
        summary: None,
        pieces: Vec::new(),
        whole: true,
        coarse: false,
    };
    if left.value == right.value {
        return same;
    }
    let alike = normal_form::meaning(&left.value, left.language, owns[0])
        == normal_form::meaning(&right.value, right.language, owns[1]);
    let (summary, coarse) = match (&left.value, &right.value) {
        (Value::Text(a), Value::Text(b)) => {
            let by_case = || "only upper and lower case differ".to_owned();
            (is_same_but_for_case(a, b).then(by_case), false)
        }
        (a, b) => {
            let diff =
                diff::diff(a, b, &Options { budget: WORK, between: true, ..Options::default() });
            (Some(diff.summary()), diff.coarse)
        }
    };
    let (a, b) = (text_of(&left.value), text_of(&right.value));
    let is_sql = left.language == Language::Sql && right.language == Language::Sql;
    let text = if is_sql { sql_text(&a, &b) } else { diff::text(&a, &b, WORK) };
    let pieces = if is_readable(&text.pieces, [&a, &b]) { text.pieces } else { apart(&a, &b) };
    let change = if alike { Change::Alike } else { Change::Changed };
    Difference { change, summary, pieces, coarse: coarse || text.coarse, ..same }
}

/// Returns true if interleaving two texts is readable. Texts that share little but punctuation and
/// short words are better shown one after the other.
fn is_readable(pieces: &[Piece], sides: [&str; 2]) -> bool {
    let letters = |text: &str| text.chars().filter(|c| !c.is_whitespace()).count();
    let shorter = sides.into_iter().map(letters).min().unwrap_or(0);
    let mut shared = Vec::new();
    // Words in other case interrupt no equal stretch.
    let mut stretch = 0;
    let mut at = 0;
    while let Some(piece) = pieces.get(at) {
        let other = pieces.get(at + 1).filter(|other| {
            piece.kind == PieceKind::Removed
                && other.kind == PieceKind::Added
                && is_same_but_for_case(&piece.text, &other.text)
        });
        if piece.kind == PieceKind::Same || other.is_some() {
            stretch += letters(&piece.text);
        } else {
            shared.push(std::mem::take(&mut stretch));
        }
        at += if other.is_some() { 2 } else { 1 };
    }
    shared.push(stretch);
    shorter < SHORT
        || shared.iter().filter(|letters| **letters >= SHARED).sum::<usize>() * 3 >= shorter
}

/// Compares SQL as its equality does: upper and lower case outside quotes are the same. Equal text is
/// that of the left.
fn sql_text(left: &str, right: &str) -> diff::Text {
    let lower = |text: &str| -> String {
        let mut is_quoted = false;
        let letter = |letter: char| {
            is_quoted ^= letter == '\'';
            if is_quoted { letter } else { letter.to_ascii_lowercase() }
        };
        text.chars().map(letter).collect()
    };
    let mut text = diff::text(&lower(left), &lower(right), WORK);
    let (mut from_left, mut from_right) = (0, 0);
    for piece in &mut text.pieces {
        let length = piece.text.len();
        let (side, from) = match piece.kind {
            PieceKind::Added => (right, from_right),
            PieceKind::Same | PieceKind::Removed => (left, from_left),
        };
        side.get(from..from + length).unwrap_or_default().clone_into(&mut piece.text);
        from_left += if piece.kind == PieceKind::Added { 0 } else { length };
        from_right += if piece.kind == PieceKind::Removed { 0 } else { length };
    }
    text
}

fn is_same_but_for_case(left: &str, right: &str) -> bool {
    let lower = |text: &str| text.chars().flat_map(char::to_lowercase).collect::<String>();
    left == right || lower(left) == lower(right)
}

fn apart(left: &str, right: &str) -> Vec<Piece> {
    let sides = [(PieceKind::Removed, left), (PieceKind::Added, right)];
    let piece = |(kind, text): (PieceKind, &str)| Piece { kind, text: text.to_owned() };
    sides.into_iter().filter(|(_, text)| !text.is_empty()).map(piece).collect()
}

fn alone(part: &Part, change: Change, kind: PieceKind) -> Difference {
    let text = text_of(&part.value).into_owned();
    let pieces = if text.is_empty() { Vec::new() } else { vec![Piece { kind, text }] };
    Difference {
        label: part.label.clone(),
        change,
        summary: None,
        pieces,
        whole: true,
        coarse: false,
    }
}

/// Returns a text unchanged, any other value as indented JSON.
fn text_of(value: &Value) -> Cow<'_, str> {
    match value {
        Value::Text(text) => Cow::Borrowed(text),
        value => Cow::Owned(json::write(value, true)),
    }
}

/// Leaves out the middle of long equal stretches and all that exceeds the remaining room. Returns
/// true if nothing was left out.
fn shorten(pieces: &mut Vec<Piece>, room: &mut usize) -> bool {
    let mut whole = true;
    let last = pieces.len().saturating_sub(1);
    for (at, piece) in pieces.iter_mut().enumerate() {
        if piece.kind == PieceKind::Same && piece.text.len() > 3 * EQUAL {
            let text = &piece.text;
            let head = if at == 0 { "" } else { &text[..text.floor_char_boundary(EQUAL)] };
            let tail =
                if at == last { "" } else { &text[text.ceil_char_boundary(text.len() - EQUAL)..] };
            piece.text = format!("{head}\n\u{2026}\n{tail}");
            whole = false;
        }
        if piece.text.len() > *room {
            let end = piece.text.floor_char_boundary(*room);
            piece.text.truncate(end);
            piece.text.push('\u{2026}');
            *room = 0;
            whole = false;
        } else {
            *room -= piece.text.len();
        }
    }
    pieces.retain(|piece| piece.text != "\u{2026}");
    whole
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use touchstone_model::run::Step;

    fn part(label: &str, language: Language, text: &str) -> Part {
        let value = json::embedded(text).unwrap_or_else(|| Value::from(text));
        Part { label: label.to_owned(), language, value, ..Part::default() }
    }

    fn step(parts: &[(&str, Language, &str)]) -> Run {
        let parts =
            parts.iter().map(|(label, language, text)| part(label, *language, text)).collect();
        Run { steps: vec![Step { parts, ..Step::default() }], ..Run::default() }
    }

    #[test]
    fn other_case_in_sql_is_no_difference_but_in_a_value_it_is() {
        let sql = |text: &str| step(&[("sql", Language::Sql, text)]);
        let (left, right) = (
            sql("SELECT id FROM tickets WHERE plan = 'Gold' AND since >= '2024-09-02' ORDER BY id"),
            sql("select id from tickets where plan = 'gold' order by id"),
        );
        insta::assert_snapshot!(
            render(&left, &right),
            @"sql Changed SELECT id FROM tickets WHERE plan = '[-Gold-]{+gold+}' [-AND since >= '2024-09-02' -]ORDER BY id"
        );
    }

    fn compared(left: &Run, right: &Run) -> Vec<Difference> {
        differences((left, 0), (right, 0))
    }

    fn render(left: &Run, right: &Run) -> String {
        let piece = |piece: &Piece| match piece.kind {
            PieceKind::Same => piece.text.clone(),
            PieceKind::Removed => format!("[-{}-]", piece.text),
            PieceKind::Added => format!("{{+{}+}}", piece.text),
        };
        let line = |difference: Difference| {
            let text: String = difference.pieces.iter().map(piece).collect();
            let summary =
                difference.summary.map(|summary| format!(" ({summary})")).unwrap_or_default();
            format!("{} {:?}{summary} {text}", difference.label, difference.change)
                .trim_end()
                .to_owned()
        };
        compared(left, right).into_iter().map(line).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn parts_are_compared_with_those_of_the_same_name() {
        let left = step(&[
            ("sql", Language::Sql, "SELECT a FROM t"),
            ("limit", Language::Plain, "10"),
            ("result", Language::Json, r#"[{"id": 1, "n": 5}, {"id": 2, "n": 6}]"#),
        ]);
        let right = step(&[
            ("database", Language::Plain, "main"),
            ("sql", Language::Sql, "select a  from t;"),
            ("error", Language::Plain, "late"),
            ("result", Language::Json, r#"[{"id": 2, "n": 6}, {"id": 1, "n": 7}]"#),
        ]);
        insta::assert_snapshot!(render(&left, &right), @r#"
        database Extra {+main+}
        sql Alike SELECT a[- -]{+  +}FROM t{+;+}
        error Extra {+late+}
        limit Missing [-10-]
        result Changed (1 of 2 rows the same, 1 field differs: n 5 → 7, 1 moved: #1 (1 → 2)) [
          {
            "id": [-1-]{+2+},
            "n": [-5-]{+6+}
          },
          {
            "id": [-2-]{+1+},
            "n": [-6-]{+7+}
          }
        ]
        "#);
        assert_eq!(differences((&left, 1), (&right, 0)), []);
        assert!(
            compared(&left, &left)
                .iter()
                .all(|it| it.change == Change::Same && it.pieces.is_empty())
        );
    }

    #[test]
    fn however_long_the_parts_are_what_is_shown_is_short_and_says_so() {
        let equal = "the same words again and again\n".repeat(20_000);
        let (left, right) = (format!("a{equal}b{equal}c"), format!("x{equal}y{equal}z"));
        let found = compared(
            &step(&[("message", Language::Markdown, &left)]),
            &step(&[("message", Language::Markdown, &right)]),
        );
        let pieces: usize = found[0].pieces.iter().map(|piece| piece.text.len()).sum();
        assert!(!found[0].whole && pieces < 10_000, "{pieces}");
        let kinds = |kind| found[0].pieces.iter().filter(|piece| piece.kind == kind).count();
        assert_eq!((kinds(PieceKind::Removed), kinds(PieceKind::Added)), (3, 3));
        let other = |seed: u32| {
            (0..60_000).map(|n| (n * 7 + seed).to_string()).collect::<Vec<_>>().join(" ")
        };
        let parts =
            [("message", Language::Markdown, other(1)), ("thinking", Language::Markdown, other(2))];
        let long = step(
            &parts.each_ref().map(|(label, language, text)| (*label, *language, text.as_str())),
        );
        let found = compared(&long, &step(&[("thinking", Language::Markdown, &other(3))]));
        let pieces: usize =
            found.iter().flat_map(|it| &it.pieces).map(|piece| piece.text.len()).sum();
        assert!(pieces < MOST + 100 && found.iter().any(|it| !it.whole), "{pieces}");
    }

    #[test]
    fn texts_that_share_next_to_nothing_are_read_one_after_the_other() {
        let left = "def classify(subject):\n    words = subject.lower()\n    return 'downtime' if 'down' in words else 'bug'\n";
        let right = "tickets = [\n    {'id': 143, 'score': 25},\n    {'id': 166, 'score': 5},\n]\nprint(sorted(tickets))\n";
        let run = |text: &str| step(&[("code", Language::Python, text)]);
        let found = compared(&run(left), &run(right));
        let pieces: Vec<_> =
            found[0].pieces.iter().map(|piece| (piece.kind, piece.text.as_str())).collect();
        assert_eq!(pieces, [(PieceKind::Removed, left), (PieceKind::Added, right)]);
        let other = left.replace("'bug'", "'other'");
        assert!(compared(&run(left), &run(&other))[0].pieces.len() > 2);
    }

    #[test]
    fn texts_that_differ_only_in_case_are_interleaved_word_by_word() {
        let left = "SELECT NAME, PLAN FROM PROJECTS WHERE PLAN = 'free' ORDER BY NAME LIMIT 10";
        let run = |text: &str| step(&[("query", Language::Plain, text)]);
        let found = compared(&run(left), &run(&left.to_lowercase()));
        assert_eq!(found[0].summary.as_deref(), Some("only upper and lower case differ"));
        let longest = found[0].pieces.iter().filter(|piece| piece.kind != PieceKind::Same);
        assert_eq!(longest.map(|piece| piece.text.len()).max(), Some("PROJECTS".len()));
    }

    proptest! {
        #[test]
        fn every_part_of_both_steps_comes_once(
            left in prop::collection::vec("[abc]", 0..6),
            right in prop::collection::vec("[abc]", 0..6),
        ) {
            let step = |labels: &[String]| step(&labels.iter().map(|label| (label.as_str(), Language::Plain, "x")).collect::<Vec<_>>());
            let found = compared(&step(&left), &step(&right));
            let side = |other: Change| {
                let mut labels: Vec<String> = found.iter().filter(|it| it.change != other).map(|it| it.label.clone()).collect();
                labels.sort();
                labels
            };
            let sorted = |labels: &[String]| { let mut labels = labels.to_vec(); labels.sort(); labels };
            prop_assert_eq!(side(Change::Extra), sorted(&left));
            prop_assert_eq!(side(Change::Missing), sorted(&right));
        }
    }
}
