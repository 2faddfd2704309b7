//! **Pure.** Progress of an evaluation: finished and failed rows with reasons.
use std::collections::BTreeMap;
use touchstone_api::{EvaluateMetric, EvaluateTrouble};

/// Maximum number of failures that are listed.
const SHOWN: usize = 50;

/// Maximum number of different reasons that are counted.
const REASONS: usize = 200;

/// Outcome of one evaluator for one row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RowOutcome {
    /// There is a result.
    Done,
    /// There is no result, for this reason.
    Failed(String),
    /// There is no result because no reply was received, with the reason.
    Missing(String),
    /// Stopped; can be resumed.
    Stopped,
}

/// Progress of an evaluation.
#[derive(Debug, Clone, Default)]
pub(crate) struct Progress {
    pub(crate) total: u64,
    /// Number of rows for which the target was called.
    pub(crate) asked: u64,
    /// Number of these rows for which a result of the target existed before.
    pub(crate) answered: u64,
    pub(crate) done: u64,
    pub(crate) failed: u64,
    pub(crate) missing: u64,
    pub(crate) stopped: u64,
    pub(crate) unread: u64,
    /// Failures by row and index of the evaluator; the first few.
    troubles: BTreeMap<(u64, usize), EvaluateTrouble>,
    /// Number of failures by reason; the first different ones.
    reasons: BTreeMap<String, u64>,
    /// Sentences about the inputs of all rows.
    pub(crate) notes: Vec<String>,
    pub(crate) metrics: Vec<EvaluateMetric>,
    pub(crate) written: bool,
}

impl Progress {
    /// Creates the progress of an evaluation with `total` results, rows times evaluators.
    pub(crate) fn new(total: usize) -> Self {
        Self { total: total as u64, ..Self::default() }
    }

    /// Returns the failures in row order; the first few.
    pub(crate) fn troubles(&self) -> Vec<EvaluateTrouble> {
        self.troubles.values().cloned().collect()
    }

    /// Returns the most frequent reason of failures.
    pub(crate) fn main_reason(&self) -> Option<String> {
        // Of equal counts the first in the order of the alphabet, whatever order rows ended in.
        let most = self.reasons.iter().rev().max_by_key(|(_, count)| **count);
        most.map(|(reason, _)| reason.clone())
    }

    /// Sets the run id of each listed failure. `run` returns it for a row index.
    pub(crate) fn name_runs(&mut self, run: impl Fn(usize) -> Option<String>) {
        for trouble in self.troubles.values_mut() {
            trouble.run = usize::try_from(trouble.row - 1).ok().and_then(&run);
        }
    }

    /// Records the outcome of an evaluator, given by index and name, for a row, counted from 1.
    pub(crate) fn record_outcome(
        &mut self,
        row: u64,
        (at, evaluator): (usize, &str),
        end: RowOutcome,
    ) {
        self.missing += u64::from(matches!(end, RowOutcome::Missing(_)));
        match end {
            RowOutcome::Done => self.done += 1,
            RowOutcome::Stopped => self.stopped += 1,
            RowOutcome::Failed(why) | RowOutcome::Missing(why) => {
                self.failed += 1;
                if let Some(count) = self.reasons.get_mut(&why) {
                    *count += 1;
                } else if self.reasons.len() < REASONS {
                    self.reasons.insert(why.clone(), 1);
                }
                // Rows end in any order, and the failures listed are the first of the file.
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
        let mut progress = Progress::new(70);
        progress.record_outcome(1, (0, "a"), RowOutcome::Done);
        progress.record_outcome(1, (1, "b"), RowOutcome::Stopped);
        for row in (1..60).rev() {
            progress.record_outcome(row, (0, "a"), RowOutcome::Failed("No.".to_owned()));
        }
        progress.record_outcome(1, (2, "c"), RowOutcome::Missing("Nobody.".to_owned()));
        let told = progress.troubles();
        assert_eq!(
            (progress.done, progress.stopped, progress.failed, told.len()),
            (1, 1, 60, SHOWN)
        );
        let first: Vec<(u64, &str)> =
            told.iter().take(3).map(|one| (one.row, one.evaluator.as_str())).collect();
        assert_eq!((progress.missing, first), (1, vec![(1, "a"), (1, "c"), (2, "a")]));
        assert!(told.is_sorted_by_key(|one| one.row));
        assert_eq!(progress.main_reason().as_deref(), Some("No."));
        assert_eq!(Progress::new(1).main_reason(), None);
    }
}
