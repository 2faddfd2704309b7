//! Files of segments in `.touchstone/segments/` of the output directory. They are added whole and
//! never overwritten; what a killed process left is removed later.
use super::atomic_write;
use super::disk::{DiskError, Folder, PUBLIC, SIDECARS};
use rustix::fs::Mode;
use rustix::io::Errno;
use std::path::Path;
use std::time::Duration;
use touchstone_clock as clock;

/// Folder inside `.touchstone`.
const FOLDER: &str = "segments";
const FRESH: Mode = Mode::from_raw_mode(0o666);
/// Ending of files that are being written.
const UNFINISHED: &str = ".tmp";
/// Age from which a file that is being written is left over.
const LEFT_OVER: Duration = Duration::from_hours(24);
/// Number of names that are tried.
const TRIES: u32 = 10_000;

/// Adds a segment under the first free name of `name`, which is given a number. It is durable on
/// return. Returns the name.
pub fn add(
    output_dir: &Path,
    name: &dyn Fn(u32) -> String,
    bytes: &[u8],
) -> Result<String, DiskError> {
    let folder = Folder::make(output_dir, &[SIDECARS, FOLDER], PUBLIC)?;
    for number in 0..TRIES {
        let name = name(number);
        if atomic_write::put_new(&folder, &name, bytes, FRESH)? {
            return Ok(name);
        }
    }
    Err(folder.error(&name(TRIES), Errno::EXIST))
}

/// Removes segments whose claims are in another one. One that is gone was removed by somebody else.
pub fn remove(output_dir: &Path, names: &[String]) -> Result<(), DiskError> {
    let Some(folder) = Folder::find(output_dir, &[SIDECARS, FOLDER])? else { return Ok(()) };
    for name in names {
        match folder.remove(name) {
            Ok(()) | Err(Errno::NOENT | Errno::STALE) => {}
            Err(error) => return Err(folder.error(name, error)),
        }
    }
    folder.sync()
}

/// Removes what processes left that were killed while they wrote.
pub fn clear_left_over(output_dir: &Path) -> Result<(), DiskError> {
    let Some(folder) = Folder::find(output_dir, &[SIDECARS, FOLDER])? else { return Ok(()) };
    let now = clock::now_ms() / 1_000;
    let age = i64::try_from(LEFT_OVER.as_secs()).unwrap_or(i64::MAX);
    for name in folder.names(".touchstone-").into_iter().filter(|name| name.ends_with(UNFINISHED)) {
        let is_old = |stat: rustix::fs::Stat| stat.st_mtime < now.saturating_sub(age);
        if folder.plain_file(&name).is_ok_and(|stat| stat.is_some_and(is_old)) {
            // It is tried again the next time.
            let _ = folder.remove(&name);
        }
    }
    Ok(())
}
