//! **Pure.** Conversion between numbers and values; numbers in results are formatted by Python's
//! rules.
use super::python_number::written;
use touchstone_formats::stabletoolbench::python;
use touchstone_model::value::Value;

/// Returns a number with a fraction, even if that is 0; NaN becomes `NaN`.
pub(super) fn number(value: f64) -> Value {
    Value::Number(if value.is_nan() {
        "NaN".to_owned()
    } else if value.is_infinite() {
        if value > 0.0 { "Infinity" } else { "-Infinity" }.to_owned()
    } else {
        python::float(value)
    })
}

/// Returns an integer.
pub(super) fn from_usize(value: usize) -> Value {
    Value::Number(value.to_string())
}

/// Returns the number that a value holds; `NaN` counts as a number.
pub(super) fn to_f64(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => written(number),
        _ => None,
    }
}

/// Returns whether a value is absent, `null` or `NaN`.
pub(super) fn is_missing(value: Option<&Value>) -> bool {
    match value {
        None | Some(Value::Null) => true,
        Some(value) => to_f64(value).is_some_and(f64::is_nan),
    }
}

/// Returns whether a JSON number is written as an integer: `12` but not `12.0`.
pub(super) fn is_whole(written: &str) -> bool {
    let digits = written.strip_prefix('-').unwrap_or(written);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Rounds to two decimal places, like Python.
pub(super) fn rounded(value: f64) -> f64 {
    format!("{value:.2}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_and_rounded_as_python_does() {
        for (value, written) in [
            (1.0, "1.0"),
            (0.1, "0.1"),
            (1e-7, "1e-07"),
            (1e16, "1e+16"),
            (f64::NAN, "NaN"),
            (f64::NEG_INFINITY, "-Infinity"),
        ] {
            assert_eq!(number(value), Value::Number(written.to_owned()));
        }
        for (value, expected) in
            [(0.625, 0.62), (0.875, 0.88), (0.125, 0.12), (1.0 / 3.0, 0.33), (1.0, 1.0)]
        {
            assert!((rounded(value) - expected).abs() < 1e-15, "{value} {}", rounded(value));
        }
        assert!(is_whole("-12") && !is_whole("12.0") && !is_whole("-") && !is_whole("1e3"));
        assert!(
            is_missing(None)
                && is_missing(Some(&number(f64::NAN)))
                && !is_missing(Some(&Value::from("")))
        );
    }
}
