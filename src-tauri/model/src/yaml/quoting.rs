//! **Pure.** Chooses quotes and escapes so that parsers of YAML 1.1 (`PyYAML`) and 1.2 read the
//! same text back.
use std::fmt::Write as _;

use crate::scalar::Scalar;

/// Notations for a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// Without quotes.
    Plain,
    /// In single quotes.
    Single,
    /// In double quotes, with escapes.
    Double,
    /// Block of lines after a key or a dash.
    Literal,
}

/// Returns the notation to use for a text.
pub(super) fn style(text: &str) -> Style {
    if text.contains('\n') {
        return if fits_literal(text) { Style::Literal } else { Style::Double };
    }
    if !text.chars().all(is_ordinary) {
        Style::Double
    } else if is_plain(text) {
        Style::Plain
    } else {
        Style::Single
    }
}

/// Returns true for a text that is written in single quotes: it is on one line and may mean the
/// same without quotes, at least to some parsers.
pub(super) fn needs_quotes(text: &str) -> bool {
    style(text) == Style::Single
}

/// Writes a text on one line.
pub(super) fn quote(out: &mut String, text: &str) {
    match style(text) {
        Style::Plain => out.push_str(text),
        Style::Single => {
            out.push('\'');
            out.push_str(&text.replace('\'', "''"));
            out.push('\'');
        }
        Style::Double | Style::Literal => double(out, text),
    }
}

fn double(out: &mut String, text: &str) {
    out.push('"');
    for letter in text.chars() {
        let code = letter as u32;
        // Writing to a string cannot fail.
        let _ = match letter {
            '"' => out.write_str("\\\""),
            '\\' => out.write_str("\\\\"),
            '\n' => out.write_str("\\n"),
            '\r' => out.write_str("\\r"),
            '\t' => out.write_str("\\t"),
            letter if is_ordinary(letter) => out.write_char(letter),
            _ if code < 0x100 => write!(out, "\\x{code:02x}"),
            _ if code < 0x1_0000 => write!(out, "\\u{code:04x}"),
            _ => write!(out, "\\U{code:08x}"),
        };
    }
    out.push('"');
}

/// Returns true for characters that every parser accepts unescaped on one line: no control
/// characters, no line ends of YAML 1.1, no byte order mark, no Unicode noncharacters.
fn is_ordinary(letter: char) -> bool {
    matches!(letter, ' '..='~' | '\u{a0}'..='\u{2027}' | '\u{202a}'..='\u{fdcf}' | '\u{fdf0}'..='\u{fefe}' | '\u{ff00}'..='\u{fffd}')
        || (letter as u32 >= 0x1_0000 && letter as u32 & 0xFFFE != 0xFFFE)
}

/// Returns true if a block literal preserves the text: its characters are ordinary or tabs, its
/// first line that is not blank gives the indentation and does not begin with a tab, and its end is
/// not blank.
fn fits_literal(text: &str) -> bool {
    let Some(first) = text.lines().find(|line| !line.trim().is_empty()) else { return false };
    let starts_blank =
        text.lines().take_while(|line| line.trim().is_empty()).any(|line| !line.is_empty());
    let last = text.trim_end_matches('\n').lines().next_back().unwrap_or_default();
    !starts_blank
        && !first.starts_with('\t')
        && !last.trim().is_empty()
        && !text.ends_with([' ', '\t'])
        && text.chars().all(|letter| is_ordinary(letter) || matches!(letter, '\n' | '\t'))
}

/// Returns true for texts that need no quotes in any parser. Stricter than the YAML standard,
/// because parsers differ.
fn is_plain(text: &str) -> bool {
    let Some(first) = text.chars().next() else { return false };
    let begins =
        first.is_ascii_alphanumeric() || matches!(first, '_' | '/' | '(') || first as u32 >= 0xa0;
    begins
        && !text.ends_with([' ', ':'])
        && !text.contains(": ")
        && !text.contains(" #")
        && matches!(Scalar::plain(text), Scalar::Text(_))
        && !is_word_of_1_1(text)
        && !looks_numeric(text)
}

/// Returns true for words that YAML 1.1 reads as true, false or null.
fn is_word_of_1_1(text: &str) -> bool {
    ["y", "n", "yes", "no", "on", "off", "true", "false", "null"]
        .iter()
        .any(|word| text.eq_ignore_ascii_case(word))
}

/// Returns true for anything that could be a number, time or date in any YAML version, and a little
/// more: text that begins with a digit and has only characters that occur in these.
fn looks_numeric(text: &str) -> bool {
    let inside = |byte: u8| {
        byte.is_ascii_hexdigit()
            || matches!(
                byte,
                b'x' | b'X'
                    | b'o'
                    | b'O'
                    | b'_'
                    | b'.'
                    | b':'
                    | b'+'
                    | b'-'
                    | b't'
                    | b'T'
                    | b'z'
                    | b'Z'
                    | b' '
            )
    };
    text.starts_with(|letter: char| letter.is_ascii_digit()) && text.bytes().all(inside)
}
