//! **Pure.** The smallest difference that so many pairs could have shown: what "no difference was
//! found" is worth.
use super::{Level, binomial, binomial::Binomial, curves, float};

/// Beyond so many pairs the normal distribution is near enough.
const MOST_COUNTED: u64 = 1_000;

/// Halvings of the range in which the difference is looked for.
const HALVINGS: u32 = 42;

/// When a difference counts as shown.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Power {
    /// The test errs at most so rarely when there is none.
    pub level: Level,
    /// And shows it so often when there is one, above one half.
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

/// The smallest difference of mean scores that a test of so many clusters would show, by Student's
/// distribution: 2.8 standard errors, and more when clusters are few. None for fewer than two
/// clusters, or when the standard error is not known.
pub fn detectable_mean_difference(standard_error: f64, clusters: u64, power: Power) -> Option<f64> {
    if clusters < 2 || !(standard_error > 0.0 && standard_error.is_finite()) || !power.is_sound() {
        return None;
    }
    let freedom = float(clusters - 1);
    let reach = curves::student_above(power.level.outside() / 2.0, freedom)
        + curves::student_above(1.0 - power.share, freedom);
    Some(reach * standard_error).filter(|difference| difference.is_finite())
}

/// The smallest difference of rates that McNemar's exact test would show with so many pairs, of
/// which this share differs (as observed; at least as many as the difference itself needs). None
/// when not even a difference of 1 would be shown: with fewer than six pairs, usually.
pub fn detectable_rate_difference(pairs: u64, discordant_share: f64, power: Power) -> Option<f64> {
    if pairs == 0 || !(0.0..=1.0).contains(&discordant_share) || !power.is_sound() {
        return None;
    }
    let shows: Box<dyn Fn(f64) -> f64> = if pairs <= MOST_COUNTED {
        let needed: Vec<u64> = needed(pairs, power.level.outside());
        Box::new(move |difference| shown(pairs, difference, discordant_share, &needed))
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

/// For each number of pairs that differ, how many have to be on one side for the test to show it;
/// one more than there are when it cannot.
fn needed(pairs: u64, outside: f64) -> Vec<u64> {
    let mut needed = 0;
    let one = |differ: u64| {
        // With one more pair that differs, as many are needed or one more.
        while needed <= differ && 2.0 * binomial::fair_at_most(differ - needed, differ) > outside {
            needed += 1;
        }
        needed.max(differ / 2 + 1)
    };
    (0..=pairs).map(one).collect()
}

/// How often the exact test shows a difference in its direction.
fn shown(pairs: u64, difference: f64, discordant_share: f64, needed: &[u64]) -> f64 {
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
    Binomial::new(pairs, differ).each().map(with).sum()
}

/// The same by the normal distribution (Connor 1987).
fn shown_about(pairs: u64, difference: f64, discordant_share: f64, level: Level) -> f64 {
    let differ = discordant_share.max(difference);
    let spread = (differ - difference * difference).max(0.0).sqrt();
    let over = difference * float(pairs).sqrt() - level.reach() * differ.sqrt();
    if spread > 0.0 {
        1.0 - curves::normal_above(over / spread)
    } else {
        f64::from(u8::from(over > 0.0))
    }
}
