//! Live status of the index, to read or to wait for.
use super::segments::SegmentStatus;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use touchstone_api::{Counts, Phase, ScoringProgress, SearchProgress, WatchMeans, Watching};

/// Status of the index.
#[derive(Debug, Clone)]
pub struct IndexStatus {
    /// Current phase.
    pub phase: Phase,
    /// Counter of committed changes.
    pub generation: u64,
    /// Row counts.
    pub counts: Counts,
    /// Progress of the full-text index.
    pub search: SearchProgress,
    /// Progress of rescoring, if it takes more than a moment.
    pub scoring: Option<ScoringProgress>,
    /// State of the file watching.
    pub watching: Watching,
    /// Durations of the first load.
    pub took: LoadTimes,
    /// The first page was served, or a caller waits for the disk to be read.
    pub(crate) stirred: bool,
    /// What was taken from segments.
    pub segments: SegmentStatus,
    /// Number of index rebuilds since the folder was opened.
    pub renewals: u64,
}

/// Durations of the first load, counted from opening the folder.
#[derive(Debug, Clone, Copy, Default)]
pub struct LoadTimes {
    /// Number of listed files.
    pub files: u64,
    /// Time until all files were listed.
    pub scan: Option<Duration>,
    /// Time until all rows were indexed.
    pub index: Option<Duration>,
    /// Time until the full-text index was complete.
    pub search: Option<Duration>,
}

/// Shared status with change notification.
#[derive(Debug)]
pub struct Live {
    standing: Mutex<IndexStatus>,
    changed: Condvar,
}

impl Live {
    pub(crate) fn new() -> Self {
        let standing = IndexStatus {
            phase: Phase::Indexing { done: 0, total: 0 },
            generation: 0,
            counts: Counts::default(),
            search: SearchProgress::default(),
            scoring: None,
            watching: Watching { by: WatchMeans::Off, notice: None },
            took: LoadTimes::default(),
            stirred: false,
            segments: SegmentStatus::default(),
            renewals: 0,
        };
        Self { standing: Mutex::new(standing), changed: Condvar::new() }
    }

    /// Returns a copy of the current status.
    pub fn now(&self) -> IndexStatus {
        self.lock().clone()
    }

    pub(crate) fn change<T>(&self, change: impl FnOnce(&mut IndexStatus) -> T) -> T {
        let mut standing = self.lock();
        let out = change(&mut standing);
        drop(standing);
        self.changed.notify_all();
        out
    }

    /// Ends the initial calm period, so that reading the disk starts.
    pub fn stir(&self) {
        if !self.lock().stirred {
            self.change(|standing| standing.stirred = true);
        }
    }

    /// Waits until the condition holds. Returns false on timeout.
    pub fn wait(&self, wish: impl Fn(&IndexStatus) -> bool, timeout: Duration) -> bool {
        let end = Instant::now() + timeout;
        let mut standing = self.lock();
        while !wish(&standing) {
            let now = Instant::now();
            if now >= end {
                return false;
            }
            standing = self
                .changed
                .wait_timeout(standing, end - now)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
        true
    }

    fn lock(&self) -> MutexGuard<'_, IndexStatus> {
        self.standing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
