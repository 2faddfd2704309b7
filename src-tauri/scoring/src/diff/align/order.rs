//! **Pure.** In which order aligned rows are told, and which of them moved: as few as possible.
use crate::diff::sequence::rising;

/// Where a row stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    /// In the expected list.
    pub(crate) from: Option<usize>,
    /// In the actual list.
    pub(crate) to: Option<usize>,
    /// True when it stands in another order than the rows that stayed.
    pub(crate) moved: bool,
}

/// The rows of both lists: expected ones in their order, and each extra one after the row it follows among those that stayed.
pub(crate) fn arrange(matches: &[Option<usize>], actual: usize, ignore_order: bool) -> Vec<Place> {
    let stayed = stayed(matches);
    let mut owner: Vec<Option<usize>> = vec![None; actual];
    for (i, j) in matches.iter().enumerate().filter_map(|(i, j)| Some((i, (*j)?))) {
        owner[j] = Some(i);
    }
    // For each expected row, and for the time before the first, the extra rows that follow it.
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
    let extra = |j: &usize| Place { from: None, to: Some(*j), moved: false };
    places.extend(follow[0].iter().map(extra));
    for (i, to) in matches.iter().enumerate() {
        places.push(Place { from: Some(i), to: *to, moved: to.is_some() && !stayed[i] && !ignore_order });
        places.extend(follow[i + 1].iter().map(extra));
    }
    places
}

/// For each expected row, whether it is one of the most rows that stand in the same order on both sides.
fn stayed(matches: &[Option<usize>]) -> Vec<bool> {
    let pairs: Vec<(usize, usize)> = matches.iter().enumerate().filter_map(|(i, j)| Some((i, (*j)?))).collect();
    let mut stayed = vec![false; matches.len()];
    for (i, _) in rising(&pairs) {
        stayed[i] = true;
    }
    stayed
}

/// Rows without a partner, by the rows that stayed around them.
pub(super) fn gaps(matches: &[Option<usize>], actual: usize) -> Vec<(Vec<usize>, Vec<usize>)> {
    let stayed = stayed(matches);
    let mut taken = vec![false; actual];
    for at in matches.iter().flatten() {
        taken[*at] = true;
    }
    let mut gaps = Vec::new();
    let (mut x, mut y) = (0, 0);
    let stays = matches.iter().enumerate().filter_map(|(i, j)| Some((i, (*j)?))).filter(|(i, _)| stayed[*i]);
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

    fn told(matches: &[Option<usize>], actual: usize) -> String {
        let place = |place: Place| {
            let side = |at: Option<usize>| at.map_or("-".to_owned(), |at| at.to_string());
            format!("{}>{}{}", side(place.from), side(place.to), if place.moved { "*" } else { "" })
        };
        arrange(matches, actual, false).into_iter().map(place).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn as_few_rows_as_possible_moved_and_extra_rows_stand_where_they_stand() {
        assert_eq!(told(&[Some(0), Some(1)], 2), "0>0 1>1");
        assert_eq!(told(&[Some(2), Some(0), Some(1)], 3), "0>2* 1>0 2>1");
        assert_eq!(told(&[Some(0), None, Some(2)], 4), "0>0 ->1 1>- 2>2 ->3");
        assert_eq!(told(&[], 2), "->0 ->1");
        assert_eq!(told(&[None, None], 0), "0>- 1>-");
        assert!(arrange(&[Some(1), Some(0)], 2, true).iter().all(|place| !place.moved));
    }

    #[test]
    fn a_gap_is_what_has_no_partner_between_rows_that_stayed() {
        assert_eq!(gaps(&[Some(0), None, Some(2), None], 3), [(vec![1], vec![1])]);
        assert_eq!(gaps(&[None, None], 1), [(vec![0, 1], vec![0])]);
    }
}
