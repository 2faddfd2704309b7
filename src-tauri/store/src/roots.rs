//! **Pure.** The two directories of an open folder, and how a file in them is named: by the bytes
//! of its path below its root.
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};
use touchstone_formats::offered::Offer;
use touchstone_formats::value::Value;

/// Where suites and transcripts are.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Roots {
    /// What the person opened.
    pub folder: PathBuf,
    /// Where the suites are, when that is known.
    pub input_dir: Option<PathBuf>,
    /// Where the transcripts are.
    pub output_dir: PathBuf,
    /// Models that may stand in file names, besides the ones everybody knows.
    pub models: Vec<String>,
    /// Scorers of queries, as the workspace file names them; empty is the usual ones.
    pub query_scorers: Vec<Value>,
    /// Tools that the workspace file declares, as far as it says what they take.
    pub tools: Vec<Offer>,
    /// Entries of `tools` in the workspace file, each with the names under which its tools are
    /// called; none where only asking them would tell.
    pub tool_names: Vec<(String, Option<Vec<String>>)>,
}

/// One of the two directories.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Root {
    /// The output directory.
    Output,
    /// The input directory.
    Input,
}

/// A file or directory below a root. The empty path is the root itself.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId {
    /// Below which.
    pub root: Root,
    /// Path below it, as bytes, with `/` between the parts.
    pub path: Vec<u8>,
}

impl FileId {
    /// A file below a root.
    pub fn new(root: Root, path: impl Into<Vec<u8>>) -> Self {
        Self { root, path: path.into() }
    }

    /// As shown: bytes that are no UTF-8 are replaced.
    pub fn shown(&self) -> String {
        String::from_utf8_lossy(&self.path).into_owned()
    }

    /// The last part of the path.
    pub fn name(&self) -> &[u8] {
        self.path.rsplit(|b| *b == b'/').next().unwrap_or_default()
    }

    /// The path without its last part.
    pub fn parent(&self) -> &[u8] {
        let name = self.name().len();
        self.path.get(..self.path.len().saturating_sub(name + 1)).unwrap_or_default()
    }

    /// A file or directory in this directory.
    #[must_use]
    pub fn join(&self, name: &OsStr) -> Self {
        let mut path = self.path.clone();
        if !path.is_empty() {
            path.push(b'/');
        }
        path.extend_from_slice(name.as_bytes());
        Self { root: self.root, path }
    }

    /// True for the directory itself and for everything below it.
    pub fn holds(&self, other: &FileId) -> bool {
        self.root == other.root
            && match other.path.strip_prefix(self.path.as_slice()) {
                Some(rest) => self.path.is_empty() || rest.is_empty() || rest[0] == b'/',
                None => false,
            }
    }

    /// How many directories down it is; a file in the root is at 1.
    pub fn depth(&self) -> usize {
        if self.path.is_empty() { 0 } else { self.path.split(|b| *b == b'/').count() }
    }
}

impl Roots {
    /// Where a root is.
    pub fn dir(&self, root: Root) -> Option<&Path> {
        match root {
            Root::Output => Some(&self.output_dir),
            Root::Input => self.input_dir.as_deref(),
        }
    }

    /// Where a file is.
    pub fn path(&self, file: &FileId) -> Option<PathBuf> {
        Some(self.dir(file.root)?.join(OsString::from_vec(file.path.clone())))
    }

    /// The roots there are, the outer one first when one lies in the other.
    pub fn each(&self) -> Vec<Root> {
        match &self.input_dir {
            None => vec![Root::Output],
            Some(input) if *input == self.output_dir => vec![Root::Output],
            Some(input) if self.output_dir.starts_with(input) => vec![Root::Input, Root::Output],
            Some(_) => vec![Root::Output, Root::Input],
        }
    }

    /// Which file a path of the system names: below the inner root when one lies in the other.
    pub fn locate(&self, path: &Path) -> Option<FileId> {
        self.each().into_iter().rev().find_map(|root| {
            let below = path.strip_prefix(self.dir(root)?).ok()?;
            Some(FileId::new(root, below.as_os_str().as_bytes()))
        })
    }

    /// True when the directory is the other root, whose files belong to that.
    pub fn is_other_root(&self, dir: &FileId) -> bool {
        !dir.path.is_empty()
            && self
                .path(dir)
                .and_then(|path| self.locate(&path))
                .is_some_and(|at| at.root != dir.root)
    }

    /// A file as it is named to the person: relative to the folder they opened.
    pub fn shown(&self, file: &FileId) -> String {
        let path = self.path(file).unwrap_or_default();
        path.strip_prefix(&self.folder).unwrap_or(&path).to_string_lossy().into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn roots(input: Option<&str>, output: &str) -> Roots {
        Roots {
            folder: "/f".into(),
            input_dir: input.map(Into::into),
            output_dir: output.into(),
            ..Roots::default()
        }
    }

    #[test]
    fn a_file_belongs_to_the_inner_root_when_one_lies_in_the_other() {
        let nested = roots(Some("/f"), "/f/results");
        assert_eq!(nested.locate(Path::new("/f/a.yaml")), Some(FileId::new(Root::Input, "a.yaml")));
        assert_eq!(
            nested.locate(Path::new("/f/results/x/a.yaml")),
            Some(FileId::new(Root::Output, "x/a.yaml"))
        );
        assert_eq!(
            nested.locate(Path::new("/f/results2/a")),
            Some(FileId::new(Root::Input, "results2/a"))
        );
        assert_eq!(nested.locate(Path::new("/elsewhere/a")), None);
        assert!(nested.is_other_root(&FileId::new(Root::Input, "results")));
        assert!(!nested.is_other_root(&FileId::new(Root::Input, "tasks")));
    }

    #[test]
    fn a_directory_holds_itself_and_what_is_below_it_but_not_its_namesakes() {
        let dir = FileId::new(Root::Output, "a/b");
        assert!(
            dir.holds(&FileId::new(Root::Output, "a/b"))
                && dir.holds(&FileId::new(Root::Output, "a/b/c"))
        );
        assert!(
            !dir.holds(&FileId::new(Root::Output, "a/bc"))
                && !dir.holds(&FileId::new(Root::Input, "a/b/c"))
        );
        assert!(FileId::new(Root::Output, "").holds(&dir));
        assert_eq!((dir.parent(), dir.name(), dir.depth()), (&b"a"[..], &b"b"[..], 2));
    }
}
