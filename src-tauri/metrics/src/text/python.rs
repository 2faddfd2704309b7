//! **Pure.** Character classes of Python: whitespace and word characters. Rust's differ for a few
//! characters.
use super::charsets::{self, Set};

/// Returns true for whitespace in Python's `split` and `strip`.
pub fn is_space(c: char) -> bool {
    matches!(
        c,
        '\t'..='\r' | '\u{1c}'..='\u{20}' | '\u{85}' | '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{2028}' | '\u{2029}'
            | '\u{202f}' | '\u{205f}' | '\u{3000}'
    )
}

/// Like [`is_space`], for ASCII.
pub(super) fn is_space_byte(byte: u8) -> bool {
    matches!(byte, b'\t'..=b'\r' | 0x1c..=0x20)
}

/// Returns true for characters that `\w` matches: letters, numbers and the underscore, but no
/// combining marks.
pub(super) fn is_word(c: char) -> bool {
    if c.is_ascii() { is_word_byte(c as u8) } else { charsets::has(Set::Word, c) }
}

/// Like [`is_word`], for ASCII.
pub(super) fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Splits a text at whitespace.
pub(super) fn split(text: &str) -> impl Iterator<Item = &str> {
    text.split(is_space).filter(|piece| !piece.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_separators_of_old_files_are_white_space() {
        let spaces: Vec<char> = ('\0'..=char::MAX).filter(|c| is_space(*c)).collect();
        assert_eq!(spaces.len(), 29);
        let more: Vec<char> = spaces.into_iter().filter(|c| !c.is_whitespace()).collect();
        assert_eq!(more, ['\u{1c}', '\u{1d}', '\u{1e}', '\u{1f}']);
        assert!(('\0'..='\u{7f}').all(|c| is_space_byte(c as u8) == is_space(c)));
        assert_eq!(split("\u{1c}a\u{a0}b  ").collect::<Vec<_>>(), ["a", "b"]);
    }

    #[test]
    fn letters_and_numbers_are_words_and_marks_are_not() {
        for c in ['a', 'Z', '0', '_', 'é', 'ß', '今', '½', '٣', 'ª', 'Ⅷ', '\u{1d4b8}'] {
            assert!(is_word(c), "{c}");
        }
        for c in [
            ' ',
            '-',
            '\u{301}',
            '\u{93f}',
            'Ⓐ',
            '’',
            '€',
            '\u{200d}',
            '🍕',
            '\u{e000}',
            '\u{10ffff}',
        ] {
            assert!(!is_word(c), "{c}");
        }
    }
}
