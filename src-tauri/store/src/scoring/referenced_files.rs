//! Files that suites refer to: gold answers, scorer programs, and lists of query ids. Reads each
//! file once and detects changes.
use crate::open::{self, Stamp};
use crate::parse_unit::is_settled;
use crate::roots::{FileId, Roots};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use touchstone_clock as clock;
use touchstone_formats::stabletoolbench::filter::Ids;
use touchstone_formats::suite::ground_truth;
use touchstone_model::value::Value;
use xxhash_rust::xxh3::xxh3_64;

/// Maximum file size.
const MAX_FILE: u64 = 32 << 20;

/// Gold answer, or the reason it cannot be read.
pub(crate) type Gold = Result<Arc<Value>, String>;

/// Cache of referenced files.
#[derive(Debug, Default)]
pub(crate) struct ReferencedFiles {
    files: BTreeMap<FileId, Companion>,
}

#[derive(Debug)]
struct Companion {
    stamp: Option<Stamp>,
    /// False when the file was read so soon after its last change that another change may produce
    /// the same stamp.
    settled: bool,
    /// Hash of the content, or the reason it could not be read.
    hash: Result<u64, String>,
    gold: Option<Gold>,
}

impl ReferencedFiles {
    /// Returns the gold answer in a file.
    pub(crate) fn gold(&mut self, roots: &Roots, file: &FileId) -> Gold {
        if let Some(gold) = self.files.get(file).and_then(|known| known.gold.clone()) {
            return gold;
        }
        let (mut read, bytes) = look(roots, file);
        let gold = read.hash.clone().and_then(|_| {
            let text = String::from_utf8(bytes).map_err(|_| "it is not UTF-8 text.")?;
            ground_truth(&file.to_display(), &text).map(Arc::new).map_err(|error| error.message)
        });
        read.gold = Some(gold.clone());
        self.files.insert(file.clone(), read);
        gold
    }

    /// Returns the list of query ids, or the reason it cannot be read. `None` when the file does
    /// not exist.
    pub(crate) fn ids(&mut self, roots: &Roots, file: &FileId) -> Option<Result<Ids, String>> {
        let value = self.gold(roots, file);
        let there = self.files.get(file).is_some_and(|known| known.stamp.is_some());
        there
            .then(|| value.and_then(|value| Ids::from_value(&value).map_err(|error| error.message)))
    }

    /// Returns the hash of a program.
    pub(crate) fn program(&mut self, roots: &Roots, file: &FileId) -> Result<u64, String> {
        let known = self.files.entry(file.clone()).or_insert_with(|| look(roots, file).0);
        known.hash.clone()
    }

    /// Checks the files within the scopes. Returns those with changed content and drops them from
    /// the cache.
    pub(crate) fn changed(&mut self, roots: &Roots, scopes: &[FileId]) -> BTreeSet<FileId> {
        let mut changed = BTreeSet::new();
        for (file, known) in &mut self.files {
            if !scopes.iter().any(|scope| scope.holds(file)) {
                continue;
            }
            let stamp = open::open(roots, file).ok().map(|(_, stamp)| stamp);
            if stamp == known.stamp && known.settled {
                continue;
            }
            let (now, _) = look(roots, file);
            if now.hash == known.hash {
                (known.stamp, known.settled) = (now.stamp, now.settled);
            } else {
                changed.insert(file.clone());
            }
        }
        for file in &changed {
            self.files.remove(file);
        }
        changed
    }

    /// Drops files that no suite refers to.
    pub(crate) fn keep(&mut self, named: &BTreeSet<&FileId>) {
        self.files.retain(|file, _| named.contains(file));
    }
}

fn look(roots: &Roots, file: &FileId) -> (Companion, Vec<u8>) {
    let now = clock::now_ns();
    let (stamp, content) = match open::read(roots, file, MAX_FILE) {
        Ok((bytes, stamp)) => (Some(stamp), Ok(bytes)),
        Err(why) => (open::open(roots, file).ok().map(|(_, stamp)| stamp), Err(format!("{why}."))),
    };
    let settled = stamp.is_none_or(|stamp| is_settled(stamp, now));
    let hash = content.as_ref().map(|bytes| xxh3_64(bytes)).map_err(Clone::clone);
    (Companion { stamp, settled, hash, gold: None }, content.unwrap_or_default())
}

/// Resolves a path in a suite. `None` when it leads out of the root.
pub(crate) fn beside(roots: &Roots, suite: &FileId, path: &str) -> Option<FileId> {
    let file = below(suite, path)?;
    // One root may be inside the other; files are identified as by the file watcher.
    Some(roots.path(&file).and_then(|path| roots.locate(&path)).unwrap_or(file))
}

fn below(suite: &FileId, path: &str) -> Option<FileId> {
    let folder = if suite.name().contains(&b'.') { suite.parent() } else { &suite.path };
    let mut parts: Vec<&[u8]> =
        folder.split(|byte| *byte == b'/').filter(|part| !part.is_empty()).collect();
    if path.starts_with('/') {
        return None;
    }
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            name => parts.push(name.as_bytes()),
        }
    }
    Some(FileId::new(suite.root, parts.join(&b'/')))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::roots::Root;

    #[test]
    fn a_gold_answer_is_named_from_its_suite_and_never_outside_the_directory_of_its_suite() {
        let suite = FileId::new(Root::Input, "a/b/task.yaml");
        let named = |path| below(&suite, path).map(|file| file.to_display());
        assert_eq!(named("gold.json").as_deref(), Some("a/b/gold.json"));
        assert_eq!(named("./x/../../gold/1.json").as_deref(), Some("a/gold/1.json"));
        assert_eq!(named("../../../etc/passwd"), None);
        assert_eq!(named("/etc/passwd"), None);
        let folder = FileId::new(Root::Input, "a/prompts");
        assert_eq!(
            below(&folder, "gold.json").map(|file| file.to_display()).as_deref(),
            Some("a/prompts/gold.json")
        );
    }
}
