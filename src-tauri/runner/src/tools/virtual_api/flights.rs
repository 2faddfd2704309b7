//! Calls that are under way: whoever asks for the same waits for the same reply, so that it is
//! bought once. Knows no call and no reply but by name.
use super::Reply;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

/// Category, tool, API and key.
type Which = (String, String, String, String);
type Awaited = HashMap<Which, watch::Receiver<Option<Reply>>>;

/// Calls that are under way.
#[derive(Default)]
pub(super) struct Flights(Arc<Mutex<Awaited>>);

impl Flights {
    /// The reply to a call that is under way, or that of `make`, which is carried to its end
    /// whoever still waits.
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
                    // From here on it is in the cache.
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
    /// Waits until none is under way.
    pub(super) async fn land(&self) {
        loop {
            let next = lock(&self.0).values().next().cloned();
            let Some(mut reply) = next else { return };
            // One that broke off is off the list, too.
            let _ = reply.wait_for(Option::is_some).await;
        }
    }
}

/// Takes a call off the list, also when making it broke off.
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
