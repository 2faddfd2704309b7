//! The failure map: why runs fail. Transcripts of failed runs are read in the background, once for
//! each content of their files; the map covers those that were read so far.
//!
//! ```text
//! request → selection: failed runs, and the passing runs of their tasks
//!              └ not known yet → job: read, analyse → known findings
//! known findings → clusters → map
//! ```
mod cache;
mod cause_names;
mod map;
mod naming;
mod reading;
mod selection;
mod sensitive;

use crate::error::{AppError, Code};
use crate::events::EventSender;
use crate::{App, OpenFolder};
use cache::KnownFailures;
use map::CauseMap;
use selection::Selection;
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use touchstone_api::{FailureMap, FailuresRequest, FailuresState, RunCause, Stale};

/// The actions on failures of runs.
#[derive(Clone, Copy)]
pub struct FailureActions<'a> {
    pub(crate) app: &'a App,
}

/// Maximum number of jobs that are remembered, and of selections that are kept.
const MOST_JOBS: usize = 8;
const MOST_SELECTIONS: usize = 2;
/// Maximum number of maps that are kept.
const MOST_MAPS: usize = 4;
/// Maximum number of transcripts that a report waits for.
const MOST_AT_ONCE: usize = 100;
/// Minimum time between two events about progress.
const PACE: Duration = Duration::from_millis(400);
/// Time after which a job that another one took the place of ends, unless it is asked for again.
const PATIENCE: Duration = Duration::from_secs(2);
/// While transcripts are read, a map is made anew only after this many times the time that it took.
const REST: u32 = 5;

/// Failure maps of one folder.
#[derive(Default)]
pub(crate) struct Failures {
    known: KnownFailures,
    jobs: Mutex<Vec<Arc<Job>>>,
    selections: Mutex<Vec<(FailuresRequest, Arc<Selection>)>>,
    maps: Mutex<Vec<KeptMap>>,
    naming: Mutex<Option<Arc<naming::Naming>>>,
}

/// A map that was made.
struct KeptMap {
    request: FailuresRequest,
    generation: u64,
    /// Version of the known findings that it was made from.
    version: u64,
    made: Instant,
    /// How long that took.
    took: Duration,
    map: Arc<CauseMap>,
}

/// Reading of transcripts for a request.
struct Job {
    request: FailuresRequest,
    /// True once it was asked to stop.
    stops: AtomicBool,
    /// True once a job for another request took its place: somebody typed on in a filter.
    superseded: AtomicBool,
    /// How often it was asked for, and when last.
    asked: AtomicU32,
    last_asked: Mutex<Instant>,
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
            superseded: AtomicBool::new(false),
            asked: AtomicU32::new(1),
            last_asked: Mutex::new(Instant::now()),
            over: AtomicBool::new(false),
            done: AtomicU64::new(0),
            events: events.map(|events| Mutex::new((events, Instant::now()))),
        }
    }

    /// Returns true if a person stopped it.
    fn was_stopped(&self) -> bool {
        self.stops.load(Ordering::Relaxed)
    }

    /// Returns true if a person stopped it, or if another job took its place and nobody waits for it
    /// any more.
    fn is_stopping(&self) -> bool {
        self.was_stopped() || self.is_abandoned()
    }

    /// A page asks again whenever it is told of progress; what was asked for only once was passed
    /// over while typing.
    fn is_abandoned(&self) -> bool {
        let waited = || self.last_asked.lock().unwrap_or_else(PoisonError::into_inner).elapsed();
        self.superseded.load(Ordering::Relaxed)
            && (self.asked.load(Ordering::Relaxed) < 2 || waited() > PATIENCE)
    }

    fn ask(&self) {
        self.superseded.store(false, Ordering::Relaxed);
        self.asked.fetch_add(1, Ordering::Relaxed);
        *self.last_asked.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
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
        if let Some(naming) = self.naming().as_ref() {
            naming.stop();
        }
    }

    /// Returns the map of a selection: the same as before while nothing more is known. While
    /// transcripts are read, it may be a little behind.
    fn map(
        &self,
        request: &FailuresRequest,
        selection: &Selection,
        state: FailuresState,
    ) -> Arc<CauseMap> {
        let lock = || self.maps.lock().unwrap_or_else(PoisonError::into_inner);
        let version = self.known.version();
        let is_current = |kept: &&KeptMap| {
            let is_recent =
                state == FailuresState::Running && kept.made.elapsed() < kept.took * REST;
            kept.request == *request
                && kept.generation == selection.generation
                && (kept.version == version || is_recent)
        };
        if let Some(kept) = lock().iter().find(is_current) {
            return Arc::clone(&kept.map);
        }
        let started = Instant::now();
        let map = Arc::new(map::map(selection, &self.known, state));
        let kept = KeptMap {
            request: request.clone(),
            generation: selection.generation,
            version,
            made: Instant::now(),
            took: started.elapsed(),
            map: Arc::clone(&map),
        };
        let mut maps = lock();
        maps.retain(|kept| kept.request != *request);
        maps.insert(0, kept);
        maps.truncate(MOST_MAPS);
        map
    }

    fn naming(&self) -> MutexGuard<'_, Option<Arc<naming::Naming>>> {
        self.naming.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn jobs(&self) -> MutexGuard<'_, Vec<Arc<Job>>> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn job(&self, request: &FailuresRequest) -> Option<Arc<Job>> {
        self.jobs().iter().find(|job| job.request == *request).cloned()
    }

    /// Registers a job, which takes the place of those for other requests; `None` if one is running
    /// for the same request.
    fn register(&self, request: &FailuresRequest, events: EventSender) -> Option<Arc<Job>> {
        let mut jobs = self.jobs();
        let is_running =
            |job: &Arc<Job>| job.request == *request && !job.is_over() && !job.is_abandoned();
        if jobs.iter().any(is_running) {
            return None;
        }
        jobs.retain(|job| job.request != *request);
        for other in jobs.iter() {
            other.superseded.store(true, Ordering::Relaxed);
        }
        let job = Arc::new(Job::new(request, Some(events)));
        jobs.insert(0, Arc::clone(&job));
        for old in jobs.iter().skip(MOST_JOBS) {
            old.stops.store(true, Ordering::Relaxed);
        }
        jobs.truncate(MOST_JOBS);
        Some(job)
    }
}

impl FailureActions<'_> {
    /// Returns why the runs that match a filter fail. Transcripts that were not read before are read
    /// in the background, unless that was stopped; the map then covers those that were read so far.
    pub fn map(self, request: &FailuresRequest) -> Result<FailureMap, AppError> {
        let open = self.app.require_folder()?;
        let selection = select(&open, request)?;
        let job = open.failures.job(request);
        let is_stopped = job.as_ref().is_some_and(|job| job.was_stopped());
        if let Some(job) = &job {
            job.ask();
        }
        let missing = open.failures.known.missing(&selection);
        let state = if missing.is_empty() {
            FailuresState::Done
        } else if is_stopped {
            FailuresState::Stopped
        } else {
            self.read_failures(&open, &selection, request, missing)?;
            FailuresState::Running
        };
        let made = open.failures.map(request, &selection, state);
        let mut map = FailureMap { state, ..made.map.clone() };
        self.leave_out_quotes(&selection, &made, &mut map)?;
        self.put_names(&mut map)?;
        Ok(map)
    }

    /// Returns the main cause of a failed run, as on the failure map of all runs. Reads its
    /// transcript, if that was not done before. `None` for a run that did not fail or is in no
    /// statistics.
    pub fn run_cause(self, id: &str) -> Result<Option<RunCause>, AppError> {
        let open = self.app.require_folder()?;
        let request = FailuresRequest::default();
        let selection = select(&open, &request)?;
        let Some(place) = selection.failed.iter().position(|failed| failed.run.id == id) else {
            return Ok(None);
        };
        let known = &open.failures.known;
        if !known.has(&selection, place) {
            reading::read(&open, &selection, &[place], &Job::new(&request, None), &|| ());
        }
        Ok(map::cause(&selection, known, place))
    }

    /// Stops reading transcripts for a request. What was read is kept.
    pub fn stop_failures(self, request: &FailuresRequest) -> Result<(), AppError> {
        if let Some(job) = self.app.require_folder()?.failures.job(request) {
            job.stops.store(true, Ordering::Relaxed);
            self.app.inner.bulletin.post(Stale::Failures);
        }
        Ok(())
    }

    /// Continues to read the transcripts for a request that was stopped.
    pub fn resume_failures(self, request: &FailuresRequest) -> Result<FailureMap, AppError> {
        let open = self.app.require_folder()?;
        open.failures.jobs().retain(|job| job.request != *request || !job.was_stopped());
        self.map(request)
    }

    /// Like [`Self::map`], but waits until all transcripts are read. `progress` is called with
    /// the number of failed runs that were read and the number of all. Quotations of sensitive runs
    /// are replaced unless they are to be included; also returns the ids of such runs.
    pub fn whole_map(
        self,
        request: &FailuresRequest,
        include_sensitive: bool,
        progress: &(dyn Fn(u64, u64) + Sync),
    ) -> Result<(FailureMap, HashSet<String>), AppError> {
        let open = self.app.require_folder()?;
        let selection = select(&open, request)?;
        let missing = open.failures.known.missing(&selection);
        let (total, left) = (selection.failed.len() as u64, missing.len() as u64);
        let job = Job::new(request, None);
        let tell = || progress(total - left + job.done.load(Ordering::Relaxed), total);
        reading::read(&open, &selection, &missing, &job, &tell);
        let made = open.failures.map(request, &selection, FailuresState::Done);
        let mut map = FailureMap { state: FailuresState::Done, ..made.map.clone() };
        self.put_names(&mut map)?;
        let left_out = if include_sensitive {
            HashSet::new()
        } else {
            self.leave_out_quotes(&selection, &made, &mut map)?
        };
        Ok((map, left_out))
    }

    /// Returns the map for a report, which does not wait for many transcripts: it covers those that
    /// were read so far, and the others are read in the background.
    pub(crate) fn map_for_report(
        self,
        request: &FailuresRequest,
        include_sensitive: bool,
    ) -> Result<FailureMap, AppError> {
        let open = self.app.require_folder()?;
        let selection = select(&open, request)?;
        if open.failures.known.missing(&selection).len() > MOST_AT_ONCE {
            return self.map(request);
        }
        Ok(self.whole_map(request, include_sensitive, &|_, _| ())?.0)
    }

    /// Starts to read transcripts in the background, unless that is being done.
    fn read_failures(
        self,
        open: &Arc<OpenFolder>,
        selection: &Arc<Selection>,
        request: &FailuresRequest,
        missing: Vec<usize>,
    ) -> Result<(), AppError> {
        let Some(job) = open.failures.register(request, self.app.inner.bulletin.sender()) else {
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
    let scorers = crate::stats::known_scorers(open, request.scorer.as_deref())?;
    let generation = open.ask(|index| Ok(index.generation()))?;
    let lock = || open.failures.selections.lock().unwrap_or_else(PoisonError::into_inner);
    let is_current = |(known, selection): &&(FailuresRequest, Arc<Selection>)| {
        known == request && selection.generation == generation
    };
    if let Some((_, selection)) = lock().iter().find(is_current) {
        return Ok(Arc::clone(selection));
    }
    let selection = Arc::new(Selection::new(open, request, scorers)?);
    let mut selections = lock();
    selections.retain(|(known, _)| known != request);
    selections.insert(0, (request.clone(), Arc::clone(&selection)));
    selections.truncate(MOST_SELECTIONS);
    Ok(selection)
}
