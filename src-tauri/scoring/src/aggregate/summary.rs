//! **Pure.** Summarises the runs of one system with one model: outcomes, scores and consumption,
//! each with the interval of its mean.
use super::cell::units;
use super::{Cell, Counted, End};
use crate::stats::{Amounts, Clusters, Interval, Level, Resampling};

/// Number of equal parts of the scale of scores in a histogram.
pub const BINS: usize = 10;

/// Summary of the runs of one system with one model.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Summary {
    /// Outcomes, scores and passes.
    pub cell: Cell,
    /// Number of scores in each part of the scale; 1 is in the last part.
    pub histogram: [u64; BINS],
    /// Tokens of all runs that ended or wait.
    pub tokens: Consumption,
    /// Dollars of all runs that ended or wait.
    pub cost: Consumption,
    /// Seconds of all runs that ended; waiting runs are not included.
    pub seconds: Consumption,
}

/// What runs consumed of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Consumption {
    /// Amounts over the runs that report them.
    pub amounts: Amounts,
    /// Confidence interval of the mean, clustered by task. `None` for a single run, or if no task
    /// differs from the others.
    pub interval: Option<Interval>,
}

impl Summary {
    /// Summarises the runs with these indexes.
    pub fn new(runs: &[Counted<'_>], places: &[usize]) -> Self {
        let of = |of: fn(&Counted<'_>) -> Option<f64>, with_waiting: bool| {
            Consumption::new(runs, places, of, with_waiting)
        };
        let mut histogram = [0; BINS];
        for score in places.iter().filter_map(|at| runs.get(*at)?.score()) {
            histogram[bin(score)] += 1;
        }
        Self {
            cell: Cell::new(runs, places, Resampling::default()),
            histogram,
            tokens: of(|run| run.tokens.map(crate::stats::float), true),
            cost: of(|run| run.cost, true),
            seconds: of(|run| run.seconds, false),
        }
    }
}

impl Consumption {
    fn new(
        runs: &[Counted<'_>],
        places: &[usize],
        of: fn(&Counted<'_>) -> Option<f64>,
        with_waiting: bool,
    ) -> Self {
        let counts = |run: &&Counted<'_>| match run.end {
            End::Running | End::Damaged => false,
            End::Waiting => with_waiting,
            End::Scored(..) | End::Error | End::Unscored => true,
        };
        // Amounts that are negative or not finite count as unknown.
        let of = |run: &Counted<'_>| of(run).filter(|it| it.is_finite() && *it >= 0.0);
        let ended = || places.iter().filter_map(|at| Some((*at, runs.get(*at).filter(counts)?)));
        let known: Vec<(usize, &Counted<'_>)> =
            ended().filter(|(_, run)| of(run).is_some()).collect();
        let values = known.iter().filter_map(|(_, run)| of(run));
        let clusters = Clusters::gather(units(&known).into_iter().zip(values));
        let interval = clusters.filter(|it| it.n() > 1).and_then(|it| {
            let interval = it.interval(Level::default(), Resampling::default())?;
            Some(interval.within(0.0, f64::INFINITY))
        });
        let amounts = Amounts::from_values(ended().map(|(_, run)| of(run))).unwrap_or_default();
        Self { amounts, interval }
    }

    /// Returns the mean over the runs that report the amount.
    pub fn mean(&self) -> Option<f64> {
        self.amounts.of_known.map(|known| known.mean)
    }
}

/// Returns the part of the scale that holds a score.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "scores are between 0 and 1"
)]
fn bin(score: f64) -> usize {
    ((score * BINS as f64 + 1e-9) as usize).min(BINS - 1)
}

/// Second measure of a Pareto front, beside the score.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrontBy {
    /// Mean cost.
    Cost,
    /// Mean time, where no cost is known.
    Seconds,
}

/// Systems that no other one beats in both measures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Front {
    /// Measure beside the score.
    pub by: FrontBy,
    /// For each system, whether it is on the front; `None` where one of the measures is unknown.
    pub on: Vec<Option<bool>>,
}

impl Front {
    /// Returns the front by the means: a system is off it if another one has a score at least as
    /// high and costs at most as much, and one of both is really better. Time takes the place of
    /// cost where no cost is known. `None` with fewer than two systems that can be compared.
    pub fn new(systems: &[&Summary]) -> Option<Self> {
        let is_known = |of: fn(&Summary) -> Option<f64>| systems.iter().any(|it| of(it).is_some());
        let (by, amount): (_, fn(&Summary) -> Option<f64>) =
            if is_known(|it| it.cost.mean().filter(|mean| *mean > 0.0)) {
                (FrontBy::Cost, |it| it.cost.mean())
            } else {
                (FrontBy::Seconds, |it| it.seconds.mean())
            };
        let point = |it: &&Summary| Some((it.cell.score?.value, amount(it)?));
        let points: Vec<Option<(f64, f64)>> = systems.iter().map(point).collect();
        if points.iter().flatten().count() < 2 {
            return None;
        }
        let is_beaten = |(score, amount): (f64, f64)| {
            points.iter().flatten().any(|(other, less)| {
                *other >= score && *less <= amount && (*other > score || *less < amount)
            })
        };
        let on = points.iter().map(|point| point.map(|point| !is_beaten(point))).collect();
        Some(Self { by, on })
    }
}

#[cfg(test)]
mod tests {
    use super::super::Estimate;
    use super::super::Means;
    use super::*;

    fn run(task: Option<&'static str>, score: f64, cost: Option<f64>) -> Counted<'static> {
        Counted { task, end: End::Scored(score, None), cost, ..Counted::default() }
    }

    fn summary(runs: &[Counted<'_>]) -> Summary {
        Summary::new(runs, &(0..runs.len()).collect::<Vec<_>>())
    }

    #[test]
    fn the_interval_of_an_amount_is_by_task() {
        // Ten equal repeats of a task say no more than one.
        let few: Vec<_> = [("a", 1.0), ("b", 2.0), ("c", 4.0)]
            .iter()
            .map(|(task, cost)| run(Some(task), 1.0, Some(*cost)))
            .collect();
        let many: Vec<_> = few.iter().flat_map(|run| [*run; 10]).collect();
        let [few, many] = [summary(&few), summary(&many)].map(|it| it.cost.interval.unwrap());
        assert!((few.low - many.low).abs() < 1e-9 && (few.high - many.high).abs() < 1e-9);
        assert!(few.low.abs() < 1e-9, "a cost is not negative: {few:?}");
        assert!((few.high - 6.128).abs() < 0.01, "{few:?}");
    }

    #[test]
    fn what_no_run_reports_has_no_mean_and_no_interval() {
        let all = summary(&[run(Some("a"), 1.0, None), run(Some("b"), 1.0, None)]);
        assert_eq!((all.cost.mean(), all.cost.interval), (None, None));
        assert_eq!((all.cost.amounts.known, all.cost.amounts.unknown), (0, 2));
        let one = summary(&[run(Some("a"), 1.0, Some(1.0)), run(Some("b"), 1.0, None)]);
        assert_eq!((one.cost.mean(), one.cost.interval), (Some(1.0), None));
    }

    #[test]
    fn runs_without_a_task_count_each_for_itself() {
        let loose: Vec<_> = [0.0, 1.0, 0.0, 1.0]
            .iter()
            .map(|score| run(None, *score, Some(1.0 + score)))
            .chain([run(Some("a"), 1.0, Some(1.0))])
            .collect();
        let all = summary(&loose);
        assert_eq!((all.cell.scored, all.cell.flaky), (5, 0));
        let tasks: Vec<_> = ["b", "c", "d", "e"]
            .iter()
            .zip(&loose)
            .map(|(task, run)| Counted { task: Some(task), ..*run })
            .chain([loose[4]])
            .collect();
        assert_eq!(all.cost.interval, summary(&tasks).cost.interval);
    }

    #[test]
    fn each_score_is_in_one_part_of_the_scale() {
        let scores = [0.0, 0.05, 0.1, 0.3, 0.6, 0.7, 0.999, 1.0];
        let all = summary(&scores.map(|score| run(Some("a"), score, None)));
        assert_eq!(all.histogram, [2, 1, 0, 1, 0, 0, 1, 1, 0, 2]);
        // Sums of tenths are inexact.
        let tenths: Vec<usize> = (0..=10).map(|n| bin(f64::from(n) * 0.1)).collect();
        assert_eq!(tenths, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9]);
    }

    fn at(score: f64, cost: Option<f64>, seconds: Option<f64>) -> Summary {
        let amount = |value: Option<f64>| Consumption {
            amounts: Amounts::from_values([value]).unwrap(),
            interval: None,
        };
        let score = Some(Estimate { value: score, interval: None, by: Means::Wilson });
        Summary {
            cell: Cell { score, ..Cell::default() },
            cost: amount(cost),
            seconds: amount(seconds),
            ..Summary::default()
        }
    }

    #[test]
    fn the_front_holds_those_that_no_other_beats_in_both() {
        let on = |all: &[Summary]| {
            Front::new(&all.iter().collect::<Vec<_>>()).map(|front| (front.by, front.on))
        };
        let [yes, no] = [Some(true), Some(false)];
        let cheap = at(0.5, Some(1.0), None);
        let good = at(0.9, Some(5.0), None);
        let worse = at(0.5, Some(2.0), None);
        let equal = at(0.5, Some(1.0), None);
        let unknown = at(1.0, None, Some(1.0));
        assert_eq!(
            on(&[cheap.clone(), good, worse, equal, unknown]),
            Some((FrontBy::Cost, vec![yes, yes, no, yes, None]))
        );
        assert_eq!(on(&[cheap]), None, "one alone beats nobody");
        let [slow, fast] = [at(0.5, None, Some(9.0)), at(0.6, Some(0.0), Some(3.0))];
        assert_eq!(on(&[slow, fast]), Some((FrontBy::Seconds, vec![no, yes])));
    }
}
