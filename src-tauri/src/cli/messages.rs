//! `messages`: converts message threads and runs to JSON Lines that evaluators accept.
use super::sensitive::{self, SensitiveArgs};
use super::{
    CommandStatus, DirArgs, Outcome, diff, folder,
    terminal::{complain, one_line},
};
use crate::Environment;
use clap::Args;
use std::{
    io::{self, Write as _},
    path::PathBuf,
};
use touchstone_app::error::{AppError, Code};
use touchstone_app::reports::rows_of_runs::{Choice, EvaluatorRows, Part, rows_of_file};
use touchstone_app::runs::RunActions;
use touchstone_app::saving::keep_file;

/// Arguments of `messages`.
#[derive(Debug, Args)]
pub(super) struct Messages {
    /// Threads of Azure AI agents, chats of OpenAI, threads of Semantic Kernel, transcripts, or
    /// files of many runs; `-` reads standard input
    #[arg(required_unless_present = "folder")]
    files: Vec<PathBuf>,
    /// Convert the runs of a folder, each with its task, system, model and expected answer
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["files", "run_id"])]
    folder: Option<PathBuf>,
    #[command(flatten)]
    dirs: DirArgs,
    /// Select runs with a filter, as in the window: `system:promptql model:o1`
    #[arg(
        long,
        default_value = "",
        hide_default_value = true,
        requires = "folder",
        allow_hyphen_values = true
    )]
    filter: String,
    #[command(flatten)]
    sensitive: SensitiveArgs,
    /// Use this run of a thread as the response
    #[arg(long, value_name = "ID", conflicts_with = "turn")]
    run_id: Option<String>,
    /// Use this turn of the agent as the response: a number from 1, `last`, or `all` for one row
    /// per turn
    #[arg(long, value_name = "TURN", default_value = "last", value_parser = turn)]
    turn: Part,
    /// Leave earlier tool calls and their results out of the query
    #[arg(long)]
    without_earlier_tool_calls: bool,
    /// Write to this file [default: standard output]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Print JSON Lines, which is the only format
    #[arg(long, hide = true)]
    json: bool,
}

fn turn(word: &str) -> Result<Part, String> {
    match word {
        "last" => Ok(Part::Last),
        "all" => Ok(Part::All),
        number => match number.parse() {
            Ok(turn) if turn > 0 => Ok(Part::Turn(turn)),
            _ => Err("it is a number from 1, `last` or `all`".to_owned()),
        },
    }
}

pub(super) fn run(asked: &Messages, here: &Environment) -> Outcome {
    let part = asked.run_id.clone().map_or_else(|| asked.turn.clone(), Part::Run);
    let choice = Choice { part, without_earlier_tool_calls: asked.without_earlier_tool_calls };
    let mut lines = Vec::new();
    let mut ended = CommandStatus::Well;
    let mut take = |rows: EvaluatorRows| {
        for note in &rows.notes {
            let _ = writeln!(io::stderr(), "{}", one_line(note));
        }
        let whole = rows.notes.is_empty();
        lines.extend(rows.lines);
        whole
    };
    if let Some(folder) = &asked.folder {
        let place = folder::chosen(Some(folder.clone()), asked.dirs.clone())
            .unwrap_or_else(|| folder.clone().into());
        RunActions::check_filter(&asked.filter)?;
        let app = folder::read(&place, here)?;
        app.runs().check_filter_of_folder(&asked.filter)?;
        asked.out.as_deref().map_or(Ok(()), |out| app.folder().refuse_among_results(out))?;
        let (rows, _) = app.reports().rows_of_runs(
            &asked.filter,
            &choice,
            asked.sensitive.include_sensitive,
        )?;
        if let Some(note) = &rows.sensitive {
            let _ = writeln!(io::stderr(), "{}", one_line(note));
        }
        if !take(rows) {
            ended = CommandStatus::WithFailures;
        }
    }
    if let Some(out) = &asked.out
        && let Ok(out) = std::fs::canonicalize(out)
        && asked.files.iter().any(|file| std::fs::canonicalize(file).is_ok_and(|file| file == out))
    {
        let message = format!("{} is read here, so nothing is written over it.", out.display());
        return Err(AppError::new(Code::BadRequest, message)
            .hint("Choose another name for --out.")
            .into());
    }
    for path in &asked.files {
        if !asked.sensitive.include_sensitive && sensitive::is_sensitive(path, here)? {
            let _ = writeln!(
                io::stderr(),
                "{} is a run of a red team scan and was left out. Add --include-sensitive to \
                 convert it.",
                path.display()
            );
            continue;
        }
        match diff::read(path).and_then(|file| rows_of_file(&file, &choice)) {
            Ok(rows) => {
                if !take(rows) {
                    ended = CommandStatus::WithFailures;
                }
            }
            Err(error) => {
                complain(&error);
                ended = CommandStatus::WithFailures;
            }
        }
    }
    let text: String = lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect();
    if let Some(path) = &asked.out {
        keep_file(&text, path)?;
    } else {
        let mut out = io::stdout().lock();
        out.write_all(text.as_bytes())?;
        out.flush()?;
    }
    Ok(ended)
}
