//! Opens files of the watched folder: only regular files, never through a link, never outside of
//! the root, and without blocking. All reads of such files go through this module.
use super::roots::{FileId, Roots};
use fs_err as fs;
use rustix::fs::{FileType, Mode, OFlags, ResolveFlags, Stat};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;

/// File metadata used to detect changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct Stamp {
    /// Size in bytes.
    pub size: u64,
    /// Time of the last change, in nanoseconds since 1970.
    pub mtime_ns: i64,
    /// Inode number.
    pub inode: u64,
}

impl Stamp {
    /// Time of the last change, in milliseconds since 1970.
    pub fn modified_ms(&self) -> i64 {
        self.mtime_ns.div_euclid(1_000_000)
    }
}

/// Reason a file was not opened.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    /// The file does not exist any more.
    #[error("the file is not there any more")]
    Gone,
    /// The path is not a regular file.
    #[error("{0}")]
    Odd(&'static str),
    /// The file exceeds the size limit.
    #[error("the file is larger than the limit of {limit} bytes")]
    TooLarge {
        /// Maximum size in bytes.
        limit: u64,
    },
    /// I/O error.
    #[error("the file could not be opened: {0}")]
    Io(std::io::Error),
}

impl Refused {
    /// Returns true if another machine replaced or removed the file while it was open.
    fn is_stale(&self) -> bool {
        let Refused::Io(error) = self else { return false };
        Errno::from_io_error(error) == Some(Errno::STALE)
    }
}

/// Opens a file for reading and returns its stamp.
pub fn open(roots: &Roots, file: &FileId) -> Result<(fs::File, Stamp), Refused> {
    let root = roots.dir(file.root).ok_or(Refused::Gone)?;
    let dir_flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let dir = rustix::fs::open(root, dir_flags, Mode::empty()).map_err(refused)?;
    let fd = open_below(&dir, OsStr::from_bytes(&file.path)).map_err(refused)?;
    let stat = rustix::fs::fstat(&fd).map_err(refused)?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => {}
        FileType::Directory => return Err(Refused::Odd("it is a folder")),
        _ => return Err(Refused::Odd("it is not a regular file")),
    }
    let path = roots.path(file).unwrap_or_default();
    Ok((fs::File::from_parts(fd.into(), path), stamp_of(&stat)))
}

/// Open file whose first bytes have been read.
#[derive(Debug)]
pub(crate) struct StartedFile {
    file: fs::File,
    /// First bytes.
    pub(crate) head: Vec<u8>,
    /// Stamp at opening.
    pub(crate) stamp: Stamp,
}

/// Opens a file and reads up to `most` bytes of its start.
pub(crate) fn start(roots: &Roots, file: &FileId, most: usize) -> Result<StartedFile, Refused> {
    let (mut file, stamp) = open(roots, file)?;
    let expected = usize::try_from(stamp.size).unwrap_or(most).saturating_add(1);
    let mut head = Vec::with_capacity(most.min(expected));
    file.by_ref().take(most as u64).read_to_end(&mut head).map_err(Refused::Io)?;
    Ok(StartedFile { file, head, stamp })
}

impl StartedFile {
    /// Reads the rest. Fails if the file is larger than the limit.
    pub(crate) fn read_all(self, limit: u64) -> Result<(Vec<u8>, Stamp), Refused> {
        let (mut bytes, size) = (self.head, self.stamp.size);
        if size > limit {
            return Err(Refused::TooLarge { limit });
        }
        bytes.reserve_exact(usize::try_from(size).unwrap_or(0).saturating_sub(bytes.len()));
        let rest = limit.saturating_add(1).saturating_sub(bytes.len() as u64);
        self.file.take(rest).read_to_end(&mut bytes).map_err(Refused::Io)?;
        if bytes.len() as u64 > limit {
            return Err(Refused::TooLarge { limit });
        }
        Ok((bytes, self.stamp))
    }
}

/// Reads a complete file. Fails if it is larger than the limit. The stamp is taken at opening.
pub fn read(roots: &Roots, file: &FileId, limit: u64) -> Result<(Vec<u8>, Stamp), Refused> {
    let read = || start(roots, file, 0)?.read_all(limit);
    match read() {
        // What replaced it is there now.
        Err(error) if error.is_stale() => read(),
        other => other,
    }
}

/// Reads up to `most` bytes from the start of a file.
pub fn read_head(roots: &Roots, file: &FileId, most: usize) -> Result<(Vec<u8>, Stamp), Refused> {
    start(roots, file, most).map(|started| (started.head, started.stamp))
}

fn open_below(dir: &OwnedFd, path: &OsStr) -> Result<OwnedFd, Errno> {
    let flags =
        OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    match rustix::fs::openat2(dir, path, flags, Mode::empty(), resolve) {
        // Old kernels and some containers do not support the call.
        Err(Errno::NOSYS | Errno::PERM) => open_by_steps(dir, path, flags),
        other => other,
    }
}

/// Fallback that opens the path folder by folder and refuses links at each step, so that a link
/// created concurrently is not followed.
fn open_by_steps(dir: &OwnedFd, path: &OsStr, flags: OFlags) -> Result<OwnedFd, Errno> {
    let parts = || path.as_bytes().split(|byte| *byte == b'/');
    if parts().any(|part| part == b"..") || path.as_bytes().starts_with(b"/") {
        return Err(Errno::XDEV);
    }
    let into = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut folder: Option<OwnedFd> = None;
    let mut parts = parts().peekable();
    while let Some(part) = parts.next() {
        let flags = if parts.peek().is_some() { into } else { flags };
        let next = rustix::fs::openat(
            folder.as_ref().unwrap_or(dir),
            OsStr::from_bytes(part),
            flags,
            Mode::empty(),
        )?;
        if parts.peek().is_none() {
            return Ok(next);
        }
        folder = Some(next);
    }
    Err(Errno::NOENT)
}

fn refused(error: Errno) -> Refused {
    match error {
        Errno::NOENT | Errno::NOTDIR => Refused::Gone,
        Errno::LOOP | Errno::XDEV => Refused::Odd("it is a link, and links are not followed"),
        Errno::NXIO => Refused::Odd("it is not a regular file"),
        other => Refused::Io(other.into()),
    }
}

fn stamp_of(stat: &Stat) -> Stamp {
    let nanos = i64::try_from(stat.st_mtime_nsec).unwrap_or(0);
    Stamp {
        size: u64::try_from(stat.st_size).unwrap_or(0),
        mtime_ns: stat.st_mtime.saturating_mul(1_000_000_000).saturating_add(nanos),
        inode: stat.st_ino,
    }
}

/// Describes an I/O error, without the path that fs-err adds.
pub fn reason(error: &std::io::Error) -> String {
    use std::io::ErrorKind;
    match error.kind() {
        ErrorKind::NotFound => "it is not there".to_owned(),
        ErrorKind::PermissionDenied => "reading it is not permitted".to_owned(),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_the_system_cannot_do_it_at_once_the_path_is_walked_without_following_a_link() {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir_all(home.path().join("root/d/e")).unwrap();
        fs::write(home.path().join("root/d/e/file"), "x").unwrap();
        fs::write(home.path().join("secret"), "x").unwrap();
        std::os::unix::fs::symlink("d", home.path().join("root/link")).unwrap();
        std::os::unix::fs::symlink("../secret", home.path().join("root/last")).unwrap();
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let root = rustix::fs::open(home.path().join("root"), flags, Mode::empty()).unwrap();
        let tried = |path: &str| {
            let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
            open_by_steps(&root, OsStr::new(path), flags).map(drop)
        };
        assert_eq!(tried("d/e/file"), Ok(()));
        for path in [
            "link/e/file",
            "last",
            "../secret",
            "d/../../secret",
            "/etc/passwd",
            "d/nothing",
            "d/e/file/more",
        ] {
            assert!(tried(path).is_err(), "{path}");
        }
    }
}
