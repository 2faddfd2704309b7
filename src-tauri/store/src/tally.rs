//! **Pure.** How many rows are in which state, kept along with every change so that nobody has to
//! count them.
use super::record::{Counted, order};
use touchstone_api::{Counts, RunState, SearchProgress};

/// The number of states.
const STATES: usize = 7;

/// Rows by state, and runs that the full-text index does not hold yet.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    states: [u64; STATES],
    unfinished: u64,
}

impl Tally {
    /// Counts one row more or less of what it is now.
    pub(crate) fn add(&mut self, row: Counted, n: i64) {
        if let Some(count) = self.states.get_mut(usize::from(row.state)) {
            *count = count.saturating_add_signed(n);
        }
        if row.unfinished {
            self.unfinished = self.unfinished.saturating_add_signed(n);
        }
    }

    /// Runs came into the full-text index.
    pub(crate) fn finish(&mut self, runs: u64) {
        self.unfinished = self.unfinished.saturating_sub(runs);
    }

    /// The full-text index holds everything.
    pub(crate) fn is_searchable(&self) -> bool {
        self.unfinished == 0
    }

    /// As the frame shows it; what is known of suites stays.
    pub(crate) fn fill(&self, counts: &mut Counts) {
        let of = |state| self.states[usize::from(order(state))];
        counts.runs = self.runs();
        counts.damaged = of(RunState::Damaged);
        counts.waiting = of(RunState::Waiting);
        counts.errors = of(RunState::Error);
        counts.other_files = of(RunState::Other);
    }

    /// How far the full-text index is.
    pub(crate) fn search(&self) -> SearchProgress {
        let total = self.runs();
        SearchProgress { indexed: total.saturating_sub(self.unfinished), total }
    }

    fn runs(&self) -> u64 {
        self.states.iter().sum::<u64>() - self.states[usize::from(order(RunState::Other))]
    }
}
