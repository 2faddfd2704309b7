//! Whether all marks of red team scans are known that concern a copy: those below its prefix, which
//! are copied, and those of the folders above it, which are not. Unknown marks count as if all runs
//! were sensitive.
use super::address::BucketAddress;
use super::client::Client;
use super::error::{BucketError, BucketErrorKind};
use fs_err as fs;
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use touchstone_store::index_dir::create_private;

/// Folder of the marks beside results.
const FOLDER: &str = ".touchstone/sensitive/";
/// File in the folder of a copy that is there while all marks are known.
const KNOWN: &str = "marks-known";
/// Number of folders above the prefix whose marks count.
const ABOVE: usize = 16;
/// Number of tries of a request.
const TRIES: u32 = 2;

/// Returns true if a key may be that of a mark.
pub(crate) fn is_mark(key: &str) -> bool {
    key.contains(FOLDER)
}

/// Returns true if all marks of the copy in a folder are known, also when another process keeps it.
pub(crate) fn are_known(dir: &Path) -> bool {
    dir.join(KNOWN).is_file()
}

/// Marks of a copy.
pub(crate) struct Marks {
    path: PathBuf,
    /// True if all of them were known at the last check.
    pub(crate) known: bool,
    /// Beginnings of the keys of marks in the folders above.
    above: Vec<String>,
    /// Those of them that hold marks, or could not be listed.
    unclear: BTreeSet<usize>,
    next: usize,
}

impl Marks {
    pub(crate) fn new(dir: &Path, address: &BucketAddress) -> Self {
        let above = folders_above(&address.prefix);
        let unclear = if are_known(dir) { BTreeSet::new() } else { (0..above.len()).collect() };
        Self { path: dir.join(KNOWN), known: are_known(dir), above, unclear, next: 0 }
    }

    /// Number of requests of one look.
    pub(crate) fn requests(&self) -> usize {
        self.above.len().min(1)
    }

    /// Looks at all folders above.
    pub(crate) async fn look_above(&mut self, client: &Client) {
        for _ in 0..self.above.len() {
            self.look_at_next(client).await;
        }
    }

    /// Looks at the next folder above.
    pub(crate) async fn look_at_next(&mut self, client: &Client) {
        let Some(prefix) = self.above.get(self.next) else { return };
        let seen = client.has_keys(prefix, TRIES).await;
        self.saw(self.next, seen);
        self.next = (self.next + 1) % self.above.len();
    }

    fn saw(&mut self, at: usize, seen: Result<bool, BucketError>) {
        match seen {
            Ok(false) => drop(self.unclear.remove(&at)),
            // It stays as it was until the server answers.
            Err(error) if error.is_passing() || error.kind == BucketErrorKind::Stopped => {}
            Ok(true) | Err(_) => drop(self.unclear.insert(at)),
        }
    }

    /// Notes whether all marks are known after a check. `is_whole` tells whether everything below
    /// the prefix was copied, marks included; only a check that went well makes them known.
    pub(crate) fn settle(&mut self, is_well: bool, is_whole: bool) -> io::Result<()> {
        let known = (is_well || self.known) && is_whole && self.unclear.is_empty();
        if known == self.known {
            return Ok(());
        }
        if known {
            create_private(&self.path)?;
        } else {
            fs::remove_file(&self.path)?;
        }
        self.known = known;
        Ok(())
    }
}

/// Returns the beginnings of the keys of marks in the folders above a prefix, the nearest first.
fn folders_above(prefix: &str) -> Vec<String> {
    let mut above = Vec::new();
    let mut folder = prefix;
    while !folder.is_empty() && above.len() < ABOVE {
        folder = folder.rsplit_once('/').map_or("", |(above, _)| above);
        let slash = if folder.is_empty() { "" } else { "/" };
        above.push(format!("{folder}{slash}{FOLDER}"));
    }
    above
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_unknown_until_all_folders_above_were_listed_and_hold_none() {
        assert_eq!(folders_above(""), [""; 0]);
        let above = ["a/b/.touchstone/sensitive/", "a/.touchstone/sensitive/", FOLDER];
        assert_eq!(folders_above("a/b/c"), above);
        let dir = tempfile::tempdir().unwrap();
        let address = BucketAddress::parse("s3://bucket/a/b").unwrap();
        let mut marks = Marks::new(dir.path(), &address);
        marks.saw(0, Ok(false));
        marks.settle(true, true).unwrap();
        assert!(!are_known(dir.path()), "one folder was not looked at");
        marks.saw(1, Ok(false));
        marks.settle(false, true).unwrap();
        assert!(!are_known(dir.path()), "the check did not go well");
        marks.settle(true, false).unwrap();
        assert!(!are_known(dir.path()), "a mark may be missing");
        marks.settle(true, true).unwrap();
        assert!(are_known(dir.path()));
        // The next process goes on from there, also while the server is away.
        let mut marks = Marks::new(dir.path(), &address);
        marks.saw(1, Err(BucketError::new(BucketErrorKind::Unreachable, "", "")));
        marks.settle(false, true).unwrap();
        assert!(are_known(dir.path()));
        for seen in [Ok(true), Err(BucketError::new(BucketErrorKind::Denied, "", ""))] {
            marks.saw(1, seen);
            marks.settle(true, true).unwrap();
            assert!(!are_known(dir.path()));
            marks.saw(1, Ok(false));
            marks.settle(true, true).unwrap();
            assert!(are_known(dir.path()));
        }
    }
}
