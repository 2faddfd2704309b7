//! **Pure.** Interface of a format of result files.
use crate::head::Head;
use crate::run::ImportedRun;
use crate::source::{Folder, Input};
use touchstone_model::error::ReadError;

/// Number of bytes at the start of a file that are needed to detect its format.
pub const HEAD_BYTES: usize = 16 << 10;

/// Format of another tool's result files.
pub trait Format: Sync {
    /// Returns the short name, as in `inspect`.
    fn name(&self) -> &'static str;

    /// Returns the name of the tool, as in `Inspect`.
    fn title(&self) -> &'static str;

    /// Returns the files that are read, in a few words: `*.eval, *.json`.
    fn files(&self) -> &'static str;

    /// Returns the page of documentation, in Markdown: what a run is, where its task, system, model
    /// and repeat come from, what is not read.
    fn documentation(&self) -> &'static str;

    /// Detects the format from the path and the start of the file. `head` holds the keys if the
    /// start looks like JSON. Returns `None` if the file is of another format.
    fn detect(&self, path: &str, start: &[u8], head: Option<&Head>) -> Option<Detected>;

    /// Opens a file. Fails if nothing of it can be read; a single run that cannot be read fails in
    /// [`ImportedFile::read`].
    fn open<'a>(&self, input: Input<'a>) -> Result<Box<dyn ImportedFile + 'a>, ReadError>;

    /// Returns the path of the file whose run changes with this one: the file of the trial that a
    /// trajectory is part of. `None` for files that stand for themselves. Asked for every file that
    /// changes, so it reads a file only where its path does not tell.
    fn owner(&self, path: &str, folder: &dyn Folder) -> Option<String> {
        let _ = (path, folder);
        None
    }

    /// Returns the starts of the paths of files that may be parts of the run of this one. Those of
    /// which [`Format::owner`] says so are read again when this file comes after them.
    fn part_paths(&self, path: &str) -> Vec<String> {
        let _ = path;
        Vec::new()
    }
}

/// Result of detecting a format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Detected {
    /// Holds one run.
    Run,
    /// Holds runs, each with a name of its own, or none.
    Runs,
    /// Belongs to the tool and holds no run, with the reason as a sentence: settings, a part of a
    /// run.
    NoRun(String),
}

/// Opened file. Its runs are read one at a time.
pub trait ImportedFile {
    /// Returns the number of runs.
    fn len(&self) -> usize;

    /// Returns true if the file holds no runs.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the name of a run in its file; `None` if the file is exactly one run.
    fn member(&self, at: usize) -> Option<String>;

    /// Reads a run whole.
    fn read(&self, at: usize) -> Result<ImportedRun, ReadError>;

    /// Reads a run whole that is not read again from this opened file, so that it need not be kept.
    fn take(&mut self, at: usize) -> Result<ImportedRun, ReadError> {
        self.read(at)
    }

    /// Returns a number that is another one when a run, as [`read`](Self::read) returns it, may be
    /// another one. It costs much less than reading the run. `None` where there is none.
    fn fingerprint(&self, at: usize) -> Option<u64> {
        let _ = at;
        None
    }

    /// Returns the error of the file around its runs, such as a file that is cut off. Runs may be
    /// missing then.
    fn file_error(&self) -> Option<ReadError> {
        None
    }
}
