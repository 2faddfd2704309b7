//! Log of a launch: one line per event in `.touchstone/launches/`. It is an ordinary listener: if
//! it cannot write, the runs continue. The log of a part of a split launch begins with what it is,
//! has sums between its events, and is locked and touched for as long as the part lives.
use super::disk::{Folder, PRIVATE, SIDECARS, write_all};
use super::event::RunEvent;
use super::launch::Listener;
use super::part::{PartHeader, PartLine, PartSum};
use rustix::fs::{FlockOperation, Mode, OFlags, Timespec, Timestamps, UTIME_NOW};
use rustix::io::Errno;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// Folder of the logs inside `.touchstone`.
pub(super) const FOLDER: &str = "launches";
/// Interval at which a part shows that it lives.
const BEAT: Duration = Duration::from_secs(30);
/// Attempts to take the lock, and the pause between them.
const TRIES: u32 = 200;
const PAUSE: Duration = Duration::from_millis(5);
/// A sum follows after this many bytes of events.
const BETWEEN_SUMS: usize = 16 << 10;

/// Returns a listener that appends events to the log of the launch with this id, or `None` if the
/// log cannot be opened.
pub fn listener(output_dir: &Path, id: &str, part: Option<&PartHeader>) -> Option<Listener> {
    let file = open(output_dir, id)?;
    let part = part.and_then(|header| PartWriter::begin(&file, header));
    let mut log = Log { file, part, well: true };
    Some(Box::new(move |events| log.add(events)))
}

/// Logs a part of a launch that makes no runs, for the reason in its header.
pub fn note_idle_part(output_dir: &Path, id: &str, header: &PartHeader) {
    let Some(file) = open(output_dir, id) else { return };
    let at_ms = header.at_ms;
    let sum = PartSum { at_ms, finished: true, ..PartSum::default() };
    let mut lines = Vec::new();
    put_line(&mut lines, &PartLine::Part(header.clone()));
    put_line(&mut lines, &PartLine::Sum(sum));
    if let Err(error) = write_all(&file, &lines) {
        tracing::warn!(%error, "this part is not logged");
    }
}

fn open(output_dir: &Path, id: &str) -> Option<OwnedFd> {
    let folder = Folder::make(output_dir, &[SIDECARS, FOLDER], PRIVATE);
    let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE;
    let opened = folder.and_then(|folder| {
        let name = format!("{id}.jsonl");
        folder
            .open(&name, flags, Mode::from_raw_mode(0o600))
            .map_err(|error| folder.error(&name, error))
    });
    opened.inspect_err(|error| tracing::warn!(%error, "this launch is not logged")).ok()
}

struct Log {
    file: OwnedFd,
    part: Option<PartWriter>,
    well: bool,
}

impl Log {
    fn add(&mut self, events: &[RunEvent]) {
        let mut lines = Vec::new();
        for event in events {
            put_line(&mut lines, event);
        }
        if let Some(part) = &mut self.part {
            part.add(events, &mut lines);
        }
        if let Err(error) = write_all(&self.file, &lines)
            && std::mem::take(&mut self.well)
        {
            tracing::warn!(%error, "the log of this launch has gaps");
        }
    }
}

fn put_line(lines: &mut Vec<u8>, value: &impl serde::Serialize) {
    if let Ok(line) = serde_json::to_vec(value) {
        lines.extend(line);
        lines.push(b'\n');
    }
}

/// What is only in the log of a part.
struct PartWriter {
    sum: PartSum,
    unsummed: usize,
    /// Ends the sign of life when dropped, and its thread.
    lives: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Drop for PartWriter {
    fn drop(&mut self) {
        // The thread has the file open, too, and with it the lock.
        if let Some((lives, thread)) = self.lives.take() {
            drop(lives);
            if thread.join().is_err() {
                tracing::error!("the sign of life of this part ended by a panic");
            }
        }
    }
}

impl PartWriter {
    /// Writes the first line, takes the lock and starts the sign of life.
    fn begin(file: &OwnedFd, header: &PartHeader) -> Option<Self> {
        lock(file);
        let mut line = Vec::new();
        put_line(&mut line, &PartLine::Part(header.clone()));
        write_all(file, &line)
            .inspect_err(|error| tracing::warn!(%error, "this part is not logged"))
            .ok()?;
        let (lives, ends) = channel();
        let thread = file
            .try_clone()
            .inspect_err(|error| tracing::warn!(%error, "this part gives no sign of life"))
            .map(|file| std::thread::spawn(move || touch(&file, &ends)));
        let lives = thread.ok().map(|thread| (lives, thread));
        Some(Self { sum: PartSum::default(), unsummed: 0, lives })
    }

    fn add(&mut self, events: &[RunEvent], lines: &mut Vec<u8>) {
        for event in events {
            self.sum.apply(event);
        }
        self.unsummed += lines.len();
        if self.unsummed > BETWEEN_SUMS {
            put_line(lines, &PartLine::Sum(self.sum.clone()));
            self.unsummed = 0;
        }
    }
}

/// Locks a log. A process that only checks the lock holds it for a moment, so it is tried again.
/// Where files cannot be locked, the time of the log tells whether the part lives.
fn lock(file: &OwnedFd) {
    for _ in 0..TRIES {
        match rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::WOULDBLOCK) => std::thread::sleep(PAUSE),
            Err(error) => {
                return tracing::debug!(%error, "the log of this part cannot be locked");
            }
            Ok(()) => return,
        }
    }
    tracing::debug!("the log of this part is not locked");
}

/// Sets the time of a file until the channel closes.
fn touch(file: &OwnedFd, ends: &Receiver<()>) {
    let now = Timespec { tv_sec: 0, tv_nsec: UTIME_NOW };
    while ends.recv_timeout(BEAT) == Err(RecvTimeoutError::Timeout) {
        let times = Timestamps { last_access: now, last_modification: now };
        if let Err(error) = rustix::fs::futimens(file, &times) {
            tracing::debug!(%error, "the log of this part could not be touched");
        }
    }
}
