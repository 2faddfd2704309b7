//! Replaces files atomically: readers see the old content or the new, never a part, even after a
//! crash. Also moves results aside; nothing here deletes one.
use super::disk::{DiskError, Folder, PRIVATE, PUBLIC, SIDECARS, split, write_all};
use super::fault;
use rustix::fs::{Mode, OFlags, Stat};
use rustix::io::{Errno, retry_on_intr};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use touchstone_clock as clock;
use xxhash_rust::xxh3::xxh3_64;

/// Mode of new transcripts, limited by the umask.
const FRESH: Mode = Mode::from_raw_mode(0o666);
/// Maximum bytes of a file name on common file systems.
const LONGEST_NAME: usize = 255;
/// Number of names to try before giving up.
const TRIES: u32 = 1_000;

/// Replaces a transcript below the output directory and creates missing folders. The new content is
/// durable on return. On failure the old content is still there.
pub fn replace(output_dir: &Path, path: &str, bytes: &[u8]) -> Result<(), DiskError> {
    fault::point!("publish.before");
    let (folders, name) = split(path)?;
    let folder = Folder::make(output_dir, &folders, PUBLIC)?;
    put(&folder, name, bytes, FRESH)?;
    fault::point!("publish.after");
    Ok(())
}

/// A state of a file: length, modification time (seconds, nanoseconds), inode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp(i64, i64, i64, u64);

impl From<&Stat> for Stamp {
    fn from(stat: &Stat) -> Self {
        #[expect(clippy::cast_possible_wrap, reason = "the kernel has no such times")]
        Self(stat.st_size, stat.st_mtime, stat.st_mtime_nsec as i64, stat.st_ino)
    }
}

/// Returns the state of a file below the output directory; `None` if there is no such file.
pub(super) fn stamp_of(output_dir: &Path, path: &str) -> Result<Option<Stamp>, DiskError> {
    let (folders, name) = split(path)?;
    let Some(folder) = Folder::find(output_dir, &folders)? else { return Ok(None) };
    Ok(folder.plain_file(name)?.as_ref().map(Stamp::from))
}

/// Like [`replace`], but keeps what somebody else wrote: a file in another state than `last` is
/// moved to `.touchstone/replaced/`. Returns the new state of the file and the path of the version
/// that was moved. The names are exchanged before the old version is examined, so no edit falls
/// between the two.
pub(super) fn replace_own(
    output_dir: &Path,
    path: &str,
    bytes: &[u8],
    last: Option<Stamp>,
) -> Result<(Stamp, Option<PathBuf>), DiskError> {
    fault::point!("publish.before");
    let (folders, name) = split(path)?;
    let folder = Folder::make(output_dir, &folders, PUBLIC)?;
    let is_own = |stat: &Stat| last == Some(Stamp::from(stat));
    // An edit that is there already is moved first, because a crash right after the exchange would
    // leave it under the name of a temporary file.
    let old = folder.plain_file(name)?;
    let mut kept = match old.filter(|stat| !is_own(stat)) {
        Some(_) => aside(output_dir, &folder, &folders, name)?,
        None => None,
    };
    let mode = old.map(|stat| Mode::from_raw_mode(stat.st_mode & 0o777));
    let (temp, fd) = temporary(&folder, name, mode.unwrap_or(FRESH))?;
    let exchanged = fill(&fd, bytes, mode).and_then(|()| {
        let stamp = Stamp::from(&rustix::fs::fstat(&fd)?);
        fault::point!("publish.before_rename");
        #[cfg(test)]
        tests::before_exchange(name);
        match folder.exchange(&temp, name) {
            // A file system that cannot exchange names, as some network file systems.
            Err(Errno::INVAL | Errno::NOSYS) => folder.rename(&temp, name).map(|()| (stamp, false)),
            done => done.map(|has_old| (stamp, has_old)),
        }
    });
    let (stamp, has_old) = exchanged.map_err(|error| {
        // The first error matters; a temporary file that could not be removed is swept later.
        let _ = folder.remove(&temp);
        folder.error(name, error)
    })?;
    if has_old {
        match folder.plain_file(&temp) {
            Ok(Some(stat)) if !is_own(&stat) => {
                kept = aside_as(output_dir, &folder, &folders, &temp, name)?;
            }
            Ok(_) => drop(folder.remove(&temp)),
            Err(in_the_way) => {
                let _ = folder.exchange(&temp, name).and_then(|_| folder.remove(&temp));
                return Err(in_the_way);
            }
        }
    }
    fault::point!("publish.before_dir_sync");
    folder.sync()?;
    fault::point!("publish.after");
    Ok((stamp, kept))
}

/// Like [`replace`], but never overwrites: returns false if the file exists.
pub fn add(output_dir: &Path, path: &str, bytes: &[u8]) -> Result<bool, DiskError> {
    fault::point!("publish.before");
    let (folders, name) = split(path)?;
    let folder = Folder::make(output_dir, &folders, PUBLIC)?;
    put_new(&folder, name, bytes, FRESH)
}

/// Like [`add`], in an open folder.
pub(super) fn put_new(
    folder: &Folder,
    name: &str,
    bytes: &[u8],
    fresh: Mode,
) -> Result<bool, DiskError> {
    let (temp, fd) = temporary(folder, name, fresh)?;
    let moved = fill(&fd, bytes, None).and_then(|()| folder.move_to(&temp, folder, name));
    if !matches!(moved, Ok(true)) {
        // A temporary file that could not be removed is swept later.
        let _ = folder.remove(&temp);
        return moved.map_err(|error| folder.error(name, error));
    }
    folder.sync()?;
    fault::point!("publish.after");
    Ok(true)
}

/// Like [`replace`], in an open folder. An existing file keeps its mode; a new one gets `fresh`.
pub(super) fn put(folder: &Folder, name: &str, bytes: &[u8], fresh: Mode) -> Result<(), DiskError> {
    let kept = folder.plain_file(name)?.map(|stat| Mode::from_raw_mode(stat.st_mode & 0o777));
    let (temp, fd) = temporary(folder, name, kept.unwrap_or(fresh))?;
    let filled = fill(&fd, bytes, kept).and_then(|()| {
        fault::point!("publish.before_rename");
        folder.rename(&temp, name)
    });
    if let Err(error) = filled {
        // The first error matters; a temporary file that could not be removed is swept later.
        let _ = folder.remove(&temp);
        return Err(folder.error(name, error));
    }
    fault::point!("publish.before_dir_sync");
    folder.sync()
}

fn fill(fd: &OwnedFd, bytes: &[u8], mode: Option<Mode>) -> Result<(), Errno> {
    fault::point!("publish.after_create");
    if let Some(mode) = mode {
        rustix::fs::fchmod(fd, mode)?;
    }
    let (first, second) = bytes.split_at(bytes.len() / 2);
    write_all(fd, first)?;
    fault::point!("publish.mid_write");
    write_all(fd, second)?;
    fault::point!("publish.before_sync");
    retry_on_intr(|| rustix::fs::fsync(fd))
}

/// Creates a temporary file beside the one it will replace. Its name cannot be mistaken for a
/// result.
fn temporary(folder: &Folder, name: &str, mode: Mode) -> Result<(String, OwnedFd), DiskError> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
    for _ in 0..TRIES {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let temp = format!("{}{}-{number}.tmp", temporaries_of(name), std::process::id());
        match folder.open(&temp, flags, mode) {
            Ok(fd) => return Ok((temp, fd)),
            Err(Errno::EXIST) => {}
            Err(error) => return Err(folder.error(name, error)),
        }
    }
    Err(folder.error(name, Errno::EXIST))
}

/// Prefix of the temporary files of a file. It holds a hash of the file's name, not the name
/// itself, which may already have the maximum length.
fn temporaries_of(name: &str) -> String {
    format!(".touchstone-{:016x}-", xxh3_64(name.as_bytes()))
}

/// Removes temporary files that a dead process left beside the transcript and the journal of a run.
/// The caller must hold the lock of the run.
pub(super) fn sweep(output_dir: &Path, path: &str) -> Result<(), DiskError> {
    let (folders, name) = split(path)?;
    sweep_in(output_dir, &folders, name)?;
    let journal = journal_of(path);
    let (folders, name) = split(&journal)?;
    sweep_in(output_dir, &[&[SIDECARS, "journal"], folders.as_slice()].concat(), name)
}

fn sweep_in(output_dir: &Path, folders: &[&str], name: &str) -> Result<(), DiskError> {
    Folder::find(output_dir, folders)?.map_or(Ok(()), |folder| clear(&folder, name))
}

/// Removes temporary files that a dead process left beside a file. The caller must hold the lock.
pub(super) fn clear(folder: &Folder, name: &str) -> Result<(), DiskError> {
    for temp in folder.names(&temporaries_of(name)) {
        match folder.remove(&temp) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(error) => return Err(folder.error(&temp, error)),
        }
    }
    Ok(())
}

/// Moves the journal and the transcript of a run aside, in order to start it from scratch. The
/// journal goes first: in the other order, a crash in between would leave old replies for the new
/// run. Returns the new path of the transcript.
pub fn start_over(output_dir: &Path, path: &str) -> Result<Option<PathBuf>, DiskError> {
    journal_aside(output_dir, path)?;
    fault::point!("publish.half_aside");
    move_aside(output_dir, path)
}

/// Moves a journal to `.touchstone/replaced/` under a free name. It is not read, and may have any
/// length.
pub(super) fn journal_aside(output_dir: &Path, path: &str) -> Result<(), DiskError> {
    let journal = journal_of(path);
    let (folders, name) = split(&journal)?;
    let from = [&[SIDECARS, "journal"], folders.as_slice()].concat();
    if let Some(folder) = Folder::find(output_dir, &from)? {
        aside(output_dir, &folder, &folders, name)?;
    }
    Ok(())
}

/// Moves a transcript to `.touchstone/replaced/` under a free name. Returns its new path, or `None`
/// if there was no transcript.
pub fn move_aside(output_dir: &Path, path: &str) -> Result<Option<PathBuf>, DiskError> {
    let (folders, name) = split(path)?;
    match Folder::find(output_dir, &folders)? {
        Some(folder) => aside(output_dir, &folder, &folders, name),
        None => Ok(None),
    }
}

/// Keeps a copy of a file that is about to be replaced, in `.touchstone/replaced/` under a free
/// name.
pub(super) fn keep(
    output_dir: &Path,
    folders: &[&str],
    name: &str,
    bytes: &[u8],
) -> Result<(), DiskError> {
    let replaced = Folder::make(output_dir, &[&[SIDECARS, "replaced"], folders].concat(), PRIVATE)?;
    for to in spare_names(name) {
        let fd = match replaced.open(&to, OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL, FRESH) {
            Err(Errno::EXIST) => continue,
            opened => opened.map_err(|error| replaced.error(&to, error))?,
        };
        if let Err(error) = fill(&fd, bytes, None) {
            // The original is still in place; a partial copy is useless.
            let _ = replaced.remove(&to);
            return Err(replaced.error(&to, error));
        }
        return replaced.sync();
    }
    Err(replaced.error(name, Errno::EXIST))
}

/// Moves a file from an open folder to `.touchstone/replaced/` and the given subfolders. Returns
/// its new path, or `None` if there was no such file.
pub(super) fn aside(
    output_dir: &Path,
    folder: &Folder,
    folders: &[&str],
    name: &str,
) -> Result<Option<PathBuf>, DiskError> {
    aside_as(output_dir, folder, folders, name, name)
}

/// Like [`aside`], for a version that has a temporary name now.
fn aside_as(
    output_dir: &Path,
    folder: &Folder,
    folders: &[&str],
    from: &str,
    name: &str,
) -> Result<Option<PathBuf>, DiskError> {
    if folder.plain_file(from)?.is_none() {
        return Ok(None);
    }
    let to = [&[SIDECARS, "replaced"], folders].concat();
    let replaced = Folder::make(output_dir, &to, PRIVATE)?;
    for to in spare_names(name) {
        if folder.move_to(from, &replaced, &to).map_err(|error| folder.error(name, error))? {
            replaced.sync()?;
            folder.sync()?;
            return Ok(Some(replaced.path.join(to)));
        }
    }
    Err(folder.error(name, Errno::EXIST))
}

/// Yields names for a file that is moved aside, to be tried until one is free.
fn spare_names(name: &str) -> impl Iterator<Item = String> {
    let (stem, end) = name.rsplit_once('.').unwrap_or((name, "yaml"));
    let stamp = stamp();
    (1..TRIES).map(move |turn| {
        let turn = if turn == 1 { String::new() } else { format!("-{turn}") };
        let tail = format!("-{stamp}{turn}.{end}");
        // The stem is shortened, because the whole name must not exceed the maximum length.
        format!(
            "{}{tail}",
            &stem[..stem.floor_char_boundary(LONGEST_NAME.saturating_sub(tail.len()))]
        )
    })
}

/// Current time in UTC, in the form `20250221T001207Z`.
fn stamp() -> String {
    clock::now().strftime("%Y%m%dT%H%M%SZ").to_string()
}

/// Path of the journal of a run, below `.touchstone/journal/`.
pub(super) fn journal_of(path: &str) -> String {
    format!("{}.jsonl", path.strip_suffix(".yaml").unwrap_or(path))
}

#[cfg(test)]
pub(super) mod tests;
