//! How the program ends while runs are in progress: the first wish lets what is in flight be
//! finished and saved, the second gives it up. Owns the waiting and its words; the window and the
//! server decide what a wish is.
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use touchstone_app::app::App;

/// How often it is looked whether another wish came, or a launch that began meanwhile has to be
/// stopped, too.
const GLANCE: Duration = Duration::from_millis(100);
/// How long what was given up may take to end. A program that does not end by then ends with us.
const LAST_WORDS: Duration = Duration::from_secs(3);

/// Wishes to end.
#[derive(Debug, Default)]
pub(crate) struct Leaving {
    asked: AtomicBool,
    now: AtomicBool,
}

/// What a wish comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wish {
    /// Nothing is in progress: it may end at once.
    Granted,
    /// Runs are asked to stop; whoever asked waits for them (`Leaving::wait`).
    Waits,
    /// What is in flight is given up; whoever waits is done soon.
    Hurries,
}

impl Leaving {
    /// Somebody wants the program to end; `why` is shown with what is stopping.
    pub(crate) fn wish(&self, app: &App, why: &str) -> Wish {
        if self.asked.load(Ordering::Acquire) {
            self.now.store(true, Ordering::Release);
            app.stop_all_launches(true, why);
            return Wish::Hurries;
        }
        if !app.stop_all_launches(false, why) {
            return Wish::Granted;
        }
        self.asked.store(true, Ordering::Release);
        Wish::Waits
    }

    /// Waits until nothing is in progress any more.
    pub(crate) fn wait(&self, app: &App, why: &str) {
        let mut hurried = None;
        while !app.wait_launches(GLANCE) {
            let now = self.now.load(Ordering::Acquire);
            app.stop_all_launches(now, why);
            if now && hurried.get_or_insert_with(Instant::now).elapsed() > LAST_WORDS {
                tracing::warn!("runs did not end in time and are given up");
                return;
            }
        }
    }
}
