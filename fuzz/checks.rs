//! Properties that must hold for any input, shared by the fuzz targets and the test that replays
//! their seeds.
use touchstone_formats::benchmark::{self, Parts, python};
use touchstone_formats::{names, suite, template, transcript, workspace};
use touchstone_model::{answer, json, value::Value, yaml};

const MODELS: [&str; 3] = ["claude", "o1", "o3-mini"];

/// Reads any text as JSON, strictly, leniently and as a Python literal. Nothing panics, and strict
/// JSON survives writing and reading unchanged.
pub(crate) fn json_value(text: &str) {
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
}

/// Reads any text as a suite, a template, a workspace file or a file name. Nothing panics, and a
/// parsed name is written unchanged.
pub(crate) fn suite(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(suite) = suite::read(text, "folder/task") {
        for variation in suite.tasks.iter().flat_map(|task| &task.variations) {
            let _ = variation.label();
        }
    }
    let _ = workspace::read(text);
    let parameters = [
        ("data".to_owned(), Value::Text("last 20".into())),
        ("name".to_owned(), Value::Text(text.into())),
    ];
    let _ = template::render(text, &["data", "name", "more"], &parameters);
    let _ = template::check(text, &["data", "name"]);
    if let Some(coordinates) = names::read(text, &MODELS) {
        let written = names::write(&coordinates);
        assert_eq!(names::read(&written, &MODELS), Some(coordinates), "{written}");
    }
}

/// Reads any bytes as a transcript. Nothing panics, the fast and the full YAML parser agree, the
/// outline agrees with the complete run, and a YAML value survives writing and reading unchanged.
pub(crate) fn yaml_transcript(bytes: &[u8]) {
    let outline = transcript::outline(bytes);
    assert_eq!(outline, transcript::read(bytes).map(|run| transcript::outline_of(&run)));
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Some(value) = yaml::read_fast_only(text) {
        assert_eq!(yaml::read_fully(text), Ok(value));
    }
    if let Ok(value) = yaml::read_fully(text) {
        assert_eq!(yaml::read(&yaml::write(&value)), Ok(value));
    }
    let _ = suite::read(text, "task");
}
