//! Journal of a run: everything that was paid for, made durable before it is used. One line per
//! reply and per tool call, appended and never changed. Owns the file; `record` owns the format of
//! a line, `held` the lookup.
mod record;
mod record_index;

pub use record::{Attempt, Body, Ran, Record, call_hash};

use super::conversation::{Call, Outcome};
use super::disk::{DiskError, DiskErrorKind, Folder, PRIVATE, SIDECARS, split, write_all};
use super::{atomic_write, fault};
use record::Recovered;
use record_index::RecordIndex;
use rustix::fs::{Mode, OFlags};
use rustix::io::{Errno, retry_on_intr};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

const OWN: Mode = Mode::from_raw_mode(0o600);
const APPEND: OFlags = OFlags::WRONLY.union(OFlags::APPEND).union(OFlags::CREATE);
/// Maximum bytes of a journal to open, because its content is loaded into memory.
const MOST: u64 = 1 << 30;
/// Size from which nothing more is bought for it, which leaves room for requests in flight.
const FULL: u64 = MOST / 4 * 3;

/// Journal of one run. The user must hold the lock of the run.
#[derive(Clone)]
pub struct Journal {
    inner: Arc<Mutex<Inner>>,
    /// Held while a durable line is written and synced, which keeps readers from waiting for the
    /// disk.
    turn: Arc<Mutex<()>>,
}

/// Contents of a journal that was read without opening it for writing.
#[derive(Debug, Default)]
pub struct JournalSnapshot(RecordIndex);

impl JournalSnapshot {
    /// Returns the latest usable reply to a request.
    pub fn find(&self, hash: &str) -> Option<&Attempt> {
        self.0.find(hash, 0, None)
    }

    /// Returns the outcome of a tool call in an assistant turn, with its duration in milliseconds.
    pub fn find_outcome(&self, turn: u32, call: &Call) -> Option<(Outcome, u64)> {
        outcome(&self.0, turn, call, 0)
    }

    /// Returns true if there are outcomes of tool calls.
    pub fn has_outcomes(&self) -> bool {
        self.0.has_run()
    }
}

fn outcome(held: &RecordIndex, turn: u32, call: &Call, from: usize) -> Option<(Outcome, u64)> {
    let mut ran = held.ran(turn, &call_hash(call), from).filter(|ran| ran.id == call.id);
    ran.find_map(|ran| Some((ran.outcome()?, ran.ms)))
}

/// Reads a journal without opening it for writing; empty if there is none.
pub fn read_snapshot(output_dir: &Path, path: &str) -> Result<JournalSnapshot, DiskError> {
    let path = atomic_write::journal_of(path);
    let (folders, name) = split(&path)?;
    let folder = Folder::find(output_dir, &[&[SIDECARS, "journal"], folders.as_slice()].concat())?;
    let bytes = folder.map(|folder| content(&folder, name)).transpose()?.flatten();
    Ok(JournalSnapshot(RecordIndex::from_records(
        record::recover(&bytes.unwrap_or_default()).records,
    )))
}

fn content(folder: &Folder, name: &str) -> Result<Option<Vec<u8>>, DiskError> {
    if folder
        .plain_file(name)?
        .is_some_and(|stat| u64::try_from(stat.st_size).is_ok_and(|size| size > MOST))
    {
        let why = format!(
            "it is longer than the limit of {} MiB. Start over, or ask everything again (--again); the file is then moved aside.",
            MOST >> 20
        );
        return Err(DiskError {
            kind: DiskErrorKind::Other,
            path: folder.path.join(name).display().to_string(),
            why,
        });
    }
    folder.read(name, MOST)
}

struct Inner {
    folder: Folder,
    name: String,
    fd: Arc<OwnedFd>,
    /// Number of bytes known to be valid.
    length: u64,
    held: RecordIndex,
    /// True if the OS reported that written data may not be on disk. A second sync would wrongly
    /// report success.
    doubtful: bool,
}

impl Journal {
    /// Opens the journal of a run, given the path of its transcript, or creates an empty one. An
    /// incomplete last line is moved to a file beside it. Blocks on disk reads.
    pub fn open(output_dir: &Path, path: &str) -> Result<Self, DiskError> {
        let path = atomic_write::journal_of(path);
        let (folders, name) = split(&path)?;
        let folders = [&[SIDECARS, "journal"], folders.as_slice()].concat();
        let folder = Folder::make(output_dir, &folders, PRIVATE)?;
        let bytes = content(&folder, name)?;
        let is_new = bytes.is_none();
        let bytes = bytes.unwrap_or_default();
        let fd = folder.open(name, APPEND, OWN).map_err(|error| folder.error(name, error))?;
        if is_new {
            folder.sync()?;
        }
        let Recovered { records, damaged, length } = record::recover(&bytes);
        if damaged > 0 {
            tracing::warn!(path, damaged, "lines of a journal are damaged and passed over");
        }
        if let Some(torn) = bytes.get(length..).filter(|torn| !torn.is_empty()) {
            keep_torn(&folder, name, torn)
                .and_then(|()| {
                    rustix::fs::ftruncate(&fd, length as u64)?;
                    sync(&fd)
                })
                .map_err(|error| folder.error(name, error))?;
        }
        let (name, fd, length) = (name.to_owned(), Arc::new(fd), length as u64);
        let inner = Inner {
            folder,
            name,
            fd,
            length,
            held: RecordIndex::from_records(records),
            doubtful: false,
        };
        Ok(Self { inner: Arc::new(Mutex::new(inner)), turn: Arc::default() })
    }

    /// Appends a record. It is durable on return. On failure the record can be appended again, for
    /// example once there is space. Dropping the future does not cancel the write.
    pub async fn append(&self, record: Record) -> Result<(), DiskError> {
        let journal = self.clone();
        let done = tokio::task::spawn_blocking(move || journal.append_with(record, sync)).await;
        done.unwrap_or_else(|_| Err(self.other("writing the journal was given up.".to_owned())))
    }

    /// Blocking version of `append`, for tests.
    #[cfg(test)]
    pub fn append_now(&self, record: Record) -> Result<(), DiskError> {
        self.append_with(record, sync)
    }

    /// Writes a line, syncs it without blocking readers, and adds it to memory.
    fn append_with(
        &self,
        record: Record,
        sync: impl Fn(&OwnedFd) -> Result<(), Errno>,
    ) -> Result<(), DiskError> {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        self.make_durable(&record, &sync).or_else(|error| {
            if error.kind != DiskErrorKind::Failing {
                return Err(error);
            }
            // The record was paid for, and a disk that failed once may accept the new file that is
            // written now.
            tracing::warn!(%error, "a journal is written anew");
            self.make_durable(&record, &sync)
        })?;
        fault::point!("journal.after_sync");
        lock(&self.inner).held.push(record);
        Ok(())
    }

    fn make_durable(
        &self,
        record: &Record,
        sync: impl Fn(&OwnedFd) -> Result<(), Errno>,
    ) -> Result<(), DiskError> {
        let written = lock(&self.inner).write(record)?;
        let Some(Err(error)) = written.map(|fd| sync(&fd)) else { return Ok(()) };
        let mut inner = lock(&self.inner);
        inner.doubtful = true;
        Err(inner.folder.error(&inner.name, error))
    }

    /// Appends a record that cost nothing. It survives the end of the process at once, and a crash
    /// of the machine after the next reply, which syncs the same file. Does not wait for the disk.
    pub fn note(&self, record: Record) -> Result<(), DiskError> {
        let mut inner = lock(&self.inner);
        inner.write(&record)?;
        inner.held.push(record);
        Ok(())
    }

    /// Returns the reason nothing more may be bought for it, as a sentence; `None` while there is
    /// room.
    pub fn full(&self) -> Option<String> {
        let is_full = lock(&self.inner).length >= FULL;
        is_full.then(|| {
            let most = FULL >> 20;
            format!(
                "The journal of paid replies has reached its limit of {most} MiB, so no more are requested. Evaluate fewer rows at a time."
            )
        })
    }

    /// Returns the number of lines. A run that ends with an error records it; on resume, the reply
    /// that caused the error is then not used again.
    pub fn lines(&self) -> usize {
        lock(&self.inner).held.records().len()
    }

    /// Returns the longest active time of the run, in milliseconds, among the records from line
    /// `from` on.
    pub fn spent_ms(&self, from: usize) -> Option<u64> {
        lock(&self.inner).held.spent_ms(from)
    }

    /// Returns the latest usable reply to a request, from line `from` on; only for the given turn,
    /// if any.
    pub fn find(&self, hash: &str, from: usize, turn: Option<u32>) -> Option<Attempt> {
        lock(&self.inner).held.find(hash, from, turn).cloned()
    }

    /// Returns the outcome of a tool call in an assistant turn, with its duration in milliseconds,
    /// from line `from` on.
    pub fn find_outcome(&self, turn: u32, call: &Call, from: usize) -> Option<(Outcome, u64)> {
        outcome(&lock(&self.inner).held, turn, call, from)
    }

    /// Returns the attempts at a request with their line numbers, from line `from` on; each may
    /// have cost something. Only for the given turn, if any.
    pub fn attempts_at(&self, hash: &str, from: usize, turn: Option<u32>) -> Vec<(usize, Attempt)> {
        let inner = lock(&self.inner);
        inner
            .held
            .attempts_at(hash, from, turn)
            .map(|(line, attempt)| (line, attempt.clone()))
            .collect()
    }

    fn other(&self, why: String) -> DiskError {
        let inner = lock(&self.inner);
        let path = inner.folder.path.join(&inner.name).display().to_string();
        DiskError { kind: DiskErrorKind::Other, path, why }
    }
}

impl Inner {
    /// Writes the line of a record. Returns the file if it still has to be synced.
    fn write(&mut self, record: &Record) -> Result<Option<Arc<OwnedFd>>, DiskError> {
        let line = record::line(record).map_err(|error| DiskError {
            kind: DiskErrorKind::Other,
            path: self.name.clone(),
            why: format!("the record cannot be written as JSON: {error}."),
        })?;
        let durable = self.doubtful;
        if durable {
            self.renew(&line)?;
        } else {
            self.add(&line)?;
        }
        self.length += line.len() as u64;
        Ok((!durable).then(|| Arc::clone(&self.fd)))
    }

    fn add(&mut self, line: &[u8]) -> Result<(), DiskError> {
        fault::point!("journal.before_write");
        #[cfg(debug_assertions)]
        if fault::is_due("journal.mid_write") {
            let _ = write_all(&self.fd, &line[..line.len() / 2]);
            fault::die("journal.mid_write");
        }
        if let Err(error) = write_all(&self.fd, line) {
            // A partial line would corrupt the next one. A failing disk's report that it was
            // removed is not trusted.
            self.doubtful =
                rustix::fs::ftruncate(&self.fd, self.length).is_err() || error == Errno::IO;
            return Err(self.folder.error(&self.name, error));
        }
        fault::point!("journal.after_write");
        Ok(())
    }

    /// Writes all records in memory to a new file, because the content of the old one is uncertain.
    fn renew(&mut self, line: &[u8]) -> Result<(), DiskError> {
        let mut bytes = Vec::new();
        for record in self.held.records() {
            bytes.extend(record::line(record).unwrap_or_default());
        }
        self.length = bytes.len() as u64;
        bytes.extend(line);
        atomic_write::put(&self.folder, &self.name, &bytes, OWN)?;
        let fd = self
            .folder
            .open(&self.name, APPEND, OWN)
            .map_err(|error| self.folder.error(&self.name, error))?;
        self.fd = Arc::new(fd);
        self.doubtful = false;
        Ok(())
    }
}

fn keep_torn(folder: &Folder, name: &str, torn: &[u8]) -> Result<(), Errno> {
    let fd = folder.open(&format!("{name}.torn"), APPEND, OWN)?;
    write_all(&fd, torn)?;
    sync(&fd)
}

fn sync(fd: &OwnedFd) -> Result<(), Errno> {
    retry_on_intr(|| rustix::fs::fdatasync(fd))
}

fn lock(inner: &Mutex<Inner>) -> MutexGuard<'_, Inner> {
    inner.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
