//! Tests of all readers: golden files of other tools, and damaged files.
#![expect(clippy::unwrap_used, reason = "a test ends at the first thing that is not as expected")]

mod disk;
mod golden;
mod hostile;
