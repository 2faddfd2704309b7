//! **Pure.** How much work may still be done. It stands where other programs look at a clock, so
//! that the same two values always give the same result.

/// Work that is left, in steps of some nanoseconds.
#[derive(Debug)]
pub(super) struct Budget {
    left: u64,
    /// True once something was too much work.
    pub(super) coarse: bool,
}

impl Budget {
    pub(super) fn of(left: u64) -> Self {
        Self { left, coarse: false }
    }

    /// Takes work that is done only when there is enough left. False: do less, and the result is
    /// coarse.
    pub(super) fn afford(&mut self, work: u64) -> bool {
        if work > self.left {
            self.coarse = true;
            return false;
        }
        self.left -= work;
        true
    }

    /// Takes work that is done in any case, because it grows no faster than what is compared.
    pub(super) fn spend(&mut self, work: u64) {
        self.left = self.left.saturating_sub(work);
    }
}

/// A number of things as steps of work.
pub(super) fn steps(things: usize) -> u64 {
    things as u64
}
