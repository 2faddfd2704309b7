//! Location of the index of an output directory: a folder in the cache that one process at a time
//! claims with a file lock, holding one numbered build. Owns the claim, the names of the builds and
//! the cleanup of old builds, but not their content. At most one old build is kept, for at most 14
//! days and up to 256 MiB. Extra folders made by other processes are deleted when an index of the
//! same directory is opened next.
use fs_err as fs;
use fs_err::os::unix::fs::OpenOptionsExt as _;
use std::fs::{DirBuilder, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use xxhash_rust::xxh3::xxh3_64;

/// Maximum number of processes that can have the same folder open, each with its own index.
const CLAIMS: u32 = 16;
/// Retention of a build that was moved aside, kept for the investigation of problems.
const ASIDE_AGE: Duration = Duration::from_hours(14 * 24);
/// Larger builds are not kept.
const ASIDE_BYTES: u64 = 256 << 20;
/// Maximum depth to which folders of the index are walked.
const DEPTH: usize = 8;

/// Claimed folder in the cache. Released on drop, or by the system when the process dies.
pub(crate) struct IndexDir {
    cache_dir: PathBuf,
    output_dir: PathBuf,
    dir: PathBuf,
    lock: fs::File,
    /// Number of the newest build so far. Numbers are never reused, even if the cache was deleted,
    /// because a reader may still use the build that had the number.
    last: u64,
}

impl IndexDir {
    /// Claims the folder for this output directory, or the next numbered one if another process
    /// holds it. Fails when all of them are taken.
    pub(crate) fn claim(cache_dir: &Path, output_dir: &Path) -> io::Result<Self> {
        let key = key_of(output_dir);
        // A cleanup may remove a folder while it is being claimed; then the next one is tried.
        for turn in 0..CLAIMS {
            let dir = turn_dir(cache_dir, key, turn);
            if dir.symlink_metadata().is_ok_and(|meta| !meta.is_dir()) {
                discard(&dir)?;
            }
            make_private(&dir)?;
            // The folder of the runs may be readable by others; the folder of the index must not
            // be.
            fs::set_permissions(&dir, Permissions::from_mode(0o700))?;
            let path = dir.join("lock");
            if path.symlink_metadata().is_ok_and(|meta| !meta.is_file()) {
                discard(&path)?;
            }
            let lock = fs::OpenOptions::new()
                .create(true)
                .truncate(false)
                .write(true)
                .mode(0o600)
                .open(&path)?;
            fs::set_permissions(&path, Permissions::from_mode(0o600))?;
            match lock.try_lock() {
                Ok(()) if !is_at(&lock, &path) => {}
                Ok(()) => {
                    let name = format!("{}\n", output_dir.display());
                    create_private(&dir.join("folder.txt"))?.write_all(name.as_bytes())?;
                    let (cache_dir, output_dir) = (cache_dir.to_owned(), output_dir.to_owned());
                    let mut home = Self { cache_dir, output_dir, dir, lock, last: 0 };
                    home.last = home.builds().into_iter().max().unwrap_or(0);
                    return Ok(home);
                }
                Err(std::fs::TryLockError::WouldBlock) => {}
                Err(std::fs::TryLockError::Error(error)) => return Err(error),
            }
        }
        Err(io::Error::new(
            io::ErrorKind::ResourceBusy,
            format!("{CLAIMS} other processes have this folder open"),
        ))
    }

    /// Returns the newest build, if any.
    pub(crate) fn newest(&self) -> Option<PathBuf> {
        self.builds().into_iter().max().map(|n| self.build(n))
    }

    /// Creates a new empty build. The previous one is moved aside, or deleted if it exceeds the
    /// size limit.
    pub(crate) fn renew(&mut self) -> io::Result<PathBuf> {
        if !self.is_ours() {
            // The cache was deleted while in use, and another process may have created a folder of
            // this name since.
            let last = self.last;
            *self = Self::claim(&self.cache_dir, &self.output_dir)?;
            self.last = self.last.max(last);
        }
        let builds = self.builds();
        let newest = builds.iter().max().copied();
        let aside = self.dir.join("aside");
        for old in builds {
            let build = self.build(old);
            if Some(old) == newest && weight(&build, DEPTH) <= ASIDE_BYTES {
                discard(&aside)?;
                fs::rename(build, &aside)?;
            } else {
                discard(&build)?;
            }
        }
        self.last = self.last.max(newest.unwrap_or(0)) + 1;
        let dir = self.build(self.last);
        // The cache may have been deleted while in use; then the folder itself is created again.
        make_private(&dir)?;
        Ok(dir)
    }

    /// Deletes leftover builds, the moved-aside build if it is too old or too large, and unlocked
    /// extra folders. Restricts the permissions of the newest build. Ignores files that cannot be
    /// removed.
    pub(crate) fn tidy(&mut self) {
        let builds = self.builds();
        let newest = builds.iter().max().copied();
        let mut leftovers: Vec<PathBuf> =
            builds.into_iter().filter(|n| Some(*n) != newest).map(|n| self.build(n)).collect();
        let aside = self.dir.join("aside");
        // A moved folder records the time of the move only as its ctime.
        let moved = |meta: std::fs::Metadata| u64::try_from(meta.ctime()).unwrap_or(0);
        let moved = aside.symlink_metadata().map(moved);
        let is_over = |moved: u64| {
            let moved = SystemTime::UNIX_EPOCH + Duration::from_secs(moved);
            is_expired(moved, SystemTime::now(), weight(&aside, DEPTH))
        };
        if moved.is_ok_and(is_over) {
            leftovers.push(aside);
        }
        for turn in 1..CLAIMS {
            let dir = turn_dir(&self.cache_dir, key_of(&self.output_dir), turn);
            if dir != self.dir {
                discard_free(&dir);
            }
        }
        for leftover in leftovers {
            if let Err(error) = discard(&leftover) {
                tracing::debug!(%error, "what is left of an old index could not be removed");
            }
        }
        if let Some(newest) = newest {
            make_all_private(&self.build(newest));
        }
    }

    /// Returns true when the held lock file is still the one at its path.
    fn is_ours(&self) -> bool {
        is_at(&self.lock, &self.dir.join("lock"))
    }

    fn build(&self, number: u64) -> PathBuf {
        self.dir.join(format!("build-{number}"))
    }

    fn builds(&self) -> Vec<u64> {
        let entries = fs::read_dir(&self.dir).into_iter().flatten().flatten();
        entries
            .filter_map(|e| e.file_name().to_str()?.strip_prefix("build-")?.parse().ok())
            .collect()
    }
}

/// Returns true for a moved-aside build that is too old or too large to be kept.
fn is_expired(moved: SystemTime, now: SystemTime, bytes: u64) -> bool {
    bytes > ASIDE_BYTES || now.duration_since(moved).is_ok_and(|age| age > ASIDE_AGE)
}

fn key_of(output_dir: &Path) -> u64 {
    use std::os::unix::ffi::OsStrExt as _;
    xxh3_64(output_dir.as_os_str().as_bytes())
}

/// Returns the folder name for the given attempt.
fn turn_dir(cache_dir: &Path, key: u64, turn: u32) -> PathBuf {
    match turn {
        0 => cache_dir.join(format!("{key:016x}")),
        n => cache_dir.join(format!("{key:016x}-{n}")),
    }
}

/// Returns true for an extra folder, made because the first one was taken.
fn is_another(dir: &Path) -> bool {
    let name = dir.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name.split_once('-').is_some_and(|(_, turn)| turn.parse::<u32>().is_ok_and(|turn| turn > 0))
}

/// Returns true when the open file is the one at the path.
pub fn is_at(file: &fs::File, path: &Path) -> bool {
    let (there, ours) = (path.symlink_metadata(), file.metadata());
    there.is_ok_and(|there| {
        ours.is_ok_and(|ours| (there.dev(), there.ino()) == (ours.dev(), ours.ino()))
    })
}

/// Removes an index folder that no process has open.
fn discard_free(dir: &Path) {
    let Ok(lock) = fs::File::open(dir.join("lock")) else { return };
    if lock.try_lock().is_ok()
        && let Err(error) = discard(dir)
    {
        tracing::debug!(%error, "an index that is not used any more could not be removed");
    }
}

impl Drop for IndexDir {
    fn drop(&mut self) {
        if let Err(error) = self.lock.unlock() {
            tracing::debug!(%error, "the lock of the index could not be given back; the system does it");
        }
    }
}

/// Creates a folder with mode 0700, including missing parents. Existing folders stay unchanged.
pub fn make_private(dir: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(dir)
}

/// New folder in the system's temporary directory, removed when dropped. It is locked for as long as
/// it is used, so that one that a killed process left is removed when the next one is made.
pub struct TemporaryDir {
    /// Its path.
    pub path: PathBuf,
    _lock: fs::File,
}

/// Prefix of the names of temporary folders.
const TEMPORARY: &str = "touchstone-";

impl TemporaryDir {
    /// Creates a folder. Never reuses an existing one, which another user could have prepared.
    pub fn make() -> io::Result<Self> {
        Self::make_in(&std::env::temp_dir())
    }

    fn make_in(temporary: &Path) -> io::Result<Self> {
        remove_dead(temporary);
        let process = std::process::id();
        for turn in 0..1_000 {
            let path = temporary.join(format!("{TEMPORARY}{process}-{turn}"));
            match DirBuilder::new().mode(0o700).create(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                made => made?,
            }
            let file = path.join("lock");
            let lock = match create_private(&file) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                made => made?,
            };
            // Another process may have taken it for one that was left, and removed it.
            if lock.try_lock().is_ok() && is_at(&lock, &file) {
                return Ok(Self { path, _lock: lock });
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }
}

impl Drop for TemporaryDir {
    fn drop(&mut self) {
        if let Err(error) = discard(&self.path) {
            tracing::debug!(%error, "a temporary directory stays");
        }
    }
}

/// Removes the temporary folders of this user that no process has locked.
fn remove_dead(temporary: &Path) {
    let is_temporary = |name: &str| {
        let numbers = name.strip_prefix(TEMPORARY).and_then(|rest| rest.split_once('-'));
        let is_number = |text: &str| text.parse::<u32>().is_ok();
        numbers.is_some_and(|(process, turn)| is_number(process) && is_number(turn))
    };
    let user = rustix::process::geteuid().as_raw();
    for entry in fs::read_dir(temporary).into_iter().flatten().flatten() {
        let is_ours = entry.file_name().to_str().is_some_and(is_temporary)
            && entry.metadata().is_ok_and(|meta| meta.is_dir() && meta.uid() == user);
        if is_ours {
            discard_free(&entry.path());
        }
    }
}

/// Creates an empty file with mode 0600, replacing any existing file or folder.
pub fn create_private(path: &Path) -> io::Result<fs::File> {
    if path.symlink_metadata().is_ok_and(|meta| !meta.is_file()) {
        discard(path)?;
    }
    let file =
        fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
    fs::set_permissions(path, Permissions::from_mode(0o600))?;
    Ok(file)
}

/// Removes a file or folder of the cache, regardless of its permissions. A missing path is not an
/// error.
pub fn discard(path: &Path) -> io::Result<()> {
    let Ok(meta) = path.symlink_metadata() else { return Ok(()) };
    if !meta.is_dir() {
        return fs::remove_file(path);
    }
    fs::remove_dir_all(path).or_else(|_| {
        open_up(path, DEPTH);
        fs::remove_dir_all(path)
    })
}

/// Grants the owner access to a folder and its subfolders, so that they can be removed.
fn open_up(dir: &Path, depth: usize) {
    let _ = fs::set_permissions(dir, Permissions::from_mode(0o700));
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        if depth > 0 && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            open_up(&entry.path(), depth - 1);
        }
    }
}

/// Removes group and world permissions from the files of a build.
fn make_all_private(dir: &Path) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let is_open = |meta: &std::fs::Metadata| meta.is_file() && meta.mode() & 0o077 != 0;
        if entry.metadata().is_ok_and(|meta| is_open(&meta)) {
            let _ = fs::set_permissions(entry.path(), Permissions::from_mode(0o600));
        }
    }
}

/// Returns the total size of the files below a path, in bytes.
pub(crate) fn weight(path: &Path, depth: usize) -> u64 {
    let Ok(meta) = path.symlink_metadata() else { return 0 };
    if !meta.is_dir() {
        return meta.len();
    }
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    let inside = entries.map(|entry| if depth == 0 { 0 } else { weight(&entry.path(), depth - 1) });
    inside.fold(0, u64::saturating_add)
}

/// Returns the removable folders of a cache: indexes that were moved aside, and unlocked indexes
/// whose output directory no longer exists or that were extra folders.
pub fn leftovers(cache_dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(cache_dir).into_iter().flatten().flatten() {
        let dir = entry.path();
        let Ok(text) = fs::read_to_string(dir.join("folder.txt")) else { continue };
        let is_free = || fs::File::open(dir.join("lock")).is_ok_and(|lock| lock.try_lock().is_ok());
        let is_gone = !text.trim_end_matches('\n').is_empty()
            && !Path::new(text.trim_end_matches('\n')).exists();
        if (is_gone || is_another(&dir)) && is_free() {
            found.push(dir);
        } else if dir.join("aside").symlink_metadata().is_ok() {
            found.push(dir.join("aside"));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: Duration = Duration::from_hours(24);
    const MIB: u64 = 1 << 20;

    #[test]
    fn an_old_build_is_kept_for_14_days_and_up_to_256_mib() {
        let moved = SystemTime::UNIX_EPOCH + 20_000 * DAY;
        let second = Duration::from_secs(1);
        for (now, bytes, expired) in [
            (moved, 0, false),
            (moved + 14 * DAY, 256 * MIB, false),
            (moved + 14 * DAY + second, 0, true),
            (moved + DAY, 256 * MIB + 1, true),
            // The clock was set back.
            (moved - 100 * DAY, MIB, false),
        ] {
            assert_eq!(is_expired(moved, now, bytes), expired, "{now:?}, {bytes} bytes");
        }
    }

    #[test]
    fn what_a_killed_process_left_is_removed_and_what_is_used_or_foreign_stays() {
        let home = tempfile::tempdir().unwrap();
        let dead = home.path().join("touchstone-1-0");
        let foreign = ["touchstone-1-0-2", "touchstone-x-0", "touchstone-2-0"];
        for name in ["touchstone-1-0"].iter().chain(&foreign) {
            fs::create_dir(home.path().join(name)).unwrap();
        }
        for name in ["touchstone-1-0", "touchstone-1-0-2", "touchstone-x-0"] {
            fs::write(home.path().join(name).join("lock"), "").unwrap();
        }
        let first = TemporaryDir::make_in(home.path()).unwrap();
        let second = TemporaryDir::make_in(home.path()).unwrap();
        assert!(!dead.exists() && first.path.is_dir() && second.path.is_dir());
        assert!(foreign.iter().all(|name| home.path().join(name).is_dir()), "not known to be dead");
        let path = first.path.clone();
        drop(first);
        assert!(!path.exists());
    }

    /// Makes the newest build a file of this size without blocks.
    fn fill(dir: &IndexDir, bytes: u64) {
        let file = create_private(&dir.newest().unwrap().join("text-1.blob")).unwrap();
        file.set_len(bytes).unwrap();
    }

    #[test]
    fn a_build_that_is_replaced_is_moved_aside_unless_it_is_larger_than_256_mib() {
        let home = tempfile::tempdir().unwrap();
        let mut dir = IndexDir::claim(home.path(), Path::new("/results")).unwrap();
        let aside = dir.dir.join("aside");
        dir.renew().unwrap();
        fill(&dir, 256 * MIB);
        dir.renew().unwrap();
        assert_eq!(weight(&aside, DEPTH), 256 * MIB);
        dir.tidy();
        assert!(aside.is_dir(), "it is neither old nor too large");
        // The next build that is kept takes its place.
        fill(&dir, MIB);
        dir.renew().unwrap();
        assert_eq!(weight(&aside, DEPTH), MIB);
        fill(&dir, 256 * MIB + 1);
        dir.renew().unwrap();
        assert_eq!(weight(&aside, DEPTH), MIB, "the large one is gone");
        assert_eq!(dir.builds().len(), 1);
        // One that another version left is cleaned up as well.
        create_private(&aside.join("more")).unwrap().set_len(256 * MIB).unwrap();
        dir.tidy();
        assert!(!aside.exists());
    }
}
