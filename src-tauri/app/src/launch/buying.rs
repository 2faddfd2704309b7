//! Buys replies of a model outside of any run, for suites that are to be written. Replies are kept in a
//! journal of their own, so that whoever asks again pays only for what is missing. Owns that journal
//! and its lock; what is asked and what it means is up to the caller.
use super::LaunchActions;
use crate::OpenFolder;
use crate::error::{AppError, Code};
use std::sync::Arc;
use std::time::Duration;
use touchstone_runner::event::{RunEvent, RunEventKind};
use touchstone_runner::execute::LaunchContext;
use touchstone_runner::journal::Journal;
use touchstone_runner::launch::RunEventSender;
use touchstone_runner::lock::{LockError, RunLock};
use touchstone_runner::setup::Setup;

/// Interval at which an interruption is looked for.
const GLANCE: Duration = Duration::from_millis(200);

/// Reason the replies were not all bought.
pub(crate) enum Unfinished {
    /// Stopped by the user, by the budget, or because every request would fail.
    Stopped,
    /// Failure; a sentence.
    Failed(String),
}

/// Where replies are kept.
pub(crate) struct ReplyFiles {
    /// Name of the lock and the journal; no run can have it, because hidden files are never runs.
    pub(crate) name: &'static str,
    /// What another process does that holds the lock: `is writing tasks`.
    pub(crate) busy: &'static str,
}

impl LaunchActions<'_> {
    /// Like [`Self::buy_some`], but fails if not all replies were bought.
    pub(crate) fn buy_replies<T>(
        self,
        at: (&OpenFolder, &Setup),
        place: &ReplyFiles,
        watch: (&impl Fn() -> u32, &dyn Fn(u64, String)),
        work: impl AsyncFnOnce(&Arc<LaunchContext>, &Journal) -> Result<T, Unfinished>,
    ) -> Result<T, AppError> {
        let bought = self.buy_some(at, place, watch, async |crew, journal| {
            match work(crew, journal).await {
                Ok(done) => (Some(done), None),
                Err(end) => (None, Some(end)),
            }
        })?;
        match bought {
            (Some(done), None) => Ok(done),
            (_, why) => Err(unfinished(why.unwrap_or_default())),
        }
    }

    /// Does the work that buys replies. Returns what it made, and why not all replies were bought.
    /// `interrupts` returns how often the user asked for an end: after the first time, requests in
    /// flight finish; after the second, they are given up. `on_retry` gets the seconds until the next
    /// attempt, and the reason.
    pub(crate) fn buy_some<T>(
        self,
        (open, setup): (&OpenFolder, &Setup),
        place: &ReplyFiles,
        (interrupts, on_retry): (&impl Fn() -> u32, &dyn Fn(u64, String)),
        work: impl AsyncFnOnce(&Arc<LaunchContext>, &Journal) -> (T, Option<Unfinished>),
    ) -> Result<(T, Option<String>), AppError> {
        open.check_writable()?;
        let dir = &open.flow.roots.output_dir;
        touchstone_runner::disk::make_root(dir).map_err(|why| failed(why.to_string()))?;
        let lock = RunLock::take(dir, place.name).map_err(|why| match why {
            LockError::Held { by } => {
                failed(format!("Another process {} here ({by}).", place.busy)).hint("Wait for it.")
            }
            other => failed(other.to_string()),
        })?;
        let journal = Journal::open(dir, place.name).map_err(|why| failed(why.to_string()))?;
        let runtime = self.app.inner.launches.runtime()?;
        let (teller, mut events) = RunEventSender::new();
        let (mut stopping, mut is_interrupted) = (None, false);
        let mut hear = |event: RunEvent| match event.what {
            // The first reason is the cause.
            RunEventKind::Stopping { why } => {
                stopping.get_or_insert(why);
            }
            RunEventKind::Retrying { wait_ms, why, .. } => on_retry(wait_ms.div_ceil(1000), why),
            _ => {}
        };
        let done = runtime.block_on(async {
            let crew = Arc::new(self.launch_context(open, setup.clone(), &[], teller).await);
            let stops = crew.stops.clone();
            let work = work(&crew, &journal);
            tokio::pin!(work);
            loop {
                tokio::select! {
                    done = &mut work => return done,
                    Some(event) = events.recv() => hear(event),
                    () = tokio::time::sleep(GLANCE) => {
                        let count = interrupts();
                        if count > 0 {
                            is_interrupted = true;
                            stops.soft.cancel();
                        }
                        if count > 1 {
                            stops.hard.cancel();
                        }
                    }
                }
            }
        });
        drop(lock);
        while let Ok(event) = events.try_recv() {
            hear(event);
        }
        let (done, end) = done;
        let why = end.map(|end| match end {
            Unfinished::Failed(why) => why,
            Unfinished::Stopped if is_interrupted || interrupts() > 0 => {
                "It was interrupted.".to_owned()
            }
            Unfinished::Stopped => stopping.unwrap_or_else(|| "It was stopped.".to_owned()),
        });
        Ok((done, why))
    }
}

/// Returns the error of work that can be continued. No suite is written, so that the same command
/// writes the whole one.
fn unfinished(why: String) -> AppError {
    failed(why).hint("Nothing was written. Replies that were paid for are kept: the same command continues from there.")
}

fn failed(why: String) -> AppError {
    AppError::new(Code::Failed, why)
}
