//! **Pure.** Aligns rows by key: infers the fields that identify rows, and pairs the rows by them.
use super::{Aligned, Rest, similarity};
use crate::diff::budget::{Budget, steps};
use crate::diff::identity::{Identity, hasher, is_whole, same};
use crate::diff::{Alignment, Options};
use foldhash::{HashMap, HashMapExt as _, HashSet, HashSetExt as _};
use std::collections::VecDeque;
use std::hash::{Hash as _, Hasher as _};
use touchstone_model::value::Value;

/// Maximum number of fields in an inferred key, and of fields that are considered for it.
const TOGETHER: usize = 3;
const TRIED: usize = 8;
/// Length of a text beyond which it cannot identify a row.
const LONGEST: usize = 200;
/// Number of rows that are checked first, before all rows are.
const FIRST: usize = 8;
/// Maximum number of rows with the same key among which equal ones are paired first.
const TWINS: usize = 64;

/// Aligns two lists of objects by key; `None` if they have none. `measured` are the fields that are
/// compared as numbers, which never identify a row.
pub(super) fn align(
    expected: &[Value],
    actual: &[Value],
    options: &Options,
    measured: &[&str],
    budget: &mut Budget,
) -> Option<Aligned> {
    let objects =
        |rows: &[Value]| !rows.is_empty() && rows.iter().all(|row| matches!(row, Value::Map(_)));
    if !objects(expected) || !objects(actual) {
        return None;
    }
    if let Some(fields) = options.key.as_ref().filter(|fields| !fields.is_empty()) {
        let keys = (keys(expected, fields), keys(actual, fields));
        if keys.0.iter().any(Option::is_some) && keys.1.iter().any(Option::is_some) {
            let alignment = Alignment::Key { fields: fields.clone(), inferred: false };
            return Some(Aligned {
                matches: by_key(expected, actual, keys, measured, budget),
                alignment,
            });
        }
    }
    let fields = infer(expected, actual, measured, budget)?;
    let alignment = Alignment::Key { fields: fields.clone(), inferred: true };
    let keys = (keys(expected, &fields), keys(actual, &fields));
    let mut matches = by_key(expected, actual, keys, measured, budget);
    if !fields.iter().all(|field| is_id(field)) {
        // A name may itself be wrong; an id may not, because another id means another row.
        let rest = Rest::new(&matches, actual.len());
        let by = similarity::SimilarityOptions { least: similarity::VERY_ALIKE, without: measured };
        for (i, j) in
            similarity::pair((expected, &rest.expected), (actual, &rest.actual), &by, budget).0
        {
            matches[i] = Some(j);
        }
    }
    Some(Aligned { matches, alignment })
}

type Key<'a> = Option<Vec<Identity<'a>>>;

/// Returns the key of each row; `None` for rows without one.
fn keys<'a>(rows: &'a [Value], fields: &[String]) -> Vec<Key<'a>> {
    let columns: Vec<Vec<Option<Identity<'a>>>> =
        fields.iter().map(|field| column(rows, field)).collect();
    (0..rows.len()).map(|row| columns.iter().map(|column| column[row].clone()).collect()).collect()
}

/// Returns a field of each row; `None` where it is absent, null, or a list or object.
fn column<'a>(rows: &'a [Value], field: &str) -> Vec<Option<Identity<'a>>> {
    let mut place = 0;
    let mut value = |row: &'a Value| {
        let entries = row.entries();
        let is_it = |(key, _): &(Value, Value)| key.text() == Some(field);
        // Fields are nearly always at the same position.
        let at = if entries.get(place).is_some_and(is_it) {
            place
        } else {
            entries.iter().position(is_it)?
        };
        place = at;
        Identity::from_value(&entries[at].1).filter(|identity| *identity != Identity::Null)
    };
    rows.iter().map(&mut value).collect()
}

fn by_key(
    expected: &[Value],
    actual: &[Value],
    (left, right): (Vec<Key<'_>>, Vec<Key<'_>>),
    measured: &[&str],
    budget: &mut Budget,
) -> Vec<Option<usize>> {
    let mut places: HashMap<&[Identity<'_>], VecDeque<usize>> =
        HashMap::with_capacity(actual.len());
    for (at, key) in right.iter().enumerate() {
        if let Some(key) = key {
            places.entry(key).or_default().push_back(at);
        }
    }
    let mut matches: Vec<Option<usize>> = vec![None; expected.len()];
    // Among rows that share a key on either side, equal ones are paired first.
    let mut seen: HashSet<&[Identity<'_>]> = HashSet::with_capacity(left.len());
    if places.values().any(|twins| twins.len() > 1)
        || left.iter().flatten().any(|key| !seen.insert(key))
    {
        for (i, key) in left.iter().enumerate() {
            let Some(twins) = key.as_ref().and_then(|key| places.get_mut(&key[..])) else {
                continue;
            };
            if twins.len() <= TWINS
                && let Some(at) = twins.iter().position(|j| same(&expected[i], &actual[*j]))
            {
                matches[i] = twins.remove(at);
            }
        }
    }
    for (i, key) in left.iter().enumerate() {
        if matches[i].is_none() {
            matches[i] = key.as_ref().and_then(|key| places.get_mut(&key[..])?.pop_front());
        }
    }
    let by = similarity::SimilarityOptions { least: similarity::ALIKE, without: measured };
    without_key((expected, &left), (actual, &right), &mut matches, &by, budget);
    matches
}

/// Pairs rows without a key with similar unmatched rows of the other side.
fn without_key(
    (expected, left): (&[Value], &[Key<'_>]),
    (actual, right): (&[Value], &[Key<'_>]),
    matches: &mut [Option<usize>],
    by: &similarity::SimilarityOptions<'_>,
    budget: &mut Budget,
) {
    for of_actual in [true, false] {
        let lacking = if of_actual { right } else { left };
        if lacking.iter().all(Option::is_some) {
            continue;
        }
        let mut rest = Rest::new(matches, actual.len());
        if of_actual {
            rest.actual.retain(|at| right[*at].is_none());
        } else {
            rest.expected.retain(|at| left[*at].is_none());
        }
        for (i, j) in
            similarity::pair((expected, &rest.expected), (actual, &rest.actual), by, budget).0
        {
            matches[i] = Some(j);
        }
    }
}

/// A field that may identify rows.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
struct Candidate<'a> {
    name: &'a str,
    /// True if its name ends in `id`.
    is_id: bool,
    /// True if it has texts.
    is_text: bool,
    /// True if it has numbers and is not an id.
    is_number: bool,
    /// True if it merely numbers the rows.
    counts: bool,
    place: usize,
    /// Hash of each value on both sides; a collision of two values is negligibly rare.
    sides: [Vec<Option<u64>>; 2],
    /// Number of different values on the side that has more.
    different: usize,
}

/// Quality of a key; the greatest is chosen.
type Fitness = (usize, usize, usize, std::cmp::Reverse<usize>);

/// Returns the smallest set of fields that identifies all rows on both sides and has values in
/// common on both. Ids come first, even if one side contains an id twice, because wrong answers do
/// that. If numbers are compared, fields that are not numbers come first, alone and then with
/// numbers; the compared fields never identify rows.
fn infer(
    expected: &[Value],
    actual: &[Value],
    measured: &[&str],
    budget: &mut Budget,
) -> Option<Vec<String>> {
    let names: Vec<(usize, &str)> = expected[0]
        .entries()
        .iter()
        .enumerate()
        .filter_map(|(at, (key, _))| Some((at, key.text()?)))
        .collect();
    let names = names.into_iter().filter(|(_, name)| !measured.contains(name));
    let (ids, others): (Vec<_>, Vec<_>) = names.partition(|(_, name)| is_id(name));
    let mut known = Vec::new();
    collect_candidates(expected, actual, &ids, &mut known, budget);
    if let Some(fields) = best(&known, 1, Unique::Both).or_else(|| best(&known, 1, Unique::OneSide))
    {
        return Some(fields);
    }
    collect_candidates(expected, actual, &others, &mut known, budget);
    let (counting, mut known): (Vec<_>, Vec<_>) = known.into_iter().partition(|field| field.counts);
    known.truncate(TRIED);
    if measured.is_empty() {
        // Row positions are no names.
        return smallest_key(&known, rows_of(expected, actual), budget);
    }
    let (numbers, others): (Vec<_>, Vec<_>) = known.into_iter().partition(|field| field.is_number);
    let counting = counting.into_iter().take(TRIED).collect();
    let mut tried = Vec::new();
    [others, numbers, counting].into_iter().filter(|more| !more.is_empty()).find_map(|more| {
        tried.extend(more);
        smallest_key(&tried, rows_of(expected, actual), budget)
    })
}

fn rows_of(expected: &[Value], actual: &[Value]) -> u64 {
    steps(expected.len() + actual.len())
}

/// Returns the smallest combination of the given fields that identifies all rows on both sides.
fn smallest_key(known: &[Candidate<'_>], rows: u64, budget: &mut Budget) -> Option<Vec<String>> {
    (1..=TOGETHER).find_map(|together| {
        let combinations = steps(known.len()).pow(u32::try_from(together).ok()?);
        budget.afford(combinations * rows * 4).then(|| best(known, together, Unique::Both))?
    })
}

fn collect_candidates<'a>(
    expected: &[Value],
    actual: &[Value],
    names: &[(usize, &'a str)],
    known: &mut Vec<Candidate<'a>>,
    budget: &mut Budget,
) {
    for (at, name) in names.iter().take(2 * TRIED) {
        budget.spend(steps(expected.len() + actual.len()) * 8);
        known.extend(candidate(expected, actual, *at, name));
    }
}

pub(super) fn is_id(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let Some(before) = lower.strip_suffix("id") else { return false };
    // `ticket_id`, `ticketId`, `ID`, `uuid`; but not `paid` and `valid`.
    let letter = name.as_bytes().get(name.len() - 2).copied().unwrap_or_default();
    before.is_empty()
        || before.ends_with(|c: char| !c.is_ascii_alphabetic())
        || letter == b'I'
        || matches!(&*lower, "uuid" | "guid")
}

fn candidate<'a>(
    expected: &[Value],
    actual: &[Value],
    place: usize,
    name: &'a str,
) -> Option<Candidate<'a>> {
    let is_id = is_id(name);
    let fits = |one: &Identity<'_>| match one {
        Identity::Text(text) => text.len() <= LONGEST,
        // A measured number is no name: it may itself be wrong.
        Identity::Number(number) => is_id || is_whole(number),
        Identity::Bool(_) => true,
        Identity::Null => false,
    };
    // The first rows rule out most measured numbers without reading the others.
    if !column(&expected[..expected.len().min(FIRST)], name).iter().flatten().all(fits) {
        return None;
    }
    let (left, right) = (column(expected, name), column(actual, name));
    // A row in ten may lack the field: wrong answers have wrong rows.
    let lacks = |column: &[Option<Identity<'_>>]| {
        column.iter().filter(|one| one.is_none()).count() * 10 > column.len()
    };
    if lacks(&left) || lacks(&right) {
        return None;
    }
    let fits = left.iter().chain(&right).flatten().all(fits);
    if !fits {
        return None;
    }
    let counts = |column: &[Option<Identity<'_>>]| {
        [0, 1].iter().any(|first| {
            column
                .iter()
                .enumerate()
                .all(|(at, one)| matches!(one, Some(Identity::Number(number)) if **number == *(at + first).to_string()))
        })
    };
    let counts = !is_id && (counts(&left) || counts(&right));
    let is_text = left.iter().flatten().any(|one| matches!(one, Identity::Text(_)));
    let is_number = !is_id && left.iter().flatten().any(|one| matches!(one, Identity::Number(_)));
    let other = actual
        .iter()
        .find_map(|row| row.entries().iter().position(|(key, _)| key.text() == Some(name)));
    let numbers = |column: &[Option<Identity<'_>>]| {
        column.iter().map(|one| one.as_ref().map(number)).collect()
    };
    let sides = [numbers(&left), numbers(&right)];
    let different = |side: &Vec<Option<u64>>| side.iter().flatten().collect::<HashSet<_>>().len();
    let different = sides.iter().map(different).max().unwrap_or(0);
    Some(Candidate {
        name,
        is_id,
        is_text,
        is_number,
        counts,
        place: place + other.unwrap_or(0),
        sides,
        different,
    })
}

/// Sides on which a key must be unique.
#[derive(Clone, Copy, PartialEq)]
enum Unique {
    Both,
    OneSide,
}

/// Returns the best key with exactly this many fields.
fn best(known: &[Candidate<'_>], together: usize, unique: Unique) -> Option<Vec<String>> {
    let mut found: Option<(Fitness, Vec<&Candidate<'_>>)> = None;
    let mut chosen: Vec<usize> = (0..together).collect();
    if known.len() < together {
        return None;
    }
    loop {
        let fields: Vec<&Candidate<'_>> = chosen.iter().map(|at| &known[*at]).collect();
        let values = fields.iter().fold(1_usize, |all, field| all.saturating_mul(field.different));
        if values >= fields[0].sides.iter().map(Vec::len).min().unwrap_or(0) * 9 / 10
            && let Some(fitness) = fitness(&fields, unique)
            && found.as_ref().is_none_or(|(best, _)| fitness > *best)
        {
            found = Some((fitness, fields));
        }
        // Next combination.
        let Some(at) = (0..together).rev().find(|at| chosen[*at] + together - at < known.len())
        else {
            break;
        };
        chosen[at] += 1;
        for after in at + 1..together {
            chosen[after] = chosen[after - 1] + 1;
        }
    }
    found.map(|(_, fields)| fields.into_iter().map(|field| field.name.to_owned()).collect())
}

fn fitness(fields: &[&Candidate<'_>], unique: Unique) -> Option<Fitness> {
    let keys = |side: usize| {
        let key = |row: usize| {
            fields
                .iter()
                .try_fold(0_u64, |key, field| Some(key.rotate_left(23) ^ field.sides[side][row]?))
        };
        (0..fields[0].sides[side].len()).filter_map(key).collect::<Vec<u64>>()
    };
    let (left, right) = (keys(0), keys(1));
    let (a, b): (HashSet<u64>, HashSet<u64>) =
        (left.iter().copied().collect(), right.iter().copied().collect());
    let (left_unique, right_unique) = (a.len() == left.len(), b.len() == right.len());
    let told_apart = match unique {
        Unique::Both => left_unique && right_unique,
        Unique::OneSide => left_unique || right_unique,
    };
    let shared = a.intersection(&b).count();
    let ids = fields.iter().filter(|field| field.is_id).count();
    let all_ids = ids == fields.len();
    let enough = if all_ids { shared > 0 } else { shared * 2 >= a.len().min(b.len()).max(1) };
    let texts = fields.iter().filter(|field| field.is_text).count();
    let place = fields.iter().map(|field| field.place).sum();
    (told_apart && enough).then_some((ids, texts, shared, std::cmp::Reverse(place)))
}

fn number(identity: &Identity<'_>) -> u64 {
    let mut hasher = hasher();
    identity.hash(&mut hasher);
    hasher.finish()
}
