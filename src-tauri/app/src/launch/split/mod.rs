//! Launches that are split over several machines: handing parts to a scheduler, and following
//! them.
mod slurm;
pub(crate) mod split_launches;
mod split_submitting;
mod split_view;
pub mod submit_script;

pub use split_submitting::SplitOptions;
