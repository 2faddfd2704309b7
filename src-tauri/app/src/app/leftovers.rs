//! What is left of indexes and of results that were replaced: how much it is, and clearing it.
//! Nothing of it is cleared by itself but old indexes, because what was replaced holds replies that
//! were paid for.
use super::App;
use super::doctor::{fine, note};
use crate::error::{AppError, Code};
use fs_err as fs;
use std::path::{Path, PathBuf};
use touchstone_api::Check;
use touchstone_store::home;

/// From here on `doctor` says that it is much.
const MUCH: u64 = 1 << 30;
/// Folders are not looked into deeper than this.
const DEPTH: usize = 32;

/// Files that are not used any more.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Leftovers {
    /// Where they are.
    pub dir: PathBuf,
    /// How many files.
    pub files: u64,
    /// How many bytes.
    pub bytes: u64,
}

impl App {
    /// Returns how much was moved aside in the open folder when results were replaced.
    pub fn replaced(&self) -> Result<Leftovers, AppError> {
        Ok(counted(&self.opened()?.flow.roots.output_dir.join(".touchstone/replaced")))
    }

    /// Deletes what was moved aside in the open folder when results were replaced. Replies that
    /// were paid for are among it: whoever calls this has asked the person first.
    pub fn clear_replaced(&self) -> Result<Leftovers, AppError> {
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
                    "{} is no folder of its own, so nothing in it is deleted.",
                    found.dir.display()
                ),
            )
            .hint("Look where it points to, and delete what you do not need there."));
        }
        fs::remove_dir_all(&found.dir).map_err(|error| {
            AppError::new(
                Code::Failed,
                format!("{} could not be deleted: {error}.", found.dir.display()),
            )
        })?;
        Ok(found)
    }

    /// Returns how much is left of old indexes in the cache: copies that were moved aside, and
    /// indexes of folders that are gone.
    pub fn old_indexes(&self) -> Leftovers {
        let mut all =
            Leftovers { dir: self.inner.config.cache_dir.clone(), ..Leftovers::default() };
        for dir in home::leftovers(&all.dir) {
            let Leftovers { files, bytes, .. } = counted(&dir);
            all.files += files;
            all.bytes = all.bytes.saturating_add(bytes);
        }
        all
    }

    /// Deletes what is left of old indexes. They can be made again from the results.
    pub fn clear_old_indexes(&self) -> Result<Leftovers, AppError> {
        let found = self.old_indexes();
        for dir in home::leftovers(&found.dir) {
            home::discard(&dir).map_err(|error| {
                AppError::new(
                    Code::Failed,
                    format!("{} could not be deleted: {error}.", dir.display()),
                )
            })?;
        }
        Ok(found)
    }

    pub(super) fn leftovers_checks(&self) -> Vec<Check> {
        let indexes = self.old_indexes();
        let mut checks = vec![fine("Old indexes", size_of(&indexes))];
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
                    "`touchstone clear` deletes them, after a question: paid replies are among them.",
                )
            } else {
                fine("Replaced results", detail)
            });
        }
        checks
    }
}

/// How much it is, in words.
fn size_of(leftovers: &Leftovers) -> String {
    match leftovers.files {
        0 => "None.".to_owned(),
        1 => format!("1 file, {}.", in_words(leftovers.bytes)),
        files => format!("{files} files, {}.", in_words(leftovers.bytes)),
    }
}

/// A size as people read it.
pub fn in_words(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{} kB", bytes / 1_000),
        _ => format!("{} MB", bytes / 1_000_000),
    }
}

fn counted(dir: &Path) -> Leftovers {
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
