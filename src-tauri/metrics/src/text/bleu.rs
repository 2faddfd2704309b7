//! **Pure.** BLEU and GLEU of a single sentence against a single reference, from the number of
//! shared n-grams of one to four words.
use super::pair::fraction;

/// Maximum n-gram length.
pub(super) const LONGEST: usize = 4;

/// Returns BLEU with NLTK's smoothing method 4; `None` if not a single word is shared.
pub(super) fn bleu(hits: [usize; LONGEST], response: usize, truth: usize) -> Option<f64> {
    if hits[0] == 0 {
        return None;
    }
    let mut smoothed = 0;
    let mut logarithms = [0.0; LONGEST];
    for (n, (hits, logarithm)) in hits.into_iter().zip(&mut logarithms).enumerate() {
        let runs = response.saturating_sub(n).max(1);
        let precision = if hits == 0 && response > 1 {
            smoothed += 1;
            1.0 / (2_f64.powi(smoothed) * 5.0 / fraction(response, 1).ln()) / fraction(runs, 1)
        } else {
            fraction(hits, runs)
        };
        // A precision of 0, which occurs only for a single word, is left out of the mean instead of
        // counting as 0.
        *logarithm = if precision > 0.0 { 0.25 * precision.ln() } else { 0.0 };
    }
    let brevity = if response > truth { 1.0 } else { (1.0 - fraction(truth, response)).exp() };
    Some(brevity * exact_sum(&logarithms).exp())
}

/// Returns GLEU: the number of shared n-grams, divided by that of the side with more.
pub(super) fn gleu(hits: [usize; LONGEST], response: usize, truth: usize) -> f64 {
    let runs = |words: usize| (0..LONGEST).map(|n| words.saturating_sub(n)).sum::<usize>();
    let most = runs(response).max(runs(truth));
    if most == 0 { 0.0 } else { fraction(hits.into_iter().sum(), most) }
}

/// Returns the exact sum, rounded once: Shewchuk's partial sums, like Python's `fsum`.
fn exact_sum(terms: &[f64]) -> f64 {
    let mut partials: Vec<f64> = Vec::new();
    for term in terms {
        let mut rest = *term;
        let mut kept = 0;
        for at in 0..partials.len() {
            let (small, large) = if rest.abs() < partials[at].abs() {
                (rest, partials[at])
            } else {
                (partials[at], rest)
            };
            let sum = large + small;
            let lost = small - (sum - large);
            if lost != 0.0 {
                partials[kept] = lost;
                kept += 1;
            }
            rest = sum;
        }
        partials.truncate(kept);
        partials.push(rest);
    }
    let Some(mut sum) = partials.pop() else { return 0.0 };
    while let Some(partial) = partials.pop() {
        let before = sum;
        sum = before + partial;
        let lost = partial - (sum - before);
        if lost != 0.0 {
            // Exactly halfway between two floats, the next partial decides the direction of
            // rounding.
            let beyond = partials
                .last()
                .is_some_and(|next| (*next < 0.0 && lost < 0.0) || (*next > 0.0 && lost > 0.0));
            let doubled = lost * 2.0;
            let moved = sum + doubled;
            #[expect(clippy::float_cmp, reason = "asks whether the addition was exact")]
            if beyond && doubled == moved - sum {
                sum = moved;
            }
            break;
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn nothing_in_common_is_no_score() {
        assert_eq!(bleu([0; 4], 5, 5), None);
        assert_eq!(bleu([0; 4], 0, 5), None);
        assert!((gleu([0; 4], 0, 0)).abs() < f64::EPSILON);
    }

    #[test]
    fn identical_texts_score_one_from_four_words_on_and_with_one() {
        let same = |words: usize| {
            bleu(std::array::from_fn(|n| words.saturating_sub(n)), words, words).unwrap()
        };
        assert!(
            (same(1) - 1.0).abs() < f64::EPSILON
                && (same(4) - 1.0).abs() < f64::EPSILON
                && (same(9) - 1.0).abs() < f64::EPSILON
        );
        assert!((same(3) - 0.575_7).abs() < 1e-4 && same(2) < same(3));
    }

    #[test]
    fn a_sum_loses_nothing_on_the_way() {
        for (terms, expected) in [
            (&[1e100, 1.0, -1e100][..], 1.0),
            (&[1.0, 1e-16, 1e-16, -1.0], 2e-16),
            (&[9_007_199_254_740_992.0, -0.5, -(2.0_f64.powi(-54))], 9_007_199_254_740_991.0),
            (&[], 0.0),
        ] {
            assert_eq!(exact_sum(terms).to_bits(), f64::to_bits(expected), "{terms:?}");
        }
    }

    proptest! {
        #[test]
        fn a_sum_does_not_depend_on_the_order(mut terms in prop::collection::vec(-1e3_f64..1e3, 0..9)) {
            let sum = exact_sum(&terms);
            terms.reverse();
            prop_assert_eq!(exact_sum(&terms).to_bits(), sum.to_bits());
        }
    }
}
