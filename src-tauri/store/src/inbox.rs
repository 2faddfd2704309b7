//! Inbox of the indexer, filled by everything that notices changes. Adding is fast, because the
//! system's event queue overflows when its reader is slow.
use super::limits::Limits;
use super::roots::FileId;
use super::scoring::write::ProgramResult;
use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use touchstone_api::Watching;

/// Above this number of single paths, listing everything is cheaper.
const MOST_PATHS: usize = 20_000;
/// Minimum time between two notes that the log of a launch grew.
const BETWEEN_LAUNCHES: Duration = Duration::from_millis(400);

/// Pending requests to the indexer.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each asks for something of its own")]
pub(crate) struct Hints {
    /// List everything.
    pub(crate) rescan: bool,
    /// Set up the file watches again: events were lost, and a new directory among them would never
    /// be watched.
    pub(crate) rewatch: bool,
    /// Files and directories to look at.
    pub(crate) touched: HashSet<PathBuf>,
    /// New directories: files may have been created in them before they were watched.
    pub(crate) new_dirs: HashSet<PathBuf>,
    /// A reader found the index damaged.
    pub(crate) doubt: bool,
    /// Results of scorer programs to store, with the channel for the outcome.
    pub(crate) kept: Vec<(Vec<ProgramResult>, Sender<bool>)>,
    /// New state of the file watching.
    pub(crate) watching: Option<Watching>,
    /// Files that tell of launches changed. They have no rows.
    pub(crate) launches: bool,
    /// Files to read even if a claim about them was trusted.
    pub(crate) unread: Vec<FileId>,
}

impl Hints {
    /// Falls back to a full listing, after events were lost or became too many.
    pub(crate) fn lose_count(&mut self) {
        (self.rescan, self.rewatch) = (true, true);
        self.touched.clear();
        self.new_dirs.clear();
        self.launches = true;
    }

    /// Returns true if there is nothing to look at but launches.
    pub(crate) fn is_only_launches(&self) -> bool {
        let is_listing = self.rescan || self.rewatch || self.doubt || self.watching.is_some();
        self.launches
            && !is_listing
            && self.touched.is_empty()
            && self.unread.is_empty()
            && self.new_dirs.is_empty()
            && self.kept.is_empty()
    }
}

/// Reason for the end of a wait.
#[derive(Debug)]
pub(crate) enum Woken {
    /// The folder is being closed.
    Stop,
    /// Requests are pending.
    Hints(Hints),
    /// The given time was reached.
    Due,
}

#[derive(Debug, Default)]
struct State {
    hints: Hints,
    first: Option<Instant>,
    last: Option<Instant>,
}

/// Thread-safe inbox of hints.
#[derive(Debug)]
pub(crate) struct Inbox {
    state: Mutex<State>,
    wake: Condvar,
    stopping: AtomicBool,
    told_launches: Mutex<Option<Instant>>,
    quiet: Duration,
    patience: Duration,
}

impl Inbox {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            state: Mutex::default(),
            wake: Condvar::new(),
            stopping: AtomicBool::new(false),
            told_launches: Mutex::default(),
            quiet: limits.quiet,
            patience: limits.patience,
        }
    }

    /// Adds to the pending requests.
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
        // The waiting thread needs only one notification: it checks for later requests itself.
        // Thousands arrive while runs are being written.
        if is_first {
            self.wake.notify_one();
        }
    }

    /// Notes that launches changed. A log that only grew is told a few times a second.
    pub(crate) fn note_launches(&self, is_growth: bool) {
        let now = Instant::now();
        {
            let mut told = self.told_launches.lock().unwrap_or_else(PoisonError::into_inner);
            let is_recent = told.is_some_and(|at| now.duration_since(at) < BETWEEN_LAUNCHES);
            if is_growth && is_recent {
                return;
            }
            *told = Some(now);
        }
        self.add(|hints| hints.launches = true);
    }

    /// Ends every wait, now and in the future.
    pub(crate) fn stop(&self) {
        self.stopping.store(true, Ordering::Release);
        drop(self.lock());
        self.wake.notify_all();
    }

    /// Returns true when the folder is being closed.
    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Acquire)
    }

    /// Returns true when requests are pending, even if changes have not settled yet.
    pub(crate) fn is_pressing(&self) -> bool {
        self.is_stopping() || self.lock().first.is_some()
    }

    /// Waits until changes have been quiet for a while (at most for the patience limit), or until
    /// the given time.
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
