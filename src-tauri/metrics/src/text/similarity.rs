//! **Pure.** Similarity of two texts: character by character, or by a metric. OpenAI's grader of
//! this name does not document what its `fuzzy_match` computes; this one is our own choice.
//! Measures that need a model (`cosine`) are not included.
use super::pair::{common_subsequence, count, fraction, is_too_long};
use super::{Metric, Nltk, measure};
use foldhash::{HashMap, HashMapExt as _};

/// Measure of similarity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Similarity {
    /// Shared characters, see [`fuzzy`].
    Fuzzy,
    /// BLEU, GLEU, METEOR, or the harmonic mean of ROUGE.
    By(Metric),
}

impl Similarity {
    /// Returns the measure with this name: `fuzzy`, or the name of a metric. Also accepts the
    /// spellings of OpenAI's grader (`fuzzy_match`, `rouge_1`, `rouge_l`).
    pub fn from_name(name: &str) -> Option<Self> {
        if matches!(name, "fuzzy" | "fuzzy_match") {
            return Some(Self::Fuzzy);
        }
        Metric::from_name(name).filter(|metric| *metric != Metric::F1).map(Self::By)
    }

    /// Returns the similarity from 0 to 1; higher is more similar.
    pub fn score(self, response: &str, truth: &str, nltk: Nltk) -> f64 {
        match self {
            Self::Fuzzy => fuzzy(response, truth),
            Self::By(metric) => measure(metric, response, truth, nltk).score,
        }
    }
}

/// Returns twice the length of the longest common subsequence of characters, divided by the length
/// of both texts: 1 if they are equal, 0 if they share no character. Equals rapidfuzz's `ratio`
/// divided by 100. Case-sensitive. Two empty texts are equal.
pub fn fuzzy(response: &str, truth: &str) -> f64 {
    if response == truth {
        return 1.0;
    }
    let (response, truth, kinds) = letters(response, truth);
    let all = response.len() + truth.len();
    1.0 - fraction(all - 2 * common_subsequence(&response, &truth, kinds), all)
}

/// Returns true if two texts are too long for [`fuzzy`].
pub fn too_long_for_fuzzy(response: &str, truth: &str) -> bool {
    let (response, truth, _) = letters(response, truth);
    is_too_long(&response, &truth)
}

/// Returns the characters of both texts as numbers, and the number of different ones.
fn letters(response: &str, truth: &str) -> (Vec<u32>, Vec<u32>, usize) {
    let mut known: HashMap<char, u32> = HashMap::new();
    let mut numbered = |text: &str| -> Vec<u32> {
        let letters = text.chars();
        letters
            .map(|letter| {
                let next = count(known.len());
                *known.entry(letter).or_insert(next)
            })
            .collect()
    };
    let (response, truth) = (numbered(response), numbered(truth));
    (response, truth, known.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn texts_are_as_alike_as_rapidfuzz_says() {
        // `scripts/metrics-peer.py --fuzzy`, with rapidfuzz 3
        for (response, truth, expected) in [
            ("this is a test", "this is a test!", 0.965_517_241_379_310_4),
            ("kitten", "sitting", 0.615_384_615_384_615_4),
            ("Paris", "paris", 0.8),
            ("naïve café", "naive cafe", 0.8),
            ("", "abc", 0.0),
            ("", "", 1.0),
            ("abc", "xyz", 0.0),
            ("fuzzy wuzzy was a bear", "wuzzy fuzzy was a bear", 0.909_090_909_090_909_1),
        ] {
            assert!(
                (fuzzy(response, truth) - expected).abs() < 1e-12,
                "{response} {truth} {}",
                fuzzy(response, truth)
            );
        }
    }

    #[test]
    fn every_name_of_the_grader_that_needs_no_model_is_known() {
        for name in "fuzzy_match bleu gleu meteor rouge_1 rouge_2 rouge_3 rouge_4 rouge_5 rouge_l"
            .split(' ')
        {
            let score = Similarity::from_name(name).unwrap().score(
                "one two three four",
                "one two three four",
                Nltk::default(),
            );
            assert!(score > 0.99 || name == "rouge_5", "{name} {score}");
        }
        assert_eq!(Similarity::from_name("fuzzy"), Some(Similarity::Fuzzy));
        assert_eq!((Similarity::from_name("cosine"), Similarity::from_name("f1")), (None, None));
    }

    proptest! {
        #[test]
        fn the_order_of_the_two_does_not_matter(response in "\\PC{0,80}", truth in "\\PC{0,80}") {
            let alike = fuzzy(&response, &truth);
            prop_assert_eq!(alike.to_bits(), fuzzy(&truth, &response).to_bits());
            prop_assert!((0.0..=1.0).contains(&alike));
            prop_assert_eq!(alike >= 1.0, response == truth);
        }
    }
}
