//! The seal of a closed index: the hash of its file, so that bytes that changed behind our back are
//! noticed at the next start. The text beside it has checksums of its own. It is taken off before
//! the first write, so that a killed process leaves none.
use super::home::create_private;
use fs_err as fs;
use std::io::{self, Read as _, Write as _};
use std::path::Path;
use xxhash_rust::xxh3::Xxh3;

/// What the seal says.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Checked {
    /// The file is the one that was sealed.
    Whole,
    /// It is another.
    Broken,
    /// There is no seal.
    Open,
}

/// Seals the index in a folder. Failing to is no harm: the next start looks closer.
pub(crate) fn put(dir: &Path) {
    let done =
        hash(dir).and_then(|hash| create_private(&dir.join("seal"))?.write_all(hash.as_bytes()));
    if let Err(error) = done {
        tracing::debug!(%error, "the index could not be sealed");
    }
}

/// Looks at the seal and takes it off.
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
