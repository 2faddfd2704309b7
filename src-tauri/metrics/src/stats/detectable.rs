//! **Pure.** Smallest detectable difference for a number of pairs, which shows how much a result
//! without a difference is worth.
use super::{Level, binomial, binomial::Binomial, distributions, float};

/// Number of pairs above which the normal approximation is used.
const MOST_COUNTED: u64 = 1_000;

/// Bisection steps in the search for the difference.
const HALVINGS: u32 = 42;

/// Conditions under which a difference counts as detectable.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Power {
    /// Confidence level of the test, which limits false positives.
    pub level: Level,
    /// Probability of detecting a real difference; must be at least 0.5.
    pub share: f64,
}

impl Default for Power {
    fn default() -> Self {
        Self { level: Level::default(), share: 0.8 }
    }
}

impl Power {
    fn is_sound(self) -> bool {
        (0.5..1.0).contains(&self.share)
    }
}

/// Returns the smallest difference of mean scores that a test over this many clusters would detect,
/// by Student's distribution: 2.8 standard errors, and more for few clusters. `None` for fewer than
/// two clusters, or without a standard error.
pub fn detectable_mean_difference(standard_error: f64, clusters: u64, power: Power) -> Option<f64> {
    if clusters < 2 || !(standard_error > 0.0 && standard_error.is_finite()) || !power.is_sound() {
        return None;
    }
    let freedom = float(clusters - 1);
    let reach = distributions::student_above(power.level.outside() / 2.0, freedom)
        + distributions::student_above(1.0 - power.share, freedom);
    Some(reach * standard_error).filter(|difference| difference.is_finite())
}

/// Returns the smallest difference of rates that McNemar's exact test would detect with this many
/// pairs, of which the given share differs (as observed; at least as much as the difference
/// requires). `None` if not even a difference of 1 would be detected, as is usual for fewer than
/// six pairs.
pub fn detectable_rate_difference(pairs: u64, discordant_share: f64, power: Power) -> Option<f64> {
    if pairs == 0 || !(0.0..=1.0).contains(&discordant_share) || !power.is_sound() {
        return None;
    }
    let shows: Box<dyn Fn(f64) -> f64> = if pairs <= MOST_COUNTED {
        let needed: Vec<u64> = needed(pairs, power.level.outside());
        Box::new(move |difference| {
            detection_probability(pairs, difference, discordant_share, &needed)
        })
    } else {
        Box::new(move |difference| shown_about(pairs, difference, discordant_share, power.level))
    };
    if shows(1.0) < power.share {
        return None;
    }
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        if shows(middle) < power.share {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some(high)
}

/// Returns, for each number of differing pairs, how many must favour one side for the test to be
/// significant; one more than there are if that is impossible.
fn needed(pairs: u64, outside: f64) -> Vec<u64> {
    let mut needed = 0;
    let one = |differ: u64| {
        // With one more differing pair, the required number grows by at most one.
        while needed <= differ && 2.0 * binomial::fair_at_most(differ - needed, differ) > outside {
            needed += 1;
        }
        needed.max(differ / 2 + 1)
    };
    (0..=pairs).map(one).collect()
}

/// Returns the probability that the exact test detects a difference in its direction.
fn detection_probability(
    pairs: u64,
    difference: f64,
    discordant_share: f64,
    needed: &[u64],
) -> f64 {
    let differ = discordant_share.max(difference);
    if differ <= 0.0 {
        return 0.0;
    }
    let first = f64::midpoint(differ, difference) / differ;
    let with = |(discordant, probability): (u64, f64)| {
        let needed = usize::try_from(discordant).ok().and_then(|at| needed.get(at));
        probability
            * needed.map_or(0.0, |needed| Binomial::new(discordant, first).at_least(*needed))
    };
    Binomial::new(pairs, differ).outcomes().map(with).sum()
}

/// Like `shown`, by the normal approximation (Connor 1987).
fn shown_about(pairs: u64, difference: f64, discordant_share: f64, level: Level) -> f64 {
    let differ = discordant_share.max(difference);
    let spread = (differ - difference * difference).max(0.0).sqrt();
    let over = difference * float(pairs).sqrt() - level.reach() * differ.sqrt();
    if spread > 0.0 {
        1.0 - distributions::normal_above(over / spread)
    } else {
        f64::from(u8::from(over > 0.0))
    }
}
