//! Evaluations of data files: options, plans, jobs and results.
mod data_files;
pub(crate) mod evaluations;
mod job;
mod starting;

pub(crate) use data_files::DataFileRegistry;
pub use job::available::known_evaluators;
pub use starting::{FileRequest, typed_evaluators};
