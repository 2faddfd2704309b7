//! **Pure.** The words of two texts as numbers, and how much of one is in the other.
use std::collections::HashMap;
use std::hash::Hash;

/// The words of a response and a truth as numbers, from 0: the same word has the same number.
#[derive(Debug, Default)]
pub(super) struct Pair {
    /// Each different word once, in the order of its number.
    pub(super) words: Vec<String>,
    pub(super) response: Vec<u32>,
    pub(super) truth: Vec<u32>,
}

impl Pair {
    /// Cuts both texts with the same rule.
    pub(super) fn cut(response: &str, truth: &str, rule: impl Fn(&str, &mut dyn FnMut(&str))) -> Self {
        let mut numbers = Numbers::default();
        let mut numbered = |text: &str| {
            let mut list = Vec::with_capacity(text.len() / 4);
            rule(text, &mut |word| list.push(numbers.of(word)));
            list
        };
        let (response, truth) = (numbered(response), numbered(truth));
        Self { words: numbers.into_words(), response, truth }
    }
}

/// Numbers for words, in the order in which they come.
#[derive(Default)]
pub(super) struct Numbers {
    known: HashMap<String, u32>,
}

impl Numbers {
    /// The number of a word, a new one when it was not seen yet.
    pub(super) fn of(&mut self, word: &str) -> u32 {
        if let Some(number) = self.known.get(word) {
            return *number;
        }
        let number = count(self.known.len());
        self.known.insert(word.to_owned(), number);
        number
    }

    /// All words in the order of their numbers.
    pub(super) fn into_words(self) -> Vec<String> {
        let mut words = vec![String::new(); self.known.len()];
        for (word, number) in self.known {
            words[number as usize] = word;
        }
        words
    }
}

/// A count that has at most 32 bits, since a text has at most 4 GB.
pub(super) fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// How many runs of n words both lists have, each as often as both have it, for n from 1 to `N`.
pub(super) fn shared<const N: usize>(left: &[u32], right: &[u32]) -> [usize; N] {
    let mut hits = [0; N];
    // Where a run begins that both have, and which run it is. A longer run can only begin where a shorter one is in both.
    let begin = |list: &[u32]| -> Vec<(usize, u32)> { (0..list.len()).map(|at| (at, 0)).collect() };
    let (mut in_left, mut in_right) = (begin(left), begin(right));
    for (n, hits) in hits.iter_mut().enumerate() {
        let longer = |list: &[u32], (at, run): (usize, u32)| Some((run, *list.get(at + n)?));
        let mut runs: Runs = Runs::with_capacity(in_right.len());
        in_right.retain_mut(|(at, run)| match longer(right, (*at, *run)) {
            Some(key) => {
                *run = runs.add(key);
                true
            }
            None => false,
        });
        in_left.retain_mut(|(at, run)| match longer(left, (*at, *run)).and_then(|key| runs.take(key)) {
            Some((number, was_left)) => {
                *run = number;
                *hits += usize::from(was_left);
                true
            }
            None => false,
        });
        in_right.retain(|(_, run)| runs.in_both(*run));
    }
    hits
}

/// Runs of one length: how many of each are left on the right side, and whether the left side has it.
struct Runs {
    numbers: HashMap<(u32, u32), u32>,
    counts: Vec<(u32, bool)>,
}

impl Runs {
    fn with_capacity(capacity: usize) -> Self {
        Self { numbers: HashMap::with_capacity(capacity), counts: Vec::with_capacity(capacity) }
    }

    fn add(&mut self, key: (u32, u32)) -> u32 {
        let next = count(self.counts.len());
        let number = *self.numbers.entry(key).or_insert(next);
        if number == next {
            self.counts.push((0, false));
        }
        self.counts[number as usize].0 += 1;
        number
    }

    /// Takes one away for the left side. Says which run it is, and whether one was left.
    fn take(&mut self, key: (u32, u32)) -> Option<(u32, bool)> {
        let number = *self.numbers.get(&key)?;
        let (left, both) = &mut self.counts[number as usize];
        *both = true;
        let was_left = *left > 0;
        *left -= u32::from(was_left);
        Some((number, was_left))
    }

    fn in_both(&self, number: u32) -> bool {
        self.counts[number as usize].1
    }
}

/// The length of the longest list that can be made of both by leaving out items. The cells of the usual table are bits here,
/// 64 of them in one step.
pub(super) fn common_subsequence<T: Eq + Hash + Copy>(left: &[T], right: &[T]) -> usize {
    let mut places: HashMap<T, Vec<usize>> = HashMap::with_capacity(left.len());
    for (at, item) in left.iter().enumerate() {
        places.entry(*item).or_default().push(at);
    }
    // A zero bit is a place up to which the common list has grown by one.
    let mut grown = vec![u64::MAX; left.len().div_ceil(64)];
    let mut same = vec![0_u64; grown.len()];
    for places in right.iter().filter_map(|item| places.get(item)) {
        for at in places {
            same[at / 64] |= 1 << (at % 64);
        }
        let mut carry = false;
        for (grown, same) in grown.iter_mut().zip(&same) {
            let (sum, over) = grown.overflowing_add(*grown & same);
            let (sum, again) = sum.overflowing_add(u64::from(carry));
            carry = over || again;
            *grown = sum | (*grown & !same);
        }
        for at in places {
            same[at / 64] = 0;
        }
    }
    let zeros: u32 = grown.iter().map(|bits| bits.count_zeros()).sum();
    zeros as usize
}

/// A part of a whole as a fraction. Both are far below what a float counts exactly.
#[expect(clippy::cast_precision_loss, reason = "counts of words are below 2^53")]
pub(super) fn fraction(part: usize, whole: usize) -> f64 {
    part as f64 / whole as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn naive_shared(left: &[u32], right: &[u32], n: usize) -> usize {
        let mut rest: Vec<&[u32]> = right.windows(n).collect();
        let taken = left.windows(n).filter(|run| {
            let found = rest.iter().position(|other| other == run);
            found.map(|at| rest.swap_remove(at)).is_some()
        });
        taken.count()
    }

    fn naive_subsequence(left: &[u32], right: &[u32]) -> usize {
        let mut table = vec![vec![0; right.len() + 1]; left.len() + 1];
        for (i, a) in left.iter().enumerate() {
            for (j, b) in right.iter().enumerate() {
                table[i + 1][j + 1] = if a == b { table[i][j] + 1 } else { table[i][j + 1].max(table[i + 1][j]) };
            }
        }
        table[left.len()][right.len()]
    }

    proptest! {
        #[test]
        fn shared_runs_are_those_that_a_slow_count_finds(
            left in prop::collection::vec(0_u32..5, 0..40),
            right in prop::collection::vec(0_u32..5, 0..40),
        ) {
            let expected: Vec<usize> = (1..=5).map(|n| naive_shared(&left, &right, n)).collect();
            prop_assert_eq!(shared::<5>(&left, &right).to_vec(), expected);
        }

        #[test]
        fn the_longest_common_list_is_the_one_of_the_usual_table(
            left in prop::collection::vec(0_u32..9, 0..200),
            right in prop::collection::vec(0_u32..9, 0..200),
        ) {
            prop_assert_eq!(common_subsequence(&left, &right), naive_subsequence(&left, &right));
            prop_assert_eq!(common_subsequence(&left, &left), left.len());
        }
    }
}
