//! Tests of all readers: golden files of other tools, and damaged files; and of
//! exported runs, read back by these readers and by the packages of other tools.
#![expect(clippy::unwrap_used, reason = "a test ends at the first thing that is not as expected")]

mod database;
mod disk;
mod exported;
mod fuzz_seeds;
mod golden;
mod hostile;
mod peers;
