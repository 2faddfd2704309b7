//! **Pure.** How a text is written in YAML so that readers of 1.1 (`PyYAML`) and 1.2 read the same
//! text back.
use std::fmt::Write as _;

use super::scalars::Scalar;

/// Ways to write a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// As it is.
    Plain,
    /// In single quotes.
    Single,
    /// In double quotes, with escapes.
    Double,
    /// As a block of lines, after a key or a dash.
    Literal,
}

/// How a text is written.
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

/// True for a text on one line that is written in quotes although it could mean itself without
/// them.
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

/// Characters that every reader takes as they are, on one line: no control characters, none of the
/// line ends of YAML 1.1, no byte order mark, nothing outside Unicode's characters.
fn is_ordinary(letter: char) -> bool {
    matches!(letter, ' '..='~' | '\u{a0}'..='\u{2027}' | '\u{202a}'..='\u{fdcf}' | '\u{fdf0}'..='\u{fefe}' | '\u{ff00}'..='\u{fffd}')
        || (letter as u32 >= 0x1_0000 && letter as u32 & 0xFFFE != 0xFFFE)
}

/// A block literal keeps a text when its characters are ordinary or tabs, when it has something to
/// take the indentation from that is not a tab, and when its end is not blank.
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

/// Texts that need no quotes anywhere. Stricter than YAML is, because readers differ.
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

/// Words that YAML 1.1 reads as true, false or null.
fn is_word_of_1_1(text: &str) -> bool {
    ["y", "n", "yes", "no", "on", "off", "true", "false", "null"]
        .iter()
        .any(|word| text.eq_ignore_ascii_case(word))
}

/// Numbers, times and dates of any YAML, and some more: everything that begins with a digit and
/// holds nothing else than they do.
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
