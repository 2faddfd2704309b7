//! **Pure.** Follows each system over sets of runs, such as those of one day or one folder, and
//! tells a change from noise.
use super::pairs::significant;
use super::{ChangeKind, Changes, Column, Counted, Group, changes};
use crate::stats::Tendency;
use std::collections::BTreeSet;

/// The runs of a system with a model in one set.
#[derive(Debug, Clone, PartialEq)]
pub struct TrendPoint<'a> {
    /// Index of the set.
    pub set: usize,
    /// Aggregate of the runs.
    pub group: Group<'a>,
    /// Comparison with the preceding set in which the system has runs.
    pub change: Option<Changes<'a>>,
}

/// A system with a model over all sets in which it has runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Trend<'a> {
    /// System and model.
    pub column: Column<'a>,
    /// One point per set with runs, in the order of the sets.
    pub points: Vec<TrendPoint<'a>>,
    /// Comparison of the last point with the first, if there are more than two. It shows a drift
    /// whose steps are each too small to show.
    pub overall: Option<Changes<'a>>,
}

/// Returns the trend of each system over sets of runs.
pub fn trends<'a>(sets: &[Vec<Counted<'a>>]) -> Vec<Trend<'a>> {
    let columns: BTreeSet<Column<'a>> = sets.iter().flatten().map(Counted::column).collect();
    columns.into_iter().map(|column| trend(sets, column)).collect()
}

fn trend<'a>(sets: &[Vec<Counted<'a>>], column: Column<'a>) -> Trend<'a> {
    let own: Vec<(usize, Vec<Counted<'a>>)> = sets
        .iter()
        .map(|set| set.iter().filter(|run| run.column() == column).copied().collect())
        .enumerate()
        .filter(|(_, runs): &(usize, Vec<Counted<'a>>)| !runs.is_empty())
        .collect();
    let compare = |before: &[Counted<'a>], now: &[Counted<'a>]| changes(before, now).pop();
    let points = own
        .iter()
        .enumerate()
        .map(|(at, (set, runs))| {
            let before = at.checked_sub(1).and_then(|before| own.get(before));
            TrendPoint {
                set: *set,
                group: Group::new(column, runs, (0..runs.len()).collect()),
                change: before.and_then(|(_, before)| compare(before, runs)),
            }
        })
        .collect();
    let overall = match own.as_slice() {
        [(_, first), .., (_, last)] if own.len() > 2 => compare(first, last),
        _ => None,
    };
    Trend { column, points, overall }
}

impl Changes<'_> {
    /// Returns the tendency of the mean score that both the test and the interval show.
    pub fn tendency(&self) -> Tendency {
        self.pairing.score.as_ref().map_or(Tendency::Unclear, significant)
    }

    /// Returns the number of rows with this kind of change.
    pub fn count(&self, kind: ChangeKind) -> usize {
        self.rows.iter().filter(|row| row.kind == kind).count()
    }
}

#[cfg(test)]
mod tests {
    use super::super::End;
    use super::*;

    const TASKS: [&str; 12] = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"];

    /// Returns a set in which the first `right` of twelve tasks pass.
    fn set(right: usize) -> Vec<Counted<'static>> {
        let run = |(at, task)| {
            let score = if at < right { 1.0 } else { 0.0 };
            let end = End::Scored(score, Some(score >= 1.0));
            Counted { task: Some(task), system: Some("s"), end, ..Counted::default() }
        };
        TASKS.into_iter().enumerate().map(run).collect()
    }

    fn tendencies(sets: &[Vec<Counted<'static>>]) -> (Vec<Option<Tendency>>, Option<Tendency>) {
        let trend = trends(sets).pop().unwrap();
        let steps = trend.points.iter();
        let steps = steps.map(|point| point.change.as_ref().map(Changes::tendency)).collect();
        (steps, trend.overall.as_ref().map(Changes::tendency))
    }

    #[test]
    fn a_drop_is_shown_where_it_happens_and_noise_is_not() {
        use Tendency::{Unclear, Worse};
        assert_eq!(
            tendencies(&[set(12), set(11), set(3), set(3)]),
            (vec![None, Some(Unclear), Some(Worse), Some(Unclear)], Some(Worse))
        );
    }

    #[test]
    fn a_drift_of_small_steps_is_shown_over_all_sets() {
        use Tendency::{Unclear, Worse};
        let (steps, overall) = tendencies(&[set(12), set(9), set(6), set(3)]);
        assert_eq!(steps, [None, Some(Unclear), Some(Unclear), Some(Unclear)]);
        assert_eq!(overall, Some(Worse));
    }

    #[test]
    fn a_set_without_runs_of_a_system_is_skipped() {
        let trend = trends(&[set(12), Vec::new(), set(12)]).pop().unwrap();
        let sets: Vec<usize> = trend.points.iter().map(|point| point.set).collect();
        assert_eq!(sets, [0, 2]);
        assert_eq!(trend.points[1].change.as_ref().map(|change| change.rows.len()), Some(0));
        assert_eq!(trend.overall, None);
    }
}
