//! Termination signals: SIGINT (Ctrl-C), SIGTERM, and SIGHUP when the terminal is closed.
use std::io;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Receives termination signals from its creation on.
pub(crate) struct EndSignals {
    interrupt: Signal,
    terminate: Signal,
    /// `None` if the program should outlive the terminal, as with `nohup`.
    hang_up: Option<Signal>,
}

impl EndSignals {
    /// Starts listening. Has to be called inside a tokio runtime.
    pub(crate) fn listen() -> io::Result<Self> {
        let hang_up = if outlives_terminal() { None } else { Some(signal(SignalKind::hangup())?) };
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hang_up,
        })
    }

    /// Waits for the next signal.
    pub(crate) async fn next(&mut self) {
        let Self { interrupt, terminate, hang_up } = self;
        let hung_up = async {
            match hang_up {
                Some(hang_up) => hang_up.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hung_up => {}
        }
    }
}

/// Returns true if the program was started with SIGHUP ignored; a handler would undo that.
fn outlives_terminal() -> bool {
    std::fs::read_to_string("/proc/self/status").is_ok_and(|status| ignores_hang_up(&status))
}

/// Parses the mask of ignored signals of a process, in which SIGHUP is the lowest bit.
fn ignores_hang_up(status: &str) -> bool {
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    ignored
        .and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok())
        .is_some_and(|bits| bits & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_bit_of_the_hang_up_signal_says_that_it_is_ignored() {
        for (status, ignored) in [
            ("Name:\tx\nSigIgn:\t0000000000000001\n", true),
            ("SigIgn:\t0000000000001003\n", true),
            ("SigIgn:\t0000000000001000\n", false),
            ("SigBlk:\t0000000000000001\nSigIgn:\t0000000000000000\n", false),
            ("", false),
        ] {
            assert_eq!(ignores_hang_up(status), ignored, "{status}");
        }
    }
}
