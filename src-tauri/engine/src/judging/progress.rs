//! **Pure.** How judging stands, from what happens to runs one after the other.
use crate::rows::{JudgeRates, JudgeShares, JudgeSkip};
use touchstone_formats::judgement::Round;
use touchstone_scoring::judges::solve_rate;
use touchstone_scoring::judges::sowr::{Shares, Winner, shares};

/// Troubles that are shown by name.
const SHOWN: usize = 50;

/// What became of one run.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum End {
    /// It has its verdict.
    Judged {
        /// What was said.
        rounds: Vec<Round>,
        /// Nobody had to be asked.
        without_answer: bool,
    },
    /// It is not judged because of its state.
    Skipped(String),
    /// The provider, or the disk.
    Failed(String),
    /// It was stopped and can be judged later.
    Stopped,
}

/// How it stands.
#[derive(Debug, Clone, Default)]
pub(crate) struct Progress {
    pub(crate) total: u64,
    pub(crate) done: u64,
    pub(crate) unread: u64,
    pub(crate) failed: u64,
    pub(crate) skipped: u64,
    pub(crate) stopped: u64,
    pub(crate) calls: u64,
    pub(crate) tokens: u64,
    pub(crate) cost: f64,
    pub(crate) unpriced: bool,
    pub(crate) troubles: Vec<JudgeSkip>,
    pub(crate) why: Option<String>,
    pub(crate) over: bool,
    answered: Vec<Vec<Option<f64>>>,
    without_answer: u64,
    /// Rounds that were asked for.
    rounds: usize,
    points: Vec<(u32, u32)>,
}

impl Progress {
    /// Of so many runs, each in so many rounds.
    pub(crate) fn of(total: usize, rounds: u32) -> Self {
        Self { total: total as u64, rounds: rounds as usize, ..Self::default() }
    }

    /// A reply came, and was paid for.
    pub(crate) fn paid(&mut self, tokens: Option<u64>, cost: Option<f64>) {
        self.calls += 1;
        self.lost(tokens, cost);
    }

    /// An attempt brought no reply and was paid for.
    pub(crate) fn lost(&mut self, tokens: Option<u64>, cost: Option<f64>) {
        self.tokens += tokens.unwrap_or(0);
        self.cost += cost.unwrap_or(0.0);
        self.unpriced |= cost.is_none();
    }

    /// A run is over.
    pub(crate) fn end(&mut self, run: &str, path: &str, end: End) {
        let trouble = |why: String| JudgeSkip { run: run.to_owned(), path: path.to_owned(), why };
        let trouble = match end {
            End::Judged { mut rounds, without_answer } => {
                // Further ones were said before. Most runs do not have them, and what is not there is no 0.
                rounds.truncate(self.rounds);
                self.done += 1;
                self.unread += u64::from(rounds.iter().any(|round| round.score.is_none()));
                self.points.extend(points(&rounds));
                if without_answer {
                    self.without_answer += 1;
                } else if rounds.iter().all(|round| round.score.is_some()) {
                    self.answered.push(rounds.iter().map(|round| round.score).collect());
                }
                None
            }
            End::Skipped(why) => {
                self.skipped += 1;
                Some(trouble(why))
            }
            End::Failed(why) => {
                self.failed += 1;
                Some(trouble(why))
            }
            End::Stopped => {
                self.stopped += 1;
                None
            }
        };
        self.troubles.extend(trouble.filter(|_| self.troubles.len() < SHOWN));
    }

    /// What came of it so far: with the runs without an answer and without them. Runs whose replies could not be read are in neither.
    pub(crate) fn rates(&self) -> Option<JudgeRates> {
        let without = usize::try_from(self.without_answer).unwrap_or(usize::MAX);
        let all = solve_rate(&self.answered, self.rounds, without)?;
        Some(JudgeRates {
            runs: self.answered.len() as u64 + self.without_answer,
            without_answer: self.without_answer,
            mean: all.mean,
            spread: all.spread,
            mean_of_answered: solve_rate(&self.answered, self.rounds, 0).map(|rates| rates.mean),
            pairs: shares(&self.points).map(|Shares { win, lose, tie }| JudgeShares { win, lose, tie }),
        })
    }
}

/// The points of a pair over its rounds; nothing for a judge of single runs.
fn points(rounds: &[Round]) -> Option<(u32, u32)> {
    let points = rounds.iter().filter_map(|round| Winner::points(round.verdict.as_deref()?));
    points.reduce(|sum, one| (sum.0 + one.0, sum.1 + one.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(scores: &[Option<f64>], without_answer: bool) -> End {
        let round = |score: &Option<f64>| Round { score: *score, ..Round::default() };
        End::Judged { rounds: scores.iter().map(round).collect(), without_answer }
    }

    #[test]
    fn rounds_that_were_not_asked_for_count_neither_for_their_run_nor_against_the_others() {
        let mut progress = Progress::of(2, 1);
        progress.end("a", "a", judged(&[Some(1.0)], false));
        // Judged before, in more rounds.
        progress.end("b", "b", judged(&[Some(1.0), Some(1.0), None], false));
        let rates = progress.rates().unwrap();
        assert_eq!((rates.runs, rates.mean, rates.spread, progress.unread), (2, 1.0, 0.0, 0));
    }

    #[test]
    fn rates_are_told_with_and_without_the_runs_that_have_no_answer() {
        let mut progress = Progress::of(6, 2);
        assert_eq!(progress.rates(), None);
        progress.end("a", "a", judged(&[Some(1.0), Some(0.5)], false));
        progress.end("b", "b", judged(&[Some(0.0), Some(0.0)], true));
        progress.end("c", "c", judged(&[None, None], false));
        progress.end("d", "d.yaml", End::Failed("No.".to_owned()));
        progress.end("e", "e", End::Skipped("Not ended.".to_owned()));
        progress.end("f", "f", End::Stopped);
        let rates = progress.rates().unwrap();
        assert_eq!((rates.runs, rates.without_answer), (2, 1));
        assert_eq!((rates.mean, rates.mean_of_answered, rates.spread), (0.375, Some(0.75), 0.125));
        assert_eq!(
            (progress.done, progress.unread, progress.failed, progress.skipped, progress.stopped),
            (3, 1, 1, 1, 1)
        );
        assert_eq!(progress.troubles.len(), 2);
        progress.paid(Some(3), None);
        assert!(progress.unpriced && progress.calls == 1 && progress.tokens == 3);
    }
}
