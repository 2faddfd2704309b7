//! Small JSON files in the state directory, which only their user may read.
use fs_err as fs;
use fs_err::os::unix::fs::OpenOptionsExt as _;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::{self, Write as _};
use std::path::Path;
use touchstone_store::index_dir::make_private;

/// Reads a file. One that is missing or cannot be read counts as empty; the next write repairs it.
pub(crate) fn read<T: DeserializeOwned + Default>(path: &Path) -> T {
    fs::read(path).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
}

/// Replaces a file atomically.
pub(crate) fn write<T: Serialize + ?Sized>(path: &Path, content: &T) -> io::Result<()> {
    let dir = path.parent().unwrap_or(Path::new("."));
    make_private(dir)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let beside = dir.join(format!(".{name}.{}", std::process::id()));
    let mut file =
        fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&beside)?;
    file.write_all(&serde_json::to_vec_pretty(content)?)?;
    file.sync_all()?;
    fs::rename(&beside, path)
}
