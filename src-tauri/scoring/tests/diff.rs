//! Tests of the comparison of values, on examples and on arbitrary values.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod examples;
mod golden;
mod laws;
