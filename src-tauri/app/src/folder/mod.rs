//! The open folder: opening and closing it, its state, problems and leftovers.
mod among_results;
pub mod buckets;
pub(crate) mod demo;
mod doctor;
mod doctor_runs;
pub(crate) mod found_results;
pub mod leftovers;
pub(crate) mod named_paths;
mod opening;
mod problems;
pub(crate) mod recent;
pub(crate) mod segmenting;
mod status;

use crate::App;

pub use problems::SuiteProblems;
pub use segmenting::WrittenSegments;

/// The actions on the open folder.
#[derive(Clone, Copy)]
pub struct FolderActions<'a> {
    pub(crate) app: &'a App,
}
