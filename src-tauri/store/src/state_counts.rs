//! **Pure.** Running counts of rows by state, updated with every change so that the rows need not
//! be counted.
use super::record::{Counted, order};
use touchstone_api::{Counts, RunState, SearchProgress};

/// Number of states.
const STATES: usize = 7;

/// Number of runs by state, and of runs missing from the full-text index. Rows that Touchstone
/// evaluated are counted apart: they are no runs, and their errors are those of evaluators.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct StateCounts {
    states: [u64; STATES],
    evaluated: u64,
    unfinished: u64,
}

impl StateCounts {
    /// Adds `n` rows with this state; negative to remove.
    pub(crate) fn add(&mut self, row: Counted, n: i64) {
        let count = if row.evaluated {
            Some(&mut self.evaluated)
        } else {
            self.states.get_mut(usize::from(row.state))
        };
        if let Some(count) = count {
            *count = count.saturating_add_signed(n);
        }
        if row.unfinished {
            self.unfinished = self.unfinished.saturating_add_signed(n);
        }
    }

    /// Records that runs were added to the full-text index.
    pub(crate) fn finish(&mut self, runs: u64) {
        self.unfinished = self.unfinished.saturating_sub(runs);
    }

    /// Returns true when the full-text index is complete.
    pub(crate) fn is_searchable(&self) -> bool {
        self.unfinished == 0
    }

    /// Writes the counts. Leaves the suite counts unchanged.
    pub(crate) fn fill(&self, counts: &mut Counts) {
        let of = |state| self.states[usize::from(order(state))];
        counts.runs = self.runs();
        counts.damaged = of(RunState::Damaged);
        counts.waiting = of(RunState::Waiting);
        counts.errors = of(RunState::Error);
        counts.other_files = of(RunState::Other);
    }

    /// Progress of the full-text index.
    pub(crate) fn search(&self) -> SearchProgress {
        let total = self.runs() + self.evaluated;
        SearchProgress { indexed: total.saturating_sub(self.unfinished), total }
    }

    fn runs(&self) -> u64 {
        self.states.iter().sum::<u64>() - self.states[usize::from(order(RunState::Other))]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_touchstone_evaluated_are_searched_and_are_no_runs_and_no_errors() {
        let row = |state, evaluated| Counted { state: order(state), unfinished: true, evaluated };
        let mut tally = StateCounts::default();
        tally.add(row(RunState::Error, true), 81);
        tally.add(row(RunState::Waiting, true), 3);
        tally.add(row(RunState::Error, false), 2);
        let mut counts = Counts::default();
        tally.fill(&mut counts);
        assert_eq!((counts.runs, counts.errors, counts.waiting), (2, 2, 0));
        tally.finish(80);
        let SearchProgress { indexed, total } = tally.search();
        assert_eq!((indexed, total, tally.is_searchable()), (80, 86, false));
        tally.add(row(RunState::Error, true), -81);
        tally.add(row(RunState::Waiting, true), -3);
        assert_eq!(tally.search().total, 2);
    }
}
