//! Results of one open folder: starts and stops its threads. Its fields give access to its parts.
use super::inbox::{Hints, Inbox};
use super::index::{Index, IndexError};
use super::indexer::{Indexer, Publish, Shared};
use super::ingest::STACK;
use super::limits::Limits;
use super::live::{IndexStatus, Live};
use super::roots::{FileId, Roots};
use super::scoring::write::ProgramResult;
use super::settings::ReadSettings;
use super::suites::{SuiteLoader, SuiteStore};
use std::path::Path;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use touchstone_api::Phase;

/// Maximum time that the file watcher waits for the first listing.
const LISTING: Duration = Duration::from_secs(2);

fn is_listed(now: &IndexStatus) -> bool {
    now.took.scan.is_some() || matches!(now.phase, Phase::Failed { .. })
}

/// Open folder that is kept indexed.
pub struct FolderIndex {
    /// Directories of the folder.
    pub roots: Arc<Roots>,
    /// Index for queries.
    pub index: Arc<Index>,
    /// Live status.
    pub live: Arc<Live>,
    /// Tasks of the folder.
    pub shelf: Arc<SuiteStore>,
    /// Limits in effect.
    pub limits: Limits,
    inbox: Arc<Inbox>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl FolderIndex {
    /// Opens the index and starts the threads.
    pub fn start(
        roots: Roots,
        cache_dir: &Path,
        limits: Limits,
        settings: ReadSettings,
        publish: Publish,
    ) -> Result<Self, IndexError> {
        let (index, writer) = Index::open(cache_dir, &roots.output_dir)?;
        let (shelf, suites) = (Arc::new(SuiteStore::default()), limits.suites);
        let shared = Shared {
            roots: Arc::new(roots),
            index: Arc::new(index),
            live: Arc::new(Live::new()),
            inbox: Arc::new(Inbox::new(&limits)),
            watch: Arc::default(),
            limits: limits.clone(),
        };
        let flow = Self {
            roots: Arc::clone(&shared.roots),
            index: Arc::clone(&shared.index),
            live: Arc::clone(&shared.live),
            inbox: Arc::clone(&shared.inbox),
            shelf: Arc::clone(&shelf),
            limits,
            threads: Mutex::default(),
        };
        let inbox = Arc::clone(&shared.inbox);
        flow.index.when_doubted(Box::new(move || inbox.add(|hints| hints.doubt = true)));
        flow.spawn("watch", {
            let Shared { roots, inbox, live, limits, watch, .. } = shared.clone();
            move || {
                // Setting up the watches walks all directories, too. Changes made before that are
                // found by the listing it requests.
                live.wait(|now| inbox.is_stopping() || is_listed(now), limits.calm + LISTING);
                if !inbox.is_stopping() {
                    watch.start(&roots, limits.watch, &inbox);
                }
            }
        })?;
        let index = Arc::clone(&shared.index);
        flow.spawn("columns", move || index.keep_columns())?;
        flow.spawn("index", move || {
            Indexer::new(shared, writer, SuiteLoader::new(shelf, suites), settings, publish).run();
        })?;
        Ok(flow)
    }

    fn spawn(&self, name: &str, work: impl FnOnce() + Send + 'static) -> Result<(), IndexError> {
        let thread =
            std::thread::Builder::new().name(name.to_owned()).stack_size(STACK).spawn(work)?;
        self.threads.lock().unwrap_or_else(PoisonError::into_inner).push(thread);
        Ok(())
    }

    /// Requests a full listing.
    pub fn rescan(&self) {
        self.live.stir();
        self.inbox.add(|hints: &mut Hints| hints.rescan = true);
    }

    /// Requests a look at a file that was just written, without waiting for the file watcher.
    pub fn look_at(&self, file: &FileId) {
        if let Some(path) = self.roots.path(file) {
            self.inbox.add(|hints: &mut Hints| {
                hints.touched.insert(path);
            });
        }
    }

    /// Requests that the file of a run is read now, if a claim of a segment stands for it.
    pub fn read_claimed(&self, file: FileId) {
        self.inbox.add(|hints: &mut Hints| {
            hints.unread.push(file);
        });
    }

    /// Stores the results of scorer programs. Returns false when that fails or times out.
    pub fn keep_scores(&self, kept: Vec<ProgramResult>, timeout: Duration) -> bool {
        let (tell, told) = channel();
        self.inbox.add(|hints: &mut Hints| hints.kept.push((kept, tell)));
        told.recv_timeout(timeout).unwrap_or(false)
    }

    /// Stops the threads and closes the index. Indexed data stays readable until this is dropped.
    pub fn stop(&self) {
        self.inbox.stop();
        self.index.stop_columns();
        self.live.change(|standing| standing.stirred = true);
        let threads =
            std::mem::take(&mut *self.threads.lock().unwrap_or_else(PoisonError::into_inner));
        for thread in threads {
            if thread.join().is_err() {
                tracing::error!("a thread of the results flow ended by a panic");
            }
        }
    }
}

impl Drop for FolderIndex {
    fn drop(&mut self) {
        self.stop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fs_err as fs;
    use touchstone_api::WatchMeans;

    const DEADLINE: Duration = Duration::from_secs(20);
    const RUN: &str = "conversation:\n- user_message: Hello\n";

    /// Causes more events than the system queues for a slow reader.
    fn flood(dir: &Path) {
        let kept = fs::read_to_string("/proc/sys/fs/inotify/max_queued_events").unwrap();
        let names = [dir.join(".a"), dir.join(".b")];
        fs::write(&names[0], "").unwrap();
        // A move causes two events, and some are read before the reader blocks.
        for n in 0..kept.trim().parse::<usize>().unwrap() {
            fs::rename(&names[n % 2], &names[(n + 1) % 2]).unwrap();
        }
    }

    #[test]
    fn a_folder_that_was_made_while_the_queue_of_changes_overflowed_is_found_and_followed() {
        let home = tempfile::tempdir().unwrap();
        let results = home.path().join("results");
        fs::create_dir(&results).unwrap();
        let roots = Roots {
            folder: results.clone(),
            input_dir: None,
            output_dir: results.clone(),
            ..Roots::default()
        };
        // A regular listing would hide that no event arrives.
        let limits = Limits { rescan: Duration::from_hours(1), ..Limits::default() };
        let flow = FolderIndex::start(
            roots,
            &home.path().join("cache"),
            limits,
            Box::new(|| None),
            Box::new(drop),
        )
        .unwrap();
        let settled =
            |now: &IndexStatus| now.phase == Phase::Ready && now.watching.by == WatchMeans::Native;
        assert!(flow.live.wait(settled, DEADLINE));
        let late = results.join("late");
        // The thread that empties the queue is blocked while this closure runs.
        flow.inbox.add(|_| {
            flood(&results);
            fs::create_dir(&late).unwrap();
            fs::write(late.join("r0.yaml"), RUN).unwrap();
        });
        for n in 1..=4 {
            assert!(flow.live.wait(|now| now.counts.runs == n, DEADLINE), "run {n} did not show");
            fs::write(late.join(format!("r{n}.yaml")), RUN).unwrap();
        }
    }
}
