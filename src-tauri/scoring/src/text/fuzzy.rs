//! **Pure.** How alike two texts are, letter by letter. OpenAI does not publish what its `fuzzy_match` computes; this is our own choice.
use super::pair::{common_subsequence, count, fraction};
use foldhash::{HashMap, HashMapExt as _};

/// Twice the letters that both texts have in the same order, over all letters of both: 1 when they are equal, 0 when they share none.
/// The same as `ratio` of rapidfuzz over 100. Case counts. Two empty texts are equal.
pub fn fuzzy(response: &str, truth: &str) -> f64 {
    if response == truth {
        return 1.0;
    }
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
    let all = response.len() + truth.len();
    1.0 - fraction(all - 2 * common_subsequence(&response, &truth, known.len()), all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn texts_are_as_alike_as_rapidfuzz_says() {
        // scripts/metrics-oracle.py fuzzy
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
            assert!((fuzzy(response, truth) - expected).abs() < 1e-12, "{response} {truth} {}", fuzzy(response, truth));
        }
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
