//! **Pure.** Nesting of steps: a step contains the steps that follow it at a greater depth.
use std::iter;
use std::ops::Range;

/// Returns for each step the end (exclusive) of the steps that it contains; `at + 1` for a step
/// that contains none. A jump by several levels counts as one.
pub fn subtree_ends(depths: impl IntoIterator<Item = u32>) -> Vec<usize> {
    let mut ends = Vec::new();
    let mut open: Vec<(usize, u32)> = Vec::new();
    for (at, depth) in depths.into_iter().enumerate() {
        while let Some((outer, _)) = open.pop_if(|(_, outer)| *outer >= depth) {
            ends[outer] = at;
        }
        ends.push(at + 1);
        open.push((at, depth));
    }
    let all = ends.len();
    for (outer, _) in open {
        ends[outer] = all;
    }
    ends
}

/// Returns the steps of one level: those of a range that no other step of the range contains.
pub fn level(ends: &[usize], range: Range<usize>) -> impl Iterator<Item = usize> {
    let next = move |at: &usize| ends.get(*at).copied().filter(|end| *end < range.end);
    iter::successors(Some(range.start).filter(|start| *start < range.end), next)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_step_contains_what_follows_it_deeper() {
        for (depths, ends) in [
            (&[][..], &[][..]),
            (&[0, 0, 0], &[1, 2, 3]),
            (&[0, 1, 1, 0], &[3, 2, 3, 4]),
            (&[0, 1, 2, 1, 0, 1], &[4, 3, 3, 4, 6, 6]),
            // Depths that no reader should write.
            (&[2, 1, 0, 5, 3], &[1, 2, 5, 4, 5]),
        ] {
            assert_eq!(subtree_ends(depths.iter().copied()), ends, "{depths:?}");
        }
    }

    proptest! {
        #[test]
        fn the_levels_hold_every_step_once(depths in prop::collection::vec(0u32..5, 0..40)) {
            let ends = subtree_ends(depths.iter().copied());
            let mut todo: Vec<_> = iter::once(0..depths.len()).collect();
            let mut seen = Vec::new();
            while let Some(range) = todo.pop() {
                for at in level(&ends, range) {
                    seen.push(at);
                    prop_assert!(depths[at + 1..ends[at]].iter().all(|depth| *depth > depths[at]));
                    todo.push(at + 1..ends[at]);
                }
            }
            seen.sort_unstable();
            prop_assert_eq!(seen, (0..depths.len()).collect::<Vec<_>>());
        }
    }
}
