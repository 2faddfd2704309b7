//! **Pure.** Binomial probabilities, computed relative to the likeliest to avoid underflow and
//! overflow.
use super::float;

/// Weights below this share of the likeliest do not change any sum.
const NEGLIGIBLE: f64 = 1e-18;

/// Non-negligible probabilities of a binomial distribution.
#[derive(Debug, Clone)]
pub(super) struct Binomial {
    /// Number of successes of the first probability.
    from: u64,
    probabilities: Vec<f64>,
}

impl Binomial {
    /// Computes the distribution for `n` tries with this probability of success.
    pub(super) fn new(n: u64, share: f64) -> Self {
        if share <= 0.0 || share >= 1.0 {
            return Self { from: if share <= 0.0 { 0 } else { n }, probabilities: vec![1.0] };
        }
        let odds = share / (1.0 - share);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "between 0 and n"
        )]
        let likeliest = ((float(n) + 1.0) * share).floor() as u64;
        let likeliest = likeliest.min(n);
        let mut below = Vec::new();
        let (mut at, mut weight) = (likeliest, 1.0);
        while at > 0 && weight > NEGLIGIBLE {
            weight *= float(at) / (float(n - at + 1) * odds);
            below.push(weight);
            at -= 1;
        }
        let mut probabilities: Vec<f64> = below.into_iter().rev().chain([1.0]).collect();
        let (mut at, mut weight) = (likeliest, 1.0);
        while at < n && weight > NEGLIGIBLE {
            weight *= float(n - at) * odds / float(at + 1);
            probabilities.push(weight);
            at += 1;
        }
        let total: f64 = probabilities.iter().sum();
        for weight in &mut probabilities {
            *weight /= total;
        }
        let from = at + 1 - super::count(probabilities.len());
        Self { from, probabilities }
    }

    /// Returns the numbers of successes with their probabilities.
    pub(super) fn outcomes(&self) -> impl DoubleEndedIterator<Item = (u64, f64)> {
        self.probabilities
            .iter()
            .enumerate()
            .map(|(at, probability)| (self.from + super::count(at), *probability))
    }

    /// Returns the probability of at least this many successes.
    pub(super) fn at_least(&self, successes: u64) -> f64 {
        self.outcomes()
            .rev()
            .take_while(|(at, _)| *at >= successes)
            .map(|(_, probability)| probability)
            .sum()
    }
}

/// Returns the probability of at most `k` heads in `n` fair tosses; accurate in the far tail too.
pub(super) fn fair_at_most(k: u64, n: u64) -> f64 {
    if k >= n {
        return 1.0;
    }
    // The k-th term is the largest; the others are summed relative to it, until they are
    // negligible.
    let steps = (1..=k).map(|i| float(n - k + i) / float(i));
    let (mut sum, mut weight) = (0.0, 1.0);
    for at in (0..=k).rev() {
        sum += weight;
        weight *= float(at) / float(n - at + 1);
        if weight < NEGLIGIBLE * sum {
            break;
        }
    }
    match i32::try_from(n) {
        // Two to the power of 1,000 and its inverse are still finite, nonzero floats.
        Ok(few) if few <= 1_000 => (steps.product::<f64>() * 0.5_f64.powi(few) * sum).min(1.0),
        _ => (steps.map(f64::ln).sum::<f64>() - float(n) * std::f64::consts::LN_2 + f64::ln(sum))
            .exp()
            .min(1.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_are_those_of_counting() {
        let four = Binomial::new(4, 0.5);
        let sixteenths: Vec<f64> =
            four.outcomes().map(|(_, probability)| probability * 16.0).collect();
        for (found, counted) in sixteenths.iter().zip([1.0, 4.0, 6.0, 4.0, 1.0]) {
            assert!((found - counted).abs() < 1e-12, "{sixteenths:?}");
        }
        assert!((four.at_least(3) - 5.0 / 16.0).abs() < 1e-14);
        assert!((fair_at_most(1, 4) - 5.0 / 16.0).abs() < 1e-14);
        assert_eq!(fair_at_most(0, 6).to_bits(), (1.0_f64 / 64.0).to_bits());
        for n in [1_000, 1_001] {
            let half = fair_at_most(n / 2, n);
            assert!((half - 0.5).abs() < 0.013 && half > 0.5 - 1e-9, "{half}");
            assert!((fair_at_most(0, n).ln() + float(n) * std::f64::consts::LN_2).abs() < 1e-9);
        }
    }

    #[test]
    fn what_always_or_never_happens_has_one_outcome() {
        assert_eq!(Binomial::new(5, 0.0).outcomes().collect::<Vec<_>>(), [(0, 1.0)]);
        assert_eq!(Binomial::new(5, 1.0).outcomes().collect::<Vec<_>>(), [(5, 1.0)]);
        assert_eq!(Binomial::new(0, 0.3).outcomes().collect::<Vec<_>>(), [(0, 1.0)]);
    }
}
