//! Compares keys, checks, labels and stripping of virtual APIs with the original system. Its files
//! are not part of the repository; without them the tests do nothing.
#![expect(clippy::unwrap_used, reason = "a file that cannot be read fails the test")]
use std::path::Path;

use touchstone_formats::stabletoolbench::cache_file::{self, CacheFile};
use touchstone_formats::stabletoolbench::check::{self, Rules};
use touchstone_formats::stabletoolbench::python_json::{self, Layout, Py};
use touchstone_formats::stabletoolbench::strip::{self, SimulatorOutput};

fn lines(name: &str) -> Vec<Py> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared/golden/stabletoolbench")
        .join(name);
    let Ok(text) = fs_err::read_to_string(&file) else {
        eprintln!("skipped: there is no {}", file.display());
        return Vec::new();
    };
    text.lines().map(|line| python_json::read(line).unwrap()).collect()
}

fn text(case: &Py, key: &str) -> Option<String> {
    case.get(key).and_then(Py::text)
}

#[test]
fn every_key_is_the_text_that_python_writes() {
    let cases = lines("python_str_keys.jsonl");
    for case in &cases {
        let (input, key) =
            (text(case, "tool_input_json").unwrap(), text(case, "python_key").unwrap());
        let read = python_json::read(&input).unwrap();
        assert_eq!(read.str(), key, "{input}");
        assert_eq!(cache_file::keys(&read)[0].1, key);
        // The key in the notation of cache files, and its lookup in such a file.
        let file = CacheFile::default().with([(key.as_str(), &Py::Null)]);
        let written = format!("{{\n    {}: null\n}}", text(case, "key_in_cache_file").unwrap());
        assert_eq!(file.text(), written);
        assert!(
            CacheFile::read(written).unwrap().find(&cache_file::keys(&read)).is_some(),
            "{input}"
        );
    }
    println!("cases: {}", cases.len());
}

#[test]
fn replies_are_kept_and_rejected_as_the_original_does() {
    let cases = lines("check_result.jsonl");
    for case in &cases {
        let value = case.get("value").unwrap();
        let accepted = |rules| Py::Bool(check::accepts(value, rules));
        let shown = value.dumps(Layout::Python);
        assert_eq!(&accepted(Rules::Compat), case.get("main").unwrap(), "{shown}");
        assert_eq!(&accepted(Rules::CompatMirror), case.get("mirrorapi").unwrap(), "{shown}");
    }
    println!("cases: {}", cases.len());
}

#[test]
fn what_simulators_write_is_read_as_the_original_reads_it() {
    let cases = lines("mirror_extract.jsonl");
    for case in &cases {
        let output = text(case, "llm_output").unwrap();
        let nothing = |key: &str| matches!(case.get(key), None | Some(Py::Null));
        match strip::parse_trained_simulator(&output) {
            SimulatorOutput::Reply(reply) => {
                assert_eq!(reply.get("error"), case.get("error_field"), "{output}");
                assert_eq!(reply.get("response"), case.get("response_field"), "{output}");
            }
            SimulatorOutput::Odd(_) => assert!(!nothing("exception"), "{output}"),
            SimulatorOutput::Nothing => {
                assert!(nothing("exception") && nothing("error_field"), "{output}");
            }
        }
    }
    println!("cases: {}", cases.len());
}

#[test]
fn replies_are_filtered_as_the_original_does() {
    let cases = lines("strip_filter.jsonl");
    for case in &cases {
        let (response, schema) = (case.get("response").unwrap(), case.get("schema").unwrap());
        match strip::filter(response, schema) {
            Ok(filtered) => assert_eq!(Some(&filtered), case.get("filtered"), "{}", response.str()),
            Err(_) => assert_ne!(Some(&Py::Null), case.get("exception"), "{}", response.str()),
        }
    }
    println!("cases: {}", cases.len());
}
