//! The copy of a bucket in the cache: opens it, keeps it up to date on a thread of its own, and tells
//! how far it is. One process at a time writes a copy; others read it.
use super::address::BucketAddress;
use super::error::{BucketError, BucketErrorKind};
use super::follow::{CHECKED, Follower, OBJECTS, Work, unwritable};
use super::marks;
use super::settings::Settings;
pub use super::status::CopyStatus;
use super::status::{PROGRESS, Shared};
use fs_err as fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{SendError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;
use touchstone_clock as clock;
use touchstone_store::index_dir::{create_private, discard, is_at, make_private};
use xxhash_rust::xxh3::xxh3_64;

/// Folder of all copies in the cache.
const COPIES: &str = "buckets";
/// Names in the folder of a copy.
const FILES: &str = "files";
const LOCK: &str = "lock";
const ADDRESS: &str = "bucket.txt";
/// Time after which a copy that another process keeps is looked at again.
const OTHER: Duration = Duration::from_millis(500);
/// Maximum time to wait for another process that does nothing.
const LONGEST_WAIT: Duration = Duration::from_mins(2);

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

/// Open copy of a bucket.
pub struct BucketCopy {
    /// Bucket and prefix.
    pub address: BucketAddress,
    /// What a person should know about the connection.
    pub notice: Option<String>,
    /// Folder that is laid out like the bucket.
    pub files: PathBuf,
    dir: PathBuf,
    opened_ms: i64,
    shared: Arc<Shared>,
    stop: CancellationToken,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl BucketCopy {
    /// Opens a copy and starts to keep it up to date. For a bucket without a copy, this asks the
    /// server first, and fails if it cannot be read.
    pub fn open(options: CopyOptions) -> Result<Self, BucketError> {
        let opened_ms = clock::now_ms();
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
        let shared = Arc::new(Shared::new(on_change));
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
        let (ready, answer) = channel();
        let thread = std::thread::Builder::new()
            .name("bucket".to_owned())
            .spawn(move || run(work, lock, &ready))
            .map_err(|error| unwritable(&dir, &error))?;
        let thread = Mutex::new(Some(thread));
        let copy = Self { address, notice, files, dir, opened_ms, shared, stop, thread };
        // The thread ends without a word only if it panicked.
        if let Err(error) = answer.recv().unwrap_or_else(|_| Err(BucketError::stopped())) {
            copy.stop();
            copy.discard_if_empty();
            return Err(error);
        }
        Ok(copy)
    }

    /// Returns the folder of the copy and of what belongs to it.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Returns true if all marks of red team scans are known that concern the copy.
    pub fn marks_are_known(&self) -> bool {
        marks::are_known(&self.dir)
    }

    /// Returns how far the copy is.
    pub fn status(&self) -> CopyStatus {
        self.shared.status()
    }

    /// Returns the objects that cannot be copied, with the reasons as sentences.
    pub fn refused(&self) -> Vec<(String, String)> {
        self.shared.refused()
    }

    /// Waits until everything was listed and copied once, calling `progress` now and then. Fails
    /// with the error that keeps it from that.
    pub fn wait_whole(&self, mut progress: impl FnMut(&CopyStatus)) -> Result<(), BucketError> {
        let mut status = self.shared.lock();
        loop {
            if status.elsewhere {
                drop(status);
                return self.wait_elsewhere(&mut progress);
            }
            match &status.error {
                Some(error) => return Err(error.clone()),
                None if status.checked_ms.is_some() => return Ok(()),
                None if status.ended => return Err(BucketError::stopped()),
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

    /// Waits until the process that keeps the copy has gone round all keys after this was opened.
    fn wait_elsewhere(&self, progress: &mut dyn FnMut(&CopyStatus)) -> Result<(), BucketError> {
        let (mut begun, mut last) = (Instant::now(), None);
        loop {
            if !self.shared.lock().elsewhere {
                return self.wait_whole(progress);
            }
            let checked = fs::read_to_string(self.dir.join(CHECKED)).unwrap_or_default();
            if checked.parse().is_ok_and(|at: i64| at >= self.opened_ms) {
                return Ok(());
            }
            // Both files are written while the other one is at work.
            let written = [CHECKED, OBJECTS].map(|name| {
                fs::metadata(self.dir.join(name)).and_then(|meta| meta.modified()).ok()
            });
            if last.replace(written).is_some_and(|last| last != written) {
                begun = Instant::now();
            }
            if begun.elapsed() > LONGEST_WAIT {
                return Err(self.not_checked());
            }
            progress(&self.status());
            std::thread::sleep(OTHER);
        }
    }

    fn not_checked(&self) -> BucketError {
        let (address, minutes) = (&self.address, LONGEST_WAIT.as_secs() / 60);
        let message = format!(
            "Another Touchstone keeps the copy of {address}, and could not check it for {minutes} minutes."
        );
        let hint = "See there what is wrong, or close the bucket there and try again.";
        BucketError::new(BucketErrorKind::Unreachable, message, hint)
    }

    /// Removes the folder of a copy that holds nothing, such as that of a mistyped address.
    fn discard_if_empty(&self) {
        let is_empty = || fs::metadata(self.dir.join(OBJECTS)).map_or(0, |meta| meta.len()) == 0;
        if let Err(error) = delete_if(&self.dir, is_empty) {
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

/// Runs the thread of a copy until it is stopped.
fn run(work: Work, lock: Option<fs::File>, ready: &Sender<Result<(), BucketError>>) {
    let (shared, stop) = (Arc::clone(&work.shared), work.stop.clone());
    let _ended = Ended(Arc::clone(&shared));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => return drop(ready.send(Err(work.unwritable(&error)))),
    };
    runtime.block_on(async {
        let lock = if let Some(lock) = lock {
            lock
        } else {
            shared.change(|status| status.elsewhere = true);
            let _ = ready.send(Ok(()));
            let Some(lock) = wait_for_lock(&work, &stop).await else { return };
            lock
        };
        shared.change(|status| status.elsewhere = false);
        match Follower::new(work) {
            Ok(follower) => follower.run(ready).await,
            Err(error) => {
                // Where the folder is open already, nobody waits for the answer.
                if let Err(SendError(Err(error))) = ready.send(Err(error)) {
                    shared.change(|status| status.error = Some(error));
                }
            }
        }
        drop(lock);
    });
    // A name that is being looked up would be waited for.
    runtime.shutdown_background();
}

/// Says in the status that the thread has ended, also by a panic.
struct Ended(Arc<Shared>);

impl Drop for Ended {
    fn drop(&mut self) {
        self.0.change(|status| status.ended = true);
    }
}

/// Waits until no other process keeps the copy. Returns `None` when it is stopped.
async fn wait_for_lock(work: &Work, stop: &CancellationToken) -> Option<fs::File> {
    loop {
        tokio::select! {
            () = stop.cancelled() => return None,
            () = tokio::time::sleep(OTHER) => {}
        }
        if let Ok(Some(lock)) = claim(&work.dir, &work.address) {
            return Some(lock);
        }
    }
}

/// Claims the folder of a copy; `None` if another process holds it.
fn claim(dir: &Path, address: &BucketAddress) -> std::io::Result<Option<fs::File>> {
    make_private(&dir.join(FILES))?;
    let path = dir.join(LOCK);
    let lock = fs::OpenOptions::new().create(true).truncate(false).write(true).open(&path)?;
    match lock.try_lock() {
        // The copy was deleted since.
        Ok(()) if !is_at(&lock, &path) => Ok(None),
        Ok(()) => {
            create_private(&dir.join(ADDRESS))?.write_all(format!("{address}\n").as_bytes())?;
            Ok(Some(lock))
        }
        Err(std::fs::TryLockError::WouldBlock) => Ok(None),
        Err(std::fs::TryLockError::Error(error)) => Err(error),
    }
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
    delete_if(&copy.dir, || true)
}

/// Deletes a copy if a condition is met while no process keeps it open.
fn delete_if(dir: &Path, condition: impl FnOnce() -> bool) -> std::io::Result<()> {
    let path = dir.join(LOCK);
    let lock = fs::File::open(&path)?;
    if lock.try_lock().is_err() || !is_at(&lock, &path) {
        return Err(std::io::ErrorKind::ResourceBusy.into());
    }
    if condition() { discard(dir) } else { Ok(()) }
}
