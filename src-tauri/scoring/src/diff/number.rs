//! **Pure.** Numbers as written, compared without losing a digit.
use super::Tolerance;
use std::borrow::Cow;

/// A number of any size. Equality is by value, regardless of notation.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Number<'a> {
    /// `.nan`, which here equals itself, because both sides have the same value.
    Nan,
    /// `.inf`, `-.inf`
    Infinite { negative: bool },
    /// Any other number: digits without leading or trailing zeros, times ten to the exponent. Zero
    /// has no digits.
    Decimal { negative: bool, digits: Cow<'a, str>, exponent: i64 },
}

/// Exponents beyond this are not parsed, so that sums of exponents do not overflow.
const MOST_EXPONENT: i64 = 1 << 40;
/// Length beyond which a name is written with an exponent.
const LONGEST_NAME: usize = 40;
/// Difference in magnitude, in digits, beyond which two numbers are subtracted as floats; then one
/// of them is negligible.
const MOST_DIGITS: i64 = 4096;

impl<'a> Number<'a> {
    /// Parses a number like a YAML or JSON reader; `None` for anything else.
    pub(crate) fn read(text: &'a str) -> Option<Self> {
        if let Some(digits) = text.strip_prefix("0x") {
            return of_radix(digits, 16);
        }
        if let Some(digits) = text.strip_prefix("0o") {
            return of_radix(digits, 8);
        }
        let negative = text.starts_with('-');
        let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
        match unsigned {
            ".inf" | ".Inf" | ".INF" => return Some(Number::Infinite { negative }),
            ".nan" | ".NaN" | ".NAN" => return Some(Number::Nan),
            _ => {}
        }
        let (mantissa, exponent) = match unsigned.find(['e', 'E']) {
            Some(at) => (&unsigned[..at], exponent(&unsigned[at + 1..])?),
            None => (unsigned, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits_only = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if whole.len() + fraction.len() == 0 || !digits_only(whole) || !digits_only(fraction) {
            return None;
        }
        Some(decimal(negative, whole, fraction, exponent))
    }

    /// Parses the number that a text spells. Stricter than [`Number::read`], so that `007` and
    /// `0x1F` stay texts.
    pub(crate) fn parse_text(text: &'a str) -> Option<Self> {
        is_plain(text).then(|| Self::read(text)).flatten()
    }

    /// Returns the canonical notation: `143` for `143`, `143.0` and `1.43e2`; `0.5` for `.50`.
    pub(crate) fn name(&self) -> Cow<'a, str> {
        match self {
            Number::Nan => Cow::Borrowed(".nan"),
            Number::Infinite { negative: false } => Cow::Borrowed(".inf"),
            Number::Infinite { negative: true } => Cow::Borrowed("-.inf"),
            Number::Decimal { negative, digits, exponent } => {
                let sign = if *negative { "-" } else { "" };
                let places = usize::try_from(exponent.unsigned_abs()).unwrap_or(usize::MAX);
                if digits.is_empty() {
                    Cow::Borrowed("0")
                } else if digits.len().saturating_add(places) > LONGEST_NAME {
                    Cow::Owned(format!("{sign}{digits}e{exponent}"))
                } else if *exponent >= 0 {
                    Cow::Owned(format!("{sign}{digits}{}", "0".repeat(places)))
                } else if digits.len() > places {
                    let (whole, fraction) = digits.split_at(digits.len() - places);
                    Cow::Owned(format!("{sign}{whole}.{fraction}"))
                } else {
                    Cow::Owned(format!("{sign}0.{}{digits}", "0".repeat(places - digits.len())))
                }
            }
        }
    }

    /// Returns the nearest float, for estimating how close two numbers are.
    pub(crate) fn float(&self) -> f64 {
        match self {
            Number::Nan => f64::NAN,
            Number::Infinite { negative: false } => f64::INFINITY,
            Number::Infinite { negative: true } => f64::NEG_INFINITY,
            Number::Decimal { negative, digits, exponent } => {
                let exact = || exact(digits, *exponent);
                let nearest = || format!("0{digits}e{exponent}").parse().unwrap_or(f64::INFINITY);
                let size: f64 = exact().unwrap_or_else(nearest);
                if *negative { -size } else { size }
            }
        }
    }

    /// Returns `other - self`, rounded only after exact subtraction: long numbers with the same
    /// float are not equal.
    pub(crate) fn distance(&self, other: &Number<'_>) -> f64 {
        self.subtracted(other).unwrap_or_else(|| other.float() - self.float())
    }

    /// Subtracts exactly. `None` if floats lose nothing relevant, or there are too many digits.
    fn subtracted(&self, other: &Number<'_>) -> Option<f64> {
        let sign = |number: &Number<'_>| matches!(number, Number::Decimal { negative: true, .. });
        let at = self.exponent().min(other.exponent());
        let (from, to) = (self.units(at)?, other.units(at)?);
        if sign(self) != sign(other) {
            return None;
        }
        let length = from.len().max(to.len());
        let (from, to) = (format!("{from:0>length$}"), format!("{to:0>length$}"));
        let (less, more, up) =
            if from <= to { (from, to, !sign(self)) } else { (to, from, sign(self)) };
        let mut rest: Vec<u8> = more.into_bytes();
        let mut borrowed = 0;
        for (digit, taken) in rest.iter_mut().zip(less.bytes()).rev() {
            let taken = taken - b'0' + borrowed;
            borrowed = u8::from(*digit - b'0' < taken);
            *digit = *digit + 10 * borrowed - taken;
        }
        let size: f64 = format!("{}e{at}", String::from_utf8(rest).ok()?).parse().ok()?;
        Some(if up { size } else { -size })
    }

    /// Returns the digits in units of ten to the power `at`, which must not exceed the own
    /// exponent.
    fn units(&self, at: i64) -> Option<String> {
        let Number::Decimal { digits, exponent, .. } = self else { return None };
        let zeros = exponent.checked_sub(at).filter(|zeros| *zeros <= MOST_DIGITS)?;
        Some(format!("{digits}{}", "0".repeat(usize::try_from(zeros).ok()?)))
    }

    /// Returns true if the actual number is within a tolerance of this one.
    pub(super) fn is_near(&self, actual: &Number<'_>, tolerance: Tolerance) -> bool {
        if self == actual {
            return true;
        }
        let (Number::Decimal { .. }, Number::Decimal { .. }) = (self, actual) else { return false };
        let within = |share: f64, of: &Number<'_>| {
            share.is_finite()
                && share >= 0.0
                && self.exactly_within(actual, share, of).unwrap_or_else(|| {
                    (self.float() - actual.float()).abs() <= share * of.float().abs()
                })
        };
        let one = Number::Decimal { negative: false, digits: Cow::Borrowed("1"), exponent: 0 };
        tolerance.absolute.is_some_and(|most| within(most, &one))
            || tolerance.relative.is_some_and(|most| within(most, self))
    }

    /// Evaluates `|self - actual| <= share * |of|` in decimals: 84.2 is within 0.1 of 84.1. `None`
    /// if that takes more digits than fit; the caller then uses floats.
    fn exactly_within(&self, actual: &Number<'_>, share: f64, of: &Number<'_>) -> Option<bool> {
        let written = share.to_string();
        let share = Number::read(&written)?;
        let product = share.exponent().checked_add(of.exponent())?;
        let at = self.exponent().min(actual.exponent()).min(product);
        let apart = self.scaled(at)?.checked_sub(actual.scaled(at)?)?.checked_abs()?;
        let most = share
            .scaled(share.exponent())?
            .checked_mul(of.scaled(of.exponent())?)?
            .checked_abs()?;
        Some(apart <= most.checked_mul(power_of_ten(product - at)?)?)
    }

    fn exponent(&self) -> i64 {
        match self {
            Number::Decimal { exponent, .. } => *exponent,
            _ => 0,
        }
    }

    /// Returns the number in units of ten to the power `at`, which must not exceed the own
    /// exponent.
    fn scaled(&self, at: i64) -> Option<i128> {
        let Number::Decimal { negative, digits, exponent } = self else { return None };
        let digits: i128 = if digits.is_empty() { 0 } else { digits.parse().ok()? };
        let size = digits.checked_mul(power_of_ten(exponent - at)?)?;
        Some(if *negative { -size } else { size })
    }
}

/// Returns the nearest float of a short number. Both parts are exact as floats, so only one
/// operation rounds.
fn exact(digits: &str, exponent: i64) -> Option<f64> {
    const TENS: [f64; 16] =
        [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];
    let digits = match digits.len() {
        0 => 0,
        1..=9 => digits.parse::<u32>().ok()?,
        _ => return None,
    };
    let ten = TENS.get(usize::try_from(exponent.unsigned_abs()).ok()?)?;
    Some(if exponent < 0 { f64::from(digits) / ten } else { f64::from(digits) * ten })
}

fn power_of_ten(exponent: i64) -> Option<i128> {
    10_i128.checked_pow(u32::try_from(exponent).ok()?)
}

fn exponent(text: &str) -> Option<i64> {
    let exponent: i64 = text.parse().ok()?;
    (-MOST_EXPONENT..=MOST_EXPONENT).contains(&exponent).then_some(exponent)
}

fn of_radix<'a>(digits: &str, radix: u32) -> Option<Number<'a>> {
    if digits.starts_with(['+', '-']) {
        return None;
    }
    let number = u128::from_str_radix(digits, radix).ok()?.to_string();
    let shown = number.trim_end_matches('0');
    let exponent = i64::try_from(number.len() - shown.len()).ok()?;
    Some(Number::Decimal {
        negative: false,
        digits: Cow::Owned(shown.to_owned()),
        exponent: if shown.is_empty() { 0 } else { exponent },
    })
}

/// Creates a number in canonical form. Copies only if there are digits on both sides of the point.
fn decimal<'a>(negative: bool, whole: &'a str, fraction: &'a str, exponent: i64) -> Number<'a> {
    let whole = whole.trim_start_matches('0');
    let fraction = fraction.trim_end_matches('0');
    let length = |text: &str| i64::try_from(text.len()).unwrap_or(MOST_EXPONENT);
    let (digits, exponent) = if fraction.is_empty() {
        let shown = whole.trim_end_matches('0');
        (Cow::Borrowed(shown), exponent + length(whole) - length(shown))
    } else if whole.is_empty() {
        (Cow::Borrowed(fraction.trim_start_matches('0')), exponent - length(fraction))
    } else {
        (Cow::Owned([whole, fraction].concat()), exponent - length(fraction))
    };
    if digits.is_empty() {
        return Number::Decimal { negative: false, digits, exponent: 0 };
    }
    Number::Decimal { negative, digits, exponent }
}

/// Returns true for JSON notation: no leading zeros, digits on both sides of the point.
fn is_plain(text: &str) -> bool {
    let unsigned = text.strip_prefix('-').unwrap_or(text).as_bytes();
    let digits = unsigned.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let leads = digits == 1 || (digits > 1 && unsigned[0] != b'0');
    let fraction = match unsigned.get(digits) {
        Some(b'.') => unsigned.get(digits + 1).is_some_and(u8::is_ascii_digit),
        next => matches!(next, None | Some(b'e' | b'E')),
    };
    leads && fraction
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn number(text: &str) -> Number<'_> {
        Number::read(text).unwrap()
    }

    #[test]
    fn the_same_number_is_the_same_however_it_is_written() {
        for (a, b) in [
            ("84.10", "84.1"),
            ("1e2", "100"),
            ("1E+2", "100.00"),
            ("-0", "0.0"),
            ("0e99", "0"),
            (".5", "0.5"),
            ("1.", "1"),
            ("+007", "7"),
            ("0x1F", "31"),
            ("0o17", "15"),
            ("0x0", "0"),
            ("0.00120", "12e-4"),
            (".nan", ".NaN"),
            ("-.inf", "-.INF"),
            ("123456789012345678901234567890", "1.2345678901234567890123456789e29"),
        ] {
            assert_eq!(number(a), number(b), "{a} {b}");
            assert_eq!(number(a).name(), number(b).name(), "{a} {b}");
        }
        for (a, b) in [
            ("9007199254740993", "9007199254740992"),
            ("0.1", "0.10000000000000001"),
            ("1e400", "1e401"),
            (".inf", "-.inf"),
            (".inf", "1e999999"),
            ("1", "-1"),
        ] {
            assert_ne!(number(a), number(b), "{a} {b}");
            assert_ne!(number(a).name(), number(b).name(), "{a} {b}");
        }
        for (text, name) in [
            ("84.10", "84.1"),
            ("0.00120", "0.0012"),
            ("-.5", "-0.5"),
            ("1.43e2", "143"),
            ("1e-50", "1e-50"),
        ] {
            assert_eq!(number(text).name(), name);
        }
    }

    #[test]
    fn what_is_no_number_is_none() {
        for text in [
            "", "-", ".", "e5", "1e", "1e+", "12:30", "1_000", "0x", "0x-1", "--1", "1.2.3",
            "1e1.5", "NaN", "84.1 ",
        ] {
            assert_eq!(Number::read(text), None, "{text}");
        }
    }

    #[test]
    fn a_text_is_a_number_only_when_nothing_of_it_would_be_lost() {
        for text in ["0", "-1", "84.10", "1e5", "0.5"] {
            assert!(Number::parse_text(text).is_some(), "{text}");
        }
        for text in ["007", "+1", ".5", "1.", "0x1F", ".inf", "-", "", "1.e3", "00"] {
            assert_eq!(Number::parse_text(text), None, "{text}");
        }
    }

    #[test]
    fn the_distance_of_two_numbers_is_subtracted_before_it_is_rounded() {
        for (from, to, distance) in [
            ("9007199254740993", "9007199254740992", -1.0),
            ("9007199254740992", "9007199254740993", 1.0),
            ("-9007199254740993", "-9007199254740992", 1.0),
            (
                "123456789012345678901234567890123456789012345",
                "123456789012345678901234567890123456789012347",
                2.0,
            ),
            ("0.1", "0.10000000000000001", 1e-17),
            ("100", "1e2", 0.0),
            ("0", "-0.5", -0.5),
            ("3", "-4", -7.0),
            ("1e300", "1", -1e300),
            ("1e999999", "1", f64::NEG_INFINITY),
            ("5", ".inf", f64::INFINITY),
        ] {
            assert_eq!(
                number(from).distance(&number(to)).to_bits(),
                f64::to_bits(distance),
                "{from} {to}"
            );
        }
        assert!(number(".nan").distance(&number("1")).is_nan());
    }

    #[test]
    fn tolerance_is_exact_in_decimals_and_either_limit_is_enough() {
        let near = |a: &str, b: &str, absolute: Option<f64>, relative: Option<f64>| {
            number(a).is_near(&number(b), Tolerance { absolute, relative })
        };
        assert!(near("84.1", "84.2", Some(0.1), None));
        assert!(!near("84.1", "84.20001", Some(0.1), None));
        assert!(near("100", "101", None, Some(0.01)));
        assert!(!near("100", "101.1", None, Some(0.01)));
        assert!(near("0", "0.0", None, None));
        assert!(!near("0", "0.001", None, Some(0.5)));
        assert!(near("-5", "5", Some(10.0), None));
        assert!(near(
            "123456789012345678901234567890123456789012345",
            "123456789012345678901234567890123456789012346",
            Some(1.0),
            None
        ));
        assert!(!near("1", "2", Some(f64::NAN), Some(f64::INFINITY)));
        assert!(!near("1", ".nan", Some(9e9), None));
        assert!(!near("1", "2", None, None));
    }

    proptest! {
        #[test]
        fn distances_are_those_of_whole_numbers(from in any::<i64>(), to in any::<i64>()) {
            #[expect(clippy::cast_precision_loss, reason = "the nearest float is what is wanted")]
            let distance = (i128::from(to) - i128::from(from)) as f64;
            let found = number(&from.to_string()).distance(&number(&to.to_string()));
            prop_assert!((found - distance).abs() <= distance.abs() * 1e-15, "{found} {distance}");
        }

        #[test]
        fn floats_that_are_written_out_are_the_numbers_they_were(float in any::<f64>().prop_filter("finite", |f| f.is_finite())) {
            let (plain, scientific) = (format!("{float}"), format!("{float:e}"));
            prop_assert_eq!(number(&plain), number(&scientific));
            prop_assert_eq!(number(&plain).float().to_bits(), (float + 0.0).to_bits());
        }

        #[test]
        fn nothing_that_is_read_brings_it_to_a_stop(text in "[-+0-9.eExofinaN]{0,24}") {
            if let Some(number) = Number::read(&text) {
                prop_assert!(number == Number::read(&number.name()).unwrap());
                number.is_near(&Number::read("1e-30").unwrap(), Tolerance { absolute: Some(1e-300), relative: Some(0.1) });
            }
        }
    }
}
