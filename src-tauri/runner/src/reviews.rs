//! Review files in an output directory: replaced or moved aside by one process at a time. No user's
//! text is lost. The format of the file is owned by `formats::review`.
use super::atomic_write;
use super::disk::{DiskError, Folder, PRIVATE, SIDECARS, split};
use rustix::fs::Mode;
use std::path::Path;
use std::time::{Duration, Instant};
use touchstone_formats::review;

/// Folder of reviews inside `.touchstone`.
const FOLDER: &str = "reviews";
/// Maximum bytes of a review file; no hand-written review is longer.
const MOST: u64 = 1 << 20;
/// Mode of new files, limited by the umask, like transcripts.
const FRESH: Mode = Mode::from_raw_mode(0o666);
/// Maximum time to wait for another writer, and the polling interval.
const PATIENCE: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(2);

/// New content of a review file.
pub enum NewContent {
    /// The file stays as it is.
    Unchanged,
    /// The text takes the place of the old one.
    Text {
        /// The new text.
        text: String,
        /// True if the old text holds information that the new one lacks; it is then kept in
        /// `.touchstone/replaced/`.
        keep_old: bool,
    },
    /// The bytes take the place of the old ones.
    Bytes(Vec<u8>),
    /// The file is moved to `.touchstone/replaced/reviews/`.
    Removed,
}

/// Content of a review file before and after a change; `None` where there is no file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// Content before.
    pub before: Option<Vec<u8>>,
    /// Content after.
    pub after: Option<Vec<u8>>,
}

/// Rewrites the review of a run, given the path of the run. `make` receives the present content.
/// The new content is durable on return. On failure the old content is still there. Returns the
/// change, or `None` if the file stayed as it was.
pub fn rewrite(
    output_dir: &Path,
    run: &str,
    make: impl FnOnce(Option<&[u8]>) -> NewContent,
) -> Result<Option<FileChange>, DiskError> {
    let file = review::file_of(run);
    let (folders, name) = split(&file)?;
    // Concurrent reviewers wait: both would start from the same file, and one would undo the
    // other's change.
    let top = Folder::make(output_dir, &[SIDECARS, FOLDER], PRIVATE)?;
    wait_for_turn(&top);
    let folder = Folder::make(output_dir, &below(&folders), PRIVATE)?;
    let before = folder.read(name, MOST)?;
    match make(before.as_deref()) {
        NewContent::Unchanged => Ok(None),
        NewContent::Text { text, keep_old } => {
            if keep_old && let Some(old) = &before {
                atomic_write::keep(output_dir, &below_replaced(&folders), name, old)?;
            }
            atomic_write::put(&folder, name, text.as_bytes(), FRESH)?;
            Ok(Some(FileChange { before, after: Some(text.into_bytes()) }))
        }
        NewContent::Bytes(bytes) => {
            atomic_write::put(&folder, name, &bytes, FRESH)?;
            Ok(Some(FileChange { before, after: Some(bytes) }))
        }
        NewContent::Removed => {
            let moved = atomic_write::aside(output_dir, &folder, &below_replaced(&folders), name)?;
            Ok(moved.map(|_| FileChange { before, after: None }))
        }
    }
}

/// Undoes a change: puts the former content back, byte by byte, or moves the file aside if there
/// was none. Returns false, and changes nothing, if the file is no longer as the change left it.
pub fn undo(output_dir: &Path, run: &str, change: &FileChange) -> Result<bool, DiskError> {
    let mut is_same = false;
    rewrite(output_dir, run, |now| {
        is_same = now == change.after.as_deref();
        match &change.before {
            _ if !is_same => NewContent::Unchanged,
            None => NewContent::Removed,
            Some(before) => NewContent::Bytes(before.clone()),
        }
    })?;
    Ok(is_same)
}

fn below<'a>(folders: &[&'a str]) -> Vec<&'a str> {
    [&[SIDECARS, FOLDER], folders].concat()
}

fn below_replaced<'a>(folders: &[&'a str]) -> Vec<&'a str> {
    [&[FOLDER], folders].concat()
}

/// Waits for the lock on reviews, which is held until the folder is closed. Others hold it only
/// briefly; if folders cannot be locked, or another process is stuck, it continues without the
/// lock.
fn wait_for_turn(folder: &Folder) {
    let until = Instant::now() + PATIENCE;
    loop {
        match folder.try_lock() {
            Ok(true) => return,
            Ok(false) if Instant::now() < until => std::thread::sleep(PAUSE),
            tried => return tracing::debug!(?tried, "a review is written without a lock"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::atomic_write::tests::{Mounted, below as all_below};
    use crate::disk::DiskErrorKind;

    const RUN: &str = "a/b/t-promptql-o1-variation0.yaml";

    fn put(dir: &Path, text: &str, keep_old: bool) {
        rewrite(dir, RUN, |_| NewContent::Text { text: text.to_owned(), keep_old }).unwrap();
    }

    fn take_away(dir: &Path) -> Result<Option<FileChange>, DiskError> {
        rewrite(dir, RUN, |_| NewContent::Removed)
    }

    #[test]
    fn a_review_has_the_path_of_its_run_and_an_old_one_is_kept_when_asked() {
        let dir = tempfile::tempdir().unwrap();
        put(dir.path(), "1", false);
        assert_eq!(all_below(dir.path()), [format!(".touchstone/reviews/{RUN}")]);
        put(dir.path(), "2", true);
        put(dir.path(), "3", false);
        let kept = all_below(dir.path());
        assert_eq!(kept.len(), 2, "{kept:?}");
        let old = kept.iter().find(|path| {
            path.starts_with(".touchstone/replaced/reviews/a/b/t-promptql-o1-variation0-2")
        });
        assert_eq!(std::fs::read_to_string(dir.path().join(old.unwrap())).unwrap(), "1");
        assert_eq!(
            std::fs::read_to_string(dir.path().join(".touchstone/reviews").join(RUN)).unwrap(),
            "3"
        );
    }

    #[test]
    fn taking_a_review_away_moves_it_aside() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(take_away(dir.path()), Ok(None));
        assert_eq!(rewrite(dir.path(), RUN, |_| NewContent::Unchanged), Ok(None));
        put(dir.path(), "1", false);
        let change = take_away(dir.path()).unwrap().unwrap();
        assert_eq!((change.before.as_deref(), change.after), (Some(&b"1"[..]), None));
        let kept = all_below(dir.path());
        assert!(kept.len() == 1 && kept[0].contains("replaced/reviews"), "{kept:?}");
    }

    #[test]
    fn undo_puts_the_former_file_back_byte_by_byte_unless_it_changed_meanwhile() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join(".touchstone/reviews").join(RUN);
        let text = |text: &str| NewContent::Text { text: text.to_owned(), keep_old: false };
        let first = rewrite(dir.path(), RUN, |_| text("# mine\nverdict:  wrong\n"));
        let second = rewrite(dir.path(), RUN, |_| text("verdict: right\n")).unwrap().unwrap();
        assert_eq!(undo(dir.path(), RUN, &second), Ok(true));
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "# mine\nverdict:  wrong\n");
        assert_eq!(undo(dir.path(), RUN, &second), Ok(false), "it was undone already");
        assert_eq!(undo(dir.path(), RUN, &first.unwrap().unwrap()), Ok(true));
        assert!(!file.exists());
        // Bytes that are no text come back as well.
        std::fs::write(&file, b"note: Gr\xf6\xdfe\n").unwrap();
        let third = rewrite(dir.path(), RUN, |_| text("verdict: right\n")).unwrap().unwrap();
        assert_eq!(undo(dir.path(), RUN, &third), Ok(true));
        assert_eq!(std::fs::read(&file).unwrap(), b"note: Gr\xf6\xdfe\n");
        put(dir.path(), "1", false);
        let removed = take_away(dir.path()).unwrap().unwrap();
        assert_eq!(undo(dir.path(), RUN, &removed), Ok(true));
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "1");
    }

    #[test]
    fn many_at_once_take_turns_and_nobody_undoes_what_another_wrote() {
        let dir = tempfile::tempdir().unwrap();
        let add = |word: String| {
            rewrite(dir.path(), RUN, |old| {
                let old = String::from_utf8_lossy(old.unwrap_or_default()).into_owned();
                NewContent::Text { text: format!("{old}{word}\n"), keep_old: false }
            })
            .unwrap();
        };
        std::thread::scope(|threads| {
            for writer in 0..4 {
                threads.spawn(move || (0..25).for_each(|turn| add(format!("{writer} {turn}"))));
            }
        });
        let text =
            std::fs::read_to_string(dir.path().join(".touchstone/reviews").join(RUN)).unwrap();
        assert_eq!(text.lines().count(), 100);
    }

    #[test]
    fn where_nothing_may_be_written_the_error_says_what_to_do() {
        let Some(disk) = Mounted::with_size("64k") else { return };
        put(disk.path(), "1", false);
        disk.make_read_only();
        let tried = rewrite(disk.path(), RUN, |_| NewContent::Text {
            text: "2".to_owned(),
            keep_old: true,
        });
        let error = tried.unwrap_err();
        assert!(
            error.kind == DiskErrorKind::NotPermitted
                && error.why.contains("Make the folder writable"),
            "{error}"
        );
        assert_eq!(
            take_away(disk.path()).map_err(|error| error.kind),
            Err(DiskErrorKind::NotPermitted)
        );
        assert_eq!(
            std::fs::read_to_string(disk.path().join(".touchstone/reviews").join(RUN)).unwrap(),
            "1"
        );
    }

    #[test]
    fn a_link_in_the_way_is_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join(".touchstone")).unwrap();
        std::os::unix::fs::symlink(elsewhere.path(), dir.path().join(".touchstone/reviews"))
            .unwrap();
        let tried = rewrite(dir.path(), RUN, |_| NewContent::Text {
            text: "1".to_owned(),
            keep_old: false,
        });
        assert!(tried.is_err());
        assert_eq!(all_below(elsewhere.path()), [""; 0]);
    }
}
