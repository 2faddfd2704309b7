//! **Pure.** Answers of `StableToolBench`: raw ones, as they were made, and converted ones, as they are judged.
pub mod convert;
pub mod converted;
pub mod details;
pub mod finish;
pub mod raw;
mod steps;
mod tree;

pub use finish::Finish;

/// The function that ends a run.
pub const FINISH: &str = "Finish";
