//! `formats`: lists the formats of run files that can be read, or prints the page of one.
use super::{CommandStatus, Outcome};
use clap::Args;
use std::io::{self, Write as _};
use touchstone_app::error::{AppError, Code};
use touchstone_app::formats::{ListedFormat, listed};

/// Arguments of `formats`.
#[derive(Debug, Args)]
pub(super) struct Formats {
    /// Format whose page is printed, as in `inspect`
    format: Option<String>,
    /// Print JSON Lines, one for each format
    #[arg(long)]
    json: bool,
}

pub(super) fn run(asked: &Formats) -> Outcome {
    let mut chosen = listed();
    if let Some(name) = &asked.format {
        let is_known = chosen.iter().any(|format| format.name == name);
        if !is_known {
            return Err(unknown(name, &chosen).into());
        }
        chosen.retain(|format| format.name == name);
    }
    let width = chosen.iter().map(|format| format.name.len()).max().unwrap_or_default();
    let mut out = io::stdout().lock();
    for format in chosen {
        if asked.json {
            let line = serde_json::json!({
                "name": format.name,
                "title": format.title,
                "files": format.files,
                "documentation": format.documentation,
            });
            writeln!(out, "{line}")?;
        } else if asked.format.is_some() {
            writeln!(out, "{}", format.documentation.trim_end())?;
        } else {
            writeln!(out, "{:width$}  {}: {}", format.name, format.title, format.files)?;
        }
    }
    Ok(CommandStatus::Well)
}

fn unknown(name: &str, all: &[ListedFormat]) -> AppError {
    let known = all.iter().map(|format| format.name).collect::<Vec<_>>().join(", ");
    AppError::new(Code::BadRequest, format!("There is no format `{name}`. There are: {known}."))
}
