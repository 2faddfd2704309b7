//! Tests of the aggregation by system: each run counts once, repeats form one row, pairs are
//! compared with a baseline, and sentences describe the comparison.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod cells;
mod pairs;
mod sentences;
mod stage;
