//! How far a copy is, shared between its thread and those who ask.
use super::trouble::Trouble;
use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Least time between two notices of progress.
pub(crate) const PROGRESS: Duration = Duration::from_millis(250);
/// Maximum number of reasons that are kept.
const MOST_REFUSED: usize = 1_000;

/// How far a copy is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "they are independent of each other")]
pub struct CopyStatus {
    /// Number of objects that are read, as far as they were listed.
    pub total: u64,
    /// Number of those that are copied.
    pub copied: u64,
    /// True while objects are listed for the first time.
    pub listing: bool,
    /// True once all objects were listed and copied.
    pub complete: bool,
    /// Time of the last check without trouble, in milliseconds since 1970.
    pub checked_ms: Option<i64>,
    /// Why it does not go on.
    pub trouble: Option<Trouble>,
    /// What is waited for at this moment.
    pub waiting: Option<Trouble>,
    /// Number of objects that cannot be copied.
    pub refused: u64,
    /// Number of requests so far.
    pub requests: u64,
    /// Number of requests of the last check.
    pub last_check_requests: u64,
    /// True if another process keeps this copy up to date.
    pub elsewhere: bool,
    /// True when the thread has ended.
    pub ended: bool,
}

/// Status of a copy, with change notification.
pub(crate) struct Shared {
    status: Mutex<CopyStatus>,
    pub(crate) changed: Condvar,
    refused: Mutex<BTreeMap<String, String>>,
    told: Mutex<Option<Instant>>,
    on_change: Box<dyn Fn() + Send + Sync>,
}

impl Shared {
    pub(crate) fn new(on_change: Box<dyn Fn() + Send + Sync>) -> Self {
        Self {
            status: Mutex::default(),
            changed: Condvar::new(),
            refused: Mutex::default(),
            told: Mutex::default(),
            on_change,
        }
    }

    /// Returns the objects that cannot be copied, with the reasons.
    pub(crate) fn refused(&self) -> Vec<(String, String)> {
        let refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        refused.iter().map(|(key, why)| (key.clone(), why.clone())).collect()
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, CopyStatus> {
        self.status.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a copy of the status.
    pub(crate) fn status(&self) -> CopyStatus {
        self.lock().clone()
    }

    /// Changes the status, and tells it at once.
    pub(crate) fn change(&self, change: impl FnOnce(&mut CopyStatus)) {
        change(&mut self.lock());
        self.changed.notify_all();
        (self.on_change)();
    }

    /// Changes the status, and tells it unless it was told a moment ago.
    pub(crate) fn progress(&self, change: impl FnOnce(&mut CopyStatus)) {
        change(&mut self.lock());
        self.changed.notify_all();
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if told.is_none_or(|told| told.elapsed() >= PROGRESS) {
            *told = Some(Instant::now());
            (self.on_change)();
        }
    }

    /// Notes what is waited for, if that is new.
    pub(crate) fn waiting(&self, trouble: Option<&Trouble>) {
        if self.lock().waiting.as_ref() != trouble {
            self.change(|status| status.waiting = trouble.cloned());
        }
    }

    /// Notes that an object cannot be copied.
    pub(crate) fn refuse(&self, key: &str, why: String) {
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        let is_new = refused.len() < MOST_REFUSED && refused.insert(key.to_owned(), why).is_none();
        let count = refused.len() as u64;
        drop(refused);
        if is_new {
            self.progress(|status| status.refused = count);
        }
    }

    /// Forgets the reasons of these objects.
    pub(crate) fn accept(&self, is_over: impl Fn(&str) -> bool) {
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        refused.retain(|key, _| !is_over(key));
        let count = refused.len() as u64;
        drop(refused);
        let mut status = self.lock();
        status.refused = count;
    }
}
