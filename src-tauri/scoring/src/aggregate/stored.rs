//! **Pure.** Aggregates imported verdicts of an evaluator over many runs: the mean of its numbers
//! on their own scale, and the pass rate. Nothing is judged again; verdicts without a number or
//! without a pass or fail are left out of the respective figure.
use super::Counted;
use super::cell::{Unit, units};
use touchstone_metrics::stats::{Clusters, Estimate, Level, Means, Passes, Resampling, passes};

/// Verdict of an evaluator on one run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ImportedVerdict {
    /// Index of the run among the given ones.
    pub run: usize,
    /// Number, if present.
    pub number: Option<f64>,
    /// Pass or fail, if present.
    pub passed: Option<bool>,
}

/// Aggregate of the verdicts of one evaluator.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ImportedSummary {
    /// Number of verdicts with a number.
    pub numbers: u64,
    /// Mean of the numbers. It has no interval if they are all equal: the scale is unknown, so the
    /// possible values are too.
    pub mean: Option<Estimate>,
    /// Passes among the verdicts with pass or fail.
    pub passes: Option<Passes>,
}

/// Aggregates the verdicts of one evaluator on some runs.
pub fn summarize_imported(runs: &[Counted<'_>], said: &[ImportedVerdict]) -> ImportedSummary {
    let numbers = gathered(runs, said, |one| one.number.filter(|number| number.is_finite()));
    let count = touchstone_metrics::stats::count(numbers.len());
    let mean = Clusters::gather(numbers).map(|clusters| Estimate {
        value: clusters.mean(),
        interval: clusters.interval(Level::default(), Resampling::default()),
        by: if clusters.is_drawn() { Means::Bootstrap } else { Means::Student },
    });
    ImportedSummary {
        numbers: count,
        mean,
        passes: passes(gathered(runs, said, |one| one.passed).into_iter()),
    }
}

/// Returns the values that are present, each with the cluster of its run.
fn gathered<'a, T>(
    runs: &'a [Counted<'a>],
    said: &[ImportedVerdict],
    of: impl Fn(&ImportedVerdict) -> Option<T>,
) -> Vec<(Unit<'a>, T)> {
    let known = said.iter().filter_map(|one| Some(((one.run, runs.get(one.run)?), of(one)?)));
    let (places, values): (Vec<_>, Vec<T>) = known.unzip();
    units(&places).into_iter().zip(values).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(task: &str) -> Counted<'_> {
        Counted { task: Some(task), ..Counted::default() }
    }

    #[test]
    fn missing_results_are_in_no_mean_and_scales_stay_separate() {
        let runs = ["a", "b", "c", "d"].map(run);
        let said = |run, number, passed| ImportedVerdict { run, number, passed };
        let all = [
            said(0, Some(5.0), Some(true)),
            said(1, Some(1.0), Some(false)),
            said(2, Some(3.0), None),
            said(3, None, None),
            said(9, Some(100.0), Some(true)),
        ];
        let told = summarize_imported(&runs, &all);
        let mean = told.mean.unwrap();
        assert_eq!((told.numbers, mean.value), (3, 3.0));
        let interval = mean.interval.unwrap();
        assert!(interval.low < 1.0 && interval.high > 5.0, "{interval:?}");
        let passes = told.passes.unwrap();
        assert_eq!((passes.passed, passes.of), (1, 2));
    }

    #[test]
    fn numbers_that_are_all_the_same_have_no_interval_and_none_has_no_mean() {
        let runs = ["a", "b"].map(run);
        let ones = [0, 1].map(|run| ImportedVerdict { run, number: Some(1.0), passed: None });
        let told_ones = summarize_imported(&runs, &ones);
        assert_eq!(told_ones.mean.map(|mean| (mean.value, mean.interval)), Some((1.0, None)));
        assert_eq!(told_ones.passes, None);
        assert_eq!(summarize_imported(&runs, &[]), ImportedSummary::default());
    }
}
