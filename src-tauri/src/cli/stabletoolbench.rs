//! `stabletoolbench`: commands specific to that benchmark. `names` and `keys` print one output line
//! per input line.
use super::{Outcome, answers, convert, lines, virtual_apis};
use crate::Surroundings;
use clap::{Args, Subcommand};
use touchstone_app::app::stabletoolbench::{function_name_line, key_line};

/// What `stabletoolbench` takes.
#[derive(Debug, Args)]
pub(super) struct StableToolBench {
    #[command(subcommand)]
    asked: Asked,
}

#[derive(Debug, Subcommand)]
enum Asked {
    /// Tools and APIs as JSON Lines on standard input, the names of their functions on standard
    /// output
    Names(Lines),
    /// Inputs of tools as JSON Lines on standard input, their keys in the cache on standard output
    Keys(Lines),
    /// Raw answers and transcripts as converted answers, for the judges and scorers that read these
    Convert(convert::Convert),
    /// Answer calls of APIs on 127.0.0.1: from a cache, by a model that simulates them, or by the
    /// real ones
    Serve(virtual_apis::Serve),
    /// Score answers by the APIs that were called, against query sets
    Score(answers::Answers),
}

/// What commands take that only answer lines.
#[derive(Debug, Args)]
struct Lines {
    /// Print JSON Lines, which it always does
    #[arg(long, hide = true)]
    json: bool,
}

pub(super) fn run(asked: &StableToolBench, here: &Surroundings) -> Outcome {
    match &asked.asked {
        Asked::Names(_) => lines::answer(function_name_line),
        Asked::Keys(_) => lines::answer(key_line),
        Asked::Convert(asked) => convert::run(asked),
        Asked::Serve(serve) => virtual_apis::serve(serve, here),
        Asked::Score(asked) => answers::run(asked),
    }
}
