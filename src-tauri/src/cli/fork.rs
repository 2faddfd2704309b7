//! `fork`: copies a run up to a step, edits that step, and continues the copy with the model of the run
//! or another one.
use super::nudge::opened;
use super::{DirArgs, Outcome, watch};
use crate::Environment;
use crate::cli::{CommandError, CommandStatus};
use clap::{Args, ValueEnum};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use touchstone_api::{ForkRequest, StepEdit, StepPart};
use touchstone_app::App;
use touchstone_app::error::{AppError, Code};
use touchstone_app::text_file;
use touchstone_runner::fork::LONGEST_EDIT;

/// Arguments of `fork`.
#[derive(Debug, Args)]
pub(super) struct Fork {
    /// Transcript of the run
    file: PathBuf,
    /// Step to continue from, as `show` numbers it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    step: u32,
    /// Text that takes the place of the step, or of a part of it; arguments are a JSON object.
    /// @FILE reads it from a file, @@ begins a text with @
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    edit: Option<String>,
    /// Part of the step that --edit replaces; needed for a tool call, which has three
    #[arg(long, value_enum, requires = "edit")]
    part: Option<Part>,
    /// Message to send to the model after the step, or @FILE
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    message: Option<String>,
    /// Model that continues [default: the model of the run]
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// Only make the copy; `touchstone run` or `nudge` continue it
    #[arg(long)]
    copy: bool,
    #[command(flatten)]
    dirs: DirArgs,
    /// Print one JSON object per event
    #[arg(long)]
    json: bool,
}

/// Part of a step. The reference of the program lists the words alone.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Part {
    Message,
    Arguments,
    Result,
    Error,
}

impl From<Part> for StepPart {
    fn from(part: Part) -> Self {
        match part {
            Part::Message => Self::Message,
            Part::Arguments => Self::Arguments,
            Part::Result => Self::Result,
            Part::Error => Self::Error,
        }
    }
}

pub(super) fn run(asked: &Fork, here: &Environment) -> Outcome {
    let (app, id) = opened(&asked.file, &asked.dirs, here)?;
    let step = asked.step - 1;
    let edit = asked.edit.as_deref().map(|given| {
        let part = match asked.part {
            Some(part) => part.into(),
            None => only_part(&app, &id, step)?,
        };
        Ok::<_, AppError>(StepEdit { part, text: text(given)? })
    });
    let request = ForkRequest {
        step,
        message: asked.message.as_deref().map(text).transpose()?,
        edit: edit.transpose()?,
        model: asked.model.clone(),
        run: Some(!asked.copy),
    };
    if asked.copy {
        return print_copy(&app, &id, &request, asked.json).map(|()| CommandStatus::Well);
    }
    let fork = |listeners| {
        let (_, launched) = app.launches().fork_run_with(&id, &request, listeners)?;
        let nothing = || AppError::new(Code::Failed, "The fork was made, but did not start.");
        Ok((launched.ok_or_else(nothing)?, Vec::new()))
    };
    watch::launch(&app, asked.json, fork)
}

fn print_copy(app: &App, id: &str, fork: &ForkRequest, json: bool) -> Result<(), CommandError> {
    let copied = app.launches().fork_run(id, fork)?;
    let path = app.runs().open_run(&copied.run)?.row.path;
    if json {
        writeln!(io::stdout(), "{}", serde_json::json!({ "path": path }))?;
    } else {
        writeln!(io::stdout(), "Fork created: {path}")?;
    }
    Ok(())
}

/// Returns the part of a step that has only one.
fn only_part(app: &App, id: &str, step: u32) -> Result<StepPart, AppError> {
    let fields = app.launches().editable_step(id, step)?.fields;
    match fields.as_slice() {
        [] | [_] => Ok(fields.first().map_or(StepPart::Message, |field| field.part)),
        _ => Err(AppError::new(
            Code::BadRequest,
            format!("Step {} is a tool call, which has several parts.", step + 1),
        )
        .hint("Say which one --edit replaces: --part arguments, result or error.")),
    }
}

/// Returns a text as given, or that of the file that it names. The line break that ends a file is no
/// part of the text.
fn text(given: &str) -> Result<String, AppError> {
    let Some(rest) = given.strip_prefix('@') else { return Ok(given.to_owned()) };
    if rest.starts_with('@') {
        return Ok(rest.to_owned());
    }
    let mut text = text_file::read(Path::new(rest), LONGEST_EDIT as u64 + 1)
        .map_err(|why| why.hint("Begin a text that is no file with @@."))?;
    let end = text.strip_suffix('\n').map_or(text.len(), str::len);
    text.truncate(end);
    Ok(text)
}
