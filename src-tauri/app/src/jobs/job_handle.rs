//! State of a background job: cost, stop reason and completion, for viewing, stopping and waiting.
//! Its progress counters belong to the module that starts the job.
use crate::events::EventSender;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc::UnboundedReceiver;
use touchstone_api::{LaunchState, Stale};
use touchstone_clock as clock;
use touchstone_runner::event::{RunEvent, RunEventKind};
use touchstone_runner::execute::Paid;
use touchstone_runner::launch::StopTokens;

/// Usage and cost of a job.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct JobCost {
    /// Number of replies.
    pub(crate) calls: u64,
    pub(crate) tokens: u64,
    /// Dollars, for usage with a known price.
    pub(crate) cost: f64,
    /// True if the price of some usage is unknown.
    pub(crate) unpriced: bool,
}

impl JobCost {
    fn add(&mut self, calls: u64, tokens: Option<u64>, cost: Option<f64>) {
        self.calls += calls;
        self.tokens += tokens.unwrap_or(0);
        self.cost += cost.unwrap_or(0.0);
        self.unpriced |= cost.is_none();
    }
}

/// Current state of a job.
pub(crate) struct JobState<P> {
    pub(crate) progress: P,
    pub(crate) bill: JobCost,
    /// Reason why it stopped or failed.
    pub(crate) why: Option<String>,
    pub(crate) over: bool,
}

/// Handle to a running job.
pub(crate) struct JobHandle<P> {
    pub(crate) id: String,
    pub(crate) began_ms: i64,
    pub(crate) stops: StopTokens,
    poster: EventSender,
    stale: Stale,
    standing: Mutex<JobState<P>>,
    ended: Condvar,
}

impl<P> JobHandle<P> {
    /// Creates the handle of a job that starts now; `stale` is the event sent on every progress.
    pub(crate) fn new(
        id: String,
        stops: StopTokens,
        (poster, stale): (EventSender, Stale),
        progress: P,
    ) -> Self {
        let standing =
            Mutex::new(JobState { progress, bill: JobCost::default(), why: None, over: false });
        Self {
            id,
            began_ms: clock::now_ms(),
            stops,
            poster,
            stale,
            standing,
            ended: Condvar::new(),
        }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, JobState<P>> {
        self.standing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends the progress event.
    pub(crate) fn post(&self) {
        self.poster.post(self.stale.clone());
    }

    /// Returns true once the job starts nothing new.
    pub(crate) fn is_stopping(&self) -> bool {
        self.stops.soft.is_cancelled()
    }

    pub(crate) fn is_over(&self) -> bool {
        self.lock().over
    }

    /// Adds a reply to the bill. A reply from the journal costs nothing.
    pub(crate) fn add_reply(&self, paid: &Paid) {
        if !paid.journaled {
            self.lock().bill.add(1, paid.tokens, paid.cost);
            self.post();
        }
    }

    /// Processes pending events: records the reason why the job stops by itself (spend limit
    /// reached, invalid key, replies cannot be stored) and the cost of lost replies.
    pub(crate) fn drain_events(&self, events: &mut UnboundedReceiver<RunEvent>) {
        while let Ok(event) = events.try_recv() {
            match event.what {
                RunEventKind::Stopping { why } => self.lock().why = Some(why),
                RunEventKind::Lost { usage, cost, .. } => {
                    self.lock().bill.add(0, usage.total(), cost);
                }
                _ => {}
            }
        }
    }

    /// Marks the job as over and wakes waiting threads.
    pub(crate) fn end(&self) {
        self.lock().over = true;
        self.ended.notify_all();
        self.post();
    }

    /// Stops the job: nothing new is started; `now` also cancels requests in flight.
    pub(crate) fn stop(&self, now: bool, why: &str) {
        if !self.is_stopping() {
            self.lock().why = Some(why.to_owned());
        }
        self.stops.soft.cancel();
        if now {
            self.stops.hard.cancel();
        }
        self.post();
    }

    /// Waits until the job is over; returns false on timeout.
    pub(crate) fn wait(&self, timeout: Duration) -> bool {
        let waited = self.ended.wait_timeout_while(self.lock(), timeout, |standing| !standing.over);
        waited.map_or_else(|broken| broken.into_inner().0.over, |(standing, _)| standing.over)
    }

    /// Returns the state as one word, given the finished and the total number of items.
    pub(crate) fn state(&self, over: bool, finished: u64, total: u64) -> LaunchState {
        match (over, self.is_stopping()) {
            (false, false) => LaunchState::Running,
            (false, true) => LaunchState::Stopping,
            (true, _) if finished < total => LaunchState::Stopped,
            (true, _) => LaunchState::Done,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_unknown_prices_and_never_counts_them_as_zero() {
        let mut bill = JobCost::default();
        bill.add(1, Some(3), Some(0.25));
        assert!(!bill.unpriced);
        bill.add(0, None, None);
        assert_eq!(bill, JobCost { calls: 1, tokens: 3, cost: 0.25, unpriced: true });
    }
}
