//! **Pure.** Tokenizer for texts that are not all ASCII, equal to NLTK's international tokenizer:
//! splits between ASCII and other letters, and around punctuation and symbols. Neither sentences
//! nor contractions are recognized, and case is kept.
use crate::text::charsets::{Set, ranges};
use crate::text::python;
use std::sync::OnceLock;

const NOT_NUMBER: u8 = 1;
const PUNCTUATION: u8 = 2;
const SYMBOL: u8 = 4;

/// Returns the sets of each character in the basic multilingual plane; no other character is in
/// any. 64 KB, filled in about 50 µs.
fn kinds() -> &'static [u8] {
    static KINDS: OnceLock<Vec<u8>> = OnceLock::new();
    KINDS.get_or_init(|| {
        let mut kinds = vec![0; 0x1_0000];
        for (set, bit) in
            [(Set::NotNumber, NOT_NUMBER), (Set::Punctuation, PUNCTUATION), (Set::Symbol, SYMBOL)]
        {
            for code in ranges(set).iter().flat_map(|(first, last)| *first..=*last) {
                if let Some(kind) = kinds.get_mut(code as usize) {
                    *kind |= bit;
                }
            }
        }
        kinds
    })
}

/// Calls `each` with each token.
pub(super) fn tokens(text: &str, each: &mut impl FnMut(&str)) {
    let kinds = kinds();
    let is = |c: char, bit: u8| kinds.get(c as usize).is_some_and(|kind| kind & bit != 0);
    let apart = ascii_apart(&unescaped(text));
    let apart =
        pairs(&apart, |a, b| is(a, NOT_NUMBER) && is(b, PUNCTUATION), |a, b| [a, ' ', b, ' ']);
    let apart =
        pairs(&apart, |a, b| is(a, PUNCTUATION) && is(b, NOT_NUMBER), |a, b| [' ', a, ' ', b]);
    let mut out = String::with_capacity(text.len() * 2);
    for c in apart {
        if is(c, SYMBOL) { out.extend([' ', c, ' ']) } else { out.push(c) }
    }
    python::split(&out).for_each(each);
}

/// Removes the mark for skipped parts and decodes entities. `&amp;` comes last, so that its result
/// is not decoded again.
fn unescaped(text: &str) -> String {
    let text = text.replace("<skipped>", "").replace('\u{2028}', " ");
    if !text.contains('&') {
        return text;
    }
    let entities = [
        ("&gt;", ">"),
        ("&lt;", "<"),
        ("&apos;", "'"),
        ("&quot;", "\""),
        ("&#124;", "|"),
        ("&#91;", "["),
    ];
    let last = [("&#93;", "]"), ("&amp;", "&")];
    entities.into_iter().chain(last).fold(text, |text, (entity, sign)| text.replace(entity, sign))
}

/// Surrounds each run of ASCII characters with spaces.
fn ascii_apart(text: &str) -> Vec<char> {
    let mut out = Vec::with_capacity(text.len() + 16);
    let mut inside = false;
    for c in text.chars() {
        if c.is_ascii() != inside {
            out.push(' ');
            inside = !inside;
        }
        out.push(c);
    }
    if inside {
        out.push(' ');
    }
    out
}

/// Replaces pairs of characters from left to right, without overlap.
fn pairs(
    text: &[char],
    is_pair: impl Fn(char, char) -> bool,
    instead: impl Fn(char, char) -> [char; 4],
) -> Vec<char> {
    let mut out = Vec::with_capacity(text.len() * 2);
    let mut at = 0;
    while let Some(first) = text.get(at) {
        match text.get(at + 1) {
            Some(second) if is_pair(*first, *second) => {
                out.extend(instead(*first, *second));
                at += 2;
            }
            _ => {
                out.push(*first);
                at += 1;
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_cut_where_ascii_ends() {
        for (text, expected) in [
            ("naïve café", "na ï ve caf é"),
            ("今日は良い天気です。", "今日は良い天気です 。"),
            ("巴黎是法国的首都。", "巴黎是法国的首都。"),
            ("1.5é 5.é é.5", "1.5 é 5. é é .5"),
            ("🍕🍕 ☕☕", "🍕🍕 ☕ ☕"),
            ("don’t “go” — €5", "don ’ t “ go ” — € 5"),
            ("é&amp;lt;&lt;<skipped>", "é & lt ; <"),
            ("é\u{2028}b", "é b"),
        ] {
            let mut found = Vec::new();
            tokens(text, &mut |token| found.push(token.to_owned()));
            assert_eq!(found.join(" "), expected, "{text}");
        }
    }
}
