//! The open folder with everything that was read from it.
use crate::error::{AppError, Code};
use crate::failures::Failures;
use crate::paths;
use crate::reviews::reviewing::ReviewChanges;
use crate::runs::reading::Reading;
use crate::sensitive::sensitive_marks::KnownMarks;
use crate::suites::suite_sources::LastSources;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;
use touchstone_api::{Author, Folder, Phase, Problem};
use touchstone_objects::copy::BucketCopy;
use touchstone_store::catalog::Catalogs;
use touchstone_store::filter::Labels;
use touchstone_store::folder_index::FolderIndex;
use touchstone_store::index_dir::TemporaryDir;
use touchstone_store::indexer::LOST;
use touchstone_store::query::Lists;

/// Size, inode and modification time of a workspace file; `None` if there is no file.
type WorkspaceStamp = Option<(u64, u64, i64, i64)>;

/// What a folder is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// To read its results and to run its tasks.
    Explore,
    /// To run a part of its tasks, without a look at other results.
    Work,
}

/// An open folder with everything read from it.
pub(crate) struct OpenFolder {
    pub(crate) folder: Folder,
    pub(crate) flow: FolderIndex,
    pub(crate) lists: Lists,
    pub(crate) reading: Reading,
    pub(crate) catalogs: Catalogs,
    pub(crate) failures: Failures,
    /// Name of the reviewer, where none is given.
    pub(crate) author: OnceLock<Author>,
    /// Tasks that a suite was last planned from.
    pub(crate) suite_sources: LastSources,
    /// The latest changes of reviews, which can be undone.
    pub(crate) review_changes: Mutex<ReviewChanges>,
    /// Problems of the workspace file, with the stamp for which they were found.
    workspace_problems: Mutex<(WorkspaceStamp, Arc<Vec<Problem>>)>,
    /// Labels of the workspace file, with the stamp of the file that they were read from.
    labels: Mutex<Option<(WorkspaceStamp, Arc<Labels>)>>,
    /// Marks of runs of attacks that were read.
    pub(crate) sensitive: Mutex<KnownMarks>,
    /// Time that a query waits for an index that is being rebuilt. Not set where queries must not
    /// wait, such as in a window.
    pub(crate) patience: OnceLock<Duration>,
    /// Copy that is shown, for a bucket.
    pub(crate) bucket: Option<BucketCopy>,
    /// Dropped after the index that lies in it.
    _private_cache: Option<TemporaryDir>,
}

impl OpenFolder {
    /// Returns a folder with its index, of which nothing else was read yet. For a temporary index,
    /// its directory comes with it.
    pub(crate) fn new(
        folder: Folder,
        (flow, private_cache): (FolderIndex, Option<TemporaryDir>),
        workspace_problems: (WorkspaceStamp, Arc<Vec<Problem>>),
        bucket: Option<BucketCopy>,
    ) -> Self {
        Self {
            folder,
            lists: Lists::new(&flow.shelf),
            flow,
            reading: Reading::default(),
            catalogs: Catalogs::default(),
            failures: Failures::default(),
            author: OnceLock::new(),
            suite_sources: LastSources::default(),
            review_changes: Mutex::default(),
            workspace_problems: Mutex::new(workspace_problems),
            labels: Mutex::default(),
            sensitive: Mutex::default(),
            patience: OnceLock::new(),
            bucket,
            _private_cache: private_cache,
        }
    }

    /// Stops everything that goes on in the folder by itself.
    pub(crate) fn stop(&self) {
        self.failures.stop();
        if let Some(copy) = &self.bucket {
            copy.stop();
        }
        self.flow.stop();
    }

    /// Returns true if the folder is open for a part of a launch on many machines, which looks at
    /// the files of its own runs only.
    pub(crate) fn is_worker(&self) -> bool {
        !self.flow.limits.results
    }

    /// Returns the current problems of the workspace file. For an unchanged file this costs only a
    /// read of its metadata.
    pub(crate) fn workspace_problems(&self) -> Arc<Vec<Problem>> {
        let folder = &self.flow.roots.folder;
        let stamp = paths::workspace_stamp(folder);
        let mut seen = self.workspace_problems.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.0 != stamp {
            *seen = (stamp, Arc::new(paths::workspace_problems(folder)));
        }
        Arc::clone(&seen.1)
    }

    /// Returns the current labels of the workspace file; those from before while it cannot be read.
    /// For an unchanged file this costs only a read of its metadata.
    pub(crate) fn labels(&self) -> Arc<Labels> {
        let folder = &self.flow.roots.folder;
        let stamp = paths::workspace_stamp(folder);
        let mut seen = self.labels.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, labels)) = seen.as_ref().filter(|(known, _)| *known == stamp) {
            return Arc::clone(labels);
        }
        let labels = match paths::workspace(folder) {
            Some(Ok(workspace)) => Arc::new(Labels::new(&workspace.labels)),
            None => Arc::default(),
            Some(Err(_)) => seen.take().map(|(_, labels)| labels).unwrap_or_default(),
        };
        *seen = Some((stamp, Arc::clone(&labels)));
        labels
    }

    /// Fails if nothing can be written: for a bucket, and if directories are missing whose runs are still
    /// shown. Files written now would land in
    /// an empty folder with the same name, and runs that already exist would be run again.
    pub(crate) fn check_directories_exist(&self) -> Result<(), AppError> {
        self.check_writable()?;
        let now = self.flow.live.now();
        match now.phase {
            Phase::Failed { reason, hint } if hint == LOST => {
                Err(AppError::new(Code::Failed, reason).hint(LOST))
            }
            _ if now.counts.runs + now.counts.other_files > 0 => {
                let dir = &self.flow.roots.output_dir;
                fs_err::read_dir(dir).map(drop).map_err(|error| {
                    AppError::new(Code::Failed, touchstone_store::watching::lost(dir, &error))
                        .hint(LOST)
                })
            }
            _ => Ok(()),
        }
    }
}
