//! The setup of runs: models, systems, tools and limits of the workspace file.
use super::SettingsActions;
use crate::error::{AppError, Code};
use crate::paths;
use touchstone_api::Blocker;
use touchstone_formats::workspace::Workspace;
use touchstone_model::error::ReadError;
use touchstone_runner::setup::Setup;
use touchstone_store::suites;

impl SettingsActions<'_> {
    /// Returns the setup of the open folder from its current workspace file. Fails if that file
    /// contains any error: with a misspelt key, for example, a limit would have no effect.
    pub(crate) fn setup(self) -> Result<Setup, AppError> {
        let setup = self.setup_to_look()?;
        match setup_fault(&setup) {
            None => Ok(setup),
            Some(trouble) => {
                Err(AppError { hint: trouble.fix, ..AppError::new(Code::Failed, trouble.message) })
            }
        }
    }

    /// Like [`Self::setup`], for viewing only: errors in entries of the workspace file are ignored.
    pub(crate) fn setup_to_look(self) -> Result<Setup, AppError> {
        let open = self.app.require_folder()?;
        // The person did not write the file of a bucket: its servers and programs are not theirs.
        let is_own = open.bucket.is_none();
        match paths::workspace(&open.flow.roots.folder).filter(|_| is_own) {
            None => Ok(Setup::from_workspace(&Workspace::default())),
            Some(Ok(workspace)) => Ok(Setup::from_workspace(&workspace)),
            Some(Err(error)) => {
                let error =
                    AppError::new(Code::Failed, format!("touchstone.yaml cannot be read: {error}"));
                Err(error.hint("Correct it; Problems shows the line. Until then, no runs start."))
            }
        }
    }
}

/// Returns the first error of the workspace file and the number of further ones. Any error blocks
/// all launches; `None` if there is none.
pub(crate) fn setup_fault(setup: &Setup) -> Option<Blocker> {
    let lines: Vec<String> = setup.faults.iter().map(fault_line).collect();
    let lines = if lines.is_empty() { &setup.wrong } else { &lines };
    let more = match lines.len().saturating_sub(1) {
        0 => String::new(),
        1 => " It has 1 more error.".to_owned(),
        more => format!(" It has {more} more errors."),
    };
    let fix = "Correct touchstone.yaml; Problems lists its errors. Until then, no runs start.";
    Some(Blocker { message: format!("{}{more}", lines.first()?), fix: Some(fix.to_owned()) })
}

/// Formats an error of the workspace file as one line, with its location.
pub(crate) fn fault_line(fault: &ReadError) -> String {
    suites::problem(paths::WORKSPACE.to_owned(), fault.clone()).to_line()
}
