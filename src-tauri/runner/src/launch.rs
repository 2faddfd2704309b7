//! Launches: executes many runs concurrently, fairly between models, with a graceful and an
//! immediate stop, and reports progress as events. Owns the order and the stopping; a single run is
//! executed in `execute`.
use super::event::{Ending, RunEvent, RunEventKind};
use super::execute::{Job, LaunchContext, execute_run};
use super::progress::Progress;
use super::setup::Rules;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use touchstone_clock::MonotonicClock;

/// Receives all events, in batches, on a thread that may block; the runs do not wait for it.
pub type Listener = Box<dyn FnMut(&[RunEvent]) + Send>;

/// Pause between batches of events, which spares a wake-up for each event. There is no pause after
/// the start, a stop or the end, because readers wait for what follows.
const BREATH: Duration = Duration::from_millis(10);
/// Maximum number of events in a batch.
const MOST: usize = 1000;

/// Launch that has been started.
pub struct Launch {
    /// Id of the launch.
    pub id: String,
    /// Directory that the runs are written to.
    pub output_dir: PathBuf,
    /// Limits that the launch was started with.
    pub rules: Rules,
    /// Model that plays simulated users, as the launch was started with.
    pub user_model: Option<String>,
    /// Jobs of the launch; kept in order to launch unfinished ones again.
    pub jobs: Vec<Job>,
    shared: Arc<Shared>,
}

struct Shared {
    standing: Mutex<LaunchStatus>,
    over: Condvar,
    stops: StopTokens,
    /// Sends the event of a stop. It is weak, because the runs alone decide how long the channel
    /// stays open.
    teller: mpsc::WeakUnboundedSender<RunEvent>,
    clock: MonotonicClock,
}

struct LaunchStatus {
    progress: Progress,
    over: bool,
}

/// Tokens for the two ways to stop a launch.
#[derive(Debug, Clone, Default)]
pub struct StopTokens {
    /// Graceful: nothing new is started; work in progress is finished and saved.
    pub soft: CancellationToken,
    /// Immediate: work in progress is cancelled, too.
    pub hard: CancellationToken,
}

/// Sends the events of a launch.
#[derive(Clone)]
pub struct RunEventSender(mpsc::UnboundedSender<RunEvent>, MonotonicClock);

impl RunEventSender {
    /// Sends an event about a run, or about the whole launch.
    pub fn send(&self, run: Option<&str>, what: RunEventKind) {
        // The receiver is gone only when the program ends.
        let _ = self.0.send(RunEvent { at_ms: self.1.now_ms(), run: run.map(str::to_owned), what });
    }

    /// Creates a sender and its receiver.
    pub fn new() -> (Self, mpsc::UnboundedReceiver<RunEvent>) {
        let (sender, receiver) = mpsc::unbounded_channel();
        (Self(sender, MonotonicClock::start()), receiver)
    }
}

impl Launch {
    /// Starts the launch on the current Tokio runtime.
    pub fn start(
        id: String,
        crew: Arc<LaunchContext>,
        jobs: Vec<Job>,
        events: mpsc::UnboundedReceiver<RunEvent>,
        listeners: Vec<Listener>,
    ) -> Self {
        let progress = Progress::for_paths(jobs.iter().map(|job| job.slot.path.clone()));
        let standing = Mutex::new(LaunchStatus { progress, over: false });
        let (stops, RunEventSender(teller, clock), rules) =
            (crew.stops.clone(), &crew.teller, crew.setup.rules);
        let (teller, clock) = (teller.downgrade(), *clock);
        let shared = Arc::new(Shared { standing, over: Condvar::new(), stops, teller, clock });
        let (output_dir, user_model) = (crew.output_dir.clone(), crew.setup.user_model.clone());
        let told = Arc::clone(&shared);
        std::thread::spawn(move || told.listen(events, listeners));
        tokio::spawn(work_off(crew, jobs.clone()));
        Self { id, output_dir, rules, user_model, jobs, shared }
    }

    /// Calls `look` with the current progress.
    pub fn with_progress<T>(&self, look: impl FnOnce(&Progress) -> T) -> T {
        look(&self.shared.lock().progress)
    }

    /// Returns the current time by the clock of the launch's events.
    pub fn now_ms(&self) -> i64 {
        self.shared.clock.now_ms()
    }

    /// Returns true once everything is done and every listener has received all events.
    pub fn is_over(&self) -> bool {
        self.shared.lock().over
    }

    /// Starts no further runs, for the given reason; with `now`, also cancels work in progress.
    pub fn stop(&self, now: bool, why: &str) {
        let stops = &self.shared.stops;
        let is_first = !stops.soft.is_cancelled();
        stops.soft.cancel();
        if now {
            stops.hard.cancel();
        }
        if let Some(teller) = self.shared.teller.upgrade().filter(|_| is_first) {
            RunEventSender(teller, self.shared.clock)
                .send(None, RunEventKind::Stopping { why: why.to_owned() });
        }
    }

    /// Blocks until the launch is over. Returns false on timeout.
    pub fn wait(&self, timeout: Duration) -> bool {
        let standing = self.shared.lock();
        let waited =
            self.shared.over.wait_timeout_while(standing, timeout, |standing| !standing.over);
        waited.map_or_else(|broken| broken.into_inner().0.over, |(standing, _)| standing.over)
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, LaunchStatus> {
        self.standing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Applies every event to the progress and passes it to the listeners, until the last sender is
    /// dropped.
    fn listen(&self, mut events: mpsc::UnboundedReceiver<RunEvent>, mut listeners: Vec<Listener>) {
        let mut heard = Vec::new();
        while events.blocking_recv_many(&mut heard, MOST) > 0 {
            let unended = {
                let mut standing = self.lock();
                for event in &heard {
                    // An event that cannot be applied is skipped: the end must still reach those
                    // who wait for it.
                    let applied = catch_unwind(AssertUnwindSafe(|| standing.progress.apply(event)));
                    if applied.is_err() {
                        tracing::error!("an event of the launch could not be counted: {event:?}");
                    }
                }
                standing.progress.unended()
            };
            // A listener that panics is removed; the others stay.
            listeners
                .retain_mut(|listener| catch_unwind(AssertUnwindSafe(|| listener(&heard))).is_ok());
            let is_new = heard.iter().any(|event| {
                matches!(event.what, RunEventKind::Began { .. } | RunEventKind::Stopping { .. })
            });
            if heard.len() < MOST && unended > 0 && !is_new {
                std::thread::sleep(BREATH);
            }
            heard.clear();
        }
        self.lock().over = true;
        self.over.notify_all();
    }
}

/// Waiting jobs by model. The next job is one of the model with the fewest running jobs.
struct Queue {
    models: Vec<(String, VecDeque<Job>, usize)>,
}

impl Queue {
    fn new(jobs: Vec<Job>) -> Self {
        let mut models: Vec<(String, VecDeque<Job>, usize)> = Vec::new();
        for job in jobs {
            let name = &job.slot.at.model;
            match models.iter_mut().find(|(known, ..)| known == name) {
                Some((_, waiting, _)) => waiting.push_back(job),
                None => models.push((name.clone(), VecDeque::from([job]), 0)),
            }
        }
        Self { models }
    }

    fn next(&mut self) -> Option<Job> {
        let waiting = self.models.iter_mut().filter(|(_, waiting, _)| !waiting.is_empty());
        let (_, jobs, at_work) = waiting.min_by_key(|(.., at_work)| *at_work)?;
        *at_work += 1;
        jobs.pop_front()
    }

    fn done(&mut self, model: &str) {
        if let Some((.., at_work)) = self.models.iter_mut().find(|(known, ..)| known == model) {
            *at_work -= 1;
        }
    }
}

async fn work_off(crew: Arc<LaunchContext>, jobs: Vec<Job>) {
    crew.teller.send(None, RunEventKind::Began { runs: jobs.len() as u64 });
    let seats = (crew.setup.rules.concurrency as usize).min(jobs.len());
    let queue = Arc::new(Mutex::new(Queue::new(jobs)));
    let workers: Vec<_> =
        (0..seats).map(|_| tokio::spawn(work(Arc::clone(&crew), Arc::clone(&queue)))).collect();
    for worker in workers {
        if worker.await.is_err() {
            tracing::error!("a run ended by a panic");
        }
    }
    let teller = crew.teller.clone();
    if let Some(crew) = Arc::into_inner(crew) {
        crew.toolbox.close().await;
    }
    teller.send(None, RunEventKind::Finished);
}

async fn work(crew: Arc<LaunchContext>, queue: Arc<Mutex<Queue>>) {
    let lock = || queue.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        let Some(job) = lock().next() else { return };
        let (path, model) = (job.slot.path.clone(), job.slot.at.model.clone());
        let (how, why) = if crew.stops.soft.is_cancelled() {
            (Ending::Stopped, None)
        } else if let Some(why) = crew.refusal_for(&job) {
            (Ending::Stopped, Some(why))
        } else {
            // In a task of its own, which limits a panic to this run.
            let broken = |_| {
                (
                    Ending::Error,
                    Some("An internal error ended this run. Please report it.".to_owned()),
                )
            };
            tokio::spawn(execute_run(Arc::clone(&crew), job)).await.unwrap_or_else(broken)
        };
        crew.teller.send(Some(&path), RunEventKind::Ended { how, why });
        lock().done(&model);
    }
}
