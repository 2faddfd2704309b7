//! The copy of a bucket in the cache: opens it, keeps it up to date on a thread of its own, and tells
//! how far it is. One process at a time writes a copy; others read it.
use super::address::BucketAddress;
use super::catalog::Catalog;
use super::follow::Follower;
use super::settings::Settings;
use super::trouble::{Trouble, TroubleKind};
use fs_err as fs;
use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;
use touchstone_store::index_dir::{create_private, discard, make_private};
use xxhash_rust::xxh3::xxh3_64;

/// Folder of all copies in the cache.
const COPIES: &str = "buckets";
/// Names in the folder of a copy.
const FILES: &str = "files";
const INCOMING: &str = "incoming";
const OBJECTS: &str = "objects.jsonl";
const LOCK: &str = "lock";
const ADDRESS: &str = "bucket.txt";
/// Least time between two notices of progress.
const PROGRESS: Duration = Duration::from_millis(250);
/// Maximum number of reasons that are kept.
const MOST_REFUSED: usize = 1_000;
/// Time after which a copy that another process keeps is looked at again.
const OTHER: Duration = Duration::from_millis(500);

/// How a copy is kept.
pub struct CopyOptions {
    /// Folder of the program's caches.
    pub cache_dir: PathBuf,
    /// Bucket and prefix.
    pub address: BucketAddress,
    /// Server and keys.
    pub settings: Settings,
    /// Maximum size of an object.
    pub object_bytes: u64,
    /// Maximum number of folders that an object is in.
    pub depth: usize,
    /// Names of folders that may hold results, which are found before anything is copied.
    pub result_folders: &'static [&'static str],
    /// Lists everything once and ends, for a command; otherwise goes on with what changes.
    pub once: bool,
    /// Called when the status changed.
    pub on_change: Box<dyn Fn() + Send + Sync>,
}

/// How far a copy is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "they are independent of each other")]
pub struct CopyStatus {
    /// Number of objects that are read, as far as they were listed.
    pub total: u64,
    /// Number of those that are copied.
    pub copied: u64,
    /// True while objects are listed for the first time.
    pub listing: bool,
    /// True once all objects were listed and copied.
    pub complete: bool,
    /// Time of the last check without trouble, in milliseconds since 1970.
    pub checked_ms: Option<i64>,
    /// Why it does not go on.
    pub trouble: Option<Trouble>,
    /// What is waited for at this moment.
    pub waiting: Option<Trouble>,
    /// Number of objects that cannot be copied.
    pub refused: u64,
    /// Number of requests so far.
    pub requests: u64,
    /// Number of requests of the last check.
    pub last_check_requests: u64,
    /// True if another process keeps this copy up to date.
    pub elsewhere: bool,
    /// True when the thread has ended.
    pub ended: bool,
}

/// Status of a copy, with change notification.
pub(crate) struct Shared {
    status: Mutex<CopyStatus>,
    changed: Condvar,
    refused: Mutex<BTreeMap<String, String>>,
    told: Mutex<Option<Instant>>,
    on_change: Box<dyn Fn() + Send + Sync>,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, CopyStatus> {
        self.status.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a copy of the status.
    pub(crate) fn status(&self) -> CopyStatus {
        self.lock().clone()
    }

    /// Changes the status, and tells it at once.
    pub(crate) fn change(&self, change: impl FnOnce(&mut CopyStatus)) {
        change(&mut self.lock());
        self.changed.notify_all();
        (self.on_change)();
    }

    /// Changes the status, and tells it unless it was told a moment ago.
    pub(crate) fn progress(&self, change: impl FnOnce(&mut CopyStatus)) {
        change(&mut self.lock());
        self.changed.notify_all();
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if told.is_none_or(|told| told.elapsed() >= PROGRESS) {
            *told = Some(Instant::now());
            (self.on_change)();
        }
    }

    /// Notes what is waited for, if that is new.
    pub(crate) fn waiting(&self, trouble: Option<&Trouble>) {
        if self.lock().waiting.as_ref() != trouble {
            self.change(|status| status.waiting = trouble.cloned());
        }
    }

    /// Notes that an object cannot be copied.
    pub(crate) fn refuse(&self, key: &str, why: String) {
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        let is_new = refused.len() < MOST_REFUSED && refused.insert(key.to_owned(), why).is_none();
        let count = refused.len() as u64;
        drop(refused);
        if is_new {
            self.progress(|status| status.refused = count);
        }
    }

    /// Forgets the reasons of these objects.
    pub(crate) fn accept(&self, is_over: impl Fn(&str) -> bool) {
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        refused.retain(|key, _| !is_over(key));
        let count = refused.len() as u64;
        drop(refused);
        let mut status = self.lock();
        status.refused = count;
    }
}

/// Open copy of a bucket.
pub struct BucketCopy {
    /// Bucket and prefix.
    pub address: BucketAddress,
    /// What a person should know about the connection.
    pub notice: Option<String>,
    /// Folder that is laid out like the bucket.
    pub files: PathBuf,
    dir: PathBuf,
    shared: Arc<Shared>,
    stop: CancellationToken,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl BucketCopy {
    /// Opens a copy and starts to keep it up to date. For a bucket without a copy, this asks the
    /// server first, and fails if it cannot be read.
    pub fn open(options: CopyOptions) -> Result<Self, Trouble> {
        let dir = dir_of(&options.cache_dir, &options.address, &options.settings);
        let lock = claim(&dir, &options.address).map_err(|error| unwritable(&dir, &error))?;
        let CopyOptions {
            address,
            settings,
            object_bytes,
            depth,
            result_folders,
            once,
            on_change,
            ..
        } = options;
        let shared = Arc::new(Shared {
            status: Mutex::default(),
            changed: Condvar::new(),
            refused: Mutex::default(),
            told: Mutex::default(),
            on_change,
        });
        let (stop, files) = (CancellationToken::new(), dir.join(FILES));
        let notice = settings.notice.clone();
        let work = Work {
            dir: dir.clone(),
            files: files.clone(),
            address: address.clone(),
            settings,
            object_bytes,
            depth,
            result_folders,
            once,
            shared: Arc::clone(&shared),
            stop: stop.clone(),
        };
        let (ready, opened) = channel();
        let thread = std::thread::Builder::new()
            .name("bucket".to_owned())
            .spawn(move || work.run(lock, &ready))
            .map_err(|error| unwritable(&dir, &error))?;
        let thread = Mutex::new(Some(thread));
        let copy = Self { address, notice, files, dir, shared, stop, thread };
        // The thread ends without a word only if it panicked.
        if let Err(trouble) = opened.recv().unwrap_or_else(|_| Err(Trouble::stopped())) {
            copy.stop();
            copy.discard_if_empty();
            return Err(trouble);
        }
        Ok(copy)
    }

    /// Returns how far the copy is.
    pub fn status(&self) -> CopyStatus {
        self.shared.lock().clone()
    }

    /// Returns the objects that cannot be copied, with the reasons as sentences.
    pub fn refused(&self) -> Vec<(String, String)> {
        let refused = self.shared.refused.lock().unwrap_or_else(PoisonError::into_inner);
        refused.iter().map(|(key, why)| (key.clone(), why.clone())).collect()
    }

    /// Waits until everything was listed and copied once, calling `progress` now and then. Fails
    /// with the trouble that keeps it from that.
    pub fn wait_whole(&self, mut progress: impl FnMut(&CopyStatus)) -> Result<(), Trouble> {
        let mut status = self.shared.lock();
        loop {
            if status.elsewhere {
                drop(status);
                return self.wait_elsewhere();
            }
            match &status.trouble {
                Some(trouble) => return Err(trouble.clone()),
                None if status.checked_ms.is_some() => return Ok(()),
                None if status.ended => return Err(Trouble::stopped()),
                None => {}
            }
            let seen = status.clone();
            drop(status);
            progress(&seen);
            status = self.shared.lock();
            let wait = self.shared.changed.wait_timeout(status, PROGRESS);
            status = wait.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Waits until the process that keeps the copy has copied everything once.
    fn wait_elsewhere(&self) -> Result<(), Trouble> {
        loop {
            let read = Catalog::read(&self.dir.join(OBJECTS));
            let (catalog, _) = read.map_err(|error| unwritable(&self.dir, &error))?;
            if catalog.complete {
                return Ok(());
            }
            if !self.shared.lock().elsewhere {
                return self.wait_whole(|_| {});
            }
            std::thread::sleep(OTHER);
        }
    }

    /// Removes the folder of a copy that holds nothing, such as that of a mistyped address.
    fn discard_if_empty(&self) {
        let objects = fs::metadata(self.dir.join(OBJECTS)).map_or(0, |meta| meta.len());
        if objects == 0
            && let Err(error) = discard(&self.dir)
        {
            tracing::debug!(%error, "the folder of an empty copy could not be removed");
        }
    }

    /// Stops the thread. What was copied stays.
    pub fn stop(&self) {
        self.stop.cancel();
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if thread.is_some_and(|thread| thread.join().is_err()) {
            tracing::error!("the thread of a bucket ended by a panic");
        }
    }
}

impl Drop for BucketCopy {
    fn drop(&mut self) {
        self.stop();
    }
}

/// What the thread of a copy works with.
pub(crate) struct Work {
    dir: PathBuf,
    pub(crate) files: PathBuf,
    pub(crate) address: BucketAddress,
    pub(crate) settings: Settings,
    pub(crate) object_bytes: u64,
    pub(crate) depth: usize,
    pub(crate) result_folders: &'static [&'static str],
    pub(crate) once: bool,
    pub(crate) shared: Arc<Shared>,
    pub(crate) stop: CancellationToken,
}

impl Work {
    pub(crate) fn incoming(&self) -> PathBuf {
        self.dir.join(INCOMING)
    }

    pub(crate) fn objects(&self) -> PathBuf {
        self.dir.join(OBJECTS)
    }

    pub(crate) fn unwritable(&self, error: &std::io::Error) -> Trouble {
        unwritable(&self.dir, error)
    }

    fn run(self, lock: Option<fs::File>, ready: &Sender<Result<(), Trouble>>) {
        let (shared, stop) = (Arc::clone(&self.shared), self.stop.clone());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = match runtime {
            Ok(runtime) => runtime,
            Err(error) => return drop(ready.send(Err(self.unwritable(&error)))),
        };
        runtime.block_on(async {
            let lock = if let Some(lock) = lock {
                lock
            } else {
                shared.change(|status| status.elsewhere = true);
                let _ = ready.send(Ok(()));
                let Some(lock) = self.wait_for_lock(&stop).await else { return };
                lock
            };
            shared.change(|status| status.elsewhere = false);
            match Follower::new(self) {
                Ok(follower) => follower.run(ready).await,
                Err(trouble) => drop(ready.send(Err(trouble))),
            }
            drop(lock);
        });
        shared.change(|status| status.ended = true);
    }

    /// Waits until no other process keeps the copy. Returns `None` when it is stopped.
    async fn wait_for_lock(&self, stop: &CancellationToken) -> Option<fs::File> {
        loop {
            tokio::select! {
                () = stop.cancelled() => return None,
                () = tokio::time::sleep(OTHER) => {}
            }
            if let Ok(Some(lock)) = claim(&self.dir, &self.address) {
                return Some(lock);
            }
        }
    }
}

/// Claims the folder of a copy; `None` if another process holds it.
fn claim(dir: &Path, address: &BucketAddress) -> std::io::Result<Option<fs::File>> {
    make_private(&dir.join(FILES))?;
    let lock =
        fs::OpenOptions::new().create(true).truncate(false).write(true).open(dir.join(LOCK))?;
    match lock.try_lock() {
        Ok(()) => {
            create_private(&dir.join(ADDRESS))?.write_all(format!("{address}\n").as_bytes())?;
            Ok(Some(lock))
        }
        Err(std::fs::TryLockError::WouldBlock) => Ok(None),
        Err(std::fs::TryLockError::Error(error)) => Err(error),
    }
}

fn unwritable(dir: &Path, error: &std::io::Error) -> Trouble {
    let why = touchstone_store::open::reason(error);
    let message = format!("The copy in {} cannot be written: {why}.", dir.display());
    let hint = "Free some space, or set XDG_CACHE_HOME to a folder with enough of it.";
    Trouble::new(TroubleKind::Disk, message, hint)
}

/// Returns the folder of the copy of a bucket.
pub fn dir_of(cache_dir: &Path, address: &BucketAddress, settings: &Settings) -> PathBuf {
    let endpoint = settings.endpoint.as_ref().map_or("", |url| url.as_str());
    let name = format!("{endpoint}\n{}\n{}", address.bucket, address.prefix);
    cache_dir.join(COPIES).join(format!("{:016x}", xxh3_64(name.as_bytes())))
}

/// A copy in the cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownCopy {
    /// Its folder.
    pub dir: PathBuf,
    /// Address of the bucket, as text.
    pub address: String,
}

/// Returns the copies in the cache.
pub fn copies(cache_dir: &Path) -> Vec<KnownCopy> {
    let entries = fs::read_dir(cache_dir.join(COPIES)).into_iter().flatten().flatten();
    let mut all: Vec<KnownCopy> = entries
        .filter_map(|entry| {
            let dir = entry.path();
            let address = fs::read_to_string(dir.join(ADDRESS)).ok()?.trim_end().to_owned();
            Some(KnownCopy { dir, address })
        })
        .collect();
    all.sort_by(|one, other| one.address.cmp(&other.address));
    all
}

/// Deletes a copy. Fails if a process keeps it open.
pub fn delete(copy: &KnownCopy) -> std::io::Result<()> {
    let lock = fs::File::open(copy.dir.join(LOCK))?;
    if lock.try_lock().is_err() {
        return Err(std::io::ErrorKind::ResourceBusy.into());
    }
    discard(&copy.dir)
}
