//! **Pure.** Formats scores and numbers, identically in all output.

/// Formats a score with two places, halves rounded up as in the page: `0.87`. A score that only
/// rounds to 1 or 0 is written `>0.99` or `<0.01`.
pub fn score(value: f64) -> String {
    match places(value).as_str() {
        "1.00" if value < 1.0 => ">0.99".to_owned(),
        "0.00" if value > 0.0 => "<0.01".to_owned(),
        text => text.to_owned(),
    }
}

/// Formats a number with this many decimal places. A number that rounds to zero has no sign:
/// `0.000`, never `-0.000`.
pub fn fixed(value: f64, places: usize) -> String {
    let text = format!("{value:.places$}");
    match text.strip_prefix('-') {
        Some(digits) if digits.bytes().all(|byte| matches!(byte, b'0' | b'.')) => digits.to_owned(),
        _ => text,
    }
}

/// Formats a difference with this many decimal places and a minus sign (U+2212) if it is negative:
/// `0.250`, `−0.250`.
pub fn signed(value: f64, places: usize) -> String {
    let text = fixed(value, places);
    text.strip_prefix('-').map_or_else(|| text.clone(), |size| format!("−{size}"))
}

/// Formats a number with all its digits. Zero has no sign: `0`, never `-0`.
pub fn exact(value: f64) -> String {
    // Adding zero turns `-0.0` into `0.0`.
    (value + 0.0).to_string()
}

/// Formats a number with two places, halves rounded up. Used for the ends of intervals.
pub fn places(value: f64) -> String {
    // Only multiples of an eighth can be exact halves of a hundredth in binary.
    let half = if (value * 8.0).fract() == 0.0 { 1e-9 } else { 0.0 };
    fixed(value + half, 2)
}

/// Formats a count with narrow no-break spaces between thousands: `12 345`.
pub fn count(count: u64) -> String {
    let digits = count.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push('\u{202f}');
        }
        out.push(digit);
    }
    out
}

/// Formats dollars: `$0.0123`, `$2.50`.
pub fn money(dollars: f64) -> String {
    let digits = if dollars.abs() >= 100.0 {
        0
    } else if dollars.abs() >= 1.0 {
        2
    } else {
        4
    };
    format!("${dollars:.digits$}")
}

/// Formats a duration: `3.2 s`, `2 min 05 s`.
pub fn seconds(seconds: f64) -> String {
    if seconds < 60.0 {
        return format!("{} s", fixed(seconds, 1));
    }
    let whole = round_to_u64(seconds);
    if whole < 3600 {
        format!("{} min {:02} s", whole / 60, whole % 60)
    } else {
        format!("{} h {:02} min", whole / 3600, whole % 3600 / 60)
    }
}

/// Rounds an amount, which is not negative, to a whole number.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "amounts are not negative and far below 2^53"
)]
pub fn round_to_u64(value: f64) -> u64 {
    value.round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_rounded_up_and_nothing_is_whole_that_is_not() {
        let scores = [0.625, 0.125, 0.615, 0.5, 1.0, 0.0, 0.9951, 0.0049, 0.999_999_9].map(score);
        assert_eq!(
            scores,
            ["0.63", "0.13", "0.61", "0.50", "1.00", "0.00", ">0.99", "<0.01", ">0.99"]
        );
        assert_eq!([0.9951, 0.375, 0.0].map(places), ["1.00", "0.38", "0.00"]);
    }

    #[test]
    fn what_is_rounded_to_nothing_has_no_sign_and_everything_else_keeps_its_own() {
        for (value, wanted) in [
            (-0.0, "0.000"),
            (0.0, "0.000"),
            (-0.0004, "0.000"),
            (-0.0006, "-0.001"),
            (-1.0, "-1.000"),
            (-10.0, "-10.000"),
            (f64::NEG_INFINITY, "-inf"),
        ] {
            assert_eq!(fixed(value, 3), wanted);
        }
        assert_eq!([-0.0, 0.0, -0.25].map(exact), ["0", "0", "-0.25"]);
        assert_eq!((fixed(-0.4, 0), fixed(-0.6, 0)), ("0".to_owned(), "-1".to_owned()));
        assert_eq!((places(-0.001), places(-0.5)), ("0.00".to_owned(), "-0.50".to_owned()));
    }

    #[test]
    fn counts_dollars_and_durations_are_written_plainly() {
        assert_eq!(
            [count(0), count(999), count(1_234_567)],
            ["0", "999", "1\u{202f}234\u{202f}567"]
        );
        assert_eq!([money(0.01234), money(2.5), money(1234.5)], ["$0.0123", "$2.50", "$1234"]);
        assert_eq!(
            [seconds(3.21), seconds(125.4), seconds(7_300.0)],
            ["3.2 s", "2 min 05 s", "2 h 01 min"]
        );
    }
}
