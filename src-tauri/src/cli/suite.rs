//! `suite`: writes a suite from the tasks of existing runs.
use super::{CommandStatus, FolderArgs, Outcome, folder, terminal::one_line};
use crate::Environment;
use clap::Args;
use std::io::{self, Write as _};
use std::path::PathBuf;
use touchstone_api::SuiteRequest;
use touchstone_app::runs::RunActions;

/// Arguments of `suite`.
#[derive(Debug, Args)]
#[command(after_help = "\
Each distinct task of the runs becomes a variation, with its prompt and expected answer; tasks that other
tools recorded, too. Tasks that differ in what a suite has once, such as `scorers`, become several files:
`hard-tickets.yaml`. Forks and continued runs are left out unless the filter names them.")]
pub(super) struct SuiteFrom {
    #[command(flatten)]
    place: FolderArgs,
    /// Filter of the runs, as in the window: `label:gave-up system:tool_calling`
    #[arg(long, value_name = "FILTER", allow_hyphen_values = true)]
    from: String,
    /// File to write, such as `tasks/hard.yaml`; never in the place of another
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Remove keys, e-mail addresses, home folders and the names of their users
    #[arg(long)]
    redact: bool,
}

pub(super) fn run(asked: &SuiteFrom, here: &Environment) -> Outcome {
    RunActions::check_filter(&asked.from)?;
    let app = folder::ready(asked.place.clone(), here)?;
    folder::tell_unread(&app)?;
    let name = asked.out.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let request = SuiteRequest {
        name: name.unwrap_or_default(),
        filter: asked.from.clone(),
        redact: asked.redact,
        ..SuiteRequest::default()
    };
    let made = app.suites().write_suite(&request, &asked.out)?;
    for note in &made.notes {
        writeln!(io::stderr(), "{}", one_line(note))?;
    }
    for one in &made.files {
        let tasks = if one.variations == 1 { "task" } else { "tasks" };
        writeln!(io::stdout(), "{}: {} {tasks}", one_line(&one.file), one.variations)?;
    }
    Ok(CommandStatus::Well)
}
