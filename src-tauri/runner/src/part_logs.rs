//! Reads the logs of the parts of split launches. Of each log only its first line and its end are
//! read, and of one that did not change nothing at all.
use super::disk::{DiskError, Folder, SIDECARS};
use super::lock::host;
use super::log::FOLDER;
use super::part::{PartHeader, PartSum, read_header, read_sum};
use fs_err::File;
use fs_err::os::unix::fs::FileExt as _;
use rustix::fs::{FlockOperation, Mode, OFlags};
use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use touchstone_clock as clock;

/// Maximum bytes of the first line.
const HEADER: usize = 16 << 10;
/// Bytes of the end that are read first, and at most.
const END: u64 = 32 << 10;
const LONGEST_END: u64 = 4 << 20;
/// A part on another machine counts as lost after this long without a sign of life, of which it
/// gives one every 30 seconds.
const SILENCE_MS: i64 = 100_000;

/// A part of a launch, according to its log.
#[derive(Debug, Clone, PartialEq)]
pub struct PartLog {
    /// What it says of itself.
    pub header: PartHeader,
    /// Sum of its events.
    pub sum: PartSum,
    /// True if the part ended, or lives as far as can be seen from here.
    pub lives: bool,
}

/// State of a file: size, modification time in nanoseconds, inode.
type Stamp = (u64, i64, i64, u64);

/// Logs that were read before.
#[derive(Debug, Default)]
pub struct PartLogs {
    seen: HashMap<String, (Stamp, Option<PartLog>)>,
}

impl PartLogs {
    /// Returns the parts of all split launches of an output directory. A log that cannot be read is
    /// missing. Fails if their folder is there and cannot be read.
    pub fn read(&mut self, output_dir: &Path) -> Result<Vec<PartLog>, DiskError> {
        let folder = Folder::find(output_dir, &[SIDECARS, FOLDER])?;
        let Some(folder) = folder else {
            self.seen.clear();
            return Ok(Vec::new());
        };
        let mut names = folder.all_names()?;
        names.retain(|name| Path::new(name).extension().is_some_and(|end| end == "jsonl"));
        let mut before = std::mem::take(&mut self.seen);
        let host = host();
        let mut parts = Vec::new();
        for name in names {
            let known = before.remove(&name);
            // Most logs are those of launches that are over, which do not change.
            if let Some((_, part)) = known
                .as_ref()
                .filter(|(_, part)| part.as_ref().is_some_and(|part| part.sum.finished))
            {
                parts.extend(part.clone());
                self.seen.extend(known.map(|known| (name, known)));
                continue;
            }
            let Some((stamp, part)) = read(&folder, &name, known, &host) else { continue };
            parts.extend(part.clone());
            self.seen.insert(name, (stamp, part));
        }
        Ok(parts)
    }
}

fn read(
    folder: &Folder,
    name: &str,
    known: Option<(Stamp, Option<PartLog>)>,
    host: &str,
) -> Option<(Stamp, Option<PartLog>)> {
    let fd = folder.open(name, OFlags::RDONLY, Mode::empty()).ok()?;
    let lock = fd.try_clone().ok()?;
    let file = File::from_parts(fd.into(), folder.path.join(name));
    let meta = file.metadata().ok()?;
    let stamp = (meta.len(), meta.mtime(), meta.mtime_nsec(), meta.ino());
    let part = match known {
        Some((before, part)) if before == stamp => part,
        _ => parse(&file, meta.len()),
    };
    // The lock is taken before the first line and given back after the last one.
    let is_held = is_held(&lock);
    let part = match part {
        Some(part) if !is_held && !part.sum.finished => {
            parse(&file, file.metadata().ok()?.len()).or(Some(part))
        }
        part => part,
    };
    let part = part.map(|part| {
        let silent = clock::now_ms() - meta.mtime().saturating_mul(1000);
        let is_here = part.header.host == host;
        let lives = part.sum.finished || is_held || (!is_here && silent < SILENCE_MS);
        PartLog { lives, ..part }
    });
    Some((stamp, part))
}

/// Returns true if a process holds the lock on a log.
fn is_held(fd: &OwnedFd) -> bool {
    let tried = rustix::fs::flock(fd, FlockOperation::NonBlockingLockShared);
    if tried.is_ok() {
        // At once, because a part may be about to take it.
        let _ = rustix::fs::flock(fd, FlockOperation::Unlock);
    }
    tried == Err(rustix::io::Errno::WOULDBLOCK)
}

fn parse(file: &File, size: u64) -> Option<PartLog> {
    let head = bytes(file, 0, HEADER)?;
    let line = head.split(|byte| *byte == b'\n').next()?;
    let header = read_header(line)?;
    let mut length = END;
    loop {
        let from = size.saturating_sub(length);
        let end = bytes(file, from, usize::try_from(size - from).ok()?)?;
        if let Some(sum) = read_sum(&end, from == 0) {
            return Some(PartLog { header, sum, lives: true });
        }
        if from == 0 || length >= LONGEST_END {
            return None;
        }
        length *= 8;
    }
}

fn bytes(file: &File, from: u64, length: usize) -> Option<Vec<u8>> {
    let mut bytes = vec![0; length];
    let mut filled = 0;
    while filled < length {
        match file.read_at(bytes.get_mut(filled..)?, from + filled as u64) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => return None,
        }
    }
    bytes.truncate(filled);
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Ending, RunEvent, RunEventKind};
    use crate::log;

    fn header(part: u32, host: &str) -> PartHeader {
        let (launch, host) = ("l".to_owned(), host.to_owned());
        PartHeader { launch, part, parts: 3, owed: 9_000, host, ..PartHeader::default() }
    }

    fn events(from: usize, to: usize) -> Vec<RunEvent> {
        let event = |run: usize, what| RunEvent { at_ms: 1, run: Some(format!("r{run}")), what };
        let one = |run| {
            let ended = RunEventKind::Ended { how: Ending::Answered, why: None };
            [event(run, RunEventKind::Started { resumed: false }), event(run, ended)]
        };
        (from..to).flat_map(one).collect()
    }

    #[test]
    fn a_long_log_is_read_from_its_end_and_a_dead_part_is_lost() {
        let dir = tempfile::tempdir().unwrap();
        let (mut logs, mut fresh) = (PartLogs::default(), PartLogs::default());
        assert_eq!(logs.read(dir.path()).unwrap(), []);
        let here = host();
        let mut write = log::listener(dir.path(), "1", Some(&header(1, &here))).unwrap();
        let of_another = log::listener(dir.path(), "2", Some(&header(2, "another"))).unwrap();
        drop(of_another);
        let mut plain = log::listener(dir.path(), "3", None).unwrap();
        plain(&events(0, 5));
        let mut done = 0;
        for more in [1, 500, 3_000] {
            write(&events(done, done + more));
            done += more;
            let parts = logs.read(dir.path()).unwrap();
            let first = parts.iter().find(|part| part.header.part == 1).unwrap();
            assert_eq!((first.sum.done, first.lives, parts.len()), (done as u64, true, 2));
            let mut again = fresh.read(dir.path()).unwrap();
            again.sort_by_key(|part| part.header.part);
            assert_eq!(again[0], *first);
            assert!(again[1].lives, "it may run elsewhere");
            fresh = PartLogs::default();
        }
        drop(write);
        let parts = logs.read(dir.path()).unwrap();
        let first = parts.iter().find(|part| part.header.part == 1).unwrap();
        assert!(!first.lives && !first.sum.finished, "its process is gone");
        log::note_idle_part(dir.path(), "4", &header(3, &here));
        let parts = logs.read(dir.path()).unwrap();
        let third = parts.iter().find(|part| part.header.part == 3).unwrap();
        assert!(third.lives && third.sum.finished);
    }
}
