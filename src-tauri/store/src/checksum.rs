//! Checksum of a closed index, so that modified bytes are detected at the next start. The text blob
//! has its own checksums. The checksum is removed before the first write, so that a killed process
//! leaves none.
use super::index_dir::create_private;
use fs_err as fs;
use std::io::{self, Read as _, Write as _};
use std::path::Path;
use xxhash_rust::xxh3::Xxh3;

/// Result of the check.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Checked {
    /// The file is unchanged.
    Whole,
    /// The file was modified.
    Broken,
    /// There is no checksum.
    Open,
}

/// Stores the checksum of the index in a folder. A failure is harmless: the next start runs a
/// slower check.
pub(crate) fn put(dir: &Path) {
    let done =
        hash(dir).and_then(|hash| create_private(&dir.join("seal"))?.write_all(hash.as_bytes()));
    if let Err(error) = done {
        tracing::debug!(%error, "the index could not be sealed");
    }
}

/// Verifies the checksum and removes it.
pub(crate) fn check(dir: &Path) -> Checked {
    let Ok(seal) = fs::read_to_string(dir.join("seal")) else { return Checked::Open };
    if fs::remove_file(dir.join("seal")).is_err() || hash(dir).is_ok_and(|hash| hash != seal) {
        return Checked::Broken;
    }
    Checked::Whole
}

fn hash(dir: &Path) -> io::Result<String> {
    let mut file = fs::File::open(dir.join("index.db"))?;
    let mut hasher = Xxh3::new();
    let mut buffer = vec![0; 1 << 18];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(format!("{:016x}\n", hasher.digest())),
            n => hasher.update(&buffer[..n]),
        }
    }
}
