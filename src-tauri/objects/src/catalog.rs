//! What a copy holds: the version of each object, in memory and in a file beside the copy. Each change
//! is a line at the end of that file, so that a copy that was stopped at any moment goes on; a line
//! that is lost is one object fetched again.
use super::xml::Listed;
use fs_err as fs;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::{self, BufRead as _, BufReader, BufWriter, Read as _, Write as _};
use std::path::{Path, PathBuf};
use touchstone_store::index_dir::create_private;

/// Maximum length of a line in bytes.
const LONGEST: u64 = 16 << 10;
/// Lines that are no longer needed are dropped from this number on.
const COMPACT: usize = 1_000;

/// Version of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Version {
    pub(crate) etag: Box<str>,
    pub(crate) size: u64,
    pub(crate) modified_ms: i64,
}

impl Version {
    /// Returns true if a listed object is still this version. Servers that list no marks are
    /// compared by size and time.
    pub(crate) fn is(&self, listed: &Listed) -> bool {
        let same_time = self.modified_ms == listed.modified_ms;
        let unmarked = self.etag.is_empty() || listed.etag.is_empty();
        self.size == listed.size && if unmarked { same_time } else { *self.etag == listed.etag }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Line {
    Copied {
        key: String,
        etag: String,
        size: u64,
        modified_ms: i64,
    },
    Removed {
        key: String,
    },
    /// New name in the feed of segments.
    Segment {
        name: String,
    },
    /// All objects were listed and copied once.
    Complete {},
}

/// Contents of a copy.
#[derive(Debug)]
pub(crate) struct Catalog {
    /// Copied objects by their keys below the prefix.
    pub(crate) objects: BTreeMap<Box<str>, Version>,
    /// True once all objects were listed and copied.
    pub(crate) complete: bool,
    /// Last name in the feed of segments, and their number.
    pub(crate) last_segment: String,
    pub(crate) segments: u64,
    log: Option<BufWriter<fs::File>>,
}

impl Catalog {
    /// Opens the file without a look at other files.
    #[cfg(test)]
    fn open(path: &Path, is_there: impl Fn(&str, u64) -> bool) -> io::Result<Self> {
        Self::go_on(Self::read(path)?, path, is_there)
    }

    /// Keeps the file open for changes after it was read. `is_there` tells whether the copy still
    /// has an object of this size.
    pub(crate) fn go_on(
        (mut catalog, lines): (Self, usize),
        path: &Path,
        is_there: impl Fn(&str, u64) -> bool,
    ) -> io::Result<Self> {
        let before = catalog.objects.len();
        catalog.objects.retain(|key, version| is_there(key, version.size));
        // What is missing is found by listing everything again.
        catalog.complete &= catalog.objects.len() == before;
        if before != catalog.objects.len() || lines > COMPACT + 2 * catalog.objects.len() {
            catalog.rewrite(path)?;
        }
        let log = fs::OpenOptions::new().append(true).create(true).open(path)?;
        catalog.log = Some(BufWriter::new(log));
        Ok(catalog)
    }

    /// Reads the file of a copy that another process may be writing. Returns the number of lines.
    pub(crate) fn read(path: &Path) -> io::Result<(Self, usize)> {
        let mut catalog = Self {
            objects: BTreeMap::new(),
            complete: false,
            last_segment: String::new(),
            segments: 0,
            log: None,
        };
        let file = match fs::File::open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok((catalog, 0)),
            file => file?,
        };
        let mut reader = BufReader::new(file);
        let (mut line, mut lines) = (Vec::new(), 0);
        loop {
            line.clear();
            if (&mut reader).take(LONGEST).read_until(b'\n', &mut line)? == 0 {
                return Ok((catalog, lines));
            }
            lines += 1;
            // The last line of a process that was killed may be incomplete.
            if let Ok(line) = serde_json::from_slice(&line) {
                catalog.apply(line);
            }
        }
    }

    fn apply(&mut self, line: Line) {
        match line {
            Line::Copied { key, etag, size, modified_ms } => {
                let version = Version { etag: etag.into(), size, modified_ms };
                self.objects.insert(key.into(), version);
            }
            Line::Removed { key } => drop(self.objects.remove(key.as_str())),
            Line::Segment { name } => {
                self.segments += 1;
                self.last_segment = name;
            }
            Line::Complete {} => self.complete = true,
        }
    }

    fn note(&mut self, line: Line) -> io::Result<()> {
        if let Some(log) = &mut self.log {
            serde_json::to_writer(&mut *log, &line)?;
            log.write_all(b"\n")?;
        }
        self.apply(line);
        Ok(())
    }

    pub(crate) fn copied(&mut self, listed: Listed) -> io::Result<()> {
        let Listed { key, etag, size, modified_ms } = listed;
        self.note(Line::Copied { key, etag, size, modified_ms })
    }

    pub(crate) fn removed(&mut self, key: &str) -> io::Result<()> {
        self.note(Line::Removed { key: key.to_owned() })
    }

    pub(crate) fn segment(&mut self, name: &str) -> io::Result<()> {
        self.note(Line::Segment { name: name.to_owned() })
    }

    pub(crate) fn completed(&mut self) -> io::Result<()> {
        if self.complete { Ok(()) } else { self.note(Line::Complete {}) }
    }

    /// Hands what was noted to the system.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.log.as_mut().map_or(Ok(()), BufWriter::flush)
    }

    fn rewrite(&self, path: &Path) -> io::Result<()> {
        let beside: PathBuf = path.with_extension("new");
        let mut file = BufWriter::new(create_private(&beside)?);
        let mut write = |line: &Line| -> io::Result<()> {
            serde_json::to_writer(&mut file, line)?;
            file.write_all(b"\n")
        };
        for (key, version) in &self.objects {
            let Version { etag, size, modified_ms } = version.clone();
            let (key, etag) = (key.to_string(), etag.to_string());
            write(&Line::Copied { key, etag, size, modified_ms })?;
        }
        if self.segments > 0 {
            write(&Line::Segment { name: self.last_segment.clone() })?;
        }
        if self.complete {
            write(&Line::Complete {})?;
        }
        file.flush()?;
        fs::rename(beside, path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(key: &str, etag: &str, size: u64, modified_ms: i64) -> Listed {
        Listed { key: key.to_owned(), etag: etag.to_owned(), size, modified_ms }
    }

    #[test]
    fn what_was_noted_is_there_again_and_half_a_line_is_one_object_less() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("objects.jsonl");
        let mut catalog = Catalog::open(&path, |_, _| true).unwrap();
        for n in 0..3 {
            catalog.copied(listed(&format!("k{n}"), "e", n, 5)).unwrap();
        }
        catalog.removed("k0").unwrap();
        catalog.segment("s1").unwrap();
        catalog.completed().unwrap();
        catalog.flush().unwrap();
        let again = Catalog::open(&path, |_, _| true).unwrap();
        assert_eq!(again.objects, catalog.objects);
        assert!(again.complete && again.last_segment == "s1");
        let text = fs::read(&path).unwrap();
        fs::write(&path, &text[..text.len() - 5]).unwrap();
        let cut = Catalog::open(&path, |_, _| true).unwrap();
        assert!(!cut.complete && cut.objects.len() == 2);
        // A file of the copy was deleted: everything is listed again.
        fs::write(&path, &text).unwrap();
        let missing = Catalog::open(&path, |key, _| key != "k1").unwrap();
        assert!(!missing.complete && missing.objects.len() == 1);
        assert_eq!(Catalog::read(&path).unwrap().0.objects, missing.objects);
    }

    #[test]
    fn a_version_is_told_by_its_mark_else_by_size_and_time() {
        let version = |etag: &str| Version { etag: etag.into(), size: 1, modified_ms: 5 };
        for (known, now, same) in [
            ("a", listed("k", "a", 1, 9), true),
            ("a", listed("k", "b", 1, 5), false),
            ("a", listed("k", "a", 2, 5), false),
            ("", listed("k", "", 1, 5), true),
            ("", listed("k", "", 1, 6), false),
            ("a", listed("k", "", 1, 6), false),
            ("", listed("k", "b", 1, 5), true),
        ] {
            assert_eq!(version(known).is(&now), same, "{known} {now:?}");
        }
    }
}
