//! **Pure.** ROUGE: how much of the truth's words is in the response, by runs of words or by the longest common list.
use super::pair::{self, Pair, fraction};

/// Precision, recall and their harmonic mean.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Overlap {
    /// Share of the response that is in the truth.
    pub precision: f64,
    /// Share of the truth that is in the response.
    pub recall: f64,
    /// Both in one.
    pub f1: f64,
}

impl Overlap {
    fn new(precision: f64, recall: f64) -> Self {
        let sum = precision + recall;
        Self { precision, recall, f1: if sum > 0.0 { 2.0 * precision * recall / sum } else { 0.0 } }
    }
}

/// By runs of `n` words, given how many both sides share.
pub(super) fn by_runs(pair: &Pair, n: usize, hits: usize) -> Overlap {
    let share = |words: usize| fraction(hits, (words + 1).saturating_sub(n).max(1));
    Overlap::new(share(pair.response.len()), share(pair.truth.len()))
}

/// By the longest list of words that both sides have in this order.
pub(super) fn by_order(pair: &Pair) -> Overlap {
    if pair.response.is_empty() || pair.truth.is_empty() {
        return Overlap::new(0.0, 0.0);
    }
    let common = pair::common_subsequence(&pair.response, &pair.truth, pair.kinds());
    Overlap::new(fraction(common, pair.response.len()), fraction(common, pair.truth.len()))
}
