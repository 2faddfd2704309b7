//! List of recently opened folders, in a small file in the state directory. Owns that file only.
use crate::folder_id::{folder_id, folder_name};
use crate::state_file;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::{Path, PathBuf};
use touchstone_api::RecentFolder;
use touchstone_clock as clock;
use touchstone_objects::address::BucketAddress;

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
