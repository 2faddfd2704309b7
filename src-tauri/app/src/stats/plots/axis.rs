//! **Pure.** Axes with round marks.
use touchstone_api::Tick;

/// Ratio from which on amounts are drawn on a logarithmic scale: linearly, the small ones would be
/// one point.
const LOG_FROM: f64 = 30.0;
/// Number of marks that an axis has about.
const MARKS: f64 = 4.0;

/// Scale of an axis.
pub(super) struct Axis {
    scale: Scale,
    /// Values at both ends.
    low: f64,
    high: f64,
    /// Positions of both ends.
    from: f64,
    to: f64,
    /// Formats the value of a mark.
    unit: Unit,
}

enum Scale {
    Linear { step: f64 },
    Log,
}

#[derive(Clone, Copy)]
enum Unit {
    Score,
    Dollars,
    Seconds,
    Minutes,
    Hours,
}

impl Axis {
    /// Creates an axis of scores that reaches from below the least to above the greatest.
    pub(super) fn of_scores(values: &[f64], (from, to): (f64, f64)) -> Self {
        let least = values.iter().copied().fold(1.0, f64::min).clamp(0.0, 1.0);
        let most = values.iter().copied().fold(0.0, f64::max).clamp(0.0, 1.0);
        let step = round_step((most - least).max(0.04) / MARKS);
        let low = ((least / step + 1e-9).floor() * step).max(0.0);
        let high = ((most / step - 1e-9).ceil() * step).min(1.0).max(low + step).min(1.0);
        let low = if high - low < step / 2.0 { (high - step).max(0.0) } else { low };
        Self { scale: Scale::Linear { step }, low, high, from, to, unit: Unit::Score }
    }

    /// Creates an axis of amounts that are not negative. `reach` is the highest end of an interval.
    pub(super) fn of_amounts(
        values: &[f64],
        reach: f64,
        is_money: bool,
        (from, to): (f64, f64),
    ) -> Self {
        let most = reach.max(values.iter().copied().fold(0.0, f64::max));
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        let unit = match most {
            _ if is_money => Unit::Dollars,
            ..240.0 => Unit::Seconds,
            ..14_400.0 => Unit::Minutes,
            _ => Unit::Hours,
        };
        let size = unit.size();
        if least > 0.0 && most / least >= LOG_FROM {
            let low = decade_part(least / size, false) * size;
            let high = decade_part(most / size, true) * size;
            return Self { scale: Scale::Log, low, high, from, to, unit };
        }
        let step = round_step(most / size / MARKS) * size;
        let high = (most / step - 1e-9).ceil().max(1.0) * step;
        Self { scale: Scale::Linear { step }, low: 0.0, high, from, to, unit }
    }

    /// Returns true for a logarithmic scale.
    pub(super) fn is_log(&self) -> bool {
        matches!(self.scale, Scale::Log)
    }

    /// Returns the position of a value; values beyond an end are drawn at the end.
    pub(super) fn position(&self, value: f64) -> f64 {
        let value = value.clamp(self.low, self.high);
        let share = match self.scale {
            Scale::Linear { .. } => (value - self.low) / (self.high - self.low),
            Scale::Log => (value / self.low).ln() / (self.high / self.low).ln(),
        };
        self.from + (self.to - self.from) * share
    }

    /// Returns true for a value before the beginning of the axis.
    pub(super) fn is_before(&self, value: f64) -> bool {
        value < self.low
    }

    /// Returns the marks.
    pub(super) fn ticks(&self) -> Vec<Tick> {
        let tick = |value: f64, step: f64| Tick {
            at: (self.position(value) * 10.0).round() / 10.0,
            label: self.unit.format(value, step),
        };
        let fits = |value: &f64| *value <= self.high * 1.000_001;
        match self.scale {
            Scale::Linear { step } => {
                let values = (0..).map(|n| self.low + step * f64::from(n)).take_while(fits);
                values.map(|value| tick(value, step)).collect()
            }
            Scale::Log => {
                let decades = (self.high / self.low).log10();
                let parts: &[f64] = if decades > 2.5 { &[1.0] } else { &[1.0, 2.0, 5.0] };
                let size = self.unit.size();
                let start = (self.low / size).log10().floor();
                let powers = (0..20).map(|n| 10_f64.powf(start + f64::from(n)) * size);
                let values = powers.flat_map(|power| parts.iter().map(move |part| part * power));
                values
                    .filter(|value| *value >= self.low * 0.999_999 && fits(value))
                    .map(|value| tick(value, value))
                    .collect()
            }
        }
    }
}

impl Unit {
    fn size(self) -> f64 {
        match self {
            Self::Score | Self::Dollars | Self::Seconds => 1.0,
            Self::Minutes => 60.0,
            Self::Hours => 3600.0,
        }
    }

    fn format(self, value: f64, step: f64) -> String {
        let number = format!("{:.*}", places(step / self.size()), value / self.size());
        match self {
            Self::Score => number,
            Self::Dollars => format!("${number}"),
            Self::Seconds => format!("{number} s"),
            Self::Minutes => format!("{number} min"),
            Self::Hours => format!("{number} h"),
        }
    }
}

/// Returns the decimal places that a step needs.
fn places(step: f64) -> usize {
    (0..9)
        .find(|places| is_whole(step * 10_f64.powi(*places)))
        .map_or(9, |places| usize::try_from(places).unwrap_or(0))
}

fn is_whole(value: f64) -> bool {
    (value - value.round()).abs() < 1e-6 * value.abs().max(1.0)
}

/// Returns the next round step: 1, 2 or 5 times a power of ten.
fn round_step(rough: f64) -> f64 {
    let power = 10_f64.powf(rough.log10().floor());
    [1.0, 2.0, 5.0, 10.0]
        .map(|part| part * power)
        .into_iter()
        .find(|step| *step >= rough * 0.999_999)
        .unwrap_or(rough)
}

/// Returns the next value at or beyond an amount that is 1, 2 or 5 times a power of ten.
fn decade_part(amount: f64, up: bool) -> f64 {
    let power = 10_f64.powf(amount.log10().floor());
    let parts = [1.0, 2.0, 5.0, 10.0].map(|part| part * power);
    if up {
        parts.into_iter().find(|part| *part >= amount * 0.999_999).unwrap_or(amount)
    } else {
        parts.into_iter().rev().find(|part| *part <= amount * 1.000_001).unwrap_or(amount)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marks(axis: &Axis) -> Vec<String> {
        axis.ticks().into_iter().map(|tick| tick.label).collect()
    }

    #[test]
    fn marks_are_round_and_have_the_places_they_need() {
        let money = |values: &[f64]| marks(&Axis::of_amounts(values, 0.0, true, (0.0, 100.0)));
        assert_eq!(money(&[0.3, 0.5123]), ["$0.0", "$0.2", "$0.4", "$0.6"]);
        assert_eq!(
            money(&[0.0004, 0.0007]),
            ["$0.0000", "$0.0002", "$0.0004", "$0.0006", "$0.0008"]
        );
        assert_eq!(money(&[1.0, 8.0]), ["$0", "$2", "$4", "$6", "$8"]);
        assert_eq!(money(&[200.0, 1234.0]), ["$0", "$500", "$1000", "$1500"]);
        let time = |values: &[f64]| marks(&Axis::of_amounts(values, 0.0, false, (0.0, 100.0)));
        assert_eq!(time(&[3.0, 7.0]), ["0 s", "2 s", "4 s", "6 s", "8 s"]);
        assert_eq!(time(&[100.0, 700.0]), ["0 min", "5 min", "10 min", "15 min"]);
        assert_eq!(time(&[9_000.0, 20_000.0]), ["0 h", "2 h", "4 h", "6 h"]);
    }

    #[test]
    fn amounts_far_apart_are_drawn_by_their_powers_of_ten() {
        let axis = Axis::of_amounts(&[0.002, 0.03, 1.4], 1.6, true, (0.0, 100.0));
        assert!(axis.is_log());
        assert_eq!(marks(&axis), ["$0.01", "$0.1", "$1"]);
        let axis = Axis::of_amounts(&[0.02, 0.9], 0.9, true, (0.0, 100.0));
        assert_eq!(marks(&axis), ["$0.02", "$0.05", "$0.1", "$0.2", "$0.5", "$1"]);
        assert!((axis.position(0.0) - 0.0).abs() < 1e-9, "an interval down to 0 ends at the edge");
        assert!(!Axis::of_amounts(&[0.0, 1.0], 1.0, true, (0.0, 1.0)).is_log());
    }

    #[test]
    fn scores_have_an_axis_around_them_and_never_beyond_the_scale() {
        let scores = |values: &[f64]| marks(&Axis::of_scores(values, (100.0, 0.0)));
        assert_eq!(scores(&[0.0, 1.0]), ["0.0", "0.5", "1.0"]);
        assert_eq!(scores(&[0.81, 0.97]), ["0.80", "0.85", "0.90", "0.95", "1.00"]);
        assert_eq!(scores(&[0.5, 0.5]).len(), 2);
        for value in [0.0, 0.004, 0.5, 0.996, 1.0] {
            let axis = Axis::of_scores(&[value], (100.0, 0.0));
            assert!(axis.low >= 0.0 && axis.high <= 1.0 && axis.low < axis.high, "{value}");
            assert!((0.0..=100.0).contains(&axis.position(value)));
        }
    }
}
