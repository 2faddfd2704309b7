//! **Pure.** How a score is written, the same wherever people read it.

/// `0.87`: halves are rounded up, as on screen, and nothing is 1 or 0 that is not.
pub fn score(value: f64) -> String {
    match places(value).as_str() {
        "1.00" if value < 1.0 => ">0.99".to_owned(),
        "0.00" if value > 0.0 => "<0.01".to_owned(),
        text => text.to_owned(),
    }
}

/// Two places, with halves rounded up: the end of an interval.
pub fn places(value: f64) -> String {
    // Halves of a hundredth that a number can hold are eighths.
    let half = if (value * 8.0).fract() == 0.0 { 1e-9 } else { 0.0 };
    format!("{:.2}", value + half)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_rounded_up_and_nothing_is_whole_that_is_not() {
        let scores = [0.625, 0.125, 0.615, 0.5, 1.0, 0.0, 0.9951, 0.0049, 0.999_999_9].map(score);
        assert_eq!(scores, ["0.63", "0.13", "0.61", "0.50", "1.00", "0.00", ">0.99", "<0.01", ">0.99"]);
        assert_eq!([0.9951, 0.375, 0.0].map(places), ["1.00", "0.38", "0.00"]);
    }
}
