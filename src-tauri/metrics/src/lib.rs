//! **Pure.** Text metrics, statistics with their uncertainty, and how numbers are written. Knows
//! nothing of runs, suites or files, and uses no other crate of ours.

pub mod number_format;
pub mod stats;
pub mod text;
