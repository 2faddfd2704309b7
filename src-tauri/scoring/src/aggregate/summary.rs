//! **Pure.** Summarises the runs of one system with one model: outcomes, scores and consumption,
//! each with the interval of its mean.
use super::cell::{ordered, worst};
use super::unit_sums::UnitSums;
use super::{Cell, Counted, End};
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use touchstone_metrics::stats::{Amounts, Interval, Level, Resampling, mean};

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
    /// Means of each task and variation that has scores, by the hash of their key.
    rows: BTreeMap<u64, RowMeans>,
}

/// Means over the scored runs of one task and variation.
#[derive(Debug, Clone, Copy, PartialEq)]
struct RowMeans {
    score: f64,
    cost: Option<f64>,
    seconds: Option<f64>,
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
        let here = ordered(runs, places);
        let mut histogram = [0; BINS];
        for score in here.iter().filter_map(|run| run.score()) {
            histogram[bin(score)] += 1;
        }
        let tokens = |run: &Counted<'_>| run.tokens.map(touchstone_metrics::stats::float);
        Self {
            histogram,
            tokens: Consumption::new(&here, tokens, true),
            rows: rows(&here),
            ..Self::of_trend(runs, places, &here)
        }
    }

    /// Summarises outcomes, scores, dollars and seconds alone. `here` are the runs with these indexes,
    /// in the order of their rows.
    fn of_trend(runs: &[Counted<'_>], places: &[usize], here: &[&Counted<'_>]) -> Self {
        let cell = Cell::from_ordered(here, Resampling::default());
        Self {
            cell: Cell { worst: worst(runs, places), ..cell },
            cost: Consumption::new(here, |run| run.cost, true),
            seconds: Consumption::new(here, |run| run.seconds, false),
            ..Self::default()
        }
    }

    /// Returns the number of tasks and variations with scores.
    pub fn scored_rows(&self) -> u64 {
        touchstone_metrics::stats::count(self.rows.len())
    }

    /// Returns the number of tasks and variations for which both have scores.
    pub fn shared_rows(&self, other: &Self) -> u64 {
        let shared = self.rows.keys().filter(|key| other.rows.contains_key(key));
        touchstone_metrics::stats::count(shared.count())
    }

    /// Like [`Summary::new`], with outcomes, scores, dollars and seconds alone.
    pub(super) fn for_trend(runs: &[Counted<'_>], places: &[usize]) -> Self {
        Self::of_trend(runs, places, &ordered(runs, places))
    }
}

/// Returns the means of each task and variation. Runs without a task are in none.
fn rows(runs: &[&Counted<'_>]) -> BTreeMap<u64, RowMeans> {
    let scored = runs.iter().filter(|run| run.task.is_some() && run.score().is_some());
    let scored: Vec<&Counted<'_>> = scored.copied().collect();
    let means = |runs: &[&Counted<'_>]| {
        let over = |of: fn(&Counted<'_>) -> Option<f64>| {
            let known = runs.iter().filter_map(|run| of(run));
            mean(&known.filter(|it| it.is_finite() && *it >= 0.0).collect::<Vec<_>>())
        };
        let values: Vec<f64> = runs.iter().filter_map(|run| run.score()).collect();
        let score = mean(&values)?;
        let mut hasher = DefaultHasher::new();
        runs.first()?.row().hash(&mut hasher);
        Some((
            hasher.finish(),
            RowMeans { score, cost: over(|run| run.cost), seconds: over(|run| run.seconds) },
        ))
    };
    scored.chunk_by(|one, other| one.row() == other.row()).filter_map(means).collect()
}

impl Consumption {
    /// Summarises the amounts of runs that are in the order of their rows.
    fn new(runs: &[&Counted<'_>], of: fn(&Counted<'_>) -> Option<f64>, with_waiting: bool) -> Self {
        let counts = |run: &&&Counted<'_>| match run.end {
            End::Running | End::Damaged => false,
            End::Waiting => with_waiting,
            End::Scored(..) | End::Error | End::Unscored => true,
        };
        // Amounts that are negative or not finite count as unknown.
        let of = |run: &Counted<'_>| of(run).filter(|it| it.is_finite() && *it >= 0.0);
        let mut known = UnitSums::default();
        for run in runs.iter().filter(counts) {
            if let Some(amount) = of(run) {
                known.add(&run.row(), amount, None);
            }
        }
        let interval = known.values().filter(|it| it.n() > 1).and_then(|it| {
            let interval = it.interval(Level::default(), Resampling::default())?;
            Some(interval.within(0.0, f64::INFINITY))
        });
        let amounts = runs.iter().filter(counts).map(|run| of(run));
        let amounts = Amounts::from_values(amounts).unwrap_or_default();
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
    /// For each system, whether it is on the front; `None` where one of the measures is unknown, or
    /// if it has no task in common with another system.
    pub on: Vec<Option<bool>>,
    /// Least and greatest number of tasks and variations over which two systems were compared.
    pub rows: (u64, u64),
}

impl Front {
    /// Returns the front by cost, or by time where no cost is known. `None` if no two systems can be
    /// compared.
    pub fn new(systems: &[&Summary]) -> Option<Self> {
        let has_cost = systems.iter().any(|it| it.cost.mean().is_some_and(|mean| mean > 0.0));
        Self::by(systems, if has_cost { FrontBy::Cost } else { FrontBy::Seconds })
    }

    /// Returns the front by a measure. Two systems are compared over the tasks and variations for
    /// which both measures of both are known: one is off the front if, over these, the other one has
    /// a mean score at least as high and a mean amount at most as high, and one of both is really
    /// better. `None` if no two systems can be compared.
    pub fn by(systems: &[&Summary], by: FrontBy) -> Option<Self> {
        let rows: Vec<BTreeMap<u64, (f64, f64)>> =
            systems.iter().map(|summary| measures(summary, by)).collect();
        let mut on = vec![None; systems.len()];
        let mut compared: Option<(u64, u64)> = None;
        for (at, own) in rows.iter().enumerate() {
            let others = rows.iter().enumerate().filter(|(other, _)| *other != at);
            for (_, other) in others {
                let Some((count, is_beaten)) = beaten(own, other) else { continue };
                let (least, most) = compared.unwrap_or((count, count));
                compared = Some((least.min(count), most.max(count)));
                on[at] = Some(on[at] != Some(false) && !is_beaten);
            }
        }
        Some(Self { by, on, rows: compared? })
    }
}

/// Returns score and amount of each task and variation for which both are known.
fn measures(summary: &Summary, by: FrontBy) -> BTreeMap<u64, (f64, f64)> {
    let amount = |row: &RowMeans| match by {
        FrontBy::Cost => row.cost,
        FrontBy::Seconds => row.seconds,
    };
    summary.rows.iter().filter_map(|(key, row)| Some((*key, (row.score, amount(row)?)))).collect()
}

/// Returns over how many common tasks and variations two systems are compared, and whether the other
/// one beats this one. `None` if they have none in common.
fn beaten(
    own: &BTreeMap<u64, (f64, f64)>,
    other: &BTreeMap<u64, (f64, f64)>,
) -> Option<(u64, bool)> {
    let common = own.iter().filter_map(|(key, own)| Some((own, other.get(key)?)));
    let mut count = 0;
    let (mut ours, mut theirs) = ((0.0, 0.0), (0.0, 0.0));
    for (own, other) in common {
        count += 1;
        ours = (ours.0 + own.0, ours.1 + own.1);
        theirs = (theirs.0 + other.0, theirs.1 + other.1);
    }
    let is_beaten =
        theirs.0 >= ours.0 && theirs.1 <= ours.1 && (theirs.0 > ours.0 || theirs.1 < ours.1);
    (count > 0).then_some((count, is_beaten))
}

#[cfg(test)]
mod tests {
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

    fn summary_at(score: f64, cost: Option<f64>, seconds: Option<f64>) -> Summary {
        summary(&[Counted { seconds, ..run(Some("a"), score, cost) }])
    }

    fn on(all: &[Summary]) -> Option<(FrontBy, Vec<Option<bool>>)> {
        Front::new(&all.iter().collect::<Vec<_>>()).map(|front| (front.by, front.on))
    }

    #[test]
    fn the_front_holds_those_that_no_other_beats_in_both() {
        let [yes, no] = [Some(true), Some(false)];
        let cheap = summary_at(0.5, Some(1.0), None);
        let good = summary_at(0.9, Some(5.0), None);
        let worse = summary_at(0.5, Some(2.0), None);
        let equal = summary_at(0.5, Some(1.0), None);
        let unknown = summary_at(1.0, None, Some(1.0));
        assert_eq!(
            on(&[cheap.clone(), good, worse, equal, unknown]),
            Some((FrontBy::Cost, vec![yes, yes, no, yes, None]))
        );
        assert_eq!(on(&[cheap]), None, "one alone beats nobody");
        let [slow, fast] =
            [summary_at(0.5, None, Some(9.0)), summary_at(0.6, Some(0.0), Some(3.0))];
        assert_eq!(on(&[slow, fast]), Some((FrontBy::Seconds, vec![no, yes])));
    }

    #[test]
    fn the_front_compares_two_systems_over_the_tasks_that_both_have() {
        // `hard` did a hard task as well, which makes its means worse than those of `easy`.
        let hard = summary(&[run(Some("a"), 1.0, Some(1.0)), run(Some("b"), 0.0, Some(9.0))]);
        let easy = summary(&[run(Some("a"), 0.9, Some(2.0))]);
        let alone = summary(&[run(Some("c"), 1.0, Some(0.1))]);
        let front = Front::new(&[&hard, &easy, &alone]).unwrap();
        assert_eq!((front.on, front.rows), (vec![Some(true), Some(false), None], (1, 1)));
        assert_eq!(Front::new(&[&hard, &alone]), None, "they have no task in common");
    }
}
