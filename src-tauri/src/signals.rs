//! The signals that ask the program to end: Ctrl-C, the polite one that scripts send, and the one
//! that tells that the terminal is gone.
use std::io;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Hears of the signals from the moment it is made, one after the other.
pub(crate) struct EndSignals {
    interrupt: Signal,
    terminate: Signal,
    /// None where whoever started the program wants it to outlive the terminal, as `nohup` does.
    hang_up: Option<Signal>,
}

impl EndSignals {
    /// Begins to listen. Has to be called inside a runtime.
    pub(crate) fn listen() -> io::Result<Self> {
        let hang_up = if outlives_terminal() { None } else { Some(signal(SignalKind::hangup())?) };
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hang_up,
        })
    }

    /// Waits for the next one.
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

/// True when the program was started with SIGHUP ignored: listening would undo that.
fn outlives_terminal() -> bool {
    std::fs::read_to_string("/proc/self/status").is_ok_and(|status| ignores_hang_up(&status))
}

/// Reads the ignored signals of a process, a bit for each from SIGHUP on.
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
