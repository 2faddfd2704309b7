//! Work that was begun since the program began and goes on while people look elsewhere: the list of
//! it, newest first. What the work is belongs to whoever began it.
use super::course::Course;
use crate::error::{AppError, Code};
use futures_util::FutureExt as _;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// What work comes to; a sentence when a mistake of ours ended it, so that it is counted as failed
/// and not looked for for ever.
pub(super) async fn caught<T>(work: impl Future<Output = T>) -> Result<T, String> {
    AssertUnwindSafe(work)
        .catch_unwind()
        .await
        .map_err(|_| "A mistake in Touchstone ended this.".to_owned())
}

/// Something that goes on for a while and can be stopped.
pub(super) trait Lasting {
    /// What is counted of it.
    type Progress;
    /// How refusals begin while it goes on: `Runs are being judged`.
    const WHAT: &'static str;
    /// What it is called when it is not there: `judging`.
    const NAME: &'static str;
    /// How it stands.
    fn course(&self) -> &Course<Self::Progress>;
}

/// What was begun, newest first.
pub(super) struct Begun<W> {
    list: Mutex<Vec<Arc<W>>>,
}

impl<W> Default for Begun<W> {
    fn default() -> Self {
        Self { list: Mutex::default() }
    }
}

impl<W: Lasting> Begun<W> {
    pub(super) fn add(&self, work: Arc<W>) {
        self.lock().insert(0, work);
    }

    /// Refuses while something goes on: it belongs to the folder that is open.
    pub(super) fn refuse_if_busy(&self) -> Result<(), AppError> {
        if self.at_work().is_empty() {
            return Ok(());
        }
        let message = format!("{} in the folder that is open, so it stays open.", W::WHAT);
        Err(AppError::new(Code::BadRequest, message).hint("Wait until that is done, or stop it."))
    }

    pub(super) fn find(&self, id: &str) -> Result<Arc<W>, AppError> {
        let gone =
            || format!("This {} is not known: the program was started again since.", W::NAME);
        let found = self.lock().iter().find(|work| work.course().id == id).cloned();
        found.ok_or_else(|| AppError::new(Code::NotFound, gone()))
    }

    /// All of it.
    pub(super) fn all(&self) -> Vec<Arc<W>> {
        self.lock().clone()
    }

    fn at_work(&self) -> Vec<Arc<W>> {
        self.lock().iter().filter(|work| !work.course().is_over()).cloned().collect()
    }

    /// Stops all of it; true when there is something to wait for.
    pub(super) fn stop_all(&self, now: bool, why: &str) -> bool {
        let at_work = self.at_work();
        for work in &at_work {
            work.course().stop(now, why);
        }
        !at_work.is_empty()
    }

    /// Waits until nothing is under way; false when that took too long.
    pub(super) fn wait(&self, timeout: Duration) -> bool {
        let deadline = Instant::now() + timeout;
        self.all()
            .iter()
            .all(|work| work.course().wait(deadline.saturating_duration_since(Instant::now())))
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Arc<W>>> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_mistake_of_ours_is_what_work_comes_to_and_does_not_end_everything() {
        assert_eq!(caught(async { 1 }).await, Ok(1));
        let broken: Result<u8, String> =
            caught(async { [1, 2].get(7).copied().expect("no such thing") }).await;
        assert_eq!(broken.unwrap_err(), "A mistake in Touchstone ended this.");
    }
}
