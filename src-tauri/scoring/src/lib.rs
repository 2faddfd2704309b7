//! **Pure.** Compares answers and counts what happened in a run.

pub mod align;
pub mod azure;
mod calls;
pub mod diff;
pub mod judges;
pub mod scorers;
pub mod stabletoolbench;
pub mod standing;
pub mod stats;

pub mod text;
pub mod trust;
pub mod written;

pub use calls::missing_calls;
