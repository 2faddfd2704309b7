//! **Pure.** How an evaluation stands: what is done, what failed and why.
use crate::rows::{EvaluateMetric, EvaluateTrouble};

/// Troubles that are shown.
const SHOWN: usize = 50;

/// What became of one evaluator on one row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum End {
    /// There is a result.
    Done,
    /// There is none; why.
    Failed(String),
    /// There is none, because nobody answered; why.
    Missing(String),
    /// It was stopped and can be gone on with.
    Stopped,
}

/// How it stands.
#[derive(Debug, Clone, Default)]
pub(crate) struct Progress {
    pub(crate) total: u64,
    /// Rows that the target was asked about.
    pub(crate) asked: u64,
    /// Of these, how many it had answered before.
    pub(crate) answered: u64,
    pub(crate) done: u64,
    pub(crate) failed: u64,
    pub(crate) missing: u64,
    pub(crate) stopped: u64,
    pub(crate) unread: u64,
    pub(crate) troubles: Vec<EvaluateTrouble>,
    pub(crate) metrics: Vec<EvaluateMetric>,
    pub(crate) written: bool,
}

impl Progress {
    /// Of so many rows times evaluators.
    pub(crate) fn of(total: usize) -> Self {
        Self { total: total as u64, ..Self::default() }
    }

    /// One evaluator is over with one row, counted from 1.
    pub(crate) fn end(&mut self, row: u64, evaluator: &str, end: End) {
        self.missing += u64::from(matches!(end, End::Missing(_)));
        match end {
            End::Done => self.done += 1,
            End::Stopped => self.stopped += 1,
            End::Failed(why) | End::Missing(why) => {
                self.failed += 1;
                if self.troubles.len() < SHOWN {
                    self.troubles.push(EvaluateTrouble { row, evaluator: evaluator.to_owned(), why });
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_failed_is_counted_apart_and_the_first_few_are_named() {
        let mut progress = Progress::of(70);
        progress.end(1, "a", End::Done);
        progress.end(1, "b", End::Stopped);
        progress.end(1, "c", End::Missing("Nobody.".to_owned()));
        for row in 1..60 {
            progress.end(row, "a", End::Failed("No.".to_owned()));
        }
        assert_eq!((progress.done, progress.stopped, progress.failed, progress.troubles.len()), (1, 1, 60, SHOWN));
        assert_eq!((progress.missing, progress.troubles[0].why.as_str()), (1, "Nobody."));
    }
}
