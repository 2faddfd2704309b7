//! Compares `kendall_tau` with scipy, on synthetic lists and on published runs of a benchmark.
//! Those runs are not part of the repository; without them that test does nothing.
use super::{float, format_score, rows};
use std::path::{Path, PathBuf};
use touchstone_formats::benchmark::{self, Parts};
use touchstone_formats::suite::{self, Expected, Task};
use touchstone_model::value::Value;
use touchstone_scoring::scorers::{
    Case, Outcome, Scored, Scorer, benchmark_scorers, defaults, score,
};

/// Output of `scripts/order-oracle.py lists` and `runs`.
const LISTS: &str = include_str!("lists.jsonl");
const RUNS: &str = include_str!("runs.jsonl");

fn score_case(scorer: &Scorer, case: &Case<'_>) -> Scored {
    match score(scorer, case) {
        Outcome::Scored(found) => found,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_order_of_lists_scores_as_scipy_says() {
    let scorer = super::scorer("kendall_tau");
    let all = rows(LISTS);
    for row in &all {
        let case =
            Case { expected: row.get("expected"), answer: row.get("answer"), ..Case::default() };
        let wanted = float(row.get("score").unwrap());
        let found = score_case(&scorer, &case);
        assert!(
            (found.score.unwrap() - wanted).abs() < 1e-12,
            "{} instead of {wanted}: {row:?}",
            format_score(&found)
        );
        assert_eq!(found.passed, Some(wanted >= 1.0));
    }
    eprintln!("{} lists as scipy says", all.len());
}

/// Returns the benchmark folder, if it is present.
fn folder() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/golden/benchmark");
    if !folder.is_dir() {
        eprintln!("skipped: there is no {}", folder.display());
        return None;
    }
    Some(folder)
}

fn task(folder: &Path, name: &str) -> Task {
    let queries = folder.join("queries").join(name);
    let file = std::fs::read_dir(&queries).unwrap().map(|entry| entry.unwrap().path());
    let file = file.filter(|path| path.extension().is_some_and(|end| end == "yaml")).min().unwrap();
    suite::read(&std::fs::read_to_string(file).unwrap(), name).unwrap().tasks.remove(0)
}

/// Returns the expected output of each variation, by its name.
fn truths(folder: &Path, task: &Task) -> Vec<(String, Value)> {
    let truth = |variation: &suite::Variation| {
        let Expected::File(path) = &variation.expected else { panic!("{variation:?}") };
        let text =
            std::fs::read_to_string(folder.join("queries").join(&task.id).join(path)).unwrap();
        (variation.name.clone().unwrap(), suite::ground_truth(path, &text).unwrap())
    };
    task.variations.iter().map(truth).collect()
}

#[test]
fn published_runs_score_as_the_benchmark_says() {
    let Some(folder) = folder() else { return };
    let all = rows(RUNS);
    eprintln!("{:<82} {:<12} {:>7}  {:>7}  reason", "run", "published", "score", "fields");
    for row in &all {
        let name = row.get("run").and_then(Value::text).unwrap();
        let task = task(&folder, name.split('/').next().unwrap());
        let variation = name.rsplit('/').next().unwrap().rsplit_once("_run_").unwrap().0;
        let (_, truth) =
            truths(&folder, &task).into_iter().find(|(name, _)| name == variation).unwrap();
        let bytes =
            |end: &str| std::fs::read(folder.join("results").join(format!("{name}.{end}"))).ok();
        let (result, history) = (bytes("result"), bytes("history"));
        let parts =
            Parts { result: result.as_deref(), history: history.as_deref(), ..Parts::default() };
        let answer = benchmark::read(&parts).unwrap().answer.map(|answer| answer.value);
        let case = Case {
            expected: Some(&truth),
            answer: answer.as_ref(),
            key: task.artifact_key.as_deref(),
            ..Case::default()
        };
        let [scorer] = &benchmark_scorers(Some(&truth))[..] else {
            panic!("one scorer is used for {name}")
        };
        let [usual] = &defaults(Some(&truth))[..] else { panic!("one scorer is usual for {name}") };
        assert_eq!((scorer.name(), usual.name()), ("kendall_tau", "fields"));
        let (found, fields) = (score_case(scorer, &case), score_case(usual, &case));
        let (ours, wanted) = (found.score.unwrap(), float(row.get("score").unwrap()));
        eprintln!(
            "{name:<82} {:<12} {ours:>7.4}  {:>7.4}  {}",
            scorer.name(),
            fields.score.unwrap(),
            found.reason
        );
        assert!((ours - wanted).abs() < 1e-12, "{name}: {ours} instead of {wanted}");
    }
    eprintln!("{} runs score as the benchmark says", all.len());
}

#[test]
fn every_published_expected_output_has_the_scorer_that_the_benchmark_uses_and_is_right_by_it() {
    let Some(folder) = folder() else { return };
    let mut count = 0;
    for (name, scorer) in [
        ("score_based_prioritization", "kendall_tau"),
        ("rule_based_prioritization_3", "kendall_tau"),
        ("rule_based_prioritization_5", "kendall_tau"),
        ("ticket_resolution_time_1", "numeric"),
        ("ticket_resolution_time_2", "numeric"),
    ] {
        for (variation, truth) in truths(&folder, &task(&folder, name)) {
            let of_the_benchmark = benchmark_scorers(Some(&truth));
            assert_eq!(
                of_the_benchmark.iter().map(Scorer::name).collect::<Vec<_>>(),
                [scorer],
                "{name} {variation}"
            );
            for scorer in of_the_benchmark.iter().chain(&defaults(Some(&truth))) {
                let case = Case { expected: Some(&truth), answer: Some(&truth), ..Case::default() };
                let found = score_case(scorer, &case);
                assert_eq!(
                    (found.score, found.passed),
                    (Some(1.0), Some(true)),
                    "{name} {variation} {}",
                    found.reason
                );
            }
            count += 1;
        }
    }
    eprintln!("{count} expected outputs are right by the scorers of the benchmark");
}

#[test]
fn called_apis_score_as_computed_elsewhere() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared/golden/stabletoolbench/api_scores.jsonl");
    let Ok(text) = std::fs::read_to_string(&path) else {
        return eprintln!("skipped: there is no {}", path.display());
    };
    let scorer = super::scorer("api_calls");
    let all = rows(&text);
    for row in &all {
        let pairs = |key: &str| -> Vec<String> {
            let pair = |pair: &Value| {
                pair.items().iter().filter_map(Value::text).collect::<Vec<_>>().join("\n")
            };
            row.get(key).unwrap().items().iter().map(pair).collect()
        };
        let calls: Vec<(String, bool)> =
            pairs("called_pairs_first").into_iter().map(|name| (name, false)).collect();
        let gold = pairs("gold");
        let found =
            score_case(&scorer, &Case { expected_calls: &gold, calls: &calls, ..Case::default() });
        let wanted = float(row.get("api_call_score").unwrap());
        assert!(
            (found.score.unwrap() - wanted).abs() < 1e-12,
            "{} instead of {wanted}",
            format_score(&found)
        );
    }
    eprintln!("{} runs called what was counted elsewhere", all.len());
}
