//! `stabletoolbench`: commands specific to that benchmark. `names` and `keys` print one output line
//! per input line.
use super::{Outcome, answers, convert, lines, virtual_apis};
use crate::Environment;
use clap::{Args, Subcommand};
use touchstone_app::scoring::stabletoolbench::{function_name_line, key_line};

/// Arguments of `stabletoolbench`.
#[derive(Debug, Args)]
pub(super) struct StableToolBench {
    #[command(subcommand)]
    asked: BenchmarkCommand,
}

#[derive(Debug, Subcommand)]
enum BenchmarkCommand {
    /// Compute function names: reads tools and APIs as JSON Lines from standard input
    Names(Lines),
    /// Compute cache keys: reads inputs of tools as JSON Lines from standard input
    Keys(Lines),
    /// Convert raw answers and transcripts to converted answers, for judges and scorers
    Convert(convert::Convert),
    /// Serve virtual APIs on 127.0.0.1 from a cache, a simulator or the real APIs
    Serve(virtual_apis::Serve),
    /// Score answers by the APIs that they call, against query sets
    Score(answers::Answers),
}

/// Arguments of commands that only answer lines.
#[derive(Debug, Args)]
struct Lines {
    /// Print JSON Lines, which is the only format
    #[arg(long, hide = true)]
    json: bool,
}

pub(super) fn run(asked: &StableToolBench, here: &Environment) -> Outcome {
    match &asked.asked {
        BenchmarkCommand::Names(_) => lines::answer(function_name_line),
        BenchmarkCommand::Keys(_) => lines::answer(key_line),
        BenchmarkCommand::Convert(asked) => convert::run(asked),
        BenchmarkCommand::Serve(serve) => virtual_apis::serve(serve, here),
        BenchmarkCommand::Score(asked) => answers::run(asked),
    }
}
