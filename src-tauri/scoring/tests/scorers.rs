//! Rules of the scorers, tried on examples, on any values, and on the published runs of a
//! benchmark.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "scorers/benchmark.rs"]
mod benchmark;
#[path = "scorers/laws.rs"]
mod laws;
#[path = "scorers/measures.rs"]
mod measures;
#[path = "scorers/naming.rs"]
mod naming;
#[path = "scorers/outcomes.rs"]
mod outcomes;
#[path = "scorers/queries.rs"]
mod queries;
#[path = "scorers/rules.rs"]
mod rules;

use touchstone_formats::value::Value;
use touchstone_formats::{json, yaml};
use touchstone_scoring::scorers::{Case, Outcome, Scored, Scorer, read, score};

/// A value as YAML.
fn value(text: &str) -> Value {
    yaml::read(text).unwrap()
}

/// The one scorer that a line of a suite names.
fn scorer(line: &str) -> Scorer {
    let (mut scorers, warnings) = read(&[value(line)]);
    assert_eq!(warnings, Vec::<String>::new(), "{line}");
    assert_eq!(scorers.len(), 1, "{line}");
    scorers.remove(0)
}

/// What a scorer says of an answer, both as YAML.
fn scored(line: &str, expected: &str, answer: &str) -> Scored {
    let (expected, answer) = (value(expected), value(answer));
    let case = Case { expected: Some(&expected), answer: Some(&answer), ..Case::default() };
    match score(&scorer(line), &case) {
        Outcome::Scored(found) => found,
        other => panic!("{line}: {other:?}"),
    }
}

/// `0.75 failed: reason`
fn told(scored: &Scored) -> String {
    let verdict = match scored.passed {
        Some(true) => "passed",
        Some(false) => "failed",
        None => "unjudged",
    };
    let score = scored.score.map_or_else(|| "–".to_owned(), |score| format!("{score:.4}"));
    format!("{score} {verdict}: {}", scored.reason)
}

/// Rows of a file with a JSON object a line.
fn rows(text: &str) -> Vec<Value> {
    text.lines().map(|line| json::read(line).unwrap()).collect()
}

fn float(value: &Value) -> f64 {
    match value {
        Value::Number(text) => text.parse().unwrap(),
        other => panic!("{other:?} is no number"),
    }
}
