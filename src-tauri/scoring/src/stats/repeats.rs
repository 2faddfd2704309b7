//! **Pure.** The same task run several times: what k tries would come to, from the n that were
//! made.
use super::{count, float};

/// The chance that at least one of `k` tries passes, without bias (Chen et al. 2021). None when
/// fewer than `k` were made.
pub fn pass_at(k: u64, passed: u64, n: u64) -> Option<f64> {
    if passed > n {
        return None;
    }
    // As many tries as are drawn, all of them failures.
    pass_all(k, n - passed, n).map(|none_passes| 1.0 - none_passes)
}

/// The chance that all of `k` tries pass, without bias: of all ways to draw `k` of the `n`, those
/// that draw only passes. None when fewer than `k` were made.
pub fn pass_all(k: u64, passed: u64, n: u64) -> Option<f64> {
    if k == 0 || k > n || passed > n {
        return None;
    }
    if k > passed {
        return Some(0.0);
    }
    Some((0..k).map(|drawn| float(passed - drawn) / float(n - drawn)).product())
}

/// True when some tries passed and some did not.
pub fn is_flaky(passed: u64, n: u64) -> bool {
    0 < passed && passed < n
}

/// A chance on average over rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OverRows {
    /// The average.
    pub value: f64,
    /// Over how many rows.
    pub rows: u64,
    /// How many had too few tries to say.
    pub left_out: u64,
}

/// The average of [`pass_at`] or [`pass_all`] over rows of (passed, tries). None when no row has
/// enough tries.
pub fn over_rows(
    k: u64,
    rows: &[(u64, u64)],
    chance: fn(u64, u64, u64) -> Option<f64>,
) -> Option<OverRows> {
    let known: Vec<f64> = rows.iter().filter_map(|(passed, n)| chance(k, *passed, *n)).collect();
    let value = super::mean(&known)?;
    Some(OverRows { value, rows: count(known.len()), left_out: count(rows.len() - known.len()) })
}
