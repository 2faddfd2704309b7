//! Mark of an output directory that holds results of attacks: a file for each addition, so that
//! launches on several machines take nothing from each other. The content is owned by the caller.
use super::atomic_write;
use super::disk::{DiskError, Folder, PRIVATE, SIDECARS};
use rustix::fs::Mode;
use std::path::Path;
use xxhash_rust::xxh3::xxh3_64;

/// Folder inside `.touchstone`.
const FOLDER: &str = "sensitive";
/// End of the names of the files.
const END: &str = ".json";
/// Maximum bytes of a file.
const MOST: u64 = 64 << 20;
/// Mode of a new file: this user only.
const FRESH: Mode = Mode::from_raw_mode(0o600);

/// Returns the contents of the mark; none if there is no mark.
pub fn read(output_dir: &Path) -> Result<Vec<Vec<u8>>, DiskError> {
    let Some(folder) = Folder::find(output_dir, &[SIDECARS, FOLDER])? else {
        return Ok(Vec::new());
    };
    let mut contents = Vec::new();
    for name in folder.names("") {
        if name.ends_with(END) && !name.starts_with('.') {
            contents.extend(folder.read(&name, MOST)?);
        }
    }
    Ok(contents)
}

/// Adds a content to the mark, and creates missing folders. It is durable on return.
pub fn add(output_dir: &Path, bytes: &[u8]) -> Result<(), DiskError> {
    let folder = Folder::make(output_dir, &[SIDECARS, FOLDER], PRIVATE)?;
    atomic_write::put(&folder, &format!("{:016x}{END}", xxh3_64(bytes)), bytes, FRESH)
}
