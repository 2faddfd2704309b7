//! **Pure.** Cuts texts to a budget and into pieces. Every cut is between two characters.
use std::borrow::Cow;
use std::ops::Range;
use touchstone_api::TextPiece;
use touchstone_model::json;
use touchstone_model::value::Value;

/// Maximum bytes of a piece of text, whatever is requested.
pub(super) const MAX_PIECE: usize = 256 << 10;

/// Bytes that may still be sent, counted as the JSON they become: a control character takes six
/// bytes there.
#[derive(Debug, Clone, Copy)]
pub(super) struct Budget {
    pub(super) left: usize,
}

impl Budget {
    pub(super) fn new(left: usize) -> Self {
        Self { left }
    }

    /// Returns the beginning of a text that fits the budget, at most `most` bytes, and spends it.
    pub(super) fn fit<'a>(&mut self, text: &'a str, most: usize) -> &'a str {
        let mut cost = 0;
        let mut end = text.len();
        for (at, char) in text.char_indices() {
            let width = if char.is_ascii() { json_width(char as u8) } else { char.len_utf8() };
            if at + char.len_utf8() > most {
                end = at;
                break;
            }
            if cost + width > self.left {
                self.left = 0;
                return &text[..at];
            }
            cost += width;
        }
        self.left -= cost;
        &text[..end]
    }

    /// Spends bytes for the overhead around a text: field names, brackets.
    pub(super) fn spend(&mut self, bytes: usize) {
        self.left = self.left.saturating_sub(bytes);
    }

    /// Returns a name, cut at `most` bytes, and spends it.
    pub(super) fn name(&mut self, text: &str, most: usize) -> String {
        let name = short(text, most);
        self.spend(weight(&name));
        name
    }
}

/// Returns the length of a text in JSON.
pub(super) fn weight(text: &str) -> usize {
    text.bytes().map(json_width).sum()
}

fn json_width(byte: u8) -> usize {
    match byte {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 8 | 12 => 2,
        0..0x20 => 6,
        _ => 1,
    }
}

/// Cuts a text at `most` bytes; ends with an ellipsis if it was cut.
pub(super) fn short(text: &str, most: usize) -> String {
    let end = text.floor_char_boundary(most);
    if end == text.len() { text.to_owned() } else { format!("{}…", &text[..end]) }
}

/// Returns the text of a value: a text unchanged, anything else as indented JSON.
pub(super) fn text_of(value: &Value) -> Cow<'_, str> {
    match value {
        Value::Text(text) => Cow::Borrowed(text),
        value => Cow::Owned(json::write(value, true)),
    }
}

/// Returns the piece of a text from `offset` on.
pub(super) fn piece(text: &str, offset: u64, limit: u64) -> TextPiece {
    let offset = usize::try_from(offset).unwrap_or(usize::MAX).min(text.len());
    let limit = usize::try_from(limit).unwrap_or(usize::MAX).clamp(4, MAX_PIECE);
    let start = text.floor_char_boundary(offset);
    let end = text.floor_char_boundary(start.saturating_add(limit));
    let next = (end < text.len()).then_some(end as u64);
    TextPiece {
        text: text[start..end].to_owned(),
        offset: start as u64,
        next,
        total: text.len() as u64,
    }
}

/// Bytes of a raw piece to read before and after the requested range, so that [`raw_piece`] finds
/// whole characters.
pub(super) const MARGIN: usize = 3;

/// Returns a piece of a file of any content. `bytes` were read around the piece, `asked` is the
/// piece within them. Bytes that are not UTF-8 become U+FFFD; a character that is cut at the end is
/// left for the next piece.
pub(super) fn raw_piece(bytes: &[u8], asked: Range<usize>) -> (String, Range<usize>) {
    let start = boundary(bytes, asked.start.min(bytes.len()));
    let end = boundary(bytes, asked.end.min(bytes.len()));
    (String::from_utf8_lossy(&bytes[start..end]).into_owned(), start..end)
}

/// Returns `at`, or the start of the character that `at` lies inside.
fn boundary(bytes: &[u8], at: usize) -> usize {
    for start in at.saturating_sub(MARGIN)..at {
        let width = match bytes[start] {
            0xC2..=0xDF => 2,
            0xE0..=0xEF => 3,
            0xF0..=0xF4 => 4,
            _ => continue,
        };
        let char = bytes.get(start..start + width);
        if start + width > at && char.is_some_and(|char| std::str::from_utf8(char).is_ok()) {
            return start;
        }
    }
    at
}
