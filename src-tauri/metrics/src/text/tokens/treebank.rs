//! **Pure.** Word tokenizer for an English sentence, equal to NLTK's: patterns that separate
//! quotes, punctuation and contractions are applied one after the other, and their order matters.
//! ASCII only; other texts use a different tokenizer.
use super::rewrite::Draft;
use crate::text::Nltk;
use crate::text::python::{is_space_byte, is_word_byte};

/// Calls `each` with each word of a sentence.
///
/// Most pieces between whitespace are only letters and digits, or these with one mark behind them.
/// No pattern applies inside or across such pieces, so only the stretches between them go through
/// the patterns, with the whitespace around them.
pub(super) fn words(sentence: &[u8], nltk: Nltk, draft: &mut Draft, each: &mut impl FnMut(&str)) {
    let (mut from, mut at) = (None, 0);
    while at < sentence.len() {
        let piece = sentence[at..].iter().take_while(|byte| !is_gap(**byte)).count();
        let (start, end) = (at, at + piece);
        at = end + 1;
        if piece == 0 {
            continue;
        }
        let Some(middle) = simple(&sentence[start..end], sentence.get(end..).unwrap_or_default())
        else {
            from.get_or_insert(start);
            continue;
        };
        if let Some(from) = from.take() {
            marked(&sentence[usize::saturating_sub(from, 1)..start], false, nltk, draft, each);
        }
        each(text_of(&sentence[start..start + middle]));
        if middle < piece {
            each(text_of(&sentence[start + middle..end]));
        }
    }
    if let Some(from) = from {
        marked(&sentence[usize::saturating_sub(from, 1)..], true, nltk, draft, each);
    }
}

/// Returns true for characters that are whitespace in every pattern of every version.
fn is_gap(byte: u8) -> bool {
    matches!(byte, b'\t'..=b'\r' | b' ')
}

/// Returns the position at which a piece between whitespace is split (its end if it is not), or
/// `None` if the patterns must decide.
fn simple(piece: &[u8], behind: &[u8]) -> Option<usize> {
    let letters = piece.iter().take_while(|byte| is_word_byte(**byte)).count();
    let contraction = joined(&piece[..letters], 0);
    match piece[letters..] {
        [] => Some(contraction.map_or(letters, |(_, middle)| middle)),
        _ if letters == 0 || contraction.is_some() => None,
        [b',' | b';' | b':' | b'?' | b'!'] => Some(letters),
        // A period is separated only at the end of the sentence; brackets behind it need the
        // patterns.
        [b'.'] => match behind.iter().find(|byte| !is_gap(**byte)) {
            None => Some(letters),
            Some(byte) if is_word_byte(*byte) => Some(letters + 1),
            Some(_) => None,
        },
        _ => None,
    }
}

/// Tokenizes pieces with other characters, including the whitespace around them; `ends` is true at
/// the end of the sentence.
fn marked(pieces: &[u8], ends: bool, nltk: Nltk, draft: &mut Draft, each: &mut impl FnMut(&str)) {
    draft.begin(pieces);
    opening_quotes(draft, nltk);
    punctuation(draft, ends, nltk);
    brackets_and_dashes(draft);
    draft.pad();
    closing_quotes(draft, nltk);
    contractions(draft);
    for word in draft.text().split(|byte| is_space_byte(*byte)).filter(|word| !word.is_empty()) {
        each(text_of(word));
    }
}

fn text_of(word: &[u8]) -> &str {
    std::str::from_utf8(word).unwrap_or_default()
}

fn opening_quotes(draft: &mut Draft, nltk: Nltk) {
    if draft.had(b"`") {
        draft.replace(|text, at, out| apart(out, &text[at..at + run(&text[at..], b'`')]));
    }
    if draft.text().first() == Some(&b'"') {
        draft.replace(|_, at, out| if at == 0 { put(out, &[b"``"], 1) } else { 0 });
        draft.brings(b'`');
    }
    if draft.had(b"`") {
        draft.replace(
            |text, at, out| if text[at..].starts_with(b"``") { apart(out, b"``") } else { 0 },
        );
    }
    if draft.had(b"\"'") {
        draft.replace(|text, at, out| {
            let quote = match text[at + 1..] {
                _ if !matches!(text[at], b' ' | b'(' | b'[' | b'{' | b'<') => 0,
                [b'"', ..] => 1,
                [b'\'', b'\'', ..] => 2,
                _ => 0,
            };
            if quote == 0 { 0 } else { put(out, &[&text[at..=at], b" `` "], 1 + quote) }
        });
    }
    if draft.had(b"'") {
        draft.replace(|text, at, out| match nltk {
            Nltk::V3_9 if opens_before_one_letter(text, at) => {
                put(out, &[b"' ", &text[at + 1..at + 2]], 2)
            }
            Nltk::V3_10 if opens_a_word(text, at) => put(out, &[b"' "], 1),
            _ => 0,
        });
    }
}

/// Endings that an apostrophe attaches to the word before.
const ENDINGS: [&[u8]; 8] = [b"re", b"ve", b"ll", b"m", b"t", b"s", b"d", b"n"];

/// Returns true for an apostrophe before a single letter or digit that is not an ending: the rule
/// up to 3.9.1.
fn opens_before_one_letter(text: &[u8], at: usize) -> bool {
    let rest = &text[at + 1..];
    text[at] == b'\''
        && is_word_at(rest, 0)
        && !is_word_at(rest, 1)
        && !ENDINGS.iter().any(|ending| starts_with_ignoring_case(rest, ending))
}

/// Returns true for an apostrophe without a word before it, and with a word that is not an ending
/// behind it: the rule of 3.10.4.
fn opens_a_word(text: &[u8], at: usize) -> bool {
    let rest = &text[at + 1..];
    text[at] == b'\''
        && !(at > 0 && is_word_byte(text[at - 1]))
        && is_word_at(rest, 0)
        && !ENDINGS.iter().any(|ending| {
            starts_with_ignoring_case(rest, ending) && !is_word_at(rest, ending.len())
        })
}

fn punctuation(draft: &mut Draft, ends: bool, nltk: Nltk) {
    if ends {
        final_period(draft, nltk, true);
    }
    if draft.had(b":,") {
        draft.replace(|text, at, out| match text[at..] {
            [mark @ (b':' | b','), next, ..] if !next.is_ascii_digit() => {
                put(out, &[b" ", &[mark], b" ", &[next]], 2)
            }
            _ => 0,
        });
        draft.replace(|text, at, out| match text[at..] {
            [mark @ (b':' | b',')] | [mark @ (b':' | b','), b'\n'] => {
                put(out, &[b" ", &[mark], b" "], 1)
            }
            _ => 0,
        });
    }
    if draft.had(b".") {
        draft.replace(|text, at, out| match run(&text[at..], b'.') {
            0 | 1 => 0,
            dots => apart(out, &text[at..at + dots]),
        });
    }
    set_apart(draft, b";@#$%&");
    if ends {
        final_period(draft, nltk, false);
    }
    set_apart(draft, b"?!");
    if draft.had(b"'") {
        draft.replace(|text, at, out| match text[at..] {
            [before, b'\'', b' ', ..] if before != b'\'' => put(out, &[&[before], b" ' "], 3),
            _ => 0,
        });
    }
    set_apart(draft, b"*");
}

/// Separates the period at the end of the text, which closing brackets, quotes and whitespace may
/// follow. The first of the two rules also accepts spaces between these, and separates them from
/// the period.
fn final_period(draft: &mut Draft, nltk: Nltk, with_spaces: bool) {
    if !draft.had(b".") {
        return;
    }
    let text = draft.text();
    let closes = |byte: u8| {
        matches!(byte, b']' | b')' | b'}' | b'>' | b'"' | b'\'') || (with_spaces && byte == b' ')
    };
    let mut end = text.len();
    while end > 0 && nltk.is_space(text[end - 1]) {
        end -= 1;
    }
    while end > 0 && closes(text[end - 1]) {
        end -= 1;
    }
    if end < 2 || text[end - 1] != b'.' || text[end - 2] == b'.' {
        return;
    }
    let closing: Vec<u8> = text[end..].iter().copied().take_while(|byte| closes(*byte)).collect();
    let gap: &[u8] = if with_spaces { b" " } else { b"" };
    draft.replace_end(end - 1, &[b" .", gap, &closing, b" "]);
}

fn brackets_and_dashes(draft: &mut Draft) {
    set_apart(draft, b"[](){}<>");
    if draft.had(b"-") {
        draft.replace(
            |text, at, out| if text[at..].starts_with(b"--") { apart(out, b"--") } else { 0 },
        );
    }
}

fn closing_quotes(draft: &mut Draft, nltk: Nltk) {
    if draft.had(b"'") {
        draft.replace(
            |text, at, out| if text[at..].starts_with(b"''") { apart(out, b"''") } else { 0 },
        );
    }
    if draft.had(b"\"") {
        draft.replace(|text, at, out| if text[at] == b'"' { put(out, &[b" '' "], 1) } else { 0 });
        draft.brings(b'\'');
    }
    if !draft.had(b"'") {
        return;
    }
    // The remaining patterns require single spaces.
    draft.replace(|text, at, out| {
        match text[at..].iter().take_while(|byte| nltk.is_space(**byte)).count() {
            0 => 0,
            spaces => put(out, &[b" "], spaces),
        }
    });
    draft.replace(|text, at, out| match text.get(at + 1) {
        Some(b'\'') => ending(text, at, out, &[b"'s", b"'S", b"'m", b"'M", b"'d", b"'D", b"'"]),
        _ => 0,
    });
    draft.replace(|text, at, out| match text.get(at + 1) {
        Some(b'\'') => ending(text, at, out, &[b"'ll", b"'LL", b"'re", b"'RE", b"'ve", b"'VE"]),
        Some(b'n' | b'N') => ending(text, at, out, &[b"n't", b"N'T"]),
        _ => 0,
    });
}

/// Separates an ending that stands behind a letter and before a space.
fn ending(text: &[u8], at: usize, out: &mut Vec<u8>, endings: &[&[u8]]) -> usize {
    if matches!(text[at], b'\'' | b' ') {
        return 0;
    }
    let rest = &text[at + 1..];
    let found = endings
        .iter()
        .find(|ending| rest.starts_with(ending) && rest.get(ending.len()) == Some(&b' '));
    found.map_or(0, |ending| put(out, &[&text[at..=at], b" ", ending, b" "], ending.len() + 2))
}

/// Words that are split in two, and the split position.
const JOINED: [(&[u8], usize); 8] = [
    (b"cannot", 3),
    (b"d'ye", 1),
    (b"gimme", 3),
    (b"gonna", 3),
    (b"gotta", 3),
    (b"lemme", 3),
    (b"more'n", 4),
    (b"wanna", 3),
];

fn contractions(draft: &mut Draft) {
    let any = (1..draft.text().len()).any(|at| joined(draft.text(), at).is_some());
    if any {
        draft.replace(|text, at, out| match joined(text, at) {
            Some((word, middle)) => {
                let end = at + word.len();
                put(
                    out,
                    &[b" ", &text[at..at + middle], b" ", &text[at + middle..end], b" "],
                    word.len(),
                )
            }
            None => 0,
        });
    }
    if draft.had(b"'") {
        // Applied one after the other, because the first can create the space that the second
        // needs.
        for word in [b" 'tis".as_slice(), b" 'twas"] {
            draft.replace(|text, at, out| {
                let rest = &text[at..];
                if !starts_with_ignoring_case(rest, word) || is_word_at(rest, word.len()) {
                    return 0;
                }
                put(out, &[&rest[..3], b" ", &rest[3..word.len()], b" "], word.len())
            });
        }
    }
}

fn joined(text: &[u8], at: usize) -> Option<(&'static [u8], usize)> {
    let starts = matches!(text.get(at)? | 0x20, b'c' | b'd' | b'g' | b'l' | b'm' | b'w')
        && !(at > 0 && is_word_byte(text[at - 1]));
    let rest = starts.then(|| &text[at..])?;
    let (word, middle) =
        JOINED.into_iter().find(|(word, _)| starts_with_ignoring_case(rest, word))?;
    let ends = match rest.get(word.len()) {
        // `wanna` is the only pattern that requires whitespace, or the end of the text, behind it.
        next if word == b"wanna" => next.is_none_or(|byte| is_space_byte(*byte)),
        next => !next.is_some_and(|byte| is_word_byte(*byte)),
    };
    ends.then_some((word, middle))
}

/// Separates each of these bytes.
fn set_apart(draft: &mut Draft, marks: &[u8]) {
    if draft.had(marks) {
        draft.replace(
            |text, at, out| if marks.contains(&text[at]) { apart(out, &text[at..=at]) } else { 0 },
        );
    }
}

/// Writes a piece with a space on both sides, and returns its length.
fn apart(out: &mut Vec<u8>, piece: &[u8]) -> usize {
    if piece.is_empty() { 0 } else { put(out, &[b" ", piece, b" "], piece.len()) }
}

fn put(out: &mut Vec<u8>, pieces: &[&[u8]], instead_of: usize) -> usize {
    for piece in pieces {
        out.extend_from_slice(piece);
    }
    instead_of
}

/// Returns the length of the run of a byte at the beginning.
fn run(text: &[u8], byte: u8) -> usize {
    text.iter().take_while(|other| **other == byte).count()
}

fn is_word_at(text: &[u8], at: usize) -> bool {
    text.get(at).is_some_and(|byte| is_word_byte(*byte))
}

fn starts_with_ignoring_case(text: &[u8], start: &[u8]) -> bool {
    text.get(..start.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(start))
}
