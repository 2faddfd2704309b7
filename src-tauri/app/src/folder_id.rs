//! **Pure.** Opaque ids and names of folders.
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use touchstone_store::roots::Roots;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

/// Returns the opaque id of a folder.
pub(crate) fn folder_id(path: &Path) -> String {
    format!("{:016x}", xxh3_64(path.as_os_str().as_bytes()))
}

/// Returns the opaque id of an open folder with its directories: the same folder can be opened with
/// another output directory, and then has other runs.
pub(crate) fn roots_id(roots: &Roots) -> String {
    let mut hash = Xxh3::new();
    let dirs = [Some(&roots.folder), roots.input_dir.as_ref(), Some(&roots.output_dir)];
    for dir in dirs {
        hash.update(dir.map_or(&[][..], |dir| dir.as_os_str().as_bytes()));
        hash.update(&[0]);
    }
    format!("{:016x}", hash.digest())
}

/// Returns the last component of a path, or the whole path if it has none.
pub(crate) fn folder_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}
