//! `nudge`: sends a message to a run, either to a fork of it or to the run itself.
use super::{DirArgs, FolderArgs, Outcome, folder, watch};
use crate::Environment;
use clap::Args;
use std::path::{Path, PathBuf};
use touchstone_app::App;
use touchstone_app::error::{AppError, Code};

/// Arguments of `nudge`.
#[derive(Debug, Args)]
pub(super) struct Nudge {
    /// Transcript of the run
    file: PathBuf,
    /// Message to send to the model
    message: String,
    /// Continue a finished run itself instead of a fork; statistics then exclude it
    #[arg(long)]
    in_place: bool,
    #[command(flatten)]
    dirs: DirArgs,
    /// Print one JSON object per event
    #[arg(long)]
    json: bool,
}

pub(super) fn run(asked: &Nudge, here: &Environment) -> Outcome {
    let (app, id) = opened(&asked.file, &asked.dirs, here)?;
    let nudge = |listeners| {
        app.launches()
            .nudge_run_with(&id, &asked.message, asked.in_place, listeners)
            .map(|launched| (launched, Vec::new()))
    };
    watch::launch(&app, asked.json, nudge)
}

/// Opens the folder of a run. Returns it with the id of the run.
pub(super) fn opened(
    file: &Path,
    dirs: &DirArgs,
    here: &Environment,
) -> Result<(App, String), AppError> {
    folder::refuse_bucket(file)?;
    let (full, member) = folder::located(file).map_err(|why| {
        AppError::new(Code::NotFound, format!("{} could not be opened: {why}.", file.display()))
    })?;
    let folder = FolderArgs { folder: Some(workspace_of(&full)), dirs: dirs.clone() };
    let app = folder::ready(folder, here)?;
    let id = if member.is_some() {
        app.runs().run_with(&full, member.as_deref())?
    } else {
        app.runs().id_of_file(&full)?
    };
    Ok((app, id))
}

/// Returns the nearest parent folder with a workspace file, because that file names the tools;
/// otherwise the folder of the file. Never returns a folder of another user: the programs its
/// workspace file names would be started, and would be sent this user's keys.
pub(super) fn workspace_of(file: &Path) -> PathBuf {
    // A folder of this user may be writable by others, so the owner of the file is checked as well.
    let named = above(file).find(|dir| is_ours(&dir.join("touchstone.yaml")));
    named.or_else(|| above(file).next()).unwrap_or(file).to_path_buf()
}

/// Returns the parent folders of a file, nearest first, up to the first that another user owns.
pub(super) fn above(file: &Path) -> impl Iterator<Item = &Path> {
    file.ancestors().skip(1).take_while(|dir| is_ours(dir))
}

/// Returns true if this user owns the file or directory.
pub(super) fn is_ours(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    path.metadata().is_ok_and(|meta| meta.uid() == rustix::process::getuid().as_raw())
}
