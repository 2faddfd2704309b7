//! Suites and their tasks: listing, making and generating them, and serving their virtual APIs.
pub(crate) mod generate_jobs;
pub mod generating;
mod generation;
pub(crate) mod making_suites;
mod source_text;
pub(crate) mod suite_sources;
mod tasks;
pub mod virtual_apis;

use crate::App;

/// The actions on suites and tasks.
#[derive(Clone, Copy)]
pub struct SuiteActions<'a> {
    pub(crate) app: &'a App,
}
