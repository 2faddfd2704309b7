//! **Pure.** Orders aligned rows for display, and marks as few of them as possible as moved.

/// Worth of a row that stays; always more than the sum of all distances it may cost.
const ROW: u64 = 1 << 41;
/// Distances are capped at this value.
const FARTHEST: u64 = 1 << 20;

/// Positions of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RowPlacement {
    /// Index in the expected list.
    pub(crate) from: Option<usize>,
    /// Index in the actual list.
    pub(crate) to: Option<usize>,
    /// True if its order differs from that of the rows that stayed.
    pub(crate) moved: bool,
}

/// Returns the rows of both lists: the expected ones in their order, and each extra one after the
/// row that it follows among those that stayed.
pub(crate) fn arrange(
    matches: &[Option<usize>],
    actual: usize,
    ignore_order: bool,
) -> Vec<RowPlacement> {
    let stayed = unmoved_rows(matches);
    let mut owner: Vec<Option<usize>> = vec![None; actual];
    for (i, j) in matches.iter().enumerate().filter_map(|(i, j)| Some((i, (*j)?))) {
        owner[j] = Some(i);
    }
    // Extra rows that follow each expected row; the first entry is for those before the first.
    let mut follow: Vec<Vec<usize>> = vec![Vec::new(); matches.len() + 1];
    let mut after = 0;
    for (j, owner) in owner.iter().enumerate() {
        match owner {
            Some(i) if stayed[*i] => after = i + 1,
            Some(_) => {}
            None => follow[after].push(j),
        }
    }
    let mut places = Vec::with_capacity(matches.len() + actual);
    let extra = |j: &usize| RowPlacement { from: None, to: Some(*j), moved: false };
    places.extend(follow[0].iter().map(extra));
    for (i, to) in matches.iter().enumerate() {
        places.push(RowPlacement {
            from: Some(i),
            to: *to,
            moved: to.is_some() && !stayed[i] && !ignore_order,
        });
        places.extend(follow[i + 1].iter().map(extra));
    }
    places
}

/// Returns for each expected row whether it stayed: the largest set of rows that are in the same
/// order on both sides. Among several such sets, the one whose rows are closest to their old
/// positions is chosen, so that a row with an unchanged position is rarely marked as moved.
fn unmoved_rows(matches: &[Option<usize>]) -> Vec<bool> {
    let last = matches.iter().flatten().max().map_or(0, |most| most + 1);
    // Fenwick tree for prefix maxima: the worth and the last row of the best chain that ends at or
    // before a position of the actual list.
    let mut best: Vec<(u64, Option<usize>)> = vec![(0, None); last + 1];
    let mut before: Vec<Option<usize>> = vec![None; matches.len()];
    for (i, j) in matches.iter().enumerate().filter_map(|(i, j)| Some((i, (*j)?))) {
        let mut chain = (0, None);
        let mut at = j;
        while at > 0 {
            if best[at].0 > chain.0 {
                chain = best[at];
            }
            at &= at - 1;
        }
        before[i] = chain.1;
        let worth = chain.0 + ROW - u64::try_from(i.abs_diff(j)).unwrap_or(u64::MAX).min(FARTHEST);
        let mut at = j + 1;
        while at <= last {
            // Of two equal chains, the later row stays, and the earlier one moved down.
            if worth >= best[at].0 {
                best[at] = (worth, Some(i));
            }
            at += at & at.wrapping_neg();
        }
    }
    let mut stayed = vec![false; matches.len()];
    let mut next = best.iter().max_by_key(|(worth, _)| *worth).and_then(|(_, row)| *row);
    while let Some(row) = next {
        stayed[row] = true;
        next = before[row];
    }
    stayed
}

/// Returns the unpaired rows on both sides between rows that stayed.
pub(super) fn gaps(matches: &[Option<usize>], actual: usize) -> Vec<(Vec<usize>, Vec<usize>)> {
    let stayed = unmoved_rows(matches);
    let mut taken = vec![false; actual];
    for at in matches.iter().flatten() {
        taken[*at] = true;
    }
    let mut gaps = Vec::new();
    let (mut x, mut y) = (0, 0);
    let stays = matches
        .iter()
        .enumerate()
        .filter_map(|(i, j)| Some((i, (*j)?)))
        .filter(|(i, _)| stayed[*i]);
    for (i, j) in stays.chain([(matches.len(), actual)]) {
        let left: Vec<usize> = (x..i).filter(|at| matches[*at].is_none()).collect();
        let right: Vec<usize> = (y..j).filter(|at| !taken[*at]).collect();
        if !left.is_empty() && !right.is_empty() {
            gaps.push((left, right));
        }
        (x, y) = (i + 1, j + 1);
    }
    gaps
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff::sequence::rising;
    use proptest::prelude::*;

    fn render(matches: &[Option<usize>], actual: usize) -> String {
        let place = |place: RowPlacement| {
            let side = |at: Option<usize>| at.map_or("-".to_owned(), |at| at.to_string());
            format!("{}>{}{}", side(place.from), side(place.to), if place.moved { "*" } else { "" })
        };
        arrange(matches, actual, false).into_iter().map(place).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn as_few_rows_as_possible_moved_and_extra_rows_stand_where_they_stand() {
        assert_eq!(render(&[Some(0), Some(1)], 2), "0>0 1>1");
        assert_eq!(render(&[Some(2), Some(0), Some(1)], 3), "0>2* 1>0 2>1");
        assert_eq!(render(&[Some(0), None, Some(2)], 4), "0>0 ->1 1>- 2>2 ->3");
        // Two rows around a third swapped places: the third stayed.
        assert_eq!(render(&[Some(2), Some(1), Some(0)], 3), "0>2* 1>1 2>0*");
        assert_eq!(render(&[], 2), "->0 ->1");
        assert_eq!(render(&[None, None], 0), "0>- 1>-");
        assert!(arrange(&[Some(1), Some(0)], 2, true).iter().all(|place| !place.moved));
    }

    proptest! {
        #[test]
        fn a_maximal_set_of_rows_keeps_its_order(order in Just((0_usize..9).collect::<Vec<_>>()).prop_shuffle(), missing in 0_usize..9) {
            let matches: Vec<Option<usize>> = order.iter().map(|j| (*j != missing).then_some(*j)).collect();
            let stays: Vec<usize> = arrange(&matches, 9, false)
                .iter()
                .filter(|place| !place.moved && place.from.is_some())
                .filter_map(|place| place.to)
                .collect();
            prop_assert!(stays.is_sorted());
            let pairs: Vec<(usize, usize)> = matches.iter().enumerate().filter_map(|(i, j)| Some((i, (*j)?))).collect();
            prop_assert_eq!(stays.len(), rising(&pairs).len());
        }
    }

    #[test]
    fn a_gap_is_what_has_no_partner_between_rows_that_stayed() {
        assert_eq!(gaps(&[Some(0), None, Some(2), None], 3), [(vec![1], vec![1])]);
        assert_eq!(gaps(&[None, None], 1), [(vec![0, 1], vec![0])]);
    }
}
