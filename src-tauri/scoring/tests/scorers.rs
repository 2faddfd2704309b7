//! Tests of the scorers, on examples, on arbitrary values, and on published runs of a benchmark.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod benchmark;
mod laws;
mod measures;
mod naming;
mod outcomes;
mod queries;
mod rules;

use touchstone_model::value::Value;
use touchstone_model::{json, yaml};
use touchstone_scoring::scorers::{Case, Outcome, Scored, Scorer, read, score};

/// Parses a YAML value.
fn value(text: &str) -> Value {
    yaml::read(text).unwrap()
}

/// Parses a line of a suite that names one scorer.
fn scorer(line: &str) -> Scorer {
    let (mut scorers, warnings) = read(&[value(line)]);
    assert_eq!(warnings, Vec::<String>::new(), "{line}");
    assert_eq!(scorers.len(), 1, "{line}");
    scorers.remove(0)
}

/// Returns the score of an answer; both values are YAML.
fn scored(line: &str, expected: &str, answer: &str) -> Scored {
    let (expected, answer) = (value(expected), value(answer));
    let case = Case { expected: Some(&expected), answer: Some(&answer), ..Case::default() };
    match score(&scorer(line), &case) {
        Outcome::Scored(found) => found,
        other => panic!("{line}: {other:?}"),
    }
}

/// Formats a score: `0.75 failed: reason`.
fn format_score(scored: &Scored) -> String {
    let verdict = match scored.passed {
        Some(true) => "passed",
        Some(false) => "failed",
        None => "unjudged",
    };
    let score = scored.score.map_or_else(|| "–".to_owned(), |score| format!("{score:.4}"));
    format!("{score} {verdict}: {}", scored.reason)
}

/// Parses the rows of a JSON Lines file.
fn rows(text: &str) -> Vec<Value> {
    text.lines().map(|line| json::read(line).unwrap()).collect()
}

fn float(value: &Value) -> f64 {
    match value {
        Value::Number(text) => text.parse().unwrap(),
        other => panic!("{other:?} is not a number"),
    }
}
