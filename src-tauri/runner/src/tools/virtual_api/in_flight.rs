//! Deduplication of concurrent calls: identical calls wait for the same reply, which is paid for
//! only once. Knows calls and replies only by key.
use super::Reply;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

/// Category, tool, API and cache key.
type Which = (String, String, String, String);
type Awaited = HashMap<Which, watch::Receiver<Option<Reply>>>;

/// Calls in progress.
#[derive(Default)]
pub(super) struct Flights(Arc<Mutex<Awaited>>);

impl Flights {
    /// Returns the reply of an identical call in progress, or starts `make`, which runs to its end
    /// even if no caller waits any more.
    pub(super) async fn join(
        &self,
        which: Which,
        make: impl Future<Output = Reply> + Send + 'static,
    ) -> Reply {
        let mut reply = {
            let mut under_way = lock(&self.0);
            if let Some(reply) = under_way.get(&which) {
                reply.clone()
            } else {
                let (said, heard) = watch::channel(None);
                under_way.insert(which.clone(), heard.clone());
                let landing = Landing { all: Arc::clone(&self.0), which };
                tokio::spawn(async move {
                    let reply = make.await;
                    // From here on the reply is found in the cache.
                    drop(landing);
                    let _ = said.send(Some(reply));
                });
                heard
            }
        };
        let landed = reply.wait_for(Option::is_some).await.ok().and_then(|reply| reply.clone());
        landed.unwrap_or_else(Reply::broken_off)
    }
}

impl Flights {
    /// Waits until no call is in progress.
    pub(super) async fn land(&self) {
        loop {
            let next = lock(&self.0).values().next().cloned();
            let Some(mut reply) = next else { return };
            // A failed call is removed from the map too.
            let _ = reply.wait_for(Option::is_some).await;
        }
    }
}

/// Guard that removes a call from the map, also if making the reply panics.
struct Landing {
    all: Arc<Mutex<Awaited>>,
    which: Which,
}

impl Drop for Landing {
    fn drop(&mut self) {
        lock(&self.all).remove(&self.which);
    }
}

fn lock(all: &Mutex<Awaited>) -> MutexGuard<'_, Awaited> {
    all.lock().unwrap_or_else(PoisonError::into_inner)
}
