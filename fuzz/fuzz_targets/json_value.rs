//! Any text as JSON, strictly, leniently and as a Python literal: nothing panics, and strict JSON is written and read again as it
//! was.
#![no_main]
use libfuzzer_sys::fuzz_target;
use touchstone_formats::benchmark::{self, Parts, python};
use touchstone_formats::{answer, json};

fuzz_target!(|text: &str| {
    if let Ok(value) = json::read(text) {
        for pretty in [false, true] {
            assert_eq!(json::read(&json::write(&value, pretty)).as_ref(), Ok(&value));
        }
        assert_eq!(json::read_leniently(text), Ok(value));
    }
    let _ = json::read_leniently(text);
    let _ = python::read(text);
    let _ = answer::extract(&[text], Some("a"));
    let _ = benchmark::read(&Parts { history: Some(text.as_bytes()), ..Parts::default() });
});
