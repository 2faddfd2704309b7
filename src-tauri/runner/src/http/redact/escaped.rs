//! **Pure.** Finds secrets that are written with escapes: `\u0041`, `\x41`, `\101`, `\/`, `%41`,
//! and JSON texts nested in JSON texts. Code that later decodes redacted text therefore need not
//! redact again.
use aho_corasick::AhoCorasick;
use std::ops::Range;

/// Maximum number of decoding passes. A key in a JSON text in an answer in a reply takes three.
const MOST_LAYERS: usize = 6;

/// Returns the ranges of secrets that appear in `text` after decoding its escapes. The ranges never
/// split an escape.
pub(super) fn find(known: &AhoCorasick, text: &[u8]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    if u32::try_from(text.len()).is_err() {
        return found;
    }
    let mut layers: Vec<Layer> = Vec::new();
    for _ in 0..=MOST_LAYERS {
        let current = layers.last().map_or(text, |layer| layer.text.as_slice());
        if memchr::memchr(b'%', current).is_some() {
            let percent = decode(current, b'%', percent_escape);
            search(known, &layers, Some(&percent), &mut found);
        }
        if memchr::memchr(b'\\', current).is_none() {
            break;
        }
        let next = decode(current, b'\\', backslash_escape);
        layers.push(next);
        search(known, &layers, None, &mut found);
    }
    found
}

/// Searches the topmost layer and adds the hits as ranges of the original text.
fn search(
    known: &AhoCorasick,
    layers: &[Layer],
    top: Option<&Layer>,
    found: &mut Vec<Range<usize>>,
) {
    let Some(searched) = top.or(layers.last()) else { return };
    if !known.is_match(&searched.text) {
        return;
    }
    for hit in known.find_overlapping_iter(&searched.text) {
        let range = super::begin(&searched.text, hit.start())..hit.end();
        let range = top.map_or(range.clone(), |top| top.source(&range));
        found.push(layers.iter().rev().fold(range, |range, layer| layer.source(&range)));
    }
}

/// Text with one layer of escapes decoded.
struct Layer {
    text: Vec<u8>,
    pieces: Vec<Piece>,
}

/// Part of a decoded text: unchanged bytes of the source, or a single decoded escape.
#[derive(Clone, Copy)]
struct Piece {
    /// Start in the decoded text.
    at: u32,
    /// Start in the source.
    from: u32,
    is_escape: bool,
}

impl Layer {
    /// Maps a range of the decoded text to the source.
    fn source(&self, range: &Range<usize>) -> Range<usize> {
        let piece = |at: usize| {
            let after = self.pieces.partition_point(|piece| piece.at as usize <= at);
            let piece = after.checked_sub(1).and_then(|found| self.pieces.get(found)).copied();
            (piece.unwrap_or(Piece { at: 0, from: 0, is_escape: false }), after)
        };
        let (first, _) = piece(range.start);
        let start =
            first.from as usize + if first.is_escape { 0 } else { range.start - first.at as usize };
        let (last, after) = piece(range.end.saturating_sub(1));
        let end = match self.pieces.get(after) {
            Some(next) if last.is_escape => next.from as usize,
            _ => last.from as usize + (range.end - last.at as usize),
        };
        start..end.max(start)
    }
}

/// Decoded escape, and its length in the source.
struct Escape {
    letters: Letters,
    len: usize,
}

/// UTF-8 bytes of a character and their number; 0 for an escape that decodes to nothing.
type Letters = ([u8; 4], usize);

fn letters(letter: char) -> Letters {
    let mut bytes = [0; 4];
    let len = letter.encode_utf8(&mut bytes).len();
    (bytes, len)
}

/// Decodes every escape of a text once.
fn decode(source: &[u8], mark: u8, escape: impl Fn(&[u8]) -> Option<Escape>) -> Layer {
    let mut layer = Layer { text: Vec::with_capacity(source.len()), pieces: Vec::new() };
    let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    let mut from = 0;
    let put = |layer: &mut Layer, from: usize, is_escape: bool| {
        layer.pieces.push(Piece { at: count(layer.text.len()), from: count(from), is_escape });
    };
    for at in memchr::memchr_iter(mark, source) {
        if at < from {
            continue;
        }
        let Some(Escape { letters: (bytes, count), len }) = escape(&source[at..]) else { continue };
        if at > from || from == 0 {
            put(&mut layer, from, false);
            layer.text.extend_from_slice(&source[from..at]);
        }
        put(&mut layer, at, true);
        layer.text.extend_from_slice(&bytes[..count]);
        from = at + len;
    }
    put(&mut layer, from, false);
    layer.text.extend_from_slice(&source[from..]);
    layer
}

fn percent_escape(text: &[u8]) -> Option<Escape> {
    let byte = u8::try_from(hex(text.get(1..3)?)?).ok()?;
    Some(Escape { letters: ([byte, 0, 0, 0], 1), len: 3 })
}

/// Decodes an escape of JSON, YAML, JavaScript or Python. The text begins with a backslash.
fn backslash_escape(text: &[u8]) -> Option<Escape> {
    let plain = |letter: char, len| Some(Escape { letters: letters(letter), len });
    let coded =
        |code: u32, len| plain(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER), len);
    match *text.get(1)? {
        b'u' if text.get(2) == Some(&b'{') => {
            let end = text.iter().take(10).position(|byte| *byte == b'}')?;
            coded(hex(&text[3..end])?, end + 1)
        }
        b'u' => {
            let high = hex(text.get(2..6)?)?;
            let low = text
                .get(6..12)
                .filter(|low| low.starts_with(b"\\u"))
                .and_then(|low| hex(&low[2..]));
            match (high, low) {
                (0xD800..=0xDBFF, Some(low @ 0xDC00..=0xDFFF)) => {
                    coded(0x1_0000 + ((high - 0xD800) << 10) + (low - 0xDC00), 12)
                }
                _ => coded(high, 6),
            }
        }
        b'U' => coded(hex(text.get(2..10)?)?, 10),
        b'x' => coded(hex(text.get(2..4)?)?, 4),
        b'0'..=b'7' => {
            let digits =
                text[1..].iter().take(3).take_while(|byte| (b'0'..=b'7').contains(byte)).count();
            let code =
                text[1..=digits].iter().fold(0, |code, digit| code * 8 + u32::from(digit - b'0'));
            coded(code, digits + 1)
        }
        // Escaped line break, which joins two lines.
        b'\n' => {
            let blanks = text[2..].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
            Some(Escape { letters: ([0; 4], 0), len: 2 + blanks })
        }
        b'n' => plain('\n', 2),
        b'r' => plain('\r', 2),
        b't' => plain('\t', 2),
        b'b' => plain('\u{8}', 2),
        b'f' => plain('\u{c}', 2),
        byte if byte.is_ascii() => plain(char::from(byte), 2),
        _ => None,
    }
}

fn hex(digits: &[u8]) -> Option<u32> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}
