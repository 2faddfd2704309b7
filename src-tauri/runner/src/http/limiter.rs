//! Rate limiter of a provider: admits as many concurrent requests as the pace allows, first come,
//! first served. Owns the waiting; `pace.rs` decides the limit.
use super::pace::{Bounds, Outcome, Pace};
use crate::spec::Provider;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

/// Rate limiter; clones share its state.
#[derive(Debug, Clone)]
pub struct Limiter {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    places: Arc<Semaphore>,
    began: Instant,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    pace: Pace,
    /// Number of existing permits, taken and free.
    places: u32,
}

impl Default for Limiter {
    fn default() -> Self {
        Self::new(Bounds::default())
    }
}

impl Limiter {
    /// Creates a separate limiter.
    pub fn new(bounds: Bounds) -> Self {
        let pace = Pace::new(bounds);
        let places = pace.limit();
        Self {
            inner: Arc::new(Inner {
                places: Arc::new(Semaphore::new(places as usize)),
                began: Instant::now(),
                state: Mutex::new(State { pace, places }),
            }),
        }
    }

    /// Waits for a permit. Dropping the future gives up waiting; the permit goes to the next in
    /// line.
    pub async fn acquire(&self) -> Permit {
        // The semaphore is never closed, so this always succeeds in the end; without a permit,
        // nothing is counted.
        let taken = Arc::clone(&self.inner.places).acquire_owned().await.ok();
        self.inner.with(|state| state.pace.began());
        Permit { inner: Arc::clone(&self.inner), taken, outcome: Outcome::Neutral }
    }

    /// Returns the present limit on concurrent requests.
    pub fn limit(&self) -> u32 {
        self.inner.with(|state| state.pace.limit())
    }

    /// Returns the number of requests in flight.
    pub fn in_flight(&self) -> u32 {
        self.inner.with(|state| state.pace.in_flight())
    }
}

impl Inner {
    fn with<T>(&self, act: impl FnOnce(&mut State) -> T) -> T {
        // A panic elsewhere leaves the counts as they were, which is still correct.
        act(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn leave(&self, taken: Option<OwnedSemaphorePermit>, outcome: Outcome) {
        let now_ms = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.with(|state| {
            state.pace.ended(outcome, now_ms);
            let limit = state.pace.limit();
            if let Some(taken) = taken {
                if state.places > limit {
                    taken.forget();
                    state.places -= 1;
                } else {
                    drop(taken);
                }
            }
            if state.places < limit {
                self.places.add_permits((limit - state.places) as usize);
                state.places = limit;
            } else if state.places > limit {
                let removed = self.places.forget_permits((state.places - limit) as usize);
                state.places -= u32::try_from(removed).unwrap_or(0);
            }
        });
    }
}

/// Permit of a rate limiter, released on drop.
#[derive(Debug)]
#[must_use = "the place is free again when this is dropped"]
pub struct Permit {
    inner: Arc<Inner>,
    taken: Option<OwnedSemaphorePermit>,
    outcome: Outcome,
}

impl Permit {
    /// Releases the permit and reports the outcome of the request.
    pub fn leave(mut self, outcome: Outcome) {
        self.outcome = outcome;
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.inner.leave(self.taken.take(), self.outcome);
    }
}

/// Provider, model, name of the key.
type LimiterKey = (Provider, String, Option<String>);

/// Rate limiters of a launch: one per provider, model and key.
#[derive(Debug, Default)]
pub struct Limiters {
    gates: Mutex<HashMap<LimiterKey, Limiter>>,
}

impl Limiters {
    /// Returns the limiter for a model (by the provider's name for it) with a key (by its name).
    pub fn limiter_for(&self, provider: Provider, model: &str, key_name: Option<&str>) -> Limiter {
        let mut gates = self.gates.lock().unwrap_or_else(PoisonError::into_inner);
        gates.entry((provider, model.to_owned(), key_name.map(str::to_owned))).or_default().clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::time::Duration;

    fn bounds(start: u32) -> Bounds {
        Bounds { start, ..Bounds::default() }
    }

    #[tokio::test]
    async fn no_more_enter_than_there_are_places_and_the_next_in_line_is_first() {
        let gate = Limiter::new(bounds(1));
        let first = gate.acquire().await;
        let mut second = Box::pin(gate.acquire());
        let mut third = Box::pin(gate.acquire());
        assert!(
            futures_poll(&mut second).await.is_none() && futures_poll(&mut third).await.is_none()
        );
        drop(first);
        assert!(futures_poll(&mut third).await.is_none(), "the third overtook the second");
        let second = futures_poll(&mut second).await.unwrap();
        assert_eq!(gate.in_flight(), 1);
        drop(second);
        assert!(futures_poll(&mut third).await.is_some());
    }

    #[tokio::test]
    async fn a_cancelled_waiter_leaves_the_queue() {
        let gate = Limiter::new(bounds(1));
        let first = gate.acquire().await;
        let mut second = Box::pin(gate.acquire());
        let mut third = Box::pin(gate.acquire());
        assert!(
            futures_poll(&mut second).await.is_none() && futures_poll(&mut third).await.is_none()
        );
        drop(first);
        // The permit already went to the second, which is never polled again.
        drop(second);
        assert!(futures_poll(&mut third).await.is_some());
        drop(third);
        assert_eq!(gate.in_flight(), 0);
    }

    #[tokio::test]
    async fn fewer_places_take_effect_as_those_under_way_leave() {
        let gate = Limiter::new(bounds(10));
        let mut under_way = Vec::new();
        for _ in 0..10 {
            under_way.push(gate.acquire().await);
        }
        under_way.pop().unwrap().leave(Outcome::TooMany(None));
        assert_eq!((gate.limit(), gate.in_flight()), (8, 9));
        let mut next = Box::pin(gate.acquire());
        assert!(futures_poll(&mut next).await.is_none());
        under_way.pop();
        assert!(futures_poll(&mut next).await.is_none(), "eight are under way");
        under_way.pop();
        assert!(futures_poll(&mut next).await.is_some());
    }

    #[tokio::test]
    async fn places_that_are_free_are_taken_away_at_once() {
        let gate = Limiter::new(bounds(10));
        gate.acquire().await.leave(Outcome::TooMany(None));
        let mut under_way = Vec::new();
        for _ in 0..8 {
            under_way.push(gate.acquire().await);
        }
        assert!(futures_poll(&mut Box::pin(gate.acquire())).await.is_none());
    }

    #[tokio::test]
    async fn a_round_without_errors_raises_the_limit() {
        let gate = Limiter::new(bounds(4));
        let mut under_way = Vec::new();
        for _ in 0..4 {
            under_way.push(gate.acquire().await);
        }
        for place in under_way {
            place.leave(Outcome::Good);
        }
        assert_eq!((gate.limit(), gate.in_flight()), (8, 0));
        let mut under_way = Vec::new();
        for _ in 0..8 {
            under_way.push(gate.acquire().await);
        }
        assert!(futures_poll(&mut Box::pin(gate.acquire())).await.is_none());
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn under_a_crowd_the_count_never_exceeds_the_highest_limit_and_ends_at_nothing() {
        let gate = Limiter::new(Bounds { start: 8, min: 2, max: 16 });
        let (now, most) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
        let crowd: Vec<_> = (0..400u32)
            .map(|number| {
                let (gate, now, most) = (gate.clone(), Arc::clone(&now), Arc::clone(&most));
                tokio::spawn(async move {
                    let place = gate.acquire().await;
                    most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    tokio::task::yield_now().await;
                    now.fetch_sub(1, Ordering::SeqCst);
                    place.leave(if number % 97 == 96 {
                        Outcome::TooMany(None)
                    } else {
                        Outcome::Good
                    });
                })
            })
            .collect();
        for one in crowd {
            tokio::time::timeout(Duration::from_secs(30), one).await.unwrap().unwrap();
        }
        assert!(most.load(Ordering::SeqCst) <= 16 && most.load(Ordering::SeqCst) > 1);
        assert_eq!(gate.in_flight(), 0);
        let free = gate.inner.places.available_permits();
        assert_eq!(free, gate.limit() as usize, "places were lost or made up");
    }

    #[test]
    fn one_gate_for_each_provider_model_and_key() {
        let gates = Limiters::default();
        let first = gates.limiter_for(Provider::OpenAi, "m", Some("K"));
        let same = |other: &Limiter| Arc::ptr_eq(&first.inner, &other.inner);
        assert!(same(&gates.limiter_for(Provider::OpenAi, "m", Some("K"))));
        assert!(!same(&gates.limiter_for(Provider::Anthropic, "m", Some("K"))));
        assert!(!same(&gates.limiter_for(Provider::OpenAi, "n", Some("K"))));
        assert!(!same(&gates.limiter_for(Provider::OpenAi, "m", None)));
    }

    /// Polls a future once.
    async fn futures_poll<F: Future + Unpin>(future: &mut F) -> Option<F::Output> {
        std::future::poll_fn(|context| {
            std::task::Poll::Ready(match std::pin::Pin::new(&mut *future).poll(context) {
                std::task::Poll::Ready(output) => Some(output),
                std::task::Poll::Pending => None,
            })
        })
        .await
    }
}
