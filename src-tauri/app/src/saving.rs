//! Saves documents outside of the results. Each one takes the place of an existing file only when it
//! is complete.
use crate::error::{AppError, Code};
use fs_err as fs;
use rustix::fs::{AtFlags, CWD, RenameFlags};
use rustix::io::Errno;
use std::fs::Permissions;
use std::io::{self, BufWriter, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Number of files that were created, so that no two have the same name while they are written.
static SAVED: AtomicU64 = AtomicU64::new(0);

/// File that is being written beside the path that it is for. It is removed again if it is dropped
/// before it is complete.
#[derive(Debug)]
pub struct NewFile {
    path: PathBuf,
    beside: PathBuf,
    file: Option<BufWriter<fs::File>>,
}

impl NewFile {
    /// Creates an empty file for a path.
    pub fn create(path: &Path) -> Result<Self, AppError> {
        let name = path
            .file_name()
            .ok_or_else(|| AppError::new(Code::BadRequest, "Enter a file name."))?;
        // A device or a pipe would be replaced by the file.
        let existing = fs::metadata(path).ok();
        if existing.as_ref().is_some_and(|existing| !existing.is_file()) {
            let message = format!("{} is not a regular file.", path.display());
            return Err(AppError::new(Code::BadRequest, message).hint("Choose another name."));
        }
        let number = SAVED.fetch_add(1, Ordering::Relaxed);
        let beside = format!(".{}.{}-{number}.new", name.to_string_lossy(), std::process::id());
        let beside = folder_of(path).join(beside);
        // `create_new` does not follow links, which a folder of other users may hold.
        let file = fs::OpenOptions::new().write(true).create_new(true).open(&beside);
        let file = file.map_err(|why| unsaved(path, &why))?;
        if let Some(existing) = existing {
            // What only its owner may read stays so.
            let _ = fs::set_permissions(&beside, existing.permissions());
        }
        Ok(Self { path: path.to_owned(), beside, file: Some(BufWriter::new(file)) })
    }

    /// Like [`NewFile::create`], for a file that only its owner may read.
    pub fn create_private(path: &Path) -> Result<Self, AppError> {
        let file = Self::create(path)?;
        fs::set_permissions(&file.beside, Permissions::from_mode(0o600))
            .map_err(|why| unsaved(path, &why))?;
        Ok(file)
    }

    /// Returns the path of the file while it is not complete.
    pub(super) fn beside(&self) -> &Path {
        &self.beside
    }

    /// Writes the next part.
    pub fn write(&mut self, content: &[u8]) -> Result<(), AppError> {
        let Some(file) = &mut self.file else { return Ok(()) };
        file.write_all(content).map_err(|why| unsaved(&self.path, &why))
    }

    /// Puts the complete file at its path, in the place of an existing one.
    pub fn keep(mut self) -> Result<(), AppError> {
        self.complete(|beside, path| fs::rename(beside, path))
    }

    /// Puts the complete file at its path. Returns false, and leaves no file of its own, if there
    /// is something at the path.
    pub fn keep_if_free(mut self) -> Result<bool, AppError> {
        self.complete(|beside, path| {
            let is_moved = move_to_free(beside, path, &MOVES)?;
            if !is_moved {
                let _ = fs::remove_file(beside);
            }
            Ok(is_moved)
        })
    }

    /// Ends the file, and moves it to its path with `rename`.
    fn complete<T>(
        &mut self,
        rename: impl FnOnce(&Path, &Path) -> io::Result<T>,
    ) -> Result<T, AppError> {
        let ended = self.file.take().map_or(Ok(()), |file| {
            file.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()
        });
        ended.and_then(|()| rename(&self.beside, &self.path)).map_err(|why| {
            let _ = fs::remove_file(&self.beside);
            unsaved(&self.path, &why)
        })
    }
}

/// Moves a file to a path where nothing is, or fails.
type MoveFile = fn(&Path, &Path) -> io::Result<()>;

/// Ways to do so, each for file systems that lack those before. All fail if the name is taken, a
/// broken link included.
const MOVES: [MoveFile; 3] = [rename_new, link_new, copy_new];

/// Moves a file to a path. Returns false if there is something at the path.
fn move_to_free(from: &Path, to: &Path, moves: &[MoveFile]) -> io::Result<bool> {
    let mut lacks = io::Error::from(Errno::NOTSUP);
    for way in moves {
        match way(from, to) {
            Ok(()) => return Ok(true),
            Err(why) if why.kind() == io::ErrorKind::AlreadyExists => return Ok(false),
            Err(why) if is_unsupported(&why) => lacks = why,
            Err(why) => return Err(why),
        }
    }
    Err(lacks)
}

/// Returns true for what file systems answer that do not know a way: macOS says `ENOTSUP`, and links
/// on exFAT or a network drive are not permitted.
fn is_unsupported(why: &io::Error) -> bool {
    let unsupported = [Errno::INVAL, Errno::NOSYS, Errno::NOTSUP, Errno::OPNOTSUPP, Errno::PERM];
    Errno::from_io_error(why).is_some_and(|why| unsupported.contains(&why))
}

fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    Ok(rustix::fs::renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE)?)
}

fn link_new(from: &Path, to: &Path) -> io::Result<()> {
    rustix::fs::linkat(CWD, from, CWD, to, AtFlags::empty())?;
    Ok(rustix::fs::unlinkat(CWD, from, AtFlags::empty())?)
}

fn copy_new(from: &Path, to: &Path) -> io::Result<()> {
    let mut old = fs::File::open(from)?;
    let mut new = fs::OpenOptions::new().write(true).create_new(true).open(to)?;
    let copied = io::copy(&mut old, &mut new)
        .and_then(|_| fs::set_permissions(to, old.metadata()?.permissions()))
        .and_then(|()| new.sync_all());
    fs::remove_file(if copied.is_ok() { from } else { to })?;
    copied
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if self.file.is_some() {
            let _ = fs::remove_file(&self.beside);
        }
    }
}

/// Writes a file atomically, replacing an existing one.
pub fn keep_file(content: impl AsRef<[u8]>, path: &Path) -> Result<(), AppError> {
    let mut file = NewFile::create(path)?;
    file.write(content.as_ref())?;
    file.keep()
}

/// Returns the folder of a file, which is the current one for a name alone.
pub(crate) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn unsaved(path: &Path, why: &io::Error) -> AppError {
    AppError::new(Code::Failed, format!("{} could not be saved: {why}.", path.display()))
        .hint("Choose a folder that can be written to.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_keeps_who_may_read_it_and_a_device_is_never_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        keep_file("new", &path).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        for odd in [Path::new("/dev/null"), folder.path()] {
            assert!(keep_file("new", odd).is_err(), "{}", odd.display());
        }
        let names = fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(names, 1, "nothing is left beside the file");
    }

    #[test]
    fn a_path_is_free_unless_a_file_a_folder_or_a_broken_link_has_it() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("file"), "old").unwrap();
        fs::create_dir(at("folder")).unwrap();
        std::os::unix::fs::symlink("nowhere", at("link")).unwrap();
        for (name, is_free) in [("file", false), ("folder", false), ("link", false), ("new", true)]
        {
            let kept = NewFile::create(&at(name)).and_then(|mut file| {
                file.write(b"new")?;
                file.keep_if_free()
            });
            assert_eq!(kept.unwrap_or(false), is_free, "{name}");
        }
        assert_eq!(fs::read_to_string(at("file")).unwrap(), "old");
        assert_eq!(fs::read_to_string(at("new")).unwrap(), "new");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 4, "nothing is left beside them");
    }

    #[test]
    fn a_file_is_moved_to_a_free_path_whatever_the_file_system_lacks() {
        let lacks: MoveFile = |_, _| Err(Errno::PERM.into());
        let unknown: MoveFile = |_, _| Err(Errno::NOTSUP.into());
        let moves: [&[MoveFile]; 4] =
            [&MOVES, &[unknown, link_new], &[unknown, lacks, copy_new], &[copy_new]];
        for moves in moves {
            let folder = tempfile::tempdir().unwrap();
            let at = |name: &str| folder.path().join(name);
            fs::write(at("from"), "new").unwrap();
            fs::write(at("file"), "old").unwrap();
            fs::create_dir(at("folder")).unwrap();
            std::os::unix::fs::symlink("nowhere", at("link")).unwrap();
            for taken in ["file", "folder", "link"] {
                assert!(!move_to_free(&at("from"), &at(taken), moves).unwrap(), "{taken}");
            }
            assert!(move_to_free(&at("from"), &at("new"), moves).unwrap());
            assert_eq!(fs::read_to_string(at("file")).unwrap(), "old");
            assert_eq!(fs::read_to_string(at("new")).unwrap(), "new");
            assert!(!at("from").exists() && !at("nowhere").exists());
        }
        let folder = tempfile::tempdir().unwrap();
        let [from, to] = ["from", "to"].map(|name| folder.path().join(name));
        fs::write(&from, "new").unwrap();
        assert!(move_to_free(&from, &to, &[lacks, unknown]).is_err());
        let full: MoveFile = |_, _| Err(Errno::NOSPC.into());
        assert!(move_to_free(&from, &to, &[full, copy_new]).is_err(), "another error is told");
    }

    #[test]
    fn a_file_that_appears_while_another_is_written_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        let mut file = NewFile::create(&path).unwrap();
        file.write(b"new").unwrap();
        fs::write(&path, "old").unwrap();
        assert!(!file.keep_if_free().unwrap());
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
