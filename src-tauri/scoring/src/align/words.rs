//! **Pure.** Similarity of two texts by shared words. A text is read once; comparing two takes a
//! few hundred steps, however long they are.
use std::collections::HashSet;

/// Number of bytes of a text that are read. Texts that differ only beyond it count as equal.
const MAX_TEXT: usize = 64 << 10;
/// Maximum number of word hashes kept per text: the smallest ones, as a fair sample of all.
const MOST: usize = 256;
/// Similarity of equal texts, in thousandths.
pub(crate) const ALL: u32 = 1000;

/// Hashes of the words of a text, sorted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Words {
    hashes: Box<[u32]>,
    /// True if there were more words than are kept.
    cut: bool,
}

impl Words {
    /// Collects single words: for prose, in which word order matters little.
    pub(crate) fn from_prose(text: &str) -> Self {
        Self::collect(text, false)
    }

    /// Collects words and pairs of adjacent words: for code and queries.
    pub(crate) fn from_code(text: &str) -> Self {
        Self::collect(text, true)
    }

    fn collect(text: &str, pairs: bool) -> Self {
        let mut seen = HashSet::new();
        let mut before = None;
        for word in words(&text[..text.floor_char_boundary(MAX_TEXT)]) {
            let hash = hash(word);
            seen.insert(mixed(hash));
            if let Some(before) = before.replace(hash).filter(|_| pairs) {
                seen.insert(mixed(hash.rotate_left(16) ^ before.wrapping_mul(0x9E37_79B1)));
            }
        }
        Self::sampled(seen.into_iter().collect())
    }

    /// Creates words from arbitrary hashes.
    #[expect(clippy::cast_possible_truncation, reason = "half of a hash is a hash")]
    pub(crate) fn from_hashes(things: Vec<u64>) -> Self {
        Self::sampled(things.into_iter().map(|hash| mixed(hash as u32)).collect())
    }

    fn sampled(mut hashes: Vec<u32>) -> Self {
        hashes.sort_unstable();
        hashes.dedup();
        let cut = hashes.len() > MOST;
        hashes.truncate(MOST);
        Self { hashes: hashes.into(), cut }
    }

    /// Returns the number of words kept.
    pub(crate) fn count(&self) -> usize {
        self.hashes.len()
    }

    /// Returns the share of common words among all words of both (Jaccard), in thousandths. Two
    /// texts without words are equal.
    pub(crate) fn alike(&self, other: &Self) -> u32 {
        let most = if self.cut || other.cut { MOST } else { usize::MAX };
        let (left, right) = (&self.hashes, &other.hashes);
        let (mut at, mut there) = (0, 0);
        let (mut both, mut all) = (0, 0);
        // Branch-free on the words: alignment spends most of its time in this loop.
        while at < left.len() && there < right.len() && all < most {
            let (a, b) = (left[at], right[there]);
            both += usize::from(a == b);
            at += usize::from(a <= b);
            there += usize::from(b <= a);
            all += 1;
        }
        let rest = (left.len() - at) + (right.len() - there);
        let all = all.saturating_add(rest).min(most);
        (both * ALL as usize)
            .checked_div(all)
            .and_then(|share| u32::try_from(share).ok())
            .unwrap_or(ALL)
    }
}

/// Splits a text into runs of letters, digits and underscores; in scripts without spaces between
/// words, into single characters.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let start = rest.find(is_letter)?;
        rest = &rest[start..];
        let first = rest.chars().next()?;
        let end = if stands_alone(first) {
            first.len_utf8()
        } else {
            rest.find(|c| !is_letter(c) || stands_alone(c)).unwrap_or(rest.len())
        };
        let (word, after) = rest.split_at(end);
        rest = after;
        Some(word)
    })
}

fn is_letter(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Returns true for characters that are words by themselves: Chinese, Japanese and similar.
fn stands_alone(c: char) -> bool {
    matches!(c, '\u{2e80}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// FNV-1a of the lower-case word.
fn hash(word: &str) -> u32 {
    let step = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    if word.is_ascii() {
        return word.bytes().map(|byte| byte.to_ascii_lowercase()).fold(0x811C_9DC5, step);
    }
    word.to_lowercase().bytes().fold(0x811C_9DC5, step)
}

/// Mixes a hash, so that the smallest hashes are a fair sample.
fn mixed(mut hash: u32) -> u32 {
    hash ^= hash >> 16;
    hash = hash.wrapping_mul(0x7FEB_352D);
    hash ^= hash >> 15;
    hash = hash.wrapping_mul(0x846C_A68B);
    hash ^ (hash >> 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alike(a: &str, b: &str) -> u32 {
        Words::from_prose(a).alike(&Words::from_prose(b))
    }

    #[test]
    fn texts_are_alike_by_the_words_they_share() {
        for (a, b, share) in [
            ("", "", 1000),
            ("one", "", 0),
            ("one two", "TWO, one!", 1000),
            ("one two three", "one two four", 500),
            ("Ein Bär", "ein bär", 1000),
            ("退款 政策", "退款", 500),
            ("a_b", "a b", 0),
        ] {
            assert_eq!(alike(a, b), share, "{a} / {b}");
            assert_eq!(alike(b, a), share, "{b} / {a}");
        }
        let written = |text| Words::from_code(text);
        assert_eq!(written("a b c").alike(&written("c b a")), 3000 / 7);
    }

    #[test]
    fn long_texts_are_compared_by_a_fair_sample() {
        let text =
            |from: u32| (from..from + 4_000).map(|n| n.to_string()).collect::<Vec<_>>().join(" ");
        let (a, b) = (Words::from_prose(&text(10_000)), Words::from_prose(&text(12_000)));
        assert_eq!(a.count(), MOST);
        // Half of 4,000 words are shared, which is a third of all different words.
        assert!((200..470).contains(&a.alike(&b)), "{}", a.alike(&b));
        assert_eq!(a.alike(&a), ALL);
    }
}
