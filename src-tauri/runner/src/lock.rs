//! Ensures one writer per run: an OS lock on a file beside the results, held while the run is
//! executed and released by the OS when the process dies. The content of the lock file is only
//! informative.
use super::atomic_write;
use super::disk::{DiskError, Folder, PRIVATE, SIDECARS, split, write_all};
use fs_err as fs;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use std::fs::TryLockError;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::Duration;

/// Attempts to take the lock. A process that only checks it holds it for a moment; that must not
/// count as held.
const TRIES: u32 = 10;
const PAUSE: Duration = Duration::from_millis(5);

/// Lock of a run. Released on drop.
pub struct RunLock {
    file: fs::File,
    folder: Folder,
    name: String,
}

/// Reason a run could not be locked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LockError {
    /// Another process holds the lock.
    #[error("another process is at this run ({by})")]
    Held {
        /// Description of that process.
        by: String,
    },
    /// The file system does not support locks, such as some network file systems.
    #[error(
        "files cannot be locked in this folder: {why}. Make sure that nothing else writes runs here."
    )]
    Unsupported {
        /// Message of the OS.
        why: String,
    },
    /// The lock file could not be created.
    #[error(transparent)]
    Disk(#[from] DiskError),
}

impl RunLock {
    /// Locks a run, given the path of its transcript, and removes temporary files that a dead
    /// process left. May block for some milliseconds.
    pub fn take(output_dir: &Path, path: &str) -> Result<Self, LockError> {
        let (folders, name) = name_of(path)?;
        let folder = Folder::make(
            output_dir,
            &folders.iter().map(String::as_str).collect::<Vec<_>>(),
            PRIVATE,
        )?;
        let flags = OFlags::RDWR | OFlags::CREATE;
        let (mut by, mut error) = (String::new(), None);
        for turn in 0..TRIES {
            if turn > 0 {
                std::thread::sleep(PAUSE);
            }
            let fd = match folder.open(&name, flags, Mode::from_raw_mode(0o600)) {
                Err(stale) if is_stale(stale) => {
                    error = Some(folder.error(&name, stale));
                    continue;
                }
                opened => opened.map_err(|error| folder.error(&name, error))?,
            };
            let file = fs::File::from_parts(fd.into(), folder.path.join(&name));
            match file.try_lock() {
                // The former holder removed the file between our opening and our locking it; this
                // lock protects nothing. On a network file system, the metadata fails then.
                Ok(()) if !file.metadata().is_ok_and(|meta| meta.nlink() > 0) => {}
                Ok(()) => {
                    // The holder removes the file on release. A file with content was left by a
                    // process that died, perhaps while writing; only then the folder is searched
                    // for temporary files, which is slow with many results.
                    let died = file.metadata().is_ok_and(|meta| meta.len() > 0);
                    if died && let Err(error) = atomic_write::sweep(output_dir, path) {
                        tracing::debug!(%error, "temporary files of a dead process stay; they do no harm");
                    }
                    // Signed only after the cleanup: a process that dies in between must leave a
                    // file that still calls for one.
                    let lock = Self { file, folder, name };
                    lock.sign();
                    return Ok(lock);
                }
                Err(TryLockError::WouldBlock) => (by, error) = (words(&file), None),
                Err(TryLockError::Error(error))
                    if Errno::from_io_error(&error).is_some_and(is_stale) => {}
                Err(TryLockError::Error(error)) => return Err(unsupported(&error)),
            }
        }
        if let Some(error) = error {
            return Err(LockError::Disk(error));
        }
        Err(LockError::Held {
            by: if by.is_empty() { "it does not say which".to_owned() } else { by },
        })
    }

    /// Writes the id of this process and the host into the lock file.
    fn sign(&self) {
        let words = format!("process {} on {}\n", std::process::id(), host());
        let signed = self.file.set_len(0).and_then(|()| {
            let fd = self.folder.open(&self.name, OFlags::WRONLY, Mode::empty())?;
            Ok(write_all(&fd, words.as_bytes())?)
        });
        if let Err(error) = signed {
            tracing::debug!(%error, "the lock does not say who has it");
        }
    }
}

/// Returns the name of this machine; empty if the system does not tell.
pub fn host() -> String {
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    host.trim().to_owned()
}

impl Drop for RunLock {
    fn drop(&mut self) {
        // Removed while the lock is still held. A process that opened the file before sees that it
        // was deleted.
        if let Err(error) = self.folder.remove(&self.name) {
            tracing::debug!(%error, "the lock file could not be removed; it does no harm");
        }
        if let Err(error) = self.file.unlock() {
            tracing::debug!(%error, "the lock could not be given back; the system does it");
        }
    }
}

/// Describes the process that holds the lock of a run, without taking it; `None` if it is free.
/// Errors count as free: taking the lock decides later.
pub fn held_by(output_dir: &Path, path: &str) -> Option<String> {
    let (folders, name) = name_of(path).ok()?;
    let folders: Vec<&str> = folders.iter().map(String::as_str).collect();
    let folder = Folder::find(output_dir, &folders).ok()??;
    let fd = folder.open(&name, OFlags::RDONLY, Mode::empty()).ok()?;
    let file = fs::File::from_parts(fd.into(), folder.path.join(&name));
    match file.try_lock_shared() {
        Err(TryLockError::WouldBlock) => Some(words(&file)),
        _ => None,
    }
}

/// Removes temporary files that a dead process left beside a run. For runs with nothing left to do,
/// which are therefore never locked.
pub fn clear_away(output_dir: &Path, path: &str) {
    if is_left(output_dir, path) == Some(true) {
        // Taking the lock cleans up; dropping it releases it.
        drop(RunLock::take(output_dir, path));
    }
}

/// Returns true if the lock file has content but is not locked.
fn is_left(output_dir: &Path, path: &str) -> Option<bool> {
    let (folders, name) = name_of(path).ok()?;
    let folders: Vec<&str> = folders.iter().map(String::as_str).collect();
    let folder = Folder::find(output_dir, &folders).ok()??;
    let fd = folder.open(&name, OFlags::RDONLY, Mode::empty()).ok()?;
    let file = fs::File::from_parts(fd.into(), folder.path.join(&name));
    Some(file.metadata().ok()?.len() > 0 && file.try_lock_shared().is_ok())
}

/// Returns the folders and the name of the lock file of a run.
fn name_of(path: &str) -> Result<(Vec<String>, String), DiskError> {
    let (folders, name) = split(path)?;
    let folders = [&[SIDECARS, "locks"], folders.as_slice()].concat();
    let name = format!("{}.lock", name.strip_suffix(".yaml").unwrap_or(name));
    Ok((folders.into_iter().map(str::to_owned).collect(), name))
}

fn words(file: &fs::File) -> String {
    use std::io::Read as _;
    let mut words = String::new();
    // The holder may be writing it right now.
    let _ = file.take(200).read_to_string(&mut words);
    words.chars().filter(|letter| !letter.is_control()).collect()
}

/// Returns true for the errors of a network file system about a file that another machine removed.
fn is_stale(error: Errno) -> bool {
    matches!(error, Errno::STALE | Errno::NOENT)
}

fn unsupported(error: &io::Error) -> LockError {
    LockError::Unsupported { why: error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN: &str = "a/b-promptql-o1-variation0.yaml";

    #[test]
    fn a_run_is_locked_once_and_free_again_when_the_lock_is_dropped() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(held_by(dir.path(), RUN), None);
        let lock = RunLock::take(dir.path(), RUN).unwrap();
        let Err(LockError::Held { by }) = RunLock::take(dir.path(), RUN) else {
            panic!("taken twice")
        };
        assert!(by.starts_with(&format!("process {} on ", std::process::id())), "{by}");
        assert_eq!(held_by(dir.path(), RUN), Some(by));
        let other = RunLock::take(dir.path(), "a/b-promptql-o1-variation0-run2.yaml").unwrap();
        drop((lock, other));
        assert_eq!(held_by(dir.path(), RUN), None);
        assert_eq!(fs::read_dir(dir.path().join(".touchstone/locks/a")).unwrap().count(), 0);
        drop(RunLock::take(dir.path(), RUN).unwrap());
    }

    #[test]
    fn a_lock_file_that_a_dead_process_left_is_no_lock() {
        let dir = tempfile::tempdir().unwrap();
        drop(RunLock::take(dir.path(), RUN).unwrap());
        fs::write(
            dir.path().join(".touchstone/locks/a/b-promptql-o1-variation0.lock"),
            "process 1 on mars",
        )
        .unwrap();
        assert_eq!(held_by(dir.path(), RUN), None);
        drop(RunLock::take(dir.path(), RUN).unwrap());
    }

    #[test]
    fn what_a_dead_process_left_beside_a_finished_run_is_taken_away_and_what_is_in_use_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let temp = dir
            .path()
            .join(format!(".touchstone-{:016x}-7-1.tmp", xxhash_rust::xxh3::xxh3_64(b"r.yaml")));
        let left = |text: &str| {
            drop(RunLock::take(dir.path(), "r.yaml").unwrap());
            let (folders, name) = name_of("r.yaml").unwrap();
            fs::write(dir.path().join(folders.join("/")).join(name), text).unwrap();
            fs::write(&temp, "half").unwrap();
        };
        left("process 7 on here\n");
        clear_away(dir.path(), "r.yaml");
        assert!(!temp.exists() && held_by(dir.path(), "r.yaml").is_none());
        let _lock = RunLock::take(dir.path(), "r.yaml").unwrap();
        fs::write(&temp, "half").unwrap();
        clear_away(dir.path(), "r.yaml");
        assert!(temp.exists(), "a run that is being made keeps what it writes");
    }

    #[test]
    fn only_one_of_many_processes_holds_a_run() {
        use std::sync::atomic::{AtomicU32, Ordering};
        let dir = tempfile::tempdir().unwrap();
        let (inside, taken) = (AtomicU32::new(0), AtomicU32::new(0));
        std::thread::scope(|threads| {
            for _ in 0..8 {
                threads.spawn(|| {
                    for _ in 0..50 {
                        held_by(dir.path(), RUN);
                        if let Ok(lock) = RunLock::take(dir.path(), RUN) {
                            assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                            taken.fetch_add(1, Ordering::SeqCst);
                            inside.fetch_sub(1, Ordering::SeqCst);
                            drop(lock);
                        }
                    }
                });
            }
        });
        assert!(taken.into_inner() >= 50);
    }

    #[test]
    fn a_link_where_the_lock_should_be_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join(".touchstone/locks")).unwrap();
        fs::write(dir.path().join("victim"), "x").unwrap();
        std::os::unix::fs::symlink("../../victim", dir.path().join(".touchstone/locks/r.lock"))
            .unwrap();
        assert!(matches!(RunLock::take(dir.path(), "r.yaml"), Err(LockError::Disk(_))));
        assert_eq!(fs::read_to_string(dir.path().join("victim")).unwrap(), "x");
    }
}
