//! **Pure.** Passes of two systems on the same tasks: McNemar's exact test and Newcombe's interval
//! of the difference.
use super::{Interval, Level, binomial, float, wilson};

/// Counts of passes on two sides, over pairs of runs of the same task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PairedPasses {
    /// Both passed.
    pub both: u64,
    /// Only the first passed.
    pub only_first: u64,
    /// Only the second passed.
    pub only_second: u64,
    /// Neither passed.
    pub neither: u64,
}

impl PairedPasses {
    /// Counts pairs (first passed, second passed).
    pub fn from_pairs(pairs: impl IntoIterator<Item = (bool, bool)>) -> Self {
        let mut count = Self::default();
        for pair in pairs {
            match pair {
                (true, true) => count.both += 1,
                (true, false) => count.only_first += 1,
                (false, true) => count.only_second += 1,
                (false, false) => count.neither += 1,
            }
        }
        count
    }

    /// Returns the number of pairs.
    pub fn n(&self) -> u64 {
        self.both + self.only_first + self.only_second + self.neither
    }

    /// Returns the share of pairs whose sides differ.
    pub fn discordant_share(&self) -> Option<f64> {
        (self.n() > 0).then(|| float(self.only_first + self.only_second) / float(self.n()))
    }

    /// Returns the pass rate of the first side minus that of the second.
    pub fn difference(&self) -> Option<f64> {
        (self.n() > 0).then(|| (float(self.only_first) - float(self.only_second)) / float(self.n()))
    }

    /// Returns the two-sided p-value of McNemar's exact test: the probability of a difference at
    /// least this large if the two sides were equally good. Only differing pairs count; without any
    /// it is 1. `None` without pairs.
    pub fn mcnemar(&self) -> Option<f64> {
        let (fewer, differ) =
            (self.only_first.min(self.only_second), self.only_first + self.only_second);
        (self.n() > 0).then(|| (2.0 * binomial::fair_at_most(fewer, differ)).min(1.0))
    }

    /// Returns the confidence interval of the difference of rates: Newcombe's hybrid score interval
    /// for paired rates (1998, method 10).
    pub fn interval(&self, level: Level) -> Option<Interval> {
        let n = self.n();
        let (first, second) = (self.both + self.only_first, self.both + self.only_second);
        let (of_first, of_second) = (wilson(first, n, level)?, wilson(second, n, level)?);
        let (share_first, share_second) = (float(first) / float(n), float(second) / float(n));
        let alike = self.correlation();
        let reach = |one: f64, other: f64| {
            (one * one - 2.0 * alike * one * other + other * other).max(0.0).sqrt()
        };
        let difference = self.difference()?;
        let low = difference - reach(share_first - of_first.low, of_second.high - share_second);
        let high = difference + reach(of_first.high - share_first, share_second - of_second.low);
        Some(Interval { low, high }.around(difference, -1.0, 1.0))
    }

    /// Returns the correlation of the two sides, with Newcombe's continuity correction.
    fn correlation(&self) -> f64 {
        let [both, first, second, neither] =
            [self.both, self.only_first, self.only_second, self.neither].map(float);
        let margins = (both + first) * (second + neither) * (both + second) * (first + neither);
        let plain = both * neither - first * second;
        let half = float(self.n()) / 2.0;
        let corrected = if plain > 0.0 { (plain - half).max(0.0) } else { plain };
        if margins > 0.0 { corrected / margins.sqrt() } else { 0.0 }
    }
}
