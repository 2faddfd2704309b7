//! One writer for each run: a lock of the system on a file beside the results, held for the life of
//! the run and given back by the system when the process dies. What stands in the file is words for
//! people and decides nothing.
use super::disk::{DiskError, Folder, PRIVATE, SIDECARS, split, write_all};
use super::publish;
use fs_err as fs;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use std::fs::TryLockError;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::Duration;

/// Somebody who only looks whether it is held has it for a moment; that is not holding it.
const TRIES: u32 = 10;
const PAUSE: Duration = Duration::from_millis(5);

/// The lock of a run. Given back when it is dropped.
pub struct RunLock {
    file: fs::File,
    folder: Folder,
    name: String,
}

/// Why a run could not be locked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LockError {
    /// Another process is at it.
    #[error("another process is at this run ({by})")]
    Held {
        /// Which, in words.
        by: String,
    },
    /// The file system knows no locks, as some network folders do not.
    #[error(
        "files cannot be locked in this folder: {why}. Make sure that nothing else makes runs here."
    )]
    Unsupported {
        /// What the system said.
        why: String,
    },
    /// The lock file could not be made.
    #[error(transparent)]
    Disk(#[from] DiskError),
}

impl RunLock {
    /// Takes the lock of a run, by the path of its transcript, and clears away what a dead process
    /// left half written. May wait for some milliseconds.
    pub fn take(output_dir: &Path, path: &str) -> Result<Self, LockError> {
        let (folders, name) = name_of(path)?;
        let folder = Folder::make(
            output_dir,
            &folders.iter().map(String::as_str).collect::<Vec<_>>(),
            PRIVATE,
        )?;
        let flags = OFlags::RDWR | OFlags::CREATE;
        let mut by = String::new();
        for turn in 0..TRIES {
            if turn > 0 {
                std::thread::sleep(PAUSE);
            }
            let fd = match folder.open(&name, flags, Mode::from_raw_mode(0o600)) {
                Err(Errno::STALE) => continue,
                opened => opened.map_err(|error| folder.error(&name, error))?,
            };
            let file = fs::File::from_parts(fd.into(), folder.path.join(&name));
            match file.try_lock() {
                // Whoever had it before removed it between our opening and our locking: it is
                // nobody's any more.
                Ok(()) if file.metadata().is_ok_and(|meta| meta.nlink() == 0) => {}
                Ok(()) => {
                    // Who gives it back removes it. One that is signed was left by a process that
                    // died, perhaps in the middle of a file; only then the folder is looked
                    // through, which takes long where there are many results.
                    let died = file.metadata().is_ok_and(|meta| meta.len() > 0);
                    if died && let Err(error) = publish::sweep(output_dir, path) {
                        tracing::debug!(%error, "temporary files of a dead process stay; they do no harm");
                    }
                    // Only now: whoever dies while signing must not leave a lock that looks as if
                    // nothing were left.
                    let lock = Self { file, folder, name };
                    lock.sign();
                    return Ok(lock);
                }
                Err(TryLockError::WouldBlock) => by = words(&file),
                Err(TryLockError::Error(error)) => return Err(unsupported(&error)),
            }
        }
        Err(LockError::Held {
            by: if by.is_empty() { "it does not say which".to_owned() } else { by },
        })
    }

    /// Says who has it.
    fn sign(&self) {
        let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        let words = format!("process {} on {}\n", std::process::id(), host.trim());
        let signed = self.file.set_len(0).and_then(|()| {
            let fd = self.folder.open(&self.name, OFlags::WRONLY, Mode::empty())?;
            Ok(write_all(&fd, words.as_bytes())?)
        });
        if let Err(error) = signed {
            tracing::debug!(%error, "the lock does not say who has it");
        }
    }
}

impl Drop for RunLock {
    fn drop(&mut self) {
        // It is removed while it is still ours; who opened it before sees that it is nobody's any
        // more.
        if let Err(error) = self.folder.remove(&self.name) {
            tracing::debug!(%error, "the lock file could not be removed; it does no harm");
        }
        if let Err(error) = self.file.unlock() {
            tracing::debug!(%error, "the lock could not be given back; the system does it");
        }
    }
}

/// Who is at a run, in words, without taking its lock; none when nobody is. What cannot be found
/// out counts as nobody: the lock itself decides later.
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

/// Takes away what a process left beside a run when it died, for runs that nobody goes on with
/// because nothing is owed.
pub fn clear_away(output_dir: &Path, path: &str) {
    if is_left(output_dir, path) == Some(true) {
        // Whoever takes it clears away, and gives it back.
        drop(RunLock::take(output_dir, path));
    }
}

/// True for a lock that is signed and that nobody has.
fn is_left(output_dir: &Path, path: &str) -> Option<bool> {
    let (folders, name) = name_of(path).ok()?;
    let folders: Vec<&str> = folders.iter().map(String::as_str).collect();
    let folder = Folder::find(output_dir, &folders).ok()??;
    let fd = folder.open(&name, OFlags::RDONLY, Mode::empty()).ok()?;
    let file = fs::File::from_parts(fd.into(), folder.path.join(&name));
    Some(file.metadata().ok()?.len() > 0 && file.try_lock_shared().is_ok())
}

/// Folders and name of the lock file of a run.
fn name_of(path: &str) -> Result<(Vec<String>, String), DiskError> {
    let (folders, name) = split(path)?;
    let folders = [&[SIDECARS, "locks"], folders.as_slice()].concat();
    let name = format!("{}.lock", name.strip_suffix(".yaml").unwrap_or(name));
    Ok((folders.into_iter().map(str::to_owned).collect(), name))
}

fn words(file: &fs::File) -> String {
    use std::io::Read as _;
    let mut words = String::new();
    // Whoever has it may be writing it just now.
    let _ = file.take(200).read_to_string(&mut words);
    words.chars().filter(|letter| !letter.is_control()).collect()
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
    fn of_many_who_want_a_run_one_has_it_at_any_time() {
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
