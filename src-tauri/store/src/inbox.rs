//! What the conductor is asked to look at, gathered from everywhere that notices something. Adding
//! is quick, because the system's queue of changes overflows when its reader is slow.
use super::judgements::Marks;
use super::limits::Limits;
use super::scoring::write::Kept;
use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use touchstone_api::Watching;

/// After this many single paths, listing everything is cheaper.
const MOST_PATHS: usize = 20_000;

/// What there is to look at.
#[derive(Debug, Default)]
pub(crate) struct Hints {
    /// Everything.
    pub(crate) rescan: bool,
    /// The system is asked anew to tell of changes: it lost some, and a directory among them would
    /// never be watched.
    pub(crate) rewatch: bool,
    /// These files and directories.
    pub(crate) touched: HashSet<PathBuf>,
    /// Directories that just appeared: files may have been made in them before they were watched.
    pub(crate) new_dirs: HashSet<PathBuf>,
    /// A reader came upon a damaged index.
    pub(crate) doubt: bool,
    /// What programs of scorers said, and who waits to hear whether it was kept.
    pub(crate) kept: Vec<(Vec<Kept>, Sender<bool>)>,
    /// What stands behind the names of models now, when that may be something else.
    pub(crate) marks: Option<Arc<Marks>>,
    /// News of how changes are noticed.
    pub(crate) watching: Option<Watching>,
}

impl Hints {
    /// Nobody knows any more what changed.
    pub(crate) fn lose_count(&mut self) {
        (self.rescan, self.rewatch) = (true, true);
        self.touched.clear();
        self.new_dirs.clear();
    }
}

/// Why a wait ended.
#[derive(Debug)]
pub(crate) enum Woken {
    /// The folder is being closed.
    Stop,
    /// There is something to look at.
    Hints(Hints),
    /// The time has come.
    Due,
}

#[derive(Debug, Default)]
struct State {
    hints: Hints,
    first: Option<Instant>,
    last: Option<Instant>,
}

/// The place where hints are put and taken.
#[derive(Debug)]
pub(crate) struct Inbox {
    state: Mutex<State>,
    wake: Condvar,
    stopping: AtomicBool,
    quiet: Duration,
    patience: Duration,
}

impl Inbox {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            state: Mutex::default(),
            wake: Condvar::new(),
            stopping: AtomicBool::new(false),
            quiet: limits.quiet,
            patience: limits.patience,
        }
    }

    /// Adds to what there is to look at.
    pub(crate) fn add(&self, put: impl FnOnce(&mut Hints)) {
        let mut state = self.lock();
        put(&mut state.hints);
        if state.hints.touched.len() + state.hints.new_dirs.len() > MOST_PATHS {
            state.hints.lose_count();
        }
        let now = Instant::now();
        let is_first = state.first.is_none();
        state.first.get_or_insert(now);
        state.last = Some(now);
        drop(state);
        // Whoever waits knows of the first already, and looks itself whether there came more: while
        // runs are made, thousands do.
        if is_first {
            self.wake.notify_one();
        }
    }

    /// Ends every wait, now and later.
    pub(crate) fn stop(&self) {
        self.stopping.store(true, Ordering::Release);
        drop(self.lock());
        self.wake.notify_all();
    }

    /// True when the folder is being closed.
    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Acquire)
    }

    /// True when there is something to look at, come to rest or not.
    pub(crate) fn is_pressing(&self) -> bool {
        self.is_stopping() || self.lock().first.is_some()
    }

    /// Waits until changes have come to rest, or for a bounded time when they do not, or until the
    /// given moment.
    pub(crate) fn wait(&self, until: Instant) -> Woken {
        let mut state = self.lock();
        loop {
            if self.is_stopping() {
                return Woken::Stop;
            }
            let now = Instant::now();
            let ripe = state
                .last
                .zip(state.first)
                .map(|(last, first)| (last + self.quiet).min(first + self.patience));
            if ripe.is_some_and(|ripe| ripe <= now) {
                let taken = std::mem::take(&mut *state);
                return Woken::Hints(taken.hints);
            }
            if until <= now {
                return Woken::Due;
            }
            let wait = ripe.map_or(until, |ripe| ripe.min(until)) - now;
            state = self.wake.wait_timeout(state, wait).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_paths_than_are_worth_a_look_each_become_one_list_of_everything() {
        for new in [false, true] {
            let inbox = Inbox::new(&Limits { quiet: Duration::ZERO, ..Limits::default() });
            let mut add = |n: usize| {
                let path = PathBuf::from(format!("/f/r{n}.yaml"));
                inbox.add(|hints| {
                    let set = if new { &mut hints.new_dirs } else { &mut hints.touched };
                    set.insert(path);
                });
            };
            (0..MOST_PATHS).for_each(&mut add);
            let Woken::Hints(hints) = inbox.wait(Instant::now()) else {
                panic!("nothing was told")
            };
            assert_eq!(
                (hints.rescan, hints.touched.len() + hints.new_dirs.len()),
                (false, MOST_PATHS)
            );
            (0..=MOST_PATHS).for_each(&mut add);
            let Woken::Hints(hints) = inbox.wait(Instant::now()) else {
                panic!("nothing was told")
            };
            assert!(hints.rescan && hints.rewatch);
            assert_eq!(hints.touched.len() + hints.new_dirs.len(), 0);
        }
    }
}
