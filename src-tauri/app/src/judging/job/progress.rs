//! **Pure.** Progress and results of a judging job, updated as each run ends.
use super::pending::Target;
use std::collections::BTreeMap;
use touchstone_api::{JudgeMean, JudgePasses, JudgeRates, JudgeShares, JudgeSkip};
use touchstone_formats::judgement::Round;
use touchstone_judges::sowr::{Shares, Winner, shares};
use touchstone_judges::{JudgeRef, mean_and_spread, meets_threshold, solve_rate};
use touchstone_metrics::stats::{Clusters, Level, Resampling, wilson_clustered};

/// Maximum number of problems that are listed.
const SHOWN: usize = 50;

/// Outcome of judging one run.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum JudgeOutcome {
    /// The run has its verdict.
    Judged {
        /// Rounds of the judgement.
        rounds: Vec<Round>,
        /// True if the verdict needed no request because the run has no answer.
        without_answer: bool,
    },
    /// Not judged because of the run's state, with the reason.
    Skipped(String),
    /// Error of the provider or the disk.
    Failed(String),
    /// Stopped; can be judged later.
    Stopped,
}

/// Progress of a judging job.
#[derive(Debug, Clone, Default)]
pub(crate) struct Progress {
    pub(crate) total: u64,
    pub(crate) done: u64,
    pub(crate) unread: u64,
    pub(crate) failed: u64,
    pub(crate) skipped: u64,
    pub(crate) stopped: u64,
    pub(crate) troubles: Vec<JudgeSkip>,
    answered: Vec<Vec<Option<f64>>>,
    without_answer: u64,
    /// Number of rounds requested.
    rounds: usize,
    points: Vec<(u32, u32)>,
    judge: Option<JudgeRef>,
    /// Task, mean and pass of each run with a verdict in every round. If the task is not known, its
    /// path takes the place of the task.
    verdicts: Vec<(String, f64, bool)>,
}

impl Progress {
    /// Creates the progress of a job with `total` runs and `rounds` rounds per run.
    pub(crate) fn new(judge: JudgeRef, total: usize, rounds: u32) -> Self {
        Self { judge: Some(judge), total: total as u64, rounds: rounds as usize, ..Self::default() }
    }

    /// Records the outcome of a run.
    pub(crate) fn record_outcome(&mut self, run: &Target, end: JudgeOutcome) {
        let trouble = |why: String| JudgeSkip { run: run.id.clone(), path: run.path.clone(), why };
        let trouble = match end {
            JudgeOutcome::Judged { mut rounds, without_answer } => {
                // Additional rounds come from earlier jobs. Most runs do not have them, and a
                // missing round is not a 0.
                rounds.truncate(self.rounds);
                self.done += 1;
                self.unread += u64::from(rounds.iter().any(|round| round.score.is_none()));
                self.points.extend(points(&rounds));
                let scores: Vec<f64> = rounds.iter().filter_map(|round| round.score).collect();
                if without_answer {
                    self.without_answer += 1;
                    self.verdict(run, 0.0);
                } else if scores.len() == rounds.len() {
                    self.answered.push(rounds.iter().map(|round| round.score).collect());
                    self.verdict(run, mean_and_spread(&scores).map_or(0.0, |(mean, _)| mean));
                }
                None
            }
            JudgeOutcome::Skipped(why) => {
                self.skipped += 1;
                Some(trouble(why))
            }
            JudgeOutcome::Failed(why) => {
                self.failed += 1;
                Some(trouble(why))
            }
            JudgeOutcome::Stopped => {
                self.stopped += 1;
                None
            }
        };
        self.troubles.extend(trouble.filter(|_| self.troubles.len() < SHOWN));
    }

    fn verdict(&mut self, run: &Target, mean: f64) {
        let usual = || self.judge.as_ref().is_some_and(|judge| judge.passes(mean));
        let passed = run.least.map_or_else(usual, |least| meets_threshold(mean, least));
        self.verdicts.push((run.task.clone().unwrap_or_else(|| run.path.clone()), mean, passed));
    }

    /// Returns the results until now, with and without the runs that have no answer. Runs whose
    /// replies could not be parsed are in neither. Intervals are computed only when `over` is set,
    /// because they take a while.
    pub(crate) fn rates(&self, over: bool) -> Option<JudgeRates> {
        let without = usize::try_from(self.without_answer).unwrap_or(usize::MAX);
        let all = solve_rate(&self.answered, self.rounds, without)?;
        Some(JudgeRates {
            runs: self.answered.len() as u64 + self.without_answer,
            without_answer: self.without_answer,
            mean: all.mean,
            spread: all.spread,
            mean_of_answered: solve_rate(&self.answered, self.rounds, 0).map(|rates| rates.mean),
            pairs: shares(&self.points).map(|Shares { win, lose, tie }| JudgeShares {
                win,
                lose,
                tie,
            }),
            own: self.own_scale_mean(over),
            passed: self.passed(),
        })
    }

    /// Returns the mean on the judge's own scale.
    fn own_scale_mean(&self, with_interval: bool) -> Option<JudgeMean> {
        let scale = self.judge.as_ref()?.about().scale;
        let own =
            self.verdicts.iter().filter_map(|(task, mean, _)| Some((task, scale.value_of(*mean)?)));
        let clusters = Clusters::gather(own)?;
        let interval = with_interval
            .then(|| clusters.interval(Level::default(), Resampling::default()))
            .flatten();
        // With few tasks the interval of the mean reaches beyond the scale.
        let interval = interval.zip(scale.ends()).map(|(interval, (a, b))| {
            let interval = interval.within(a.min(b), a.max(b));
            (interval.low, interval.high)
        });
        Some(JudgeMean {
            mean: clusters.mean(),
            interval,
            told: scale.format_value(clusters.mean()),
        })
    }

    fn passed(&self) -> Option<JudgePasses> {
        self.judge.as_ref().filter(|judge| !judge.pairs)?;
        let mut tasks: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
        for (task, _, passed) in &self.verdicts {
            let (passes, runs) = tasks.entry(task).or_default();
            *passes += u64::from(*passed);
            *runs += 1;
        }
        let tasks: Vec<(u64, u64)> = tasks.into_values().collect();
        let sum = |of: fn(&(u64, u64)) -> u64| tasks.iter().map(of).sum();
        let interval = wilson_clustered(&tasks, Level::default())
            .map(|interval| (interval.low, interval.high));
        Some(JudgePasses { passed: sum(|task| task.0), runs: sum(|task| task.1), interval })
    }
}

/// Returns the sum of a pair's points over its rounds, or `None` for a judge of single runs.
fn points(rounds: &[Round]) -> Option<(u32, u32)> {
    let points = rounds.iter().filter_map(|round| Winner::points(round.verdict.as_deref()?));
    points.reduce(|sum, one| (sum.0 + one.0, sum.1 + one.1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use touchstone_api::RunState;
    use touchstone_judges::named;

    fn new_progress(total: usize, rounds: u32) -> Progress {
        Progress::new(JudgeRef::Known(named("sopr").unwrap()), total, rounds)
    }

    fn run(id: &str) -> Target {
        let (id, path) = (id.to_owned(), format!("{id}.yaml"));
        Target { id, path, state: RunState::Answered, task: None, least: None, judge: None }
    }

    fn judged(scores: &[Option<f64>], without_answer: bool) -> JudgeOutcome {
        let round = |score: &Option<f64>| Round { score: *score, ..Round::default() };
        JudgeOutcome::Judged { rounds: scores.iter().map(round).collect(), without_answer }
    }

    #[test]
    fn rounds_that_were_not_asked_for_count_neither_for_their_run_nor_against_the_others() {
        let mut progress = new_progress(2, 1);
        progress.record_outcome(&run("a"), judged(&[Some(1.0)], false));
        // Judged earlier, in more rounds.
        progress.record_outcome(&run("b"), judged(&[Some(1.0), Some(1.0), None], false));
        let rates = progress.rates(false).unwrap();
        assert_eq!((rates.runs, rates.mean, rates.spread, progress.unread), (2, 1.0, 0.0, 0));
    }

    #[test]
    fn the_interval_of_a_mean_stays_within_the_scale_of_the_judge() {
        let mut progress = Progress::new(JudgeRef::Known(named("violence").unwrap()), 2, 1);
        for (id, score) in [("a", 0.0), ("b", 1.0)] {
            let run = Target { task: Some(id.to_owned()), ..run(id) };
            progress.record_outcome(&run, judged(&[Some(score)], false));
        }
        let own = progress.rates(true).unwrap().own.unwrap();
        assert_eq!((own.mean, own.interval), (3.5, Some((0.0, 7.0))));
    }

    #[test]
    fn rates_are_told_with_and_without_the_runs_that_have_no_answer() {
        let mut progress = new_progress(6, 2);
        assert_eq!(progress.rates(false), None);
        progress.record_outcome(&run("a"), judged(&[Some(1.0), Some(0.5)], false));
        progress.record_outcome(&run("b"), judged(&[Some(0.0), Some(0.0)], true));
        progress.record_outcome(&run("c"), judged(&[None, None], false));
        progress.record_outcome(&run("d"), JudgeOutcome::Failed("No.".to_owned()));
        progress.record_outcome(&run("e"), JudgeOutcome::Skipped("Not ended.".to_owned()));
        progress.record_outcome(&run("f"), JudgeOutcome::Stopped);
        let rates = progress.rates(false).unwrap();
        assert_eq!((rates.runs, rates.without_answer), (2, 1));
        assert_eq!((rates.mean, rates.mean_of_answered, rates.spread), (0.375, Some(0.75), 0.125));
        assert_eq!(
            (progress.done, progress.unread, progress.failed, progress.skipped, progress.stopped),
            (3, 1, 1, 1, 1)
        );
        assert_eq!(progress.troubles.len(), 2);
    }
}
