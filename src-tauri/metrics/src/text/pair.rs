//! **Pure.** The words of two texts as numbers, and measures of their overlap.
use foldhash::{HashMap, HashMapExt as _};

/// List of words in contiguous memory.
#[derive(Debug, Default)]
pub(super) struct Words {
    text: String,
    ends: Vec<u32>,
}

impl Words {
    pub(super) fn push(&mut self, word: &str) {
        self.text.push_str(word);
        self.ends.push(count(self.text.len()));
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn get(&self, at: usize) -> &str {
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        &self.text[start..self.ends[at] as usize]
    }

    /// Numbers the words from 0, equal words with equal numbers. Also returns the index of the
    /// first occurrence of each number.
    pub(super) fn numbered(&self) -> (Vec<u32>, Vec<usize>) {
        let mut known: HashMap<&str, u32> = HashMap::with_capacity(self.len() / 2);
        let mut firsts = Vec::new();
        let numbers = (0..self.len()).map(|at| {
            let next = count(firsts.len());
            let number = *known.entry(self.get(at)).or_insert(next);
            if number == next {
                firsts.push(at);
            }
            number
        });
        (numbers.collect(), firsts)
    }
}

/// The words of a response and a truth, numbered from 0; equal words have equal numbers.
#[derive(Debug, Default)]
pub(super) struct Pair {
    words: Words,
    /// Index of the first occurrence of each word.
    firsts: Vec<usize>,
    pub(super) response: Vec<u32>,
    pub(super) truth: Vec<u32>,
}

impl Pair {
    /// Tokenizes both texts with the same rule.
    pub(super) fn cut(response: &str, truth: &str, rule: impl Fn(&str, &mut Words)) -> Self {
        let mut words = Words::default();
        words.text.reserve(response.len() + truth.len());
        rule(response, &mut words);
        let first_of_truth = words.len();
        rule(truth, &mut words);
        let (mut response, firsts) = words.numbered();
        let truth = response.split_off(first_of_truth);
        Self { words, firsts, response, truth }
    }

    /// Returns the number of different words.
    pub(super) fn kinds(&self) -> usize {
        self.firsts.len()
    }

    /// Returns the word with a number.
    pub(super) fn word(&self, number: u32) -> &str {
        self.words.get(self.firsts[number as usize])
    }
}

/// Converts a count to 32 bits, which is enough because a text has at most 4 GB.
pub(super) fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// Returns the number of shared n-grams (the smaller count of each) for n from 1 to `N`.
pub(super) fn shared<const N: usize>(pair: &Pair) -> [usize; N] {
    let mut hits = [0; N];
    // Start and number of each shared n-gram. A longer one can begin only where a shorter one is
    // shared.
    let begin = |list: &[u32]| -> Vec<(usize, u32)> { list.iter().copied().enumerate().collect() };
    let (mut in_response, mut in_truth) = (begin(&pair.response), begin(&pair.truth));
    let mut runs = Runs { counts: vec![(0, false); pair.kinds()], ..Runs::default() };
    for (n, hits) in hits.iter_mut().enumerate() {
        if n > 0 {
            runs.begin();
            in_truth.retain_mut(|(at, run)| {
                pair.truth.get(*at + n).map(|word| *run = runs.longer(*run, *word)).is_some()
            });
            in_response.retain_mut(|(at, run)| {
                let longer = pair.response.get(*at + n).and_then(|word| runs.lookup(*run, *word));
                longer.map(|longer| *run = longer).is_some()
            });
        }
        for (_, run) in &in_truth {
            runs.counts[*run as usize].0 += 1;
        }
        for (_, run) in &in_response {
            let (left, both) = &mut runs.counts[*run as usize];
            let was_left = u32::from(*left > 0);
            *left -= was_left;
            *both = true;
            *hits += was_left as usize;
        }
        in_truth.retain(|(_, run)| runs.counts[*run as usize].1);
    }
    hits
}

/// Numbers for the n-grams of one length, with their remaining count in the truth and a flag for
/// their presence in the response.
#[derive(Default)]
struct Runs {
    numbers: HashMap<(u32, u32), u32>,
    counts: Vec<(u32, bool)>,
}

impl Runs {
    fn begin(&mut self) {
        self.numbers.clear();
        self.counts.clear();
    }

    /// Returns the number of an n-gram that is one word longer.
    fn longer(&mut self, run: u32, word: u32) -> u32 {
        let next = count(self.counts.len());
        let number = *self.numbers.entry((run, word)).or_insert(next);
        if number == next {
            self.counts.push((0, false));
        }
        number
    }

    fn lookup(&self, run: u32, word: u32) -> Option<u32> {
        self.numbers.get(&(run, word)).copied()
    }
}

/// Returns the combined length of the common prefix and suffix, and the remainders of both lists.
fn trimmed<'l>(left: &'l [u32], right: &'l [u32]) -> (usize, &'l [u32], &'l [u32]) {
    let begin = left.iter().zip(right).take_while(|(left, right)| left == right).count();
    let (left, right) = (&left[begin..], &right[begin..]);
    let end =
        left.iter().rev().zip(right.iter().rev()).take_while(|(left, right)| left == right).count();
    (begin + end, &left[..left.len() - end], &right[..right.len() - end])
}

/// Returns true if [`common_subsequence`] would take too long for interactive use: more than about
/// a tenth of a second.
pub(super) fn is_too_long(left: &[u32], right: &[u32]) -> bool {
    let (_, left, right) = trimmed(left, right);
    (left.len() as u64).saturating_mul(right.len() as u64) > MOST_CELLS
}

/// Maximum number of cells of the conventional table: 65,536 items against as many.
const MOST_CELLS: u64 = 1 << 32;

/// Returns the length of the longest common subsequence of two lists of numbers below `kinds`.
/// Bit-parallel: 64 cells of the conventional table per step.
pub(super) fn common_subsequence(left: &[u32], right: &[u32], kinds: usize) -> usize {
    let (ends, left, right) = trimmed(left, right);
    let places = Places::new(left.iter().copied(), kinds);
    // A zero bit marks a position at which the common subsequence grows by one.
    let mut grown = vec![u64::MAX; left.len().div_ceil(64)];
    let mut same = vec![0_u64; grown.len()];
    // Bit masks of items that are so frequent that marking them costs more than a step: at most 64.
    let mut frequent: HashMap<u32, Vec<u64>> = HashMap::new();
    let mark = |same: &mut [u64], item: u32| {
        places.positions(item).for_each(|at| same[at / 64] |= 1 << (at % 64));
    };
    for item in right {
        match places.positions(*item).take(grown.len() + 1).count() {
            0 => {}
            few if few <= grown.len() => {
                mark(&mut same, *item);
                grow(&mut grown, &same);
                places.positions(*item).for_each(|at| same[at / 64] = 0);
            }
            _ => {
                let same = frequent.entry(*item).or_insert_with(|| {
                    let mut same = vec![0; grown.len()];
                    mark(&mut same, *item);
                    same
                });
                grow(&mut grown, same);
            }
        }
    }
    let zeros: u32 = grown.iter().map(|bits| bits.count_zeros()).sum();
    ends + zeros as usize
}

/// Processes an item that occurs where `same` has bits.
fn grow(grown: &mut [u64], same: &[u64]) {
    let mut carry = false;
    for (grown, same) in grown.iter_mut().zip(same) {
        let (sum, over) = grown.overflowing_add(*grown & same);
        let (sum, again) = sum.overflowing_add(u64::from(carry));
        carry = over || again;
        *grown = sum | (*grown & !same);
    }
}

/// Positions of each number in a list, the last position first.
pub(super) struct Places {
    /// Last position of each number.
    last: Vec<u32>,
    /// For each position, the previous one with the same number.
    before: Vec<u32>,
}

const NOWHERE: u32 = u32::MAX;

impl Places {
    /// Indexes a list of numbers below `kinds`.
    pub(super) fn new(numbers: impl Iterator<Item = u32>, kinds: usize) -> Self {
        let mut last = vec![NOWHERE; kinds];
        let before = numbers
            .enumerate()
            .map(|(at, number)| std::mem::replace(&mut last[number as usize], count(at)));
        Self { before: before.collect(), last }
    }

    /// Returns the positions of a number that were not taken, the last one first.
    pub(super) fn positions(&self, number: u32) -> impl Iterator<Item = usize> {
        let at = |place: u32| (place != NOWHERE).then_some(place as usize);
        std::iter::successors(at(self.last[number as usize]), move |place| at(self.before[*place]))
    }

    /// Returns the last position of a number that was not taken.
    pub(super) fn last(&self, number: u32) -> Option<usize> {
        self.positions(number).next()
    }

    /// Returns and removes the last position of a number.
    pub(super) fn take(&mut self, number: u32) -> Option<usize> {
        let place = self.last(number)?;
        self.last[number as usize] = self.before[place];
        Some(place)
    }
}

/// Returns the quotient of two counts, both far below the limit of exact floats.
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
                table[i + 1][j + 1] =
                    if a == b { table[i][j] + 1 } else { table[i][j + 1].max(table[i + 1][j]) };
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
            let text = |list: &[u32]| list.iter().map(u32::to_string).collect::<Vec<_>>().join(" ");
            let pair = Pair::cut(&text(&left), &text(&right), |text, words| text.split_whitespace().for_each(|word| words.push(word)));
            prop_assert_eq!(shared::<5>(&pair).to_vec(), expected);
        }

        #[test]
        fn the_longest_common_list_is_the_one_of_the_usual_table(
            left in prop::collection::vec(prop_oneof![0_u32..3, 0_u32..200], 0..200),
            right in prop::collection::vec(prop_oneof![0_u32..3, 0_u32..200], 0..200),
        ) {
            prop_assert_eq!(common_subsequence(&left, &right, 200), naive_subsequence(&left, &right));
            prop_assert_eq!(common_subsequence(&left, &left, 200), left.len());
        }
    }
}
