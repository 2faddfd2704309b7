//! Names and keys of `StableToolBench`, against what the original gives. Its files are not part of the project; without them there is
//! nothing to do.
#![expect(clippy::unwrap_used, reason = "a file that cannot be read fails the test")]
use std::path::Path;

use touchstone_formats::json;
use touchstone_formats::stabletoolbench::{names, python};
use touchstone_formats::value::Value;

fn lines(name: &str) -> Vec<Value> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/golden/stabletoolbench").join(name);
    let Ok(text) = fs_err::read_to_string(&file) else {
        eprintln!("skipped: there is no {}", file.display());
        return Vec::new();
    };
    text.lines().map(|line| json::read(line).unwrap()).collect()
}

#[test]
fn names_are_those_of_the_original() {
    let mut cases = 0;
    for case in lines("standardize_pairs.jsonl") {
        let text = |key: &str| case.get(key).and_then(Value::text).unwrap_or_default();
        let input = text("input");
        match case.get("standardize_category").and_then(Value::text) {
            Some(category) => assert_eq!(names::category(input), category, "{input}"),
            None => {
                assert_eq!(names::standardize(input), text("standardize"), "{input}");
                assert_eq!(names::api_name(input), text("change_name_standardize"), "{input}");
            }
        }
        cases += 1;
    }
    println!("cases: {cases}");
}

#[test]
fn keys_are_the_texts_that_python_writes() {
    let mut cases = 0;
    for case in lines("python_str_keys.jsonl") {
        let text = |key: &str| case.get(key).and_then(Value::text);
        let (Some(input), Some(key)) = (text("tool_input_json"), text("python_key")) else { continue };
        // What JSON does not allow and Python reads has a reader of its own.
        let Ok(value) = json::read(input) else { continue };
        assert_eq!(python::text(&value), key, "{input}");
        cases += 1;
    }
    println!("cases: {cases}");
}
