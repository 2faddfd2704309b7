//! Parses real benchmark folders and suites. They are not part of the repository; without them the
//! tests do nothing.
#![expect(clippy::unwrap_used, reason = "a file that cannot be read fails the test")]
use std::path::{Path, PathBuf};
use touchstone_formats::system::System;
use touchstone_formats::transcript::outline_of;

use touchstone_formats::benchmark::{self, Parts};
use touchstone_formats::file_kind::{self, FileKind};
use touchstone_formats::suite::{self, Expected};
use touchstone_model::run::{RecordedState, StepKind};

fn golden() -> Option<PathBuf> {
    folder("benchmark")
}

fn folder(name: &str) -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/golden").join(name);
    if root.is_dir() {
        return Some(root);
    }
    eprintln!("skipped: there is no {}", root.display());
    None
}

fn files(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs_err::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found.sort();
    found
}

#[test]
fn every_run_of_a_real_benchmark_folder_is_read() {
    let Some(root) = golden().map(|root| root.join("results")) else { return };
    let mut cases = 0;
    for history in files(&root)
        .iter()
        .filter(|path| path.extension().is_some_and(|extension| extension == "history"))
    {
        let content = |extension: &str| fs_err::read(history.with_extension(extension)).ok();
        let (result, log, api, time) =
            (content("result"), content("history"), content("api"), content("time"));
        let parts = Parts {
            result: result.as_deref(),
            history: log.as_deref(),
            api: api.as_deref(),
            time: time.as_deref(),
            err: None,
        };
        let run = benchmark::read(&parts).unwrap();
        let outline = outline_of(&run);
        assert_eq!(benchmark::outline(&parts).unwrap(), outline);
        let name = history.file_name().unwrap().to_str().unwrap();
        let dir = history.parent().unwrap().strip_prefix(&root).unwrap().to_str().unwrap();
        let place = benchmark::coordinates(dir, benchmark::member(name).unwrap().0).unwrap();
        assert_eq!(place.variation, "last_10");
        assert!(outline.seconds.is_some_and(|seconds| seconds > 20.0), "{name}");
        let empty = log.as_deref() == Some(b"[]");
        assert_eq!(run.steps.is_empty(), empty, "{name}");
        let no_answer = matches!(result.as_deref(), Some(b"" | b"null"));
        assert_eq!(
            outline.standing,
            if no_answer { RecordedState::NoAnswer } else { RecordedState::Answered },
            "{name}"
        );
        if place.system.starts_with("tool_calling") {
            assert!(outline.tokens.is_some_and(|tokens| tokens > 1_000), "{name}");
            assert!(
                outline.tool_calls >= 2
                    && outline.tools.contains(&"query_support_tickets".to_owned()),
                "{name}"
            );
            assert!(
                run.steps
                    .iter()
                    .all(|step| step.kind != StepKind::ToolCall || step.failed == Some(false)),
                "{name}"
            );
            assert!(!outline.text.contains("TextBlock("), "{name}: a repr was not read");
        } else if !empty {
            assert!(run.steps.iter().any(|step| step.kind == StepKind::Program), "{name}");
            assert!(run.steps.iter().any(|step| step.kind == StepKind::Artifact), "{name}");
        }
        cases += 1;
    }
    println!("cases: {cases}");
    assert!(cases > 0);
}

#[test]
fn every_real_suite_is_read() {
    let Some(root) = golden().map(|root| root.join("queries")) else { return };
    let mut cases = 0;
    for file in files(&root) {
        let text = fs_err::read_to_string(&file).unwrap();
        let name = file.file_name().unwrap().to_str().unwrap();
        if file.extension().is_some_and(|extension| extension == "yaml") {
            let suite = suite::read(&text, "task").unwrap();
            let task = &suite.tasks[0];
            assert!(
                task.prompt(&System::PromptQl).is_some()
                    && task.prompt(&System::ToolCalling).is_some(),
                "{name}"
            );
            assert!(
                task.variations.len() >= 5 && suite.warnings.is_empty(),
                "{name}: {:?}",
                suite.warnings
            );
            for (at, variation) in task.variations.iter().enumerate() {
                let prompt = task.fill(task.prompt(&System::PromptQl).unwrap(), Some(at));
                assert!(!prompt.contains("{{"), "{name}: {prompt}");
                let Expected::File(gold) = &variation.expected else { panic!("{name}: no gold") };
                let gold = file.with_file_name(gold);
                suite::ground_truth(
                    gold.to_str().unwrap(),
                    &fs_err::read_to_string(&gold).unwrap(),
                )
                .unwrap();
            }
            cases += 1;
        } else if name == "correct_answer.json" {
            let folder = file.parent().unwrap();
            let texts: Vec<(String, String)> = files(folder)
                .iter()
                .map(|path| {
                    (
                        path.file_name().unwrap().to_str().unwrap().to_owned(),
                        fs_err::read_to_string(path).unwrap(),
                    )
                })
                .collect();
            let texts: Vec<(&str, &str)> =
                texts.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
            let suite = suite::from_folder("task", &texts).unwrap().unwrap();
            assert!(matches!(suite.tasks[0].variations[0].expected, Expected::Value(_)));
            cases += 1;
        }
    }
    println!("cases: {cases}");
    assert!(cases > 0);
}

#[test]
fn every_real_query_set_is_read() {
    let Some(root) = folder("stabletoolbench/solvable_queries/test_instruction") else { return };
    let mut cases = 0;
    for file in files(&root) {
        let text = fs_err::read_to_string(&file).unwrap();
        let name = file.file_name().unwrap().to_str().unwrap();
        assert_eq!(file_kind::detect(name, &text.as_bytes()[..4096]), FileKind::Suite, "{name}");
        let suite = suite::read(&text, name).unwrap();
        assert!(
            suite
                .tasks
                .iter()
                .all(|task| task.prompt(&System::ToolCalling).is_some() && task.query.is_some()),
            "{name}"
        );
        cases += suite.tasks.len();
    }
    println!("cases: {cases}");
    assert!(cases > 0);
}
