//! **Pure.** Paired permutation test: if the two sides were equal, the sign of each task's
//! difference would be random.
//!
//! Signs are flipped by task, because differences of one task are not independent. Up to 32
//! differing tasks, all combinations of signs are counted. With more, combinations are sampled, and
//! the observed one is included, so that no p-value is ever 0.
use super::memo::Memo;
use super::{Clusters, Resampling, clusters, count, distributions, draw::Draw, float};

/// Maximum number of differing tasks for exact counting: each half then has 2^16 combinations.
const MOST_COUNTED: usize = 32;

/// Tolerance for equal sums, as a share of the sum of all differences: accounts for rounding.
const SAME: f64 = 1e-10;

/// Number of samples at the threshold that tells a p-value from it.
const ENOUGH_HITS: f64 = 40.0;
/// Maximum number of samples.
const MOST_SAMPLES: f64 = 400_000.0;
/// Largest ratio of the tails of sums of random signs and of the normal distribution (Bentkus and
/// Dzindzalieta 2015: 3.178).
const ABOVE_NORMAL: f64 = 3.18;

static SHARES: Memo<f64> = Memo::new();

/// Probability of a difference at least this large if the two sides were equal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PValue {
    /// The probability.
    pub p: f64,
    /// False if combinations were sampled instead of counted.
    pub exact: bool,
}

/// Tests differences (first minus second), grouped by task, two-sided.
pub fn sign_flips(differences: &Clusters, resampling: Resampling) -> PValue {
    let sums: Vec<f64> = differences.sums().filter(|sum| sum.abs() > clusters::ROUNDING).collect();
    let all: f64 = sums.iter().map(|sum| sum.abs()).sum();
    let observed = sums.iter().sum::<f64>().abs() - SAME * all;
    if sums.is_empty() || observed <= 0.0 {
        return PValue { p: 1.0, exact: true };
    }
    if sums.len() <= MOST_COUNTED {
        return PValue { p: counted(&sums, observed), exact: true };
    }
    let inputs = sums.iter().map(|sum| sum.to_bits());
    let inputs = inputs.chain([resampling.times as u64, resampling.seed]).collect();
    let p = SHARES.get(inputs, || drawn(&sums, observed, resampling));
    PValue { p, exact: false }
}

/// Returns true if the p-value of differences is at most `outside`, which may be far below what
/// the default number of samples can tell: more are drawn where that decides it. What even these
/// cannot tell is decided by an upper bound.
pub fn is_significant(differences: &Clusters, outside: f64) -> bool {
    let few = Resampling::default();
    let rough = sign_flips(differences, few);
    if rough.exact {
        return rough.p <= outside;
    }
    if at_most(differences) <= outside {
        return true;
    }
    // Ten times as many hits as are allowed are not chance.
    if rough.p > 10.0 * outside.max(1.0 / float(count(few.times))) {
        return false;
    }
    let wanted = ENOUGH_HITS / outside;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within bounds")]
    let times = wanted.clamp(float(count(few.times)), MOST_SAMPLES) as usize;
    let p = if times > few.times {
        sign_flips(differences, Resampling { times, ..few }).p
    } else {
        rough.p
    };
    p <= outside
}

/// Returns an upper bound of the p-value: random signs exceed a multiple of their standard
/// deviation at most [`ABOVE_NORMAL`] times as often as the normal distribution does.
fn at_most(differences: &Clusters) -> f64 {
    let (sum, squares) = differences
        .sums()
        .fold((0.0_f64, 0.0_f64), |(sum, squares), it| (sum + it, squares + it * it));
    if squares <= 0.0 {
        return 1.0;
    }
    let deviations = sum.abs() * (1.0 - SAME) / squares.sqrt();
    (2.0 * ABOVE_NORMAL * distributions::normal_above(deviations)).min(1.0)
}

/// Returns the share of all sign combinations whose sum is at least as far from 0. Both halves are
/// enumerated and sorted; while one is traversed upwards, the matching ranges of the other only
/// move in one direction.
fn counted(sums: &[f64], observed: f64) -> f64 {
    let (one, other) = sums.split_at(sums.len() / 2);
    let (one, other) = (flipped(one), flipped(other));
    let (mut low, mut high, mut hits) = (other.len(), other.len(), 0_u64);
    for sum in &one {
        while low > 0 && other.get(low - 1).is_some_and(|with| sum + with > -observed) {
            low -= 1;
        }
        while high > 0 && other.get(high - 1).is_some_and(|with| sum + with >= observed) {
            high -= 1;
        }
        hits += count(low + other.len() - high);
    }
    float(hits) / (float(count(one.len())) * float(count(other.len())))
}

/// Returns the sums of all sign combinations, sorted.
fn flipped(sums: &[f64]) -> Vec<f64> {
    let mut all = vec![0.0];
    for sum in sums {
        let (down, up) = (all.iter().map(|it| it - sum.abs()), all.iter().map(|it| it + sum.abs()));
        all = merged(down, up);
    }
    all
}

/// Merges two sorted lists.
fn merged(one: impl Iterator<Item = f64>, other: impl Iterator<Item = f64>) -> Vec<f64> {
    let (mut one, mut other) = (one.peekable(), other.peekable());
    let mut all = Vec::with_capacity(2 * one.size_hint().0);
    while let (Some(left), Some(right)) = (one.peek(), other.peek()) {
        all.extend(if left <= right { one.next() } else { other.next() });
    }
    all.extend(one.chain(other));
    all
}

/// Returns the share among sampled combinations. A table for every eight tasks contains the sums of
/// all their combinations, so that one random byte decides their signs.
fn drawn(sums: &[f64], observed: f64, resampling: Resampling) -> f64 {
    let tables: Vec<[f64; 256]> = sums.chunks(8).map(table).collect();
    let mut draw = Draw::new(resampling.seed);
    let mut hits = 0_u64;
    for _ in 0..resampling.times {
        let mut total = 0.0;
        for part in tables.chunks(8) {
            let bytes = draw.bits().to_le_bytes();
            total +=
                part.iter().zip(bytes).map(|(table, byte)| table[usize::from(byte)]).sum::<f64>();
        }
        hits += u64::from(f64::abs(total) >= observed);
    }
    float(hits + 1) / float(count(resampling.times) + 1)
}

/// Returns the sums of up to eight values for each byte: a set bit negates the value at its
/// position.
fn table(sums: &[f64]) -> [f64; 256] {
    std::array::from_fn(|byte| {
        sums.iter().enumerate().map(|(at, sum)| if byte >> at & 1 == 0 { *sum } else { -sum }).sum()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns differences of which so many are 1 and −1.
    fn signs(up: usize, down: usize) -> Clusters {
        let all = std::iter::repeat_n(1.0, up).chain(std::iter::repeat_n(-1.0, down));
        Clusters::gather(all.enumerate()).unwrap()
    }

    #[test]
    fn a_small_p_value_is_told_with_any_number_of_comparisons() {
        for outside in [0.05, 1e-4, 1e-5, 1e-7] {
            assert!(is_significant(&signs(40, 0), outside), "{outside}");
            assert!(!is_significant(&signs(20, 20), outside), "{outside}");
            assert!(!is_significant(&signs(24, 16), outside), "{outside}");
        }
    }

    #[test]
    fn more_samples_agree_with_the_exact_tail_and_the_bound_is_never_below_it() {
        // Of 40 signs at least 33 (34) agree with p = 4.2e-5 (8.4e-6).
        assert!(is_significant(&signs(33, 7), 8e-5));
        assert!(!is_significant(&signs(33, 7), 2e-5));
        assert!(is_significant(&signs(34, 6), 2e-5));
        for (up, exact) in [(33, 4.2e-5), (34, 8.3e-6), (40, 1.8e-12)] {
            assert!(at_most(&signs(up, 40 - up)) >= exact, "{up}");
        }
    }
}
