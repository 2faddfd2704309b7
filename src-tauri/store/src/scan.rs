//! Lists the files in the directories with their stamps. Uses two threads, follows no links, and
//! limits depth and number. Reads no files.
use super::limits::Limits;
use super::open::{self, Stamp};
use super::roots::{FileId, Root, Roots};
use fs_err as fs;
use std::collections::BTreeMap;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use touchstone_formats::stabletoolbench::filter;

/// Memory of a listed entry besides its name: in the listing, in a sorted list, and as a known file.
const ENTRY_BYTES: usize = 192;

/// State of a file on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    /// Stamp.
    pub(crate) stamp: Stamp,
    /// Reason it is not read, if it is not a regular file.
    pub(crate) odd: Option<String>,
}

/// Result of listing some scopes.
#[derive(Debug, Default)]
pub(crate) struct Survey {
    /// Everything that becomes a row: files, and other entries with the reason they are not read.
    pub(crate) found: BTreeMap<FileId, Found>,
    /// True when the limit of memory was exceeded.
    pub(crate) cut: bool,
    /// Errors of roots that could not be listed. Their files are left alone then.
    pub(crate) failed: BTreeMap<Root, io::Error>,
}

/// Lists files and directories. Scopes that no longer exist are missing from the result.
pub(crate) fn survey(roots: &Roots, limits: &Limits, scopes: &[FileId]) -> Survey {
    let walk = Walk::new(roots, limits);
    let mut found: Vec<(FileId, Found)> = Vec::new();
    for scope in
        scopes.iter().filter(|scope| !is_hidden(scope) && scope.depth() <= limits.depth + 1)
    {
        walk.look(scope, &mut found);
    }
    let wide = scopes.iter().any(|scope| scope.path.is_empty());
    let more = std::thread::scope(|threads| {
        let second = wide.then(|| threads.spawn(|| walk.work()));
        let mut all = walk.work();
        if let Some(second) = second {
            all.extend(second.join().unwrap_or_default());
        }
        all
    });
    if found.is_empty() {
        found = more;
    } else {
        found.extend(more);
    }
    let mut failed = walk.failed.into_inner().unwrap_or_else(PoisonError::into_inner);
    // If a root disappeared during the listing, its missing files do not count as removed.
    for root in scopes.iter().map(|scope| scope.root) {
        if !failed.contains_key(&root)
            && let Err(error) = listable(roots, root)
        {
            failed.insert(root, error);
        }
    }
    Survey { found: found.into_iter().collect(), cut: walk.cut.into_inner(), failed }
}

/// Fails when a root does not exist, is not a folder, or may not be listed.
pub(crate) fn listable(roots: &Roots, root: Root) -> io::Result<()> {
    roots.dir(root).map_or(Ok(()), |dir| fs::read_dir(dir).map(drop))
}

/// Lists an application folder next to the results, which `survey` skips. Empty if it does not
/// exist.
pub(crate) fn survey_own(
    roots: &Roots,
    limits: &Limits,
    folder: &FileId,
) -> BTreeMap<FileId, Found> {
    // Its subfolders mirror those of the results.
    let limits = Limits { depth: limits.depth + folder.depth(), ..limits.clone() };
    let walk = Walk::new(roots, &limits);
    let mut found = Vec::new();
    walk.look(folder, &mut found);
    found.extend(walk.work());
    found.into_iter().collect()
}

/// Returns true for names that are never results: hidden files, the application's own files, locks,
/// and leftovers of editors and downloads.
pub fn is_hidden(file: &FileId) -> bool {
    file.path.split(|b| *b == b'/').any(is_hidden_name)
}

fn is_hidden_name(name: &[u8]) -> bool {
    name.starts_with(b".")
        || name.starts_with(b"#")
        || [".lock", ".tmp", ".part", ".swp", "~"].iter().any(|end| name.ends_with(end.as_bytes()))
}

struct Queue {
    dirs: Vec<FileId>,
    busy: usize,
}

struct Walk<'a> {
    roots: &'a Roots,
    limits: &'a Limits,
    queue: Mutex<Queue>,
    wake: Condvar,
    /// Memory of everything listed so far, in bytes.
    held: AtomicUsize,
    cut: AtomicBool,
    failed: Mutex<BTreeMap<Root, io::Error>>,
}

impl<'a> Walk<'a> {
    fn new(roots: &'a Roots, limits: &'a Limits) -> Self {
        Self {
            roots,
            limits,
            queue: Mutex::new(Queue { dirs: Vec::new(), busy: 0 }),
            wake: Condvar::new(),
            held: AtomicUsize::new(0),
            cut: AtomicBool::new(false),
            failed: Mutex::default(),
        }
    }

    /// Handles one scope: queues a directory, or adds a file at once.
    fn look(&self, scope: &FileId, found: &mut Vec<(FileId, Found)>) {
        let Some(path) = self.roots.path(scope) else { return };
        match fs::symlink_metadata(&path) {
            Ok(meta) if scope.path.is_empty() || meta.is_dir() => {
                self.enter(scope.clone(), &meta, found);
            }
            Ok(meta) => found.extend(entry(scope, &meta).map(|entry| (scope.clone(), entry))),
            Err(error) if scope.path.is_empty() => self.fail(scope.root, error),
            Err(_) => {}
        }
    }

    fn work(&self) -> Vec<(FileId, Found)> {
        let mut found = Vec::new();
        while let Some(dir) = self.next() {
            let first = found.len();
            if let Err(error) = self.list(&dir, &mut found) {
                self.unlisted(dir, error, &mut found);
            }
            // Sorted pieces are merged to one list in less time than an unsorted one is sorted.
            found[first..].sort_unstable_by(|one, other| one.0.cmp(&other.0));
            let mut queue = self.lock();
            queue.busy -= 1;
            drop(queue);
            self.wake.notify_all();
        }
        found
    }

    fn next(&self) -> Option<FileId> {
        let mut queue = self.lock();
        loop {
            if let Some(dir) = queue.dirs.pop() {
                queue.busy += 1;
                return Some(dir);
            }
            if queue.busy == 0 {
                return None;
            }
            queue = self.wake.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn list(&self, dir: &FileId, found: &mut Vec<(FileId, Found)>) -> io::Result<()> {
        let path = self.roots.path(dir).unwrap_or_default();
        for item in fs::read_dir(path)? {
            let item = item?;
            let name = item.file_name();
            if is_hidden_name(name.as_bytes()) {
                continue;
            }
            let file = dir.join(&name);
            let bytes = ENTRY_BYTES + file.path.len();
            let held = self.held.fetch_add(bytes, Ordering::Relaxed) + bytes;
            if held > self.limits.listing_bytes {
                self.cut.store(true, Ordering::Relaxed);
                return Ok(());
            }
            // The entry disappeared between listing and reading its metadata.
            let Ok(meta) = item.metadata() else { continue };
            if meta.is_dir() {
                self.enter(file, &meta, found);
            } else if let Some(entry) = entry(&file, &meta) {
                found.push((file, entry));
            }
        }
        Ok(())
    }

    fn enter(&self, dir: FileId, meta: &std::fs::Metadata, found: &mut Vec<(FileId, Found)>) {
        if self.roots.is_other_root(&dir) {
            return;
        }
        if dir.depth() > self.limits.depth {
            let why = format!(
                "The folder is more than {} folders deep and is not looked into.",
                self.limits.depth
            );
            found.push((dir, Found { stamp: stamp(meta), odd: Some(why) }));
            return;
        }
        if !dir.path.is_empty() && is_suite_name(&dir) {
            let odd = Some("It is a folder that is named like a file.".to_owned());
            // The stamp of a folder changes with its content, but the row does not depend on it.
            let stamp = Stamp { size: 0, mtime_ns: 0, inode: meta.ino() };
            found.push((dir.clone(), Found { stamp, odd }));
        }
        self.lock().dirs.push(dir);
        self.wake.notify_one();
    }

    fn unlisted(&self, dir: FileId, error: io::Error, found: &mut Vec<(FileId, Found)>) {
        if dir.path.is_empty() {
            self.fail(dir.root, error);
        } else if error.kind() != io::ErrorKind::NotFound {
            let odd = Some(format!("The folder could not be listed: {}.", open::reason(&error)));
            found.push((dir, Found { stamp: Stamp::default(), odd }));
        }
    }

    fn fail(&self, root: Root, error: io::Error) {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner).insert(root, error);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Converts a directory entry that is not a folder. `None` for files that are irrelevant in their
/// root.
fn entry(file: &FileId, meta: &std::fs::Metadata) -> Option<Found> {
    let is_workspace = matches!(file.name(), b"touchstone.yaml" | b"touchstone.yml");
    let kind = meta.file_type();
    let is_suite = || {
        is_suite_name(file)
            || is_prompt_name(file)
            || (is_prompt_like(file) && kind.is_file())
            || (is_query_name(file) && kind.is_file())
    };
    if file.root == Root::Input && (is_workspace || !is_suite()) {
        return None;
    }
    let odd = match () {
        () if kind.is_file() => None,
        () if kind.is_symlink() => Some("It is a link, and links are not followed."),
        () if kind.is_fifo() => Some("It is a pipe, not a file."),
        () if kind.is_socket() => Some("It is a socket, not a file."),
        () => Some("It is a device, not a file."),
    };
    Some(Found { stamp: stamp(meta), odd: odd.map(str::to_owned) })
}

/// Returns the stamp of a file.
pub(crate) fn stamp(meta: &std::fs::Metadata) -> Stamp {
    let mtime_ns = meta.mtime().saturating_mul(1_000_000_000).saturating_add(meta.mtime_nsec());
    Stamp { size: meta.len(), mtime_ns, inode: meta.ino() }
}

/// File names in a folder of loose prompts.
pub(crate) const PROMPT_NAMES: [&str; 4] = [
    "promptql_prompt.txt",
    "other_models_prompt.txt",
    "other_models_prompt_with_python.txt",
    "correct_answer.json",
];

/// Returns true for a file of a folder of loose prompts.
pub(crate) fn is_prompt_name(file: &FileId) -> bool {
    PROMPT_NAMES.iter().any(|name| name.as_bytes() == file.name())
}

/// Returns true for a text file that is named like a prompt but belongs to no known task format.
pub(crate) fn is_prompt_like(file: &FileId) -> bool {
    let name = String::from_utf8_lossy(file.name()).to_lowercase();
    let stem = name.strip_suffix(".txt").or_else(|| name.strip_suffix(".md"));
    let is_whole = |stem: &str| ["query", "task", "instruction", "instructions"].contains(&stem);
    !is_prompt_name(file)
        && stem.is_some_and(|stem| {
            stem.contains("prompt") || stem.contains("question") || is_whole(stem)
        })
}

/// Returns true for names that a set of queries may have. Most such files are something else; their
/// first bytes decide.
pub(crate) fn is_query_name(file: &FileId) -> bool {
    file.name().to_ascii_lowercase().ends_with(b".json")
        && !is_prompt_name(file)
        && !filter::is_one(&file.to_display())
}

/// Returns true for names that a suite may have.
pub(crate) fn is_suite_name(file: &FileId) -> bool {
    let name = String::from_utf8_lossy(file.name()).to_lowercase();
    Path::new(&name).extension().is_some_and(|end| end == "yaml" || end == "yml")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listing_is_bounded_by_its_memory() {
        let home = tempfile::tempdir().unwrap();
        let roots = Roots {
            folder: home.path().to_owned(),
            input_dir: None,
            output_dir: home.path().to_owned(),
            ..Roots::default()
        };
        let (folders, files) = (20, 50);
        let mut bytes = 0;
        for n in 0..folders {
            let folder = format!("d{n:02}");
            fs::create_dir(home.path().join(&folder)).unwrap();
            bytes += ENTRY_BYTES + folder.len();
            for n in 0..files {
                let file = format!("{folder}/r{n:02}.yaml");
                fs::write(home.path().join(&file), "").unwrap();
                bytes += ENTRY_BYTES + file.len();
            }
        }
        let limits = Limits { listing_bytes: bytes, ..Limits::default() };
        let everything = [FileId::new(Root::Output, "")];
        let fits = survey(&roots, &limits, &everything);
        assert_eq!((fits.found.len(), fits.cut), (folders * files, false));
        fs::write(home.path().join("one-more.yaml"), "").unwrap();
        assert!(survey(&roots, &limits, &everything).cut);
    }
}
