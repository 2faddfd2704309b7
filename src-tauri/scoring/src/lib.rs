//! **Pure.** Scorers: compares answers with expected outputs, scores them, aligns runs, finds why
//! runs failed, and aggregates scores over runs.

pub mod aggregate;
pub mod agreement;
pub mod align;
mod calls;
pub mod diff;
pub mod failures;
pub mod scorers;

pub use calls::missing_calls;
