//! **Pure.** Compares two texts word by word. Long texts are compared line by line first, then word
//! by word where lines changed.
use super::budget::{Budget, steps};
use super::sequence::{common, numbered};
use super::{Piece, PieceKind};
use std::borrow::Cow;
use std::ops::Range;

/// Combined length in bytes up to which texts are compared word by word at once.
const SHORT: usize = 4_000;
/// Combined length in bytes up to which changed lines are compared word by word.
const CHANGED: usize = 64_000;

/// Comparison of two texts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Text {
    /// Pieces in order; removed ones precede the added ones that replace them.
    pub pieces: Vec<Piece>,
    /// True if the texts were too long for an exact comparison.
    pub coarse: bool,
}

/// Compares two texts, with a budget as in [`super::Options`].
pub fn text(expected: &str, actual: &str, budget: u64) -> Text {
    let mut budget = Budget::new(budget);
    let pieces = pieces(expected, actual, &mut budget);
    Text { pieces, coarse: budget.coarse }
}

pub(super) fn pieces(expected: &str, actual: &str, budget: &mut Budget) -> Vec<Piece> {
    let mut out = Pieces::default();
    if expected.len() + actual.len() <= SHORT {
        by_words(expected, actual, budget, &mut out);
        return out.pieces;
    }
    let cut = |text| str::split_inclusive(text, '\n').collect::<Vec<&str>>();
    let (left, right) = (cut(expected), cut(actual));
    each_stretch(&left, &right, budget, |stretch, budget| match stretch {
        Stretch::Same(lines) => out.add(PieceKind::Same, &left[lines].concat()),
        Stretch::Changed(removed, added) => {
            let (removed, added) = (left[removed].concat(), right[added].concat());
            if removed.is_empty() || added.is_empty() || removed.len() + added.len() > CHANGED {
                budget.coarse |= !removed.is_empty() && !added.is_empty();
                out.add(PieceKind::Removed, &removed);
                out.add(PieceKind::Added, &added);
            } else {
                by_words(&removed, &added, budget, &mut out);
            }
        }
    });
    out.pieces
}

/// A range of two sequences.
pub(super) enum Stretch {
    /// Equal; range on the left.
    Same(Range<usize>),
    /// Different; one of the two may be empty.
    Changed(Range<usize>, Range<usize>),
}

/// Visits two sequences range by range.
pub(super) fn each_stretch(
    left: &[&str],
    right: &[&str],
    budget: &mut Budget,
    mut each: impl FnMut(Stretch, &mut Budget),
) {
    let (a, b) = numbered(left, right);
    let pairs = common(&a, &b, budget);
    let (mut x, mut y) = (0, 0);
    let mut from = 0;
    for (i, j) in pairs.into_iter().chain([(left.len(), right.len())]) {
        if i > x || j > y {
            if x > from {
                each(Stretch::Same(from..x), budget);
            }
            each(Stretch::Changed(x..i, y..j), budget);
            from = i;
        }
        (x, y) = (i + 1, j + 1);
    }
    if left.len() > from {
        each(Stretch::Same(from..left.len()), budget);
    }
}

fn by_words(expected: &str, actual: &str, budget: &mut Budget, out: &mut Pieces) {
    budget.spend(steps(expected.len() + actual.len()));
    let (left, right) = (words(expected), words(actual));
    let mut stretches = Vec::new();
    // Words are paired without regard to case, so that a text in other case stays readable.
    let sides = [folded(&left), folded(&right)];
    let [lower_left, lower_right] =
        sides.each_ref().map(|side| side.iter().map(AsRef::as_ref).collect::<Vec<&str>>());
    // Where the next stretch begins on the right.
    let mut beside = 0;
    each_stretch(&lower_left, &lower_right, budget, |stretch, _| match stretch {
        Stretch::Changed(removed, added) => {
            beside = added.end;
            stretches.push(WordStretch::Changed(removed, added));
        }
        Stretch::Same(range) => {
            let places = range.clone().zip(beside..);
            beside += range.len();
            by_case((&left, &right), places, &mut stretches);
        }
    });
    // Whitespace between two changes is merged into them: one change of three words reads better
    // than three changes of one.
    let mut removed = String::new();
    let mut added = String::new();
    for (at, stretch) in stretches.iter().enumerate() {
        match stretch {
            WordStretch::Changed(x, y) => {
                removed.push_str(&left[x.clone()].concat());
                added.push_str(&right[y.clone()].concat());
            }
            WordStretch::OtherCase(x, y) => {
                out.change(&mut removed, &mut added);
                out.add(PieceKind::Removed, left[*x]);
                out.add(PieceKind::Added, right[*y]);
            }
            WordStretch::Same(range) => {
                let text = left[range.clone()].concat();
                let between = at > 0
                    && at + 1 < stretches.len()
                    && text.trim().is_empty()
                    && !text.contains('\n');
                if between && !removed.is_empty() && !added.is_empty() {
                    removed.push_str(&text);
                    added.push_str(&text);
                } else {
                    out.change(&mut removed, &mut added);
                    out.add(PieceKind::Same, &text);
                }
            }
        }
    }
    out.change(&mut removed, &mut added);
}

/// A range of two lists of words.
enum WordStretch {
    /// Equal; range on the left.
    Same(Range<usize>),
    /// Two words that differ only in upper and lower case.
    OtherCase(usize, usize),
    /// Different; one of the two may be empty.
    Changed(Range<usize>, Range<usize>),
}

/// Returns words in lower case; most are that already.
fn folded<'a>(words: &[&'a str]) -> Vec<Cow<'a, str>> {
    let fold = |word: &&'a str| {
        let is_lower = word.chars().all(|c| !c.is_uppercase());
        if is_lower { Cow::Borrowed(*word) } else { Cow::Owned(word.to_lowercase()) }
    };
    words.iter().map(fold).collect()
}

/// Splits places of words that are equal but for case into those that are equal and the others.
fn by_case(
    (left, right): (&[&str], &[&str]),
    places: impl Iterator<Item = (usize, usize)>,
    out: &mut Vec<WordStretch>,
) {
    let mut same = 0..0;
    for (at, other) in places {
        if left[at] == right[other] {
            same = if same.is_empty() { at..at + 1 } else { same.start..at + 1 };
        } else {
            if !same.is_empty() {
                out.push(WordStretch::Same(std::mem::take(&mut same)));
            }
            out.push(WordStretch::OtherCase(at, other));
        }
    }
    if !same.is_empty() {
        out.push(WordStretch::Same(same));
    }
}

/// Collects pieces; adjacent pieces of one kind are merged.
#[derive(Default)]
struct Pieces {
    pieces: Vec<Piece>,
}

impl Pieces {
    fn add(&mut self, kind: PieceKind, text: &str) {
        if text.is_empty() {
            return;
        }
        match self.pieces.last_mut() {
            Some(last) if last.kind == kind => last.text.push_str(text),
            _ => self.pieces.push(Piece { kind, text: text.to_owned() }),
        }
    }

    fn change(&mut self, removed: &mut String, added: &mut String) {
        self.add(PieceKind::Removed, removed);
        self.add(PieceKind::Added, added);
        removed.clear();
        added.clear();
    }
}

/// Splits a text into words, stretches of whitespace, and single other characters.
pub(super) fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    each_word(text, |word| words.push(word));
    words
}

/// Calls `each` for each word without collecting them.
pub(super) fn each_word<'a>(text: &'a str, mut each: impl FnMut(&'a str)) {
    #[derive(PartialEq, Clone, Copy)]
    enum Kind {
        Word,
        Space,
        Other,
    }
    let kind = |c: char| {
        if c.is_whitespace() && c != '\n' {
            Kind::Space
        } else if (c.is_alphanumeric() || c == '_') && (c as u32) < 0x2e80 {
            Kind::Word
        } else {
            // Includes each character of scripts that are written without spaces.
            Kind::Other
        }
    };
    // A point between digits is part of the number.
    let bytes = text.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let is_point = |at: usize| bytes[at] == b'.' && at > 0 && is_digit(at - 1) && is_digit(at + 1);
    let mut start = 0;
    let mut last: Option<Kind> = None;
    for (at, c) in text.char_indices() {
        let now = if is_point(at) { Kind::Word } else { kind(c) };
        if last.is_some_and(|last| last != now || now == Kind::Other) {
            each(&text[start..at]);
            start = at;
        }
        last = Some(now);
    }
    if start < text.len() {
        each(&text[start..]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn render(expected: &str, actual: &str) -> String {
        let pieces = text(expected, actual, 1_000_000).pieces;
        let piece = |piece: &Piece| match piece.kind {
            PieceKind::Same => piece.text.clone(),
            PieceKind::Removed => format!("[-{}-]", piece.text),
            PieceKind::Added => format!("{{+{}+}}", piece.text),
        };
        pieces.iter().map(piece).collect()
    }

    #[test]
    fn changes_are_words() {
        for (expected, actual, pieces) in [
            ("the plan is free", "the plan is advanced", "the plan is [-free-]{+advanced+}"),
            ("a b c", "x y z", "[-a b c-]{+x y z+}"),
            ("one two", "one new two", "one {+new +}two"),
            ("84.1 %", "81.9 %", "[-84.1-]{+81.9+} %"),
            ("See 1. Then", "See 2. Then", "See [-1-]{+2+}. Then"),
            ("", "new", "{+new+}"),
            ("日本語", "日木語", "日[-本-]{+木+}語"),
            ("a\nb", "a\nc", "a\n[-b-]{+c+}"),
        ] {
            assert_eq!(render(expected, actual), pieces);
        }
    }

    #[test]
    fn long_texts_without_anything_in_common_are_coarse_and_whole() {
        let side = |word: &str| {
            (0..20_000).map(|n| [word, &n.to_string(), "\n"].concat()).collect::<Vec<_>>().concat()
        };
        let text = text(&side("left"), &side("right"), 60_000_000);
        assert!(text.coarse);
        assert_eq!(text.pieces.len(), 2);
    }

    #[test]
    fn long_texts_with_few_changes_are_compared_closely() {
        let line =
            |n: usize, word: &str| format!("line {n} {}\n", if n % 1_000 == 7 { word } else { "" });
        let side = |word: &str| (0..20_000).map(|n| line(n, word)).collect::<Vec<_>>().concat();
        let text = text(&side("left"), &side("right"), 60_000_000);
        assert!(!text.coarse);
        let changes: Vec<&str> = text
            .pieces
            .iter()
            .filter(|piece| piece.kind != PieceKind::Same)
            .map(|piece| piece.text.as_str())
            .collect();
        assert_eq!(changes, ["left", "right"].repeat(20));
    }

    proptest! {
        #[test]
        fn pieces_are_both_texts(a in "[ab \n.é]{0,40}", b in "[ab \n.é]{0,40}", long in any::<bool>(), budget in prop_oneof![Just(0), Just(1_000_000_u64)]) {
            let (a, b) = if long { (a.repeat(200), b.repeat(201)) } else { (a, b) };
            let pieces = text(&a, &b, budget).pieces;
            let side = |other: PieceKind| pieces.iter().filter(|piece| piece.kind != other).map(|piece| piece.text.as_str()).collect::<String>();
            prop_assert_eq!(side(PieceKind::Added), a);
            prop_assert_eq!(side(PieceKind::Removed), b);
            prop_assert!(pieces.windows(2).all(|two| two[0].kind != two[1].kind));
        }
    }
}
