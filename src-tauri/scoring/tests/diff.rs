//! Tests of the comparison of values, on examples and on arbitrary values.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "diff/examples.rs"]
mod examples;
#[path = "diff/golden.rs"]
mod golden;
#[path = "diff/laws.rs"]
mod laws;
