//! **Pure.** The terms of a text: its words, and its letters beyond ASCII. The matching rule that
//! they follow is in [`crate::snippet`].
use crate::snippet::starts_word;
use std::ops::Range;

/// Longest term in bytes; longer words are cut.
pub(crate) const LONGEST: usize = 32;
/// Beginnings of words up to this length are terms of their own, because many words share them.
pub(crate) const SHORT: usize = 2;

/// Marks a term as the beginning of words, and as a letter beyond ASCII. Words start with neither.
pub(crate) const BEGINNING: u8 = 1;
pub(crate) const LETTER: u8 = 2;

/// Calls `take` with the terms that start in a range of a text, in order, each with its place.
/// `buffer` holds the term.
pub(crate) fn for_each_term(
    text: &[u8],
    range: Range<usize>,
    buffer: &mut Vec<u8>,
    take: &mut impl FnMut(usize, &[u8]),
) {
    let mut at = range.start;
    while at < range.end {
        let byte = text[at];
        if byte.is_ascii_alphanumeric() {
            if starts_word(text, at) {
                put_word(&text[at..], buffer);
                take(at, buffer);
            }
            let letters = text[at..].iter().take_while(|byte| byte.is_ascii_alphanumeric());
            at += letters.count();
        } else if byte.is_ascii() || byte & 0b1100_0000 == 0b1000_0000 {
            at += 1;
        } else {
            let letter = first_letter(&text[at..]);
            if let Some(folded) = letter.and_then(fold) {
                put_letter(folded, buffer);
                take(at, buffer);
            } else if stands_for_ascii(&text[at..]).is_some() && starts_word(text, at) {
                put_word(&text[at..], buffer);
                take(at, buffer);
            }
            at += letter.map_or(1, char::len_utf8);
        }
    }
}

/// Writes the word at the start of a text, in small letters.
fn put_word(text: &[u8], word: &mut Vec<u8>) {
    word.clear();
    let mut at = 0;
    while word.len() < LONGEST {
        match text.get(at) {
            Some(byte) if byte.is_ascii_alphanumeric() || *byte == b'_' => {
                word.push(byte.to_ascii_lowercase());
                at += 1;
            }
            Some(byte) if !byte.is_ascii() => {
                let Some((letter, len)) = stands_for_ascii(&text[at..]) else { break };
                word.push(letter);
                at += len;
            }
            _ => break,
        }
    }
}

/// Writes the term of a letter beyond ASCII, as [`fold`] returns it.
pub(super) fn put_letter(folded: char, term: &mut Vec<u8>) {
    term.clear();
    term.push(LETTER);
    term.extend_from_slice(folded.encode_utf8(&mut [0; 4]).as_bytes());
}

/// Returns the ASCII letter that the first letter is equal to when case is ignored, and its length:
/// of `ſ` and the sign of Kelvin.
fn stands_for_ascii(text: &[u8]) -> Option<(u8, usize)> {
    match text {
        [0xC5, 0xBF, ..] => Some((b's', 2)),
        [0xE2, 0x84, 0xAA, ..] => Some((b'k', 3)),
        _ => None,
    }
}

fn first_letter(text: &[u8]) -> Option<char> {
    let first = text.get(..text.len().min(4))?;
    first.utf8_chunks().next()?.valid().chars().next()
}

/// Returns a letter for all that are equal to it when case is ignored. `None` for ASCII, for what
/// is equal to an ASCII letter, and for the few whose capital is several letters.
pub(super) fn fold(letter: char) -> Option<char> {
    fn only(mut letters: impl Iterator<Item = char>) -> Option<char> {
        letters.next().filter(|_| letters.next().is_none())
    }
    let lower = only(only(letter.to_uppercase())?.to_lowercase())?;
    only(lower.to_uppercase())?;
    (!lower.is_ascii()).then_some(lower)
}

#[cfg(test)]
mod tests {
    use super::*;
    use regex::RegexBuilder;

    #[test]
    fn letters_that_are_equal_when_case_is_ignored_are_one_term() {
        let cased: Vec<char> = ('\u{80}'..=char::MAX)
            .filter(|c| !c.to_uppercase().eq([*c]) || !c.to_lowercase().eq([*c]))
            .collect();
        let all: String = cased.iter().collect();
        assert!(cased.len() > 2_000, "{}", cased.len());
        for letter in cased {
            let same = RegexBuilder::new(&letter.to_string()).case_insensitive(true).build();
            for found in same.unwrap().find_iter(&all) {
                let found = found.as_str().chars().next().unwrap();
                assert_eq!(fold(found), fold(letter), "{found} and {letter}");
            }
        }
        for ascii in ' '..='~' {
            let same = RegexBuilder::new(&regex::escape(&ascii.to_string()));
            let same = { same }.case_insensitive(true).build().unwrap();
            for found in same.find_iter(&all) {
                let known = stands_for_ascii(found.as_str().as_bytes());
                assert_eq!(
                    known.map(|(letter, _)| char::from(letter)),
                    Some(ascii.to_ascii_lowercase())
                );
                assert_eq!(fold(found.as_str().chars().next().unwrap()), None);
            }
        }
    }

    #[test]
    fn words_start_where_needles_match_and_go_on_over_underscores() {
        let text = "Refund the query_support_tickets, x=>5 café 退款 aſk prerefund".as_bytes();
        let mut found = Vec::new();
        for range in [0..20, 20..text.len()] {
            for_each_term(text, range, &mut Vec::new(), &mut |_, term| {
                found.push(String::from_utf8_lossy(term).into_owned());
            });
        }
        assert_eq!(
            found,
            [
                "refund",
                "the",
                "query_support_tickets",
                "support_tickets",
                "tickets",
                "x",
                "5",
                "caf",
                "\u{2}é",
                "\u{2}退",
                "\u{2}款",
                "ask",
                "prerefund"
            ]
        );
    }
}
