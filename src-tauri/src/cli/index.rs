//! `index`: reads a folder and prints the number of its files and runs.
use super::{CommandStatus, FolderArgs, Outcome, folder};
use crate::Environment;
use clap::Args;
use std::io::{self, Write as _};

/// Arguments of `index`.
#[derive(Debug, Args)]
pub(super) struct Index {
    #[command(flatten)]
    place: FolderArgs,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

pub(super) fn run(asked: &Index, here: &Environment) -> Outcome {
    let app = folder::ready(asked.place.clone(), here)?;
    app.folder().wait_searchable(folder::PATIENCE)?;
    let report = app.folder().index_report()?;
    let trouble = folder::tell_unread(&app)?;
    let mut out = io::stdout().lock();
    if asked.json {
        let line = serde_json::json!({
            "files": report.files, "runs": report.runs, "damaged": report.damaged, "not_transcripts": report.not_transcripts,
            "suites_not_read": trouble.files_not_read, "not_read": trouble.unreadable,
            "scan_ms": report.scan_ms, "index_ms": report.index_ms, "search_ready_ms": report.search_ready_ms,
        });
        writeln!(out, "{line}")?;
        return Ok(CommandStatus::Well);
    }
    writeln!(
        out,
        "{} files: {} runs, {} not transcripts",
        report.files, report.runs, report.not_transcripts
    )?;
    if report.damaged > 0 {
        writeln!(
            out,
            "{} of the runs are damaged; `touchstone list --filter state:damaged` says why",
            report.damaged
        )?;
    }
    match trouble.files_not_read {
        0 => {}
        1 => writeln!(out, "1 suite is not read; the reason is on standard error")?,
        more => writeln!(out, "{more} suites are not read; the reasons are on standard error")?,
    }
    write!(out, "listed in {} ms, read in {} ms", report.scan_ms, report.index_ms)?;
    match report.search_ready_ms {
        Some(ms) => writeln!(out, ", search index complete after {ms} ms")?,
        None => writeln!(out, ", search index not complete yet")?,
    }
    Ok(CommandStatus::Well)
}
