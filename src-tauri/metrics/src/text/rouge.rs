//! **Pure.** ROUGE: the share of the truth's words in the response, by n-grams or by longest common
//! subsequence.
use super::pair::{self, Pair, fraction};

/// Precision, recall and their harmonic mean.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Overlap {
    /// Share of the response that is in the truth.
    pub precision: f64,
    /// Share of the truth that is in the response.
    pub recall: f64,
    /// Harmonic mean of precision and recall.
    pub f1: f64,
}

impl Overlap {
    fn new(precision: f64, recall: f64) -> Self {
        let sum = precision + recall;
        Self { precision, recall, f1: if sum > 0.0 { 2.0 * precision * recall / sum } else { 0.0 } }
    }
}

/// Returns ROUGE-N for n-grams of `n` words, given the number of shared ones.
pub(super) fn by_runs(pair: &Pair, n: usize, hits: usize) -> Overlap {
    let share = |words: usize| fraction(hits, (words + 1).saturating_sub(n).max(1));
    Overlap::new(share(pair.response.len()), share(pair.truth.len()))
}

/// Returns ROUGE-Lsum: for each line of the truth, the union of its longest common subsequences
/// with all lines of the response. No word counts more often than it occurs in either text.
pub(super) fn by_lines(response: &[Vec<u32>], truth: &[Vec<u32>], kinds: usize) -> Overlap {
    let count = |lines: &[Vec<u32>]| lines.iter().map(Vec::len).sum::<usize>();
    let mut left = [vec![0_u32; kinds], vec![0_u32; kinds]];
    for (left, lines) in left.iter_mut().zip([response, truth]) {
        lines.iter().flatten().for_each(|word| left[*word as usize] += 1);
    }
    let mut hits = 0;
    for line in truth {
        let mut common = vec![false; line.len()];
        for other in response {
            mark_common(line, other, &mut common);
        }
        for (word, _) in line.iter().zip(common).filter(|(_, common)| *common) {
            let [ours, theirs] = &mut left;
            let (ours, theirs) = (&mut ours[*word as usize], &mut theirs[*word as usize]);
            if *ours > 0 && *theirs > 0 {
                (*ours, *theirs, hits) = (*ours - 1, *theirs - 1, hits + 1);
            }
        }
    }
    let share = |words: usize| fraction(hits, words.max(1));
    Overlap::new(share(count(response)), share(count(truth)))
}

/// Marks the words of a line that belong to its longest common subsequence with another line. Among
/// several, the one found by backtracking from the end is taken, skipping words of this line first
/// where either side could be skipped.
fn mark_common(line: &[u32], other: &[u32], common: &mut [bool]) {
    let width = other.len() + 1;
    let mut longest = vec![0_u32; (line.len() + 1) * width];
    for (i, word) in line.iter().enumerate() {
        for (j, against) in other.iter().enumerate() {
            let (above, before) = (longest[i * width + j + 1], longest[(i + 1) * width + j]);
            longest[(i + 1) * width + j + 1] =
                if word == against { longest[i * width + j] + 1 } else { above.max(before) };
        }
    }
    let (mut i, mut j) = (line.len(), other.len());
    while i > 0 && j > 0 {
        if line[i - 1] == other[j - 1] {
            common[i - 1] = true;
            (i, j) = (i - 1, j - 1);
        } else if longest[i * width + j - 1] > longest[(i - 1) * width + j] {
            j -= 1;
        } else {
            i -= 1;
        }
    }
}

/// Returns ROUGE-L: by the longest common subsequence of both sides.
pub(super) fn by_order(pair: &Pair) -> Overlap {
    if pair.response.is_empty() || pair.truth.is_empty() {
        return Overlap::new(0.0, 0.0);
    }
    let common = pair::common_subsequence(&pair.response, &pair.truth, pair.kinds());
    Overlap::new(fraction(common, pair.response.len()), fraction(common, pair.truth.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lines_are_held_against_all_lines_of_the_other_text() {
        // Truth 1 2 3 4 5 against 1 2 6 7 8 and 1 3 8 9 5: the union of 1 2 and 1 3 5.
        let overlap =
            by_lines(&[vec![1, 2, 6, 7, 8], vec![1, 3, 8, 9, 5]], &[vec![1, 2, 3, 4, 5]], 10);
        assert_eq!(overlap, Overlap::new(0.4, 0.8));
        // A word that one side has once counts once.
        let once = by_lines(&[vec![1], vec![2]], &[vec![1, 2], vec![1, 2]], 3);
        assert_eq!(once, Overlap::new(1.0, 0.5));
        assert_eq!(by_lines(&[vec![]], &[vec![1]], 2), Overlap::new(0.0, 0.0));
        // The choice among several longest subsequences matters if words of them are left.
        for (response, truth, hits) in [
            (
                &[vec![2, 2], vec![0, 2, 1, 2, 2]][..],
                &[vec![1, 2], vec![2, 1, 2], vec![1, 2, 0, 1]][..],
                5,
            ),
            (&[vec![3, 0, 2, 0, 2], vec![0]], &[vec![1, 2, 2, 0, 0]], 3),
            (&[vec![1], vec![2, 2, 0, 1], vec![0, 1, 2, 0, 1]], &[vec![2, 1, 2]], 2),
        ] {
            let [precision, recall] =
                [response, truth].map(|text| fraction(hits, text.iter().map(Vec::len).sum()));
            assert_eq!(
                by_lines(response, truth, 4),
                Overlap::new(precision, recall),
                "{response:?} {truth:?}"
            );
        }
    }

    proptest! {
        #[test]
        fn one_line_on_each_side_is_the_longest_list_in_common(
            response in prop::collection::vec(0_u32..4, 0..12), truth in prop::collection::vec(0_u32..4, 0..12),
        ) {
            let common = pair::common_subsequence(&response, &truth, 4);
            let wanted = Overlap::new(fraction(common, response.len().max(1)), fraction(common, truth.len().max(1)));
            prop_assert_eq!(by_lines(&[response], &[truth], 4), wanted);
        }
    }
}
