//! Event bus: notifies subscribers of stale data. The first event is delivered at once; following
//! ones are merged and delivered at most forty times per second.
use std::collections::BTreeSet;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::JoinHandle;
use std::time::Duration;
use touchstone_api::{AppEvent, Stale};
use touchstone_clock as clock;

/// Minimum time between two deliveries.
const PAUSE: Duration = Duration::from_millis(25);
/// Maximum number of run ids in an event; with more, the event concerns all runs.
const MOST_IDS: usize = 100;

type Listener = Arc<dyn Fn(&AppEvent) + Send + Sync>;

#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "each says of one thing whether it went stale")]
struct PendingEvents {
    folder: bool,
    status: bool,
    launches: bool,
    judgings: bool,
    evaluations: bool,
    generations: bool,
    failures: bool,
    runs: Option<Runs>,
    stop: bool,
}

#[derive(Default)]
struct Runs {
    generation: u64,
    ids: BTreeSet<String>,
    all: bool,
}

#[derive(Default)]
struct Shared {
    board: Mutex<PendingEvents>,
    wake: Condvar,
    listeners: Mutex<(u64, Vec<(u64, Listener)>)>,
}

/// Accepts events and delivers them to subscribers on its own thread.
pub(crate) struct EventBus {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

/// Sending half, for threads that may outlive the bus.
pub(crate) struct EventSender(Arc<Shared>);

/// Subscription of a listener; dropping it unsubscribes.
pub struct Subscription {
    shared: Weak<Shared>,
    number: u64,
}

impl EventBus {
    pub(crate) fn start() -> Self {
        let shared = Arc::new(Shared::default());
        let of_thread = Arc::clone(&shared);
        let thread =
            std::thread::Builder::new().name("events".into()).spawn(move || of_thread.run());
        if let Err(error) = &thread {
            tracing::error!(%error, "changes cannot be told: the thread could not be started");
        }
        Self { shared, thread: thread.ok() }
    }

    pub(crate) fn sender(&self) -> EventSender {
        EventSender(Arc::clone(&self.shared))
    }

    pub(crate) fn post(&self, stale: Stale) {
        self.shared.post(stale);
    }

    pub(crate) fn subscribe(&self, listener: Box<dyn Fn(&AppEvent) + Send + Sync>) -> Subscription {
        let mut listeners = lock(&self.shared.listeners);
        listeners.0 += 1;
        let number = listeners.0;
        listeners.1.push((number, Arc::from(listener)));
        Subscription { shared: Arc::downgrade(&self.shared), number }
    }
}

impl Drop for EventBus {
    fn drop(&mut self) {
        lock(&self.shared.board).stop = true;
        self.shared.wake.notify_all();
        // A listener may drop the last handle of the program on this very thread, which cannot join
        // itself.
        if let Some(thread) =
            self.thread.take().filter(|thread| thread.thread().id() != std::thread::current().id())
            && thread.join().is_err()
        {
            tracing::error!("a listener ended the telling of changes by a panic");
        }
    }
}

impl EventSender {
    pub(crate) fn post(&self, stale: Stale) {
        self.0.post(stale);
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        if let Some(shared) = self.shared.upgrade() {
            lock(&shared.listeners).1.retain(|(number, _)| *number != self.number);
        }
    }
}

impl Shared {
    fn post(&self, stale: Stale) {
        lock(&self.board).add(stale);
        self.wake.notify_all();
    }

    fn run(&self) {
        while let Some(round) = self.next() {
            let listeners: Vec<Listener> =
                lock(&self.listeners).1.iter().map(|(_, l)| Arc::clone(l)).collect();
            for stale in round {
                let event = AppEvent { at_ms: clock::now_ms(), stale };
                for listener in &listeners {
                    listener(&event);
                }
            }
            let board = lock(&self.board);
            let stopped = self.wake.wait_timeout_while(board, PAUSE, |board| !board.stop);
            drop(stopped);
        }
    }

    /// Waits for events to deliver; returns `None` when the bus stops.
    fn next(&self) -> Option<Vec<Stale>> {
        let board = lock(&self.board);
        let waited = self.wake.wait_while(board, |board| !board.stop && board.is_empty());
        let mut board = waited.unwrap_or_else(PoisonError::into_inner);
        if board.stop { None } else { Some(std::mem::take(&mut *board).into_events()) }
    }
}

impl PendingEvents {
    fn add(&mut self, stale: Stale) {
        match stale {
            Stale::Folder => {
                // Pending events of the previous folder are obsolete.
                self.folder = true;
                self.runs = None;
            }
            Stale::Status => self.status = true,
            Stale::Launches => self.launches = true,
            Stale::Judgings => self.judgings = true,
            Stale::Evaluations => self.evaluations = true,
            Stale::Generations => self.generations = true,
            Stale::Failures => self.failures = true,
            Stale::Runs { generation, ids, all } => {
                let runs = self.runs.get_or_insert_default();
                runs.generation = runs.generation.max(generation);
                runs.ids.extend(ids);
                runs.all |= all || runs.ids.len() > MOST_IDS;
            }
        }
    }

    fn is_empty(&self) -> bool {
        let under_way =
            self.launches || self.judgings || self.evaluations || self.failures || self.generations;
        !self.folder && !self.status && !under_way && self.runs.is_none()
    }

    fn into_events(self) -> Vec<Stale> {
        let runs = self.runs.map(|Runs { generation, ids, all }| {
            let ids = if all { Vec::new() } else { ids.into_iter().collect() };
            Stale::Runs { generation, ids, all }
        });
        let folder = self.folder.then_some(Stale::Folder);
        let status = self.status.then_some(Stale::Status);
        let launches = self.launches.then_some(Stale::Launches);
        let judgings = self.judgings.then_some(Stale::Judgings);
        let evaluations = self.evaluations.then_some(Stale::Evaluations);
        let generations = self.generations.then_some(Stale::Generations);
        let failures = self.failures.then_some(Stale::Failures);
        folder
            .into_iter()
            .chain(runs)
            .chain(status)
            .chain(launches)
            .chain(judgings)
            .chain(evaluations)
            .chain(generations)
            .chain(failures)
            .collect()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(generation: u64, ids: impl IntoIterator<Item = String>) -> Stale {
        Stale::Runs { generation, ids: ids.into_iter().collect(), all: false }
    }

    #[test]
    fn coalesces_events_between_two_rounds_and_keeps_the_last_generation() {
        let mut board = PendingEvents::default();
        board.add(runs(3, ["b".to_owned()]));
        board.add(Stale::Status);
        board.add(runs(4, ["a".to_owned(), "b".to_owned()]));
        assert_eq!(board.into_events(), [runs(4, ["a".to_owned(), "b".to_owned()]), Stale::Status]);
    }

    #[test]
    fn more_than_a_hundred_ids_are_not_named() {
        let mut board = PendingEvents::default();
        board.add(runs(1, (0..100).map(|n| n.to_string())));
        board.add(runs(2, ["one more".to_owned()]));
        assert_eq!(
            board.into_events(),
            [Stale::Runs { generation: 2, ids: Vec::new(), all: true }]
        );
    }

    #[test]
    fn a_new_folder_makes_what_was_said_of_the_old_one_void() {
        let mut board = PendingEvents::default();
        board.add(runs(9, ["a".to_owned()]));
        board.add(Stale::Folder);
        assert_eq!(board.into_events(), [Stale::Folder]);
    }
}
