//! `segments`: writes what runs a folder has as Parquet files.
use super::{CommandStatus, FolderArgs, Outcome, amounts::counted, folder, terminal::one_line};
use crate::Environment;
use clap::{Args, Subcommand};
use std::io::{self, IsTerminal as _, Write as _};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

/// Arguments of `segments`.
#[derive(Debug, Args)]
pub(super) struct Segments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Write the runs that no segment has yet, and make many small segments one
    #[command(after_help = "\
Segments are Parquet files in .touchstone/segments of the output directory, one row for each run. A
folder that has them opens faster, and notebooks and databases read them. Parts of a launch write
their own. docs/reference/parquet.md has the columns.")]
    Write(Write),
}

/// Arguments of `segments write`.
#[derive(Debug, Args)]
struct Write {
    #[command(flatten)]
    place: FolderArgs,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// Number of files between two lines of progress.
const STEP: u64 = 10_000;

pub(super) fn run(asked: &Segments, here: &Environment) -> Outcome {
    let Command::Write(asked) = &asked.command;
    let app = here.engine();
    let dirs = &asked.place.dirs;
    let place = asked.place.folder.clone().or_else(|| dirs.output_dir.clone());
    let place = place.unwrap_or_else(|| PathBuf::from("."));
    app.folder().open_as_worker(&place, dirs.input_dir.as_deref(), dirs.output_dir.as_deref())?;
    app.folder().wait_ready(folder::PATIENCE)?;
    let shown = AtomicU64::new(0);
    let is_terminal = io::stderr().is_terminal();
    let progress = |done: u64, total: u64| {
        if is_terminal && done / STEP > shown.load(Ordering::Relaxed) {
            shown.store(done / STEP, Ordering::Relaxed);
            let _ = writeln!(io::stderr(), "{done} of {total} files read");
        }
    };
    let written = app.folder().write_segments(&|| false, &progress)?;
    let sealed = &written.sealed;
    for refused in &sealed.refused {
        let line = format!("The segment {} is not used: {}", refused.name, refused.why);
        let _ = writeln!(io::stderr(), "{}", one_line(&line));
    }
    let mut out = io::stdout().lock();
    if asked.json {
        let refused: Vec<_> = sealed.refused.iter().map(|refused| &refused.name).collect();
        let line = serde_json::json!({
            "written": sealed.written, "known": sealed.known, "left_out": sealed.left_out,
            "bytes": sealed.bytes, "segments": written.names, "compacted": written.compacted,
            "refused": refused,
        });
        writeln!(out, "{line}")?;
        return Ok(CommandStatus::Well);
    }
    writeln!(
        out,
        "{} written, {} in segments before, {} left to be read",
        counted(sealed.written, "run"),
        sealed.known,
        counted(sealed.left_out, "file")
    )?;
    if written.compacted > 0 {
        writeln!(out, "{} made one", counted(written.compacted, "small segment"))?;
    }
    for name in &written.names {
        writeln!(out, "{name}")?;
    }
    Ok(CommandStatus::Well)
}
