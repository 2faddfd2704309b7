//! **Pure.** Escapes text from files for display, so that it cannot control a terminal, reverse the
//! direction of the text around it, or hide characters.
use std::borrow::Cow;

/// Escapes text for one line: line breaks and tabs become spaces, invisible characters become
/// escape sequences.
pub fn one_line(text: &str) -> Cow<'_, str> {
    escaped(text, |c| matches!(c, '\n' | '\r' | '\t').then_some(' '))
}

/// Escapes multi-line text: keeps line breaks and tabs, and turns invisible characters into escape
/// sequences.
pub fn lines(text: &str) -> Cow<'_, str> {
    escaped(text, |c| matches!(c, '\n' | '\t').then_some(c))
}

fn escaped(text: &str, keep: impl Fn(char) -> Option<char>) -> Cow<'_, str> {
    if !text.contains(steers) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match keep(c) {
            Some(kept) => out.push(kept),
            None if steers(c) => out.extend(c.escape_unicode()),
            None => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// Returns true for control characters and for marks that change text direction or are invisible.
pub(crate) fn steers(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}
