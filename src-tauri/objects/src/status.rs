//! How far a copy is, shared between its thread and those who ask.
use super::catalog::Version;
use super::error::BucketError;
use super::marks::is_mark;
use super::xml::Listed;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Least time between two notices of progress.
pub(crate) const PROGRESS: Duration = Duration::from_millis(250);
/// Maximum number of objects whose reasons are kept, and of those that are shown.
const MOST_REFUSED: usize = 200_000;
const SHOWN: usize = 1_000;
/// Reason of an object that is in the way of another.
pub(crate) const CLASH: &str =
    "another object has this name as its folder, which a disk cannot hold";

/// Why an object is not copied.
struct Refusal {
    why: String,
    /// Version that was tried, and when it is tried again; other versions are tried at once.
    tried: Option<(Version, Option<Instant>)>,
}

/// Objects that are not copied.
#[derive(Default)]
struct Refused {
    objects: BTreeMap<String, Refusal>,
    /// True once the name of a mark was not kept.
    lost_mark: bool,
}

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
    /// Time of the last check without error, in milliseconds since 1970.
    pub checked_ms: Option<i64>,
    /// Why it does not go on.
    pub error: Option<BucketError>,
    /// What is waited for at this moment.
    pub waiting: Option<BucketError>,
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
    refused: Mutex<Refused>,
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

    /// Returns the first objects that cannot be copied, with the reasons.
    pub(crate) fn refused(&self) -> Vec<(String, String)> {
        let refused = self.lock_refused();
        let shown = refused.objects.iter().take(SHOWN);
        shown.map(|(key, refusal)| (key.clone(), refusal.why.clone())).collect()
    }

    fn lock_refused(&self) -> MutexGuard<'_, Refused> {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner)
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
    pub(crate) fn waiting(&self, error: Option<&BucketError>) {
        if self.lock().waiting.as_ref() != error {
            self.change(|status| status.waiting = error.cloned());
        }
    }

    /// Notes that an object cannot be copied.
    pub(crate) fn refuse(&self, key: &str, why: String) {
        self.note_refusal(key, Refusal { why, tried: None });
    }

    /// Notes that this version of an object was not copied. It is tried again at `again`, if at all.
    pub(crate) fn refuse_version(&self, object: Listed, why: String, again: Option<Instant>) {
        let Listed { key, etag, size, modified_ms } = object;
        let version = Version { etag: etag.into(), size, modified_ms };
        self.note_refusal(&key, Refusal { why, tried: Some((version, again)) });
    }

    fn note_refusal(&self, key: &str, refusal: Refusal) {
        let mut refused = self.lock_refused();
        if refused.objects.len() >= MOST_REFUSED && !refused.objects.contains_key(key) {
            refused.lost_mark |= is_mark(key);
            return;
        }
        let is_new = refused.objects.insert(key.to_owned(), refusal).is_none();
        let count = refused.objects.len() as u64;
        drop(refused);
        if is_new {
            self.progress(|status| status.refused = count);
        }
    }

    /// Returns true if this version of an object was refused, and is not to be tried now.
    pub(crate) fn is_refused(&self, object: &Listed) -> bool {
        let refused = self.lock_refused();
        let tried = refused.objects.get(&object.key).and_then(|refusal| refusal.tried.as_ref());
        tried.is_some_and(|(version, again)| {
            version.is(object) && again.is_none_or(|again| Instant::now() < again)
        })
    }

    /// Returns true if a mark of a red team scan may be among the objects that are not copied.
    pub(crate) fn lacks_marks(&self) -> bool {
        let refused = self.lock_refused();
        refused.lost_mark || refused.objects.keys().any(|key| is_mark(key))
    }

    /// Forgets why an object was refused.
    pub(crate) fn accept(&self, key: &str) {
        self.forget(|refused| drop(refused.remove(key)));
    }

    /// Forgets why objects between `after` and `end` were refused, except for those that are listed.
    pub(crate) fn accept_others(
        &self,
        (prefix, after, end): (&str, &str, Option<&str>),
        listed: &BTreeSet<&str>,
    ) {
        self.forget(|refused| {
            let start = after.max(prefix);
            let start =
                if after.is_empty() { Bound::Included(start) } else { Bound::Excluded(start) };
            let gone: Vec<String> = refused
                .range::<str, _>((start, Bound::Unbounded))
                .map(|(key, _)| key.as_str())
                .take_while(|key| end.is_none_or(|end| *key <= end) && key.starts_with(prefix))
                .filter(|key| !listed.contains(key))
                .map(str::to_owned)
                .collect();
            for key in gone {
                refused.remove(&key);
            }
        });
    }

    /// Tries objects again that were in the way of others.
    pub(crate) fn retry_clashes(&self) {
        let mut refused = self.lock_refused();
        for refusal in refused.objects.values_mut().filter(|refusal| refusal.why == CLASH) {
            refusal.tried = None;
        }
    }

    fn forget(&self, forget: impl FnOnce(&mut BTreeMap<String, Refusal>)) {
        let mut refused = self.lock_refused();
        forget(&mut refused.objects);
        let count = refused.objects.len() as u64;
        drop(refused);
        self.lock().refused = count;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_version_is_not_tried_again_before_its_time() {
        let shared = Shared::new(Box::new(|| ()));
        let object = |key: &str, size| Listed { key: key.to_owned(), size, ..Listed::default() };
        shared.refuse_version(object("a/b", 1), CLASH.to_owned(), None);
        shared.refuse_version(object("c", 1), "later".to_owned(), Some(Instant::now()));
        assert!(shared.is_refused(&object("a/b", 1)) && !shared.is_refused(&object("a/b", 2)));
        assert!(!shared.is_refused(&object("c", 1)), "its time has come");
        shared.retry_clashes();
        assert!(!shared.is_refused(&object("a/b", 1)));
        assert!(!shared.lacks_marks());
        shared.refuse("r/.touchstone/sensitive/1.json", "no".to_owned());
        assert!(shared.lacks_marks());
        assert_eq!(shared.status().refused, 3);
        shared.accept_others(("", "a/b", Some("c")), &BTreeSet::new());
        shared.accept("r/.touchstone/sensitive/1.json");
        let left = shared.refused();
        assert!(left.len() == 1 && left[0].0 == "a/b" && !shared.lacks_marks());
        shared.accept_others(("", "", None), &["a/b"].into());
        assert_eq!(shared.status().refused, 1);
    }
}
