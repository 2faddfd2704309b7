//! Files of reviews in an output directory: put in the place of another, or moved aside, by one
//! program at a time. Nothing that a person wrote is destroyed. What stands in such a file is for
//! `formats::review` to know.
use super::disk::{DiskError, Folder, PRIVATE, SIDECARS, split};
use super::publish;
use rustix::fs::Mode;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use touchstone_formats::review;

/// Where they are, in our own folder.
const FOLDER: &str = "reviews";
/// A longer file is none that a person wrote.
const MOST: u64 = 1 << 20;
/// As far as the umask lets it, like transcripts.
const FRESH: Mode = Mode::from_raw_mode(0o666);
/// How long somebody else may take, and how often it is looked.
const PATIENCE: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(2);

/// What is to become of the file of a review.
pub struct Rewritten {
    /// Its new text; none when it stays as it is.
    pub text: Option<String>,
    /// The old one says what the new one does not, and is kept in `.touchstone/replaced/`.
    pub keep_old: bool,
}

/// Rewrites the review of a run, by the path of the run: `make` is given what stands there. When
/// this returns, what it says is durable; when it fails, what was there before is still there.
pub fn rewrite(
    output_dir: &Path,
    run: &str,
    make: impl FnOnce(Option<&[u8]>) -> Rewritten,
) -> Result<(), DiskError> {
    let file = review::file_of(run);
    let (folders, name) = split(&file)?;
    // Whoever else reviews at this moment waits: both would begin from the same file, and one would
    // undo what the other wrote.
    let top = Folder::make(output_dir, &[SIDECARS, FOLDER], PRIVATE)?;
    wait_for_turn(&top);
    let folder = Folder::make(output_dir, &below(&folders), PRIVATE)?;
    let old = folder.read(name, MOST)?;
    let new = make(old.as_deref());
    let Some(text) = new.text else { return Ok(()) };
    if new.keep_old
        && let Some(old) = &old
    {
        publish::keep(output_dir, &below_replaced(&folders), name, old)?;
    }
    publish::put(&folder, name, text.as_bytes(), FRESH)
}

/// Moves the review of a run to `.touchstone/replaced/reviews/`. Returns where it is; none when
/// there was none.
pub fn take_away(output_dir: &Path, run: &str) -> Result<Option<PathBuf>, DiskError> {
    let file = review::file_of(run);
    let (folders, name) = split(&file)?;
    let Some(top) = Folder::find(output_dir, &[SIDECARS, FOLDER])? else { return Ok(None) };
    wait_for_turn(&top);
    match Folder::find(output_dir, &below(&folders))? {
        Some(folder) => publish::aside(output_dir, &folder, &below_replaced(&folders), name),
        None => Ok(None),
    }
}

fn below<'a>(folders: &[&'a str]) -> Vec<&'a str> {
    [&[SIDECARS, FOLDER], folders].concat()
}

fn below_replaced<'a>(folders: &[&'a str]) -> Vec<&'a str> {
    [&[FOLDER], folders].concat()
}

/// Waits for the turn of this program to change reviews, which lasts until the folder is closed.
/// Nobody has it for long; where folders cannot be locked, or somebody is stuck in the middle, it
/// goes on without.
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
    use crate::disk::DiskErrorKind;
    use crate::publish::tests::{Mounted, below as all_below};

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
        let Some(disk) = Mounted::of("64k") else { return };
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
