//! **Pure.** Repeated runs of a task: estimates for k tries from n runs.
use super::{count, float};

/// Returns the unbiased estimate of pass@k, the probability that at least one of `k` tries passes
/// (Chen et al. 2021). `None` if fewer than `k` were made.
pub fn pass_at(k: u64, passed: u64, n: u64) -> Option<f64> {
    if passed > n {
        return None;
    }
    // One minus the probability that all drawn tries fail.
    pass_all(k, n - passed, n).map(|none_passes| 1.0 - none_passes)
}

/// Returns the unbiased estimate of pass^k, the probability that all of `k` tries pass: the share
/// of all selections of `k` of the `n` tries with only passes. `None` if fewer than `k` were made.
pub fn pass_all(k: u64, passed: u64, n: u64) -> Option<f64> {
    if k == 0 || k > n || passed > n {
        return None;
    }
    if k > passed {
        return Some(0.0);
    }
    Some((0..k).map(|drawn| float(passed - drawn) / float(n - drawn)).product())
}

/// Returns true if some tries passed and some did not.
pub fn is_flaky(passed: u64, n: u64) -> bool {
    0 < passed && passed < n
}

/// Average of a probability over rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OverRows {
    /// The average.
    pub value: f64,
    /// Number of rows in the average.
    pub rows: u64,
    /// Number of rows with too few tries.
    pub left_out: u64,
}

/// Returns the average of [`pass_at`] or [`pass_all`] over rows of (passed, tries). `None` if no
/// row has enough tries.
pub fn over_rows(
    k: u64,
    rows: &[(u64, u64)],
    chance: fn(u64, u64, u64) -> Option<f64>,
) -> Option<OverRows> {
    let known: Vec<f64> = rows.iter().filter_map(|(passed, n)| chance(k, *passed, *n)).collect();
    let value = super::mean(&known)?;
    Some(OverRows { value, rows: count(known.len()), left_out: count(rows.len() - known.len()) })
}
