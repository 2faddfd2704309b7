//! The open folder: opening and closing it, its state, problems and leftovers.
pub mod buckets;
pub(crate) mod demo;
mod doctor;
mod doctor_runs;
pub(crate) mod found_results;
pub mod leftovers;
pub(crate) mod named_paths;
mod problems;
pub(crate) mod recent;
pub(crate) mod segmenting;

pub use problems::SuiteProblems;
pub use segmenting::WrittenSegments;
