//! Opening the files and folders of other tools where they lie: which folder is opened, and which
//! runs are shown.
use crate::bench::{Bench, DEADLINE};
use fs_err as fs;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;
use touchstone_api::{Column, ListRequest, Opened, Sort, Span};
use touchstone_app::App;
use touchstone_app::error::Code;

const PROMPTFOO: &str =
    include_str!("../../src-tauri/imports/tests/fixtures/promptfoo/results.json");
const CONFIG: &str =
    include_str!("../../src-tauri/imports/tests/fixtures/harbor/job/sums__abc1234/config.json");
const RESULT: &str =
    include_str!("../../src-tauri/imports/tests/fixtures/harbor/job/sums__abc1234/result.json");
const TRAJECTORY: &str = include_str!(
    "../../src-tauri/imports/tests/fixtures/harbor/job/sums__abc1234/agent/trajectory.json"
);
const SESSION: &str =
    include_str!("../../src-tauri/imports/tests/fixtures/claude_code/session.jsonl");

/// Opens paths below the folder of the bench, and waits until they are read.
fn open(bench: &Bench, app: &App, paths: &[&str]) -> Opened {
    let paths: Vec<PathBuf> = paths.iter().map(|path| bench.path(path)).collect();
    let opened = app.folder().open_paths(&paths).unwrap();
    app.folder().wait_ready(DEADLINE).unwrap();
    opened
}

/// Folder that was opened, below the folder of the bench.
fn folder(bench: &Bench, opened: &Opened) -> String {
    let whole = fs::canonicalize(bench.path("")).unwrap();
    Path::new(&opened.folder.path).strip_prefix(whole).unwrap().display().to_string()
}

/// Paths of the runs that a filter shows.
fn shown_paths(app: &App, filter: &str) -> Vec<String> {
    let sort = Sort { column: Column::Path, descending: false };
    let span = Span { offset: 0, limit: 500 };
    let page = app.runs().list_runs(ListRequest { filter: filter.to_owned(), sort, span }).unwrap();
    assert!(page.misread.is_empty(), "{filter}: {:?}", page.misread);
    page.rows.into_iter().map(|row| row.path).collect()
}

/// Everything below a folder, with sizes and times.
fn state(folder: &Path) -> BTreeMap<PathBuf, (u64, SystemTime)> {
    let mut all = BTreeMap::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let meta = fs::metadata(&folder).unwrap();
        all.insert(folder.clone(), (0, meta.modified().unwrap()));
        for entry in fs::read_dir(&folder).unwrap() {
            let entry = entry.unwrap();
            let meta = entry.metadata().unwrap();
            if meta.is_dir() {
                folders.push(entry.path());
            } else {
                all.insert(entry.path(), (meta.len(), meta.modified().unwrap()));
            }
        }
    }
    all
}

#[test]
fn a_file_opens_its_folder_with_a_filter_for_its_runs() {
    let bench = Bench::new()
        .file("out/results.json", PROMPTFOO)
        .file("out/results.json.json", PROMPTFOO)
        .file("out/more results.json", PROMPTFOO)
        .file("out/deep/results.json", PROMPTFOO);
    let app = bench.another_app();
    let opened = open(&bench, &app, &["out/results.json"]);
    assert_eq!(folder(&bench, &opened), "out");
    assert_eq!(opened.filter, "file:results.json");
    assert_eq!(shown_paths(&app, &opened.filter), ["results.json#test 0 prompt 0"]);
    assert_eq!(shown_paths(&app, "").len(), 4);

    let several = open(&bench, &app, &["out/more results.json", "out/deep/results.json"]);
    assert_eq!(several.folder, opened.folder, "the open folder holds them");
    assert_eq!(
        shown_paths(&app, &several.filter),
        ["deep/results.json#test 0 prompt 0", "more results.json#test 0 prompt 0"]
    );
    let whole = open(&bench, &app, &["out"]);
    assert_eq!((whole.folder, whole.filter), (opened.folder, String::new()));
    app.folder().close_folder().unwrap();
}

#[test]
fn files_and_folders_open_what_they_have_in_common() {
    let bench = Bench::new()
        .file("out/a/results.json", PROMPTFOO)
        .file("out/b/results.json", PROMPTFOO)
        .file("out/b/deep/results.json", PROMPTFOO)
        .file("out/c/results.json", PROMPTFOO);
    let app = bench.another_app();
    let opened = open(&bench, &app, &["out/a/results.json", "out/b"]);
    assert_eq!(folder(&bench, &opened), "out");
    let members = ["a", "b/deep", "b"].map(|dir| format!("{dir}/results.json#test 0 prompt 0"));
    assert_eq!(shown_paths(&app, &opened.filter), members);
    app.folder().close_folder().unwrap();
}

#[test]
fn a_part_of_a_run_opens_the_run() {
    let trial = "jobs/job/sums__abc1234";
    let session = "projects/-w/0a1b2c3d-0000-4000-8000-000000000001";
    let bench = Bench::new()
        .file(&format!("{trial}/config.json"), CONFIG)
        .file(&format!("{trial}/result.json"), RESULT)
        .file(&format!("{trial}/agent/trajectory.json"), TRAJECTORY)
        .file(&format!("{session}.jsonl"), SESSION)
        .file(&format!("{session}/subagents/agent-1.jsonl"), SESSION);
    let app = bench.another_app();
    for part in ["agent/trajectory.json", "result.json", "config.json"] {
        let opened = open(&bench, &app, &[&format!("{trial}/{part}")]);
        assert_eq!(folder(&bench, &opened), trial, "{part}");
        assert_eq!(shown_paths(&app, &opened.filter), ["config.json#sums__abc1234"], "{part}");
        app.folder().close_folder().unwrap();
    }
    for part in [".jsonl", "/subagents/agent-1.jsonl"] {
        let opened = open(&bench, &app, &[&format!("{session}{part}")]);
        assert_eq!(folder(&bench, &opened), "projects/-w", "{part}");
        assert_eq!(shown_paths(&app, &opened.filter).len(), 1, "{part}");
        app.folder().close_folder().unwrap();
    }
}

#[test]
fn a_result_beside_its_tasks_opens_with_them() {
    let bench = Bench::new()
        .file("tasks/plans.yaml", "tool_calling_prompt: Count them.\nvariations: [{}]\n")
        .answered("results/deep/plans-tool_calling-o1-variation0.yaml", "Three.");
    let app = bench.another_app();
    let opened = open(&bench, &app, &["results/deep/plans-tool_calling-o1-variation0.yaml"]);
    assert_eq!(folder(&bench, &opened), "");
    assert!(opened.folder.input_dir.is_some());
    assert_eq!(opened.filter, "file:deep/plans-tool_calling-o1-variation0.yaml");
    assert_eq!(shown_paths(&app, &opened.filter).len(), 1);
    app.folder().close_folder().unwrap();
}

#[test]
fn a_file_outside_of_the_usual_results_folder_is_shown_all_the_same() {
    let bench = Bench::new()
        .file("out/inputs/note.yaml", "x: 1\n")
        .file("out/outputs/note.yaml", "x: 1\n")
        .file("out/results.json", PROMPTFOO);
    let app = bench.another_app();
    let opened = open(&bench, &app, &["out/results.json"]);
    assert_eq!(shown_paths(&app, &opened.filter), ["results.json#test 0 prompt 0"]);
    app.folder().close_folder().unwrap();
}

#[test]
fn a_file_without_runs_is_found_among_those_that_are_none() {
    let bench = Bench::new().file("out/notes.txt", "nothing");
    let app = bench.another_app();
    let opened = open(&bench, &app, &["out/notes.txt"]);
    assert_eq!(shown_paths(&app, &opened.filter), Vec::<String>::new());
    assert_eq!(shown_paths(&app, &format!("{} state:other", opened.filter)), ["notes.txt"]);
    app.folder().close_folder().unwrap();
}

#[test]
fn opening_and_reading_change_nothing_in_the_folder_of_another_tool() {
    let bench = Bench::new()
        .file("out/results.json", PROMPTFOO)
        .file("out/job/sums__abc1234/config.json", CONFIG)
        .file("out/job/sums__abc1234/result.json", RESULT);
    let before = state(&bench.path("out"));
    let app = bench.another_app();
    for path in ["out", "out/results.json", "out/job/sums__abc1234/result.json"] {
        open(&bench, &app, &[path]);
        let sort = Sort { column: Column::Path, descending: false };
        let span = Span { offset: 0, limit: 500 };
        let all = ListRequest { filter: String::new(), sort, span };
        for row in app.runs().list_runs(all).unwrap().rows {
            app.runs().open_run(&row.id).unwrap();
        }
        assert!(app.folder().wait_searchable(DEADLINE).unwrap());
        app.folder().close_folder().unwrap();
    }
    assert_eq!(state(&bench.path("out")), before);
}

#[test]
fn a_file_that_no_list_shows_opens_by_itself_or_is_refused() {
    let bench = Bench::new()
        .file("out/results.json", PROMPTFOO)
        .file("out/.cache/results.json", PROMPTFOO)
        .file("out/old.tmp/results.json", PROMPTFOO)
        .file("out/results.json~", PROMPTFOO)
        .file("out/results.json.part", PROMPTFOO);
    let app = bench.another_app();
    open(&bench, &app, &["out"]);
    for dir in ["out/.cache", "out/old.tmp"] {
        let opened = open(&bench, &app, &[&format!("{dir}/results.json")]);
        assert_eq!(folder(&bench, &opened), dir, "the open folder does not list it");
        assert_eq!(shown_paths(&app, &opened.filter), ["results.json#test 0 prompt 0"]);
    }
    for (paths, message) in [
        (vec!["out/results.json~"], "are never read as results."),
        (vec!["out/results.json.part"], "are never read as results."),
        (vec!["out/results.json", "out/.cache/results.json"], "are never listed there."),
        (vec!["out/results.json", "out/old.tmp"], "are never listed there."),
    ] {
        let paths: Vec<PathBuf> = paths.iter().map(|path| bench.path(path)).collect();
        let error = app.folder().open_paths(&paths).unwrap_err();
        assert!(error.message.ends_with(message), "{}", error.message);
        assert!(error.hint.is_some(), "{}", error.message);
    }
    app.folder().close_folder().unwrap();
}

#[test]
fn a_file_is_shown_alone_also_beside_one_whose_name_differs_in_case() {
    let bench =
        Bench::new().file("out/Results.json", PROMPTFOO).file("out/results.json", PROMPTFOO);
    let app = bench.another_app();
    let opened = open(&bench, &app, &["out/Results.json"]);
    assert_eq!(shown_paths(&app, &opened.filter), ["Results.json#test 0 prompt 0"]);
    app.folder().close_folder().unwrap();
}

#[test]
fn a_wrong_path_is_refused_with_the_next_step_and_the_open_folder_stays() {
    let bench = Bench::new().file("out/results.json", PROMPTFOO).file("out/.hidden.json", "{}");
    let app = bench.another_app();
    let opened = open(&bench, &app, &["out/results.json"]);
    assert!(Command::new("mkfifo").arg(bench.path("out/pipe")).status().unwrap().success());
    for (paths, message) in [
        (vec!["out/gone.json"], "gone.json could not be opened: it is not there."),
        (vec!["out/results.json", "gone"], "gone could not be opened: it is not there."),
        (vec!["out/pipe"], "it is neither a file nor a folder."),
        (vec!["out/.hidden.json"], "hidden and temporary files are never read as results."),
        (vec![], "No path was named."),
    ] {
        let paths: Vec<PathBuf> = paths.iter().map(|path| bench.path(path)).collect();
        let error = app.folder().open_paths(&paths).unwrap_err();
        assert!(error.message.ends_with(message), "{}", error.message);
        assert!(error.hint.is_some(), "{}", error.message);
        assert!(matches!(error.code, Code::NotFound | Code::BadRequest));
    }
    assert_eq!(app.folder().status().folder.as_ref(), Some(&opened.folder));
    app.folder().close_folder().unwrap();
}
