//! **Pure.** `kendall_tau`: agreement of the order of a list with the expected order, computed like
//! the published benchmark.
use super::items::{Item, Lists, in_order};
use super::scorer::{Items, Scorer};
use super::words::{count, decimals, few, float, share};
use super::{Case, Outcome, Scored};
use std::collections::{HashMap, HashSet};

/// Cost of each missing and each extra item.
const COST: f64 = 0.2;
/// Scores above this count as 1.
const NEARLY: f64 = 0.999;

/// Scores `max(0, τ-b)`, less 0.2 for each missing and each extra item, clamped to 0 to 1, and 1
/// above 0.999.
///
/// Only common items are ranked. A duplicate item counts once, at its last position. With fewer
/// than two common items τ is undefined and counts as 0, unless both lists have the same items: a
/// correct list of one item is right.
pub(super) fn score(scorer: &Scorer, case: &Case<'_>, items: &Items) -> Outcome {
    let lists = match Lists::new(scorer.name(), case, items) {
        Ok(lists) => lists,
        Err(outcome) => return outcome,
    };
    let (expected, answer) = (last_places(&lists.expected), last_places(&lists.answer));
    let missing = without(&lists.expected, &answer);
    let extra = without(&lists.answer, &expected);
    let mut common: Vec<(usize, usize)> =
        expected.iter().filter_map(|(id, place)| Some((*place, *answer.get(id)?))).collect();
    common.sort_unstable();
    let ranks: Vec<usize> = common.into_iter().map(|(_, place)| place).collect();
    let tau = tau(&ranks);
    let same = missing.is_empty() && extra.is_empty();
    let order = tau.unwrap_or(if same { 1.0 } else { 0.0 });
    let score =
        (order.max(0.0) - float(missing.len()) * COST - float(extra.len()) * COST).clamp(0.0, 1.0);
    let score = if score > NEARLY { 1.0 } else { score };
    let right = in_order(ranks.iter().copied());
    let mut parts = vec![match (expected.len(), answer.len()) {
        (0, 0) => "an empty list, as expected".to_owned(),
        (0, _) => "an empty list was expected".to_owned(),
        (whole, _) => format!("{} in order", share(right, whole, "item")),
    }];
    for (items, what) in [(&missing, "missing"), (&extra, "extra")] {
        if !items.is_empty() {
            parts.push(format!(
                "{} {what} ({})",
                items.len(),
                few(items.iter().map(|item| item.value))
            ));
        }
    }
    let repeated = lists.answer.len() - answer.len();
    if repeated > 0 {
        parts.push(format!("{} more than once", count(repeated, "item")));
    }
    if let Some(tau) = tau.filter(|_| right < ranks.len()) {
        parts.push(format!("τ = {}", decimals(tau, 2)));
    }
    let verdict = Scored::new(
        score,
        scorer.passes(score, score >= 1.0),
        parts.join(", ") + &lists.doubt(ranks.len()),
    )
    .with("tau", tau.map_or_else(|| "–".to_owned(), |tau| decimals(tau, 4)))
    .with("in order", format!("{right} of {}", expected.len()))
    .with("missing", missing.len().to_string())
    .with("extra", extra.len().to_string());
    Outcome::Scored(verdict)
}

/// Returns the last position of each item.
fn last_places<'i>(items: &'i [Item<'_>]) -> HashMap<&'i str, usize> {
    items.iter().enumerate().map(|(place, item)| (item.id.as_str(), place)).collect()
}

/// Returns the items that are not among others, each once.
fn without<'i, 'v>(items: &'i [Item<'v>], others: &HashMap<&str, usize>) -> Vec<&'i Item<'v>> {
    let mut seen = HashSet::new();
    items
        .iter()
        .filter(|item| !others.contains_key(&*item.id) && seen.insert(item.id.as_str()))
        .collect()
}

/// Returns Kendall's τ-b of distinct ranks against their order; `None` for fewer than two.
fn tau(ranks: &[usize]) -> Option<f64> {
    let pairs = ranks.len() * ranks.len().saturating_sub(1) / 2;
    if pairs == 0 {
        return None;
    }
    let mut sorted = ranks.to_vec();
    let discordant = inversions(&mut sorted, &mut Vec::new());
    let surplus = float(pairs - discordant) - float(discordant);
    // Divided in two steps like scipy, so that even the last digit is equal.
    let root = float(pairs).sqrt();
    Some((surplus / root / root).clamp(-1.0, 1.0))
}

/// Sorts the ranks and returns the number of inversions.
fn inversions(ranks: &mut [usize], spare: &mut Vec<usize>) -> usize {
    if ranks.len() < 2 {
        return 0;
    }
    let (left, right) = ranks.split_at_mut(ranks.len() / 2);
    let mut found = inversions(left, spare) + inversions(right, spare);
    spare.clear();
    let (mut left, mut right) = (left.iter().peekable(), right.iter().peekable());
    while let (Some(a), Some(b)) = (left.peek(), right.peek()) {
        if a <= b {
            spare.extend(left.next());
        } else {
            found += left.len();
            spare.extend(right.next());
        }
    }
    spare.extend(left.chain(right));
    ranks.copy_from_slice(spare);
    found
}
