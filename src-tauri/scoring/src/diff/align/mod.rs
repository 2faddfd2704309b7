//! **Pure.** Aligns two lists: pairs the expected rows with the actual ones.
mod assign;
mod key;
mod measured;
mod order;
mod similarity;

pub(super) use order::{RowPlacement, arrange};

use super::budget::{Budget, steps};
use super::identity::{hash, same};
use super::{Alignment, Options};
use foldhash::{HashMap, HashMapExt as _};
use order::gaps;
use std::panic::resume_unwind;
use std::thread;
use touchstone_model::value::Value;

/// Alignment of two lists.
#[derive(Debug)]
pub(super) struct Aligned {
    /// Index of the actual row for each expected row.
    pub(super) matches: Vec<Option<usize>>,
    /// Method by which the rows were paired.
    pub(super) alignment: Alignment,
}

/// Aligns two lists.
pub(super) fn align(
    expected: &[Value],
    actual: &[Value],
    options: &Options,
    budget: &mut Budget,
) -> Aligned {
    budget.spend(steps(expected.len() + actual.len()) * 8);
    if expected == actual {
        return Aligned {
            matches: (0..expected.len()).map(Some).collect(),
            alignment: Alignment::Value,
        };
    }
    let measured = measured::names(expected, &options.measured);
    if let Some(aligned) = key::align(expected, actual, options, &measured, budget) {
        return aligned;
    }
    let mut matches = equal(expected, actual);
    let by_value = matches.iter().any(Option::is_some);
    let rest = Rest::new(&matches, actual.len());
    let rows = |all: &[Value]| all.iter().any(|one| matches!(one, Value::Map(_) | Value::List(_)));
    let by = similarity::SimilarityOptions { least: similarity::ALIKE, without: &measured };
    let (found, best) =
        similarity::pair((expected, &rest.expected), (actual, &rest.actual), &by, budget);
    for (i, j) in &found {
        matches[*i] = Some(*j);
    }
    let filled = fill(expected, actual, &mut matches, options);
    let alignment = if !found.is_empty() || (by_value && rows(expected)) {
        Alignment::Likeness { best }
    } else if by_value || !filled {
        Alignment::Value
    } else {
        Alignment::Place
    };
    Aligned { matches, alignment }
}

/// Number of rows below which a thread is not worthwhile.
const MANY: usize = 2_000;

/// Runs two closures, in parallel if there are many rows.
fn both<T: Send>(rows: usize, one: impl FnOnce() -> T, other: impl FnOnce() -> T + Send) -> (T, T) {
    if rows < MANY {
        return (one(), other());
    }
    thread::scope(|threads| {
        let other = threads.spawn(other);
        (one(), other.join().unwrap_or_else(|panic| resume_unwind(panic)))
    })
}

/// Pairs equal items: the first with the first, the second with the second.
fn equal(expected: &[Value], actual: &[Value]) -> Vec<Option<usize>> {
    let hashes = |items: &[Value]| items.iter().map(hash).collect::<Vec<_>>();
    let (left, right) = both(expected.len() + actual.len(), || hashes(expected), || hashes(actual));
    // Index of the first item for each hash, and for each item the next one with the same hash.
    let mut places: HashMap<u64, usize> = HashMap::with_capacity(actual.len());
    let mut next: Vec<Option<usize>> = vec![None; actual.len()];
    for (at, hash) in right.into_iter().enumerate().rev() {
        next[at] = places.insert(hash, at);
    }
    expected
        .iter()
        .zip(left)
        .map(|(item, hash)| {
            let first = *places.get(&hash)?;
            same(item, &actual[first]).then(|| {
                match next[first] {
                    Some(next) => places.insert(hash, next),
                    None => places.remove(&hash),
                };
                first
            })
        })
        .collect()
}

/// Pairs the items between the same neighbours on both sides, if there are equally many; if nothing
/// is paired yet, pairs all by position. Returns true if it paired anything.
fn fill(
    expected: &[Value],
    actual: &[Value],
    matches: &mut [Option<usize>],
    options: &Options,
) -> bool {
    let nothing = matches.iter().all(Option::is_none);
    let mut filled = false;
    for (left, right) in gaps(matches, actual.len()) {
        if !nothing && (left.len() != right.len() || options.places_say_nothing) {
            continue;
        }
        for (i, j) in left.into_iter().zip(right) {
            if could_be(&expected[i], &actual[j]) {
                matches[i] = Some(j);
                filled = true;
            }
        }
    }
    filled
}

/// Returns true if one value may be a wrong version of the other: both objects with a common field,
/// both lists, or both neither.
fn could_be(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Map(a), Value::Map(b)) => {
            a.iter().take(100).any(|(key, _)| b.iter().take(100).any(|(other, _)| key == other))
        }
        (Value::List(_), Value::List(_)) => true,
        (Value::Map(_) | Value::List(_), _) | (_, Value::Map(_) | Value::List(_)) => false,
        _ => true,
    }
}

/// Items that are not paired yet.
struct Rest {
    expected: Vec<usize>,
    actual: Vec<usize>,
}

impl Rest {
    fn new(matches: &[Option<usize>], actual: usize) -> Self {
        let mut taken = vec![false; actual];
        for at in matches.iter().flatten() {
            taken[*at] = true;
        }
        let open = |(at, found): (usize, &Option<usize>)| found.is_none().then_some(at);
        Rest {
            expected: matches.iter().enumerate().filter_map(open).collect(),
            actual: (0..actual).filter(|at| !taken[*at]).collect(),
        }
    }
}
