//! **Pure.** A needle of free text, where it is found, and the piece of text around a find.
//!
//! Free text is found where exactly its characters stand, ignoring case. Text that begins with an
//! ASCII letter or digit must stand at the start of a word, which is what the full-text index can
//! answer as well: the same runs are found before and after that index is complete.
use regex::bytes::{Regex, RegexBuilder};
use std::ops::Range;
use std::sync::LazyLock;
use touchstone_api::SnippetPiece;

/// Longer texts are no searches a person typed.
pub const MAX_NEEDLE: usize = 1_000;

/// A text to be found.
#[derive(Debug, Clone)]
pub struct Needle {
    text: String,
    regex: Regex,
    at_word_start: bool,
}

impl Needle {
    /// A needle that obeys the rule of free text; none when the text is empty or longer than
    /// [`MAX_NEEDLE`].
    pub fn word(text: &str) -> Option<Self> {
        let at_word_start = text.starts_with(|first: char| first.is_ascii_alphanumeric());
        Self::new(text, at_word_start)
    }

    /// A needle that is found anywhere.
    pub fn anywhere(text: &str) -> Option<Self> {
        Self::new(text, false)
    }

    fn new(text: &str, at_word_start: bool) -> Option<Self> {
        if text.is_empty() || text.len() > MAX_NEEDLE {
            return None;
        }
        let regex = RegexBuilder::new(&regex::escape(text)).case_insensitive(true).build().ok()?;
        Some(Self { text: text.to_owned(), regex, at_word_start })
    }

    /// A needle for several texts that stand one after the other as a phrase: only signs and spaces
    /// lie between them, and not many. None for fewer than two texts.
    pub fn phrase(texts: &[Self]) -> Option<Self> {
        let [first, _, ..] = texts else { return None };
        let escaped: Vec<String> = texts.iter().map(|needle| regex::escape(&needle.text)).collect();
        let regex = RegexBuilder::new(&escaped.join(r"[\s\p{P}]{1,16}"))
            .case_insensitive(true)
            .build()
            .ok()?;
        let text = texts.iter().map(|needle| needle.text.as_str()).collect::<Vec<_>>().join(" ");
        Some(Self { text, regex, at_word_start: first.at_word_start })
    }

    /// The text as typed.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The first place at or after `from`.
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

    /// Every place, none reaching into another.
    pub fn find_all<'a>(&'a self, text: &'a [u8]) -> impl Iterator<Item = Range<usize>> + 'a {
        let mut from = 0;
        std::iter::from_fn(move || {
            let found = self.find(text, from)?;
            from = found.end;
            Some(found)
        })
    }
}

/// Whether a word begins here: nothing stands before that belongs to one.
fn starts_word(text: &[u8], at: usize) -> bool {
    let Some(last) = at.checked_sub(1).map(|before| text[before]) else { return true };
    if last.is_ascii() {
        return !last.is_ascii_alphanumeric();
    }
    let before = String::from_utf8_lossy(&text[at.saturating_sub(4)..at]);
    !before.chars().next_back().is_some_and(is_of_word)
}

/// What the full-text index does not part words at: it knows marks and signs up to Unicode 6.1,
/// keeps accents that are written after their letter, and takes everything else for letters.
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

/// Longer words are cut at the edge of a snippet.
const LONGEST_WORD: usize = 64;

/// The text around `shown`, about `width` bytes of it, every hit in it told apart. All of `shown`
/// is in it, and no word is cut unless it is longer than [`LONGEST_WORD`]. Hits are in order and do
/// not reach into each other. Control characters stay as they are; the page decides how they look.
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
    // A hit that does not fit is left out whole.
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

/// True where a word goes on: neither a beginning nor an end of the text, nor beside anything that
/// is no letter of one.
fn is_inside_word(text: &str, at: usize) -> bool {
    let is_letter = |letter: char| letter.is_alphanumeric() || letter == '_';
    text[..at].chars().next_back().is_some_and(is_letter)
        && text[at..].chars().next().is_some_and(is_letter)
}

/// The first place from `start` on, up to `most`, at which no word is cut.
fn word_start(text: &str, start: usize, most: usize) -> usize {
    let places = text[start..most].char_indices().map(|(at, _)| start + at).chain([most]);
    let inside =
        places.take_while(|at| *at < start + LONGEST_WORD).find(|at| !is_inside_word(text, *at));
    let start = inside.unwrap_or(start);
    if start < most || !is_inside_word(text, start) {
        return start;
    }
    // What is shown begins within a word; so much of it stands before.
    let letters = text[..start]
        .char_indices()
        .rev()
        .map(|(at, _)| at)
        .take_while(|at| start - at < LONGEST_WORD);
    letters.into_iter().find(|at| !is_inside_word(text, *at)).unwrap_or(start)
}

/// The last place up to `end`, not before `least`, at which no word is cut; a word that begins
/// before `least` is kept whole.
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

/// A snippet reads better from the start of a line, when one begins shortly before the hit.
fn line_start(text: &str, start: usize, hit: usize) -> usize {
    memchr::memrchr(b'\n', &text.as_bytes()[start..hit]).map_or(start, |at| start + at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_begins_only_where_the_full_text_index_lets_one_begin() {
        let sql = rusqlite::Connection::open_in_memory().unwrap();
        sql.execute_batch(
            "CREATE VIRTUAL TABLE words USING fts5(text, tokenize='unicode61');
             CREATE VIRTUAL TABLE terms USING fts5vocab(words, 'row');",
        )
        .unwrap();
        let parted = ('\u{1}'..=char::MAX)
            .filter(|letter| starts_word(format!("a{letter}").as_bytes(), 1 + letter.len_utf8()));
        let text: String = parted.flat_map(|letter| ['a', letter, 'b', ' ']).collect();
        assert!(text.len() > 20_000, "{}", text.len());
        sql.execute("INSERT INTO words VALUES (?)", [text]).unwrap();
        let mut terms = sql.prepare("SELECT term FROM terms").unwrap();
        let terms: Vec<String> =
            terms.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
        assert_eq!(terms, ["a", "b"]);
    }
}
