//! State of the roots and of the file watching, and the notices about them.
use super::indexer::Indexer;
use super::indexer::Shared;
use super::roots::{FileId, Root};
use super::scan::{self, Survey};
use super::{load, open};
use rustix::fs::{AtFlags, CWD, StatxFlags, statx};
use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::SystemTime;
use touchstone_api::Watching;

/// Inode and creation time of a directory. Inode numbers are reused for new directories.
pub(crate) type Identity = (u64, Option<SystemTime>);

fn identity(dir: &Path) -> Option<Identity> {
    let meta = dir.symlink_metadata().ok()?;
    Some((meta.ino(), meta.created().ok()))
}

/// State of a root: its identity and mount, or the reason it cannot be listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RootState {
    /// Listable, with its identity and mount id.
    There(Option<Identity>, Option<u64>),
    /// Not listable.
    Lost(ErrorKind),
}

/// Returns the id of the mount that contains a path. `None` when the system does not support it.
fn mount_of(path: &Path) -> Option<u64> {
    let found = statx(CWD, path, AtFlags::empty(), StatxFlags::MNT_ID).ok()?;
    (found.stx_mask & StatxFlags::MNT_ID.bits() != 0).then_some(found.stx_mnt_id)
}

/// Returns true when the directory itself is a mount point.
fn is_mounted(dir: &Path) -> bool {
    let above = dir.parent().and_then(mount_of);
    above.is_some() && mount_of(dir) != above
}

/// Message for a root that cannot be listed.
pub fn lost(dir: &Path, error: &io::Error) -> String {
    let dir = dir.display();
    match error.kind() {
        ErrorKind::NotFound => {
            format!("Folder not found: {dir} could not be listed: it is not there.")
        }
        ErrorKind::NotADirectory => format!("Folder not found: {dir} is a file now, not a folder."),
        ErrorKind::PermissionDenied => {
            format!("Folder not readable: you may no longer list {dir}.")
        }
        _ => format!("Folder not found: {dir} could not be listed: {}.", open::reason(error)),
    }
}

impl Indexer {
    /// Handles a missing results folder. It is not an error if there were never any results,
    /// because the folder is created by the first run. Otherwise it counts as lost and may return.
    pub(crate) fn heed_unborn(&mut self, scopes: &[FileId], survey: &mut Survey) {
        // Only a full listing of the root shows if there is anything in it.
        if !scopes.contains(&FileId::new(Root::Output, "")) {
            return;
        }
        let Shared { roots, limits, .. } = &self.shared;
        let is_gone = |survey: &Survey| {
            survey
                .failed
                .get(&Root::Output)
                .is_some_and(|error| error.kind() == ErrorKind::NotFound)
        };
        // Another process may have created it in the meantime and written its first runs to the
        // shared index.
        if is_gone(survey) && roots.output_dir.is_dir() {
            *survey = scan::survey(roots, limits, scopes);
        }
        let is_gone = is_gone(survey);
        let is_opened = roots.folder == roots.output_dir;
        let unborn = is_gone
            && !is_opened
            && roots.folder.is_dir()
            && self.known.keys().all(|file| file.root != Root::Output);
        if unborn {
            survey.failed.remove(&Root::Output);
        }
        if unborn != self.unborn && (unborn || !survey.failed.contains_key(&Root::Output)) {
            self.unborn = unborn;
            self.tell_watching();
        }
    }

    /// Handles a root that is no longer a mount point. It then is an empty folder, but its files
    /// were not deleted, so the listing counts as failed.
    pub(crate) fn heed_unmounted(&mut self, scopes: &[FileId], survey: &mut Survey) {
        let roots = std::sync::Arc::clone(&self.shared.roots);
        for root in roots.existing() {
            let Some(dir) = roots.dir(root).filter(|_| !survey.failed.contains_key(&root)) else {
                continue;
            };
            let mounted = is_mounted(dir);
            if self.listed.get(&root).is_some_and(|before| *before && !mounted) {
                survey.failed.insert(root, io::Error::other("nothing is mounted there any more"));
            } else if scopes.contains(&FileId::new(root, "")) {
                self.listed.insert(root, mounted);
                if let Err(error) = load::put_mounted(&self.writer.sql, root, mounted) {
                    tracing::debug!(%error, "it is not kept that a file system is mounted here");
                }
            }
        }
    }

    /// Records which roots could not be listed.
    pub(crate) fn note_missing(&mut self, scopes: &[FileId], survey: &Survey) {
        for scope in scopes {
            if survey.failed.contains_key(&scope.root) {
                self.missing.insert(scope.root);
            } else if scope.path.is_empty() {
                self.missing.remove(&scope.root);
            }
        }
    }

    /// Returns true when a root that could not be listed is listable again.
    pub(crate) fn missing_is_back(&self) -> bool {
        let roots = &self.shared.roots;
        self.missing.iter().any(|root| {
            let needs_mount = self.listed.get(root) == Some(&true);
            let is_whole = || roots.dir(*root).is_some_and(|dir| !needs_mount || is_mounted(dir));
            scan::listable(roots, *root).is_ok() && is_whole()
        })
    }

    /// Returns the current state of all roots.
    pub(crate) fn root_states(&self) -> Vec<RootState> {
        let roots = &self.shared.roots;
        let state = |root: Root| match scan::listable(roots, root) {
            Ok(()) => roots.dir(root).map_or(RootState::There(None, None), |dir| {
                RootState::There(identity(dir), mount_of(dir))
            }),
            Err(error) => RootState::Lost(error.kind()),
        };
        roots.existing().into_iter().map(state).collect()
    }

    /// Message about missing roots whose content is shown. A task folder that was never seen is not
    /// reported.
    pub(crate) fn lost_roots(&self, failed: &BTreeMap<Root, io::Error>) -> Option<String> {
        let roots = &self.shared.roots;
        let was_there = |root: Root| {
            self.listed.contains_key(&root)
                || roots.existing().first() == Some(&root)
                || self.known.keys().any(|file| file.root == root)
        };
        let missed = failed.iter().filter(|(root, _)| **root == Root::Output || was_there(**root));
        let lines: Vec<String> =
            missed.filter_map(|(root, error)| Some(lost(roots.dir(*root)?, error))).collect();
        (!lines.is_empty()).then(|| lines.join(" "))
    }

    /// Sets up the watches again after events were lost, or when a root was removed and recreated,
    /// because the new directory is not watched.
    pub(crate) fn watch_new_roots(&mut self) {
        let Shared { roots, limits, inbox, watch, .. } = &self.shared;
        let dirs = roots.existing().into_iter().filter_map(|root| roots.dir(root));
        let now: Vec<_> = dirs.map(identity).collect();
        let others = !self.watched.is_empty() && self.watched != now;
        if std::mem::take(&mut self.rewatch) || others {
            watch.start(roots, limits.watch, inbox);
        }
        self.watched = now;
    }

    pub(crate) fn tell_watching(&self) {
        let most = self.shared.limits.listing_bytes >> 20;
        let cut = self.cut.then(|| {
            format!("The names of all files here need more than {most} MiB; the rest is not shown.")
        });
        let unborn = self.unborn.then(|| {
            let dir = self.shared.roots.output_dir.display();
            format!("There are no runs yet: the first run creates {dir}.")
        });
        let notices: Vec<String> =
            self.watching.notice.clone().into_iter().chain(cut).chain(unborn).collect();
        let notice = (!notices.is_empty()).then(|| notices.join(" "));
        let watching = Watching { by: self.watching.by, notice };
        self.shared.live.change(|standing| standing.watching = watching);
        self.tell_status();
    }
}
