//! **Pure.** Compares answers and counts what happened in a run.

mod calls;

pub use calls::missing_calls;
