//! Any bytes as a transcript: nothing panics, the fast way and the full parser agree, the outline agrees with the whole, and what
//! was read is what is written and read again.
#![no_main]
use libfuzzer_sys::fuzz_target;
use touchstone_formats::{suite, transcript, yaml};

fuzz_target!(|bytes: &[u8]| {
    let outline = transcript::outline(bytes);
    assert_eq!(outline, transcript::read(bytes).map(|run| run.outline()));
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Some(value) = yaml::read_fast_only(text) {
        assert_eq!(yaml::read_fully(text), Ok(value));
    }
    if let Ok(value) = yaml::read_fully(text) {
        assert_eq!(yaml::read(&yaml::write(&value)), Ok(value));
    }
    let _ = suite::read(text, "task");
});
