//! File of the names that models gave to causes of failures. The content is owned by the caller.
use super::atomic_write;
use super::disk::{DiskError, Folder, PRIVATE, SIDECARS};
use rustix::fs::Mode;
use std::path::Path;

/// Name of the file inside `.touchstone`.
const NAME: &str = "cause-names.json";
/// Maximum bytes of the file.
const MOST: u64 = 4 << 20;
/// Mode of a new file: this user only.
const FRESH: Mode = Mode::from_raw_mode(0o600);

/// Returns the content; `None` if there is no such file.
pub fn read(output_dir: &Path) -> Result<Option<Vec<u8>>, DiskError> {
    match Folder::find(output_dir, &[SIDECARS])? {
        Some(folder) => folder.read(NAME, MOST),
        None => Ok(None),
    }
}

/// Replaces the content, and creates missing folders. It is durable on return.
pub fn replace(output_dir: &Path, bytes: &[u8]) -> Result<(), DiskError> {
    let folder = Folder::make(output_dir, &[SIDECARS], PRIVATE)?;
    atomic_write::put(&folder, NAME, bytes, FRESH)
}
