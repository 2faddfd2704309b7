//! Tests over complete folders: the sample data, a small benchmark folder, and real ones if they
//! lie next to the project.
use crate::bench::{Bench, beside_the_project};
use touchstone_api::{FailureClass, RunState, RunView, ScoreStanding, Span, StepKind};

/// Scores of the runs of the published benchmark, computed by a separate script
/// (`scripts/order-oracle.py runs`).
const PUBLISHED: &str = include_str!("../../src-tauri/scoring/tests/scorers/runs.jsonl");

fn opened(bench: &Bench) -> Vec<RunView> {
    bench.rows().iter().map(|row| bench.app().runs().open_run(&row.id).unwrap()).collect()
}

#[test]
fn the_sample_data_is_read_whole_and_shows_every_way_a_run_can_end() {
    let bench = Bench::new().open_at(beside_the_project("demo").to_str().unwrap());
    let problems = bench.app().folder().problems(Span { offset: 0, limit: 100 }).unwrap().problems;
    assert!(problems.is_empty(), "the sample data has problems: {problems:?}");
    let counts = bench.status().counts;
    assert_eq!((counts.damaged, counts.other_files, counts.tasks), (0, 0, 6));
    let views = opened(&bench);
    for state in [RunState::Answered, RunState::NoAnswer, RunState::Waiting, RunState::Error] {
        assert!(views.iter().any(|view| view.row.state == state), "no run is {state:?}");
    }
    for view in &views {
        let path = &view.row.path;
        assert!(view.task.is_some() && view.row.variation_name.is_some(), "{path} has no task");
        assert!(
            !view.steps.is_empty() && view.steps.iter().all(|step| step.kind != StepKind::Unknown),
            "{path}"
        );
        assert_eq!(view.answer.is_some(), view.row.state == RunState::Answered, "{path}");
        assert!(
            view.facts.iter().any(|fact| fact.key == "run.sample"),
            "{path} does not say that it is sample data"
        );
    }
    let said = |wanted: &dyn Fn(&RunView) -> bool| views.iter().filter(|view| wanted(view)).count();
    assert!(
        said(&|view| view.row.nudges > 0) >= 4
            && said(&|view| !view.row.missing_calls.is_empty()) >= 2
    );
    assert!(said(&|view| view.row.failed_calls > 0) >= 4);
}

#[test]
fn benchmark_folders_are_runs_with_their_tasks_answers_and_expected_output() {
    let mut folders = vec![beside_the_project("tests/fixtures/benchmark")];
    folders.extend(
        Some(beside_the_project("../shared/golden/benchmark")).filter(|golden| golden.exists()),
    );
    for folder in folders {
        let bench = Bench::new().open_at(folder.to_str().unwrap());
        let views = opened(&bench);
        assert!(views.len() > 5);
        for view in &views {
            let row = &view.row;
            let coordinates = (
                row.task.is_some(),
                row.system.is_some(),
                row.model.is_some(),
                row.seconds.is_some(),
            );
            assert_eq!(coordinates, (true, true, true, true), "{}", row.path);
            let task = view.task.as_ref().unwrap_or_else(|| panic!("{} has no task", row.path));
            assert!(
                task.expected.is_some() && task.prompt.is_some(),
                "{}: {} expects nothing",
                row.path,
                task.id
            );
            assert!(task.parameters.iter().any(|fact| fact.key == "n"), "{}", row.path);
            assert_eq!(view.answer.is_some(), row.state == RunState::Answered, "{}", row.path);
            assert!(view.steps.iter().all(|step| step.kind != StepKind::Unknown), "{}", row.path);
        }
        let problems = bench.app().folder().problems(Span { offset: 0, limit: 100 }).unwrap();
        println!(
            "cases: {} runs, {} tasks, {} problems",
            views.len(),
            bench.status().counts.tasks,
            problems.total
        );
        assert_eq!(problems.total, 0, "{:?}", problems.problems);
    }
}

#[test]
fn runs_of_a_benchmark_folder_are_scored_against_the_files_their_tasks_name() {
    let bench =
        Bench::new().open_at(beside_the_project("tests/fixtures/benchmark").to_str().unwrap());
    assert_eq!(bench.status().counts.tasks, 3);
    let scored: Vec<_> = bench
        .rows()
        .into_iter()
        .map(|row| {
            (
                row.path.trim_start_matches("late_crossings/").to_owned(),
                row.state,
                row.score,
                row.passed,
            )
        })
        .collect();
    let row = |path: &str, state, score, passed| (path.to_owned(), state, score, passed);
    assert_eq!(
        scored,
        [
            row(
                "claude/tool_calling/retrieval/last_3_run_1",
                RunState::Answered,
                Some(1.0),
                Some(true)
            ),
            row("claude/tool_calling/retrieval/last_3_run_2", RunState::Error, None, None),
            // An answer in reverse order.
            row(
                "claude/tool_calling_python/retrieval/last_3_run_1",
                RunState::Answered,
                Some(0.0),
                Some(false)
            ),
            row("o1/promptql/retrieval/last_3_run_1", RunState::Answered, Some(1.0), Some(true)),
            row("o1/promptql/retrieval/last_3_run_2", RunState::NoAnswer, Some(0.0), Some(false)),
            row(
                "o3-mini/tool_calling/oracle/last_4_run_1",
                RunState::Answered,
                Some(1.0),
                Some(true)
            ),
        ]
    );
}

#[test]
fn real_benchmark_runs_are_scored_in_the_list_as_the_published_benchmark_scores_them() {
    let golden = beside_the_project("../shared/golden/benchmark");
    if !golden.exists() {
        println!("cases: 0 (the real benchmark folder is not there)");
        return;
    }
    let bench = Bench::new().open_at(golden.to_str().unwrap());
    let rows = bench.rows();
    let all: Vec<serde_json::Value> =
        PUBLISHED.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for published in &all {
        let path = published["run"].as_str().unwrap();
        let row = rows
            .iter()
            .find(|row| row.path == path)
            .unwrap_or_else(|| panic!("{path} is not in the list"));
        let wanted = published["score"].as_f64().unwrap();
        assert_eq!(
            (row.scoring, row.scorer.as_deref()),
            (Some(ScoreStanding::Scored), Some("kendall_tau")),
            "{path}"
        );
        let score = row.score.unwrap();
        assert!((score - wanted).abs() < 1e-12, "{path}: {score} instead of {wanted}");
        let scores = bench.app().scoring().run_scores(&row.id).unwrap();
        assert_eq!(
            scores.scores.iter().map(|one| one.scorer.as_str()).collect::<Vec<_>>(),
            ["kendall_tau", "fields"]
        );
        assert!(
            scores.scores.iter().all(|one| !one.reason.is_empty()),
            "{path}: a score without its reason"
        );
        let class = match (row.state, row.passed) {
            (_, Some(true)) => None,
            (RunState::Answered, _) => Some(FailureClass::WrongAnswer),
            _ => row.class,
        };
        assert_eq!(row.class, class, "{path}");
        println!("{score:.4}  {path}  {}", row.score_reason.as_deref().unwrap_or_default());
    }
    println!("cases: {} runs scored as published", all.len());
    assert_eq!(rows.iter().filter(|row| row.scoring.is_some()).count(), all.len());
}

#[test]
fn every_run_of_the_sample_data_is_scored_or_says_why_not() {
    let bench = Bench::new().open_at(beside_the_project("demo").to_str().unwrap());
    let rows = bench.rows();
    for row in &rows {
        let standing = row.scoring.unwrap_or_else(|| panic!("{} is not scored", row.path));
        let expected = match row.state {
            // Some variations of the sample data have no expected output.
            RunState::Answered | RunState::NoAnswer if standing == ScoreStanding::NoExpected => {
                standing
            }
            RunState::Answered | RunState::NoAnswer => ScoreStanding::Scored,
            RunState::Error => ScoreStanding::Error,
            _ => ScoreStanding::NotEnded,
        };
        assert_eq!(standing, expected, "{}: {:?}", row.path, row.score_reason);
        println!(
            "{:<24} {:>5}  {}  {}",
            format!("{:?}", row.state),
            row.score.map(|score| format!("{score:.2}")).unwrap_or_default(),
            row.path,
            row.score_reason.as_deref().unwrap_or_default()
        );
    }
    let passed = |wanted| rows.iter().filter(|row| row.passed == Some(wanted)).count();
    assert!(passed(true) > 5 && passed(false) > 5, "{} right, {} not", passed(true), passed(false));
}
