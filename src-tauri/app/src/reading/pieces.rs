//! **Pure.** Cuts text: what fits, and piece by piece. Every cut is between two characters.
use std::borrow::Cow;
use std::ops::Range;
use touchstone_api::TextPiece;
use touchstone_formats::json;
use touchstone_formats::value::Value;

/// A piece of text is never longer, whatever is asked for.
pub(super) const MAX_PIECE: usize = 256 << 10;

/// How much may still be sent, counted as the JSON it becomes: a control character takes six bytes
/// there.
#[derive(Debug, Clone, Copy)]
pub(super) struct Budget {
    pub(super) left: usize,
}

impl Budget {
    pub(super) fn of(left: usize) -> Self {
        Self { left }
    }

    /// The beginning of a text that fits, at most so many bytes of it.
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

    /// Takes what stands around a text: names of fields, brackets.
    pub(super) fn spend(&mut self, bytes: usize) {
        self.left = self.left.saturating_sub(bytes);
    }

    /// A name, cut where it cannot be one any more.
    pub(super) fn name(&mut self, text: &str, most: usize) -> String {
        let name = short(text, most);
        self.spend(weight(&name));
        name
    }
}

/// How long a text is in JSON.
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

/// The beginning of a text, with a sign when there is more.
pub(super) fn short(text: &str, most: usize) -> String {
    let end = text.floor_char_boundary(most);
    if end == text.len() { text.to_owned() } else { format!("{}…", &text[..end]) }
}

/// The text of a value: a text as it is, anything else as indented JSON.
pub(super) fn text_of(value: &Value) -> Cow<'_, str> {
    match value {
        Value::Text(text) => Cow::Borrowed(text),
        value => Cow::Owned(json::write(value, true)),
    }
}

/// A piece of a text.
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

/// How many bytes a raw piece should be read before and after what is asked, so that [`raw_piece`]
/// finds whole characters.
pub(super) const MARGIN: usize = 3;

/// A piece of a file that may hold anything. `bytes` were read around the piece, `asked` is the
/// piece within them. Bytes that are no text are shown as U+FFFD; a character that is cut at the
/// end is left for the next piece.
pub(super) fn raw_piece(bytes: &[u8], asked: Range<usize>) -> (String, Range<usize>) {
    let start = boundary(bytes, asked.start.min(bytes.len()));
    let end = boundary(bytes, asked.end.min(bytes.len()));
    (String::from_utf8_lossy(&bytes[start..end]).into_owned(), start..end)
}

/// The place itself, or the start of the character it stands in.
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
