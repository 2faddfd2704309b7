//! **Pure.** How alike two texts are, by the words they share. A text is read once; two are
//! compared in a few hundred steps, however long they are.
use std::collections::HashSet;

/// What is looked at of a text. Beyond it, texts that differ are alike by how they begin.
const MAX_TEXT: usize = 64 << 10;
/// How many words are kept of one: the smallest by hash, which stand for all of them.
const MOST: usize = 256;
/// Everything alike.
pub(crate) const ALL: u32 = 1000;

/// The words of a text, as hashes in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Words {
    hashes: Box<[u32]>,
    /// True when there were more.
    cut: bool,
}

impl Words {
    /// Each word by itself: for what is said, where the order of words says little.
    pub(crate) fn said(text: &str) -> Self {
        Self::collect(text, false)
    }

    /// Each word, and each with the next: for what is written to be run.
    pub(crate) fn written(text: &str) -> Self {
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
        Self::kept(seen.into_iter().collect())
    }

    /// Things that are words here, by their hashes.
    #[expect(clippy::cast_possible_truncation, reason = "half of a hash is a hash")]
    pub(crate) fn of(things: Vec<u64>) -> Self {
        Self::kept(things.into_iter().map(|hash| mixed(hash as u32)).collect())
    }

    fn kept(mut hashes: Vec<u32>) -> Self {
        hashes.sort_unstable();
        hashes.dedup();
        let cut = hashes.len() > MOST;
        hashes.truncate(MOST);
        Self { hashes: hashes.into(), cut }
    }

    /// How many there are, as far as they are kept.
    pub(crate) fn count(&self) -> usize {
        self.hashes.len()
    }

    /// The share of words that both have among those that either has, in thousandths. Two texts
    /// without words are alike.
    pub(crate) fn alike(&self, other: &Self) -> u32 {
        let most = if self.cut || other.cut { MOST } else { usize::MAX };
        let (left, right) = (&self.hashes, &other.hashes);
        let (mut at, mut there) = (0, 0);
        let (mut both, mut all) = (0, 0);
        // Without branches that depend on the words: this is where aligning spends its time.
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

/// Letters, digits and underscores that stand together; where words are not parted by spaces, each
/// sign.
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

/// Signs that are words by themselves: Chinese, Japanese and their like.
fn stands_alone(c: char) -> bool {
    matches!(c, '\u{2e80}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// FNV-1a of the word in small letters.
fn hash(word: &str) -> u32 {
    let step = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    if word.is_ascii() {
        return word.bytes().map(|byte| byte.to_ascii_lowercase()).fold(0x811C_9DC5, step);
    }
    word.to_lowercase().bytes().fold(0x811C_9DC5, step)
}

/// Spread evenly, so that the smallest ones are a fair sample.
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
        Words::said(a).alike(&Words::said(b))
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
        let written = |text| Words::written(text);
        assert_eq!(written("a b c").alike(&written("c b a")), 3000 / 7);
    }

    #[test]
    fn long_texts_are_compared_by_a_fair_sample() {
        let text =
            |from: u32| (from..from + 4_000).map(|n| n.to_string()).collect::<Vec<_>>().join(" ");
        let (a, b) = (Words::said(&text(10_000)), Words::said(&text(12_000)));
        assert_eq!(a.count(), MOST);
        // Half of 4,000 are shared, so a third of all.
        assert!((200..470).contains(&a.alike(&b)), "{}", a.alike(&b));
        assert_eq!(a.alike(&a), ALL);
    }
}
