//! Corrections to the task, system and model of a run that another tool recorded. They are written to
//! `touchstone.yaml`, never to the file of the run.
use super::RunActions;
use crate::error::{AppError, Code};
use crate::folder_id::roots_id;
use crate::paths::{self, WORKSPACE};
use touchstone_api::RunNames;
use touchstone_formats::workspace::{self, rewrite::rewrite};
use touchstone_model::error::ReadError;
use touchstone_model::run;
use touchstone_runner::atomic_write;

/// Maximum bytes of a name.
const LONGEST: usize = 1_000;

impl RunActions<'_> {
    /// Gives a run of another tool the names, and all runs with the same names in their files. A
    /// name that is missing or that is in the file takes a correction back. Fails if another folder
    /// is open, because a run of it may have the same id.
    pub fn rename_run(
        self,
        folder: Option<&str>,
        id: &str,
        names: &RunNames,
    ) -> Result<(), AppError> {
        let open = self.app.require_folder()?;
        open.check_writable()?;
        let dir = &open.flow.roots.folder;
        if folder.is_some_and(|folder| folder != roots_id(&open.flow.roots)) {
            let message = "The names were not saved: another folder is open now.";
            return Err(
                AppError::new(Code::Gone, message).hint("Open the folder of the run again.")
            );
        }
        let (row, own) = open.reading.own_names(&open.flow, id)?;
        let Some(own) = own else {
            let message = "Only runs of other tools can be renamed. The file name of this run names \
                           its task, system and model.";
            return Err(AppError::new(Code::BadRequest, message).hint("Rename its file."));
        };
        let new = [&names.task, &names.system, &names.model].map(|name| {
            name.as_ref().map(|name| name.trim().to_owned()).filter(|name| !name.is_empty())
        });
        let is_wrong = |name: &String| name.len() > LONGEST || name.contains(char::is_control);
        if new.iter().flatten().any(is_wrong) {
            let message = "A name has to be one line of at most 1,000 bytes.";
            return Err(AppError::new(Code::BadRequest, message));
        }
        let [task, system, model] = new;
        let new = run::RunNames { task, system, model };
        let text = paths::workspace_text(dir).transpose().map_err(|error| unreadable(&error))?;
        let text = text.unwrap_or_default();
        let mut all = workspace::read(&text).map_err(|error| unreadable(&error))?.imports;
        let path = row.path.split('#').next().unwrap_or_default();
        all.set(path, &own, &new);
        let text = rewrite(&text, &all).map_err(|error| unreadable(&error))?;
        atomic_write::replace(dir, WORKSPACE, text.as_bytes()).map_err(|error| {
            AppError::new(Code::Failed, format!("touchstone.yaml could not be written: {error}"))
        })
    }
}

fn unreadable(error: &ReadError) -> AppError {
    let line = error.line.map(|line| format!("line {line}: ")).unwrap_or_default();
    let message = format!("touchstone.yaml was not changed: {line}{}", error.message);
    let advice = error.advice.clone().unwrap_or_else(|| "Correct it, and try again.".to_owned());
    AppError::new(Code::Failed, message).hint(&advice)
}
