//! Files of a copy: each is written beside it and moved into place. Only paths that `place` accepted
//! come here, and no folder on the way may be a link.
use fs_err as fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};
use touchstone_store::index_dir::{create_private, discard, make_private};

/// Room that is left on the disk in bytes.
const FLOOR: u64 = 4 << 30;

/// Folders of a copy.
#[derive(Debug)]
pub(crate) struct StoredFiles {
    /// Folder that is laid out like the bucket.
    root: PathBuf,
    /// Folder of objects that are not whole yet.
    incoming: PathBuf,
    next: AtomicU64,
}

/// File of an object that is not whole yet. It is deleted when this is dropped.
#[derive(Debug)]
pub(crate) struct Unfinished(Option<PathBuf>);

impl Drop for Unfinished {
    fn drop(&mut self) {
        let left = self.0.take();
        if let Some(Err(error)) = left.map(fs::remove_file) {
            tracing::debug!(%error, "an unfinished object could not be removed");
        }
    }
}

impl StoredFiles {
    /// Creates the folders. Deletes objects that an earlier process did not finish.
    pub(crate) fn open(root: &Path, incoming: &Path) -> io::Result<Self> {
        discard(incoming)?;
        make_private(incoming)?;
        make_private(root)?;
        let (root, incoming) = (root.to_owned(), incoming.to_owned());
        Ok(Self { root, incoming, next: AtomicU64::new(0) })
    }

    /// Deletes files that are no objects of the copy, such as those that were gone from the bucket
    /// before an earlier process could note them. Nothing outside of the copy is touched.
    pub(crate) fn keep_only(&self, is_object: &dyn Fn(&str) -> bool) -> io::Result<()> {
        // A folder that is a link is not one of the copy.
        if self.root.symlink_metadata()?.is_dir() { self.sweep("", is_object) } else { Ok(()) }
    }

    fn sweep(&self, folder: &str, is_object: &dyn Fn(&str) -> bool) -> io::Result<()> {
        for entry in fs::read_dir(self.root.join(folder))? {
            let entry = entry?;
            let name = entry.file_name();
            let key = name.to_str().map(|name| match folder {
                "" => name.to_owned(),
                _ => format!("{folder}/{name}"),
            });
            match key {
                Some(key) if entry.file_type()?.is_dir() => self.sweep(&key, is_object)?,
                Some(key) if is_object(&key) => {}
                None if entry.file_type()?.is_dir() => {}
                _ => fs::remove_file(entry.path())?,
            }
        }
        Ok(())
    }

    /// Returns true if an object of this size leaves enough room on the disk for everything else,
    /// such as the journals of launches. Unknown room counts as enough.
    pub(crate) fn has_room(&self, size: u64) -> bool {
        rustix::fs::statvfs(&self.incoming).map_or(true, |disk| {
            disk.f_bavail.saturating_mul(disk.f_frsize) > size.saturating_add(FLOOR)
        })
    }

    /// Returns the sentence about a disk without enough room.
    pub(crate) fn no_room(&self) -> String {
        let (dir, floor) = (self.root.display(), FLOOR >> 30);
        format!(
            "The copy in {dir} is not continued: less than {floor} GiB would be left on its disk."
        )
    }

    /// Creates a file for an object that is being fetched.
    pub(crate) fn begin(&self) -> io::Result<(fs::File, Unfinished)> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let path = self.incoming.join(number.to_string());
        Ok((create_private(&path)?, Unfinished(Some(path))))
    }

    /// Moves a finished file to the path of its key.
    pub(crate) fn publish(
        &self,
        file: fs::File,
        mut unfinished: Unfinished,
        key: &str,
        modified_ms: i64,
    ) -> io::Result<()> {
        let since = Duration::from_millis(u64::try_from(modified_ms).unwrap_or(0));
        if modified_ms > 0 {
            file.file().set_modified(SystemTime::UNIX_EPOCH + since)?;
        }
        drop(file);
        let folder = key.rsplit_once('/').map_or("", |(folder, _)| folder);
        self.make_folder(folder)?;
        let to = self.root.join(key);
        if to.symlink_metadata().is_ok_and(|meta| meta.is_dir()) {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        let from = unfinished.0.as_deref().ok_or(io::ErrorKind::NotFound)?;
        fs::rename(from, to)?;
        // Nothing is left to delete.
        unfinished.0 = None;
        Ok(())
    }

    /// Creates a folder of the copy.
    pub(crate) fn make_folder(&self, folder: &str) -> io::Result<()> {
        let mut path = self.root.clone();
        for part in folder.split('/').filter(|part| !part.is_empty()) {
            path.push(part);
            match path.symlink_metadata() {
                Ok(meta) if meta.is_dir() => {}
                Ok(_) => return Err(io::ErrorKind::NotADirectory.into()),
                Err(_) => make_private(&path)?,
            }
        }
        Ok(())
    }

    /// Removes a file, and folders below the first level that are empty then.
    pub(crate) fn remove(&self, key: &str) -> io::Result<()> {
        if !self.is_below_folders(key) {
            return Ok(());
        }
        match fs::remove_file(self.root.join(key)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut folder = key;
        while let Some((above, _)) =
            folder.rsplit_once('/').filter(|(above, _)| above.contains('/'))
        {
            if fs::remove_dir(self.root.join(above)).is_err() {
                break;
            }
            folder = above;
        }
        Ok(())
    }

    /// Returns true if there is a file of this size.
    pub(crate) fn has(&self, key: &str, size: u64) -> bool {
        let meta = self.root.join(key).symlink_metadata();
        meta.is_ok_and(|meta| meta.is_file() && meta.len() == size)
    }

    /// Returns true if no folder on the way to a file is a link.
    fn is_below_folders(&self, key: &str) -> bool {
        let folders = key.match_indices('/').map(|(at, _)| &key[..at]);
        folders
            .into_iter()
            .all(|folder| self.root.join(folder).symlink_metadata().is_ok_and(|meta| meta.is_dir()))
    }

    /// Returns true if the disk does not tell upper case from lower case.
    pub(crate) fn ignores_case(&self) -> bool {
        let (one, other) = (self.incoming.join("case"), self.incoming.join("CASE"));
        let made = create_private(&one).is_ok();
        let same = made && other.symlink_metadata().is_ok();
        let _ = fs::remove_file(one);
        same
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    fn written(files: &StoredFiles, key: &str, text: &str) -> io::Result<()> {
        let (mut file, unfinished) = files.begin()?;
        file.write_all(text.as_bytes())?;
        files.publish(file, unfinished, key, 5_000)
    }

    #[test]
    fn a_file_appears_whole_with_its_time_and_goes_with_its_empty_folders() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("copy");
        let files = StoredFiles::open(&root, &dir.path().join("incoming")).unwrap();
        written(&files, "a/b/c.yaml", "one").unwrap();
        written(&files, "a/b/c.yaml", "two").unwrap();
        assert_eq!(fs::read_to_string(root.join("a/b/c.yaml")).unwrap(), "two");
        let changed = fs::metadata(root.join("a/b/c.yaml")).unwrap().modified().unwrap();
        assert_eq!(changed, SystemTime::UNIX_EPOCH + Duration::from_secs(5));
        assert!(files.has("a/b/c.yaml", 3) && !files.has("a/b/c.yaml", 4));
        assert!(written(&files, "a/b", "x").is_err(), "a folder has this name");
        assert!(written(&files, "a/b/c.yaml/d", "x").is_err(), "a file has this name");
        drop(files.begin().unwrap());
        let left = fs::read_dir(dir.path().join("incoming")).unwrap().count();
        assert_eq!(left, 0, "what was not finished is deleted");
        files.remove("a/b/c.yaml").unwrap();
        files.remove("a/b/c.yaml").unwrap();
        assert!(!root.join("a/b").exists() && root.join("a").exists());
    }

    #[test]
    fn only_objects_of_the_copy_stay_and_what_links_lead_to_is_untouched() {
        let dir = tempfile::tempdir().unwrap();
        let (root, elsewhere) = (dir.path().join("copy"), dir.path().join("elsewhere"));
        let files = StoredFiles::open(&root, &dir.path().join("incoming")).unwrap();
        fs::create_dir(&elsewhere).unwrap();
        fs::write(elsewhere.join("x"), "mine").unwrap();
        for key in ["a/b.yaml", "a/gone.yaml", "gone.yaml"] {
            written(&files, key, "x").unwrap();
        }
        std::os::unix::fs::symlink(&elsewhere, root.join("a/link")).unwrap();
        files.keep_only(&|key| key == "a/b.yaml").unwrap();
        assert!(root.join("a/b.yaml").is_file() && elsewhere.join("x").is_file());
        assert!(!root.join("gone.yaml").exists() && !root.join("a/gone.yaml").exists());
        assert!(root.join("a/link").symlink_metadata().is_err());
        fs::rename(&root, dir.path().join("moved")).unwrap();
        std::os::unix::fs::symlink(&elsewhere, &root).unwrap();
        files.keep_only(&|_| false).unwrap();
        assert!(elsewhere.join("x").is_file());
    }

    #[test]
    fn an_object_that_would_fill_the_disk_has_no_room() {
        let dir = tempfile::tempdir().unwrap();
        let files = StoredFiles::open(&dir.path().join("a"), &dir.path().join("b")).unwrap();
        assert!(!files.has_room(u64::MAX) && files.no_room().contains("less than 4 GiB"));
    }

    #[test]
    fn nothing_is_written_or_removed_through_a_link() {
        let dir = tempfile::tempdir().unwrap();
        let (root, elsewhere) = (dir.path().join("copy"), dir.path().join("elsewhere"));
        let files = StoredFiles::open(&root, &dir.path().join("incoming")).unwrap();
        fs::create_dir(&elsewhere).unwrap();
        fs::write(elsewhere.join("x"), "mine").unwrap();
        std::os::unix::fs::symlink(&elsewhere, root.join("a")).unwrap();
        assert!(written(&files, "a/x", "theirs").is_err());
        files.remove("a/x").unwrap();
        assert_eq!(fs::read_to_string(elsewhere.join("x")).unwrap(), "mine");
        std::os::unix::fs::symlink(elsewhere.join("x"), root.join("b")).unwrap();
        written(&files, "b", "theirs").unwrap();
        assert_eq!(fs::read_to_string(elsewhere.join("x")).unwrap(), "mine");
        assert!(!files.ignores_case(), "the disk of this test tells cases apart");
    }
}
