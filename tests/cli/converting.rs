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
        let text = std::fs::read_to_string(sandbox.folder.join(path)).unwrap();
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
fn no_folder_that_is_read_is_written_to_and_nothing_is_created_there() {
    let files = [("a/results.json", PROMPTFOO), ("b/session.jsonl", SESSION)];
    let sandbox = Sandbox::with("convert-two-folders", &files);
    std::os::unix::fs::symlink("b/session.jsonl", sandbox.folder.join("link.jsonl")).unwrap();
    std::os::unix::fs::symlink("b", sandbox.folder.join("linked")).unwrap();
    for out in [
        "b/session.jsonl",
        "b",
        "b/",
        "b/new/",
        "b/new/chats.jsonl",
        "gone/../a/new/",
        "link.jsonl",
        "linked/new/",
    ] {
        let ran = sandbox.run(&[
            "convert",
            "a/results.json",
            "b/session.jsonl",
            "--to",
            "openai",
            "--out",
            out,
        ]);
        assert!(ran.status == 2 && ran.err.contains("output directory"), "{out} {ran:?}");
        assert!(ran.err.contains("Choose a directory outside of"), "{out} {ran:?}");
    }
    let read = |path: &str| std::fs::read_to_string(sandbox.folder.join(path)).unwrap();
    assert_eq!(read("a/results.json"), PROMPTFOO);
    assert_eq!(read("b/session.jsonl"), SESSION);
    for (folder, count) in [("a", 1), ("b", 1), ("", 4)] {
        let entries = std::fs::read_dir(sandbox.folder.join(folder)).unwrap();
        assert_eq!(entries.count(), count, "{folder}");
    }
}

#[test]
fn an_existing_file_is_replaced_by_a_complete_one_or_not_at_all() {
    let sandbox = sandbox("convert-complete");
    let path = sandbox.folder.join("out.json");
    std::fs::write(&path, "old").unwrap();
    let names = || {
        let names = std::fs::read_dir(&sandbox.folder).unwrap();
        let mut names: Vec<_> = names.map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let before = names();
    let ran = sandbox.run(&["convert", "--folder", ".", "--to", "atif", "--out", "out.json"]);
    assert!(ran.status == 2 && ran.err.contains("with a slash at its end"), "{ran:?}");
    assert_eq!(
        (std::fs::read_to_string(&path).unwrap().as_str(), names()),
        ("old", before.clone())
    );
    let ran = sandbox.run(&["convert", "--folder", ".", "--to", "openai", "--out", "out.json"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    let printed = sandbox.run(&["convert", "--folder", ".", "--to", "openai"]);
    assert_eq!((std::fs::read_to_string(&path).unwrap(), names()), (printed.out, before));
}

#[test]
fn a_directory_keeps_the_files_that_were_there_before_unless_they_are_to_be_replaced() {
    let own = OWN.replace("by-hand", "by-other-hand");
    let files = [
        ("a/sums-tool_calling-m1-variation0.yaml", OWN),
        ("b/sums-tool_calling-m1-variation0.yaml", own.as_str()),
    ];
    let sandbox = Sandbox::with("convert-kept", &files);
    let convert = |folder: &str, more: &[&str]| {
        let run = format!("{folder}/sums-tool_calling-m1-variation0.yaml");
        let args = ["convert", run.as_str(), "--to", "atif", "--out", "out/", "--json"];
        sandbox.run(&[&args[..], more].concat())
    };
    let name = "out/sums-tool_calling-m1-variation0.yaml.trajectory.json";
    let read = || std::fs::read_to_string(sandbox.folder.join(name)).unwrap();
    let ran = convert("a", &[]);
    assert_eq!((ran.status, ran.json()), (0, vec![serde_json::json!({ "written": [name] })]));
    std::fs::write(sandbox.folder.join(name), "mine").unwrap();
    let ran = convert("b", &[]);
    let kept = serde_json::json!({ "written": [], "kept": [name] });
    assert_eq!((ran.status, ran.json()), (1, vec![kept]), "{ran:?}");
    assert!(ran.err.contains("exists already") && ran.err.contains("--replace"), "{ran:?}");
    assert_eq!(read(), "mine");
    let ran = convert("b", &["--replace"]);
    assert_eq!((ran.status, ran.json()), (0, vec![serde_json::json!({ "written": [name] })]));
    assert_ne!(read(), "mine");
    let both = ["a", "b"].map(|folder| format!("{folder}/sums-tool_calling-m1-variation0.yaml"));
    let ran = sandbox.run(&["convert", &both[0], &both[1], "--to", "atif", "--out", "two/"]);
    assert!(ran.status == 0 && ran.out.lines().count() == 2, "one call numbers them: {ran:?}");
}

#[test]
fn a_run_that_two_files_hold_is_converted_once_unless_the_filter_names_it() {
    let whole: serde_json::Value = serde_json::from_str(PROMPTFOO).unwrap();
    let line = format!("{}\n", whole["results"]["results"][0]);
    let files = [("results/a.json", PROMPTFOO), ("results/b.jsonl", line.as_str())];
    let sandbox = Sandbox::with("convert-twice", &files);
    let convert = ["convert", "--folder", "results", "--to", "inspect-json"];
    let ran = sandbox.run(&convert);
    let log: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(log["samples"].as_array().unwrap().len(), 1, "{ran:?}");
    assert!(ran.status == 0 && ran.err.contains("1 run was left out"), "{ran:?}");
    let ran = sandbox.run(&[&convert[..], &["--filter", "superseded:yes,no"]].concat());
    let log: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(log["samples"].as_array().unwrap().len(), 2, "{ran:?}");
    assert!(!ran.err.contains("left out"), "{ran:?}");
    let ran = sandbox.run(&["convert", "results/b.jsonl", "--to", "openai"]);
    assert!(ran.status == 0 && ran.out.contains("b.jsonl"), "a file that is named counts: {ran:?}");
}

#[test]
fn a_file_stands_for_its_own_runs_alone() {
    let files = [("results.json", PROMPTFOO), ("results.json#old.json", PROMPTFOO)];
    let sandbox = Sandbox::with("convert-own", &files);
    for (named, name) in [
        ("results.json", "results.json#test 0 prompt 0"),
        ("results.json#test 0 prompt 0", "results.json#test 0 prompt 0"),
        ("results.json#old.json", "results.json#old.json#test 0 prompt 0"),
    ] {
        let ran = sandbox.run(&["convert", named, "--to", "openai"]);
        let chat: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
        assert_eq!((ran.status, &chat["metadata"]["run"]), (0, &name.into()), "{named}");
    }
}

#[test]
fn one_session_among_the_runs_of_all_folders_redacts_all_of_them() {
    let results = PROMPTFOO.replace("Say hello", "Say hello to jane@mail.example.org");
    assert_ne!(results, PROMPTFOO);
    let files = [("a/results.json", results.as_str()), ("b/session.jsonl", SESSION)];
    let sandbox = Sandbox::with("convert-redact-all", &files);
    let alone = sandbox.run(&["convert", "a/results.json", "--to", "openai"]);
    assert!(alone.status == 0 && alone.out.contains("jane@"), "{alone:?}");
    let both = ["convert", "a/results.json", "b/session.jsonl", "--to", "openai"];
    let ran = sandbox.run(&both);
    assert!(ran.status == 0 && !ran.out.contains("jane@") && ran.json().len() == 2, "{ran:?}");
    let ran = sandbox.run(&[&both[..], &["--no-redact"]].concat());
    assert!(ran.status == 0 && ran.out.contains("jane@"), "{ran:?}");
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
