//! The command line: parses the arguments and starts the window, the server or a command. Output is
//! plain text for people; `--json` prints JSON for programs. Exit status: 0 done; 1 the command ran
//! and something in it failed; 2 the arguments could not be parsed or the folder could not be read.
mod agreement;
mod amounts;
mod answers;
mod ask_yes;
mod attack_suites;
mod clear;
mod compare;
mod convert;
mod diff;
mod doctor;
mod evaluate;
mod export;
mod failures;
mod folder;
mod fork;
mod formats;
mod frontends;
mod gate;
mod generate;
mod index;
mod labels;
mod lines;
mod list;
mod messages;
mod metrics;
mod nudge;
mod redteam;
mod report;

mod full_run;
mod judge;
mod judged;
mod review;
mod run;
mod schema;
mod score;
mod search;
mod segments;
mod sensitive;
mod shards;
mod show;
mod skipped_runs;
mod stabletoolbench;
mod stats;
mod submit;
mod suite;
mod terminal;
mod trend;
mod virtual_apis;
mod watch;

use crate::Environment;
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
    /// Folder, file or `s3://BUCKET/PREFIX` to open in the window
    path: Option<PathBuf>,
    /// Open a copy of the sample data
    #[arg(long, conflicts_with = "path")]
    demo: bool,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Open a folder, or files with results, where they lie
    Open(frontends::Open),
    /// Serve the page on 127.0.0.1 and print its address
    Serve(frontends::Serve),
    /// Read a folder and print a summary of it
    Index(index::Index),
    /// List runs, one per line
    List(list::List),
    /// List the labels of touchstone.yaml, with the number of runs that have them
    Labels(labels::LabelsOf),
    /// Print one transcript
    Show(show::Show),
    /// Search the text of all transcripts
    Search(search::Search),
    /// Score existing runs, and fail when they score too low
    Score(score::Score),

    /// Compare two to four transcripts step by step and mark where they differ for good
    Compare(compare::Compare),

    /// Show the differences between two values
    Diff(diff::Diff),
    /// Show which runs a launch would make, which it would skip, and why
    Plan(run::Plan),
    /// Run tasks with the chosen systems and models
    Run(run::Run),
    /// Split a launch over the workers of a scheduler: Slurm, Kubernetes or GNU parallel
    Submit(submit::Submit),
    /// Send a message to a run; a finished run is forked first and stays unchanged
    Nudge(nudge::Nudge),
    /// Continue a copy of a run from a step: edited, with a message, or with another model
    Fork(fork::Fork),
    /// Write a suite from the tasks of existing runs
    Suite(suite::SuiteFrom),
    /// Summarise runs and compare systems with a baseline
    Stats(stats::StatsOf),
    /// Follow systems over days, folders or files, and tell a change from noise
    Trend(trend::Trend),
    /// Compare runs with a baseline file, and fail when they are worse
    Gate(gate::Gate),

    /// Show why runs fail: the causes, how often each system fails for them, and examples
    Failures(failures::FailuresOf),

    /// Write reports: HTML, Markdown, CSV, JSON, JSONL, JUnit, Parquet, or result files of
    /// StableToolBench and azure-ai-evaluation
    Report(report::Report),

    /// Write what runs a folder has as Parquet files, which open fast and which notebooks read
    Segments(segments::Segments),

    /// Convert runs to formats of other tools: trajectories of Harbor (ATIF), chats of OpenAI, logs of
    /// Inspect
    Convert(export::Convert),

    /// Review a run as right, partly right or wrong, or print its review
    Review(review::Review),

    /// Convert threads of messages and runs into rows for evaluators
    Messages(messages::Messages),

    /// Show how often judges agree with people and with each other, and list the runs on which they
    /// disagree
    Agreement(agreement::AgreementOf),

    /// Compute every text metric: reads JSON Lines from standard input, writes them to standard
    /// output
    Metrics(metrics::Metrics),

    /// Attack systems that you own, to see what they refuse: suites of attacks and their scorecard
    #[command(name = "redteam")]
    RedTeam(redteam::RedTeam),

    /// Have a model write a suite of questions with their answers from a text
    Generate(generate::Generate),

    /// Evaluate the rows of a data file like azure-ai-evaluation
    Evaluate(evaluate::Evaluate),

    /// Run the tools of StableToolBench: function names, cache keys, conversion, virtual APIs,
    /// scores
    #[command(name = "stabletoolbench")]
    StableToolBench(stabletoolbench::StableToolBench),
    /// List the formats of run files that can be read, or print the page of one
    Formats(formats::Formats),
    /// Print the JSON Schema of touchstone.yaml, for editors
    Schema,
    /// Check what is installed and print how to fix what is missing
    Doctor(doctor::Doctor),
    /// Delete old indexes and, after confirmation, replaced results
    Clear(clear::Clear),
}

/// Which folder a command is about.
#[derive(Debug, Clone, Args)]
struct FolderArgs {
    /// Folder to read, or `s3://BUCKET/PREFIX` [default: the current folder]
    folder: Option<PathBuf>,
    #[command(flatten)]
    dirs: DirArgs,
}

/// The two directories by themselves, instead of the folder that holds them.
#[derive(Debug, Default, Clone, Args)]
struct DirArgs {
    /// Directory of the tasks
    #[arg(short, long, value_name = "DIR")]
    input_dir: Option<PathBuf>,
    /// Directory of the transcripts
    #[arg(short, long, value_name = "DIR")]
    output_dir: Option<PathBuf>,
}

/// Outcome of a command that was carried out.
#[derive(Debug, PartialEq, Eq)]
enum CommandStatus {
    Well,
    WithFailures,
}

/// Reason for which a command could not be carried out.
#[derive(Debug)]
enum CommandError {
    /// An error to report.
    Why(AppError),
    /// The reader of the output is gone (broken pipe).
    NobodyReads,
}

impl From<AppError> for CommandError {
    fn from(error: AppError) -> Self {
        Self::Why(error)
    }
}

impl From<io::Error> for CommandError {
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

type Outcome = Result<CommandStatus, CommandError>;

/// Parses the arguments and runs the command. Returns the exit status.
pub(crate) fn main(arguments: impl Iterator<Item = OsString>, here: &Environment) -> ExitCode {
    let asked = match CommandLine::try_parse_from(arguments) {
        Ok(asked) => asked,
        Err(error) => {
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    let outcome = match asked.command {
        None => frontends::window(asked.path.as_ref(), asked.demo, here),
        Some(Command::Open(open)) => frontends::open(&open, here),
        Some(Command::Serve(serve)) => frontends::serve(serve, here),
        Some(Command::Index(index)) => index::run(&index, here),
        Some(Command::List(list)) => list::run(&list, here),
        Some(Command::Labels(asked)) => labels::run(&asked, here),
        Some(Command::Show(show)) => show::run(&show, here),
        Some(Command::Search(search)) => search::run(&search, here),
        Some(Command::Score(score)) => score::run(&score, here),

        Some(Command::Compare(compare)) => compare::run(&compare, here),

        Some(Command::Diff(diff)) => diff::run(&diff, here),
        Some(Command::Plan(plan)) => run::plan(&plan, here),
        Some(Command::Run(run)) => run::run(&run, here),
        Some(Command::Submit(submit)) => submit::run(&submit, here),
        Some(Command::Nudge(nudge)) => nudge::run(&nudge, here),
        Some(Command::Fork(fork)) => fork::run(&fork, here),
        Some(Command::Suite(asked)) => suite::run(&asked, here),
        Some(Command::Stats(asked)) => stats::run(&asked, here),
        Some(Command::Trend(asked)) => trend::run(&asked, here),
        Some(Command::Gate(asked)) => gate::run(&asked, here),

        Some(Command::Failures(asked)) => failures::run(&asked, here),

        Some(Command::Report(report)) => report::run(&report, here),

        Some(Command::Segments(asked)) => segments::run(&asked, here),

        Some(Command::Convert(asked)) => export::run(&asked, here),

        Some(Command::Review(review)) => review::run(&review, here),

        Some(Command::Messages(messages)) => messages::run(&messages, here),

        Some(Command::Agreement(asked)) => agreement::run(&asked, here),

        Some(Command::Metrics(metrics)) => metrics::run(&metrics),

        Some(Command::RedTeam(asked)) => redteam::run(&asked, here),
        Some(Command::Generate(asked)) => generate::run(&asked, here),

        Some(Command::Evaluate(asked)) => evaluate::run(&asked, here),

        Some(Command::StableToolBench(asked)) => stabletoolbench::run(&asked, here),
        Some(Command::Formats(asked)) => formats::run(&asked),
        Some(Command::Schema) => schema::run(),
        Some(Command::Doctor(doctor)) => doctor::run(&doctor, here),
        Some(Command::Clear(clear)) => clear::run(&clear, here),
    };
    match outcome {
        Ok(CommandStatus::Well) | Err(CommandError::NobodyReads) => ExitCode::SUCCESS,
        Ok(CommandStatus::WithFailures) => ExitCode::from(1),
        Err(CommandError::Why(error)) => {
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
