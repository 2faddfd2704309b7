//! The user's copy of the sample data in the state directory, which keeps runs and changes out of
//! the installed folder. Owns the copy and the files in it that came from the sample; all other
//! files there belong to the user and are never touched.
use fs_err as fs;
use fs_err::os::unix::fs::OpenOptionsExt as _;
use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use touchstone_store::index_dir::{create_private, make_private};

/// Entries of the sample that are copied; the program that generates the sample is not.
const COPIED: [&str; 6] =
    ["touchstone.yaml", "README.md", "help-desk.jsonl", "tasks", "data", "results"];
/// Maximum depth of nested folders that are followed.
const DEPTH: usize = 16;

/// Files by relative path, with `/` as the separator.
type Files = BTreeMap<String, State>;

/// Size and modification time of a file, for detecting changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct State {
    size: u64,
    seconds: i64,
    nanoseconds: i64,
}

/// Record of earlier copies, stored beside the copy.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct CopyRecord {
    /// State of the sample when it was last copied.
    sample: Files,
    /// Files of the copy that came from a sample, in the state in which they were written.
    put: Files,
}

/// Returns the path of the copy, which need not exist.
pub(crate) fn copy_dir(state_dir: &Path) -> PathBuf {
    state_dir.join("demo")
}

/// Creates or updates the copy. If the sample has changed and the copy contains nothing of the
/// user's, the copy becomes identical to the sample; otherwise only missing files are added. Each
/// file is renamed into place only when complete, and the next call finishes the work of a process
/// that was killed.
pub(crate) fn copy(sample: &Path, state_dir: &Path) -> io::Result<PathBuf> {
    let (copy, remembered) = (copy_dir(state_dir), state_dir.join("demo.json"));
    make_private(state_dir)?;
    let lock = fs::OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .mode(0o600)
        .open(state_dir.join("demo.lock"))?;
    lock.lock()?;
    let wanted = listed(sample, &COPIED)?;
    // An unreadable record counts as an empty one: no file is then known to come from the sample,
    // and none is replaced.
    let memory: CopyRecord = fs::read(&remembered)
        .ok()
        .and_then(|bytes| serde_json::from_slice(&bytes).ok())
        .unwrap_or_default();
    if memory.sample == wanted && copy.is_dir() {
        return Ok(copy);
    }
    make_private(&copy)?;
    let found = listed(&copy, &[])?;
    let steps = steps(&wanted, &found, &memory.put);
    for path in &steps.put {
        let to = copy.join(path);
        if found.contains_key(path) || is_free(&copy, &to)? {
            put(&sample.join(path), &to, &state_dir.join("demo.part"))?;
        }
    }
    for path in &steps.remove {
        fs::remove_file(copy.join(path))?;
    }
    let put = listed(&copy, &[])?;
    let put = put.into_iter().filter(|(path, state)| {
        wanted.get(path) == Some(state) || memory.put.get(path) == Some(state)
    });
    let memory = CopyRecord { put: put.collect(), sample: wanted };
    let beside = state_dir.join(".demo.json.part");
    create_private(&beside)?.write_all(&serde_json::to_vec(&memory)?)?;
    fs::rename(&beside, &remembered)?;
    Ok(copy)
}

/// Changes to make to the copy.
#[derive(Debug, Default, PartialEq, Eq)]
struct Steps {
    put: Vec<String>,
    remove: Vec<String>,
}

/// Decides which files to write and which to remove. A file belongs to the user unless it is in the
/// state in which it was last written, or in the state in which it would be written now.
fn steps(wanted: &Files, found: &Files, put: &Files) -> Steps {
    let ours = |path: &String, state: &State| {
        put.get(path) == Some(state) || wanted.get(path) == Some(state)
    };
    let untouched = found.iter().all(|(path, state)| ours(path, state));
    let due = |(path, state): &(&String, &State)| match found.get(*path) {
        None => true,
        Some(there) => untouched && there != *state,
    };
    let gone = |path: &&String| untouched && !wanted.contains_key(*path);
    Steps {
        put: wanted.iter().filter(due).map(|(path, _)| path.clone()).collect(),
        remove: found.keys().filter(gone).cloned().collect(),
    }
}

/// Lists regular files below a folder. At the top level only `names` are included, or everything if
/// `names` is empty. Links are neither followed nor listed.
fn listed(folder: &Path, names: &[&str]) -> io::Result<Files> {
    let mut files = Files::new();
    let mut folders = vec![(folder.to_owned(), String::new(), 0)];
    while let Some((dir, below, depth)) = folders.pop() {
        for entry in fs::read_dir(dir)? {
            let entry = entry?;
            // Names in the sample are all valid text, which means a file with any other name
            // belongs to the user.
            let Ok(name) = entry.file_name().into_string() else { continue };
            if depth == 0 && !names.is_empty() && !names.contains(&name.as_str()) {
                continue;
            }
            let (meta, path) = (entry.metadata()?, format!("{below}{name}"));
            if meta.is_dir() && depth < DEPTH {
                folders.push((entry.path(), format!("{path}/"), depth + 1));
            } else if meta.is_file() {
                let state = State {
                    size: meta.size(),
                    seconds: meta.mtime(),
                    nanoseconds: meta.mtime_nsec(),
                };
                files.insert(path, state);
            }
        }
    }
    Ok(files)
}

/// Creates the missing parent folder of a file. Returns false if a link or a folder of the user
/// occupies the path or a part of it.
fn is_free(copy: &Path, to: &Path) -> io::Result<bool> {
    let dir = to.parent().unwrap_or(copy);
    make_private(dir)?;
    Ok(fs::canonicalize(dir)?.starts_with(fs::canonicalize(copy)?)
        && fs::symlink_metadata(to).is_err())
}

/// Copies one file with its modification time: writes it to `beside` first, then renames it into
/// place.
fn put(from: &Path, to: &Path, beside: &Path) -> io::Result<()> {
    let nofollow = i32::try_from(OFlags::NOFOLLOW.bits()).unwrap_or_default();
    let mut source = fs::OpenOptions::new().read(true).custom_flags(nofollow).open(from)?;
    let mut target = fs::File::create(beside)?;
    io::copy(&mut source, &mut target)?;
    target.set_modified(source.metadata()?.modified()?)?;
    drop(target);
    fs::rename(beside, to)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn files() -> impl Strategy<Value = Files> {
        let state = (0..3_u64).prop_map(|size| State { size, seconds: 0, nanoseconds: 0 });
        prop::collection::btree_map("[a-d]", state, 0..4)
    }

    proptest! {
        #[test]
        fn copying_the_demo_keeps_changed_files_and_adds_missing_ones(wanted in files(), found in files(), put in files()) {
            let steps = steps(&wanted, &found, &put);
            let mut after = found.clone();
            after.extend(steps.put.iter().map(|path| (path.clone(), wanted[path])));
            after.retain(|path, _| !steps.remove.contains(path));
            let theirs = |(path, state): &(&String, &State)| put.get(*path) != Some(state) && wanted.get(*path) != Some(state);
            let made: Vec<_> = found.iter().filter(theirs).collect();
            prop_assert!(made.iter().all(|(path, state)| after.get(*path) == Some(state)));
            prop_assert!(wanted.keys().all(|path| after.contains_key(path)));
            if made.is_empty() {
                prop_assert_eq!(after, wanted);
            } else {
                prop_assert!(found.iter().all(|(path, state)| after.get(path) == Some(state)));
            }
        }
    }

    #[test]
    fn all_of_the_demo_is_copied_but_the_program_that_makes_it() {
        let demo = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../demo");
        let entries = fs::read_dir(demo).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.retain(|name| !matches!(name.as_str(), "make" | "make.py" | "__pycache__"));
        names.sort();
        let mut copied = COPIED;
        copied.sort_unstable();
        assert_eq!(names, copied);
    }
}
