//! Queries for one run.
use super::RunActions;
use super::reading::Reading;
use crate::error::{AppError, Code};
use crate::saving::keep_file;
use std::path::{Path, PathBuf};
use touchstone_api::{
    Matches, MediaFile, ReadProgress, RowPiece, RowRequest, RunBeginning, RunLineage, RunOutline,
    RunView, Span, StepPage, TextPiece, TreeView,
};
use touchstone_store::query;
use touchstone_store::roots::Root;

/// Maximum number of forks of a run that are listed, and of runs in the tree of forks; further ones
/// are only counted.
const MOST_FORKS: usize = 50;

impl RunActions<'_> {
    /// Returns the id of the run in a file of the open folder.
    pub fn id_of_file(self, file: &Path) -> Result<String, AppError> {
        let open = self.app.require_folder()?;
        let found = open.flow.roots.locate(file).filter(|file| file.root == Root::Output);
        let found = found.ok_or_else(|| {
            let message = format!("{} is not in the output directory.", file.display());
            AppError::new(Code::BadRequest, message)
        })?;
        Ok(touchstone_store::run_id(&found))
    }

    /// Opens a run as its files are now.
    pub fn open_run(self, id: &str) -> Result<RunView, AppError> {
        let open = self.app.require_folder()?;
        if let Some(file) = open.ask(|index| query::claimed_file(index, id))? {
            open.flow.read_claimed(file);
        }
        let mut view = open.reading.open(&open.flow, id)?;
        self.app.sensitive().mark_sensitive([&mut view.row])?;
        let lineage = open.ask(|index| query::lineage(index, &view.row, MOST_FORKS))?;
        let lineage = RunLineage { edited: view.lineage.edited, ..lineage };
        Ok(RunView { lineage, ..view })
    }

    /// Returns the first steps of a run while it is read, if its file is large and can be read line by
    /// line. `None` for a sensitive run, whose texts are folded.
    pub fn run_beginning(self, id: &str) -> Result<Option<RunBeginning>, AppError> {
        let open = self.app.require_folder()?;
        let Some((mut row, beginning)) = Reading::beginning(&open.flow, id)? else {
            return Ok(None);
        };
        self.app.sensitive().mark_sensitive([&mut row])?;
        Ok(row.sensitive.is_none().then_some(beginning))
    }

    /// Returns how far the reading of a run from its files is; `None` if it is not being read.
    pub fn run_reading(self, id: &str) -> Result<Option<ReadProgress>, AppError> {
        Ok(self.app.require_folder()?.reading.progress(id))
    }

    /// Stops the reading of a run from its files.
    pub fn stop_reading_run(self, id: &str) -> Result<(), AppError> {
        self.app.require_folder()?.reading.stop(id);
        Ok(())
    }

    /// Returns steps of the version that was opened.
    pub fn read_steps(self, id: &str, version: &str, span: Span) -> Result<StepPage, AppError> {
        let open = self.app.require_folder()?;
        Ok(open.reading.steps(&open.flow, id, version, span)?)
    }

    /// Returns all steps of the version that was opened in a bounded number of marks.
    pub fn run_outline(self, id: &str, version: &str) -> Result<RunOutline, AppError> {
        let open = self.app.require_folder()?;
        Ok(open.reading.outline(&open.flow, id, version)?)
    }

    /// Returns the search tree of a run, in the version that was opened.
    pub fn read_tree(self, id: &str, version: &str) -> Result<TreeView, AppError> {
        let open = self.app.require_folder()?;
        Ok(open.reading.tree(&open.flow, id, version)?)
    }

    /// Returns a piece of the text of a part; `raw:<n>` is the n-th file as it is on disk.
    pub fn read_text(
        self,
        id: &str,
        part: &str,
        offset: u64,
        limit: u64,
    ) -> Result<TextPiece, AppError> {
        let open = self.app.require_folder()?;
        Ok(open.reading.text(&open.flow, id, part, (offset, limit))?)
    }

    /// Returns the path of a file of a run, to be shown in a file manager. For security the page
    /// gives a run and a file number, never a path.
    pub fn reveal_file(self, id: &str, at: u32) -> Result<PathBuf, AppError> {
        let open = self.app.require_folder()?;
        Ok(Reading::file_path(&open.flow, id, at)?)
    }

    /// Returns rows of a table.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "requests come from outside and are given away"
    )]
    pub fn read_rows(
        self,
        id: &str,
        part: &str,
        request: RowRequest,
    ) -> Result<RowPiece, AppError> {
        let open = self.app.require_folder()?;
        Ok(open.reading.rows(&open.flow, id, part, &request)?)
    }

    /// Returns a table as CSV.
    pub fn read_csv(self, id: &str, part: &str) -> Result<String, AppError> {
        let open = self.app.require_folder()?;
        Ok(open.reading.csv(&open.flow, id, part)?)
    }

    /// Returns the image, sound or file that a part of a step describes, in the version of the run
    /// that was opened.
    pub fn read_media(self, id: &str, version: &str, part: &str) -> Result<MediaFile, AppError> {
        let open = self.app.require_folder()?;
        Ok(Reading::media(&open.flow, id, version, part)?.into_file())
    }

    /// Saves an image, sound or file where the user wants it. `pick` gets a name for the file and
    /// returns its path; false if it returns none.
    pub fn save_media(
        self,
        id: &str,
        version: &str,
        part: &str,
        pick: impl FnOnce(&str) -> Result<Option<PathBuf>, AppError>,
    ) -> Result<bool, AppError> {
        let open = self.app.require_folder()?;
        let media = Reading::media(&open.flow, id, version, part)?;
        let Some(path) = pick(&media.file_name)? else { return Ok(false) };
        self.app.folder().refuse_among_results(&path)?;
        keep_file(&media.bytes, &path).map(|()| true)
    }

    /// Finds the occurrences of a text in a run.
    pub fn find_in_run(self, id: &str, text: &str) -> Result<Matches, AppError> {
        let open = self.app.require_folder()?;
        Ok(open.reading.find(&open.flow, id, text)?)
    }
}
