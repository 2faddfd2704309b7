//! **Pure.** `tool_calls` and `api_calls`: checks that the expected tools were called. Based on
//! actions, so they score runs without an answer too. A failed call counts as made.
use super::items::in_order;
use super::read::list;
use super::scorer::Scorer;
use super::words::{float, ratio, share};
use super::{Case, Outcome, Scored};
use std::collections::HashSet;

/// Maximum number of names in a sentence.
const MOST: usize = 5;

/// Returns the share of the expected tools that were called; each counts once, however often it is
/// expected or called.
pub(super) fn score(scorer: &Scorer, case: &Case<'_>, noun: &str) -> Outcome {
    let expected = once(case.expected_calls.iter().map(String::as_str));
    if expected.is_empty() {
        return Outcome::NoExpected("No calls are expected.".to_owned());
    }
    let called = once(case.calls.iter().map(|(name, _)| name.as_str()));
    let missing: Vec<&str> =
        expected.iter().copied().filter(|name| !called.contains(name)).collect();
    let right = expected.len() - missing.len();
    let failed = case.calls.iter().filter(|(_, failed)| *failed).count();
    let mut parts = vec![format!("{} called", share(right, expected.len(), noun))];
    let all = missing.is_empty();
    if !all {
        let names = if missing.len() > MOST {
            let first: Vec<String> =
                missing.iter().take(MOST).map(|name| format!("`{name}`")).collect();
            format!("{} and {} more", first.join(", "), missing.len() - MOST)
        } else {
            list(missing)
        };
        parts.push(format!("never called: {names}"));
    }
    if failed > 0 {
        parts.push(format!("{failed} of {} calls failed", case.calls.len()));
    }
    let first = |name: &&str| called.iter().position(|other| other == name);
    let kept = in_order(expected.iter().filter_map(first));
    let score = float(right) / float(expected.len());
    let verdict = Scored::new(score, scorer.passes(score, all), parts.join(", "))
        .with("called", format!("{right} of {}", expected.len()))
        .with("precision", ratio(right, called.len()))
        .with(
            "order",
            if right < 2 {
                "–".to_owned()
            } else {
                format!("{kept} of {right} in the expected order")
            },
        )
        .with("calls", case.calls.len().to_string())
        .with("failed", failed.to_string());
    Outcome::Scored(verdict)
}

/// Returns each name once, in the order of first occurrence.
fn once<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut seen = HashSet::new();
    names.filter(|name| seen.insert(*name)).collect()
}
