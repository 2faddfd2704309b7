//! **Pure.** Compares answers with expected outputs, scores them, and aggregates scores and
//! statistics over runs.

pub mod aggregate;
pub mod align;
pub mod azure;
mod calls;
pub mod diff;
pub mod failures;
pub mod judges;
pub mod scorers;
pub mod stabletoolbench;
pub mod stats;

pub mod agreement;
pub mod number_format;
pub mod text;

pub use calls::missing_calls;
