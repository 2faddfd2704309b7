//! **Pure.** What Punkt knows of words, and how it decides by the two words around a mark whether a
//! sentence ends between them. Its tables are sorted text and searched as they lie in memory:
//! nothing is built at the start.
use crate::text::Nltk;
use crate::text::python::{is_space_byte, is_word_byte};

/// No abbreviation and no word that starts sentences is longer.
pub(super) const LONGEST: usize = 12;

/// Lines sorted by bytes, all with the same number of bytes behind their key. Written by
/// `scripts/punkt.py`.
#[derive(Clone, Copy)]
pub(super) struct Table {
    text: &'static str,
    behind_key: usize,
}

impl Table {
    pub(super) const ABBREVIATIONS: Self =
        Self { text: include_str!("../../../data/punkt-abbreviations.txt"), behind_key: 0 };
    pub(super) const STARTERS: Self =
        Self { text: include_str!("../../../data/punkt-starters.txt"), behind_key: 0 };
    pub(super) const COLLOCATIONS: Self =
        Self { text: include_str!("../../../data/punkt-collocations.txt"), behind_key: 0 };
    pub(super) const SPELLINGS: Self =
        Self { text: include_str!("../../../data/punkt-spellings.txt"), behind_key: 2 };

    /// What stands behind a key; nothing when it is not there.
    pub(super) fn find(self, key: &(impl Iterator<Item = u8> + Clone)) -> Option<&'static str> {
        let text = self.text.as_bytes();
        let (mut low, mut high) = (0, text.len());
        while low < high {
            let middle = low + (high - low) / 2;
            let start =
                text[..middle].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
            let end = text[start..]
                .iter()
                .position(|byte| *byte == b'\n')
                .map_or(text.len(), |at| start + at);
            let cut = end - self.behind_key;
            match text[start..cut].iter().copied().cmp(key.clone()) {
                std::cmp::Ordering::Equal => return Some(self.text[cut..end].trim_start()),
                std::cmp::Ordering::Less => low = end + 1,
                std::cmp::Ordering::Greater => high = start,
            }
        }
        None
    }

    /// Whether a word is there, which is no longer than any of them.
    fn has(self, word: &str) -> bool {
        word.len() <= LONGEST && self.find(&lower(word)).is_some()
    }

    #[cfg(test)]
    pub(super) fn keys(self) -> impl Iterator<Item = &'static str> {
        self.text.lines().map(move |line| &line[..line.len() - self.behind_key])
    }
}

/// What is known of how a word is spelled.
#[derive(Clone, Copy)]
struct Spelling {
    /// It was seen in lower case.
    lower: bool,
    /// It was seen in lower case, but never in upper case inside a sentence.
    only_lower_inside: bool,
    /// It begins sentences in lower case and was never seen in upper case.
    begins_lower: bool,
}

impl Spelling {
    fn of(word: &str) -> Self {
        let known = Table::SPELLINGS
            .find(&lower(word))
            .and_then(|digit| digit.parse::<u8>().ok())
            .unwrap_or(0);
        Self {
            lower: known & 3 != 0,
            only_lower_inside: known & 3 == 1,
            begins_lower: known & 4 != 0,
        }
    }
}

/// The bytes of a word in lower case, as all tables have them.
fn lower(word: &str) -> impl Iterator<Item = u8> + Clone {
    word.bytes().map(|byte| byte.to_ascii_lowercase())
}

/// A word or mark, with what the first look at it says.
struct Token<'a> {
    text: &'a str,
    /// The same, but all numbers are one. Its case does not matter.
    kind: &'a str,
    breaks: bool,
    abbreviation: bool,
    ellipsis: bool,
}

impl<'a> Token<'a> {
    fn new(text: &'a str) -> Self {
        let kind = if is_number(text) { NUMBER } else { text };
        let mut token = Self { text, kind, breaks: false, abbreviation: false, ellipsis: false };
        if matches!(text, "." | "?" | "!") {
            token.breaks = true;
        } else if text.len() > 1 && text.bytes().all(|byte| byte == b'.') {
            token.ellipsis = true;
        } else if text.ends_with('.') && !text.ends_with("..") {
            let stem = &text[..text.len() - 1];
            let last = stem.rsplit('-').next().filter(|last| last.len() < stem.len());
            token.abbreviation = Table::ABBREVIATIONS.has(stem)
                || last.is_some_and(|last| Table::ABBREVIATIONS.has(last));
            token.breaks = !token.abbreviation;
        }
        token
    }

    fn without_period(&self) -> &'a str {
        if self.kind.len() > 1 {
            self.kind.strip_suffix('.').unwrap_or(self.kind)
        } else {
            self.kind
        }
    }

    /// Without the period that ends its sentence, if it is one.
    fn without_final_period(&self) -> &'a str {
        if self.breaks { self.without_period() } else { self.kind }
    }

    fn is_initial(&self) -> bool {
        matches!(self.text.as_bytes(), [letter, b'.'] if letter.is_ascii_alphabetic() || *letter == b'_')
    }

    fn begins_upper(&self) -> bool {
        self.text.starts_with(|c: char| c.is_ascii_uppercase())
    }

    fn begins_lower(&self) -> bool {
        self.text.starts_with(|c: char| c.is_ascii_lowercase())
    }

    /// Whether it begins a sentence, judged by its spelling; none when that says nothing.
    fn begins_sentence(&self, spelling: Spelling) -> Option<bool> {
        if matches!(self.text, ";" | ":" | "," | "." | "!" | "?") {
            return Some(false);
        }
        if self.begins_upper() && spelling.only_lower_inside {
            return Some(true);
        }
        (self.begins_lower() && !spelling.begins_lower).then_some(false)
    }

    /// Whether a sentence ends behind this one, given the next.
    fn ends_sentence(&self, next: &Token<'_>) -> bool {
        if !self.text.ends_with('.') {
            return self.breaks;
        }
        let (kind, next_kind) = (self.without_period(), next.without_final_period());
        let initial = self.is_initial();
        let counted = initial || kind == NUMBER;
        let doubtful = (self.abbreviation || self.ellipsis) && !initial;
        if !doubtful && !counted {
            return self.breaks;
        }
        // Only initials and numbers have any.
        if counted
            && Table::COLLOCATIONS
                .find(&lower(kind).chain([b' ']).chain(lower(next_kind)))
                .is_some()
        {
            return false;
        }
        let spelling = Spelling::of(next_kind);
        let begins = next.begins_sentence(spelling);
        if doubtful
            && (begins == Some(true) || (next.begins_upper() && Table::STARTERS.has(next_kind)))
        {
            return true;
        }
        if counted {
            let name = initial && begins.is_none() && next.begins_upper() && !spelling.lower;
            if begins == Some(false) || name {
                return false;
            }
        }
        self.breaks
    }
}

/// What stands for all numbers.
const NUMBER: &str = "##number##";

/// Digits with commas, periods and dashes between them.
fn is_number(text: &str) -> bool {
    let text = text.strip_prefix('-').unwrap_or(text);
    let text = text.strip_prefix(['.', ',']).unwrap_or(text);
    text.starts_with(|c: char| c.is_ascii_digit())
        && text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b',' | b'.' | b'-'))
}

/// Whether a sentence ends inside this context, which is the word before a mark, the mark, and what
/// follows.
pub(super) fn annotate(context: &[u8], nltk: Nltk) -> bool {
    let mut before: Option<Token<'_>> = None;
    for line in context
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.iter().all(|byte| is_space_byte(*byte)))
    {
        let mut at = 0;
        while let Some((start, end)) = lookahead::next_token(line, at, nltk) {
            at = end;
            let token = Token::new(std::str::from_utf8(&line[start..end]).unwrap_or_default());
            if before.is_some_and(|before| before.ends_sentence(&token)) {
                return true;
            }
            before = Some(token);
        }
    }
    false
}

/// Where tokens begin and end.
pub(super) mod lookahead {
    use super::{Nltk, is_word_byte};

    /// A character that is in no word, and before which a mark may end a sentence.
    pub(in crate::text::tokens) fn ends_a_word(byte: u8) -> bool {
        matches!(
            byte,
            b')' | b'"'
                | b';'
                | b'}'
                | b']'
                | b'*'
                | b':'
                | b'@'
                | b'\''
                | b'('
                | b'{'
                | b'['
                | b'?'
                | b'!'
        )
    }

    fn may_begin_a_word(byte: u8) -> bool {
        !matches!(
            byte,
            b'(' | b'"'
                | b'`'
                | b'{'
                | b'['
                | b':'
                | b';'
                | b'&'
                | b'#'
                | b'*'
                | b'@'
                | b')'
                | b'}'
                | b']'
                | b'-'
                | b','
        )
    }

    /// The token at or behind a place of a line.
    pub(super) fn next_token(line: &[u8], from: usize, nltk: Nltk) -> Option<(usize, usize)> {
        let is_space = |byte: &u8| nltk.is_space(*byte);
        for start in from..line.len() {
            if let Some(length) = several(&line[start..], nltk) {
                return Some((start, start + length));
            }
            if is_space(&line[start]) {
                continue;
            }
            if !may_begin_a_word(line[start]) {
                return Some((start, start + 1));
            }
            let ends = |at: &usize| {
                let rest = &line[*at..];
                // Most letters are letters: they need no look at what is behind them.
                !rest.first().is_some_and(|byte| is_word_byte(*byte))
                    && (is_end(rest, nltk) || (rest[0] == b',' && is_end(&rest[1..], nltk)))
            };
            let end = (start + 1..=line.len()).find(ends).unwrap_or(line.len());
            return Some((start, end));
        }
        None
    }

    fn is_end(rest: &[u8], nltk: Nltk) -> bool {
        rest.first().is_none_or(|byte| nltk.is_space(*byte) || ends_a_word(*byte))
            || several(rest, nltk).is_some()
    }

    /// The length of dashes, dots, or dots with spaces between them, of which it takes three.
    fn several(text: &[u8], nltk: Nltk) -> Option<usize> {
        let mark = *text.first()?;
        if !matches!(mark, b'-' | b'.') {
            return None;
        }
        let run = text.iter().take_while(|byte| **byte == mark).count();
        if run > 1 || mark == b'-' {
            return (run > 1).then_some(run);
        }
        let pairs = text
            .chunks_exact(2)
            .take_while(|pair| pair[0] == b'.' && nltk.is_space(pair[1]))
            .count();
        // The last dot needs no space; without it the last pair gives its own dot.
        let pairs =
            if text.get(2 * pairs) == Some(&b'.') { pairs } else { pairs.saturating_sub(1) };
        (pairs > 1).then_some(2 * pairs + 1)
    }
}
