//! **Pure.** Parses tolerances.
use super::Tolerance;
use touchstone_model::value::Value;

impl Tolerance {
    /// Parses a tolerance: a number is absolute; `1%` and `{relative: 0.01}` are shares of the
    /// expected number. `None` for anything else.
    pub(crate) fn read(value: &Value) -> Option<Self> {
        match value {
            Value::Map(entries) => {
                let mut tolerance = Tolerance::default();
                for (key, value) in entries {
                    let side = match key.text()? {
                        "absolute" => &mut tolerance.absolute,
                        "relative" => &mut tolerance.relative,
                        _ => return None,
                    };
                    *side = Some(number(value)?);
                }
                Some(tolerance)
            }
            Value::Text(text) => text.parse().ok(),
            value => Some(Tolerance { absolute: Some(number(value)?), relative: None }),
        }
    }
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(text) => {
            text.parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0)
        }
        _ => None,
    }
}

impl std::str::FromStr for Tolerance {
    type Err = String;

    /// Parses a tolerance from the command line: `0.5` is absolute, `1%` is a share of the expected
    /// number.
    fn from_str(text: &str) -> Result<Self, String> {
        let (digits, share) = text
            .trim()
            .strip_suffix('%')
            .map_or((text.trim(), false), |digits| (digits.trim_end(), true));
        let number: f64 = digits
            .parse()
            .ok()
            .filter(|number: &f64| number.is_finite() && *number >= 0.0)
            .ok_or_else(|| {
                format!(
                    "`{text}` is not a tolerance: write a number such as 0.5, or a share such as 1%."
                )
            })?;
        let (absolute, relative) =
            if share { (None, Some(number / 100.0)) } else { (Some(number), None) };
        Ok(Tolerance { absolute, relative })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use touchstone_model::yaml;

    #[test]
    fn a_tolerance_is_a_number_or_a_share_of_one() {
        let read = |text: &str| Tolerance::read(&yaml::read(text).unwrap());
        let absolute = Tolerance { absolute: Some(0.5), relative: None };
        let relative = Tolerance { absolute: None, relative: Some(0.01) };
        for (text, tolerance) in [
            ("0.5", Some(absolute)),
            ("'0.5'", Some(absolute)),
            ("1%", Some(relative)),
            ("1 %", Some(relative)),
            ("{relative: 0.01}", Some(relative)),
            (
                "{relative: 0.01, absolute: 0.5}",
                Some(Tolerance { absolute: Some(0.5), relative: Some(0.01) }),
            ),
            ("-1", None),
            ("x", None),
            ("nan", None),
            ("-1%", None),
            ("{a: 1}", None),
            ("[1]", None),
        ] {
            assert_eq!(read(text), tolerance, "{text}");
        }
        assert!("nan".parse::<Tolerance>().unwrap_err().ends_with('.'));
    }
}
