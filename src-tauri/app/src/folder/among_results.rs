//! Where documents may be written: never among the results.
use super::FolderActions;
use crate::error::{AppError, Code};
use crate::paths;
use crate::saving::folder_of;
use std::path::Path;
use touchstone_store::roots::Root;

impl FolderActions<'_> {
    /// Fails for a file or folder in the output directory of the open folder, or a link that leads
    /// there: what is written would be read as runs, or would replace some. Nothing of the path
    /// needs to exist.
    pub fn refuse_among_results(self, path: &Path) -> Result<(), AppError> {
        let open = self.app.require_folder()?;
        if open.is_in_copy(path) {
            return open.check_writable();
        }
        let itself = path.file_name().map(|name| paths::absolute_path(folder_of(path)).join(name));
        let is_in_output = |full: &Path| {
            open.flow.roots.locate(full).is_some_and(|file| file.root == Root::Output)
        };
        if !itself.iter().chain([&paths::absolute_path(path)]).any(|full| is_in_output(full)) {
            return Ok(());
        }
        let message = format!(
            "{} is in the output directory, where it would be read as a run.",
            path.display()
        );
        Err(AppError::new(Code::BadRequest, message).hint(format!(
            "Choose a directory outside of {}.",
            open.flow.roots.output_dir.display()
        )))
    }
}
