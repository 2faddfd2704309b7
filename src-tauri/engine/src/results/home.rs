//! Where the index of an output directory lives: a folder in the cache, claimed by one process at a time with a lock of the
//! system, with one numbered build inside. Owns the claim and the builds' names, not what is in them.
use fs_err as fs;
use std::fs::{DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::xxh3_64;

/// How many processes may have the same folder open, each with an index of its own.
const CLAIMS: u32 = 16;

/// A claimed folder in the cache. Given back when it is dropped, or by the system when the process dies.
pub(crate) struct Home {
    dir: PathBuf,
    lock: fs::File,
}

impl Home {
    /// Claims the folder for this output directory; when another process holds it, one beside it.
    pub(crate) fn claim(cache_dir: &Path, output_dir: &Path) -> io::Result<Self> {
        use std::os::unix::ffi::OsStrExt as _;
        let key = xxh3_64(output_dir.as_os_str().as_bytes());
        for turn in 0..CLAIMS {
            let dir = match turn {
                0 => cache_dir.join(format!("{key:016x}")),
                n => cache_dir.join(format!("{key:016x}-{n}")),
            };
            make_private(&dir)?;
            // Whoever may read the folder of the runs may not be whoever may read the folder of the index.
            fs::set_permissions(&dir, Permissions::from_mode(0o700))?;
            let lock = fs::OpenOptions::new().create(true).truncate(false).write(true).open(dir.join("lock"))?;
            match lock.try_lock() {
                Ok(()) => {
                    fs::write(dir.join("folder.txt"), format!("{}\n", output_dir.display()))?;
                    return Ok(Self { dir, lock });
                }
                Err(std::fs::TryLockError::WouldBlock) => {}
                Err(std::fs::TryLockError::Error(error)) => return Err(error),
            }
        }
        Err(io::Error::new(io::ErrorKind::ResourceBusy, format!("{CLAIMS} other processes have this folder open")))
    }

    /// The newest build, when there is one.
    pub(crate) fn newest(&self) -> Option<PathBuf> {
        self.builds().into_iter().max().map(|n| self.build(n))
    }

    /// A new empty build. The one before is moved aside and kept until the next time.
    pub(crate) fn renew(&self) -> io::Result<PathBuf> {
        let builds = self.builds();
        let next = builds.iter().max().map_or(1, |n| n + 1);
        let aside = self.dir.join("aside");
        for old in builds {
            remove_dir(&aside)?;
            fs::rename(self.build(old), &aside)?;
        }
        let dir = self.build(next);
        // The cache may have been deleted under our hands; then the folder itself is made again.
        make_private(&dir)?;
        Ok(dir)
    }

    fn build(&self, number: u64) -> PathBuf {
        self.dir.join(format!("build-{number}"))
    }

    fn builds(&self) -> Vec<u64> {
        let entries = fs::read_dir(&self.dir).into_iter().flatten().flatten();
        entries.filter_map(|e| e.file_name().to_str()?.strip_prefix("build-")?.parse().ok()).collect()
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        if let Err(error) = self.lock.unlock() {
            tracing::debug!(%error, "the lock of the index could not be given back; the system does it");
        }
    }
}

/// Makes a folder into which only this person can look, with all above it that is missing. What is there stays as it is.
pub(crate) fn make_private(dir: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(dir)
}

/// A folder among the system's temporary files that is new, so that nobody else on this machine can have laid it out for us.
pub(crate) fn make_temporary() -> io::Result<PathBuf> {
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

fn remove_dir(dir: &Path) -> io::Result<()> {
    match fs::remove_dir_all(dir) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
