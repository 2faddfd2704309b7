//! The host: a window, a local server and a command line over one engine. No decisions.
//! Owns which front door opens; each door is a module of its own.
mod calls;
mod cli;
#[path = "../commands.rs"]
mod commands;
mod desktop;
mod leaving;
mod serve;
mod signals;
mod surroundings;

#[cfg(test)]
mod agreement;

pub use surroundings::Surroundings;

use std::{ffi::OsString, process::ExitCode};
use touchstone_runner::tools::sql::process;

/// Runs the program with these arguments, the first being its own name.
pub fn main(arguments: impl Iterator<Item = OsString>, surroundings: &Surroundings) -> ExitCode {
    let mut arguments = arguments.peekable();
    let name = arguments.next();
    if arguments.peek().is_some_and(|first| first == process::ARGUMENT) {
        surroundings::keep_secrets();
        return process::answer_questions();
    }
    let arguments = name.into_iter().chain(arguments);
    surroundings.listen_to_mistakes();
    surroundings::keep_secrets();
    // The link leads to this program also when its file was replaced meanwhile.
    process::answer_with("/proc/self/exe".into());
    cli::main(arguments, surroundings)
}
