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

/// Runs the program with these arguments, the first being its own name.
pub fn main(arguments: impl Iterator<Item = OsString>, surroundings: &Surroundings) -> ExitCode {
    surroundings.listen_to_mistakes();
    surroundings::keep_secrets();
    cli::main(arguments, surroundings)
}
