//! **Pure.** A file that is exactly one run.
use crate::format::ImportedFile;
use crate::run::ImportedRun;
use touchstone_model::error::ReadError;

/// File with one run, which has no name of its own.
#[derive(Debug)]
pub struct Single(pub ImportedRun);

impl ImportedFile for Single {
    fn len(&self) -> usize {
        1
    }

    fn member(&self, _at: usize) -> Option<String> {
        None
    }

    fn read(&self, _at: usize) -> Result<ImportedRun, ReadError> {
        Ok(self.0.clone())
    }
}
