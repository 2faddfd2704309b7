//! **Pure.** The summary of a set of evaluations, as result files have it, with the doubt that they
//! leave out.
use crate::standing::{Estimate, Passes, estimate, passes};
use crate::stats::{Resampling, count, float};
use std::collections::BTreeSet;

/// One answer, evaluated.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Evaluation<'a> {
    /// Its query.
    pub query: &'a str,
    /// Whether the answer solves it: 1, 0.5 or 0, or a mean of rounds. None when nobody judged it.
    pub sopr: Option<f64>,
    /// The share of gold APIs that were called; none when there are none.
    pub api_calls: Option<f64>,
    /// It was finished; none when nobody can say.
    pub finished: Option<bool>,
    /// There is an answer.
    pub answered: bool,
    /// Seconds; none when nobody says.
    pub seconds: Option<f64>,
}

/// What evaluations come to. Shares and means are over evaluations, not over queries. What nobody
/// said is none, never 0.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Summary {
    /// Different queries.
    pub queries: u64,
    /// All evaluations.
    pub evaluations: u64,
    /// Those with an answer.
    pub answered: u64,
    /// Those with a `SoPR` score.
    pub judged: u64,
    /// Those with a `SoPR` score of 1, of those that have one.
    pub solved: Option<Passes>,
    /// Those with one of 0.5.
    pub unsure: Option<Passes>,
    /// Those with one of 0.
    pub unsolved: Option<Passes>,
    /// Those that were finished, of those of which that is known.
    pub finished: Option<Passes>,
    /// The mean of the `SoPR` scores there are.
    pub sopr: Option<Estimate>,
    /// The same over the evaluations with an answer: what the official program does.
    pub sopr_of_answered: Option<Estimate>,
    /// The mean of the API call scores there are.
    pub api_calls: Option<Estimate>,
    /// Seconds in all, of the evaluations that say.
    pub seconds: Option<f64>,
    /// How many say.
    pub timed: u64,
}

impl Summary {
    /// Sums evaluations up.
    pub fn of(evaluations: &[Evaluation<'_>]) -> Self {
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

    /// Seconds of one evaluation, of those that say.
    pub fn seconds_each(&self) -> Option<f64> {
        self.seconds.map(|seconds| seconds / float(self.timed))
    }

    /// True when every evaluation has a `SoPR` score.
    pub fn all_judged(&self) -> bool {
        self.judged == self.evaluations
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(
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
            one("1", Some(1.0), 1.0, true, true),
            one("1", Some(0.5), 0.5, true, true),
            one("2", Some(0.0), 0.0, false, false),
            Evaluation { seconds: Some(3.0), ..one("3", Some(1.0), 0.5, true, true) },
        ];
        let summary = Summary::of(&rows);
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
        let rows = [one("1", None, 1.0, true, true), one("2", Some(1.0), 1.0, true, true)];
        let summary = Summary::of(&rows);
        assert_eq!(summary.solved.map(|it| (it.passed, it.of)), Some((1, 1)));
        assert_eq!((summary.sopr.map(|it| it.value), summary.all_judged()), (Some(1.0), false));
        let unknown = [Evaluation { finished: None, ..rows[0] }, rows[1]];
        let finished = Summary::of(&unknown).finished;
        assert_eq!(
            finished.map(|it| (it.passed, it.of)),
            Some((1, 1)),
            "nor is what nobody says of the end a no"
        );
        let nothing = Summary::of(&[]);
        assert_eq!(
            (nothing.solved, nothing.sopr, nothing.seconds, nothing.all_judged()),
            (None, None, None, true)
        );
        assert_eq!(Summary::of(&rows[..1]).sopr, None);
    }
}
