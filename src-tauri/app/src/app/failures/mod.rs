//! The failure map: why runs fail. Transcripts of failed runs are read in the background, once for
//! each content of their files; the map covers those that were read so far.
//!
//! ```text
//! request → selection: failed runs, and the passing runs of their tasks
//!              └ not known yet → job: read, analyse → known findings
//! known findings → clusters → map
//! ```
mod cache;
mod map;
mod reading;
mod selection;

use super::App;
use super::event_bus::EventSender;
use crate::app::OpenFolder;
use crate::error::{AppError, Code};
use cache::KnownFailures;
use selection::Selection;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use touchstone_api::{FailureMap, FailuresRequest, FailuresState, Stale};

/// Maximum number of jobs that are remembered, and of selections that are kept.
const MOST_JOBS: usize = 8;
const MOST_SELECTIONS: usize = 2;
/// Minimum time between two events about progress.
const PACE: Duration = Duration::from_millis(400);

/// Failure maps of one folder.
#[derive(Default)]
pub(crate) struct Failures {
    known: KnownFailures,
    jobs: Mutex<Vec<Arc<Job>>>,
    selections: Mutex<Vec<(FailuresRequest, Arc<Selection>)>>,
}

/// Reading of transcripts for a request.
struct Job {
    request: FailuresRequest,
    /// True once it was asked to stop.
    stops: AtomicBool,
    over: AtomicBool,
    /// Number of runs that it read.
    done: AtomicU64,
    /// Where to tell progress, and when it was told last.
    events: Option<Mutex<(EventSender, Instant)>>,
}

impl Job {
    fn new(request: &FailuresRequest, events: Option<EventSender>) -> Self {
        Self {
            request: request.clone(),
            stops: AtomicBool::new(false),
            over: AtomicBool::new(false),
            done: AtomicU64::new(0),
            events: events.map(|events| Mutex::new((events, Instant::now()))),
        }
    }

    fn is_stopping(&self) -> bool {
        self.stops.load(Ordering::Relaxed)
    }

    fn is_over(&self) -> bool {
        self.over.load(Ordering::Acquire)
    }

    /// Counts a run and tells progress, but not too often.
    fn count(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
        if let Some(events) = &self.events {
            let mut events = events.lock().unwrap_or_else(PoisonError::into_inner);
            if events.1.elapsed() >= PACE {
                events.1 = Instant::now();
                events.0.post(Stale::Failures);
            }
        }
    }

    fn end(&self) {
        self.over.store(true, Ordering::Release);
        if let Some(events) = &self.events {
            events.lock().unwrap_or_else(PoisonError::into_inner).0.post(Stale::Failures);
        }
    }
}

impl Failures {
    /// Stops all jobs, because the folder is closed.
    pub(crate) fn stop(&self) {
        for job in self.jobs().iter() {
            job.stops.store(true, Ordering::Relaxed);
        }
    }

    fn jobs(&self) -> MutexGuard<'_, Vec<Arc<Job>>> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn job(&self, request: &FailuresRequest) -> Option<Arc<Job>> {
        self.jobs().iter().find(|job| job.request == *request).cloned()
    }

    /// Registers a job; `None` if one is running for the same request. The oldest of too many jobs
    /// is stopped.
    fn register(&self, request: &FailuresRequest, events: EventSender) -> Option<Arc<Job>> {
        let mut jobs = self.jobs();
        if jobs.iter().any(|job| job.request == *request && !job.is_over()) {
            return None;
        }
        jobs.retain(|job| job.request != *request);
        let job = Arc::new(Job::new(request, Some(events)));
        jobs.insert(0, Arc::clone(&job));
        for old in jobs.iter().skip(MOST_JOBS) {
            old.stops.store(true, Ordering::Relaxed);
        }
        jobs.truncate(MOST_JOBS);
        Some(job)
    }
}

impl App {
    /// Returns why the runs that match a filter fail. Transcripts that were not read before are read
    /// in the background, unless that was stopped; the map then covers those that were read so far.
    pub fn failures(&self, request: &FailuresRequest) -> Result<FailureMap, AppError> {
        let open = self.require_folder()?;
        let selection = select(&open, request)?;
        let job = open.failures.job(request);
        let is_stopped = job.as_ref().is_some_and(|job| job.is_stopping());
        let missing = open.failures.known.missing(&selection);
        let state = if missing.is_empty() {
            FailuresState::Done
        } else if is_stopped {
            FailuresState::Stopped
        } else {
            self.read_failures(&open, &selection, request, missing)?;
            FailuresState::Running
        };
        Ok(map::map(&selection, &open.failures.known, state))
    }

    /// Stops reading transcripts for a request. What was read is kept.
    pub fn stop_failures(&self, request: &FailuresRequest) -> Result<(), AppError> {
        if let Some(job) = self.require_folder()?.failures.job(request) {
            job.stops.store(true, Ordering::Relaxed);
            self.inner.bulletin.post(Stale::Failures);
        }
        Ok(())
    }

    /// Continues to read the transcripts for a request that was stopped.
    pub fn resume_failures(&self, request: &FailuresRequest) -> Result<FailureMap, AppError> {
        let open = self.require_folder()?;
        open.failures.jobs().retain(|job| job.request != *request || !job.is_stopping());
        self.failures(request)
    }

    /// Like [`App::failures`], but waits until all transcripts are read. `progress` is called with
    /// the number of failed runs that were read and the number of all.
    pub fn failures_now(
        &self,
        request: &FailuresRequest,
        progress: &(dyn Fn(u64, u64) + Sync),
    ) -> Result<FailureMap, AppError> {
        let open = self.require_folder()?;
        let selection = select(&open, request)?;
        let missing = open.failures.known.missing(&selection);
        let (total, left) = (selection.failed.len() as u64, missing.len() as u64);
        let job = Job::new(request, None);
        let tell = || progress(total - left + job.done.load(Ordering::Relaxed), total);
        reading::read(&open, &selection, &missing, &job, &tell);
        Ok(map::map(&selection, &open.failures.known, FailuresState::Done))
    }

    /// Starts to read transcripts in the background, unless that is being done.
    fn read_failures(
        &self,
        open: &Arc<OpenFolder>,
        selection: &Arc<Selection>,
        request: &FailuresRequest,
        missing: Vec<usize>,
    ) -> Result<(), AppError> {
        let Some(job) = open.failures.register(request, self.inner.bulletin.sender()) else {
            return Ok(());
        };
        let (open, selection, at_work) =
            (Arc::clone(open), Arc::clone(selection), Arc::clone(&job));
        let work = move || {
            let read = || reading::read(&open, &selection, &missing, &at_work, &|| ());
            if catch_unwind(AssertUnwindSafe(read)).is_err() {
                at_work.stops.store(true, Ordering::Relaxed);
            }
            at_work.end();
        };
        std::thread::Builder::new().name("failures".to_owned()).spawn(work).map(drop).map_err(
            |_| {
                job.over.store(true, Ordering::Release);
                AppError::new(Code::Failed, "No thread is free to read the runs that failed.")
                    .hint("Try again.")
            },
        )
    }
}

/// Returns the failed runs of a request; the same as before while the index did not change.
fn select(open: &OpenFolder, request: &FailuresRequest) -> Result<Arc<Selection>, AppError> {
    let scorers = open.ask(|index| open.lists.scorers(index))?;
    super::stats::known_scorer(request.scorer.as_deref(), &scorers)?;
    let generation = open.ask(|index| Ok(index.generation()))?;
    let lock = || open.failures.selections.lock().unwrap_or_else(PoisonError::into_inner);
    let is_current = |(known, selection): &&(FailuresRequest, Arc<Selection>)| {
        known == request && selection.generation == generation
    };
    if let Some((_, selection)) = lock().iter().find(is_current) {
        return Ok(Arc::clone(selection));
    }
    let selection = Arc::new(Selection::new(open, request)?);
    let mut selections = lock();
    selections.retain(|(known, _)| known != request);
    selections.insert(0, (request.clone(), Arc::clone(&selection)));
    selections.truncate(MOST_SELECTIONS);
    Ok(selection)
}
