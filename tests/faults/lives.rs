//! Runs of the program that end by themselves, after a time, or at a fail point. Owns killing it.
use crate::stage::Stage;
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

/// Timeout that no step reaches.
pub(crate) const DEADLINE: Duration = Duration::from_mins(1);
const GLANCE: Duration = Duration::from_millis(1);

/// End of a run of the program.
#[derive(Debug)]
pub(crate) enum Life {
    /// Ends when all work is done.
    Whole,
    /// Killed by SIGKILL after a time.
    Until(Duration),
    /// Killed by SIGKILL at a fail point, on its n-th pass.
    At(String),
}

impl Life {
    /// Runs the program. Returns true if it was killed by the signal.
    pub(crate) fn live(&self, stage: &Stage) -> bool {
        let mut child = stage.begin(if let Life::At(place) = self { Some(place) } else { None });
        if let Life::Until(at) = self {
            kill_after(&mut child, *at);
        }
        let status = exit_of(&mut child);
        let killed = std::os::unix::process::ExitStatusExt::signal(&status) == Some(9);
        // Status 2 means that there was nothing left to run.
        assert!(killed || matches!(status.code(), Some(0 | 2)), "{self:?} ended with {status}");
        assert!(!(killed && matches!(self, Life::Whole)));
        killed
    }
}

/// Kills a child after a time, unless it has ended before.
pub(crate) fn kill_after(child: &mut Child, time: Duration) {
    let begun = Instant::now();
    while begun.elapsed() < time && child.try_wait().unwrap().is_none() {
        std::thread::sleep(GLANCE);
    }
    // Fails if the child has ended meanwhile, which is fine.
    let _ = child.kill();
}

/// Returns the exit status. A program that does not end is killed, and fails the test.
pub(crate) fn exit_of(child: &mut Child) -> ExitStatus {
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        if begun.elapsed() > DEADLINE {
            let _ = child.kill();
            panic!("the program did not end: {:?}", child.wait());
        }
        std::thread::sleep(GLANCE);
    }
}

/// Polls until a condition holds.
pub(crate) fn until(what: &str, within: Duration, is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < within, "not within {within:?}: {what}");
        std::thread::sleep(GLANCE);
    }
}
