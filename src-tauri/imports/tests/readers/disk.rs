//! Files on the disk, as readers see a results folder.
use fs_err as fs;
use std::path::{Path, PathBuf};
use touchstone_imports::{Folder, Source};

/// Folder on the disk.
pub(crate) struct Disk(pub(crate) PathBuf);

impl Folder for Disk {
    fn open(&self, path: &str) -> Option<Box<dyn Source + '_>> {
        Some(Box::new(fs::read(self.0.join(path)).ok()?))
    }

    fn list(&self, folder: &str) -> Vec<String> {
        let entries = fs::read_dir(self.0.join(folder)).into_iter().flatten().flatten();
        let mut names: Vec<String> = entries
            .map(|entry| {
                let end = if entry.path().is_dir() { "/" } else { "" };
                format!("{}{end}", entry.file_name().to_string_lossy())
            })
            .collect();
        names.sort();
        names
    }
}

/// Returns the folder of the golden files of other tools, where it is there.
pub(crate) fn golden_root() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/golden/foreign");
    root.is_dir().then_some(root)
}

/// Lists all files below a folder, each with `below` before its path.
pub(crate) fn list_files(dir: &Path, below: &str, into: &mut Vec<String>) {
    let mut entries: Vec<_> = fs::read_dir(dir).unwrap().map(Result::unwrap).collect();
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = format!("{below}{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            list_files(&entry.path(), &format!("{path}/"), into);
        } else {
            into.push(path);
        }
    }
}
