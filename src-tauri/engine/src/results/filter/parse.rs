//! **Pure.** Reads a typed filter: letters into words, words into tokens. Never fails; what makes no sense is told apart.
use super::keys::{KeyRule, STATES, Takes, key_named, nearest, state_named};
use super::{Ask, Comparison, Filter, Pattern, StoredAsk, Token, Wanted};
use crate::results::snippet::MAX_NEEDLE;
use crate::rows::{Misread, StoredResult};

/// Longer filters are no filters a person typed; what is beyond is left out, and told.
const MAX_BYTES: usize = 8_192;
/// More tokens or values than this are left out, so that the question to the index keeps a sane size.
const MAX_TOKENS: usize = 64;

/// A letter, and whether quotes make it stand for itself.
#[derive(Clone, Copy)]
struct Letter {
    char: char,
    quoted: bool,
}

impl Letter {
    fn is(self, char: char) -> bool {
        !self.quoted && self.char == char
    }
}

/// What stands between two spaces that are not in quotes.
struct Word<'a> {
    typed: &'a str,
    letters: Vec<Letter>,
    has_quotes: bool,
}

pub(super) fn parse(typed: &str) -> (Filter, Vec<Misread>) {
    let end = typed.floor_char_boundary(MAX_BYTES);
    let mut filter = Filter::default();
    let mut misread = Vec::new();
    for word in words(&typed[..end]) {
        if filter.tokens.len() == MAX_TOKENS {
            misread.push(note(
                word.typed,
                format!("A filter takes {MAX_TOKENS} tokens; this and what follows was left out."),
            ));
            break;
        }
        if let Some(token) = token(&word, &mut misread) {
            filter.tokens.push(token);
        }
    }
    if end < typed.len() {
        misread.push(note("…", format!("The filter is longer than {MAX_BYTES} bytes; the rest was left out.")));
    }
    (filter, misread)
}

fn words(typed: &str) -> Vec<Word<'_>> {
    let mut words = Vec::new();
    let mut rest = typed.trim_start();
    while !rest.is_empty() {
        let (word, used) = word(rest);
        words.push(word);
        rest = rest[used..].trim_start();
    }
    words
}

/// The first word, and how many bytes it takes. An open quote reaches to the end: the person is still typing.
fn word(text: &str) -> (Word<'_>, usize) {
    let mut letters = Vec::new();
    let (mut quoted, mut has_quotes) = (false, false);
    let mut chars = text.char_indices().peekable();
    let mut end = text.len();
    while let Some((at, char)) = chars.next() {
        match char {
            '"' => (quoted, has_quotes) = (!quoted, true),
            '\\' if quoted => {
                let escaped = chars.next_if(|(_, next)| matches!(next, '"' | '\\'));
                letters.push(Letter { char: escaped.map_or('\\', |(_, next)| next), quoted });
            }
            _ if char.is_whitespace() && !quoted => {
                end = at;
                break;
            }
            _ => letters.push(Letter { char, quoted }),
        }
    }
    (Word { typed: &text[..end], letters, has_quotes }, end)
}

fn token(word: &Word<'_>, misread: &mut Vec<Misread>) -> Option<Token> {
    let (negated, letters) = negation(&word.letters);
    if let Some((name, value)) = key_and_value(letters) {
        if let Some(rule) = key_named(&name) {
            return values(rule, value, word, misread)
                .map(|wanted| Token { negated, ask: Ask::Value(rule.key, wanted) });
        }
        if let Some(near) = nearest(&name, super::KEYS.iter().map(|rule| rule.name)) {
            let value = word.typed.split_once(':').map_or("", |(_, value)| value);
            let message = format!(
                "There is no key “{name}”. Write {near}:{value}, or put the word in quotes to search for it as text."
            );
            misread.push(note(word.typed, message));
            return None;
        }
    }
    let text: String = letters.iter().map(|letter| letter.char).collect();
    if text.len() > MAX_NEEDLE {
        let message = format!("A text to be found has at most {MAX_NEEDLE} bytes; this one was left out.");
        misread.push(note(word.typed, message));
        return None;
    }
    (!text.trim().is_empty()).then_some(Token { negated, ask: Ask::Text(text) })
}

/// A sign negates when a word or a quote follows; `->`, `!=` and `--` are text.
fn negation(letters: &[Letter]) -> (bool, &[Letter]) {
    match letters {
        [sign, next, ..]
            if (sign.is('-') || sign.is('!')) && (next.quoted || next.char.is_alphanumeric() || next.char == '_') =>
        {
            (true, &letters[1..])
        }
        _ => (false, letters),
    }
}

fn key_and_value(letters: &[Letter]) -> Option<(String, &[Letter])> {
    let colon = letters.iter().position(|letter| letter.is(':'))?;
    let name = &letters[..colon];
    let plain = colon > 0
        && name.iter().all(|letter| !letter.quoted && (letter.char.is_ascii_alphabetic() || letter.char == '_'));
    plain.then(|| (name.iter().map(|letter| letter.char).collect(), &letters[colon + 1..]))
}

fn values(rule: &KeyRule, letters: &[Letter], word: &Word<'_>, misread: &mut Vec<Misread>) -> Option<Vec<Wanted>> {
    let mut wanted = Vec::new();
    let mut wrong = None;
    // Empty values are passed over: the person may be about to type the next.
    for value in letters.split(|letter| letter.is(',')).filter(|value| !value.is_empty()).take(MAX_TOKENS) {
        match one_value(rule, value) {
            Ok(value) => wanted.push(value),
            Err(message) => wrong = Some(message),
        }
    }
    if wanted.is_empty() && wrong.is_none() {
        let quotes = if word.has_quotes { ", with something between the quotes" } else { ", without a space between" };
        wrong = Some(format!("Write a value after “{}:”{quotes}: {}.", rule.name, rule.example));
    }
    misread.extend(wrong.map(|message| note(word.typed, message)));
    (!wanted.is_empty()).then_some(wanted)
}

fn one_value(rule: &KeyRule, letters: &[Letter]) -> Result<Wanted, String> {
    let text: String = letters.iter().map(|letter| letter.char).collect();
    let bare = letters.iter().all(|letter| !letter.quoted);
    match rule.takes {
        Takes::Text => Ok(Wanted::Like(pattern(letters))),
        Takes::State => state_named(&text).map(Wanted::State).ok_or_else(|| {
            let all: Vec<&str> = STATES.iter().map(|(_, name)| *name).collect();
            no_word(rule, &text, &all)
        }),
        Takes::Word(words) => {
            let word = text.to_ascii_lowercase().replace('-', "_");
            let known = words.iter().find(|known| **known == word);
            known.map(|known| Wanted::Word(known)).ok_or_else(|| no_word(rule, &text, words))
        }
        Takes::Flag => flag(&text).map(Wanted::Flag).ok_or_else(|| format!("Write {0}:yes or {0}:no.", rule.name)),
        Takes::FlagOrText => {
            Ok(flag(&text).filter(|_| bare).map_or_else(|| Wanted::Like(pattern(letters)), Wanted::Flag))
        }
        Takes::Number(units) => number(&text, units)
            .map(|(by, number)| Wanted::Number(by, number))
            .ok_or_else(|| format!("“{text}” is no number. Write it like {}.", rule.example)),
        Takes::Stored => stored(rule, letters),
    }
}

/// The name of an evaluator, up to the first sign that no quotes hide, and what it said.
fn stored(rule: &KeyRule, letters: &[Letter]) -> Result<Wanted, String> {
    let at = letters.iter().position(|letter| ['=', '<', '>'].into_iter().any(|sign| letter.is(sign)));
    let (name, said) = letters.split_at(at.unwrap_or(letters.len()));
    if name.is_empty() {
        return Err(format!("Write the name of an evaluator before what it said: {}.", rule.example));
    }
    let said: String = said.iter().map(|letter| letter.char).collect();
    let word = said.strip_prefix('=').map(str::to_ascii_lowercase);
    let result = word.and_then(|word| StoredResult::ALL.into_iter().find(|result| result.word() == word));
    let ask = match result {
        _ if said.is_empty() => StoredAsk::Anything,
        Some(result) => StoredAsk::Result(result),
        None => {
            let (by, number) = number(&said, &[]).ok_or_else(|| {
                let words = StoredResult::ALL.map(StoredResult::word).join(", ");
                let said = said.trim_start_matches(['=', '<', '>']);
                format!("“{said}” is nothing that came of an evaluator. Write one of {words} after “=”, or a number: stored:relevance<3.")
            })?;
            StoredAsk::Number(by, number)
        }
    };
    Ok(Wanted::Stored(pattern(name), ask))
}

fn no_word(rule: &KeyRule, text: &str, words: &[&str]) -> String {
    let name = rule.name;
    let near = nearest(text, words.iter().copied());
    let advice =
        near.map_or_else(|| format!("Write one of {}", words.join(", ")), |near| format!("Write {name}:{near}"));
    format!("“{text}” is no {name}. {advice}.")
}

fn flag(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "yes" => Some(true),
        "no" => Some(false),
        _ => None,
    }
}

fn pattern(letters: &[Letter]) -> Pattern {
    Pattern(
        letters.split(|letter| letter.is('*')).map(|piece| piece.iter().map(|letter| letter.char).collect()).collect(),
    )
}

fn number(text: &str, units: &[(&str, f64)]) -> Option<(Comparison, f64)> {
    const SIGNS: [(&str, Comparison); 5] = [
        ("<=", Comparison::AtMost),
        (">=", Comparison::AtLeast),
        ("<", Comparison::Less),
        (">", Comparison::More),
        ("=", Comparison::Equal),
    ];
    let (by, digits) = SIGNS
        .iter()
        .find_map(|(sign, by)| text.strip_prefix(sign).map(|digits| (*by, digits)))
        .unwrap_or((Comparison::Equal, text));
    let digits = digits.trim_start_matches('$').to_ascii_lowercase();
    let (digits, worth) = units
        .iter()
        .find_map(|(unit, worth)| digits.strip_suffix(unit).map(|digits| (digits, *worth)))
        .unwrap_or((&digits, 1.0));
    let number = digits.parse::<f64>().ok()? * worth;
    // Adding zero turns -0 into 0, so that what is printed reads back as the same.
    (number.is_finite() && number >= 0.0).then_some((by, number + 0.0))
}

fn note(token: &str, message: String) -> Misread {
    let cut = token.floor_char_boundary(200);
    Misread { token: token[..cut].to_owned(), message }
}
