//! Where the index of an output directory lives: a folder in the cache, claimed by one process at a
//! time with a lock of the system, with one numbered build inside. Owns the claim and the builds'
//! names, not what is in them, and how much is left of builds that are not used any more: of one at
//! most, for at most 14 days, and no more than 256 MiB. Folders that other processes had beside it
//! go when the next one opens an index of the same directory.
use fs_err as fs;
use fs_err::os::unix::fs::OpenOptionsExt as _;
use std::fs::{DirBuilder, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use xxhash_rust::xxh3::xxh3_64;

/// How many processes may have the same folder open, each with an index of its own.
const CLAIMS: u32 = 16;
/// What was moved aside is kept for as long, in case somebody wants to know what was wrong with it.
const ASIDE_AGE: Duration = Duration::from_hours(14 * 24);
/// More than this is not kept.
const ASIDE_BYTES: u64 = 256 << 20;
/// Folders in a folder of the index are not looked into deeper than this.
const DEPTH: usize = 8;

/// A claimed folder in the cache. Given back when it is dropped, or by the system when the process
/// dies.
pub(crate) struct Home {
    cache_dir: PathBuf,
    output_dir: PathBuf,
    dir: PathBuf,
    lock: fs::File,
    /// The number of the newest build there was. None is given twice, also when the cache was
    /// deleted meanwhile: somebody may still look into the one that had it.
    last: u64,
}

impl Home {
    /// Claims the folder for this output directory; when another process holds it, one beside it.
    pub(crate) fn claim(cache_dir: &Path, output_dir: &Path) -> io::Result<Self> {
        let key = key_of(output_dir);
        // Who tidies may remove a folder in the moment in which it is taken; then the next one is.
        for turn in 0..CLAIMS {
            let dir = turn_dir(cache_dir, key, turn);
            if dir.symlink_metadata().is_ok_and(|meta| !meta.is_dir()) {
                discard(&dir)?;
            }
            make_private(&dir)?;
            // Whoever may read the folder of the runs may not be whoever may read the folder of the
            // index.
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

    /// The newest build, when there is one.
    pub(crate) fn newest(&self) -> Option<PathBuf> {
        self.builds().into_iter().max().map(|n| self.build(n))
    }

    /// Makes a new empty build. The one before is moved aside, unless it is larger than what is
    /// kept.
    pub(crate) fn renew(&mut self) -> io::Result<PathBuf> {
        if !self.is_ours() {
            // The cache was deleted under our hands, and somebody else may have made a folder of
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
        // The cache may have been deleted under our hands; then the folder itself is made again.
        make_private(&dir)?;
        Ok(dir)
    }

    /// Removes what is left of builds that are not used any more, where it is more than is kept.
    /// What cannot be removed stays.
    pub(crate) fn tidy(&mut self) {
        let builds = self.builds();
        let newest = builds.iter().max().copied();
        let mut leftovers: Vec<PathBuf> =
            builds.into_iter().filter(|n| Some(*n) != newest).map(|n| self.build(n)).collect();
        let aside = self.dir.join("aside");
        let is_old = |meta: &std::fs::Metadata| {
            // A folder that was moved has the time of the move only in its inode.
            let changed = SystemTime::UNIX_EPOCH
                + Duration::from_secs(u64::try_from(meta.ctime()).unwrap_or(0));
            SystemTime::now().duration_since(changed).is_ok_and(|age| age > ASIDE_AGE)
        };
        if aside.symlink_metadata().is_ok_and(|meta| is_old(&meta))
            || weight(&aside, DEPTH) > ASIDE_BYTES
        {
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

    /// Whether the lock that is held is the one that others see.
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

fn key_of(output_dir: &Path) -> u64 {
    use std::os::unix::ffi::OsStrExt as _;
    xxh3_64(output_dir.as_os_str().as_bytes())
}

/// The folder that is tried in this turn.
fn turn_dir(cache_dir: &Path, key: u64, turn: u32) -> PathBuf {
    match turn {
        0 => cache_dir.join(format!("{key:016x}")),
        n => cache_dir.join(format!("{key:016x}-{n}")),
    }
}

/// Whether a folder is one that was made because the first one was taken.
fn is_another(dir: &Path) -> bool {
    let name = dir.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name.split_once('-').is_some_and(|(_, turn)| turn.parse::<u32>().is_ok_and(|turn| turn > 0))
}

/// Whether this open file is the one at a path.
fn is_at(file: &fs::File, path: &Path) -> bool {
    let (there, ours) = (path.symlink_metadata(), file.metadata());
    there.is_ok_and(|there| {
        ours.is_ok_and(|ours| (there.dev(), there.ino()) == (ours.dev(), ours.ino()))
    })
}

/// Removes the folder of an index that no process has open.
fn discard_free(dir: &Path) {
    let Ok(lock) = fs::File::open(dir.join("lock")) else { return };
    if lock.try_lock().is_ok()
        && let Err(error) = discard(dir)
    {
        tracing::debug!(%error, "an index that is not used any more could not be removed");
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        if let Err(error) = self.lock.unlock() {
            tracing::debug!(%error, "the lock of the index could not be given back; the system does it");
        }
    }
}

/// Makes a folder into which only this person can look, with all above it that is missing. What is
/// there stays as it is.
pub fn make_private(dir: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(dir)
}

/// A folder among the system's temporary files that is new, so that nobody else on this machine can
/// have laid it out for us.
pub fn make_temporary() -> io::Result<PathBuf> {
    let (temporary, process) = (std::env::temp_dir(), std::process::id());
    for turn in 0..1_000 {
        let dir = temporary.join(format!("touchstone-{process}-{turn}"));
        match DirBuilder::new().mode(0o700).create(&dir) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => return made.map(|()| dir),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// Makes an empty file that only this person can read; what was there, even a folder, goes.
pub fn create_private(path: &Path) -> io::Result<fs::File> {
    if path.symlink_metadata().is_ok_and(|meta| !meta.is_file()) {
        discard(path)?;
    }
    let file =
        fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
    fs::set_permissions(path, Permissions::from_mode(0o600))?;
    Ok(file)
}

/// Removes a file or a folder of the cache, whatever rights it has. Nothing there is fine.
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

/// Lets this person into a folder and those in it, so that they can be removed.
fn open_up(dir: &Path, depth: usize) {
    let _ = fs::set_permissions(dir, Permissions::from_mode(0o700));
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        if depth > 0 && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            open_up(&entry.path(), depth - 1);
        }
    }
}

/// Takes everybody else's rights from the files of a build.
fn make_all_private(dir: &Path) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let is_open = |meta: &std::fs::Metadata| meta.is_file() && meta.mode() & 0o077 != 0;
        if entry.metadata().is_ok_and(|meta| is_open(&meta)) {
            let _ = fs::set_permissions(entry.path(), Permissions::from_mode(0o600));
        }
    }
}

/// How many bytes the files of a folder have.
pub(crate) fn weight(path: &Path, depth: usize) -> u64 {
    let Ok(meta) = path.symlink_metadata() else { return 0 };
    if !meta.is_dir() {
        return meta.len();
    }
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    let inside = entries.map(|entry| if depth == 0 { 0 } else { weight(&entry.path(), depth - 1) });
    inside.fold(0, u64::saturating_add)
}

/// Returns the folders of a cache that nobody needs: copies of indexes that were moved aside, and
/// those that no program has open of folders that are gone, or that were made while the first one
/// was taken.
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
