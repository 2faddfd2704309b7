//! **Pure.** Sentence splitter for English, equal to NLTK's Punkt. ASCII only. Every `.`, `?` and
//! `!` with suitable text behind it is a candidate; the words before and behind it decide.
use super::punkt_words::{annotate, lookahead};
use crate::text::Nltk;
use crate::text::python::is_space_byte;

/// A mark that may end a sentence, with its context.
struct Candidate {
    /// Start of the word before the mark.
    word: usize,
    mark: usize,
    /// End of the context: one closing character, or whitespace and the next word.
    end: usize,
    /// Start of the next word; `None` if a character follows directly.
    next: Option<usize>,
}

/// Returns the sentences as byte ranges, without empty ones.
pub(super) fn sentences(text: &[u8], nltk: Nltk) -> Vec<(usize, usize)> {
    let mut slices = Vec::new();
    let mut begin = 0;
    for candidate in candidates(text, nltk) {
        if annotate(&text[candidate.word..candidate.end], nltk) {
            slices.push((begin, candidate.mark + 1));
            begin = candidate.next.unwrap_or(candidate.mark + 1);
        }
    }
    let trailing = text.iter().rev().take_while(|byte| is_space_byte(**byte)).count();
    slices.push((begin, text.len() - trailing));
    realigned(text, &slices, nltk)
}

/// Returns the candidates; among those whose words overlap, only the last.
fn candidates(text: &[u8], nltk: Nltk) -> Vec<Candidate> {
    let mut found: Vec<Candidate> = Vec::new();
    let mut last: Option<Candidate> = None;
    let (mut word, mut behind) = (0, 0);
    for mark in (0..text.len()).filter(|at| matches!(text[*at], b'.' | b'?' | b'!')) {
        let Some((end, next)) = follows(text, mark + 1, nltk) else { continue };
        // A space directly at the beginning does not count, to be compatible with the original.
        let space = text[behind..mark]
            .iter()
            .rposition(|byte| is_plain_space(*byte))
            .filter(|space| *space > 0);
        let starts = space.map_or(word, |space| behind + space + 1);
        if behind <= starts {
            found.extend(last);
        }
        last = Some(Candidate { word: starts, mark, end, next });
        (word, behind) = (starts, mark);
    }
    found.extend(last);
    found
}

fn is_plain_space(byte: u8) -> bool {
    matches!(byte, b'\t'..=b'\r' | b' ')
}

/// Returns the end of the context behind a mark, and the start of the next word.
fn follows(text: &[u8], at: usize, nltk: Nltk) -> Option<(usize, Option<usize>)> {
    if lookahead::ends_a_word(*text.get(at)?) {
        return Some((at + 1, None));
    }
    let next = at + text[at..].iter().take_while(|byte| nltk.is_space(**byte)).count();
    if next == at || next == text.len() {
        return None;
    }
    let letters = text[next..].iter().take_while(|byte| !nltk.is_space(**byte)).count();
    Some((next + letters, Some(next)))
}

/// Moves closing quotes and brackets at the beginning of a sentence to the previous one.
fn realigned(text: &[u8], slices: &[(usize, usize)], nltk: Nltk) -> Vec<(usize, usize)> {
    let mut sentences = Vec::with_capacity(slices.len());
    let mut shift = 0;
    for (at, (start, end)) in slices.iter().enumerate() {
        let start = start + shift;
        shift = 0;
        let next = slices.get(at + 1);
        if let Some((begin, stop)) = next
            && let Some((marks, all)) = closing(text.get(*begin..*stop).unwrap_or_default(), nltk)
        {
            sentences.push((start, begin + marks));
            shift = all;
        } else {
            sentences.push((start, *end));
        }
    }
    sentences.retain(|(start, end)| start < end);
    sentences
}

/// Returns the number of closing marks at the beginning of a sentence, and their length including
/// the whitespace behind them.
fn closing(text: &[u8], nltk: Nltk) -> Option<(usize, usize)> {
    let most =
        text.iter().take_while(|byte| matches!(byte, b'"' | b'\'' | b')' | b']' | b'}')).count();
    let rest = |marks: usize| &text[marks..];
    // Shortest match: two dashes, whitespace or the end must follow.
    let marks = (1..=most).find(|marks| {
        let rest = rest(*marks);
        rest.is_empty() || rest.starts_with(b"--") || nltk.is_space(rest[0])
    })?;
    let spaces = rest(marks).iter().take_while(|byte| nltk.is_space(**byte)).count();
    Some((marks, marks + spaces))
}

#[cfg(test)]
mod tests {
    use super::super::punkt_words::{LONGEST, Table};
    use super::*;

    #[test]
    fn every_table_is_sorted_and_finds_all_it_has() {
        for table in [Table::ABBREVIATIONS, Table::STARTERS, Table::COLLOCATIONS, Table::SPELLINGS]
        {
            let keys: Vec<&str> = table.keys().collect();
            assert!(keys.len() > 30 && keys.windows(2).all(|two| two[0] < two[1]));
            assert!(keys.iter().all(|key| table.find(&key.bytes()).is_some()));
            assert!(
                table.find(&"no such word".bytes()).is_none() && table.find(&"".bytes()).is_none()
            );
        }
        assert_eq!(Table::SPELLINGS.find(&"a".bytes()), Some("2"));
        assert!(
            Table::ABBREVIATIONS
                .keys()
                .chain(Table::STARTERS.keys())
                .all(|word| word.len() <= LONGEST)
        );
        let first = |pair: &str| pair.split(' ').next().map(str::to_owned);
        assert!(
            Table::COLLOCATIONS
                .keys()
                .filter_map(first)
                .all(|word| word.len() == 1 || word == "##number##")
        );
    }

    fn split(text: &str) -> Vec<&str> {
        sentences(text.as_bytes(), Nltk::V3_10)
            .into_iter()
            .map(|(start, end)| &text[start..end])
            .collect()
    }

    #[test]
    fn a_sentence_ends_where_a_period_is_not_of_an_abbreviation() {
        let cases: &[(&str, &[&str])] = &[
            ("", &[]),
            ("One. Two? Three! ", &["One.", "Two?", "Three!"]),
            (
                "Dr. Kern met J. Bach at 5 p.m. on Monday.",
                &["Dr. Kern met J. Bach at 5 p.m. on Monday."],
            ),
            ("He said (it was late.) Then he left.", &["He said (it was late.)", "Then he left."]),
            ("Wait... what", &["Wait... what"]),
            ("It costs 3.50. Cheap.", &["It costs 3.50.", "Cheap."]),
        ];
        for (text, expected) in cases {
            assert_eq!(split(text), *expected, "{text}");
        }
    }
}
