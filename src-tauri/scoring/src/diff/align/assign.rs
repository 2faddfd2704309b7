//! **Pure.** The cheapest pairing overall of two small groups (Hungarian method).

/// Returns the column of each row in the assignment with the least total cost. There must not be
/// more rows than columns.
pub(super) fn cheapest(costs: &[Vec<i64>]) -> Vec<usize> {
    let rows = costs.len();
    let columns = costs.first().map_or(0, Vec::len);
    // Potentials of rows and columns, counted from 1; column 0 means unassigned.
    let mut of_row = vec![0_i64; rows + 1];
    let mut of_column = vec![0_i64; columns + 1];
    let mut row_of = vec![0_usize; columns + 1];
    for row in 1..=rows {
        let mut before = vec![0_usize; columns + 1];
        let mut least = vec![i64::MAX; columns + 1];
        let mut seen = vec![false; columns + 1];
        let mut column = 0;
        row_of[0] = row;
        loop {
            seen[column] = true;
            let at = row_of[column];
            let (mut step, mut next) = (i64::MAX, 0);
            for other in (1..=columns).filter(|other| !seen[*other]) {
                let cost = costs[at - 1][other - 1] - of_row[at] - of_column[other];
                if cost < least[other] {
                    least[other] = cost;
                    before[other] = column;
                }
                if least[other] < step {
                    (step, next) = (least[other], other);
                }
            }
            for other in 0..=columns {
                if seen[other] {
                    of_row[row_of[other]] += step;
                    of_column[other] -= step;
                } else if least[other] != i64::MAX {
                    least[other] -= step;
                }
            }
            column = next;
            if row_of[column] == 0 {
                break;
            }
        }
        while column != 0 {
            row_of[column] = row_of[before[column]];
            column = before[column];
        }
    }
    let mut found = vec![0; rows];
    for column in 1..=columns {
        if row_of[column] > 0 {
            found[row_of[column] - 1] = column - 1;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns the least total cost, by brute force.
    fn least(costs: &[Vec<i64>], taken: &mut Vec<bool>, row: usize) -> i64 {
        if row == costs.len() {
            return 0;
        }
        let mut best = i64::MAX;
        for column in 0..taken.len() {
            if !taken[column] {
                taken[column] = true;
                best = best.min(costs[row][column] + least(costs, taken, row + 1));
                taken[column] = false;
            }
        }
        best
    }

    proptest! {
        #[test]
        fn no_other_pairing_is_cheaper(
            (rows, columns, costs) in (0_usize..5, 0_usize..3, prop::collection::vec(0_i64..20, 35))
                .prop_map(|(rows, more, costs)| (rows, rows + more, costs))
        ) {
            let costs: Vec<Vec<i64>> = (0..rows).map(|row| costs[row * columns..(row + 1) * columns].to_vec()).collect();
            let found = cheapest(&costs);
            let mut sorted = found.clone();
            sorted.sort_unstable();
            sorted.dedup();
            prop_assert_eq!(sorted.len(), rows);
            let sum: i64 = found.iter().zip(&costs).map(|(column, row)| row[*column]).sum();
            prop_assert_eq!(sum, least(&costs, &mut vec![false; columns], 0));
        }
    }
}
