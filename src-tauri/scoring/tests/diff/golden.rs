//! Snapshots of the summaries for real answers, if these are present.
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use touchstone_formats::suite;
use touchstone_model::value::Value;
use touchstone_model::{answer, json};
use touchstone_scoring::diff::{Options, apply, diff, revert};

fn golden(below: &str) -> Option<PathBuf> {
    let folder =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/golden/benchmark").join(below);
    folder.is_dir().then_some(folder)
}

/// Returns the files below a folder with this ending, sorted by name.
fn files(folder: &Path, end: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.to_string_lossy().ends_with(end) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

#[test]
fn sentences_make_sense_for_real_answers() {
    let (Some(results), Some(queries)) = (
        golden("results/score_based_prioritization"),
        golden("queries/score_based_prioritization"),
    ) else {
        println!("0 cases: the golden files are not here");
        return;
    };
    let expected = std::fs::read_to_string(queries.join("ground_truth_last_10.json")).unwrap();
    let expected = json::read(&expected).unwrap();
    let (mut told, mut cases) = (String::new(), 0);
    for file in files(&results, ".result") {
        let Some((actual, _)) = answer::parse(&std::fs::read_to_string(&file).unwrap()) else {
            continue;
        };
        let diff = diff(&expected, &actual, &Options::default());
        assert_eq!(apply(&expected, &diff).as_ref(), Some(&actual));
        let run = file
            .strip_prefix(&results)
            .unwrap()
            .to_string_lossy()
            .replace("/retrieval/last_10_run_", " ");
        writeln!(told, "{}: {}", run.trim_end_matches(".result"), diff.summary()).unwrap();
        cases += 1;
    }
    println!("{cases} cases");
    insta::assert_snapshot!(told, @"
    claude/promptql 1: all 10 rows right
    claude/promptql 2: all 10 rows right
    claude/promptql 3: all 10 rows right
    claude/tool_calling 1: all 10 rows are there, 6 moved: #286 (3 → 1), #169 (4 → 6), #166 (5 → 10), …
    claude/tool_calling 2: all 10 rows are there, 5 moved: #143 (1 → 3), #166 (5 → 10), #139 (6 → 8), …
    claude/tool_calling_python 1: all 10 rows are there, 7 moved: #143 (1 → 3), #286 (3 → 1), #169 (4 → 7), …
    o1/promptql 1: a list of 10 was expected, and null came
    o1/promptql 2: a list of 10 was expected, and null came
    o1/promptql 3: a list of 10 was expected, and null came
    ");
}

#[test]
fn every_ground_truth_can_be_compared_with_every_other() {
    let Some(queries) = golden("queries") else {
        println!("0 cases: the golden files are not here");
        return;
    };
    let truths: Vec<Value> = [".json", ".txt"]
        .iter()
        .flat_map(|end| files(&queries, end))
        .filter_map(|file| {
            suite::ground_truth(&file.to_string_lossy(), &std::fs::read_to_string(&file).unwrap())
                .ok()
        })
        .collect();
    for expected in &truths {
        for actual in &truths {
            let diff = diff(expected, actual, &Options::default());
            assert_eq!(apply(expected, &diff).as_ref(), Some(actual));
            assert_eq!(revert(actual, &diff).as_ref(), Some(expected));
            assert!(diff.summary().chars().count() <= 160);
        }
    }
    println!("{} cases", truths.len() * truths.len());
}
