//! The sample data as a person has it: a copy in the state directory, so that runs and changes
//! never reach the installed folder. Owns the copy and what of it came from the sample; whatever
//! else lies there is the person's and is never touched.
use fs_err as fs;
use fs_err::os::unix::fs::OpenOptionsExt as _;
use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use touchstone_store::home::{create_private, make_private};

/// What of the sample is copied; the program that makes it is not.
const COPIED: [&str; 5] = ["touchstone.yaml", "README.md", "tasks", "data", "results"];
/// Folders inside each other that are followed.
const DEPTH: usize = 16;

/// Files by their path, with `/` between its parts.
type Files = BTreeMap<String, State>;

/// What tells one state of a file from another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct State {
    size: u64,
    seconds: i64,
    nanoseconds: i64,
}

/// What is remembered beside the copy.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Memory {
    /// The sample, as it was copied last.
    sample: Files,
    /// What of the copy came from a sample, and how it was put there.
    put: Files,
}

/// Where the copy is, whether it is there or not.
pub(crate) fn place(state_dir: &Path) -> PathBuf {
    state_dir.join("demo")
}

/// Makes the copy, or brings it up to date: when the sample has changed and the copy holds nothing
/// of the person's, it becomes like the sample; else only what is missing is added. Each file is
/// put in place whole, and whoever was killed is followed by somebody who finishes the work.
pub(crate) fn copy(sample: &Path, state_dir: &Path) -> io::Result<PathBuf> {
    let (copy, remembered) = (place(state_dir), state_dir.join("demo.json"));
    make_private(state_dir)?;
    let lock = fs::OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .mode(0o600)
        .open(state_dir.join("demo.lock"))?;
    lock.lock()?;
    let wanted = listed(sample, &COPIED)?;
    // A memory that cannot be read is none: then nothing is known to be ours, and nothing is
    // replaced.
    let memory: Memory = fs::read(&remembered)
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
    let memory = Memory { put: put.collect(), sample: wanted };
    let beside = state_dir.join(".demo.json.part");
    create_private(&beside)?.write_all(&serde_json::to_vec(&memory)?)?;
    fs::rename(&beside, &remembered)?;
    Ok(copy)
}

/// What is to be done to the copy.
#[derive(Debug, Default, PartialEq, Eq)]
struct Steps {
    put: Vec<String>,
    remove: Vec<String>,
}

/// Decides it. A file is the person's unless it is as it was put there, or as it would be put there
/// now.
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

/// Regular files below a folder; of the folder itself only the names given, or all. Links are not
/// followed and not listed.
fn listed(folder: &Path, names: &[&str]) -> io::Result<Files> {
    let mut files = Files::new();
    let mut folders = vec![(folder.to_owned(), String::new(), 0)];
    while let Some((dir, below, depth)) = folders.pop() {
        for entry in fs::read_dir(dir)? {
            let entry = entry?;
            // A name that is no text is not ours: everything in the sample has one that is.
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

/// Makes the folder of a file that is missing. False when a link or a folder of the person's is
/// there instead, or on the way.
fn is_free(copy: &Path, to: &Path) -> io::Result<bool> {
    let dir = to.parent().unwrap_or(copy);
    make_private(dir)?;
    Ok(fs::canonicalize(dir)?.starts_with(fs::canonicalize(copy)?)
        && fs::symlink_metadata(to).is_err())
}

/// Copies one file with its time: beside first, then into place.
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
        fn what_a_person_made_or_changed_stays_and_what_is_missing_comes(wanted in files(), found in files(), put in files()) {
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
}
