//! **Pure.** `prefix_list` and `similar_list`: ordered lists, compared position by position.
use super::items::Lists;
use super::scorer::{Items, Scorer};
use super::words::{count, decimals, few, float, share};
use super::{Case, Outcome, Scored};
use std::collections::HashSet;
use touchstone_model::value::Value;

/// Scores the share of the expected list that is right from the beginning up to the first wrong
/// item. Items beyond the end of the expected list cost nothing. If an empty list is expected, only
/// an empty list is right.
pub(super) fn prefix(scorer: &Scorer, case: &Case<'_>, items: &Items) -> Outcome {
    let lists = match Lists::new(scorer.name(), case, items) {
        Ok(lists) => lists,
        Err(outcome) => return outcome,
    };
    let (whole, given) = (lists.expected.len(), lists.answer.len());
    let right = lists.expected.iter().zip(&lists.answer).take_while(|(a, b)| a.id == b.id).count();
    let score = match (whole, given) {
        (0, 0) => 1.0,
        (0, _) => 0.0,
        _ => float(right) / float(whole),
    };
    let mut parts = vec![match (whole, given) {
        (0, 0) => "an empty list, as expected".to_owned(),
        (0, _) => "an empty list was expected".to_owned(),
        _ if right == whole => format!("{} right from the beginning", share(right, whole, "item")),
        _ if right == 0 => "the first item is wrong".to_owned(),
        _ => format!("the first {right} of {whole} right"),
    }];
    match (lists.expected.get(right), lists.answer.get(right)) {
        (Some(a), Some(b)) => {
            parts.push(format!("then {} was expected and {} came", few([a.value]), few([b.value])));
        }
        (Some(a), None) => {
            parts.push(format!("then the list ends where {} was expected", few([a.value])));
        }
        (None, Some(_)) if whole > 0 => {
            parts.push(format!("{} after it", count(given - whole, "item")));
        }
        _ => {}
    }
    let common = lists.pairs().iter().flatten().count();
    let verdict = Scored::new(
        score,
        scorer.passes(score, score >= 1.0),
        parts.join(", ") + &lists.doubt(common),
    )
    .with("right", format!("{right} of {whole}"))
    .with("given", given.to_string());
    Outcome::Scored(verdict)
}

/// Scores the mean over expected and extra items. An item counts 1, less `1 / (cutoff + 1)` for
/// each position that it is off, so that an item more than `cutoff` positions off counts 0. Missing
/// and extra items count 0.
pub(super) fn similar(scorer: &Scorer, case: &Case<'_>, items: &Items, cutoff: u32) -> Outcome {
    let lists = match Lists::new(scorer.name(), case, items) {
        Ok(lists) => lists,
        Err(outcome) => return outcome,
    };
    let pairs = lists.pairs();
    let step = f64::from(cutoff) + 1.0;
    let off: Vec<usize> =
        pairs.iter().enumerate().filter_map(|(at, to)| Some(at.abs_diff((*to)?))).collect();
    let points = off.iter().fold(0.0, |sum, off| sum + (1.0 - float(*off) / step).max(0.0));
    let (whole, given, common) = (lists.expected.len(), lists.answer.len(), off.len());
    let extra = given - common;
    let score =
        if whole + extra == 0 { 1.0 } else { (points / float(whole + extra)).clamp(0.0, 1.0) };
    let right = off.iter().filter(|off| **off == 0).count();
    let displaced = common - right;
    let mut parts = vec![match (whole, given) {
        (0, 0) => "an empty list, as expected".to_owned(),
        (0, _) => "an empty list was expected".to_owned(),
        _ => format!("{} in place", share(right, whole, "item")),
    }];
    if displaced > 0 {
        let mean = decimals(float(off.iter().sum()) / float(displaced), 1);
        let far = off.iter().filter(|off| float(**off) >= step).count();
        let beyond =
            if far > 0 { format!(" ({far} by more than {cutoff})") } else { String::new() };
        parts.push(format!("{displaced} displaced by {mean} on average{beyond}"));
    }
    let missing: Vec<&Value> = lists
        .expected
        .iter()
        .zip(&pairs)
        .filter(|(_, to)| to.is_none())
        .map(|(item, _)| item.value)
        .collect();
    if !missing.is_empty() {
        parts.push(format!("{} missing ({})", missing.len(), few(missing.iter().copied())));
    }
    if extra > 0 {
        let taken: HashSet<usize> = pairs.iter().flatten().copied().collect();
        let others = lists
            .answer
            .iter()
            .enumerate()
            .filter(|(at, _)| !taken.contains(at))
            .map(|(_, item)| item.value);
        parts.push(format!("{extra} extra ({})", few(others)));
    }
    let verdict = Scored::new(
        score,
        scorer.passes(score, right == whole && extra == 0),
        parts.join(", ") + &lists.doubt(common),
    )
    .with("in place", format!("{right} of {whole}"))
    .with("displaced", displaced.to_string())
    .with("missing", missing.len().to_string())
    .with("extra", extra.to_string());
    Outcome::Scored(verdict)
}
