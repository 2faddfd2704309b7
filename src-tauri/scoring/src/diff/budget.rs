//! **Pure.** Work budget for a comparison. Work is counted instead of timed, so that the same two
//! values always give the same result.

/// Remaining work, in steps of some nanoseconds each.
#[derive(Debug)]
pub(super) struct Budget {
    left: u64,
    /// True once something exceeded the budget.
    pub(super) coarse: bool,
}

impl Budget {
    pub(super) fn new(left: u64) -> Self {
        Self { left, coarse: false }
    }

    /// Takes work only if enough is left. If it returns false, the caller must do less, and the
    /// result is marked as coarse.
    pub(super) fn afford(&mut self, work: u64) -> bool {
        if work > self.left {
            self.coarse = true;
            return false;
        }
        self.left -= work;
        true
    }

    /// Takes work that is always done, because it is linear in the size of the input.
    pub(super) fn spend(&mut self, work: u64) {
        self.left = self.left.saturating_sub(work);
    }
}

/// Returns a count as a number of work steps.
pub(super) fn steps(things: usize) -> u64 {
    things as u64
}
