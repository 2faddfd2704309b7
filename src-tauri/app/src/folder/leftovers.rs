//! Leftovers of indexes and of replaced results: their size, and deleting them. Only old indexes
//! are ever deleted automatically, because replaced results contain paid replies.
use super::FolderActions;
use super::doctor::{fine, note};
use crate::error::{AppError, Code};
use fs_err as fs;
use std::path::{Path, PathBuf};
use touchstone_api::Check;
use touchstone_store::index_dir;

/// Size from which `doctor` warns.
const MUCH: u64 = 1 << 30;
/// Maximum folder depth that is counted.
const DEPTH: usize = 32;

/// Files that are not used any more.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Leftovers {
    /// Their folder.
    pub dir: PathBuf,
    /// Number of files.
    pub files: u64,
    /// Total bytes.
    pub bytes: u64,
}

impl FolderActions<'_> {
    /// Returns the size of the results of the open folder that were replaced and moved aside.
    pub fn replaced(self) -> Result<Leftovers, AppError> {
        Ok(counted(&self.app.require_folder()?.flow.roots.output_dir.join(".touchstone/replaced")))
    }

    /// Deletes the results of the open folder that were moved aside. They contain paid replies, so
    /// the caller must ask the user first.
    pub fn clear_replaced(self) -> Result<Leftovers, AppError> {
        let found = self.replaced()?;
        if found.files == 0 {
            return Ok(found);
        }
        let own = found.dir.parent().unwrap_or(&found.dir);
        if [own, &found.dir]
            .into_iter()
            .any(|dir| !dir.symlink_metadata().is_ok_and(|meta| meta.is_dir()))
        {
            return Err(AppError::new(
                Code::Failed,
                format!(
                    "{} is a link or not a folder, so nothing in it is deleted.",
                    found.dir.display()
                ),
            )
            .hint("Check its target, and delete what you do not need there."));
        }
        fs::remove_dir_all(&found.dir).map_err(|error| {
            AppError::new(
                Code::Failed,
                format!("{} could not be deleted: {error}.", found.dir.display()),
            )
        })?;
        Ok(found)
    }

    /// Returns the size of old indexes in the cache: copies that were moved aside, and indexes of
    /// folders that do not exist any more.
    pub fn old_indexes(self) -> Leftovers {
        let mut all =
            Leftovers { dir: self.app.inner.config.cache_dir.clone(), ..Leftovers::default() };
        for dir in index_dir::leftovers(&all.dir) {
            let Leftovers { files, bytes, .. } = counted(&dir);
            all.files += files;
            all.bytes = all.bytes.saturating_add(bytes);
        }
        all
    }

    /// Deletes old indexes. They can be rebuilt from the results.
    pub fn clear_old_indexes(self) -> Result<Leftovers, AppError> {
        let found = self.old_indexes();
        for dir in index_dir::leftovers(&found.dir) {
            index_dir::discard(&dir).map_err(|error| {
                AppError::new(
                    Code::Failed,
                    format!("{} could not be deleted: {error}.", dir.display()),
                )
            })?;
        }
        Ok(found)
    }

    pub(super) fn leftovers_checks(self) -> Vec<Check> {
        let indexes = self.old_indexes();
        let mut checks = vec![fine("Old indexes", size_of(&indexes))];
        for copy in self.bucket_copies() {
            let size = size_of(&copy.files);
            let size = size.trim_end_matches('.');
            let name = format!("Copy of {}", copy.address);
            let detail = format!("{size} in {}.", copy.files.dir.display());
            let fix = format!("`touchstone clear {}` deletes it; the bucket stays.", copy.address);
            checks.push(if copy.files.bytes > MUCH {
                note(&name, detail, &fix)
            } else {
                fine(&name, detail)
            });
        }
        if let Ok(replaced) = self.replaced() {
            let detail = format!(
                "{} in {}.",
                size_of(&replaced).trim_end_matches('.'),
                replaced.dir.display()
            );
            checks.push(if replaced.bytes > MUCH {
                note(
                    "Replaced results",
                    detail,
                    "`touchstone clear` deletes them after confirmation; they include paid replies.",
                )
            } else {
                fine("Replaced results", detail)
            });
        }
        checks
    }
}

/// Formats the number of files and their size.
fn size_of(leftovers: &Leftovers) -> String {
    match leftovers.files {
        0 => "None.".to_owned(),
        1 => format!("1 file, {}.", in_words(leftovers.bytes)),
        files => format!("{files} files, {}.", in_words(leftovers.bytes)),
    }
}

/// Formats a size for people.
pub fn in_words(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{} kB", bytes / 1_000),
        _ => format!("{} MB", bytes / 1_000_000),
    }
}

pub(super) fn counted(dir: &Path) -> Leftovers {
    let mut all = Leftovers { dir: dir.to_owned(), ..Leftovers::default() };
    count(dir, DEPTH, &mut all);
    all
}

fn count(path: &Path, depth: usize, all: &mut Leftovers) {
    let Ok(meta) = path.symlink_metadata() else { return };
    if !meta.is_dir() {
        all.files += 1;
        all.bytes = all.bytes.saturating_add(meta.len());
    } else if depth > 0 {
        let entries = fs::read_dir(path).into_iter().flatten().flatten();
        entries.for_each(|entry| count(&entry.path(), depth - 1, all));
    }
}
