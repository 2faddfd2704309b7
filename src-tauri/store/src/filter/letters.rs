//! **Pure.** Letters of a filter, and what they spell: patterns, numbers, texts and regular
//! expressions.
use super::steps::TextMatch;
use super::{Comparison, Pattern};
use crate::snippet::{MAX_NEEDLE, Needle};

/// Comparison signs between a key and a number, in matching order.
pub(super) const SIGNS: [(&str, Comparison); 5] = [
    ("<=", Comparison::AtMost),
    (">=", Comparison::AtLeast),
    ("<", Comparison::Less),
    (">", Comparison::More),
    ("=", Comparison::Equal),
];

/// Appended to the advice for a word that may have been meant as text.
pub(super) const IN_QUOTES: &str = "To search for the text, put it in quotes.";

/// Words that seem to join steps when they stand beside one, and so are text only in quotes.
pub(super) const JOINING: [&str; 8] =
    ["then", "no", "not", "never", "without", "and", "or", "followed"];

/// Character of a filter.
#[derive(Clone, Copy)]
pub(super) struct Letter {
    pub(super) char: char,
    /// True when quotes make it literal.
    pub(super) quoted: bool,
    /// True inside of a regular expression.
    pub(super) regex: bool,
}

impl Letter {
    pub(super) fn plain(char: char) -> Self {
        Self { char, quoted: false, regex: false }
    }

    pub(super) fn quoted(char: char) -> Self {
        Self { char, quoted: true, regex: false }
    }

    pub(super) fn of_regex(char: char) -> Self {
        Self { char, quoted: false, regex: true }
    }

    /// Returns true when it is this character and means more than itself.
    pub(super) fn is(self, char: char) -> bool {
        !self.quoted && !self.regex && self.char == char
    }
}

/// Returns true when a text begins with a comparison sign.
pub(super) fn sign_at_start(text: &str) -> bool {
    text.starts_with(['<', '>', '='])
}

/// Reads a text with wildcards.
pub(super) fn pattern(letters: &[Letter]) -> Pattern {
    Pattern(
        letters
            .split(|letter| letter.is('*'))
            .map(|piece| piece.iter().map(|letter| letter.char).collect())
            .collect(),
    )
}

/// Splits a value into its comparison, which is equality without a sign, and the rest.
pub(super) fn comparison(text: &str) -> (Comparison, &str) {
    SIGNS
        .iter()
        .find_map(|(sign, by)| text.strip_prefix(sign).map(|rest| (*by, rest)))
        .unwrap_or((Comparison::Equal, text))
}

/// Reads a comparison sign and a number that is not negative, with one of these units.
pub(super) fn number(text: &str, units: &[(&str, f64)]) -> Option<(Comparison, f64)> {
    let (by, digits) = comparison(text);
    let digits = digits.trim_start_matches('$').to_ascii_lowercase();
    let (digits, worth) = units
        .iter()
        .find_map(|(unit, worth)| digits.strip_suffix(unit).map(|digits| (digits, *worth)))
        .unwrap_or((&digits, 1.0));
    let number = digits.parse::<f64>().ok()? * worth;
    // Adding zero turns -0 into 0, so that the printed filter parses to an equal value.
    (number.is_finite() && number >= 0.0).then_some((by, number + 0.0))
}

/// Returns the length of the regular expression that a text begins with, with its slashes. `None`
/// for a path: without a second slash, or when something else follows it than the end or one of
/// these signs.
pub(super) fn regex_len(text: &str, follows: impl Fn(&str) -> bool) -> Option<usize> {
    let inside = text.strip_prefix('/')?;
    let mut escaped = false;
    let closes = |(_, char): &(usize, char)| {
        let closes = *char == '/' && !escaped;
        escaped = *char == '\\' && !escaped;
        closes
    };
    let end = inside.char_indices().find(closes)?.0 + 2;
    (end == text.len() || follows(&text[end..])).then_some(end)
}

/// Reads a text value, which is a regular expression when its letters belong to one.
pub(super) fn text_match(letters: &[Letter]) -> Result<TextMatch, String> {
    let text: String = letters.iter().map(|letter| letter.char).collect();
    if text.len() > MAX_NEEDLE {
        return Err(format!("A text to be found has at most {MAX_NEEDLE} bytes. Make it shorter."));
    }
    if letters.iter().any(|letter| letter.regex) {
        return match Needle::regex(&text) {
            Ok(_) => Ok(TextMatch::Regex(text)),
            Err(why) => Err(format!("The regular expression cannot be read: {why}")),
        };
    }
    if letters.iter().any(|letter| letter.is('*')) {
        return Err(
            "Texts match beginnings of words. Leave out the star, put the text in quotes, \
                    or write a regular expression between slashes."
                .to_owned(),
        );
    }
    Ok(TextMatch::Text(text))
}
