//! Lives of the program: until it is done, until an instant, until a place. Owns ending it.
use crate::stage::Stage;
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

/// Nothing here takes so long.
pub(crate) const DEADLINE: Duration = Duration::from_mins(1);
const GLANCE: Duration = Duration::from_millis(1);

/// How a life ends.
#[derive(Debug)]
pub(crate) enum Life {
    /// When there is nothing more to do.
    Whole,
    /// By SIGKILL, so long after its beginning.
    Until(Duration),
    /// By SIGKILL at a named place, the n-th time that it is passed.
    At(String),
}

impl Life {
    /// Lives it; true when it was ended by the signal.
    pub(crate) fn live(&self, stage: &Stage) -> bool {
        let mut child = stage.begin(if let Life::At(place) = self { Some(place) } else { None });
        if let Life::Until(at) = self {
            kill_after(&mut child, *at);
        }
        let status = exit_of(&mut child);
        let killed = std::os::unix::process::ExitStatusExt::signal(&status) == Some(9);
        // Two says that nothing was owed any more.
        assert!(killed || matches!(status.code(), Some(0 | 2)), "{self:?} ended with {status}");
        assert!(!(killed && matches!(self, Life::Whole)));
        killed
    }
}

/// Kills it so long after now, unless it has ended before.
pub(crate) fn kill_after(child: &mut Child, time: Duration) {
    let begun = Instant::now();
    while begun.elapsed() < time && child.try_wait().unwrap().is_none() {
        std::thread::sleep(GLANCE);
    }
    // One that has ended meanwhile is not there to be killed.
    let _ = child.kill();
}

/// How it ended; a program that does not end fails the test and is ended.
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

/// Waits until something is so.
pub(crate) fn until(what: &str, within: Duration, is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < within, "not within {within:?}: {what}");
        std::thread::sleep(GLANCE);
    }
}
