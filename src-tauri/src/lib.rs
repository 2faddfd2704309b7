//! The host: a window, a local server and a command line, all using one engine. Owns the choice
//! between them, and no other decisions; each is a module of its own.
#[macro_use]
#[path = "../commands.rs"]
mod commands;
mod calls;
mod cli;
mod desktop;
mod dialogs;
mod environment;
mod reveal;
mod serve;
mod shutdown;
mod signals;

pub use environment::Environment;

use std::{ffi::OsString, process::ExitCode};
use touchstone_runner::tools::sql::process;

/// Runs the program with these arguments, of which the first is its own name.
pub fn main(arguments: impl Iterator<Item = OsString>, environment: &Environment) -> ExitCode {
    let mut arguments = arguments.peekable();
    let name = arguments.next();
    if arguments.peek().is_some_and(|first| first == process::ARGUMENT) {
        environment::keep_secrets();
        return process::answer_questions();
    }
    let arguments = name.into_iter().chain(arguments);
    environment.listen_to_mistakes();
    environment::keep_secrets();
    // This link refers to the running program, even if its file was replaced.
    process::answer_with("/proc/self/exe".into());
    cli::main(arguments, environment)
}
