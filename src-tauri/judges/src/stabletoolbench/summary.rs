//! **Pure.** Summary of a set of evaluations with the figures of result files, plus the confidence
//! intervals that those omit.
use std::collections::BTreeSet;
use touchstone_metrics::stats::{Estimate, Passes, Resampling, count, estimate, float, passes};

/// One evaluated answer.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Evaluation<'a> {
    /// Query of the answer.
    pub query: &'a str,
    /// `SoPR` score: 1, 0.5 or 0, or a mean of rounds; `None` when it was not judged.
    pub sopr: Option<f64>,
    /// API call score; `None` when there are no gold APIs.
    pub api_calls: Option<f64>,
    /// True when the answer was finished; `None` when that is unknown.
    pub finished: Option<bool>,
    /// True when there is an answer.
    pub answered: bool,
    /// Duration in seconds; `None` when it is unknown.
    pub seconds: Option<f64>,
}

/// Summary of evaluations. Shares and means are over evaluations, not over queries. Unknown values
/// are `None`, never 0.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Summary {
    /// Number of distinct queries.
    pub queries: u64,
    /// Number of evaluations.
    pub evaluations: u64,
    /// Number of evaluations with an answer.
    pub answered: u64,
    /// Number of evaluations with a `SoPR` score.
    pub judged: u64,
    /// Evaluations with a `SoPR` score of 1, out of those with a score.
    pub solved: Option<Passes>,
    /// Evaluations with a `SoPR` score of 0.5.
    pub unsure: Option<Passes>,
    /// Evaluations with a `SoPR` score of 0.
    pub unsolved: Option<Passes>,
    /// Finished evaluations, out of those for which it is known.
    pub finished: Option<Passes>,
    /// Mean of the `SoPR` scores.
    pub sopr: Option<Estimate>,
    /// Mean of the `SoPR` scores of evaluations with an answer, like in the official program.
    pub sopr_of_answered: Option<Estimate>,
    /// Mean of the API call scores.
    pub api_calls: Option<Estimate>,
    /// Total of the known durations, in seconds.
    pub seconds: Option<f64>,
    /// Number of evaluations with a known duration.
    pub timed: u64,
}

impl Summary {
    /// Summarizes evaluations.
    pub fn from_evaluations(evaluations: &[Evaluation<'_>]) -> Self {
        let all = || evaluations.iter();
        let judged = |of: f64| {
            let is = move |score: f64| (score - of).abs() < f64::EPSILON;
            passes(all().filter_map(move |one| Some((one.query, is(one.sopr?)))))
        };
        let mean = |of: fn(&Evaluation<'_>) -> Option<f64>| {
            estimate(
                all().filter_map(move |one| Some((one.query, of(one)?))),
                Resampling::default(),
            )
        };
        let seconds: Vec<f64> = all().filter_map(|one| one.seconds).collect();
        Self {
            queries: count(all().map(|one| one.query).collect::<BTreeSet<_>>().len()),
            evaluations: count(evaluations.len()),
            answered: count(all().filter(|one| one.answered).count()),
            judged: count(all().filter(|one| one.sopr.is_some()).count()),
            solved: judged(1.0),
            unsure: judged(0.5),
            unsolved: judged(0.0),
            finished: passes(all().filter_map(|one| Some((one.query, one.finished?)))),
            sopr: mean(|one| one.sopr),
            sopr_of_answered: mean(|one| one.sopr.filter(|_| one.answered)),
            api_calls: mean(|one| one.api_calls),
            seconds: (!seconds.is_empty()).then(|| seconds.iter().sum()),
            timed: count(seconds.len()),
        }
    }

    /// Returns the mean of the known durations, in seconds.
    pub fn seconds_each(&self) -> Option<f64> {
        self.seconds.map(|seconds| seconds / float(self.timed))
    }

    /// Returns true when every evaluation has a `SoPR` score.
    pub fn all_judged(&self) -> bool {
        self.judged == self.evaluations
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evaluation(
        query: &str,
        sopr: Option<f64>,
        api_calls: f64,
        finished: bool,
        answered: bool,
    ) -> Evaluation<'_> {
        Evaluation {
            query,
            sopr,
            api_calls: Some(api_calls),
            finished: Some(finished),
            answered,
            seconds: None,
        }
    }

    #[test]
    fn shares_are_of_evaluations_and_queries_are_counted_once() {
        let rows = [
            evaluation("1", Some(1.0), 1.0, true, true),
            evaluation("1", Some(0.5), 0.5, true, true),
            evaluation("2", Some(0.0), 0.0, false, false),
            Evaluation { seconds: Some(3.0), ..evaluation("3", Some(1.0), 0.5, true, true) },
        ];
        let summary = Summary::from_evaluations(&rows);
        let shares = [summary.solved, summary.unsure, summary.unsolved, summary.finished];
        assert_eq!(
            shares.map(|it| it.map(|it| (it.passed, it.of))),
            [(2, 4), (1, 4), (1, 4), (3, 4)].map(Some)
        );
        assert_eq!((summary.queries, summary.evaluations, summary.answered), (3, 4, 3));
        let means =
            [summary.sopr, summary.sopr_of_answered, summary.api_calls].map(|it| it.unwrap().value);
        assert!(
            means.iter().zip([0.625, 2.5 / 3.0, 0.5]).all(|(mean, of)| (mean - of).abs() < 1e-12),
            "{means:?}"
        );
        assert!(summary.sopr.unwrap().interval.is_some());
        assert_eq!(
            (summary.seconds, summary.seconds_each(), summary.timed),
            (Some(3.0), Some(3.0), 1)
        );
    }

    #[test]
    fn what_nobody_judged_is_not_a_zero() {
        let rows =
            [evaluation("1", None, 1.0, true, true), evaluation("2", Some(1.0), 1.0, true, true)];
        let summary = Summary::from_evaluations(&rows);
        assert_eq!(summary.solved.map(|it| (it.passed, it.of)), Some((1, 1)));
        assert_eq!((summary.sopr.map(|it| it.value), summary.all_judged()), (Some(1.0), false));
        let unknown = [Evaluation { finished: None, ..rows[0] }, rows[1]];
        let finished = Summary::from_evaluations(&unknown).finished;
        assert_eq!(
            finished.map(|it| (it.passed, it.of)),
            Some((1, 1)),
            "nor is what nobody says of the end a no"
        );
        let nothing = Summary::from_evaluations(&[]);
        assert_eq!(
            (nothing.solved, nothing.sopr, nothing.seconds, nothing.all_judged()),
            (None, None, None, true)
        );
        assert_eq!(Summary::from_evaluations(&rows[..1]).sopr, None);
    }
}
