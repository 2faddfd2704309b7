//! **Pure.** How an evaluation stands: what is done, what failed and why.
use std::collections::BTreeMap;
use touchstone_api::{EvaluateMetric, EvaluateTrouble};

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
    /// What failed, by row and the place of the evaluator; the first few of these.
    troubles: BTreeMap<(u64, usize), EvaluateTrouble>,
    pub(crate) metrics: Vec<EvaluateMetric>,
    pub(crate) written: bool,
}

impl Progress {
    /// Of so many rows times evaluators.
    pub(crate) fn of(total: usize) -> Self {
        Self { total: total as u64, ..Self::default() }
    }

    /// What failed, in the order of the rows; the first few.
    pub(crate) fn troubles(&self) -> Vec<EvaluateTrouble> {
        self.troubles.values().cloned().collect()
    }

    /// Tells of each row that is shown which run it is, by its place in the file.
    pub(crate) fn name_runs(&mut self, run: impl Fn(usize) -> Option<String>) {
        for trouble in self.troubles.values_mut() {
            trouble.run = usize::try_from(trouble.row - 1).ok().and_then(&run);
        }
    }

    /// One evaluator, the how manieth is told with its name, is over with one row, counted from 1.
    pub(crate) fn end(&mut self, row: u64, (at, evaluator): (usize, &str), end: End) {
        self.missing += u64::from(matches!(end, End::Missing(_)));
        match end {
            End::Done => self.done += 1,
            End::Stopped => self.stopped += 1,
            End::Failed(why) | End::Missing(why) => {
                self.failed += 1;
                // Rows are over in whatever order, and the first that are shown are the first of
                // the file.
                self.troubles.insert(
                    (row, at),
                    EvaluateTrouble { row, evaluator: evaluator.to_owned(), why, run: None },
                );
                if self.troubles.len() > SHOWN {
                    self.troubles.pop_last();
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_failed_is_counted_apart_and_the_first_few_rows_are_named_in_their_order() {
        let mut progress = Progress::of(70);
        progress.end(1, (0, "a"), End::Done);
        progress.end(1, (1, "b"), End::Stopped);
        for row in (1..60).rev() {
            progress.end(row, (0, "a"), End::Failed("No.".to_owned()));
        }
        progress.end(1, (2, "c"), End::Missing("Nobody.".to_owned()));
        let told = progress.troubles();
        assert_eq!(
            (progress.done, progress.stopped, progress.failed, told.len()),
            (1, 1, 60, SHOWN)
        );
        let first: Vec<(u64, &str)> =
            told.iter().take(3).map(|one| (one.row, one.evaluator.as_str())).collect();
        assert_eq!((progress.missing, first), (1, vec![(1, "a"), (1, "c"), (2, "a")]));
        assert!(told.is_sorted_by_key(|one| one.row));
    }
}
