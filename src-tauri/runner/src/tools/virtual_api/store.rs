//! Cached replies on disk. Owns rereading changed files, the memory limit for loaded files, and
//! adding replies without losing any: files are replaced atomically, under a lock that other
//! processes respect, and an unreadable file is never overwritten.
use super::{Body, Origin, Reply};
use crate::atomic_write;
use crate::disk::{DiskError, Folder, PUBLIC};
use rustix::fs::Mode;
use std::collections::{HashMap, HashSet};
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;
use touchstone_clock as clock;
use touchstone_formats::stabletoolbench::cache_file::{ApiLocation, CacheFile, KeyForm};
use touchstone_formats::stabletoolbench::python_json::Py;

/// Maximum number of bytes of files to keep in memory.
const MEMORY: usize = 256 << 20;
/// Maximum number of bytes of one file.
const LARGEST: u64 = 256 << 20;
/// Timeout for a lock held by another process.
const PATIENCE: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(2);
/// Age after which a further change of a file is certain to change its modification time.
const SETTLES_MS: i64 = 50;
/// Mode of new files, restricted by the umask.
const FRESH: Mode = Mode::from_raw_mode(0o666);

/// Path of a file in the cache: category, tool, file.
type Name = [String; 3];
/// Size, modification time (seconds, nanoseconds) and inode of a file.
type Stamp = (u64, i64, i64, u64);

/// The cache on disk.
#[derive(Clone)]
pub(super) struct Store(Arc<Disk>);

struct Disk {
    root: PathBuf,
    held: Mutex<HeldFiles>,
    /// Files whose leftover temporary files from dead processes were removed.
    cleared: Mutex<HashSet<Name>>,
    queues: Mutex<HashMap<Name, Arc<Queue>>>,
}

/// Loaded files, within a memory limit.
struct HeldFiles {
    /// Maximum number of bytes.
    most: usize,
    files: HashMap<Name, LoadedFile>,
    bytes: usize,
    /// Counter of uses, for finding the least recently used file.
    clock: u64,
}

struct LoadedFile {
    stamp: Stamp,
    /// The file, or the reason that it cannot be read.
    read: Result<Arc<CacheFile>, String>,
    bytes: usize,
    used: u64,
}

/// Replies waiting to be written to a file; the first task writes those of all.
#[derive(Default)]
struct Queue {
    waiting: Mutex<Vec<Waiting>>,
    turn: tokio::sync::Mutex<()>,
}

struct Waiting {
    key: String,
    reply: Arc<Py>,
    done: oneshot::Sender<Result<Option<String>, String>>,
}

/// State of a file.
enum FileState {
    Missing,
    Held(Result<Arc<CacheFile>, String>),
    Changed,
}

impl Store {
    pub(super) fn new(root: PathBuf) -> Self {
        let held = Mutex::new(HeldFiles::new(MEMORY));
        Self(Arc::new(Disk { root, held, cleared: Mutex::default(), queues: Mutex::default() }))
    }

    /// Returns the cached reply to an input, from the first file that has one, with notes on
    /// unreadable files that may have had it.
    pub(super) async fn find(
        &self,
        place: &ApiLocation,
        keys: &[(KeyForm, String)],
    ) -> (Option<Reply>, Vec<String>) {
        let mut notes = Vec::new();
        for name in &place.files {
            match self.file(name).await {
                Some(Ok(file)) => {
                    if let Some((form, reply)) = file.find(keys) {
                        let body = Body::Kept(reply.to_owned());
                        return (
                            Some(Reply {
                                status: 200,
                                from: Origin::Hit(form),
                                notes: Vec::new(),
                                body,
                            }),
                            notes,
                        );
                    }
                }
                Some(Err(why)) => notes.push(why),
                None => {}
            }
        }
        (None, notes)
    }

    /// Returns the first cached replies of an API.
    pub(super) async fn first(&self, place: &ApiLocation, most: usize) -> Vec<(String, String)> {
        for name in &place.files {
            if let Some(Ok(file)) = self.file(name).await
                && !file.is_empty()
            {
                return file
                    .first(most)
                    .map(|(key, reply)| (key.to_owned(), reply.to_owned()))
                    .collect();
            }
        }
        Vec::new()
    }

    /// Returns the current content of a file; `None` if it does not exist.
    async fn file(&self, name: &Name) -> Option<Result<Arc<CacheFile>, String>> {
        match self.0.look(name) {
            FileState::Missing => None,
            FileState::Held(read) => Some(read),
            FileState::Changed => {
                let (disk, name) = (Arc::clone(&self.0), name.clone());
                tokio::task::spawn_blocking(move || disk.read(&name)).await.ok().flatten()
            }
        }
    }

    /// Adds a reply, which is durable on return. Returns a note for the user if it was stored in
    /// another file or not at all.
    pub(super) async fn keep(
        &self,
        place: &ApiLocation,
        key: &str,
        reply: Arc<Py>,
    ) -> Result<Option<String>, String> {
        let Some(name) = place.files.first() else {
            return Ok(Some(
                "The names of this call are not valid in a path, so its reply was not saved."
                    .to_owned(),
            ));
        };
        let queue = Arc::clone(lock(&self.0.queues).entry(name.clone()).or_default());
        let (done, kept) = oneshot::channel();
        lock(&queue.waiting).push(Waiting { key: key.to_owned(), reply, done });
        let turn = queue.turn.lock().await;
        let batch = std::mem::take(&mut *lock(&queue.waiting));
        if !batch.is_empty() {
            let (disk, name) = (Arc::clone(&self.0), name.clone());
            // The write continues when the caller stops waiting.
            let written = tokio::task::spawn_blocking(move || disk.write_all(&name, batch));
            drop(written.await);
        }
        drop(turn);
        self.0.forget(name, queue);
        kept.await
            .unwrap_or_else(|_| Err("The reply could not be saved: writing broke off.".to_owned()))
    }
}

impl Disk {
    /// Returns the state of a file without reading it.
    fn look(&self, name: &Name) -> FileState {
        let stamp = self.stamp(name);
        let mut held = lock(&self.held);
        let Some(stamp) = stamp else {
            held.remove(name);
            return FileState::Missing;
        };
        held.clock += 1;
        let clock = held.clock;
        match held.files.get_mut(name) {
            Some(known) if known.stamp == stamp => {
                known.used = clock;
                FileState::Held(known.read.clone())
            }
            _ => FileState::Changed,
        }
    }

    fn stamp(&self, [category, tool, file]: &Name) -> Option<Stamp> {
        let mut path = self.root.join(category);
        path.push(tool);
        path.push(file);
        let meta = std::fs::symlink_metadata(path).ok()?;
        Some((meta.size(), meta.mtime(), meta.mtime_nsec(), meta.ino()))
    }

    /// Reads a file, and replaces its loaded content.
    fn read(&self, name: &Name) -> Option<Result<Arc<CacheFile>, String>> {
        // The stamp is taken first; a change during reading is noticed the next time.
        let stamp = self.stamp(name)?;
        let read = self.text(name).transpose()?.and_then(|text| {
            let file = CacheFile::read(text)
                .map_err(|why| unreadable(&self.root, name, &why.to_string()))?;
            Ok(Arc::new(file))
        });
        // File timestamps are coarse: a file written just now may change again within the same
        // timestamp.
        let age = clock::now_ms() - (stamp.1 * 1000 + stamp.2 / 1_000_000);
        let held = if age < SETTLES_MS { (stamp.0, stamp.1, stamp.2, 0) } else { stamp };
        lock(&self.held).put(name, held, read.clone());
        Some(read)
    }

    fn text(&self, name: &Name) -> Result<Option<String>, String> {
        let said = |why: DiskError| format!("A file of the cache cannot be read: {why}");
        let Some(folder) = Folder::find(&self.root, &[&name[0], &name[1]]).map_err(said)? else {
            return Ok(None);
        };
        let Some(bytes) = folder.read(&name[2], LARGEST).map_err(said)? else { return Ok(None) };
        let text = String::from_utf8(bytes)
            .map_err(|_| unreadable(&self.root, name, "it is not UTF-8 text."))?;
        Ok(Some(text))
    }

    /// Writes all waiting replies of a file, and notifies their tasks.
    fn write_all(&self, name: &Name, batch: Vec<Waiting>) {
        let replies: Vec<(&str, &Py)> =
            batch.iter().map(|one| (one.key.as_str(), &*one.reply)).collect();
        let written = self.write(name, &replies);
        for one in batch {
            // The receiver may have been dropped.
            let _ = one.done.send(written.clone());
        }
    }

    /// Adds replies to a file, or to a `.beside.json` file if it is unreadable.
    fn write(&self, name: &Name, replies: &[(&str, &Py)]) -> Result<Option<String>, String> {
        let said = |why: DiskError| format!("The reply could not be saved: {why}");
        let folder = Folder::make_whole(&self.root, &[&name[0], &name[1]], PUBLIC).map_err(said)?;
        locked(&folder)?;
        if lock(&self.cleared).insert(name.clone())
            && let Err(error) = atomic_write::clear(&folder, &name[2])
        {
            tracing::debug!(%error, "temporary files of a dead process stay; they do no harm");
        }
        match self.add(&folder, name, replies) {
            Err(Refused::Disk(why)) => Err(said(why)),
            Ok(()) => Ok(None),
            Err(Refused::Unreadable(why)) => {
                let stem = name[2].trim_end_matches(".json");
                let beside = [name[0].clone(), name[1].clone(), format!("{stem}.beside.json")];
                match self.add(&folder, &beside, replies) {
                    Ok(()) => Ok(Some(format!(
                        "{why} It is unchanged, and the reply is saved in {}.",
                        beside[2]
                    ))),
                    Err(Refused::Disk(why)) => Err(said(why)),
                    Err(Refused::Unreadable(other)) => {
                        Err(format!("The reply could not be saved. {why} {other}"))
                    }
                }
            }
        }
    }

    fn add(&self, folder: &Folder, name: &Name, replies: &[(&str, &Py)]) -> Result<(), Refused> {
        let old = match self.look(name) {
            FileState::Missing => None,
            FileState::Held(read) => Some(read),
            FileState::Changed => self.read(name),
        };
        let old = old.unwrap_or_else(|| Ok(Arc::default())).map_err(Refused::Unreadable)?;
        let new = old.with(replies.iter().copied());
        atomic_write::put(folder, &name[2], new.text().as_bytes(), FRESH).map_err(Refused::Disk)?;
        if let Some(stamp) = self.stamp(name) {
            lock(&self.held).put(name, stamp, Ok(Arc::new(new)));
        }
        Ok(())
    }

    /// Removes a queue that is not in use.
    fn forget(&self, name: &Name, queue: Arc<Queue>) {
        let mut queues = lock(&self.queues);
        drop(queue);
        if queues.get(name).is_some_and(|queue| Arc::strong_count(queue) == 1) {
            queues.remove(name);
        }
    }
}

enum Refused {
    Disk(DiskError),
    Unreadable(String),
}

/// Locks a folder. The lock is released when the folder is closed. Fails after a timeout.
fn locked(folder: &Folder) -> Result<(), String> {
    let begun = Instant::now();
    loop {
        match folder.try_lock() {
            Ok(true) => return Ok(()),
            Ok(false) if begun.elapsed() < PATIENCE => std::thread::sleep(PAUSE),
            Ok(false) => {
                let path = folder.path.display();
                return Err(format!(
                    "The reply could not be saved: another process holds the lock of {path}."
                ));
            }
            Err(error) => {
                let path = folder.path.display();
                return Err(format!(
                    "The reply could not be saved: {path} cannot be locked ({error})."
                ));
            }
        }
    }
}

fn unreadable(root: &std::path::Path, name: &Name, why: &str) -> String {
    let path = root.join(name.join("/"));
    format!("The file of cached replies {} cannot be read: {why}", path.display())
}

impl HeldFiles {
    fn new(most: usize) -> Self {
        Self { most, files: HashMap::new(), bytes: 0, clock: 0 }
    }

    fn put(&mut self, name: &Name, stamp: Stamp, read: Result<Arc<CacheFile>, String>) {
        self.remove(name);
        self.clock += 1;
        let bytes = read.as_ref().map_or(0, |file| file.weight());
        self.bytes += bytes;
        self.files.insert(name.clone(), LoadedFile { stamp, read, bytes, used: self.clock });
        // The new entry stays: it is about to be used.
        while self.bytes > self.most && self.files.len() > 1 {
            let Some(oldest) =
                self.files.iter().min_by_key(|(_, held)| held.used).map(|(name, _)| name.clone())
            else {
                return;
            };
            self.remove(&oldest);
        }
    }

    fn remove(&mut self, name: &Name) {
        if let Some(held) = self.files.remove(name) {
            self.bytes -= held.bytes;
        }
    }
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns true if a reply has an empty error and a nonempty response.
pub(super) fn succeeds(reply: &Py) -> bool {
    let error = reply.get("error").and_then(Py::text);
    let response = reply.get("response").is_some_and(|response| !response.str().is_empty());
    error.as_deref() == Some("") && response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(file: &str) -> Name {
        ["c".to_owned(), "t".to_owned(), file.to_owned()]
    }

    #[test]
    fn the_least_recently_used_file_is_evicted_first() {
        let file = || {
            Ok(Arc::new(CacheFile::read(format!("{{\"k\": \"{}\"}}", "x".repeat(1000))).unwrap()))
        };
        let mut held = HeldFiles::new(3500);
        for which in ["a", "b", "c"] {
            held.put(&name(which), (0, 0, 0, 0), file());
        }
        let clock = held.clock + 1;
        held.files.get_mut(&name("a")).unwrap().used = clock;
        held.clock = clock;
        held.put(&name("d"), (0, 0, 0, 0), file());
        let mut left: Vec<_> = held.files.keys().map(|name| name[2].clone()).collect();
        left.sort();
        assert_eq!(left, ["a", "c", "d"]);
        held.put(
            &name("large"),
            (0, 0, 0, 0),
            Ok(Arc::new(CacheFile::read(format!("{{}}{}", " ".repeat(9000))).unwrap())),
        );
        assert_eq!((held.files.len(), held.bytes), (1, 9002), "what is about to be used stays");
        held.remove(&name("large"));
        assert_eq!(held.bytes, 0);
    }
}
