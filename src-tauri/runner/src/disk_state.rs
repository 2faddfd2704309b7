//! Reads the state of a run on disk, for the plan. Takes no lock and changes nothing.
use super::disk::{DiskErrorKind, Folder};
use super::plan::{File, Named, OnDisk};
use super::{disk, lock};
use std::collections::HashMap;
use std::path::Path;
use touchstone_formats::file_kind::{FileKind, detect};
use touchstone_formats::names::{self, Coordinates};

/// Maximum bytes of a transcript that can be resumed.
pub const MOST_BYTES: u64 = 256 << 20;

/// Bytes at the beginning of a file that suffice to detect its kind.
const HEAD: usize = 64 << 10;

/// Returns the state of a run on disk, given the path of its transcript.
pub fn read_disk_state(output_dir: &Path, path: &str) -> OnDisk {
    let file = match disk::read(output_dir, path, MOST_BYTES) {
        Ok(None) => File::Absent,
        Ok(Some(bytes)) => File::from_bytes(&bytes),
        // There is nothing that could be moved aside.
        Err(error) if error.kind == DiskErrorKind::BadPath => File::Impossible(error.why),
        Err(error) => File::Damaged(error.why),
    };
    OnDisk { file, locked_by: lock::held_by(output_dir, path) }
}

/// Returns the files in a folder of the output directory whose names are those of runs, in any
/// supported form. A folder that cannot be listed yields none; reading the file itself reports the
/// reason.
pub fn named(output_dir: &Path, folder: &str, models: &[&str]) -> Named {
    let parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    let listed = Folder::find(output_dir, &parts)
        .ok()
        .flatten()
        .map(|dir| dir.names(""))
        .unwrap_or_default();
    let path = |name: String| if folder.is_empty() { name } else { format!("{folder}/{name}") };
    let mut runs = Named::new();
    for path in listed.into_iter().map(path) {
        if let Some(at) = names::read(&path, models)
            && (!is_json(&path) || is_transcript(output_dir, &path))
        {
            runs.entry(at).or_default().push(path);
        }
    }
    for paths in runs.values_mut() {
        paths.sort();
    }
    runs
}

/// Maximum number of folders that are kept open.
const MOST_OPEN: usize = 64;

/// Finds the files of runs by their names, and opens each folder once.
pub struct RunFinder<'a> {
    output_dir: &'a Path,
    folders: HashMap<String, Option<Folder>>,
}

impl<'a> RunFinder<'a> {
    /// Creates a finder for an output directory.
    pub fn new(output_dir: &'a Path) -> Self {
        Self { output_dir, folders: HashMap::new() }
    }

    /// Returns the files of one run that exist, in any supported form of its name but for endings in
    /// capitals. Looks at no other file.
    pub fn named_like(&mut self, at: &Coordinates) -> Vec<String> {
        let mut paths = names::spellings(at);
        let output_dir = self.output_dir;
        paths.retain(|path| {
            self.exists(path) && (!is_json(path) || is_transcript(output_dir, path))
        });
        paths.sort();
        paths
    }

    fn exists(&mut self, path: &str) -> bool {
        let Ok((parts, name)) = disk::split(path) else { return false };
        let above = path.rsplit_once('/').map_or("", |(above, _)| above);
        if !self.folders.contains_key(above) {
            if self.folders.len() == MOST_OPEN {
                self.folders.clear();
            }
            let folder = Folder::find(self.output_dir, &parts).ok().flatten();
            self.folders.insert(above.to_owned(), folder);
        }
        let folder = self.folders.get(above).and_then(Option::as_ref);
        // What is no plain file is in the way, which reading it reports.
        folder.is_some_and(|folder| !matches!(folder.plain_file(name), Ok(None)))
    }
}

/// Returns true if a JSON file is a transcript. Result folders may hold other JSON files.
fn is_transcript(output_dir: &Path, path: &str) -> bool {
    let bytes = disk::read(output_dir, path, MOST_BYTES).ok().flatten();
    let name = path.rsplit('/').next().unwrap_or(path);
    bytes.is_some_and(|bytes| detect(name, &bytes[..bytes.len().min(HEAD)]) == FileKind::Transcript)
}

/// Returns true for a JSON file, which is read but never written: transcripts are written as YAML.
pub fn is_json(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lock::RunLock;
    use fs_err as fs;

    #[test]
    fn a_run_is_absent_damaged_or_read_and_perhaps_locked() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(read_disk_state(dir.path(), "a/r.yaml"), OnDisk::default());
        assert_eq!(read_disk_state(&dir.path().join("nowhere"), "a/r.yaml"), OnDisk::default());
        let lock = RunLock::take(dir.path(), "a/r.yaml").unwrap();
        fs::create_dir(dir.path().join("a")).unwrap();
        fs::write(dir.path().join("a/r.yaml"), "conversation: [").unwrap();
        let seen = read_disk_state(dir.path(), "a/r.yaml");
        assert!(matches!(seen.file, File::Damaged(_)) && seen.locked_by.is_some());
        drop(lock);
        fs::write(dir.path().join("a/r.yaml"), "conversation: []").unwrap();
        let seen = read_disk_state(dir.path(), "a/r.yaml");
        assert!(matches!(seen.file, File::Read(_)) && seen.locked_by.is_none());
        std::os::unix::fs::symlink("r.yaml", dir.path().join("a/l.yaml")).unwrap();
        assert!(matches!(read_disk_state(dir.path(), "a/l.yaml").file, File::Damaged(_)));
        let most = format!("a/{}.yaml", "x".repeat(250));
        assert_eq!(read_disk_state(dir.path(), &most).file, File::Absent);
        let File::Impossible(why) =
            read_disk_state(dir.path(), &most.replace("x.yaml", "xx.yaml")).file
        else {
            panic!("it fits")
        };
        insta::assert_snapshot!(why, @"the name is too long for this file system. Shorten the file name of the task or the name of the model.");
    }
}
