//! Opening and closing folders.
use super::found_results::{self, Places};
use super::named_paths::{self as opening, Named};
use super::{FolderActions, buckets, demo};
use crate::error::{AppError, Code};
use crate::folder_id::{folder_name, roots_id};
use crate::paths::{self, Resolved};
use crate::settings::workspace_settings;
use crate::{AppConfig, OpenFolder, Purpose};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use touchstone_api::{Folder, FoundResults, Opened, Stale};
use touchstone_objects::copy::BucketCopy;
use touchstone_store::folder_index::FolderIndex;
use touchstone_store::index::IndexError;
use touchstone_store::index_dir::TemporaryDir;
use touchstone_store::indexer::Change;
use touchstone_store::limits::Limits;
use touchstone_store::roots::Roots;

/// Interval of listings that are not wanted.
const NEVER: Duration = Duration::from_hours(24 * 365);

impl FolderActions<'_> {
    /// Opens a folder and closes the previous one.
    pub fn open(self, folder: &Path) -> Result<(), AppError> {
        self.open_with(folder, None, None)
    }

    /// Like [`Self::open`], with explicit input and output directories in place of those found in
    /// the folder.
    pub fn open_with(
        self,
        folder: &Path,
        input: Option<&Path>,
        output: Option<&Path>,
    ) -> Result<(), AppError> {
        if let Some(address) = buckets::address_of(folder) {
            refuse_directories(input, output)?;
            return self.open_bucket(address);
        }
        self.open_resolved(paths::resolve(folder)?.with(input, output)?, Purpose::Explore)
    }

    /// Like [`Self::open_with`], but the output directory need not exist: it is created with the
    /// first run.
    pub fn open_to_run(
        self,
        folder: &Path,
        input: Option<&Path>,
        output: Option<&Path>,
    ) -> Result<(), AppError> {
        self.open_resolved(resolve_to_run(folder, input, output)?, Purpose::Explore)
    }

    /// Like [`Self::open_to_run`], for one of many machines that share a launch: reads the tasks,
    /// but no results.
    pub fn open_as_worker(
        self,
        folder: &Path,
        input: Option<&Path>,
        output: Option<&Path>,
    ) -> Result<(), AppError> {
        self.open_resolved(resolve_to_run(folder, input, output)?, Purpose::Work)
    }

    fn open_resolved(self, resolved: Resolved, purpose: Purpose) -> Result<(), AppError> {
        self.open_resolved_with(resolved, purpose, None)
    }

    /// Opens a folder; for a bucket, the folder of its copy.
    pub(crate) fn open_resolved_with(
        self,
        Resolved { roots }: Resolved,
        purpose: Purpose,
        bucket: Option<BucketCopy>,
    ) -> Result<(), AppError> {
        let is_open = |open: Arc<OpenFolder>| {
            open.flow.roots.as_ref() == &roots && open.is_worker() == (purpose == Purpose::Work)
        };
        if self.app.current_folder().is_some_and(is_open) {
            return Ok(());
        }
        self.refuse_if_busy()?;
        let config = &self.app.inner.config;
        let samples = config.demo_dir.iter().cloned().chain([demo::copy_dir(&config.state_dir)]);
        let demo =
            samples.filter_map(|dir| fs_err::canonicalize(dir).ok()).any(|dir| dir == roots.folder);
        let mut row = Folder {
            id: roots_id(&roots),
            name: folder_name(&roots.folder),
            path: roots.folder.to_string_lossy().into_owned(),
            input_dir: roots.input_dir.as_ref().map(|dir| dir.to_string_lossy().into_owned()),
            output_dir: roots.output_dir.to_string_lossy().into_owned(),
            demo,
        };
        let mut path = roots.folder.clone();
        if let Some(copy) = &bucket {
            buckets::describe(&mut row, copy, &roots);
            path = PathBuf::from(&row.path);
        }
        // Read before the folder is indexed: a later change leads to a different stamp.
        let stamp = paths::workspace_stamp(&roots.folder);
        let workspace_problems = paths::workspace_problems(&roots.folder);
        let (flow, private_cache) = match purpose {
            Purpose::Explore => self.start(&roots)?,
            Purpose::Work => {
                let (flow, cache) = self.start_without_results(&roots)?;
                (flow, Some(cache))
            }
        };
        let workspace_problems = (stamp, Arc::new(workspace_problems));
        let open = OpenFolder::new(row, (flow, private_cache), workspace_problems, bucket);
        let old = self.replace_folder(Some(Arc::new(open)))?;
        if let Some(old) = old {
            old.stop();
        }
        if !demo
            && purpose == Purpose::Explore
            && let Err(error) = self.app.inner.recent.remember(&path)
        {
            tracing::warn!(%error, "the list of recent folders could not be written");
        }
        self.app.inner.bulletin.post(Stale::Folder);
        Ok(())
    }

    /// Starts indexing and watching a folder. If the cache directory is not usable, the index is
    /// created in a temporary directory instead.
    fn start(self, roots: &Roots) -> Result<(FolderIndex, Option<TemporaryDir>), AppError> {
        let config = &self.app.inner.config;
        let start = |dir: &Path| self.start_at(roots, dir, config.limits.clone());
        start(&config.cache_dir).map(|flow| (flow, None)).or_else(|error| {
            tracing::warn!(%error, "the cache folder cannot be used");
            let dir = TemporaryDir::make().map_err(IndexError::from)?;
            Ok((start(&dir.path)?, Some(dir)))
        })
    }

    /// Starts with the tasks of a folder alone, and follows nothing. Its index is empty, and shared
    /// with no other process.
    fn start_without_results(self, roots: &Roots) -> Result<(FolderIndex, TemporaryDir), AppError> {
        let (poll, rescan) = (NEVER, NEVER);
        let limits = self.app.inner.config.limits.clone();
        let limits = Limits { results: false, watch: false, poll, rescan, ..limits };
        let cache = TemporaryDir::make().map_err(IndexError::from)?;
        Ok((self.start_at(roots, &cache.path, limits)?, cache))
    }

    fn start_at(
        self,
        roots: &Roots,
        cache_dir: &Path,
        limits: Limits,
    ) -> Result<FolderIndex, IndexError> {
        let bulletin = self.app.inner.bulletin.sender();
        let publish = Box::new(move |change| bulletin.post(stale(change)));
        let settings = workspace_settings::follow(roots.folder.clone());
        FolderIndex::start(roots.clone(), cache_dir, limits, settings, publish)
    }

    /// Opens a folder from the list of recent folders. Fails if the id is not in the list.
    pub fn open_recent(self, id: &str) -> Result<(), AppError> {
        let gone = || {
            AppError::new(
                Code::NotFound,
                "This folder is not in the list of recent folders any more.",
            )
        };
        self.open(&self.app.inner.recent.find(id).ok_or_else(gone)?)
    }

    /// Opens paths that a person named: a folder, or the folder of files, with a filter for their
    /// runs. Files of the open folder are shown in it.
    pub fn open_paths(self, paths: &[PathBuf]) -> Result<Opened, AppError> {
        if let Some(address) = paths.iter().find_map(|path| buckets::address_of(path)) {
            if paths.len() > 1 {
                let error = AppError::new(Code::BadRequest, "A bucket is opened by itself.");
                return Err(error.hint("Name its address alone."));
            }
            self.open_bucket(address)?;
            return Ok(Opened {
                folder: self.app.require_folder()?.folder.clone(),
                filter: String::new(),
            });
        }
        let named = paths.iter().map(|path| opening::named(path));
        let named = named.collect::<Result<Vec<_>, _>>()?;
        let is_below = |path: &Named, dir: &Path| path.display_path().starts_with(dir);
        let deepest = self.app.inner.config.limits.depth;
        if let Some(open) = self.app.current_folder() {
            let output_dir = &open.flow.roots.output_dir;
            let is_shown =
                |path: &Named| matches!(path, Named::File { .. }) && is_below(path, output_dir);
            let are_shown = named.iter().all(is_shown)
                && opening::check_listed(&named, output_dir, deepest).is_ok();
            if !named.is_empty() && are_shown {
                let filter = opening::filter(&named, output_dir)?;
                return Ok(Opened { folder: open.folder.clone(), filter });
            }
        }
        let home = etcetera::home_dir().ok().and_then(|home| fs_err::canonicalize(home).ok());
        let opening = opening::plan(named, home.as_deref())?;
        let mut resolved = paths::resolve(&opening::folder_with_tasks(&opening))?;
        let holds_all = |dir: &Path| {
            opening.shown.iter().all(|path| is_below(path, dir))
                && opening::check_listed(&opening.shown, dir, deepest).is_ok()
        };
        if !holds_all(&resolved.roots.output_dir) {
            resolved = resolved.with(None, Some(&opening.folder))?;
            opening::check_listed(&opening.shown, &opening.folder, deepest)?;
        }
        let filter = opening::filter(&opening.shown, &resolved.roots.output_dir)?;
        self.open_resolved(resolved, Purpose::Explore)?;
        Ok(Opened { folder: self.app.require_folder()?.folder.clone(), filter })
    }

    /// Returns the folders of this machine in which other tools keep their results. Only names are
    /// looked at, for a second at most.
    pub fn found_results(self) -> Vec<FoundResults> {
        self.app.inner.looks.find(self.result_places())
    }

    /// Opens a folder that [`Self::found_results`] returned.
    pub fn open_found(self, id: &str) -> Result<(), AppError> {
        let gone = || {
            AppError::new(Code::NotFound, "This folder is not there any more.")
                .hint("Reload the page to see what is there now.")
        };
        self.open(&found_results::with_id(&self.result_places(), id).ok_or_else(gone)?)
    }

    fn result_places(self) -> Places {
        Places { recent: self.app.inner.recent.paths(), ..Places::of_user() }
    }

    /// Removes a folder from the list of recent folders. The folder itself is not touched.
    pub fn forget_recent(self, id: &str) -> Result<(), AppError> {
        self.app.inner.recent.forget(id).map_err(|error| {
            AppError::new(
                Code::Failed,
                format!("The list of recent folders could not be written: {error}."),
            )
        })
    }

    /// Opens the sample data, in a copy that belongs to the user.
    pub fn open_demo(self) -> Result<(), AppError> {
        let AppConfig { demo_dir, state_dir, .. } = &self.app.inner.config;
        let none = || AppError::new(Code::NotFound, "The sample data is not installed.");
        let sample = demo_dir.as_ref().filter(|dir| dir.is_dir()).ok_or_else(none)?;
        let copy = demo::copy(sample, state_dir).map_err(|error| {
            AppError::new(Code::Failed, format!("The sample data could not be copied: {error}."))
                .hint(format!(
                    "Free some space, or make this folder writable: {}.",
                    state_dir.display()
                ))
        })?;
        self.open(&copy)
    }

    /// Closes the open folder. Fails while work in it is in progress.
    pub fn close_folder(self) -> Result<(), AppError> {
        if let Some(open) = self.replace_folder(None)? {
            open.stop();
            self.app.inner.bulletin.post(Stale::Folder);
        }
        Ok(())
    }

    /// Replaces the open folder and returns the previous one. Fails if work was started there in
    /// the meantime.
    fn replace_folder(
        self,
        folder: Option<Arc<OpenFolder>>,
    ) -> Result<Option<Arc<OpenFolder>>, AppError> {
        let mut open = self.app.lock();
        if let Err(busy) = self.refuse_if_busy() {
            if let Some(folder) = &folder {
                folder.stop();
            }
            return Err(busy);
        }
        Ok(std::mem::replace(&mut *open, folder))
    }

    /// Fails while runs, judging, evaluations or generations are in progress in the open folder.
    pub(crate) fn refuse_if_busy(self) -> Result<(), AppError> {
        let inner = &self.app.inner;
        inner.launches.refuse_if_busy()?;
        inner.judgings.refuse_if_busy()?;
        inner.evaluations.refuse_if_busy()?;
        inner.generations.refuse_if_busy()
    }
}

/// Returns the directories of a folder whose output directory need not exist.
fn resolve_to_run(
    folder: &Path,
    input: Option<&Path>,
    output: Option<&Path>,
) -> Result<Resolved, AppError> {
    let all = [Some(folder), input, output];
    if let Some(address) = all.into_iter().flatten().find_map(buckets::address_of) {
        return Err(buckets::read_only_text(address));
    }
    let mut resolved = paths::resolve(folder)?.with(input, None)?;
    if let Some(dir) = output {
        resolved.roots.output_dir = paths::absolute_path(dir);
    }
    Ok(resolved)
}

/// Fails if directories of a bucket are given by themselves.
fn refuse_directories(input: Option<&Path>, output: Option<&Path>) -> Result<(), AppError> {
    let given = [input, output].into_iter().flatten();
    if given.into_iter().all(|dir| buckets::address_of(dir).is_some()) && input.is_none() {
        return Ok(());
    }
    let error = AppError::new(Code::BadRequest, "A bucket is opened without other directories.");
    Err(error.hint("Leave out --input-dir and --output-dir."))
}

fn stale(change: Change) -> Stale {
    match change {
        Change::Status => Stale::Status,
        Change::Launches => Stale::Launches,
        Change::Runs { generation, ids } => Stale::Runs { generation, all: ids.is_empty(), ids },
    }
}
