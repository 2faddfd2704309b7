//! `formats`: lists the formats of other tools that can be read, or prints the page of one.
use super::{CommandStatus, Outcome};
use clap::Args;
use std::io;
use touchstone_app::error::{AppError, Code};
use touchstone_app::formats::{self, FormatInfo};

/// What `formats` takes.
#[derive(Debug, Args)]
pub(super) struct Formats {
    /// Format whose page is printed, as in `inspect`
    format: Option<String>,
    /// Print JSON Lines, one for each format
    #[arg(long)]
    json: bool,
}

pub(super) fn run(asked: &Formats) -> Outcome {
    let all = formats::all();
    let mut out = io::stdout().lock();
    if let Some(name) = &asked.format {
        let found = all.iter().find(|format| format.name == *name);
        let known = || all.iter().map(|format| format.name).collect::<Vec<_>>().join(", ");
        let found = found.ok_or_else(|| {
            let message = format!("There is no format `{name}`. There are: {}.", known());
            AppError::new(Code::BadRequest, message)
        })?;
        return print(&mut out, &[found], asked.json, |out, format| {
            writeln!(out, "{}", format.documentation.trim_end())
        });
    }
    let width = all.iter().map(|format| format.name.len()).max().unwrap_or_default();
    print(&mut out, &all.iter().collect::<Vec<_>>(), asked.json, |out, format| {
        writeln!(out, "{:width$}  {}: {}", format.name, format.title, format.files)
    })
}

fn print(
    out: &mut impl io::Write,
    formats: &[&FormatInfo],
    json: bool,
    mut plain: impl FnMut(&mut dyn io::Write, &FormatInfo) -> io::Result<()>,
) -> Outcome {
    for format in formats {
        if json {
            let line = serde_json::json!({
                "name": format.name,
                "title": format.title,
                "files": format.files,
                "documentation": format.documentation,
            });
            writeln!(out, "{line}")?;
        } else {
            plain(out, format)?;
        }
    }
    Ok(CommandStatus::Well)
}
