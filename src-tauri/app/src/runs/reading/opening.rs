//! Files of runs that are being read: one thread reads a run, others wait for what it reads. The
//! page asks how far it is, and can stop it.
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use touchstone_api::ReadProgress;
use touchstone_store::read_watch::ReadWatch;

/// The reading of a run.
#[derive(Debug, Default)]
pub(super) struct Opening {
    /// Held by the thread that reads.
    turn: Mutex<()>,
    /// Its progress.
    pub(super) watch: ReadWatch,
}

impl Opening {
    /// Waits until no other thread reads the run.
    pub(super) fn wait_for_turn(&self) -> MutexGuard<'_, ()> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// All runs that are being read, by id.
#[derive(Debug, Default)]
pub(super) struct Openings {
    open: Mutex<HashMap<String, Arc<Opening>>>,
}

impl Openings {
    /// Returns the reading of a run; a new one unless it is being read.
    pub(super) fn join(&self, id: &str) -> Arc<Opening> {
        Arc::clone(self.lock().entry(id.to_owned()).or_default())
    }

    /// Ends the part of a thread in the reading of a run. The last one removes it.
    pub(super) fn leave(&self, id: &str, opening: Arc<Opening>) {
        let mut open = self.lock();
        drop(opening);
        if open.get(id).is_some_and(|opening| Arc::strong_count(opening) == 1) {
            open.remove(id);
        }
    }

    /// Returns how far the reading of a run is; `None` if it is not being read.
    pub(super) fn progress(&self, id: &str) -> Option<ReadProgress> {
        let (read, total) = self.lock().get(id)?.watch.progress();
        Some(ReadProgress { read, total })
    }

    /// Stops the reading of a run, for all who wait for it.
    pub(super) fn stop(&self, id: &str) {
        if let Some(opening) = self.lock().get(id) {
            opening.watch.stop();
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Arc<Opening>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_read_once_until_the_last_one_leaves() {
        let openings = Openings::default();
        let one = openings.join("a");
        let other = openings.join("a");
        assert!(Arc::ptr_eq(&one, &other));
        one.watch.start(10);
        assert_eq!(openings.progress("a"), Some(ReadProgress { read: 0, total: 10 }));
        assert_eq!(openings.progress("b"), None);
        openings.leave("a", one);
        openings.stop("a");
        assert!(other.watch.is_stopped());
        openings.leave("a", other);
        assert_eq!(openings.progress("a"), None);
        let next = openings.join("a");
        assert!(!next.watch.is_stopped(), "stopping holds for one reading");
        openings.leave("a", next);
    }
}
