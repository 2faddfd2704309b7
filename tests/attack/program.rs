//! Runs the program with a timeout, and returns its exit status and its peak memory.
use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Result of a program that has ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) status: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
    /// Highest resident memory observed, in MiB.
    pub(crate) peak_mib: u64,
}

impl Ended {
    /// Fails on endings that no input may cause: a crash, a signal, an unknown status, too much
    /// memory.
    pub(crate) fn check(&self, most_mib: u64) -> Result<(), String> {
        if self.err.contains("panicked") {
            return Err(format!("it panicked: {}", self.err));
        }
        if !matches!(self.status, Some(0..=2)) {
            return Err(format!("it ended with {:?}: {}", self.status, self.err));
        }
        if self.peak_mib > most_mib {
            return Err(format!("it held {} MiB", self.peak_mib));
        }
        Ok(())
    }
}

/// Runs a command. Kills it and fails if it does not end within the time.
pub(crate) fn run(command: &mut Command, within: Duration) -> Result<Ended, String> {
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|why| why.to_string())?;
    let reader = |mut from: Box<dyn std::io::Read + Send>| {
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            let _ = from.read_to_end(&mut bytes);
            String::from_utf8_lossy(&bytes).into_owned()
        })
    };
    let out = reader(Box::new(child.stdout.take().unwrap()));
    let err = reader(Box::new(child.stderr.take().unwrap()));
    let (begun, mut peak_mib) = (Instant::now(), 0);
    let status = loop {
        if let Some(status) = child.try_wait().map_err(|why| why.to_string())? {
            break Some(status);
        }
        peak_mib = peak_mib.max(peak(child.id()));
        if begun.elapsed() > within {
            let _ = child.kill();
            let _ = child.wait();
            break None;
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let (out, err) = (out.join().unwrap_or_default(), err.join().unwrap_or_default());
    match status {
        Some(status) => Ok(Ended { status: status.code(), out, err, peak_mib }),
        None => Err(format!("it did not end within {} s: {err}", within.as_secs())),
    }
}

/// Returns the peak resident memory of a process so far, in MiB; 0 if it has ended.
pub(crate) fn peak(id: u32) -> u64 {
    let text = fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kib.unwrap_or(0) / 1024
}
