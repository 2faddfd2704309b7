//! Any text as a suite, a template, a workspace file or a file name: nothing panics, and a name that is read is written the same.
#![no_main]
use libfuzzer_sys::fuzz_target;
use touchstone_formats::{names, suite, template, value::Value, workspace};

const MODELS: [&str; 3] = ["claude", "o1", "o3-mini"];

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(suite) = suite::read(text, "folder/task") {
        for variation in suite.tasks.iter().flat_map(|task| &task.variations) {
            let _ = variation.label();
        }
    }
    let _ = workspace::read(text);
    let parameters = [("data".to_owned(), Value::Text("last 20".into())), ("name".to_owned(), Value::Text(text.into()))];
    let _ = template::render(text, &["data", "name", "more"], &parameters);
    let _ = template::check(text, &["data", "name"]);
    if let Some(coordinates) = names::read(text, &MODELS) {
        let written = names::write(&coordinates);
        assert_eq!(names::read(&written, &MODELS), Some(coordinates), "{written}");
    }
});
