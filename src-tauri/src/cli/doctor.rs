//! `doctor`: checks the installation, and prints fixes for whatever does not work.
use super::{
    CommandStatus, FolderArgs, Outcome, folder,
    terminal::{Paint, one_line},
};
use crate::{Environment, environment};
use clap::Args;
use std::{
    io::{self, Write as _},
    path::{Path, PathBuf},
};

/// Arguments of `doctor`.
#[derive(Debug, Args)]
#[command(after_help = "\
Without FOLDER, checks the current folder if it has a workspace file. With a workspace file, also checks
the databases, keys and virtual APIs that it names.")]
pub(super) struct Doctor {
    #[command(flatten)]
    place: FolderArgs,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

pub(super) fn run(asked: &Doctor, here: &Environment) -> Outcome {
    let app = here.engine();
    let here_too = || Path::new("touchstone.yaml").exists().then(|| PathBuf::from(".").into());
    if let Some(place) =
        folder::chosen(asked.place.folder.clone(), asked.place.dirs.clone()).or_else(here_too)
    {
        folder::open(&app, &place)?;
        // Results that cannot be listed are reported by one of the checks; the other checks are
        // useful all the same.
        if let Err(why) = app.folder().wait_ready(folder::PATIENCE) {
            tracing::debug!(why.message, "the folder is not ready");
        }
    }
    let checks = environment::with_ours(app.folder().doctor(true));
    let mut out = io::stdout().lock();
    let paint = Paint(here.colour);
    if asked.json {
        writeln!(out, "{}", serde_json::json!({ "checks": checks }))?;
    } else {
        for check in &checks {
            let mark = if check.ok { paint.green("ok  ") } else { paint.red("FAIL") };
            writeln!(
                out,
                "{mark}  {}: {}",
                paint.bold(&one_line(&check.name)),
                one_line(&check.detail)
            )?;
            if let Some(fix) = &check.fix {
                writeln!(out, "      {}", one_line(fix))?;
            }
        }
    }
    Ok(if checks.iter().all(|check| check.ok) {
        CommandStatus::Well
    } else {
        CommandStatus::WithFailures
    })
}
