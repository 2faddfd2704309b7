//! **Pure.** Parses the options after the name of a scorer.
use crate::diff::Tolerance;
use touchstone_judges::Scale;
use touchstone_model::value::Value;

/// Aliases of options: names in the graders that the rules come from, and plurals.
const ALSO: [(&str, &str); 6] = [
    ("op", "operation"),
    ("fields", "field"),
    ("keys", "key"),
    ("evaluation_metric", "metric"),
    ("pass_threshold", "threshold"),
    ("order", "ordered"),
];

/// Options of a scorer in a suite.
pub(super) struct ScorerOptions<'a> {
    rule: &'static str,
    options: Vec<(&'a str, &'a Value)>,
}

impl<'a> ScorerOptions<'a> {
    /// Collects the options from the word after a colon and from the YAML value after the name: a
    /// word, a number, or a map.
    pub(super) fn new(
        rule: &'static str,
        (for_word, for_number): (&'static str, &'static str),
        word: Option<&'a Value>,
        options: Option<&'a Value>,
    ) -> Result<Self, String> {
        let mut given = Self { rule, options: Vec::new() };
        for value in word.into_iter().chain(options) {
            let bare = match value {
                Value::Map(entries) => {
                    for (name, value) in entries {
                        let name = name
                            .text()
                            .ok_or_else(|| format!("An option of `{rule}` has to be a text."))?;
                        let name = ALSO
                            .iter()
                            .find(|(other, _)| *other == name)
                            .map_or(name, |(_, name)| name);
                        given.options.push((name, value));
                    }
                    continue;
                }
                Value::Number(_) => for_number,
                Value::Text(text) if for_word.is_empty() || text.trim().ends_with('%') => {
                    for_number
                }
                _ => for_word,
            };
            if bare.is_empty() {
                return Err(format!(
                    "`{rule}` does not take `{}`, so it is left out.",
                    format_value(value)
                ));
            }
            given.options.push((bare, value));
        }
        given.options.retain(|(_, value)| **value != Value::Null);
        given.options.sort_by_key(|(name, _)| *name);
        if let Some(twice) = given.options.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            return Err(format!(
                "`{}` of `{rule}` is there twice, so it is left out. Keep one of them.",
                twice[0].0
            ));
        }
        Ok(given)
    }

    /// Returns the name of the rule.
    pub(super) fn rule(&self) -> String {
        self.rule.to_owned()
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &'a str> {
        self.options.iter().map(|(name, _)| *name)
    }

    /// Returns the known options as owned values.
    pub(super) fn into_options(self, known: impl Fn(&str) -> bool) -> Vec<(String, Value)> {
        let kept = self.options.into_iter().filter(|(name, _)| *name == "threshold" || known(name));
        kept.map(|(name, value)| (name.to_owned(), value.clone())).collect()
    }

    /// Returns an option unparsed.
    pub(super) fn get(&self, name: &str) -> Option<&'a Value> {
        self.options.iter().find(|(other, _)| *other == name).map(|(_, value)| *value)
    }

    /// Returns an option that must be a single word.
    pub(super) fn word(&self, name: &str) -> Result<Option<String>, String> {
        self.get(name)
            .map(|value| {
                word(value).ok_or_else(|| self.bad(name, &format_value(value), "Write one word."))
            })
            .transpose()
    }

    /// Returns an option that is a word or a list of words.
    pub(super) fn words(&self, name: &str) -> Result<Vec<String>, String> {
        let Some(value) = self.get(name) else { return Ok(Vec::new()) };
        let bad = || self.bad(name, &format_value(value), "Write a word, or several as `[a, b]`.");
        match value {
            Value::List(items) => items.iter().map(|item| word(item).ok_or_else(bad)).collect(),
            one => Ok(vec![word(one).ok_or_else(bad)?]),
        }
    }

    /// Returns a boolean option; absent is false.
    pub(super) fn flag(&self, name: &str) -> Result<bool, String> {
        match self.get(name) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(other) => Err(self.bad(name, &format_value(other), "Write `true` or `false`.")),
        }
    }

    /// Returns a non-negative number, and true if it was a percentage and is therefore a share.
    pub(super) fn distance(&self, name: &str) -> Result<(Option<f64>, bool), String> {
        let Some(value) = self.get(name) else { return Ok((None, false)) };
        let text = word(value).unwrap_or_default();
        let (number, percent) = match text.strip_suffix('%') {
            Some(number) => (number.trim_end().parse().map(|number: f64| number / 100.0), true),
            None => (text.parse(), false),
        };
        match number {
            Ok(number) if number.is_finite() && number >= 0.0 => Ok((Some(number), percent)),
            _ => Err(self.bad(
                name,
                &format_value(value),
                "Write a number from 0, or a percentage such as `1%`.",
            )),
        }
    }

    /// Returns a tolerance for numbers.
    pub(super) fn tolerance(&self, name: &str) -> Result<Option<Tolerance>, String> {
        let Some(value) = self.get(name) else { return Ok(None) };
        let advice = "Write a number from 0, a share such as `1%`, or both as `{ absolute: 0.5, relative: 0.01 }`.";
        Tolerance::read(value).map(Some).ok_or_else(|| self.bad(name, &format_value(value), advice))
    }

    /// Returns a non-negative whole number.
    pub(super) fn whole_number(&self, name: &str) -> Result<Option<u32>, String> {
        let Some(value) = self.get(name) else { return Ok(None) };
        let number = word(value).and_then(|text| text.parse().ok());
        number
            .map(Some)
            .ok_or_else(|| self.bad(name, &format_value(value), "Write a whole number from 0."))
    }

    /// Returns a number from 0 to 1.
    pub(super) fn share(&self, name: &str) -> Result<Option<f64>, String> {
        let Some(value) = self.get(name) else { return Ok(None) };
        let number = word(value)
            .and_then(|text| text.parse().ok())
            .filter(|share| (0.0..=1.0).contains(share));
        number
            .map(Some)
            .ok_or_else(|| self.bad(name, &format_value(value), "Write a number from 0 to 1."))
    }

    /// Returns the threshold as a score from 0 to 1, converted from the scale of a judge that has
    /// its own.
    pub(super) fn threshold(&self, scale: Option<Scale>) -> Result<Option<f64>, String> {
        let Some((scale, (worst, best))) = scale.and_then(|scale| Some((scale, scale.ends()?)))
        else {
            return self.share("threshold");
        };
        let Some(value) = self.get("threshold") else { return Ok(None) };
        let number =
            word(value).and_then(|text| text.parse().ok()).and_then(|own| scale.to_score(own));
        let advice = format!("Write a number from {} to {}.", worst.min(best), worst.max(best));
        number.map(Some).ok_or_else(|| self.bad("threshold", &format_value(value), &advice))
    }

    /// Returns the message for a value that cannot be parsed.
    pub(super) fn bad(&self, name: &str, value: &str, advice: &str) -> String {
        format!(
            "`{name}: {value}` of `{}` cannot be read, so the scorer is left out. {advice}",
            self.rule
        )
    }
}

fn word(value: &Value) -> Option<String> {
    match value {
        Value::Text(text) => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
        Value::Number(text) => Some(text.clone()),
        _ => None,
    }
}

/// Formats a value for a message.
fn format_value(value: &Value) -> String {
    let text = word(value).unwrap_or_else(|| touchstone_model::json::write(value, false));
    if text.chars().count() > 40 { text.chars().take(40).chain(['…']).collect() } else { text }
}
