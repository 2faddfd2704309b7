//! **Pure.** Tokenizers of the metrics: NLTK's rules for BLEU, GLEU and METEOR; separate rules for
//! F1 and ROUGE.
mod nist;
mod punkt;
mod punkt_words;
mod rewrite;
mod treebank;

use super::Nltk;
use super::python;

/// Calls `each` with each token for BLEU, GLEU and METEOR. A single character outside ASCII
/// switches the rules for the whole text.
pub(super) fn nltk(text: &str, version: Nltk, each: &mut impl FnMut(&str)) {
    if !text.is_ascii() {
        nist::tokens(text, each);
        return;
    }
    let mut draft = rewrite::Draft::default();
    for (start, end) in punkt::sentences(text.as_bytes(), version) {
        treebank::words(&text.as_bytes()[start..end], version, &mut draft, each);
    }
}

/// Calls `each` with each token for ROUGE: runs of `a` to `z` and digits in the lower-cased text.
pub(super) fn rouge(text: &str, each: &mut impl FnMut(&str)) {
    let lower = text.to_lowercase();
    // Bytes of non-ASCII characters are separators too.
    pieces(&lower, |byte| !(byte.is_ascii_lowercase() || byte.is_ascii_digit())).for_each(each);
}

/// Returns the pieces between separator bytes. Separators must be ASCII, or all bytes of a
/// multi-byte character, so that no character is split.
fn pieces(text: &str, is_between: impl Fn(u8) -> bool) -> impl Iterator<Item = &str> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let bytes = text.as_bytes();
        let start = at + bytes[at..].iter().position(|byte| !is_between(*byte))?;
        at = bytes[start..]
            .iter()
            .position(|byte| is_between(*byte))
            .map_or(bytes.len(), |length| start + length);
        text.get(start..at)
    })
}

/// Calls `each` with each token for F1: pieces between whitespace, in lower case, without ASCII
/// punctuation and articles.
pub(super) fn f1(text: &str, each: &mut impl FnMut(&str)) {
    if text.is_ascii() {
        let kept = text.bytes().filter(|byte| !byte.is_ascii_punctuation());
        let plain: String = kept.map(|byte| char::from(byte.to_ascii_lowercase())).collect();
        pieces(&plain, python::is_space_byte).for_each(|piece| f1_piece(piece, each));
    } else {
        let mut plain = text.to_lowercase();
        plain.retain(|c| !c.is_ascii_punctuation());
        python::split(&plain).for_each(|piece| f1_piece(piece, each));
    }
}

fn f1_piece(piece: &str, each: &mut impl FnMut(&str)) {
    if !piece.bytes().all(python::is_word_byte) {
        without_articles(piece, each);
    } else if !is_article(piece) {
        each(piece);
    }
}

fn is_article(word: &str) -> bool {
    matches!(word, "a" | "an" | "the")
}

/// Splits a piece at articles between other characters; an article becomes a space there.
fn without_articles(piece: &str, each: &mut impl FnMut(&str)) {
    let mut from = 0;
    let mut rest = piece;
    while !rest.is_empty() {
        let start = piece.len() - rest.len();
        let word = rest.find(|c| !python::is_word(c)).unwrap_or(rest.len());
        if is_article(&rest[..word]) {
            if from < start {
                each(&piece[from..start]);
            }
            from = start + word;
        }
        // Continues behind the word and the other characters that follow it.
        let signs = rest[word..].find(python::is_word).unwrap_or(rest.len() - word);
        rest = &rest[word + signs..];
    }
    if from < piece.len() {
        each(&piece[from..]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(cut: impl Fn(&mut Vec<String>)) -> String {
        let mut found = Vec::new();
        cut(&mut found);
        found.join("|")
    }

    #[test]
    fn f1_drops_punctuation_first_and_then_articles() {
        for (text, expected) in [
            ("The cat, a dog & AN owl.", "cat|dog|owl"),
            ("well-known 3.5 t.h.e snake_case", "wellknown|35|snakecase"),
            ("the\u{301} theé ‘a’", "\u{301}|theé|‘|’"),
            ("‘a cat’ the-a", "‘|cat’|thea"),
            ("巴黎是 法国", "巴黎是|法国"),
            ("— a — the", "—|—"),
            ("", ""),
        ] {
            assert_eq!(
                joined(|found| f1(text, &mut |word| found.push(word.to_owned()))),
                expected,
                "{text}"
            );
        }
    }

    #[test]
    fn rouge_knows_only_the_letters_of_ascii() {
        for (text, expected) in [
            ("The café's 2nd MENU_x", "the|caf|s|2nd|menu|x"),
            ("300 \u{212a} İstanbul", "300|k|i|stanbul"),
            ("今日", ""),
        ] {
            assert_eq!(
                joined(|found| rouge(text, &mut |word| found.push(word.to_owned()))),
                expected,
                "{text}"
            );
        }
    }

    #[test]
    fn one_character_outside_ascii_changes_the_whole_text() {
        let tokens =
            |text| joined(|found| nltk(text, Nltk::V3_10, &mut |word| found.push(word.to_owned())));
        assert_eq!(tokens("I can't. It's 5"), "I|ca|n't|.|It|'s|5");
        assert_eq!(tokens("I can't. It's 5 é"), "I|can|'|t|.|It|'|s|5|é");
    }
}
