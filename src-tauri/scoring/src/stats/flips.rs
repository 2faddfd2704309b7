//! **Pure.** The paired permutation test: had the two sides been the same, each task's difference
//! could as well have been the other way.
//!
//! Signs are flipped by task, for differences of one task are alike. All ways to flip are counted,
//! up to 32 tasks that differ; with more of them, ways are drawn, and the observed one counts as
//! one of them, so that no probability is ever 0.
use super::{Clusters, Resampling, clusters, count, draw::Draw, float};

/// With so many tasks that differ, all ways to flip are still counted: each half has 2^16.
const MOST_COUNTED: usize = 32;

/// Sums are the same when they differ by less than this share of all differences: what adding in
/// another order leaves.
const SAME: f64 = 1e-10;

/// How probable a difference at least this large is if the two sides were the same.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PValue {
    /// The probability.
    pub p: f64,
    /// False when ways were drawn instead of all counted.
    pub exact: bool,
}

/// Tests differences (first minus second), gathered by task, two-sided.
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
    PValue { p: drawn(&sums, observed, resampling), exact: false }
}

/// The share of all ways to flip whose sum is as far from nothing. Two halves are flipped by
/// themselves and put in order; while one is walked up, what is far enough of the other only grows
/// at one end and shrinks at the other.
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

/// The sums of all ways to flip, in order.
fn flipped(sums: &[f64]) -> Vec<f64> {
    let mut all = vec![0.0];
    for sum in sums {
        let (down, up) = (all.iter().map(|it| it - sum.abs()), all.iter().map(|it| it + sum.abs()));
        all = merged(down, up);
    }
    all
}

/// Two sorted lists as one.
fn merged(one: impl Iterator<Item = f64>, other: impl Iterator<Item = f64>) -> Vec<f64> {
    let (mut one, mut other) = (one.peekable(), other.peekable());
    let mut all = Vec::with_capacity(2 * one.size_hint().0);
    while let (Some(left), Some(right)) = (one.peek(), other.peek()) {
        all.extend(if left <= right { one.next() } else { other.next() });
    }
    all.extend(one.chain(other));
    all
}

/// The share of drawn ways. Every eight tasks have a table of what all their ways come to, so that
/// one byte of chance decides on them.
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

/// What up to eight sums come to, by the bits of a byte: a set bit turns the sum at its place.
fn table(sums: &[f64]) -> [f64; 256] {
    std::array::from_fn(|byte| {
        sums.iter().enumerate().map(|(at, sum)| if byte >> at & 1 == 0 { *sum } else { -sum }).sum()
    })
}
