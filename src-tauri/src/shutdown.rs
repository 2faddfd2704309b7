//! Shutdown while runs are in progress: the first request lets requests in flight finish and be
//! saved, the second cancels them. Owns waiting and its messages; the window and the server detect
//! the requests.
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use touchstone_app::App;

/// Interval of checks for a second request, and for launches that were started meanwhile and have
/// to be stopped too.
const GLANCE: Duration = Duration::from_millis(100);
/// Time for cancelled work to end. Tools that are still running then end with the process.
const LAST_WORDS: Duration = Duration::from_secs(3);

/// State of a shutdown.
#[derive(Debug, Default)]
pub(crate) struct Shutdown {
    asked: AtomicBool,
    now: AtomicBool,
}

/// Result of a shutdown request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ShutdownRequest {
    /// Nothing is in progress: the program may exit at once.
    Granted,
    /// Runs are stopping; the caller has to wait for them with [`Shutdown::wait`].
    Waits,
    /// Requests in flight are cancelled; an earlier wait ends soon.
    Hurries,
}

impl Shutdown {
    /// Requests a shutdown; `why` is displayed with the stopping runs.
    pub(crate) fn request(&self, app: &App, why: &str) -> ShutdownRequest {
        if self.asked.load(Ordering::Acquire) {
            self.now.store(true, Ordering::Release);
            app.launches().stop_all_launches(true, why);
            return ShutdownRequest::Hurries;
        }
        if !app.launches().stop_all_launches(false, why) {
            return ShutdownRequest::Granted;
        }
        self.asked.store(true, Ordering::Release);
        ShutdownRequest::Waits
    }

    /// Waits until nothing is in progress.
    pub(crate) fn wait(&self, app: &App, why: &str) {
        let mut hurried = None;
        while !app.launches().wait_launches(GLANCE) {
            let now = self.now.load(Ordering::Acquire);
            app.launches().stop_all_launches(now, why);
            if now && hurried.get_or_insert_with(Instant::now).elapsed() > LAST_WORDS {
                tracing::warn!("runs did not end in time and are given up");
                return;
            }
        }
    }
}
