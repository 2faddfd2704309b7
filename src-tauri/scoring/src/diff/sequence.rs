//! **Pure.** Finds the common items of two sequences, in order. Small ranges are compared exactly
//! (Myers, from `similar`). In long ones, items that occur once on both sides are matched first,
//! which splits the rest into small ranges.
use super::budget::{Budget, steps};
use similar::{Algorithm, DiffOp, capture_diff_slices};
use std::collections::HashMap;
use std::hash::Hash;
use std::ops::Range;

/// Combined size up to which two ranges are compared exactly at once.
const SMALL: usize = 400;
/// Combined size up to which ranges without unique items are compared exactly.
const MOST: usize = 12_000;

/// Maps items to numbers, equal items to equal numbers.
pub(super) fn numbered<'a, T: Hash + Eq>(a: &'a [T], b: &'a [T]) -> (Vec<u32>, Vec<u32>) {
    let mut known: HashMap<&'a T, u32> = HashMap::with_capacity(a.len());
    let mut number = |thing: &'a T| {
        let next = u32::try_from(known.len()).unwrap_or(u32::MAX);
        *known.entry(thing).or_insert(next)
    };
    let a = a.iter().map(&mut number).collect();
    (a, b.iter().map(&mut number).collect())
}

/// Returns the index pairs of equal items, increasing on both sides: as many as possible, or nearly
/// so if that would take too long.
pub(super) fn common(a: &[u32], b: &[u32], budget: &mut Budget) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut open = vec![(0..a.len(), 0..b.len())];
    while let Some((left, right)) = open.pop() {
        budget.spend(steps(left.len() + right.len()));
        let (left, right) = trim(a, b, left, right, &mut found);
        if left.is_empty() || right.is_empty() {
            continue;
        }
        let size = left.len() + right.len();
        if size <= SMALL && budget.afford(steps(size * size / 4)) {
            exactly(a, b, left, right, &mut found);
            continue;
        }
        let anchors = rising(&once(a, b, &left, &right));
        if anchors.is_empty() {
            let exact = size <= MOST && budget.afford(steps(size) * steps(size) / 4);
            if exact {
                exactly(a, b, left, right, &mut found);
            } else {
                budget.coarse = true;
                found.extend(rising(&in_turn(a, b, &left, &right)));
            }
            continue;
        }
        let (mut x, mut y) = (left.start, right.start);
        for (i, j) in anchors {
            open.push((x..i, y..j));
            found.push((i, j));
            (x, y) = (i + 1, j + 1);
        }
        open.push((x..left.end, y..right.end));
    }
    found.sort_unstable();
    found
}

/// Matches equal items at both ends.
fn trim(
    a: &[u32],
    b: &[u32],
    mut left: Range<usize>,
    mut right: Range<usize>,
    found: &mut Vec<(usize, usize)>,
) -> (Range<usize>, Range<usize>) {
    while !left.is_empty() && !right.is_empty() && a[left.start] == b[right.start] {
        found.push((left.start, right.start));
        left.start += 1;
        right.start += 1;
    }
    while !left.is_empty() && !right.is_empty() && a[left.end - 1] == b[right.end - 1] {
        left.end -= 1;
        right.end -= 1;
        found.push((left.end, right.end));
    }
    (left, right)
}

fn exactly(
    a: &[u32],
    b: &[u32],
    left: Range<usize>,
    right: Range<usize>,
    found: &mut Vec<(usize, usize)>,
) {
    for op in capture_diff_slices(Algorithm::Myers, &a[left.clone()], &b[right.clone()]) {
        if let DiffOp::Equal { old_index, new_index, len } = op {
            found.extend(
                (0..len).map(|at| (left.start + old_index + at, right.start + new_index + at)),
            );
        }
    }
}

/// Returns the index pairs of items that occur once on both sides, in the order of the left side.
fn once(a: &[u32], b: &[u32], left: &Range<usize>, right: &Range<usize>) -> Vec<(usize, usize)> {
    let mut places: HashMap<u32, (usize, usize, usize)> = HashMap::new();
    for at in left.clone() {
        places.entry(a[at]).or_insert((0, 0, 0)).0 += 1;
    }
    for at in right.clone() {
        if let Some(place) = places.get_mut(&b[at]) {
            place.1 += 1;
            place.2 = at;
        }
    }
    left.clone()
        .filter_map(|at| match places.get(&a[at]) {
            Some((1, 1, other)) => Some((at, *other)),
            _ => None,
        })
        .collect()
}

/// Returns the index pairs of equal items: the first with the first, the second with the second.
fn in_turn(a: &[u32], b: &[u32], left: &Range<usize>, right: &Range<usize>) -> Vec<(usize, usize)> {
    let mut places: HashMap<u32, Vec<usize>> = HashMap::new();
    for at in right.clone().rev() {
        places.entry(b[at]).or_default().push(at);
    }
    left.clone().filter_map(|at| Some((at, places.get_mut(&a[at])?.pop()?))).collect()
}

/// Returns the longest subsequence of pairs that increases on both sides. The pairs must be
/// increasing on the left.
pub(super) fn rising(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    // For each length, the pair with the smallest end; and for each pair its predecessor.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    for (at, (_, place)) in pairs.iter().enumerate() {
        let length = ends.partition_point(|end| pairs[*end].1 < *place);
        before.push(length.checked_sub(1).map(|shorter| ends[shorter]));
        if length == ends.len() {
            ends.push(at);
        } else {
            ends[length] = at;
        }
    }
    let mut part = Vec::with_capacity(ends.len());
    let mut next = ends.last().copied();
    while let Some(at) = next {
        part.push(pairs[at]);
        next = before[at];
    }
    part.reverse();
    part
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn lcs(a: &[u32], b: &[u32]) -> usize {
        let mut row = vec![0; b.len() + 1];
        for x in a {
            let mut corner = 0;
            for (at, y) in b.iter().enumerate() {
                let best = if x == y { corner + 1 } else { row[at].max(row[at + 1]) };
                corner = row[at + 1];
                row[at + 1] = best;
            }
        }
        row[b.len()]
    }

    fn holds(a: &[u32], b: &[u32], pairs: &[(usize, usize)]) -> bool {
        pairs.iter().all(|(i, j)| a[*i] == b[*j])
            && pairs.windows(2).all(|two| two[0].0 < two[1].0 && two[0].1 < two[1].1)
    }

    proptest! {
        #[test]
        fn short_sequences_have_as_much_in_common_as_there_is(
            a in prop::collection::vec(0_u32..6, 0..40), b in prop::collection::vec(0_u32..6, 0..40)
        ) {
            let mut budget = Budget::new(1_000_000);
            let pairs = common(&a, &b, &mut budget);
            prop_assert!(holds(&a, &b, &pairs));
            prop_assert_eq!(pairs.len(), lcs(&a, &b));
            prop_assert!(!budget.coarse);
        }

        #[test]
        fn without_a_budget_what_is_found_is_still_common_and_said_to_be_coarse(
            a in prop::collection::vec(0_u32..6, 0..60), b in prop::collection::vec(0_u32..6, 0..60)
        ) {
            let mut budget = Budget::new(0);
            let pairs = common(&a, &b, &mut budget);
            prop_assert!(holds(&a, &b, &pairs));
            prop_assert!(budget.coarse || pairs.len() == lcs(&a, &b));
        }

        #[test]
        fn long_sequences_fall_apart_at_what_occurs_once(cuts in prop::collection::btree_set(0_usize..2_000, 0..20)) {
            let a: Vec<u32> = (0..2_000).collect();
            let b: Vec<u32> = a.iter().copied().filter(|n| !cuts.contains(&(*n as usize))).collect();
            let pairs = common(&a, &b, &mut Budget::new(100_000));
            prop_assert!(holds(&a, &b, &pairs));
            prop_assert_eq!(pairs.len(), b.len());
        }

        #[test]
        fn the_rising_part_is_the_longest(places in Just((0_usize..8).collect::<Vec<_>>()).prop_shuffle()) {
            let pairs: Vec<(usize, usize)> = places.into_iter().enumerate().collect();
            let rises = |part: &[(usize, usize)]| part.windows(2).all(|two| two[0].0 < two[1].0 && two[0].1 < two[1].1);
            let subset = |mask: usize| {
                let part: Vec<_> = pairs.iter().copied().enumerate().filter(|(at, _)| mask >> at & 1 == 1).map(|(_, pair)| pair).collect();
                if rises(&part) { part.len() } else { 0 }
            };
            let part = rising(&pairs);
            prop_assert!(rises(&part));
            prop_assert_eq!(part.len(), (0..256).map(subset).max().unwrap());
        }
    }
}
