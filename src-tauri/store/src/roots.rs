//! **Pure.** The two directories of an open folder, and the identification of files by the bytes of
//! their paths below these roots.
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Locations of suites and transcripts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Roots {
    /// Folder opened by the user.
    pub folder: PathBuf,
    /// Input directory with the suites, if known.
    pub input_dir: Option<PathBuf>,
    /// Output directory with the transcripts.
    pub output_dir: PathBuf,
    /// Additional model names recognized in file names.
    pub models: Vec<String>,
}

/// Root directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Root {
    /// Output directory.
    Output,
    /// Input directory.
    Input,
}

/// File or directory below a root. The empty path is the root itself.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId {
    /// Root.
    pub root: Root,
    /// Path below the root, as bytes separated by `/`. Shared, as each file of a large folder is in
    /// several lists at the same time.
    pub path: Arc<[u8]>,
}

impl FileId {
    /// Creates an id from a root and a relative path.
    pub fn new(root: Root, path: impl Into<Vec<u8>>) -> Self {
        Self { root, path: path.into().into() }
    }

    /// Path for display, with invalid UTF-8 replaced.
    pub fn to_display(&self) -> String {
        String::from_utf8_lossy(&self.path).into_owned()
    }

    /// Last component of the path.
    pub fn name(&self) -> &[u8] {
        self.path.rsplit(|b| *b == b'/').next().unwrap_or_default()
    }

    /// Path without its last component.
    pub fn parent(&self) -> &[u8] {
        let name = self.name().len();
        self.path.get(..self.path.len().saturating_sub(name + 1)).unwrap_or_default()
    }

    /// Appends a component.
    #[must_use]
    pub fn join(&self, name: &OsStr) -> Self {
        let mut path = Vec::with_capacity(self.path.len() + 1 + name.len());
        path.extend_from_slice(&self.path);
        if !path.is_empty() {
            path.push(b'/');
        }
        path.extend_from_slice(name.as_bytes());
        Self { root: self.root, path: path.into() }
    }

    /// Returns true for the directory itself and everything below it.
    pub fn holds(&self, other: &FileId) -> bool {
        self.root == other.root
            && match other.path.strip_prefix(&*self.path) {
                Some(rest) => self.path.is_empty() || rest.is_empty() || rest[0] == b'/',
                None => false,
            }
    }

    /// Number of path components; a file directly in the root has 1.
    pub fn depth(&self) -> usize {
        if self.path.is_empty() { 0 } else { self.path.split(|b| *b == b'/').count() }
    }
}

impl Roots {
    /// Directory of a root.
    pub fn dir(&self, root: Root) -> Option<&Path> {
        match root {
            Root::Output => Some(&self.output_dir),
            Root::Input => self.input_dir.as_deref(),
        }
    }

    /// Absolute path of a file.
    pub fn path(&self, file: &FileId) -> Option<PathBuf> {
        Some(self.dir(file.root)?.join(OsStr::from_bytes(&file.path)))
    }

    /// Existing roots. If one is inside the other, the outer one comes first.
    pub fn existing(&self) -> Vec<Root> {
        match &self.input_dir {
            None => vec![Root::Output],
            Some(input) if *input == self.output_dir => vec![Root::Output],
            Some(input) if self.output_dir.starts_with(input) => vec![Root::Input, Root::Output],
            Some(_) => vec![Root::Output, Root::Input],
        }
    }

    /// Maps an absolute path to a file id. Prefers the inner root if one is inside the other.
    pub fn locate(&self, path: &Path) -> Option<FileId> {
        self.existing().into_iter().rev().find_map(|root| {
            let below = path.strip_prefix(self.dir(root)?).ok()?;
            Some(FileId::new(root, below.as_os_str().as_bytes()))
        })
    }

    /// Returns true when the directory belongs to the other root, because one root is inside the
    /// other.
    pub fn is_other_root(&self, dir: &FileId) -> bool {
        !dir.path.is_empty()
            && self
                .path(dir)
                .and_then(|path| self.locate(&path))
                .is_some_and(|at| at.root != dir.root)
    }

    /// Path for display, relative to the opened folder.
    pub fn display_path(&self, file: &FileId) -> String {
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
