//! Buckets: opens the read-only copy of one like a folder, refuses to write to it, and shows and
//! deletes copies.
use super::leftovers::Leftovers;
use super::{FolderActions, leftovers};
use crate::error::{AppError, Code};

use crate::paths;
use crate::{OpenFolder, Purpose};
use std::path::{Component, Path};
use std::sync::Arc;
use std::time::Duration;
use touchstone_api::{BucketView, Folder, Problem, ProblemKind, Stale};
use touchstone_objects::address::BucketAddress;
use touchstone_objects::copy::{self, BucketCopy, CopyOptions, CopyStatus};
use touchstone_objects::error::{BucketError, BucketErrorKind};
use touchstone_objects::settings::{Settings, Sources};
use touchstone_store::roots::Roots;

impl From<BucketError> for AppError {
    fn from(error: BucketError) -> Self {
        let code = match error.kind {
            BucketErrorKind::Address => Code::BadRequest,
            BucketErrorKind::NoBucket | BucketErrorKind::NoObject => Code::NotFound,
            _ => Code::Failed,
        };
        AppError::new(code, error.message).hint(error.hint)
    }
}

/// Returns the address of a bucket that was given in place of a path.
pub fn address_of(path: &Path) -> Option<&str> {
    path.to_str().filter(|text| BucketAddress::matches(text))
}

/// Copy in the cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BucketCopyFiles {
    /// Address of the bucket.
    pub address: String,
    /// Folder, number and size of its files.
    pub files: Leftovers,
}

impl FolderActions<'_> {
    /// Opens the results in a bucket, which are copied to the cache while they are shown. Fails if
    /// the bucket cannot be read and there is no copy yet.
    pub fn open_bucket(self, text: &str) -> Result<(), AppError> {
        self.open_copy(text, false, |_| {})
    }

    /// Like [`Self::open_bucket`], but lists and copies everything first. `progress` is called with
    /// the numbers of objects that are copied and listed.
    pub fn open_whole_bucket(
        self,
        text: &str,
        progress: impl FnMut(&BucketView),
    ) -> Result<(), AppError> {
        self.open_copy(text, true, progress)
    }

    fn open_copy(
        self,
        text: &str,
        once: bool,
        mut progress: impl FnMut(&BucketView),
    ) -> Result<(), AppError> {
        let address = BucketAddress::parse(text)?;
        let is_open = |open: &Arc<OpenFolder>| {
            open.bucket.as_ref().is_some_and(|copy| copy.address == address)
        };
        if !once && self.app.current_folder().as_ref().is_some_and(is_open) {
            return Ok(());
        }
        self.refuse_if_busy()?;
        let config = &self.app.inner.config;
        let home = etcetera::home_dir().ok();
        let variable = |name: &str| self.app.inner.keys.variable(name);
        let settings = Settings::find(&Sources { variable: &variable, home: home.as_deref() })?;
        let bulletin = self.app.inner.bulletin.sender();
        let copy = BucketCopy::open(CopyOptions {
            cache_dir: config.cache_dir.clone(),
            address,
            settings,
            object_bytes: config.limits.file_bytes,
            depth: config.limits.depth,
            result_folders: &paths::OUTPUTS,
            once,
            on_change: Box::new(move || bulletin.post(Stale::Status)),
        })?;
        if once {
            copy.wait_whole(|status| progress(&view(&copy, status)))?;
        }
        let resolved = paths::resolve(&copy.files)?;
        check_inside(&resolved.roots)?;
        self.open_resolved_with(resolved, Purpose::Explore, Some(copy))
    }

    /// Returns the number of objects of the open bucket that are not copied.
    pub fn objects_not_copied(self) -> u64 {
        let open = self.app.current_folder();
        open.and_then(|open| Some(open.bucket.as_ref()?.status().refused)).unwrap_or(0)
    }

    /// Returns the copies of buckets in the cache.
    pub fn bucket_copies(self) -> Vec<BucketCopyFiles> {
        let known = copy::copies(&self.app.inner.config.cache_dir).into_iter();
        let files = |known: copy::KnownCopy| BucketCopyFiles {
            files: leftovers::counted(&known.dir),
            address: known.address,
        };
        known.map(files).collect()
    }

    /// Deletes the copies of a bucket. The bucket itself is not touched.
    pub fn delete_bucket_copies(self, text: &str) -> Result<Leftovers, AppError> {
        let address = BucketAddress::parse(text)?.to_string();
        let mut all = Leftovers::default();
        for known in copy::copies(&self.app.inner.config.cache_dir) {
            if known.address != address {
                continue;
            }
            let Leftovers { files, bytes, .. } = leftovers::counted(&known.dir);
            copy::delete(&known).map_err(|error| {
                let message = match error.kind() {
                    std::io::ErrorKind::ResourceBusy => {
                        format!("The copy of {address} is open in another Touchstone.")
                    }
                    _ => format!("The copy of {address} could not be deleted: {error}."),
                };
                AppError::new(Code::Failed, message).hint("Close the bucket there, then try again.")
            })?;
            all.dir = known.dir;
            all.files += files;
            all.bytes = all.bytes.saturating_add(bytes);
        }
        Ok(all)
    }

    /// Returns how far the copy of the open bucket is.
    pub(crate) fn bucket_view(open: &OpenFolder) -> Option<BucketView> {
        open.bucket.as_ref().map(|copy| view(copy, &copy.status()))
    }
}

impl OpenFolder {
    /// Fails for a bucket, to which nothing is written.
    pub(crate) fn check_writable(&self) -> Result<(), AppError> {
        self.bucket.as_ref().map_or(Ok(()), |copy| Err(read_only(&copy.address.to_string())))
    }

    /// Returns true for a path in the copy of a bucket, where a file would be taken for one of the
    /// bucket and be lost.
    pub(crate) fn is_in_copy(&self, path: &Path) -> bool {
        let dir = self.bucket.as_ref().map(|copy| paths::absolute_path(copy.dir()));
        dir.is_some_and(|dir| paths::absolute_path(path).starts_with(dir))
    }

    /// Returns the objects of a bucket that cannot be copied, as problems.
    pub(crate) fn bucket_problems(&self) -> Vec<Problem> {
        let refused = self.bucket.as_ref().map(BucketCopy::refused).unwrap_or_default();
        let problem = |(key, why): (String, String)| Problem {
            kind: ProblemKind::NotCopied,
            file: key,
            run: None,
            message: format!("The object is not copied: {why}."),
            line: None,
            column: None,
            excerpt: None,
            advice: None,
        };
        refused.into_iter().map(problem).collect()
    }
}

/// The refusal to write to what was given as the address of a bucket. A password in it is not
/// repeated.
pub fn read_only_text(text: &str) -> AppError {
    match BucketAddress::parse(text) {
        Ok(address) => read_only(&address.to_string()),
        Err(why) => why.into(),
    }
}

/// The refusal to write to a bucket.
fn read_only(address: &str) -> AppError {
    let message = format!("{address} is a bucket, which is only read.");
    let hint = format!("Copy it to a folder and open that: aws s3 sync {address} FOLDER");
    AppError::new(Code::BadRequest, message).hint(hint)
}

/// Fails if the workspace file of a bucket names a directory outside of the copy: the person did not
/// write that file.
fn check_inside(roots: &Roots) -> Result<(), AppError> {
    let is_inside = |dir: &Path| {
        let below = dir.strip_prefix(&roots.folder);
        below.is_ok_and(|below| below.components().all(|part| matches!(part, Component::Normal(_))))
    };
    if is_inside(&roots.output_dir) && roots.input_dir.as_deref().is_none_or(is_inside) {
        return Ok(());
    }
    let message = "touchstone.yaml of the bucket names a folder outside of the bucket.";
    let hint = "Open the prefix of the results itself, or copy the bucket to a folder.";
    Err(AppError::new(Code::BadRequest, message).hint(hint))
}

/// Describes the folder of a copy by the address of its bucket.
pub(crate) fn describe(row: &mut Folder, copy: &BucketCopy, roots: &Roots) {
    let address = copy.address.to_string();
    let shown = |dir: &Path| match dir.strip_prefix(&roots.folder) {
        Ok(below) if below.as_os_str().is_empty() => address.clone(),
        Ok(below) => format!("{address}/{}", below.to_string_lossy()),
        Err(_) => dir.to_string_lossy().into_owned(),
    };
    copy.address.name().clone_into(&mut row.name);
    row.input_dir = roots.input_dir.as_deref().map(shown);
    row.output_dir = shown(&roots.output_dir);
    row.path = address;
}

fn view(copy: &BucketCopy, status: &CopyStatus) -> BucketView {
    let error = status.error.as_ref().or(status.waiting.as_ref());
    BucketView {
        address: copy.address.to_string(),
        copied: status.copied,
        total: status.total,
        listing: status.listing,
        complete: status.complete,
        checked_ms: status.checked_ms,
        problem: error.map(|error| error.message.clone()),
        hint: error.map(|error| error.hint.clone()),
        notice: copy.notice.clone(),
        elsewhere: status.elsewhere,
    }
}

/// Least time between two lines of progress of a command.
pub const PROGRESS: Duration = Duration::from_secs(1);
