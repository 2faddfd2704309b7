//! Evaluations of data files: options, plans, jobs and results.
mod data_files;
pub(crate) mod evaluations;
mod job;
mod starting;

use crate::App;

pub(crate) use data_files::DataFileRegistry;
pub use job::available::known_evaluators;
pub use starting::{FileRequest, typed_evaluators};

/// The actions on evaluations.
#[derive(Clone, Copy)]
pub struct EvaluationActions<'a> {
    pub(crate) app: &'a App,
}
