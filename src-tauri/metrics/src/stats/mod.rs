//! **Pure.** Statistics with uncertainty: rates, means, pairs, repeats and agreement. Independent
//! of runs and files.
//!
//! Undefined results are `None`, never a made-up number; results are never NaN or infinite, and
//! such inputs are rejected.
mod better;
mod binomial;
mod clusters;
mod detectable;
mod distributions;
mod draw;
mod estimate;
mod flips;
mod kappa;
mod memo;
mod numbers;
mod paired;
mod positions;
mod rate;
mod repeats;

pub use better::{Better, Tendency, WinTieLoss};
pub use clusters::{Clusters, FEWEST_DRAWN, MOST_DRAWN, Resampling};
pub use detectable::{Power, detectable_mean_difference, detectable_rate_difference};
pub use estimate::{Estimate, Means, Passes, estimate, passes};
pub use flips::{PValue, is_significant, sign_flips};
pub use kappa::{Confusion, Kappa, Weights};
pub use numbers::{AmountStats, Amounts, mean, median, quantile, standard_deviation};
pub use paired::PairedPasses;
pub use rate::{wilson, wilson_clustered};
pub use repeats::{OverRows, is_flaky, over_rows, pass_all, pass_at};

/// Confidence level of an interval, by default 0.95.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Level(f64);

impl Level {
    /// Creates a level; `None` unless it lies between 0 and 1.
    pub fn new(level: f64) -> Option<Self> {
        (level > 0.0 && level < 1.0).then_some(Self(level))
    }

    /// Returns the level as a share.
    pub fn share(self) -> f64 {
        self.0
    }

    /// Returns the share outside the interval, on both sides together.
    fn outside(self) -> f64 {
        1.0 - self.0
    }

    /// Returns the half-width of the interval in standard deviations of a normal distribution.
    fn reach(self) -> f64 {
        distributions::normal_middle(self.0)
    }
}

impl Default for Level {
    fn default() -> Self {
        Self(0.95)
    }
}

/// Confidence interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Interval {
    /// Returns true if the interval contains a value; its ends are included.
    pub fn holds(self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    /// Returns the interval clamped to the possible values.
    #[must_use]
    pub fn within(self, least: f64, most: f64) -> Self {
        Self { low: self.low.clamp(least, most), high: self.high.clamp(least, most) }
    }

    /// Returns the interval extended to contain the estimate, and clamped to the possible values.
    fn around(self, estimate: f64, least: f64, most: f64) -> Self {
        Self {
            low: self.low.min(estimate).clamp(least, most),
            high: self.high.max(estimate).clamp(least, most),
        }
    }
}

/// Returns a count as a float.
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
pub fn float(count: u64) -> f64 {
    count as f64
}

/// Returns a length as a count.
pub fn count(len: usize) -> u64 {
    u64::try_from(len).unwrap_or(u64::MAX)
}
