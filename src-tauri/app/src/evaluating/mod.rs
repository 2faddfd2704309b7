//! **Pure.** Evaluating a data file: parsed requests, results of several rounds, and progress.
//! `App` reads files, sends requests and runs programs.
pub(crate) mod known;
pub(crate) mod progress;
pub(crate) mod results;
pub(crate) mod rounds;
pub(crate) mod sheet;
pub(crate) mod takes;
pub(crate) mod typed;
pub(crate) mod wish;
