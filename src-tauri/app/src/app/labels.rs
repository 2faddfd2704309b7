//! Labels of runs: their questions and schemas in `touchstone.yaml`, with the runs that have them.
use super::App;
use crate::error::{AppError, Code};
use crate::paths::{self, WORKSPACE};
use crate::recent::roots_id;
use touchstone_api::{LabelAgreement, LabelView};
use touchstone_formats::ReadError;
use touchstone_formats::workspace;
use touchstone_formats::workspace::labels::{Label, LabelKind, with_question};
use touchstone_runner::atomic_write;
use touchstone_store::filter::Labels;

impl App {
    /// Returns the labels of the workspace file, in its order, with the number of runs that have them.
    pub fn labels(&self) -> Result<Vec<LabelView>, AppError> {
        let open = self.require_folder()?;
        open.ask(|index| open.lists.label_views(index))
    }

    /// Returns the labels of the workspace file, in its order. Their runs are not counted, which may take
    /// a search of all transcripts.
    pub fn label_schemas(&self) -> Result<Vec<LabelView>, AppError> {
        Ok(self.require_folder()?.lists.label_schemas())
    }

    /// Returns how far each two people agree on each category, over the runs that match a filter.
    pub fn label_agreements(&self, filter: &str) -> Result<Vec<LabelAgreement>, AppError> {
        self.check_filter_of_folder(filter)?;
        let open = self.require_folder()?;
        open.ask(|index| open.lists.label_agreements(index, filter))
    }

    /// Saves a filter as a label in the workspace file. Fails if the filter cannot be read, the name is
    /// taken, or another folder is open.
    pub fn save_label(
        &self,
        folder: Option<&str>,
        name: &str,
        question: &str,
    ) -> Result<(), AppError> {
        let open = self.require_folder()?;
        let dir = &open.flow.roots.folder;
        if folder.is_some_and(|folder| folder != roots_id(&open.flow.roots)) {
            let message = "The label was not saved: another folder is open now.";
            return Err(AppError::new(Code::Gone, message).hint("Open the folder again."));
        }
        let (name, question) = (name.trim(), question.trim());
        self.check_filter_of_folder(question)?;
        let text = paths::workspace_text(dir).transpose().map_err(|error| unchanged(&error))?;
        let text = text.unwrap_or_default();
        let new = with_question(&text, name, question).map_err(|error| unchanged(&error))?;
        refuse_circle(&new, name)?;
        atomic_write::replace(dir, WORKSPACE, new.as_bytes()).map_err(|error| {
            AppError::new(Code::Failed, format!("touchstone.yaml could not be written: {error}"))
        })
    }
}

/// Fails if a label has a mistake together with the others of its file.
fn refuse_circle(text: &str, name: &str) -> Result<(), AppError> {
    let labels: Vec<Label> = workspace::read(text).map_err(|error| unchanged(&error))?.labels;
    let is_meant =
        |label: &&Label| label.name == name && matches!(label.kind, LabelKind::Question(_));
    debug_assert!(labels.iter().any(|label| is_meant(&label)));
    match Labels::new(&labels).rule(name).and_then(|rule| rule.error.clone()) {
        Some(error) => Err(AppError::new(Code::BadRequest, error)),
        None => Ok(()),
    }
}

fn unchanged(error: &ReadError) -> AppError {
    let line = error.line.map(|line| format!("line {line}: ")).unwrap_or_default();
    let message = format!("The label was not saved: {line}{}", error.message);
    let advice = error.advice.clone().unwrap_or_else(|| "Correct it, and try again.".to_owned());
    AppError::new(Code::BadRequest, message).hint(&advice)
}
