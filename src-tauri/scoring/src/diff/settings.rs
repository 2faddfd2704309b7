//! **Pure.** How suites say what counts as a difference: `scorers: [fields: {key: ticket_id, tolerance: 0.01}]`.
use super::{Dates, ExtraFields, Options, Tolerance};
use touchstone_formats::value::Value;

/// The scorer whose settings these are.
const SCORER: &str = "fields";

impl Options {
    /// The options of a suite: those of its first `fields` scorer, and the key it names elsewhere when that one has none. What cannot
    /// be understood is left out; the scorer complains of it.
    pub fn of_suite(scorers: &[Value], artifact_key: Option<&str>) -> Self {
        let settings = scorers.iter().find_map(|scorer| scorer.get(SCORER));
        let mut options = settings.and_then(|settings| Self::read(settings).ok()).unwrap_or_default();
        if options.key.is_none() {
            options.key = artifact_key.map(|key| vec![key.to_owned()]);
        }
        options
    }

    /// The options that settings stand for; a sentence when they make no sense.
    pub fn read(settings: &Value) -> Result<Self, String> {
        let mut options = Options::default();
        for (key, value) in settings.entries() {
            let Some(name) = key.text() else {
                return Err("The settings of `fields` have a key that is no text.".to_owned());
            };
            match name {
                "key" => options.key = Some(names(value).ok_or("`key` is the name of a field, or a list of names.")?),
                "ignore" => {
                    options.ignore = names(value).ok_or("`ignore` is the name of a field, or a list of names.")?;
                }
                "tolerance" => options.tolerance = Some(tolerance(value)?),
                "ignore_order" => {
                    options.ignore_order = truth(value).ok_or("`ignore_order` is true or false.")?;
                }
                "extra_fields" => {
                    options.extra_fields = match value.text() {
                        Some("wrong") => ExtraFields::Wrong,
                        Some("allowed") => ExtraFields::Allowed,
                        _ => return Err("`extra_fields` is `wrong` or `allowed`.".to_owned()),
                    }
                }
                "dates" => {
                    options.dates = match value.text() {
                        Some("by_meaning") => Dates::ByMeaning,
                        Some("as_written") => Dates::AsWritten,
                        _ => return Err("`dates` is `by_meaning` or `as_written`.".to_owned()),
                    }
                }
                _ => {}
            }
        }
        Ok(options)
    }
}

fn names(value: &Value) -> Option<Vec<String>> {
    let all = match value {
        Value::List(items) => items.iter().map(|item| item.text().map(str::to_owned)).collect::<Option<Vec<_>>>()?,
        value => vec![value.text()?.to_owned()],
    };
    (!all.is_empty()).then_some(all)
}

fn truth(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(bool) => Some(*bool),
        _ => None,
    }
}

/// A number is an absolute one; `1%` and `{relative: 0.01}` are shares of the expected number.
fn tolerance(value: &Value) -> Result<Tolerance, String> {
    const WRONG: &str = "`tolerance` is a number, a share such as 1%, or {absolute: …, relative: …}.";
    let number = |value: &Value| match value {
        Value::Number(text) => text.parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0),
        _ => None,
    };
    match value {
        Value::Map(entries) => {
            let mut tolerance = Tolerance::default();
            for (key, value) in entries {
                let side = match key.text() {
                    Some("absolute") => &mut tolerance.absolute,
                    Some("relative") => &mut tolerance.relative,
                    _ => return Err(WRONG.to_owned()),
                };
                *side = Some(number(value).ok_or(WRONG)?);
            }
            Ok(tolerance)
        }
        Value::Text(text) => text.parse(),
        value => Ok(Tolerance { absolute: Some(number(value).ok_or(WRONG)?), relative: None }),
    }
}

impl std::str::FromStr for Tolerance {
    type Err = String;

    /// As it is typed: `0.5` is absolute, `1%` is a share of the expected number.
    fn from_str(text: &str) -> Result<Self, String> {
        let (digits, share) =
            text.trim().strip_suffix('%').map_or((text.trim(), false), |digits| (digits.trim_end(), true));
        let number: f64 =
            digits.parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0).ok_or_else(|| {
                format!("`{text}` is no tolerance: write a number such as 0.5, or a share such as 1%.")
            })?;
        let (absolute, relative) = if share { (None, Some(number / 100.0)) } else { (Some(number), None) };
        Ok(Tolerance { absolute, relative })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use touchstone_formats::yaml;

    fn of(scorers: &str, key: Option<&str>) -> Options {
        Options::of_suite(yaml::read(scorers).unwrap().items(), key)
    }

    #[test]
    fn a_suite_says_what_counts() {
        let absolute = |number| Some(Tolerance { absolute: Some(number), relative: None });
        let key = |names: &[&str]| Some(names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
        assert_eq!(of("[exact]", None), Options::default());
        assert_eq!(of("[]", Some("id")).key, key(&["id"]));
        assert_eq!(of("[exact, fields: {key: ticket_id}]", Some("id")).key, key(&["ticket_id"]));
        assert_eq!(of("[fields: {key: [a, b], tolerance: 0.5}]", None).key, key(&["a", "b"]));
        assert_eq!(of("[fields: {tolerance: 0.5}]", None).tolerance, absolute(0.5));
        let share = Some(Tolerance { absolute: None, relative: Some(0.01) });
        assert_eq!(of("[fields: {tolerance: 1%}]", None).tolerance, share);
        assert_eq!(of("[fields: {tolerance: {relative: 0.01}}]", None).tolerance, share);
        let all =
            of("[fields: {ignore: [at, by], ignore_order: true, extra_fields: allowed, dates: as_written}]", None);
        assert_eq!(all.ignore, ["at", "by"]);
        assert!(all.ignore_order && all.extra_fields == ExtraFields::Allowed && all.dates == Dates::AsWritten);
    }

    #[test]
    fn what_makes_no_sense_is_said() {
        for settings in
            ["key: 1", "key: []", "tolerance: -1", "tolerance: x", "tolerance: {a: 1}", "ignore_order: 1", "dates: no"]
        {
            let error = Options::read(&yaml::read(settings).unwrap()).unwrap_err();
            assert!(error.ends_with('.') && error.contains('`'), "{settings}: {error}");
        }
        assert_eq!("1 %".parse(), Ok(Tolerance { absolute: None, relative: Some(0.01) }));
        assert!("nan".parse::<Tolerance>().is_err() && "-1%".parse::<Tolerance>().is_err());
    }
}
