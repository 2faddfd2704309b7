//! Mark of an output directory that holds results of attacks. Its content is owned by the caller.
use super::atomic_write;
use super::disk::{DiskError, Folder, PRIVATE, SIDECARS};
use rustix::fs::Mode;
use std::path::Path;

/// File inside `.touchstone`.
const FILE: &str = "sensitive.json";
/// Maximum bytes of the file.
const MOST: u64 = 4 << 20;
/// Mode of a new file: this user only.
const FRESH: Mode = Mode::from_raw_mode(0o600);

/// Returns the content of the mark. Returns `None` if there is none.
pub fn read(output_dir: &Path) -> Result<Option<Vec<u8>>, DiskError> {
    match Folder::find(output_dir, &[SIDECARS])? {
        Some(folder) => folder.read(FILE, MOST),
        None => Ok(None),
    }
}

/// Replaces the mark, and creates missing folders. It is durable on return.
pub fn write(output_dir: &Path, bytes: &[u8]) -> Result<(), DiskError> {
    let folder = Folder::make(output_dir, &[SIDECARS], PRIVATE)?;
    atomic_write::put(&folder, FILE, bytes, FRESH)
}
