//! Texts of red team scans, which commands leave out unless they are asked for.
use super::amounts::counted;
use super::{CommandError, folder, nudge};
use crate::Environment;
use clap::Args;
use std::io::{self, Write as _};
use std::path::Path;
use touchstone_api::{Column, Sort};
use touchstone_app::runs::RunActions;

/// Option that includes texts of attacks.
#[derive(Debug, Clone, Copy, Args)]
pub(super) struct SensitiveArgs {
    /// Print texts of red team scans, which are left out otherwise
    #[arg(long)]
    pub(super) include_sensitive: bool,
}

/// Prints how many runs had texts that were left out; nothing if there were none.
pub(super) fn tell_left_out(runs: u64) {
    if runs > 0 {
        let _ = writeln!(
            io::stderr(),
            "Texts of a red team scan were left out of {}. Add --include-sensitive to print them.",
            counted(runs, "run")
        );
    }
}

/// Returns true if a file holds a run of a red team scan, as the marks of the folders above it say.
/// Without such a mark nothing is opened.
pub(super) fn is_sensitive(file: &Path, here: &Environment) -> Result<bool, CommandError> {
    let Ok((full, member)) = folder::located(file) else { return Ok(false) };
    let is_marked = |dir: &Path| dir.join(".touchstone/sensitive").is_dir();
    if !nudge::above(&full).any(is_marked) {
        return Ok(false);
    }
    let Some((parent, name)) = folder::below(&full, member.as_deref()) else { return Ok(false) };
    let app = folder::read(&parent.into(), here)?;
    let by_path = Sort { column: Column::Path, descending: false };
    let (mut sensitive, mut known) = (false, false);
    folder::each_run(&app, &RunActions::filter_of_file(&name), &by_path, u64::MAX, |row| {
        known = true;
        sensitive |= row.sensitive == Some(true);
        Ok::<(), CommandError>(())
    })?;
    // What is no run of the folder is not known to be harmless.
    Ok(sensitive || !known)
}
