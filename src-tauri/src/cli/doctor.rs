//! `doctor`: checks the installation, and prints fixes for whatever does not work.
use super::{
    Ended, Outcome, Where, folder,
    terminal::{Paint, one_line},
};
use crate::{Surroundings, surroundings};
use clap::Args;
use std::{
    io::{self, Write as _},
    path::{Path, PathBuf},
};

/// What `doctor` takes.
#[derive(Debug, Args)]
#[command(after_help = "\
With a folder, what its workspace file names is looked at, too: databases, keys, virtual APIs. Left out, it is the current one
when there is a workspace file in it.")]
pub(super) struct Doctor {
    #[command(flatten)]
    place: Where,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

pub(super) fn run(asked: &Doctor, here: &Surroundings) -> Outcome {
    let app = here.engine();
    let here_too = || Path::new("touchstone.yaml").exists().then(|| PathBuf::from(".").into());
    if let Some(place) =
        folder::chosen(asked.place.folder.clone(), asked.place.dirs.clone()).or_else(here_too)
    {
        folder::open(&app, &place)?;
        // Results that cannot be listed are reported by one of the checks; the other checks are
        // useful all the same.
        if let Err(why) = app.wait_ready(folder::PATIENCE) {
            tracing::debug!(why.message, "the folder is not ready");
        }
    }
    let checks = surroundings::with_ours(app.doctor(true));
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
    Ok(if checks.iter().all(|check| check.ok) { Ended::Well } else { Ended::WithFailures })
}
