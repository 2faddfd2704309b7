//! Tests of the public functions, in one program: each program more is linked anew after every
//! change.
mod benchmarks;
mod collections;
#[path = "../../model/tests/edits/mod.rs"]
mod edits;
mod fuzz_seeds;
mod golden;
mod hostile;
mod json_schema;
#[path = "../../model/tests/nasty/mod.rs"]
mod nasty;
mod outlines;
mod peers;
mod raw_answers;
mod rewriting;
mod stabletoolbench;
mod stabletoolbench_answers;
mod suites;
mod threads;
mod transcripts;
mod virtual_apis;
mod workspace_keys;
