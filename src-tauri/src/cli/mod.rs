//! The command line: parses the arguments and starts the window, the server or a command. Output is
//! plain text for people; `--json` prints JSON for programs. Exit status: 0 done; 1 the command ran
//! and something in it failed; 2 the arguments could not be parsed or the folder could not be read.
mod agreement;
mod amounts;
mod answers;
mod clear;
mod compare;
mod convert;

mod diff;
mod doctor;
mod doors;
mod evaluate;
mod folder;
mod index;
mod lines;
mod list;
mod messages;
mod metrics;
mod nudge;
mod report;

mod judge;
mod judged;
mod review;
mod run;
mod score;
mod search;
mod show;
mod stabletoolbench;
mod stats;
mod terminal;
mod virtual_apis;
mod watch;
mod whole;

use crate::Surroundings;
use clap::{Args, Parser, Subcommand};
use std::{
    ffi::OsString,
    io::{self, ErrorKind},
    path::PathBuf,
    process::ExitCode,
};
use touchstone_app::error::AppError;

/// Explore evaluations of agent systems.
#[derive(Debug, Parser)]
#[command(name = "touchstone", version, args_conflicts_with_subcommands = true)]
struct CommandLine {
    /// Opens the window on this folder
    folder: Option<PathBuf>,
    /// Opens the window on a copy of the sample data
    #[arg(long, conflicts_with = "folder")]
    demo: bool,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve the same page on 127.0.0.1, and print its address
    Serve(doors::Serve),
    /// Read a folder and say what is in it
    Index(index::Index),
    /// List runs, one a line
    List(list::List),
    /// Print one transcript
    Show(show::Show),
    /// Find a text in all transcripts
    Search(search::Search),
    /// Score what is on disk, and fail when it is not good enough
    Score(score::Score),

    /// Put two to four transcripts beside each other, and mark where they part
    Compare(compare::Compare),

    /// Say what differs between two values
    Diff(diff::Diff),
    /// Say which runs would be made, which are skipped, and why
    Plan(run::Plan),
    /// Make the runs that `plan` names
    Run(run::Run),
    /// Send a message to a run: to a fork of it when it is finished, so that it stays as it is
    Nudge(nudge::Nudge),
    /// Say what runs come to, and compare systems with a baseline
    Stats(stats::StatsOf),

    /// Write reports: HTML, Markdown, CSV, JSON, JSONL, JUnit, result files of StableToolBench and
    /// azure-ai-evaluation
    Report(report::Report),

    /// Say whether a run is right, or read what was said
    Review(review::Review),

    /// Threads of messages, and runs, as rows that evaluators take
    Messages(messages::Messages),

    /// Say how far judges agree with people and with each other, and on which runs they do not
    Agreement(agreement::AgreementOf),

    /// Measure texts against texts: JSON Lines on standard input, every text metric on standard
    /// output
    Metrics(metrics::Metrics),

    /// Evaluate the rows of a data file, as azure-ai-evaluation does
    Evaluate(evaluate::Evaluate),

    /// What belongs to StableToolBench: names of functions, keys of caches
    #[command(name = "stabletoolbench")]
    StableToolBench(stabletoolbench::StableToolBench),
    /// See what is installed and works, and how to mend what does not
    Doctor(doctor::Doctor),
    /// Delete what is left of old indexes and, after a question, of results that were replaced
    Clear(clear::Clear),
}

/// Which folder a command is about.
#[derive(Debug, Clone, Args)]
struct Where {
    /// The folder; the current one when left out
    folder: Option<PathBuf>,
    #[command(flatten)]
    dirs: Dirs,
}

/// The two directories by themselves, instead of the folder that holds them.
#[derive(Debug, Default, Clone, Args)]
struct Dirs {
    /// Directory of the tasks
    #[arg(short, long, value_name = "DIR")]
    input_dir: Option<PathBuf>,
    /// Directory of the transcripts
    #[arg(short, long, value_name = "DIR")]
    output_dir: Option<PathBuf>,
}

/// Outcome of a command that was carried out.
#[derive(Debug, PartialEq, Eq)]
enum Ended {
    Well,
    WithFailures,
}

/// Reason for which a command could not be carried out.
#[derive(Debug)]
enum Stop {
    /// An error to report.
    Why(AppError),
    /// The reader of the output is gone (broken pipe).
    NobodyReads,
}

impl From<AppError> for Stop {
    fn from(error: AppError) -> Self {
        Self::Why(error)
    }
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        if error.kind() == ErrorKind::BrokenPipe {
            return Self::NobodyReads;
        }
        Self::Why(AppError::new(
            touchstone_app::error::Code::Failed,
            format!("The output could not be written: {error}."),
        ))
    }
}

type Outcome = Result<Ended, Stop>;

/// Parses the arguments and runs the command. Returns the exit status.
pub(crate) fn main(arguments: impl Iterator<Item = OsString>, here: &Surroundings) -> ExitCode {
    let asked = match CommandLine::try_parse_from(arguments) {
        Ok(asked) => asked,
        Err(error) => {
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    let outcome = match asked.command {
        None => doors::window(asked.folder, asked.demo, here),
        Some(Command::Serve(serve)) => doors::serve(serve, here),
        Some(Command::Index(index)) => index::run(&index, here),
        Some(Command::List(list)) => list::run(&list, here),
        Some(Command::Show(show)) => show::run(&show, here),
        Some(Command::Search(search)) => search::run(&search, here),
        Some(Command::Score(score)) => score::run(&score, here),

        Some(Command::Compare(compare)) => compare::run(&compare, here),

        Some(Command::Diff(diff)) => diff::run(&diff, here),
        Some(Command::Plan(plan)) => run::plan(&plan, here),
        Some(Command::Run(run)) => run::run(&run, here),
        Some(Command::Nudge(nudge)) => nudge::run(&nudge, here),
        Some(Command::Stats(asked)) => stats::run(&asked, here),

        Some(Command::Report(report)) => report::run(&report, here),

        Some(Command::Review(review)) => review::run(&review, here),

        Some(Command::Messages(messages)) => messages::run(&messages, here),

        Some(Command::Agreement(asked)) => agreement::run(&asked, here),

        Some(Command::Metrics(metrics)) => metrics::run(&metrics),

        Some(Command::Evaluate(asked)) => evaluate::run(&asked, here),

        Some(Command::StableToolBench(asked)) => stabletoolbench::run(&asked, here),
        Some(Command::Doctor(doctor)) => doctor::run(&doctor, here),
        Some(Command::Clear(clear)) => clear::run(&clear, here),
    };
    match outcome {
        Ok(Ended::Well) | Err(Stop::NobodyReads) => ExitCode::SUCCESS,
        Ok(Ended::WithFailures) => ExitCode::from(1),
        Err(Stop::Why(error)) => {
            terminal::complain(&error);
            ExitCode::from(2)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn the_command_line_is_sound() {
        CommandLine::command().debug_assert();
    }
}
