//! **Pure.** Search needles for free text, and snippets around their matches.
//!
//! A needle matches exactly its characters, ignoring case. If it starts with an ASCII letter or
//! digit, it must match at the start of a word. The full-text index follows the same rule, so
//! results do not change when that index becomes complete.
use regex::bytes::{Regex, RegexBuilder};
use std::ops::Range;
use std::sync::LazyLock;
use touchstone_api::SnippetPiece;

/// Maximum length of a needle in bytes. Longer texts are not typed searches.
pub const MAX_NEEDLE: usize = 1_000;

/// Maximum size of a compiled regular expression in bytes.
const MAX_REGEX: usize = 1 << 20;

/// Search text.
#[derive(Debug, Clone)]
pub struct Needle {
    text: String,
    regex: Regex,
    at_word_start: bool,
    /// True for a regular expression that a person typed.
    is_regex: bool,
}

impl Needle {
    /// Creates a needle with the free-text rule. `None` when the text is empty or longer than
    /// [`MAX_NEEDLE`].
    pub fn word(text: &str) -> Option<Self> {
        let at_word_start = text.starts_with(|first: char| first.is_ascii_alphanumeric());
        Self::new(text, at_word_start)
    }

    /// Creates a needle that matches anywhere.
    pub fn anywhere(text: &str) -> Option<Self> {
        Self::new(text, false)
    }

    /// Creates a needle for a regular expression, ignoring case; `^` and `$` match at lines. Fails
    /// with a sentence when it is empty, too long, too large or wrong.
    pub fn regex(text: &str) -> Result<Self, String> {
        if text.is_empty() || text.len() > MAX_NEEDLE {
            return Err(format!("it has 1 to {MAX_NEEDLE} bytes."));
        }
        let mut builder = RegexBuilder::new(text);
        builder.case_insensitive(true).multi_line(true).nest_limit(50);
        let regex = builder.size_limit(MAX_REGEX).dfa_size_limit(MAX_REGEX).build();
        let regex = regex.map_err(|error| match error {
            regex::Error::Syntax(text) => {
                let last = text.lines().next_back().unwrap_or_default();
                format!("{}.", last.trim_start_matches("error: "))
            }
            _ => "it is too large. Use fewer repetitions.".to_owned(),
        })?;
        Ok(Self { text: text.to_owned(), regex, at_word_start: false, is_regex: true })
    }

    fn new(text: &str, at_word_start: bool) -> Option<Self> {
        if text.is_empty() || text.len() > MAX_NEEDLE {
            return None;
        }
        let regex = RegexBuilder::new(&regex::escape(text)).case_insensitive(true).build().ok()?;
        Some(Self { text: text.to_owned(), regex, at_word_start, is_regex: false })
    }

    /// Creates a needle for several texts in sequence, separated only by 1 to 16 punctuation and
    /// whitespace characters. `None` for fewer than two texts.
    pub fn phrase(texts: &[Self]) -> Option<Self> {
        let [first, _, ..] = texts else { return None };
        let escaped: Vec<String> = texts.iter().map(|needle| regex::escape(&needle.text)).collect();
        let regex = RegexBuilder::new(&escaped.join(r"[\s\p{P}]{1,16}"))
            .case_insensitive(true)
            .build()
            .ok()?;
        let text = texts.iter().map(|needle| needle.text.as_str()).collect::<Vec<_>>().join(" ");
        Some(Self { text, regex, at_word_start: first.at_word_start, is_regex: false })
    }

    /// Returns true for a regular expression that a person typed.
    pub(crate) fn is_regex(&self) -> bool {
        self.is_regex
    }

    /// Returns true when matches start where a word starts.
    pub(crate) fn is_at_word_start(&self) -> bool {
        self.at_word_start
    }

    /// Original text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns false when no part of a text holds a match. May return true when none does: of a
    /// regular expression, as it may match a part only because the part ends, and where the start
    /// of a word is wanted.
    pub fn may_be_in(&self, text: &[u8]) -> bool {
        self.is_regex || self.regex.is_match(text)
    }

    /// Returns the first match at or after `from`.
    pub fn find(&self, text: &[u8], from: usize) -> Option<Range<usize>> {
        let mut from = from;
        loop {
            let found = self.regex.find_at(text, from)?.range();
            if !self.at_word_start || starts_word(text, found.start) {
                return Some(found);
            }
            from = found.start + 1;
        }
    }

    /// Iterates over all matches, without overlap.
    pub fn find_all<'a>(&'a self, text: &'a [u8]) -> impl Iterator<Item = Range<usize>> + 'a {
        let mut from = 0;
        std::iter::from_fn(move || {
            let found = self.find(text, from)?;
            from = found.end;
            Some(found)
        })
    }
}

/// Returns true when a word starts here: the preceding character does not belong to a word.
pub(crate) fn starts_word(text: &[u8], at: usize) -> bool {
    let Some(last) = at.checked_sub(1).map(|before| text[before]) else { return true };
    if last.is_ascii() {
        return !last.is_ascii_alphanumeric();
    }
    let before = String::from_utf8_lossy(&text[at.saturating_sub(4)..at]);
    !before.chars().next_back().is_some_and(is_of_word)
}

/// Returns true for characters that belong to words: letters, marks above them, and characters that
/// are newer than Unicode 6.1.
fn is_of_word(letter: char) -> bool {
    static PARTS: LazyLock<Option<regex::Regex>> = LazyLock::new(|| {
        regex::Regex::new(
            r"^[[\p{Age:6.1}&&[\p{P}\p{S}\p{Z}\p{Cc}\p{Cf}\p{M}]]--[\u{300}-\u{331}]]$",
        )
        .ok()
    });
    letter.is_alphanumeric()
        || !PARTS.as_ref().is_some_and(|parts| parts.is_match(letter.encode_utf8(&mut [0; 4])))
}

/// Maximum length of a word that is kept whole at the edge of a snippet.
const LONGEST_WORD: usize = 64;

/// Returns about `width` bytes of text around `shown`, with the hits marked. Contains all of
/// `shown`, and cuts no word unless it is longer than `LONGEST_WORD`. Hits must be in order and
/// must not overlap. Control characters are kept; the page decides on their display.
pub fn around(
    text: &str,
    shown: Range<usize>,
    hits: &[Range<usize>],
    width: usize,
) -> Vec<SnippetPiece> {
    let (shown_start, shown_end) =
        (text.floor_char_boundary(shown.start), text.ceil_char_boundary(shown.end.min(text.len())));
    if shown_start >= shown_end {
        return Vec::new();
    }
    let before = width.saturating_sub(shown_end - shown_start) / 3;
    let start = shown_start.saturating_sub(before);
    let end = text.ceil_char_boundary((start + width).clamp(shown_end, text.len().max(shown_end)));
    let start = word_start(
        text,
        text.ceil_char_boundary(start.max(line_start(text, start, shown_start))),
        shown_start,
    );
    let mut end = word_end(text, shown_end, end);
    // A hit that does not fit is left out completely.
    if let Some(cut) =
        hits.iter().find(|hit| hit.start >= shown_end && hit.start < end && end < hit.end)
    {
        end = text.floor_char_boundary(cut.start);
    }
    let mut pieces = Vec::new();
    let mut push = |from: usize, to: usize, hit: bool| {
        if from < to {
            pieces.push(SnippetPiece { text: text[from..to].to_owned(), hit });
        }
    };
    let mut at = start;
    for hit in hits.iter().filter(|hit| hit.start < end && hit.end > start) {
        let (from, to) =
            (text.floor_char_boundary(hit.start), text.ceil_char_boundary(hit.end).min(end));
        push(at, from.max(at), false);
        push(from.max(at), to, true);
        at = to.max(at);
    }
    push(at, end, false);
    pieces
}

/// Returns true when the position is between two word characters.
fn is_inside_word(text: &str, at: usize) -> bool {
    let is_letter = |letter: char| letter.is_alphanumeric() || letter == '_';
    text[..at].chars().next_back().is_some_and(is_letter)
        && text[at..].chars().next().is_some_and(is_letter)
}

/// Returns the first position in `start..=most` at which no word is cut.
fn word_start(text: &str, start: usize, most: usize) -> usize {
    let places = text[start..most].char_indices().map(|(at, _)| start + at).chain([most]);
    let inside =
        places.take_while(|at| *at < start + LONGEST_WORD).find(|at| !is_inside_word(text, *at));
    let start = inside.unwrap_or(start);
    if start < most || !is_inside_word(text, start) {
        return start;
    }
    // The shown range starts inside a word, so the start is moved back to the start of the word.
    let letters = text[..start]
        .char_indices()
        .rev()
        .map(|(at, _)| at)
        .take_while(|at| start - at < LONGEST_WORD);
    letters.into_iter().find(|at| !is_inside_word(text, *at)).unwrap_or(start)
}

/// Returns the last position up to `end`, not before `least`, at which no word is cut. A word that
/// starts before `least` is kept whole.
fn word_end(text: &str, least: usize, end: usize) -> usize {
    if !is_inside_word(text, end) {
        return end;
    }
    let back = text[least..end].char_indices().rev().map(|(at, _)| least + at);
    let back = back.take_while(|at| end - at < LONGEST_WORD).find(|at| !is_inside_word(text, *at));
    let forward = || {
        let places = text[end..].char_indices().map(|(at, _)| end + at).chain([text.len()]);
        places.take_while(|at| at - end < LONGEST_WORD).find(|at| !is_inside_word(text, *at))
    };
    back.or_else(forward).unwrap_or(end)
}

/// Moves the start to the last line start before the hit, which improves readability.
fn line_start(text: &str, start: usize, hit: usize) -> usize {
    memchr::memrchr(b'\n', &text.as_bytes()[start..hit]).map_or(start, |at| start + at + 1)
}
