//! Tests of files that hold many runs, on files of the original system. These are not part of the
//! repository; without them the tests do nothing.
#![expect(clippy::unwrap_used, reason = "a file that cannot be read fails the test")]
use std::path::{Path, PathBuf};
use touchstone_formats::transcript::outline_of;

use touchstone_formats::collection::{self, Form, Member, explain_no_runs, form_of};
use touchstone_model::json;
use touchstone_model::run::RecordedState;
use touchstone_model::value::Value;

/// Returns the files below a folder of the golden data, by their paths below `data_example`.
fn files(folder: &str) -> Vec<(String, Vec<u8>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared/golden/stabletoolbench/data_example");
    let mut found = Vec::new();
    let mut open = vec![root.join(folder)];
    while let Some(dir) = open.pop() {
        let Ok(entries) = fs_err::read_dir(&dir) else {
            eprintln!("skipped: there is no {}", dir.display());
            continue;
        };
        let entries: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
        for path in entries {
            if path.is_dir() {
                open.push(path);
            } else {
                let below = path.strip_prefix(&root).unwrap().to_string_lossy().into_owned();
                found.push((below, fs_err::read(&path).unwrap()));
            }
        }
    }
    found.sort();
    found
}

fn format_place(member: &Member) -> String {
    let word = |word: &Option<String>| word.clone().unwrap_or_default();
    [&member.place.task, &member.place.system, &member.place.model].map(word).join(" ")
}

#[test]
fn converted_answers_of_the_original_are_runs() {
    let mut cases = 0;
    for (path, bytes) in files("model_predictions_converted") {
        let whole = json::read_deep(std::str::from_utf8(&bytes).unwrap()).unwrap();
        let members = collection::members(&path, &bytes).unwrap();
        assert_eq!(members.len(), whole.entries().len(), "{path}");
        for (member, (id, entry)) in members.iter().zip(whole.entries()) {
            let (folder, method) = if path.contains("_cot/") {
                ("virtual_chatgpt_cot", "CoT@1")
            } else {
                ("virtual_chatgpt_dfs", "DFS_woFilter_w2")
            };
            assert_eq!(
                format_place(member),
                format!("G1_instruction/{} {method} {folder}", id.text().unwrap())
            );
            let outline = member.outline.as_ref().unwrap();
            assert!(outline.text.contains(entry.get("query").and_then(Value::text).unwrap()));
            let steps = entry.get("answer").and_then(|answer| answer.get("total_steps")).unwrap();
            let run = collection::read(&path, &bytes, &member.key).unwrap();
            // An empty system message is not a step.
            assert_eq!(Value::Number((run.steps.len() + 1).to_string()), *steps, "{path} {id:?}");
            assert_eq!(&outline_of(&run), outline);
            cases += 1;
        }
    }
    println!("cases: {cases}");
}

#[test]
fn verdicts_of_the_original_are_runs_and_both_of_their_forms_say_the_same() {
    let files = files("pass_rate_results");
    let mut cases = 0;
    for (table, rows) in
        files.iter().filter(|(_, bytes)| form_of(bytes) == Some(Form::PassRateTable))
    {
        let path = table.replace(".csv", ".json");
        let object = &files.iter().find(|(other, _)| *other == path).unwrap().1;
        assert_eq!(form_of(object), Some(Form::PassRate));
        let (rows, entries) = (
            collection::members(table, rows).unwrap(),
            collection::members(&path, object).unwrap(),
        );
        assert_eq!(rows.len(), 3);
        for (row, entry) in rows.iter().zip(&entries) {
            assert_eq!((&row.key, format_place(row)), (&entry.key, format_place(entry)));
            assert_eq!(row.outline, entry.outline, "{table} {}", row.key);
            let outline = entry.outline.as_ref().unwrap();
            let finished = outline.tools.iter().any(|tool| tool == "Finish");
            assert_eq!(outline.standing == RecordedState::Answered, finished);
            let run = collection::read(&path, object, &entry.key).unwrap();
            let rounds = run.facts.iter().filter(|(key, _)| key.starts_with("is_solved.")).count();
            assert_eq!(rounds, 3);
            cases += 1;
        }
    }
    println!("cases: {cases}");
}

#[test]
fn preferences_are_no_runs_and_say_so() {
    let files = files("preference_results");
    for (path, bytes) in &files {
        assert_eq!((form_of(bytes), explain_no_runs(bytes).is_some()), (None, true), "{path}");
    }
    println!("cases: {}", files.len());
}

#[test]
fn every_file_that_the_azure_package_wrote_opens_as_runs_and_those_with_an_error_are_none() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/golden/azure");
    let variants = fs_err::read_dir(root.join("evaluate_variants")).into_iter().flatten();
    let mut paths: Vec<PathBuf> = variants.map(|entry| entry.unwrap().path()).collect();
    paths.push(root.join("evaluate_out.json"));
    paths.retain(|path| path.is_file() && path.extension().is_some_and(|end| end == "json"));
    let (mut cases, mut rows, mut others) = (0, 0, 0);
    for path in paths {
        let bytes = fs_err::read(&path).unwrap();
        let whole = json::read_python(std::str::from_utf8(&bytes).unwrap()).unwrap();
        let Some(written) = whole.get("rows") else {
            assert_eq!(form_of(&bytes), None, "{}", path.display());
            others += 1;
            continue;
        };
        assert_eq!(
            form_of(&bytes[..bytes.len().min(16 << 10)]),
            Some(Form::Rows),
            "{}",
            path.display()
        );
        let members = collection::members("x.json", &bytes).unwrap();
        assert_eq!(members.len(), written.items().len(), "{}", path.display());
        for member in members {
            let outline = member.outline.unwrap();
            let run = collection::read("x.json", &bytes, &member.key).unwrap();
            assert_eq!(outline_of(&run), outline, "{}", path.display());
            assert!(run.facts.iter().all(|(key, _)| !key.is_empty()) && !run.notes.is_empty());
            rows += 1;
        }
        cases += 1;
    }
    println!("cases: {cases} files with {rows} rows, and {others} that are none");
}
