//! **Pure.** What the full-text index knows of a needle: all of it, or which terms a run must hold
//! that matches.
use super::words::{BEGINNING, LONGEST, SHORT, fold, put_letter};
use crate::snippet::Needle;

/// What the index is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Term {
    pub(super) bytes: Vec<u8>,
    /// False when words that only begin like this count, too.
    pub(super) is_whole: bool,
}

/// How the runs are found that hold a needle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Plan {
    /// Those with this term, and no others.
    Exactly(Term),
    /// Some of those with all of these terms; their texts decide. Without terms, any run may be one.
    AmongThose(Vec<Term>),
}

impl Plan {
    pub(crate) fn for_needle(needle: &Needle) -> Self {
        if needle.is_regex() {
            return Self::AmongThose(Vec::new());
        }
        let text = needle.text().as_bytes();
        let is_word = needle.is_at_word_start() && text.iter().all(|byte| is_of_word(*byte));
        if is_word && text.len() <= LONGEST {
            return Self::Exactly(Term::word(text, false));
        }
        Self::AmongThose(terms(needle.text(), needle.is_at_word_start()))
    }
}

impl Term {
    /// Returns true when a term of the index counts.
    pub(super) fn is(&self, term: &[u8]) -> bool {
        if self.is_whole { term == self.bytes } else { term.starts_with(&self.bytes) }
    }

    fn word(word: &[u8], is_whole: bool) -> Self {
        let lower = word.to_ascii_lowercase();
        if word.len() >= LONGEST {
            return Self { bytes: lower[..LONGEST].to_vec(), is_whole: false };
        }
        if !is_whole && word.len() <= SHORT {
            let bytes = [&[BEGINNING], lower.as_slice()].concat();
            return Self { bytes, is_whole: true };
        }
        Self { bytes: lower, is_whole }
    }
}

fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Returns terms that every text holds that holds this one, ignoring case.
fn terms(text: &str, at_word_start: bool) -> Vec<Term> {
    let mut terms: Vec<Term> = Vec::new();
    let mut letter = Vec::new();
    let mut put = |term: Term| {
        if !terms.contains(&term) {
            terms.push(term);
        }
    };
    // Whether a word starts where the rest does. What stands before is not known at the beginning,
    // and behind a letter beyond ASCII.
    let mut is_start = at_word_start;
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let len = rest.bytes().take_while(|byte| is_of_word(*byte)).count();
        if len == 0 {
            is_start = first.is_ascii();
            if let Some(folded) = fold(first) {
                put_letter(folded, &mut letter);
                put(Term { bytes: letter.clone(), is_whole: true });
            }
            rest = &rest[first.len_utf8()..];
            continue;
        }
        let (word, after) = rest.split_at(len);
        // Behind `_`, a word starts in any case.
        let known = if is_start { Some(word) } else { word.split_once('_').map(|(_, word)| word) };
        let word = known.map(|word| word.trim_start_matches('_')).unwrap_or_default();
        if !word.is_empty() {
            let is_whole = after.bytes().next().is_some_and(|next| next.is_ascii());
            put(Term::word(word.as_bytes(), is_whole));
        }
        (rest, is_start) = (after, false);
    }
    terms
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(text: &str) -> String {
        let show = |term: &Term| {
            let text = String::from_utf8_lossy(&term.bytes).replace(['\u{1}', '\u{2}'], "'");
            format!("{text}{}", if term.is_whole { "" } else { "*" })
        };
        match Plan::for_needle(&Needle::word(text).unwrap()) {
            Plan::Exactly(term) => format!("= {}", show(&term)),
            Plan::AmongThose(terms) => terms.iter().map(show).collect::<Vec<_>>().join(" "),
        }
    }

    #[test]
    fn words_are_found_exactly_and_others_are_narrowed() {
        for (text, expected) in [
            ("Downtime", "= downtime*"),
            ("query_support", "= query_support*"),
            ("no", "= 'no"),
            ("no such column", "no such column*"),
            ("NO_no such", "no_no such*"),
            ("no s", "no 's"),
            ("no é s", "no 'é 's"),
            ("no naïve", "no 'na 'ï"),
            ("_id", "'id"),
            ("-abc_def ghi", "abc_def ghi*"),
            ("=>", ""),
            ("100%", "100"),
            ("café", "caf* 'é"),
            ("Überprüfung", "'ü"),
            ("退款", "'退 '款"),
            ("éa_bcd x", "'é bcd 'x"),
            ("abcdefghijklmnopqrstuvwxyz0123456789", "abcdefghijklmnopqrstuvwxyz012345*"),
        ] {
            assert_eq!(printed(text), expected, "{text}");
        }
    }
}
