//! How work that lasts stands: what was paid, why it stops and whether it is over, for whoever
//! looks at it, stops it or waits for it. What else is counted belongs to whoever began it.
use super::bulletin::Poster;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc::UnboundedReceiver;
use touchstone_api::{LaunchState, Stale};
use touchstone_clock as clock;
use touchstone_runner::drive::Paid;
use touchstone_runner::event::{RunEvent, What};
use touchstone_runner::launch::Stops;

/// What was paid.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Bill {
    /// Replies.
    pub(super) calls: u64,
    pub(super) tokens: u64,
    /// Dollars, of what has a known price.
    pub(super) cost: f64,
    /// The price of something is not known.
    pub(super) unpriced: bool,
}

impl Bill {
    fn add(&mut self, calls: u64, tokens: Option<u64>, cost: Option<f64>) {
        self.calls += calls;
        self.tokens += tokens.unwrap_or(0);
        self.cost += cost.unwrap_or(0.0);
        self.unpriced |= cost.is_none();
    }
}

/// What work came to so far.
pub(super) struct Standing<P> {
    pub(super) progress: P,
    pub(super) bill: Bill,
    /// Why it stopped, or came to nothing.
    pub(super) why: Option<String>,
    pub(super) over: bool,
}

/// The way that work takes.
pub(super) struct Course<P> {
    pub(super) id: String,
    pub(super) began_ms: i64,
    pub(super) stops: Stops,
    poster: Poster,
    stale: Stale,
    standing: Mutex<Standing<P>>,
    ended: Condvar,
}

impl<P> Course<P> {
    /// Of work that begins now; `stale` is told whenever it comes further.
    pub(super) fn new(
        id: String,
        stops: Stops,
        (poster, stale): (Poster, Stale),
        progress: P,
    ) -> Self {
        let standing =
            Mutex::new(Standing { progress, bill: Bill::default(), why: None, over: false });
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

    pub(super) fn lock(&self) -> MutexGuard<'_, Standing<P>> {
        self.standing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells that it came further.
    pub(super) fn post(&self) {
        self.poster.post(self.stale.clone());
    }

    /// Nothing new is begun.
    pub(super) fn is_stopping(&self) -> bool {
        self.stops.soft.is_cancelled()
    }

    pub(super) fn is_over(&self) -> bool {
        self.lock().over
    }

    /// A reply came. One that was there already cost nothing.
    pub(super) fn paid(&self, paid: &Paid) {
        if !paid.journaled {
            self.lock().bill.add(1, paid.tokens, paid.cost);
            self.post();
        }
    }

    /// Notes why it stops by itself (the budget is spent, a key is wrong, replies cannot be kept),
    /// and what was paid for nothing.
    pub(super) fn listen(&self, events: &mut UnboundedReceiver<RunEvent>) {
        while let Ok(event) = events.try_recv() {
            match event.what {
                What::Stopping { why } => self.lock().why = Some(why),
                What::Lost { usage, cost, .. } => self.lock().bill.add(0, usage.total(), cost),
                _ => {}
            }
        }
    }

    /// Nothing of it is left to do.
    pub(super) fn end(&self) {
        self.lock().over = true;
        self.ended.notify_all();
        self.post();
    }

    /// Begins nothing new; `now` also gives up what is in flight.
    pub(super) fn stop(&self, now: bool, why: &str) {
        if !self.is_stopping() {
            self.lock().why = Some(why.to_owned());
        }
        self.stops.soft.cancel();
        if now {
            self.stops.hard.cancel();
        }
        self.post();
    }

    /// Waits until it is over; false when that took too long.
    pub(super) fn wait(&self, timeout: Duration) -> bool {
        let waited = self.ended.wait_timeout_while(self.lock(), timeout, |standing| !standing.over);
        waited.map_or_else(|broken| broken.into_inner().0.over, |(standing, _)| standing.over)
    }

    /// In one word, when so many of all are finished.
    pub(super) fn state(&self, over: bool, finished: u64, total: u64) -> LaunchState {
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
    fn what_has_no_known_price_is_told_and_never_counted_as_nothing() {
        let mut bill = Bill::default();
        bill.add(1, Some(3), Some(0.25));
        assert!(!bill.unpriced);
        bill.add(0, None, None);
        assert_eq!(bill, Bill { calls: 1, tokens: 3, cost: 0.25, unpriced: true });
    }
}
