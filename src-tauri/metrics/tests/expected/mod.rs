//! Compares results with numbers computed elsewhere, and counts how close they are.
#![expect(clippy::unwrap_used, reason = "a value that is missing fails the test")]

use touchstone_metrics::text::{Field, Metric, Texts, Thresholds, Weights, outcome};
use touchstone_model::value::Value;

/// Tolerance of scores.
const NEAR: f64 = 1e-9;

/// Counts of equal, nearly equal and different numbers; the latter two with descriptions.
#[derive(Default)]
pub(crate) struct Count {
    exact: usize,
    near: Vec<String>,
    beyond: Vec<String>,
}

/// Parses a number like Python.
pub(crate) fn number(value: &Value) -> f64 {
    match value {
        Value::Number(text) => text.parse().unwrap(),
        other => panic!("{other:?} is not a number"),
    }
}

impl Count {
    /// Compares one number.
    pub(crate) fn number(&mut self, name: impl FnOnce() -> String, ours: f64, theirs: f64) {
        let line = || format!("{}: {ours}, and not {theirs}", name());
        if ours.to_bits() == theirs.to_bits() {
            self.exact += 1;
        } else if (ours - theirs).abs() <= NEAR {
            self.near.push(line());
        } else {
            self.beyond.push(line());
        }
    }

    /// Compares a result: its keys in order, its words, and its numbers, integers or not.
    pub(crate) fn result(&mut self, name: &str, ours: &[(&'static str, Field)], theirs: &Value) {
        let keys: Vec<&str> = theirs.entries().iter().map(|(key, _)| key.text().unwrap()).collect();
        assert_eq!(ours.iter().map(|(key, _)| *key).collect::<Vec<_>>(), keys, "{name}");
        for ((key, ours), (_, theirs)) in ours.iter().zip(theirs.entries()) {
            match *ours {
                Field::Word(word) => assert_eq!(theirs.text(), Some(word), "{name} {key}"),
                Field::Whole(whole) => {
                    assert_eq!(theirs, &Value::Number(whole.to_string()), "{name} {key}");
                }
                Field::Number(ours) => {
                    let fraction =
                        matches!(theirs, Value::Number(text) if text.contains(['.', 'e']));
                    assert!(
                        fraction || key.ends_with("threshold"),
                        "{name} {key}: {theirs:?} has no fraction"
                    );
                    self.number(|| format!("{name} {key}"), ours, number(theirs));
                }
            }
        }
    }

    /// Compares every metric of two texts.
    pub(crate) fn all_metrics<'v>(
        &mut self,
        name: &str,
        texts: &Texts<'_>,
        theirs: &dyn Fn(&str) -> Option<&'v Value>,
    ) {
        for metric in Metric::ALL {
            let ours = outcome(metric, &texts.measure(metric), Thresholds::default());
            self.result(
                &format!("{name} {}", metric.name()),
                &ours,
                theirs(metric.name()).unwrap(),
            );
        }
        let theirs = number(theirs("meteor_exact_stem_only").unwrap());
        self.number(
            || format!("{name} without synonyms"),
            texts.meteor_without_synonyms(Weights::default()),
            theirs,
        );
    }

    /// Prints the counts. Fails when any number is out of tolerance.
    pub(crate) fn done(self, what: &str, cases: usize) {
        let [near, beyond] = [&self.near, &self.beyond].map(Vec::len);
        println!(
            "{what}: {cases} cases; {} numbers are equal, {near} within {NEAR}, {beyond} beyond",
            self.exact
        );
        self.near.iter().for_each(|line| println!("  {line}"));
        assert!(cases > 0 && self.exact > 0);
        assert!(self.beyond.is_empty(), "{}", self.beyond.join("\n"));
    }
}
