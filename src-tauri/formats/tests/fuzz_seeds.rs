//! Replays the seeds of the fuzz targets. `make fuzz` continues from them with generated inputs.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../../../fuzz/checks.rs"]
mod checks;

use std::fs;
use std::path::Path;

/// Calls back with every file of a folder, and returns the number of files.
fn for_each_file(folder: &str, mut check: impl FnMut(&[u8])) -> usize {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
    let files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    let files: Vec<_> = files.into_iter().filter(|path| path.is_file()).collect();
    for path in &files {
        check(&fs::read(path).unwrap());
    }
    files.len()
}

#[test]
fn the_seeds_of_every_fuzz_target_hold() {
    let json = for_each_file("fuzz/seeds/json_value", |bytes| {
        checks::json_value(std::str::from_utf8(bytes).unwrap());
    });
    let suites = for_each_file("demo/tasks", checks::suite);
    let transcripts = for_each_file("fuzz/seeds/yaml_transcript", checks::yaml_transcript);
    assert!(json >= 3 && suites >= 3 && transcripts >= 4, "{json} {suites} {transcripts}");
}
