//! **Pure.** Text from files, made safe to look at: nothing in it can steer a terminal, turn the
//! text around it or hide.
use std::borrow::Cow;

/// Text on one line: line breaks and tabs become spaces, what cannot be seen becomes an escape.
pub fn one_line(text: &str) -> Cow<'_, str> {
    escaped(text, |c| matches!(c, '\n' | '\r' | '\t').then_some(' '))
}

/// Text on many lines: what cannot be seen becomes an escape.
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

/// Control characters, and marks that turn or hide what stands around them.
pub(crate) fn steers(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}
