//! Tests of replacing evaluation results: previous results are kept, and source files are never
//! overwritten.
use super::bench::Bench;
use super::evaluating::{OUT, ROWS, bench, evaluate, refused, request, scored};
use super::scripted::Scripted;
use fs_err as fs;
use touchstone_api::EvaluateRequest;
use touchstone_app::evaluating::FileRequest;

/// Returns the files in a folder whose names begin with `stem`, oldest first.
fn copies(bench: &Bench, folder: &str, stem: &str) -> Vec<String> {
    let mut paths: Vec<_> = fs::read_dir(bench.path(folder))
        .into_iter()
        .flatten()
        .map(|one| one.unwrap().path())
        .collect();
    paths.retain(|path| path.file_name().unwrap().to_string_lossy().starts_with(stem));
    paths.sort();
    paths.iter().map(|path| fs::read_to_string(path).unwrap()).collect()
}

#[test]
fn results_that_are_replaced_are_kept_with_their_replies() {
    let server = Scripted::always(scored(3));
    let bench = bench(&server);
    let first = request(&bench, &["relevance"]);
    evaluate(&bench, &first);
    let (old, replies) = (
        fs::read_to_string(bench.path(OUT)).unwrap(),
        "results/evaluations/.touchstone/evaluations",
    );
    let said = copies(&bench, replies, "rows");
    assert_eq!(said.len(), 1);
    evaluate(&bench, &EvaluateRequest { replace: true, ..first.clone() });
    // Equal results do not replace the file.
    assert_eq!(copies(&bench, "results/evaluations/.touchstone/replaced", "rows").len(), 0);
    let other = EvaluateRequest { replace: true, ..request(&bench, &["relevance", "f1_score"]) };
    assert_eq!(evaluate(&bench, &other).done, 6);
    assert_ne!(fs::read_to_string(bench.path(OUT)).unwrap(), old);
    let mut kept = copies(&bench, "results/evaluations/.touchstone/replaced", "rows");
    kept.extend(copies(&bench, "results/evaluations/.touchstone/replaced/evaluations", "rows"));
    assert_eq!(kept, [old, said[0].clone()]);
}

#[test]
fn results_are_never_written_over_what_they_are_made_of() {
    let server = Scripted::always(scored(3));
    let bench = bench(&server);
    bench.write("evaluators.yaml", "f1: { kind: f1_score }\n");
    fs::hard_link(bench.path("tasks/rows.jsonl"), bench.path("same.json")).unwrap();
    for out in ["tasks/rows.jsonl", "tasks/../tasks/rows.jsonl", "same.json", "evaluators.yaml"] {
        let before = fs::read(bench.path(out)).unwrap();
        let asked = FileRequest {
            data: bench.path("tasks/rows.jsonl"),
            config: Some(bench.path("evaluators.yaml")),
            out: Some(bench.path(out)),
            request: EvaluateRequest { replace: true, ..request(&bench, &["f1_score"]) },
            ..FileRequest::default()
        };
        let error = bench.app().evaluations().start_evaluating_file(&asked).unwrap_err();
        assert!(
            error.message.contains("which is their input") && error.hint.is_some(),
            "{out}: {error}"
        );
        assert_eq!(fs::read(bench.path(out)).unwrap(), before);
    }
    let own = bench.path("results/evaluations/own.json");
    fs::create_dir_all(own.parent().unwrap()).unwrap();
    fs::write(&own, ROWS).unwrap();
    let data = bench.app().evaluations().register_data(&own).unwrap().id;
    let error =
        refused(&bench, &EvaluateRequest { data, replace: true, ..request(&bench, &["f1_score"]) });
    assert!(error.message.contains("which is their input"), "{error}");
}
