//! Review files in an output directory: replaced or moved aside by one process at a time. No user's
//! text is lost. The format of the file is owned by `formats::review`.
use super::atomic_write;
use super::disk::{DiskError, Folder, PRIVATE, SIDECARS, split};
use rustix::fs::Mode;
use std::path::{Path, PathBuf};
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

/// Result of editing a review file.
pub struct Rewritten {
    /// New text; none to leave the file unchanged.
    pub text: Option<String>,
    /// True if the old text holds information that the new one lacks; it is then kept in
    /// `.touchstone/replaced/`.
    pub keep_old: bool,
}

/// Rewrites the review of a run, given the path of the run. `make` receives the present content.
/// The new content is durable on return. On failure the old content is still there.
pub fn rewrite(
    output_dir: &Path,
    run: &str,
    make: impl FnOnce(Option<&[u8]>) -> Rewritten,
) -> Result<(), DiskError> {
    let file = review::file_of(run);
    let (folders, name) = split(&file)?;
    // Concurrent reviewers wait: both would start from the same file, and one would undo the
    // other's change.
    let top = Folder::make(output_dir, &[SIDECARS, FOLDER], PRIVATE)?;
    wait_for_turn(&top);
    let folder = Folder::make(output_dir, &below(&folders), PRIVATE)?;
    let old = folder.read(name, MOST)?;
    let new = make(old.as_deref());
    let Some(text) = new.text else { return Ok(()) };
    if new.keep_old
        && let Some(old) = &old
    {
        atomic_write::keep(output_dir, &below_replaced(&folders), name, old)?;
    }
    atomic_write::put(&folder, name, text.as_bytes(), FRESH)
}

/// Moves the review of a run to `.touchstone/replaced/reviews/`. Returns its new path, or `None` if
/// there was none.
pub fn take_away(output_dir: &Path, run: &str) -> Result<Option<PathBuf>, DiskError> {
    let file = review::file_of(run);
    let (folders, name) = split(&file)?;
    let Some(top) = Folder::find(output_dir, &[SIDECARS, FOLDER])? else { return Ok(None) };
    wait_for_turn(&top);
    match Folder::find(output_dir, &below(&folders))? {
        Some(folder) => atomic_write::aside(output_dir, &folder, &below_replaced(&folders), name),
        None => Ok(None),
    }
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
        rewrite(dir, RUN, |_| Rewritten { text: Some(text.to_owned()), keep_old }).unwrap();
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
    fn taking_a_review_away_moves_it_aside_and_where_there_is_none_nothing_is_made() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(take_away(dir.path(), RUN), Ok(None));
        rewrite(dir.path(), RUN, |old| Rewritten {
            text: old.map(|_| String::new()),
            keep_old: false,
        })
        .unwrap();
        assert_eq!(take_away(dir.path(), RUN), Ok(None));
        put(dir.path(), "1", false);
        let to = take_away(dir.path(), RUN).unwrap().unwrap();
        assert_eq!(std::fs::read_to_string(to).unwrap(), "1");
        assert_eq!(all_below(dir.path()).len(), 1);
    }

    #[test]
    fn many_at_once_take_turns_and_nobody_undoes_what_another_wrote() {
        let dir = tempfile::tempdir().unwrap();
        let add = |word: String| {
            rewrite(dir.path(), RUN, |old| {
                let old = String::from_utf8_lossy(old.unwrap_or_default()).into_owned();
                Rewritten { text: Some(format!("{old}{word}\n")), keep_old: false }
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
        let tried =
            rewrite(disk.path(), RUN, |_| Rewritten { text: Some("2".to_owned()), keep_old: true });
        let error = tried.unwrap_err();
        assert!(
            error.kind == DiskErrorKind::NotPermitted
                && error.why.contains("Make the folder writable"),
            "{error}"
        );
        assert_eq!(
            take_away(disk.path(), RUN).map_err(|error| error.kind),
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
        let tried =
            rewrite(dir.path(), RUN, |_| Rewritten { text: Some("1".to_owned()), keep_old: false });
        assert!(tried.is_err());
        assert_eq!(all_below(elsewhere.path()), [""; 0]);
    }
}
