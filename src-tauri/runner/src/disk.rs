//! File access inside an output directory: walks folder by folder, never follows a link, and
//! returns errors that name the next step for the user. Owns neither names nor formats of the
//! files.
use rustix::fs::{AtFlags, Dir, FileType, FlockOperation, Mode, OFlags, RenameFlags, Stat};
use rustix::io::{Errno, retry_on_intr};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

/// Name of the program's own folder in an output directory.
pub(super) const SIDECARS: &str = ".touchstone";
/// Mode of result folders: readable by everyone the user's umask allows.
pub(super) const PUBLIC: Mode = Mode::from_raw_mode(0o777);
/// Mode of the program's own folders: this user only.
pub(super) const PRIVATE: Mode = Mode::from_raw_mode(0o700);

const INTO: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
const PLAIN: OFlags =
    OFlags::NOFOLLOW.union(OFlags::NONBLOCK).union(OFlags::CLOEXEC).union(OFlags::NOCTTY);

/// Error from writing or reading in an output directory.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {why}")]
pub struct DiskError {
    /// Kind of the error; decides the consequence.
    pub kind: DiskErrorKind,
    /// File or folder that caused it.
    pub path: String,
    /// Reason, with the next step for the user.
    pub why: String,
}

/// Kind of a [`DiskError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiskErrorKind {
    /// No space left, or over quota. Nothing new is bought; data in memory is written again once
    /// there is space.
    Full,
    /// The disk reports I/O errors; the most recent writes may be lost.
    Failing,
    /// Writing is not permitted.
    NotPermitted,
    /// A link, a folder or another special file is where a plain file or folder has to be.
    InTheWay,
    /// The path is not a valid path of a run.
    BadPath,
    /// Another machine replaced or removed the file while it was open.
    Replaced,
    /// Any other error.
    Other,
}

impl DiskError {
    pub(super) fn from_errno(path: &Path, error: Errno) -> Self {
        use DiskErrorKind::{BadPath, Failing, Full, InTheWay, NotPermitted, Other, Replaced};
        let (kind, why) = match error {
            Errno::NOSPC | Errno::DQUOT => {
                (Full, "the disk is full. Free some space, then continue.".to_owned())
            }
            Errno::IO => {
                (Failing, "the disk reports an error. Check it before you continue.".to_owned())
            }
            Errno::ACCESS | Errno::PERM | Errno::ROFS => (
                NotPermitted,
                "writing here is not permitted. Make the folder writable or choose another."
                    .to_owned(),
            ),
            Errno::LOOP | Errno::NOTDIR | Errno::ISDIR => (InTheWay, IN_THE_WAY.to_owned()),
            Errno::STALE => {
                (Replaced, "another machine replaced it meanwhile. Run it again.".to_owned())
            }
            Errno::NAMETOOLONG => (BadPath, TOO_LONG.to_owned()),
            other => (Other, format!("{}.", std::io::Error::from(other))),
        };
        Self { kind, path: path.display().to_string(), why }
    }

    pub(super) fn in_the_way(path: &Path) -> Self {
        Self {
            kind: DiskErrorKind::InTheWay,
            path: path.display().to_string(),
            why: IN_THE_WAY.to_owned(),
        }
    }

    /// Returns true if the disk is full or over quota.
    pub fn is_full(&self) -> bool {
        self.kind == DiskErrorKind::Full
    }
}

const TOO_LONG: &str = "the name is too long for this file system. Shorten the file name of the task or the name of the model.";
const IN_THE_WAY: &str =
    "a link or special file is in the way. Links are not followed; move it away.";

/// Reads a file below an output directory. Returns `None` if it does not exist; fails if it is
/// longer than the limit.
pub fn read(output_dir: &Path, path: &str, limit: u64) -> Result<Option<Vec<u8>>, DiskError> {
    let (folders, name) = split(path)?;
    let read = || match Folder::find(output_dir, &folders)? {
        Some(folder) => folder.read(name, limit),
        None => Ok(None),
    };
    match read() {
        // Another machine replaced the file while it was read. The new one is as good.
        Err(error) if error.kind == DiskErrorKind::Replaced => read(),
        other => other,
    }
}

/// Splits the path of a run into its folders and its file name. Fails if it is not a plain path
/// below the output directory.
pub(super) fn split(path: &str) -> Result<(Vec<&str>, &str), DiskError> {
    let plain = |part: &&str| !matches!(*part, "" | "." | ".." | SIDECARS) && !part.contains('\0');
    let mut parts: Vec<&str> = path.split('/').collect();
    match parts.iter().all(plain).then(|| parts.pop()).flatten() {
        Some(name) => Ok((parts, name)),
        None => Err(DiskError {
            kind: DiskErrorKind::BadPath,
            path: path.to_owned(),
            why: "this is not a valid path below the output directory. Rename the task.".to_owned(),
        }),
    }
}

/// Creates an output directory if it does not exist. Call this only for a directory that is known
/// never to have existed.
pub fn make_root(output_dir: &Path) -> Result<(), DiskError> {
    if output_dir.is_dir() {
        return Ok(());
    }
    std::fs::DirBuilder::new().recursive(true).create(output_dir).map_err(|error| {
        DiskError::from_errno(output_dir, Errno::from_io_error(&error).unwrap_or(Errno::IO))
    })
}

/// Open folder.
pub(super) struct Folder {
    fd: OwnedFd,
    pub(super) path: PathBuf,
}

impl Folder {
    /// Opens a folder below an output directory and creates missing folders on the way. The output
    /// directory itself is not created: if it was renamed or unmounted, a new one in its place
    /// would hide everything in it.
    pub(super) fn make(output_dir: &Path, parts: &[&str], mode: Mode) -> Result<Self, DiskError> {
        let mut folder = Self::root(output_dir).map_err(|error| match error.why.as_str() {
            GONE => DiskError { why: NOT_FOUND.to_owned(), ..error },
            _ => error,
        })?;
        for part in parts {
            folder = folder.enter(part, Some(mode))?;
        }
        Ok(folder)
    }

    /// Like `make`, and also creates the directory itself.
    pub(super) fn make_whole(dir: &Path, parts: &[&str], mode: Mode) -> Result<Self, DiskError> {
        make_root(dir)?;
        Self::make(dir, parts, mode)
    }

    /// Like `make`, but creates nothing and returns `None` if the folder does not exist.
    pub(super) fn find(output_dir: &Path, parts: &[&str]) -> Result<Option<Self>, DiskError> {
        let step = |folder: Self, part: &&str| folder.enter(part, None);
        match Self::root(output_dir).and_then(|root| parts.iter().try_fold(root, step)) {
            Err(error) if error.why == GONE => Ok(None),
            found => found.map(Some),
        }
    }

    /// Opens a folder inside this one, if it exists.
    pub(super) fn inside(&self, name: &str) -> Result<Option<Self>, DiskError> {
        match self.enter(name, None) {
            Err(error) if error.why == GONE => Ok(None),
            found => found.map(Some),
        }
    }

    fn root(dir: &Path) -> Result<Self, DiskError> {
        let fd = rustix::fs::open(dir, INTO, Mode::empty()).map_err(|error| gone_or(dir, error))?;
        Ok(Self { fd, path: dir.to_owned() })
    }

    fn enter(&self, name: &str, make: Option<Mode>) -> Result<Self, DiskError> {
        let path = self.path.join(name);
        let open = || rustix::fs::openat(&self.fd, name, INTO | OFlags::NOFOLLOW, Mode::empty());
        let fd = match (open(), make) {
            (Err(Errno::NOENT), Some(mode)) => {
                match rustix::fs::mkdirat(&self.fd, name, mode) {
                    Ok(()) => self.sync()?,
                    Err(Errno::EXIST) => {}
                    Err(error) => return Err(DiskError::from_errno(&path, error)),
                }
                open()
            }
            (tried, _) => tried,
        };
        Ok(Self { fd: fd.map_err(|error| gone_or(&path, error))?, path })
    }

    /// Returns the metadata of a plain file, or `None` if there is nothing under that name.
    /// Anything but a plain file is an error.
    pub(super) fn plain_file(&self, name: &str) -> Result<Option<Stat>, DiskError> {
        let stat = || rustix::fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW);
        match retry_if_stale(stat) {
            Ok(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile => {
                Ok(Some(stat))
            }
            Ok(_) => Err(DiskError::in_the_way(&self.path.join(name))),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(self.error(name, error)),
        }
    }

    /// Opens a plain file. Anything else is an error.
    pub(super) fn open(&self, name: &str, flags: OFlags, mode: Mode) -> Result<OwnedFd, Errno> {
        let open = || rustix::fs::openat(&self.fd, name, flags | PLAIN, mode);
        // A new file must not exist, and a failed attempt may have created it.
        let fd = if flags.contains(OFlags::EXCL) { open() } else { retry_if_stale(open) }?;
        let kind = FileType::from_raw_mode(rustix::fs::fstat(&fd)?.st_mode);
        if kind == FileType::RegularFile { Ok(fd) } else { Err(Errno::LOOP) }
    }

    /// Returns the content of a plain file, or `None` if it does not exist. Fails if it is longer
    /// than the limit.
    pub(super) fn read(&self, name: &str, limit: u64) -> Result<Option<Vec<u8>>, DiskError> {
        use std::io::Read as _;
        // Read to its end, or opened again where another machine replaced the file meanwhile.
        let read = retry_if_stale(|| {
            let fd = self.open(name, OFlags::RDONLY, Mode::empty())?;
            let mut bytes = Vec::new();
            let file = fs_err::File::from_parts(fd.into(), self.path.join(name));
            match file.take(limit + 1).read_to_end(&mut bytes) {
                Err(error) if Errno::from_io_error(&error) == Some(Errno::STALE) => {
                    Err(Errno::STALE)
                }
                read => Ok(read.map(|_| bytes)),
            }
        });
        let failed = |why: String| DiskError {
            kind: DiskErrorKind::Other,
            path: self.display_path(name),
            why,
        };
        let bytes = match read {
            Err(Errno::NOENT) => return Ok(None),
            Err(error) => return Err(self.error(name, error)),
            Ok(read) => read.map_err(|error| failed(format!("{error}.")))?,
        };
        if bytes.len() as u64 > limit {
            return Err(failed(format!("it is larger than the limit of {limit} bytes.")));
        }
        Ok(Some(bytes))
    }

    pub(super) fn rename(&self, from: &str, to: &str) -> Result<(), Errno> {
        rustix::fs::renameat(&self.fd, from, &self.fd, to)
    }

    /// Exchanges the names of two files. Returns false, and only renames the first, if there is no
    /// second one. Fails with `INVAL` or `NOSYS` where the file system cannot exchange names.
    pub(super) fn exchange(&self, from: &str, to: &str) -> Result<bool, Errno> {
        loop {
            match rustix::fs::renameat_with(&self.fd, from, &self.fd, to, RenameFlags::EXCHANGE) {
                Err(Errno::NOENT) if self.move_to(from, self, to)? => return Ok(false),
                // Another process created the second one in between.
                Err(Errno::NOENT) => {}
                done => return done.map(|()| true),
            }
        }
    }

    /// Moves a file to a name that is free. Returns false if the name is taken.
    pub(super) fn move_to(&self, from: &str, folder: &Folder, to: &str) -> Result<bool, Errno> {
        match rustix::fs::renameat_with(&self.fd, from, &folder.fd, to, RenameFlags::NOREPLACE) {
            Ok(()) => Ok(true),
            Err(Errno::EXIST) => Ok(false),
            // Some file systems do not support the flag. A hard link also fails if the name is
            // taken.
            Err(Errno::INVAL | Errno::NOSYS) => {
                match rustix::fs::linkat(&self.fd, from, &folder.fd, to, AtFlags::empty()) {
                    Ok(()) => rustix::fs::unlinkat(&self.fd, from, AtFlags::empty()).map(|()| true),
                    Err(Errno::EXIST) => Ok(false),
                    Err(error) => Err(error),
                }
            }
            Err(error) => Err(error),
        }
    }

    pub(super) fn remove(&self, name: &str) -> Result<(), Errno> {
        rustix::fs::unlinkat(&self.fd, name, AtFlags::empty())
    }

    /// Tries to lock the folder itself. Returns false if another process holds the lock. The lock
    /// is released when this folder is closed.
    pub(super) fn try_lock(&self) -> Result<bool, Errno> {
        match rustix::fs::flock(&self.fd, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(true),
            Err(Errno::WOULDBLOCK) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Returns the names of the entries that begin with the given text.
    pub(super) fn names(&self, begin: &str) -> Vec<String> {
        let entries = Dir::read_from(&self.fd).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| Some(entry.file_name().to_str().ok()?.to_owned()));
        names.filter(|name| name.starts_with(begin)).collect()
    }

    /// Returns the names of all entries. Fails if the folder cannot be listed.
    pub(super) fn all_names(&self) -> Result<Vec<String>, DiskError> {
        let failed = |error| DiskError::from_errno(&self.path, error);
        let mut names = Vec::new();
        for entry in Dir::read_from(&self.fd).map_err(failed)? {
            names.extend(entry.map_err(failed)?.file_name().to_str().ok().map(str::to_owned));
        }
        Ok(names)
    }

    /// Makes changes to the folder's entries durable.
    pub(super) fn sync(&self) -> Result<(), DiskError> {
        match retry_on_intr(|| rustix::fs::fsync(&self.fd)) {
            // Some file systems cannot sync a folder, and do not need it.
            Ok(()) | Err(Errno::INVAL | Errno::NOTSUP) => Ok(()),
            Err(error) => Err(DiskError::from_errno(&self.path, error)),
        }
    }

    pub(super) fn error(&self, name: &str, error: Errno) -> DiskError {
        DiskError::from_errno(&self.path.join(name), error)
    }

    fn display_path(&self, name: &str) -> String {
        self.path.join(name).display().to_string()
    }
}

const GONE: &str = "it is not there.";
const NOT_FOUND: &str = "folder not found. Put it back, or open it where it is now.";

/// Number of attempts at what a network file system calls stale.
const STALE_TRIES: usize = 3;

/// Repeats an action on a name whose file was replaced on another machine of a network file system.
fn retry_if_stale<T>(mut act: impl FnMut() -> Result<T, Errno>) -> Result<T, Errno> {
    for _ in 1..STALE_TRIES {
        match act() {
            Err(Errno::STALE) => {}
            done => return done,
        }
    }
    act()
}

fn gone_or(path: &Path, error: Errno) -> DiskError {
    match error {
        Errno::NOENT => DiskError {
            kind: DiskErrorKind::Other,
            path: path.display().to_string(),
            why: GONE.to_owned(),
        },
        other => DiskError::from_errno(path, other),
    }
}

/// Writes all bytes.
pub(super) fn write_all(fd: &OwnedFd, mut bytes: &[u8]) -> Result<(), Errno> {
    while !bytes.is_empty() {
        match retry_on_intr(|| rustix::io::write(fd, bytes))? {
            0 => return Err(Errno::IO),
            written => bytes = bytes.get(written..).unwrap_or_default(),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_stale_is_tried_again_and_in_the_end_an_error() {
        for (stale, done) in [(0, Ok(1)), (2, Ok(3)), (3, Err(Errno::STALE))] {
            let mut tries = 0;
            let done_in = retry_if_stale(|| {
                tries += 1;
                if tries > stale { Ok(tries) } else { Err(Errno::STALE) }
            });
            assert_eq!(done_in, done, "{stale}");
        }
        assert_eq!(retry_if_stale::<()>(|| Err(Errno::NOENT)), Err(Errno::NOENT));
    }

    #[test]
    fn a_full_and_a_failing_disk_are_told_from_one_another() {
        // `/dev/full` is always full, which tests the error path without filling a disk.
        let full = rustix::fs::open("/dev/full", OFlags::WRONLY, Mode::empty()).unwrap();
        let error = DiskError::from_errno(Path::new("a.yaml"), write_all(&full, b"x").unwrap_err());
        assert!(error.is_full());
        insta::assert_snapshot!(error, @"a.yaml: the disk is full. Free some space, then continue.");
        assert_eq!(DiskError::from_errno(Path::new("a"), Errno::IO).kind, DiskErrorKind::Failing);
        assert_eq!(
            DiskError::from_errno(Path::new("a"), Errno::ROFS).kind,
            DiskErrorKind::NotPermitted
        );
        let fine = rustix::fs::open("/dev/null", OFlags::WRONLY, Mode::empty()).unwrap();
        assert_eq!(write_all(&fine, b"x"), Ok(()));
    }

    #[test]
    fn only_plain_paths_below_the_output_directory_are_paths_of_runs() {
        assert_eq!(split("a/b/c.yaml"), Ok((vec!["a", "b"], "c.yaml")));
        for path in
            ["", "/a", "a/", "a//b", "../a", "a/../b", ".", "./a", ".touchstone/journal/a", "a\0b"]
        {
            assert_eq!(
                split(path).map_err(|error| error.kind),
                Err(DiskErrorKind::BadPath),
                "{path}"
            );
        }
    }
}
