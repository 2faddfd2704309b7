//! Tests of `convert`: which runs are chosen, and where documents go.
use crate::sandbox::Sandbox;

const PROMPTFOO: &str =
    include_str!("../../src-tauri/imports/tests/fixtures/promptfoo/results.json");
const SESSION: &str =
    include_str!("../../src-tauri/imports/tests/fixtures/claude_code/session.jsonl");
const OWN: &str = include_str!("../fixtures/transcripts/by-hand.yaml");

fn sandbox(name: &str) -> Sandbox {
    let files = [
        ("touchstone.yaml", "output_dir: results\n"),
        ("results/results.json", PROMPTFOO),
        ("results/s/session.jsonl", SESSION),
        ("results/sums-tool_calling-m1-variation0.yaml", OWN),
    ];
    Sandbox::with(name, &files)
}

#[test]
fn one_run_is_printed_and_many_are_lines_or_files() {
    let sandbox = sandbox("convert-where");
    let one = "results/sums-tool_calling-m1-variation0.yaml";
    let ran = sandbox.run(&["convert", one, "--to", "atif"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    let trajectory: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(trajectory["schema_version"], "ATIF-v1.8");
    let ran = sandbox.run(&["convert", "--folder", ".", "--to", "openai"]);
    let lines = ran.json();
    assert!(ran.status == 0 && lines.len() == 3, "{ran:?}");
    assert!(lines.iter().all(|line| !line["messages"].as_array().unwrap().is_empty()));
    let ran = sandbox.run(&["convert", "--folder", ".", "--to", "atif"]);
    assert!(ran.status == 2 && ran.err.contains("with a slash at its end"), "{ran:?}");
    let ran = sandbox.run(&["convert", "--folder", ".", "--to", "inspect-json", "--out", "logs/"]);
    let written: Vec<&str> = ran.out.lines().collect();
    assert!(ran.status == 0 && written.len() == 3, "{ran:?}");
    for path in written {
        let text = std::fs::read_to_string(sandbox.root().join(path)).unwrap();
        let log: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!((&log["version"], log["samples"].as_array().unwrap().len()), (&2.into(), 1));
    }
}

#[test]
fn a_filter_and_a_name_in_a_file_choose_runs() {
    let sandbox = sandbox("convert-which");
    let ran =
        sandbox.run(&["convert", "--folder", ".", "--filter", "task:hello", "--to", "openai"]);
    assert!(ran.status == 0 && ran.out.contains("\"task\": \"hello\""), "{ran:?}");
    let whole = sandbox.run(&["convert", "results/results.json", "--to", "openai"]);
    assert_eq!(whole.out, ran.out);
    let ran = sandbox.run(&["convert", "results/none.yaml", "--to", "atif"]);
    assert!(ran.status == 2 && ran.err.contains("could not be converted"), "{ran:?}");
    let ran = sandbox.run(&["convert", "--folder", ".", "--filter", "task:none", "--to", "atif"]);
    assert!(ran.status == 2 && ran.err.contains("No run was found"), "{ran:?}");
}

#[test]
fn nothing_is_written_among_the_runs() {
    let sandbox = sandbox("convert-refused");
    let one = "results/sums-tool_calling-m1-variation0.yaml";
    let ran = sandbox.run(&["convert", one, "--to", "atif", "--out", "results/again.json"]);
    assert!(ran.status == 2 && ran.err.contains("output directory"), "{ran:?}");
    let ran = sandbox.run(&["convert", one, "--to", "atif", "--out", "again.json", "--json"]);
    assert_eq!(ran.json(), [serde_json::json!({ "written": ["again.json"] })], "{ran:?}");
}

#[test]
fn redaction_is_on_for_sessions_and_says_what_it_did() {
    let sandbox = sandbox("convert-redact");
    let one = "results/s/session.jsonl";
    let ran = sandbox.run(&["convert", one, "--to", "openai"]);
    assert!(ran.status == 0 && ran.err.contains("redact"), "{ran:?}");
    let ran = sandbox.run(&["convert", one, "--to", "openai", "--no-redact"]);
    assert!(ran.status == 0 && !ran.err.contains("redact"), "{ran:?}");
    let ran = sandbox.run(&["report", ".", "--format", "json", "--out", "-", "--redact"]);
    assert!(ran.status == 0 && ran.err.contains("redact"), "{ran:?}");
}
