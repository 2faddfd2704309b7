//! **Pure.** Running counts of rows by state, updated with every change so that the rows need not
//! be counted.
use super::record::{Counted, order};
use touchstone_api::{Counts, RunState, SearchProgress};

/// Number of states.
const STATES: usize = 7;

/// Number of rows by state, and of runs missing from the full-text index.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct StateCounts {
    states: [u64; STATES],
    unfinished: u64,
}

impl StateCounts {
    /// Adds `n` rows with this state; negative to remove.
    pub(crate) fn add(&mut self, row: Counted, n: i64) {
        if let Some(count) = self.states.get_mut(usize::from(row.state)) {
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
        let total = self.runs();
        SearchProgress { indexed: total.saturating_sub(self.unfinished), total }
    }

    fn runs(&self) -> u64 {
        self.states.iter().sum::<u64>() - self.states[usize::from(order(RunState::Other))]
    }
}
