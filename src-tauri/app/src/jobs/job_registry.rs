//! Registry of background jobs since the program started, newest first. The jobs themselves are
//! defined by the modules that start them.
use super::job_handle::JobHandle;
use crate::error::{AppError, Code};
use futures_util::FutureExt as _;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Awaits work and converts a panic to an error message, so that the job is counted as failed and
/// does not stay pending forever.
pub(crate) async fn catch_panic<T>(work: impl Future<Output = T>) -> Result<T, String> {
    AssertUnwindSafe(work)
        .catch_unwind()
        .await
        .map_err(|_| "An internal error ended this. Please report it.".to_owned())
}

/// A background job that can be stopped.
pub(crate) trait BackgroundJob {
    /// Progress counters of the job.
    type Progress;
    /// Beginning of messages that refuse something while the job runs: `Runs are being judged`.
    const WHAT: &'static str;
    /// Noun for messages about an unknown job: `judging`.
    const NAME: &'static str;
    /// Handle to the state of the job.
    fn handle(&self) -> &JobHandle<Self::Progress>;
}

/// Registered jobs, newest first.
pub(crate) struct JobRegistry<W> {
    list: Mutex<Vec<Arc<W>>>,
}

impl<W> Default for JobRegistry<W> {
    fn default() -> Self {
        Self { list: Mutex::default() }
    }
}

impl<W: BackgroundJob> JobRegistry<W> {
    pub(crate) fn add(&self, work: Arc<W>) {
        self.lock().insert(0, work);
    }

    /// Fails while a job is running: it belongs to the open folder, which therefore cannot be
    /// closed.
    pub(crate) fn refuse_if_busy(&self) -> Result<(), AppError> {
        if self.running().is_empty() {
            return Ok(());
        }
        let message = format!("{} in the open folder, so it stays open.", W::WHAT);
        Err(AppError::new(Code::BadRequest, message).hint("Wait until that is done, or stop it."))
    }

    pub(crate) fn find(&self, id: &str) -> Result<Arc<W>, AppError> {
        let gone = || format!("This {} is unknown: Touchstone was restarted since.", W::NAME);
        let found = self.lock().iter().find(|work| work.handle().id == id).cloned();
        found.ok_or_else(|| AppError::new(Code::NotFound, gone()))
    }

    /// Returns all jobs.
    pub(crate) fn all(&self) -> Vec<Arc<W>> {
        self.lock().clone()
    }

    fn running(&self) -> Vec<Arc<W>> {
        self.lock().iter().filter(|work| !work.handle().is_over()).cloned().collect()
    }

    /// Stops all running jobs; returns true if the caller has to wait for any.
    pub(crate) fn stop_all(&self, now: bool, why: &str) -> bool {
        let at_work = self.running();
        for work in &at_work {
            work.handle().stop(now, why);
        }
        !at_work.is_empty()
    }

    /// Waits until no job is running; returns false on timeout.
    pub(crate) fn wait(&self, timeout: Duration) -> bool {
        let deadline = Instant::now() + timeout;
        self.all()
            .iter()
            .all(|work| work.handle().wait(deadline.saturating_duration_since(Instant::now())))
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
        assert_eq!(catch_panic(async { 1 }).await, Ok(1));
        let broken: Result<u8, String> =
            catch_panic(async { [1, 2].get(7).copied().expect("no such thing") }).await;
        assert_eq!(broken.unwrap_err(), "An internal error ended this. Please report it.");
    }
}
