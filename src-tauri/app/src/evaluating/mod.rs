//! **Pure.** Evaluating a data file: what was asked for, what several rounds come to, and how it
//! stands. `App` reads files, asks models and runs programs.
pub(crate) mod known;
pub(crate) mod progress;
pub(crate) mod results;
pub(crate) mod rounds;
pub(crate) mod sheet;
pub(crate) mod takes;
pub(crate) mod typed;
pub(crate) mod wish;
