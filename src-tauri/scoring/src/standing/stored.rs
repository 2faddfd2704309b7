//! **Pure.** What an evaluator is stored to have said of many runs: the mean of its numbers on
//! whatever scale they are, and how often it lets pass. Nothing is judged again, and what has no
//! number or no verdict is in neither.
use super::Counted;
use super::cell::{Estimate, Means, Passes, Unit, passes, units};
use crate::stats::{Clusters, Level, Resampling};

/// What an evaluator said of one run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Said {
    /// The run, by its place among those handed in.
    pub run: usize,
    /// The number, where there is one.
    pub number: Option<f64>,
    /// Whether that is good enough, where it says so.
    pub passed: Option<bool>,
}

/// What it comes to.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Told {
    /// How many have a number.
    pub numbers: u64,
    /// The mean of these. Its interval is none where they do not differ: the scale is not known, so
    /// nothing says what else they could be.
    pub mean: Option<Estimate>,
    /// How many pass, of those for which it says so.
    pub passes: Option<Passes>,
}

/// Sums up what one evaluator said of some runs.
pub fn told(runs: &[Counted<'_>], said: &[Said]) -> Told {
    let numbers = gathered(runs, said, |one| one.number.filter(|number| number.is_finite()));
    let count = crate::stats::count(numbers.len());
    let mean = Clusters::gather(numbers).map(|clusters| Estimate {
        value: clusters.mean(),
        interval: clusters.interval(Level::default(), Resampling::default()),
        by: if clusters.is_drawn() { Means::Bootstrap } else { Means::Student },
    });
    Told {
        numbers: count,
        mean,
        passes: passes(gathered(runs, said, |one| one.passed).into_iter()),
    }
}

/// What is there of each run, with what the run stands with.
fn gathered<'a, T>(
    runs: &'a [Counted<'a>],
    said: &[Said],
    of: impl Fn(&Said) -> Option<T>,
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
    fn what_says_nothing_is_in_no_mean_and_a_scale_of_its_own_is_kept() {
        let runs = ["a", "b", "c", "d"].map(run);
        let said = |run, number, passed| Said { run, number, passed };
        let all = [
            said(0, Some(5.0), Some(true)),
            said(1, Some(1.0), Some(false)),
            said(2, Some(3.0), None),
            said(3, None, None),
            said(9, Some(100.0), Some(true)),
        ];
        let told = told(&runs, &all);
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
        let ones = [0, 1].map(|run| Said { run, number: Some(1.0), passed: None });
        let told_ones = told(&runs, &ones);
        assert_eq!(told_ones.mean.map(|mean| (mean.value, mean.interval)), Some((1.0, None)));
        assert_eq!(told_ones.passes, None);
        assert_eq!(told(&runs, &[]), Told::default());
    }
}
