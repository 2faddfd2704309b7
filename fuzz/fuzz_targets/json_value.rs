//! Fuzz target of `checks::json_value`.
#![no_main]
#[path = "../checks.rs"]
#[expect(dead_code, reason = "each target is for one of them")]
mod checks;

libfuzzer_sys::fuzz_target!(|text: &str| checks::json_value(text));
