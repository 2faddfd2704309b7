//! **Pure.** Means, sums and quantiles of known values; unknown values are counted, never
//! taken as 0.
use super::{count, float};

/// Returns the arithmetic mean. `None` without values or if one is not a number.
pub fn mean(values: &[f64]) -> Option<f64> {
    let all = usable(values)?;
    // The second pass removes rounding errors.
    let rough = all.iter().sum::<f64>() / float(count(all.len()));
    Some(rough + all.iter().map(|value| value - rough).sum::<f64>() / float(count(all.len())))
        .filter(|mean| mean.is_finite())
}

/// Returns the standard deviation of a sample (divided by n − 1). `None` for fewer than two values
/// or if one is not a number.
pub fn standard_deviation(values: &[f64]) -> Option<f64> {
    let middle = mean(values)?;
    let squares: f64 = values.iter().map(|value| (value - middle).powi(2)).sum();
    (values.len() > 1)
        .then(|| (squares / float(count(values.len() - 1))).sqrt())
        .filter(|it| it.is_finite())
}

/// Returns the median; between two values, their mean.
pub fn median(values: &[f64]) -> Option<f64> {
    quantile(values, 0.5)
}

/// Returns the quantile at this share, interpolated linearly (type 7 of Hyndman and Fan, as in
/// NumPy and R). `None` without values, if one is not a number, or if the share is not between 0
/// and 1.
pub fn quantile(values: &[f64], share: f64) -> Option<f64> {
    let mut sorted = usable(values)?.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    of_sorted(&sorted, share)
}

pub(super) fn of_sorted(sorted: &[f64], share: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    if !(0.0..=1.0).contains(&share) {
        return None;
    }
    let at = share * float(count(last));
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 0 and the last position"
    )]
    let below = (at.floor() as usize).min(last);
    let low = *sorted.get(below)?;
    let high = sorted.get(below + 1).copied().unwrap_or(low);
    let part = at - at.floor();
    // Not low + part · (high − low), which would overflow for two large values of different sign.
    Some(if low.total_cmp(&high).is_eq() { low } else { low * (1.0 - part) + high * part })
}

fn usable(values: &[f64]) -> Option<&[f64]> {
    (!values.is_empty() && values.iter().all(|value| value.is_finite())).then_some(values)
}

/// Totals of tokens, money or seconds over many runs.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Amounts {
    /// Number of runs with a known amount.
    pub known: u64,
    /// Number of runs without a known amount.
    pub unknown: u64,
    /// Statistics of the known amounts; `None` if there are none.
    pub of_known: Option<AmountStats>,
}

/// Statistics of known amounts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AmountStats {
    /// Total.
    pub sum: f64,
    /// Mean.
    pub mean: f64,
    /// In the middle.
    pub median: f64,
    /// 90th percentile.
    pub ninetieth: f64,
    /// Minimum.
    pub least: f64,
    /// Maximum.
    pub most: f64,
}

impl Amounts {
    /// Aggregates amounts. `None` if a known one is not a number.
    pub fn from_values(values: impl IntoIterator<Item = Option<f64>>) -> Option<Self> {
        let (mut known, mut unknown) = (Vec::new(), 0);
        for value in values {
            match value {
                Some(value) if value.is_finite() => known.push(value),
                Some(_) => return None,
                None => unknown += 1,
            }
        }
        known.sort_unstable_by(f64::total_cmp);
        let of_known = mean(&known).and_then(|mean| {
            Some(AmountStats {
                sum: known.iter().sum(),
                mean,
                median: of_sorted(&known, 0.5)?,
                ninetieth: of_sorted(&known, 0.9)?,
                least: *known.first()?,
                most: *known.last()?,
            })
        });
        Some(Self { known: count(known.len()), unknown, of_known })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_has_no_mean_and_what_is_not_a_number_is_refused() {
        for values in
            [&[][..], &[f64::NAN], &[1.0, f64::INFINITY], &[f64::NEG_INFINITY, f64::INFINITY]]
        {
            assert_eq!(mean(values), None, "{values:?}");
            assert_eq!(median(values), None, "{values:?}");
            assert_eq!(standard_deviation(values), None, "{values:?}");
        }
        assert_eq!(mean(&[f64::MAX, f64::MAX]), None, "a sum that no number holds");
        assert_eq!(standard_deviation(&[3.0]), None);
        assert_eq!(quantile(&[1.0], 1.5), None);
        assert_eq!(quantile(&[1.0], f64::NAN), None);
    }

    #[test]
    fn one_value_is_its_mean_and_every_quantile() {
        assert_eq!(mean(&[0.7]), Some(0.7));
        for share in [0.0, 0.5, 0.9, 1.0] {
            assert_eq!(quantile(&[0.7], share), Some(0.7));
        }
        assert_eq!(quantile(&[f64::MIN, f64::MAX], 0.5), Some(0.0));
    }

    #[test]
    fn what_nobody_said_is_counted_and_not_taken_for_nothing() {
        let amounts = Amounts::from_values([Some(2.0), None, Some(4.0), Some(9.0)]).unwrap();
        assert_eq!((amounts.known, amounts.unknown), (3, 1));
        let known = amounts.of_known.unwrap();
        assert_eq!(
            (known.sum, known.mean, known.median, known.least, known.most),
            (15.0, 5.0, 4.0, 2.0, 9.0)
        );
        assert!((known.ninetieth - 8.0).abs() < 1e-12);
        assert_eq!(
            Amounts::from_values([None, None]),
            Some(Amounts { known: 0, unknown: 2, of_known: None })
        );
        assert_eq!(Amounts::from_values([]), Some(Amounts::default()));
        assert_eq!(Amounts::from_values([Some(1.0), Some(f64::NAN)]), None);
    }
}
