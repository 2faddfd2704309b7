//! Fuzz target of `checks::suite`.
#![no_main]
#[path = "../checks.rs"]
#[expect(dead_code, reason = "each target is for one of them")]
mod checks;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| checks::suite(bytes));
