//! **Pure.** Direction in which a number is better, and the tendency of a difference.
use super::Interval;

/// Direction that is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    /// Higher is better: scores and pass rates.
    Higher,
    /// Lower is better: tokens, money, time and errors.
    Lower,
}

/// Tendency of the first of two sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tendency {
    /// The first is better.
    Better,
    /// The first is worse.
    Worse,
    /// Neither is shown.
    Unclear,
}

impl Better {
    /// Returns the tendency of a difference (first minus second); unclear if it is 0 or not a
    /// number.
    pub fn tendency(self, difference: f64) -> Tendency {
        let first_is_higher = if difference > 0.0 {
            true
        } else if difference < 0.0 {
            false
        } else {
            return Tendency::Unclear;
        };
        if first_is_higher == (self == Self::Higher) { Tendency::Better } else { Tendency::Worse }
    }

    /// Returns the tendency of an interval of a difference; unclear unless all of it lies on one
    /// side of 0.
    pub fn of_interval(self, difference: Interval) -> Tendency {
        let (low, high) = (self.tendency(difference.low), self.tendency(difference.high));
        if low == high { low } else { Tendency::Unclear }
    }
}

/// Number of times the first side was better, equal and worse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WinTieLoss {
    /// The first was better.
    pub wins: u64,
    /// No difference.
    pub ties: u64,
    /// The first was worse.
    pub losses: u64,
}

impl WinTieLoss {
    /// Differences up to this size are rounding errors.
    const SAME: f64 = 1e-9;

    /// Counts differences (first minus second). `None` if one is not a number. Without differences,
    /// all counts are 0.
    pub fn from_differences(differences: &[f64], better: Better) -> Option<Self> {
        let mut count = Self::default();
        for difference in differences {
            if !difference.is_finite() {
                return None;
            }
            let seen = if difference.abs() <= Self::SAME {
                Tendency::Unclear
            } else {
                better.tendency(*difference)
            };
            match seen {
                Tendency::Better => count.wins += 1,
                Tendency::Unclear => count.ties += 1,
                Tendency::Worse => count.losses += 1,
            }
        }
        Some(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_is_better_for_scores_and_worse_for_money() {
        assert_eq!(Better::Higher.tendency(0.1), Tendency::Better);
        assert_eq!(Better::Lower.tendency(0.1), Tendency::Worse);
        assert_eq!(Better::Higher.tendency(-0.1), Tendency::Worse);
        assert_eq!(Better::Lower.tendency(-0.1), Tendency::Better);
        for better in [Better::Higher, Better::Lower] {
            assert_eq!(better.tendency(0.0), Tendency::Unclear);
            assert_eq!(better.tendency(f64::NAN), Tendency::Unclear);
        }
    }

    #[test]
    fn an_interval_that_touches_nothing_shows_nothing() {
        for (low, high, shown) in [
            (0.1, 0.2, Tendency::Better),
            (-0.2, -0.1, Tendency::Worse),
            (-0.1, 0.1, Tendency::Unclear),
            (0.0, 0.1, Tendency::Unclear),
            (-0.1, 0.0, Tendency::Unclear),
            (0.0, 0.0, Tendency::Unclear),
        ] {
            assert_eq!(
                Better::Higher.of_interval(Interval { low, high }),
                shown,
                "{low} to {high}"
            );
        }
    }

    #[test]
    fn wins_of_one_side_are_losses_of_the_other() {
        let differences = [0.5, -0.25, 0.0, 1.0, 0.1 + 0.2 - 0.3];
        let higher = WinTieLoss::from_differences(&differences, Better::Higher).unwrap();
        assert_eq!(higher, WinTieLoss { wins: 2, ties: 2, losses: 1 });
        let lower = WinTieLoss::from_differences(&differences, Better::Lower).unwrap();
        assert_eq!(
            (lower.wins, lower.ties, lower.losses),
            (higher.losses, higher.ties, higher.wins)
        );
        assert_eq!(WinTieLoss::from_differences(&[], Better::Higher), Some(WinTieLoss::default()));
        assert_eq!(WinTieLoss::from_differences(&[1.0, f64::NAN], Better::Higher), None);
    }
}
