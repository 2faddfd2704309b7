//! `stabletoolbench convert`: prints raw answers and transcripts as converted answers.
use super::{
    CommandStatus, Outcome, diff,
    terminal::{complain, one_line},
};
use clap::Args;
use std::{
    io::{self, BufWriter, Write as _},
    path::PathBuf,
};
use touchstone_app::error::{AppError, Code};
use touchstone_app::reports::converting::Conversion;

/// Arguments of `convert`.
#[derive(Debug, Args)]
pub(super) struct Convert {
    /// Raw answers, transcripts, or a folder of raw answers; of a folder, only those of the method
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Method in the names of the files: CoT@1
    #[arg(long, value_name = "METHOD")]
    method: String,
    /// Convert like the original, including its bugs: drops text beside calls, and calls beside
    /// Finish
    #[arg(long)]
    compat: bool,
    /// Print JSON, which is the only format
    #[arg(long, hide = true)]
    json: bool,
}

pub(super) fn run(asked: &Convert) -> Outcome {
    let mut conversion = Conversion::default();
    let mut ended = CommandStatus::Well;
    for path in &files(asked)? {
        match diff::read(path).and_then(|file| conversion.add(&file, &asked.method, asked.compat)) {
            Ok(None) => {}
            Ok(Some(note)) => writeln!(io::stderr(), "{}", one_line(&note))?,
            Err(error) => {
                complain(&error);
                ended = CommandStatus::WithFailures;
            }
        }
    }
    let mut out = BufWriter::new(io::stdout().lock());
    writeln!(out, "{}", conversion.text())?;
    out.flush()?;
    Ok(ended)
}

/// Returns the files to convert. A folder stands for its `.json` files with the method in their
/// names, sorted by name; it is an error if it has none.
fn files(asked: &Convert) -> Result<Vec<PathBuf>, AppError> {
    let mut files = Vec::new();
    for path in &asked.files {
        if !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        let unreadable = |why: io::Error| {
            AppError::new(Code::NotFound, format!("{} could not be listed: {why}.", path.display()))
        };
        let mut found = Vec::new();
        for entry in std::fs::read_dir(path).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            let name = entry.file_name();
            let of_method = name.to_str().is_some_and(|name| name.contains(&asked.method));
            if of_method && entry.path().extension().is_some_and(|end| end == "json") {
                found.push(entry.path());
            }
        }
        if found.is_empty() {
            let message =
                format!("No file in {} has {} in its name.", path.display(), asked.method);
            return Err(AppError::new(Code::NotFound, message));
        }
        found.sort();
        files.append(&mut found);
    }
    Ok(files)
}
