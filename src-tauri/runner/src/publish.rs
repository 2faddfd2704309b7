//! Puts a whole file in the place of another: whoever looks sees the old one or the new one, never
//! a part, whatever happens in between. Also moves results aside; nothing here destroys one.
use super::disk::{DiskError, Folder, PRIVATE, PUBLIC, SIDECARS, split, write_all};
use super::fault;
use rustix::fs::{Mode, OFlags};
use rustix::io::{Errno, retry_on_intr};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use touchstone_clock as clock;
use xxhash_rust::xxh3::xxh3_64;

/// How a transcript is made that was not there before, as far as the umask lets it.
const FRESH: Mode = Mode::from_raw_mode(0o666);
/// Bytes of the longest name that file systems take.
const LONGEST_NAME: usize = 255;
/// Names that are tried before giving up.
const TRIES: u32 = 1_000;

/// Puts a transcript in its place below the output directory. Folders above it are made. When this
/// returns, it is durable; when it fails, what was there before is still there.
pub fn replace(output_dir: &Path, path: &str, bytes: &[u8]) -> Result<(), DiskError> {
    fault::point!("publish.before");
    let (folders, name) = split(path)?;
    let folder = Folder::make(output_dir, &folders, PUBLIC)?;
    put(&folder, name, bytes, FRESH)?;
    fault::point!("publish.after");
    Ok(())
}

/// The same where nothing may be yet; false when something is, which stays.
pub fn add(output_dir: &Path, path: &str, bytes: &[u8]) -> Result<bool, DiskError> {
    fault::point!("publish.before");
    let (folders, name) = split(path)?;
    let folder = Folder::make(output_dir, &folders, PUBLIC)?;
    let (temp, fd) = temporary(&folder, name, FRESH)?;
    let moved = fill(&fd, bytes, None).and_then(|()| folder.move_to(&temp, &folder, name));
    if !matches!(moved, Ok(true)) {
        // A temporary file that stays is swept later.
        let _ = folder.remove(&temp);
        return moved.map_err(|error| folder.error(name, error));
    }
    folder.sync()?;
    fault::point!("publish.after");
    Ok(true)
}

/// The same in an open folder. A file that is there keeps its mode.
pub(super) fn put(folder: &Folder, name: &str, bytes: &[u8], fresh: Mode) -> Result<(), DiskError> {
    let kept = folder.plain_file(name)?.map(|stat| Mode::from_raw_mode(stat.st_mode & 0o777));
    let (temp, fd) = temporary(folder, name, kept.unwrap_or(fresh))?;
    let filled = fill(&fd, bytes, kept).and_then(|()| {
        fault::point!("publish.before_rename");
        folder.rename(&temp, name)
    });
    if let Err(error) = filled {
        // The error that matters is the one before; a temporary file that stays is swept later.
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

/// A new file beside the one it will replace, by a name that nobody takes for a result.
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

/// How the names of the temporary files of a file begin. The file's own name may be as long as
/// names can be, so it is not in it.
fn temporaries_of(name: &str) -> String {
    format!(".touchstone-{:016x}-", xxh3_64(name.as_bytes()))
}

/// Removes what a process that died left beside the transcript and the journal of a run. Only for
/// whoever holds its lock: nobody else is at it then.
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

/// Removes what a process that died left beside a file. Only for whoever holds the lock.
pub(super) fn clear(folder: &Folder, name: &str) -> Result<(), DiskError> {
    for temp in folder.names(&temporaries_of(name)) {
        match folder.remove(&temp) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(error) => return Err(folder.error(&temp, error)),
        }
    }
    Ok(())
}

/// Moves the journal and the transcript of a run aside, so that it begins from nothing. The journal
/// goes first: were it the other way round, a crash in between would leave replies that the new
/// beginning would be made of. Returns where the transcript is now.
pub fn start_over(output_dir: &Path, path: &str) -> Result<Option<PathBuf>, DiskError> {
    journal_aside(output_dir, path)?;
    fault::point!("publish.half_aside");
    move_aside(output_dir, path)
}

/// Moves a journal to `.touchstone/replaced/`, under a name that is not taken; it is not read, and
/// may be as long as it likes.
pub(super) fn journal_aside(output_dir: &Path, path: &str) -> Result<(), DiskError> {
    let journal = journal_of(path);
    let (folders, name) = split(&journal)?;
    let from = [&[SIDECARS, "journal"], folders.as_slice()].concat();
    if let Some(folder) = Folder::find(output_dir, &from)? {
        aside(output_dir, &folder, &folders, name)?;
    }
    Ok(())
}

/// Moves a transcript to `.touchstone/replaced/`, under a name that is not taken. Returns where it
/// is; none when there was none.
pub fn move_aside(output_dir: &Path, path: &str) -> Result<Option<PathBuf>, DiskError> {
    let (folders, name) = split(path)?;
    match Folder::find(output_dir, &folders)? {
        Some(folder) => aside(output_dir, &folder, &folders, name),
        None => Ok(None),
    }
}

/// Keeps a copy in `.touchstone/replaced/` of a file that is about to be replaced, under a name
/// that is not taken.
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
            // The file itself is still in its place; half a copy helps nobody.
            let _ = replaced.remove(&to);
            return Err(replaced.error(&to, error));
        }
        return replaced.sync();
    }
    Err(replaced.error(name, Errno::EXIST))
}

/// Moves a file from an open folder to `.touchstone/replaced/` and these folders. Returns where it
/// is; none when there was none.
pub(super) fn aside(
    output_dir: &Path,
    folder: &Folder,
    folders: &[&str],
    name: &str,
) -> Result<Option<PathBuf>, DiskError> {
    if folder.plain_file(name)?.is_none() {
        return Ok(None);
    }
    let to = [&[SIDECARS, "replaced"], folders].concat();
    let replaced = Folder::make(output_dir, &to, PRIVATE)?;
    for to in spare_names(name) {
        if folder.move_to(name, &replaced, &to).map_err(|error| folder.error(name, error))? {
            replaced.sync()?;
            folder.sync()?;
            return Ok(Some(replaced.path.join(to)));
        }
    }
    Err(folder.error(name, Errno::EXIST))
}

/// Names for a file that is moved aside now, to be tried until one is free.
fn spare_names(name: &str) -> impl Iterator<Item = String> {
    let (stem, end) = name.rsplit_once('.').unwrap_or((name, "yaml"));
    let stamp = stamp();
    (1..TRIES).map(move |turn| {
        let turn = if turn == 1 { String::new() } else { format!("-{turn}") };
        let tail = format!("-{stamp}{turn}.{end}");
        // A name may be as long as names can be, and what comes behind it has to fit all the same.
        format!(
            "{}{tail}",
            &stem[..stem.floor_char_boundary(LONGEST_NAME.saturating_sub(tail.len()))]
        )
    })
}

/// `20250221T001207Z`.
fn stamp() -> String {
    clock::now().strftime("%Y%m%dT%H%M%SZ").to_string()
}

/// The journal of a run, below `.touchstone/journal/`.
pub(super) fn journal_of(path: &str) -> String {
    format!("{}.jsonl", path.strip_suffix(".yaml").unwrap_or(path))
}

#[cfg(test)]
pub(super) mod tests;
