//! List of recently opened folders, in a small file in the state directory. Owns that file only.
use crate::state_file;
use serde::{Deserialize, Serialize};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use touchstone_api::RecentFolder;
use touchstone_clock as clock;
use touchstone_objects::address::BucketAddress;
use touchstone_store::roots::Roots;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

/// Maximum number of remembered folders.
const KEPT: usize = 20;

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Entry {
    path: PathBuf,
    opened_ms: i64,
}

/// The file that holds the list.
#[derive(Debug, Clone)]
pub(crate) struct Recent {
    file: PathBuf,
}

impl Recent {
    pub(crate) fn new(state_dir: &Path) -> Self {
        Self { file: state_dir.join("recent.json") }
    }

    /// Returns the folders, newest first.
    pub(crate) fn list(&self) -> Vec<RecentFolder> {
        self.read().into_iter().map(|entry| row(&entry)).collect()
    }

    /// Returns the paths of the folders, newest first.
    pub(crate) fn paths(&self) -> Vec<PathBuf> {
        self.read().into_iter().map(|entry| entry.path).collect()
    }

    /// Returns the folder with this id.
    pub(crate) fn find(&self, id: &str) -> Option<PathBuf> {
        self.read().into_iter().map(|entry| entry.path).find(|path| folder_id(path) == id)
    }

    /// Moves a folder to the front of the list.
    pub(crate) fn remember(&self, path: &Path) -> io::Result<()> {
        let mut entries = self.read();
        entries.retain(|entry| entry.path != path);
        entries.insert(0, Entry { path: path.to_owned(), opened_ms: clock::now_ms() });
        entries.truncate(KEPT);
        self.write(&entries)
    }

    /// Removes a folder from the list.
    pub(crate) fn forget(&self, id: &str) -> io::Result<()> {
        let mut entries = self.read();
        entries.retain(|entry| folder_id(&entry.path) != id);
        self.write(&entries)
    }

    fn read(&self) -> Vec<Entry> {
        state_file::read(&self.file)
    }

    fn write(&self, entries: &[Entry]) -> io::Result<()> {
        state_file::write(&self.file, entries)
    }
}

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

fn row(entry: &Entry) -> RecentFolder {
    RecentFolder {
        id: folder_id(&entry.path),
        name: folder_name(&entry.path),
        path: entry.path.to_string_lossy().into_owned(),
        opened_ms: entry.opened_ms,
        // Nothing is asked over the network for a list.
        present: entry.path.is_dir() || entry.path.to_str().is_some_and(BucketAddress::matches),
    }
}
