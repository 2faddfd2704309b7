//! **Pure.** Disguises a text: encodings, ciphers and look-alike letters. Every function gives the
//! same result each time, so that a suite can be written again and compared.
use crate::morse;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::fmt::Write as _;

/// First of the invisible characters that stand for ASCII.
const INVISIBLE: u32 = 0xE0000;
/// Code for a letter that Morse code does not have.
const NO_MORSE: &str = "........";
/// Share of the words in which letters are swapped.
const SWAPPED_SHARE: f64 = 0.2;
/// Punctuation that is dropped between spaced letters: ASCII without the backslash.
const DROPPED: &str = "!\"#$%&'()*+,-./:;<=>?@[]^_`{|}~";

pub(crate) fn base64(text: &str) -> String {
    STANDARD.encode(text)
}

pub(crate) fn flip(text: &str) -> String {
    text.chars().rev().collect()
}

pub(crate) fn morse(text: &str) -> String {
    let lines: Vec<&str> =
        lines(text).into_iter().map(|line| line.trim_matches(is_space)).collect();
    let upper = lines.join(" ").to_uppercase();
    let codes: Vec<&str> =
        upper.chars().map(|char| morse::code(char).unwrap_or(NO_MORSE)).collect();
    codes.join(" ")
}

pub(crate) fn atbash(text: &str) -> String {
    text.chars()
        .map(|char| match char {
            'a'..='z' => mirrored(char, 'a', 'z'),
            'A'..='Z' => mirrored(char, 'A', 'Z'),
            '0'..='9' => mirrored(char, '0', '9'),
            _ => char,
        })
        .collect()
}

pub(crate) fn rot13(text: &str) -> String {
    text.chars()
        .map(|char| match char {
            'a'..='z' => shifted(char, 'a', 26, 13),
            'A'..='Z' => shifted(char, 'A', 26, 13),
            _ => char,
        })
        .collect()
}

pub(crate) fn caesar(text: &str) -> String {
    text.chars()
        .map(|char| match char {
            'a'..='z' => shifted(char, 'a', 26, 1),
            'A'..='Z' => shifted(char, 'A', 26, 1),
            '0'..='9' => shifted(char, '0', 10, 1),
            _ => char,
        })
        .collect()
}

pub(crate) fn binary(text: &str) -> String {
    let codes: Vec<String> = text.chars().map(|char| format!("{:016b}", u32::from(char))).collect();
    codes.join(" ")
}

pub(crate) fn character_space(text: &str) -> String {
    let spaced = joined(text, ' ');
    spaced.chars().filter(|char| !DROPPED.contains(*char)).collect()
}

pub(crate) fn string_join(text: &str) -> String {
    joined(text, '-')
}

pub(crate) fn diacritic(text: &str) -> String {
    text.chars()
        .map(|char| match char {
            'a' => 'á',
            'e' => 'é',
            'i' => 'í',
            'o' => 'ó',
            'u' => 'ú',
            _ => char,
        })
        .collect()
}

pub(crate) fn leetspeak(text: &str) -> String {
    text.chars()
        .map(|char| match char.to_ascii_lowercase() {
            'a' => '4',
            'b' => '8',
            'c' => '(',
            'e' => '3',
            'g' => '9',
            'i' | 'l' => '1',
            'o' => '0',
            's' => '5',
            't' => '7',
            'z' => '2',
            _ => char,
        })
        .collect()
}

/// Replaces letters by Cyrillic ones that look alike.
pub(crate) fn unicode_confusable(text: &str) -> String {
    text.chars()
        .map(|char| match char {
            'a' => 'а',
            'c' => 'с',
            'e' => 'е',
            'h' => 'һ',
            'i' => 'і',
            'j' => 'ј',
            'o' => 'о',
            'p' => 'р',
            's' => 'ѕ',
            'x' => 'х',
            'y' => 'у',
            'A' => 'А',
            'B' => 'В',
            'C' => 'С',
            'E' => 'Е',
            'H' => 'Н',
            'I' => 'І',
            'J' => 'Ј',
            'K' => 'К',
            'M' => 'М',
            'O' => 'О',
            'P' => 'Р',
            'S' => 'Ѕ',
            'T' => 'Т',
            'X' => 'Х',
            'Y' => 'Ү',
            _ => char,
        })
        .collect()
}

/// Moves every character to the invisible ones. Those that have none there stay.
pub(crate) fn unicode_substitution(text: &str) -> String {
    text.chars().map(|char| char::from_u32(INVISIBLE + u32::from(char)).unwrap_or(char)).collect()
}

/// Moves printable ASCII to the invisible tags of Unicode, and drops the rest.
pub(crate) fn ascii_smuggler(text: &str) -> String {
    text.chars()
        .filter(|char| (' '..='~').contains(char))
        .filter_map(|char| char::from_u32(INVISIBLE + u32::from(char)))
        .collect()
}

pub(crate) fn url(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"_.-~/".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

/// Swaps two neighbouring letters inside one of five words.
pub(crate) fn char_swap(text: &str) -> String {
    let mut words = words(text);
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a count of words, and a share of it"
    )]
    let swaps = ((words.len() as f64 * SWAPPED_SHARE).ceil() as usize).max(1);
    let mut random = Random::seeded(text);
    for at in random.sample(words.len(), swaps) {
        words[at] = with_swap(&words[at], &mut random);
    }
    close_up(&words.join(" "))
}

/// Splits a text into runs of letters, digits and underscores, and runs of anything else that is no
/// space.
fn words(text: &str) -> Vec<String> {
    let is_word = |char: char| char.is_alphanumeric() || char == '_';
    let mut words: Vec<String> = Vec::new();
    for part in text.split(is_space).filter(|part| !part.is_empty()) {
        let mut rest = part;
        while let Some(first) = rest.chars().next() {
            // Signs take everything up to the next space with them, also letters.
            let end = if is_word(first) {
                rest.find(|char| !is_word(char)).unwrap_or(rest.len())
            } else {
                rest.len()
            };
            let (word, after) = rest.split_at(end);
            words.push(word.to_owned());
            rest = after;
        }
    }
    words
}

fn with_swap(word: &str, random: &mut Random) -> String {
    let mut letters: Vec<char> = word.chars().collect();
    if letters.len() > 3 {
        let at = 1 + random.below(letters.len() - 2);
        letters.swap(at, at + 1);
    }
    letters.into_iter().collect()
}

/// Removes the space before closing punctuation.
fn close_up(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for char in text.chars() {
        if "?.!,'\"".contains(char) && out.ends_with(is_space) {
            out.pop();
        }
        out.push(char);
    }
    out.trim_matches(is_space).to_owned()
}

fn joined(text: &str, between: char) -> String {
    let mut out = String::with_capacity(2 * text.len());
    for (at, char) in text.chars().enumerate() {
        if at > 0 {
            out.push(between);
        }
        out.push(char);
    }
    out
}

fn mirrored(char: char, first: char, last: char) -> char {
    char::from_u32(u32::from(first) + u32::from(last) - u32::from(char)).unwrap_or(char)
}

fn shifted(char: char, first: char, letters: u32, by: u32) -> char {
    let place = (u32::from(char) - u32::from(first) + by) % letters;
    char::from_u32(u32::from(first) + place).unwrap_or(char)
}

/// Splits at the ends of lines that Python knows.
fn lines(text: &str) -> Vec<&str> {
    let is_end = |char| {
        matches!(
            char,
            '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{1c}'
                ..='\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}'
        )
    };
    let mut lines = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(is_end) {
        lines.push(&rest[..at]);
        let length = if rest[at..].starts_with("\r\n") {
            2
        } else {
            rest[at..].chars().next().map_or(1, char::len_utf8)
        };
        rest = &rest[at + length..];
    }
    if !rest.is_empty() {
        lines.push(rest);
    }
    lines
}

/// Returns true for what Python takes as a space.
fn is_space(char: char) -> bool {
    char.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&char)
}

/// Random numbers that depend on a text only (`SplitMix64`).
struct Random(u64);

impl Random {
    fn seeded(text: &str) -> Self {
        // FNV-1a.
        let seed = text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// Returns a number below `end`, which is not 0.
    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end.max(1) as u64).unwrap_or(0)
    }

    /// Returns `count` different numbers below `end`; fewer if there are not so many.
    fn sample(&mut self, end: usize, count: usize) -> Vec<usize> {
        let mut all: Vec<usize> = (0..end).collect();
        for at in 0..count.min(end) {
            let other = at + self.below(end - at);
            all.swap(at, other);
        }
        all.truncate(count);
        all
    }
}
