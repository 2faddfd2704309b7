//! **Pure.** Evaluating a data file: parsed requests, results of several rounds, and progress.
//! `App` reads files, sends requests and runs programs.
pub(crate) mod available;
pub(crate) mod estimate;
pub(crate) mod evaluation_spec;
pub(crate) mod parse_evaluators;
pub(crate) mod progress;
pub(crate) mod results;
pub(crate) mod rounds;
pub(crate) mod row_inputs;
