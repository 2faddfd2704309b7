//! **Pure.** Follows each system over sets of runs, such as those of one day or one folder, and
//! tells a change from noise.
//!
//! A change is told only where both the sign-flip test and the interval of the paired difference
//! show it, with the 5 % divided among all comparisons of the trends: each set with the one before,
//! the last with the first, and each border that may be a change point. Change points are found by
//! dividing: the border between sets whose sides differ most is one if they differ by that rule,
//! and so on in both parts. Where most tasks stop being comparable, a new series begins, and no
//! change point is sought across its start.
use super::changes::compare_system;
use super::pairs::significant_among;
use super::row_scores::{Compared, RowScores};
use super::{ChangeKind, Changes, Column, Counted, Group};
use std::collections::BTreeMap;
use touchstone_metrics::stats::{Better, Clusters, Tendency, count, float};

/// The runs of a system with a model in one set.
#[derive(Debug, Clone, PartialEq)]
pub struct TrendPoint<'a> {
    /// Index of the set.
    pub set: usize,
    /// Aggregate of the runs.
    pub group: Group<'a>,
    /// Comparison with the preceding set in which the system has runs.
    pub change: Option<Shift<'a>>,
    /// At a change point, the comparison of the sets from here to the next change point with those
    /// before, back to the preceding one.
    pub change_point: Option<Shift<'a>>,
    /// At the start of a new series, the number of tasks and variations that cannot be compared
    /// with the series before, as their text, expected output or scorer changed.
    pub new_series: Option<usize>,
}

/// Difference of the scores of later runs from those of earlier ones.
#[derive(Debug, Clone, PartialEq)]
pub struct Shift<'a> {
    /// The comparison; without summaries, and with no measure but the score.
    pub changes: Changes<'a>,
    /// Tendency that is shown beside all other comparisons of the trends.
    pub shown: Tendency,
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
    pub overall: Option<Shift<'a>>,
}

/// Runs of one system with one model, by set. Sets without runs are left out.
struct History<'a> {
    column: Column<'a>,
    sets: Vec<(usize, Vec<Counted<'a>>)>,
    rows: RowScores<'a>,
}

/// Returns the number of comparisons in the trends of systems that have runs in so many sets.
pub fn looked_at(sets: impl Iterator<Item = usize>) -> u64 {
    // Between two sets, the border is the step.
    let of_one = |sets: usize| if sets > 2 { 2 * (sets - 1) + 1 } else { sets.saturating_sub(1) };
    count(sets.map(of_one).sum())
}

impl<'a> Trend<'a> {
    /// Returns the trend of a system over the sets in which it has runs, each with its place among
    /// all sets. `looked_at` is the number of comparisons in the trends of all systems.
    pub fn new(
        column: Column<'a>,
        sets: Vec<(usize, Vec<Counted<'a>>)>,
        looked_at: u64,
    ) -> Trend<'a> {
        let rows = RowScores::new(&sets);
        History { column, sets, rows }.trend(looked_at)
    }

    /// Returns the points of a system without comparisons, for sets that may share runs.
    pub fn points_only(column: Column<'a>, sets: &[(usize, Vec<Counted<'a>>)]) -> Trend<'a> {
        let point = |(set, runs): &(usize, Vec<Counted<'a>>)| TrendPoint {
            set: *set,
            group: Group::summary_only(column, runs),
            change: None,
            change_point: None,
            new_series: None,
        };
        Trend { column, points: sets.iter().map(point).collect(), overall: None }
    }
}

impl<'a> History<'a> {
    fn trend(&self, looked_at: u64) -> Trend<'a> {
        let series = self.series();
        let mut change_points = self.change_points(&series, looked_at);
        let point = |(at, (set, runs)): (usize, &(usize, Vec<Counted<'a>>))| TrendPoint {
            set: *set,
            group: Group::summary_only(self.column, runs),
            change: at.checked_sub(1).and_then(|from| self.shift(from, at, at + 1, looked_at)),
            change_point: change_points.remove(&at),
            new_series: series.get(&at).copied().filter(|_| at > 0),
        };
        let points = self.sets.iter().enumerate().map(point).collect();
        let overall = match self.sets.as_slice() {
            [(_, first), _, .., (_, last)] => self.compare(first, last, looked_at),
            _ => None,
        };
        Trend { column: self.column, points, overall }
    }

    /// Returns the starts of the series, as places among the sets, with the numbers of rows that
    /// cannot be compared with the series before. A series ends where most rows that a set has in
    /// common with it have another text, expected output or scorer.
    fn series(&self) -> BTreeMap<usize, usize> {
        let mut starts = BTreeMap::from([(0, 0)]);
        let mut before = self.rows.none();
        for at in 1..self.sets.len() {
            self.rows.add(at - 1, &mut before);
            let mut all = before.clone();
            self.rows.add(at, &mut all);
            let compared = Compared::new(&before, &all);
            if compared.others > compared.differences.len() {
                starts.insert(at, compared.others);
                before = self.rows.none();
            }
        }
        starts
    }

    /// Returns the change points of all series, as places among the sets.
    fn change_points(
        &self,
        series: &BTreeMap<usize, usize>,
        looked_at: u64,
    ) -> BTreeMap<usize, Shift<'a>> {
        let ends = series.keys().skip(1).copied().chain([self.sets.len()]);
        let within = |(from, to): (&usize, usize)| self.change_points_within(*from, to, looked_at);
        series.keys().zip(ends).flat_map(within).collect()
    }

    /// Returns the change points of one series.
    fn change_points_within(
        &self,
        start: usize,
        end: usize,
        looked_at: u64,
    ) -> BTreeMap<usize, Shift<'a>> {
        let mut found = Vec::new();
        let mut parts = vec![(start, end)];
        while let Some((from, to)) = parts.pop() {
            let Some((at, differences)) = self.sharpest(from, to) else { continue };
            if significant_among(&differences, Better::Higher, looked_at) != Tendency::Unclear {
                found.push(at);
                parts.extend([(from, at), (at, to)]);
            }
        }
        found.sort_unstable();
        // Beside its neighbours a border may divide less than before. Without it, others do.
        loop {
            let shift = |(index, at): (usize, &usize)| {
                let from = index.checked_sub(1).and_then(|before| found.get(before)).copied();
                let to = found.get(index + 1).copied().unwrap_or(end);
                Some((*at, self.shift(from.unwrap_or(start), *at, to, looked_at)?))
            };
            let shown = |(_, shift): &(usize, Shift<'a>)| shift.shown != Tendency::Unclear;
            let kept: BTreeMap<usize, Shift<'a>> =
                found.iter().enumerate().filter_map(shift).filter(shown).collect();
            if kept.len() == found.len() {
                return kept;
            }
            found = kept.into_keys().collect();
        }
    }

    /// Returns the border between two sets of a part that divides it most: by the difference of the
    /// means, with a weight for the numbers of runs on both sides.
    fn sharpest(&self, from: usize, to: usize) -> Option<(usize, Clusters)> {
        let (mut before, mut all) = (self.rows.none(), self.rows.none());
        (from..to).for_each(|set| self.rows.add(set, &mut all));
        let runs = |from: usize, to: usize| {
            let sets = self.sets.iter().take(to).skip(from);
            float(count(sets.map(|(_, runs)| runs.len()).sum()))
        };
        let borders = (from + 1..to).filter_map(|at| {
            self.rows.add(at - 1, &mut before);
            let differences = Compared::new(&before, &all).differences(&self.rows)?;
            let (one, other) = (runs(from, at), runs(at, to));
            let weight = (one * other / (one + other)).sqrt();
            Some((at, differences.mean().abs() * weight, differences))
        });
        let sharpest = borders.max_by(|(_, one, _), (_, other, _)| one.total_cmp(other));
        sharpest.map(|(at, _, differences)| (at, differences))
    }

    /// Compares the sets from `at` to `to` with those from `from`.
    fn shift(&self, from: usize, at: usize, to: usize, looked_at: u64) -> Option<Shift<'a>> {
        self.compare(&self.runs(from, at), &self.runs(at, to), looked_at)
    }

    fn compare(
        &self,
        before: &[Counted<'a>],
        now: &[Counted<'a>],
        looked_at: u64,
    ) -> Option<Shift<'a>> {
        let changes = compare_system(self.column, before, now)?;
        let differences = changes.pairing.differences();
        let among = |it: Clusters| significant_among(&it, Better::Higher, looked_at);
        let shown = differences.map_or(Tendency::Unclear, among);
        Some(Shift { changes, shown })
    }

    fn runs(&self, from: usize, to: usize) -> Vec<Counted<'a>> {
        self.sets.iter().take(to).skip(from).flat_map(|(_, runs)| runs).copied().collect()
    }
}

impl Changes<'_> {
    /// Returns the number of rows with this kind of change.
    pub fn count(&self, kind: ChangeKind) -> usize {
        self.rows.iter().filter(|row| row.kind == kind).count()
    }
}

#[cfg(test)]
mod tests {
    use super::super::End;
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn trends<'a>(sets: &[Vec<Counted<'a>>]) -> Vec<Trend<'a>> {
        let columns: BTreeSet<Column<'a>> = sets.iter().flatten().map(Counted::column).collect();
        let sets_of = |column: Column<'a>| -> Vec<(usize, Vec<Counted<'a>>)> {
            let own = |set: &Vec<Counted<'a>>| -> Vec<Counted<'a>> {
                set.iter().filter(|run| run.column() == column).copied().collect()
            };
            let own = sets.iter().map(own).enumerate();
            own.filter(|(_, runs)| !runs.is_empty()).collect()
        };
        let all: Vec<_> = columns.into_iter().map(|column| (column, sets_of(column))).collect();
        let looked_at = looked_at(all.iter().map(|(_, sets)| sets.len()));
        all.into_iter().map(|(column, sets)| Trend::new(column, sets, looked_at)).collect()
    }

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
        let steps = trend.points.iter().map(|point| point.change.as_ref().map(|it| it.shown));
        (steps.collect(), trend.overall.as_ref().map(|it| it.shown))
    }

    /// Returns the sets at which the mean changes, with the difference in hundredths.
    fn change_points(sets: &[Vec<Counted<'static>>]) -> Vec<(usize, f64)> {
        let trend = trends(sets).pop().unwrap();
        let place = |point: &TrendPoint<'_>| {
            let effect = point.change_point.as_ref()?.changes.pairing.score?;
            Some((point.set, (effect.difference * 100.0).round()))
        };
        trend.points.iter().filter_map(place).collect()
    }

    #[test]
    fn a_drop_is_shown_where_it_happens_and_noise_is_not() {
        use Tendency::{Unclear, Worse};
        let sets = [set(12), set(12), set(3), set(3)];
        assert_eq!(
            tendencies(&sets),
            (vec![None, Some(Unclear), Some(Worse), Some(Unclear)], Some(Worse))
        );
        assert_eq!(change_points(&sets), [(2, -75.0)]);
    }

    #[test]
    fn a_drift_of_small_steps_is_shown_over_all_sets() {
        use Tendency::{Unclear, Worse};
        let (steps, overall) = tendencies(&[set(12), set(9), set(6), set(3)]);
        assert_eq!(steps, [None, Some(Unclear), Some(Unclear), Some(Unclear)]);
        assert_eq!(overall, Some(Worse));
    }

    #[test]
    fn a_change_that_comes_and_goes_has_two_change_points() {
        let sets = [set(12), set(12), set(0), set(0), set(12), set(12)];
        assert_eq!(change_points(&sets), [(2, -100.0), (4, 100.0)]);
        assert_eq!(change_points(&[set(12), set(12), set(12)]), []);
    }

    #[test]
    fn the_more_is_looked_at_the_more_it_takes_to_show_a_change() {
        // Six of twelve tasks fail: p = 2 / 2^6 = 0.031.
        let shown = |sets: &[Vec<Counted<'static>>]| tendencies(sets).0.pop().unwrap().unwrap();
        assert_eq!(shown(&[set(12), set(6)]), Tendency::Worse);
        assert_eq!(shown(&[set(12), set(12), set(6)]), Tendency::Unclear);
        assert_eq!(looked_at([1, 2, 3, 5].into_iter()), 1 + 5 + 9);
    }

    #[test]
    fn noise_shows_a_change_anywhere_in_at_most_one_of_twenty_histories() {
        // Scores by a linear congruential generator; each history has twelve sets.
        let mut state = 7_u64;
        let mut draw = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            if state >> 63 == 0 { 0.0 } else { 1.0 }
        };
        let mut wrong = 0;
        for _ in 0..100 {
            let mut history = vec![set(12); 12];
            for run in history.iter_mut().flatten() {
                run.end = End::Scored(draw(), None);
            }
            let trend = trends(&history).pop().unwrap();
            let is_shown = |shift: &Option<Shift<'_>>| {
                shift.as_ref().is_some_and(|it| it.shown != Tendency::Unclear)
            };
            let told =
                |point: &TrendPoint<'_>| is_shown(&point.change) || is_shown(&point.change_point);
            wrong += usize::from(is_shown(&trend.overall) || trend.points.iter().any(told));
        }
        assert!(wrong <= 5, "{wrong} of 100");
    }

    /// Returns a set whose tasks were scored against other inputs.
    fn against(fingerprint: i64, scorer: &'static str, right: usize) -> Vec<Counted<'static>> {
        let other = |run: Counted<'static>| Counted {
            fingerprint: Some(fingerprint),
            scorer: Some(scorer),
            ..run
        };
        set(right).into_iter().map(other).collect()
    }

    #[test]
    fn another_target_or_scorer_starts_a_series_and_later_change_points_are_still_found() {
        for first in [against(1, "exact", 12), against(2, "other", 12)] {
            let now = |right| against(2, "exact", right);
            let sets = [first, now(12), now(12), now(12), now(0), now(0)];
            assert_eq!(change_points(&sets), [(4, -100.0)]);
            let trend = trends(&sets).pop().unwrap();
            let series: Vec<_> = trend.points.iter().map(|point| point.new_series).collect();
            assert_eq!(series, [None, Some(12), None, None, None, None]);
        }
    }

    #[test]
    fn one_edited_task_starts_no_series() {
        let mut sets = [set(12), set(12), set(0), set(0)];
        sets[0][0].fingerprint = Some(7);
        assert_eq!(change_points(&sets), [(2, -100.0)]);
        assert!(trends(&sets)[0].points.iter().all(|point| point.new_series.is_none()));
    }

    #[test]
    fn a_total_collapse_is_shown_however_much_is_looked_at() {
        let names: Vec<String> = (0..40).map(|task| format!("t{task:02}")).collect();
        let scored = |system: &'static str, score: f64, tasks: usize| {
            let end = End::Scored(score, Some(score >= 1.0));
            let run = move |task| Counted {
                task: Some(task),
                system: Some(system),
                end,
                ..Counted::default()
            };
            names.iter().take(tasks).map(String::as_str).map(run).collect::<Vec<_>>()
        };
        let others = ["b", "c", "d", "e", "f", "g", "h", "i"];
        let day = |at: usize| {
            let mut runs = scored("a", if at < 6 { 1.0 } else { 0.0 }, 40);
            runs.extend(others.iter().flat_map(|other| scored(other, 1.0, 1)));
            runs
        };
        let sets: Vec<_> = (0..12).chain(std::iter::repeat_n(11, 48)).map(day).collect();
        let all = trends(&sets);
        assert!(looked_at(all.iter().map(|it| it.points.len())) > 1000);
        let shown = |shift: &Option<Shift<'_>>| shift.as_ref().map(|it| it.shown);
        assert_eq!(shown(&all[0].points[6].change), Some(Tendency::Worse));
        assert_eq!(shown(&all[0].points[6].change_point), Some(Tendency::Worse));
        assert_eq!(shown(&all[0].overall), Some(Tendency::Worse));
    }

    #[test]
    fn a_set_without_runs_of_a_system_is_skipped() {
        let trend = trends(&[set(12), Vec::new(), set(12)]).pop().unwrap();
        let sets: Vec<usize> = trend.points.iter().map(|point| point.set).collect();
        assert_eq!(sets, [0, 2]);
        let rows = trend.points[1].change.as_ref().map(|change| change.changes.rows.len());
        assert_eq!(rows, Some(0));
        assert_eq!(trend.overall, None);
    }

    /// Returns the weight of a border and the differences across it, from all runs on both sides.
    fn read_border(history: &History<'_>, from: usize, at: usize, to: usize) -> (f64, Vec<f64>) {
        let (before, now) = (history.runs(from, at), history.runs(at, to));
        let changes = compare_system(history.column, &before, &now).unwrap();
        let differences: Vec<f64> =
            changes.pairing.pairs.iter().map(|pair| pair.score - pair.baseline).collect();
        let [one, other] = [before.len(), now.len()].map(|it| float(count(it)));
        let mean = changes.pairing.differences().map_or(f64::NAN, |it| it.mean());
        (mean.abs() * (one * other / (one + other)).sqrt(), differences)
    }

    fn any_run() -> impl Strategy<Value = Counted<'static>> {
        let task = prop::option::weighted(0.9, prop::sample::select(TASKS[..4].to_vec()));
        let score = prop::sample::select(vec![0.0, 0.1, 0.3, 0.7, 1.0]);
        let end = prop_oneof![
            5 => score.prop_map(|score| End::Scored(score, Some(score >= 0.5))),
            1 => Just(End::Error),
            1 => Just(End::Unscored),
        ];
        let scorer = prop::option::weighted(0.9, prop::sample::select(vec!["exact", "exact", "f"]));
        (task, 0..2_u32, end, scorer, prop::sample::select(vec![1, 1, 1, 2])).prop_map(
            |(task, variation, end, scorer, fingerprint)| Counted {
                task,
                variation: Some(variation),
                end,
                scorer,
                fingerprint: Some(fingerprint),
                ..Counted::default()
            },
        )
    }

    proptest! {
        #[test]
        fn borders_are_compared_from_sums_as_from_all_runs(
            sets in prop::collection::vec(prop::collection::vec(any_run(), 1..12), 2..7),
        ) {
            let sets: Vec<_> = sets.into_iter().enumerate().collect();
            let rows = RowScores::new(&sets);
            let history = History { column: Column { system: None, model: None }, sets, rows };
            let end = history.sets.len();
            let (mut before, mut all) = (history.rows.none(), history.rows.none());
            (0..end).for_each(|set| history.rows.add(set, &mut all));
            for at in 1..end {
                history.rows.add(at - 1, &mut before);
                let (_, expected) = read_border(&history, 0, at, end);
                let compared = Compared::new(&before, &all);
                prop_assert_eq!(compared.differences.len(), expected.len());
                for ((_, found), expected) in compared.differences.iter().zip(expected) {
                    prop_assert!((found - expected).abs() < 1e-15, "{} {}", found, expected);
                }
                let (then, now) = (history.runs(0, at), history.runs(at, end));
                let changes = compare_system(history.column, &then, &now).unwrap();
                prop_assert_eq!(compared.others, changes.count(ChangeKind::NotComparable));
            }
            let weights = (1..end).map(|at| read_border(&history, 0, at, end).0);
            let most = weights.filter(|it| !it.is_nan()).max_by(f64::total_cmp);
            let found = history.sharpest(0, end).map(|(at, _)| read_border(&history, 0, at, end).0);
            prop_assert_eq!(most.is_some(), found.is_some());
            prop_assert!(most.zip(found).is_none_or(|(most, found)| most - found < 1e-12));
        }
    }
}
