//! How systems stand: each run counted once, repeats as one row, pairs against a baseline, and the
//! sentences about them.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod cells;
mod pairs;
mod said;
mod stage;
