//! Tests of the failure map: runs are read in the background, once for each content of their files,
//! and compared with the passing runs of their tasks.
use super::bench::{Bench, DEADLINE, wait_until};
use fs_err as fs;
use std::path::Path;
use touchstone_api::{FailureMap, FailuresRequest, FailuresState, PassingRunOf, Stale};
use touchstone_app::app::App;
use touchstone_app::error::Code;

const TASK: &str = "tool_calling_prompt: Count.\nexpected_output: 7\n";

fn transcript(tool: &str, outcome: &str, answer: &str) -> String {
    format!(
        "conversation:\n- user_message: Count.\n- tool_call: {{ name: {tool}, params: {{ of: a }}, \
         {outcome} }}\n- assistant_message: There are {answer}.\nanswer: {answer}\n"
    )
}

fn name(model: &str, repeat: usize) -> String {
    let again = if repeat > 1 { format!("-run{repeat}") } else { String::new() };
    format!("results/count-tool_calling-{model}-variation0{again}.yaml")
}

/// A passing run of one model, and three failed ones of another.
fn bench() -> Bench {
    let lost = |id: usize| format!("error: 'no table t_{id}'");
    Bench::new()
        .file("touchstone.yaml", "input_dir: tasks\noutput_dir: results\n")
        .file("tasks/count.yaml", TASK)
        .file(&name("o1", 1), transcript("count", "result: 7", "7"))
        .file(&name("o3", 1), transcript("count", &lost(1), "1"))
        .file(&name("o3", 2), transcript("count", &lost(2), "2"))
        .file(&name("o3", 3), transcript("count", "result: 7", "700"))
        .open()
}

fn filtered(filter: &str) -> FailuresRequest {
    FailuresRequest { filter: filter.to_owned(), scorer: None }
}

/// Waits until all transcripts are read.
fn complete_map(app: &App, request: &FailuresRequest) -> FailureMap {
    wait_until("all failed runs are read", || {
        Some(app.failures(request).unwrap()).filter(|map| map.state == FailuresState::Done)
    })
}

fn causes(map: &FailureMap) -> Vec<(&str, u64)> {
    let main = map.clusters.iter().filter(|cluster| cluster.runs > 0);
    main.map(|cluster| (cluster.title.as_str(), cluster.runs)).collect()
}

#[test]
fn runs_are_read_in_the_background_and_their_causes_are_counted() {
    let bench = bench();
    let map = complete_map(bench.app(), &filtered(""));
    assert_eq!((map.runs, map.failed, map.read, map.unreadable), (4, 3, 3, 0));
    assert_eq!(
        causes(&map),
        [("`count` failed: no table <id>", 2), ("Answer is too large by a factor of 100", 1)]
    );
    let share = map.clusters[0].shares[0];
    assert_eq!((share.runs, share.failed, share.all), (2, 3, 3));
    assert_eq!(map.groups[share.group].name, "tool_calling/o3");
    wait_until("the page is told", || bench.events().contains(&Stale::Failures).then_some(()));
}

#[test]
fn sensitive_runs_are_not_quoted() {
    let quotes = |bench: &Bench| {
        let clusters = complete_map(bench.app(), &filtered("")).clusters.into_iter();
        let examples = clusters.flat_map(|cluster| cluster.examples);
        examples.map(|one| one.quote).filter(|quote| !quote.is_empty()).collect::<Vec<_>>()
    };
    let open = bench();
    assert!(quotes(&open).iter().any(|quote| quote.contains("no table")));
    open.write("results/.touchstone/sensitive/damaged.json", "{");
    let folded = quotes(&open);
    assert!(!folded.is_empty(), "a mark that cannot be read folds everything");
    assert!(folded.iter().all(|quote| quote == "[sensitive text left out]"), "{folded:?}");
}

#[test]
fn a_failed_run_is_compared_with_passing_runs_outside_the_filter() {
    let bench = bench();
    let map = complete_map(bench.app(), &filtered("model:o3"));
    let decisive = |title: &str| {
        let cluster = map.clusters.iter().find(|one| one.title.starts_with(title)).unwrap();
        let step = cluster.examples[0].decisive.clone().unwrap();
        assert!(step.baseline_path.ends_with("count-tool_calling-o1-variation0.yaml"), "{step:?}");
        step.step
    };
    assert_eq!(decisive("`count` failed"), 1, "the call that fails");
    assert_eq!(decisive("Answer"), 2, "the answer");
}

#[test]
fn a_run_is_read_again_only_when_its_file_changes() {
    let bench = bench();
    let request = filtered("");
    complete_map(bench.app(), &request);
    let known = bench.app().failures(&request).unwrap();
    assert_eq!(known.state, FailuresState::Done, "nothing is left to read");
    bench.put(&name("o3", 3), transcript("count", "result: 7", "-7"));
    let title = "Answer has the wrong sign";
    wait_until("the changed run has another cause", || {
        let map = bench.app().failures(&request).unwrap();
        map.clusters.iter().any(|one| one.title == title).then_some(())
    });
}

/// Typing `m`, `mo`, `model:o3` asks for three maps; only the last one goes on.
#[test]
fn a_filter_that_is_typed_leaves_no_reading_behind() {
    let bench = bench();
    for typed in ["count", "count tool", "model:o3"] {
        bench.app().failures(&filtered(typed)).unwrap();
    }
    assert_eq!(complete_map(bench.app(), &filtered("model:o3")).read, 3);
    // What was passed over goes on when it is asked for again, and is not called stopped.
    let map = bench.app().failures(&filtered("count")).unwrap();
    assert_ne!(map.state, FailuresState::Stopped);
    complete_map(bench.app(), &filtered("count"));
}

#[test]
fn a_map_that_is_made_is_used_until_something_changes() {
    let bench = bench();
    let first = complete_map(bench.app(), &filtered(""));
    assert_eq!(bench.app().failures(&filtered("")).unwrap(), first);
    bench.put(&name("o3", 4), transcript("count", "result: 7", "-7"));
    wait_until("the new run is in the map", || {
        let map = complete_map(bench.app(), &filtered(""));
        (map.failed == 4).then_some(())
    });
}

#[test]
fn what_was_stopped_stays_stopped_until_it_is_resumed() {
    let bench = bench();
    let request = filtered("");
    // Whether it was done before it was stopped depends on the machine.
    bench.app().failures(&request).unwrap();
    bench.app().stop_failures(&request).unwrap();
    let map = bench.app().failures(&request).unwrap();
    assert_ne!(map.state, FailuresState::Running);
    bench.app().resume_failures(&request).unwrap();
    assert_eq!(complete_map(bench.app(), &request).read, 3);
}

#[test]
fn an_unknown_scorer_and_a_closed_folder_are_errors() {
    let bench = bench();
    let request = FailuresRequest { scorer: Some("felds".to_owned()), ..filtered("") };
    assert_eq!(bench.app().failures(&request).unwrap_err().code, Code::BadRequest);
    bench.app().close_folder().unwrap();
    assert!(bench.app().failures(&filtered("")).is_err());
}

/// The sample data has a run for nearly every cause; a person named them beside the transcripts.
#[test]
fn the_causes_of_the_sample_data_are_those_it_was_made_with() {
    let demo = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../demo");
    let bench = Bench::new();
    let app = bench.app_with(Some(fs::canonicalize(demo).unwrap()));
    app.open_demo().unwrap();
    app.wait_ready(DEADLINE).unwrap();
    let map = app.failures_now(&filtered(""), true, &|_, _| ()).unwrap().0;
    assert_eq!((map.runs, map.failed, map.unreadable), (66, 27, 0));
    let errors = map.errors;
    assert_eq!(errors, 4);
    let causes = causes(&map);
    for cause in [
        ("Rows are missing", 5),
        ("Field `tickets` has another value", 3),
        ("Never called `query_support_tickets`", 2),
        ("Ended without an answer", 2),
        ("Timed out", 1),
        ("Asked a question instead of answering", 1),
        ("Field `overdue_eur` is too large by a factor of 100", 1),
        ("Field `priority_score` is rounded too much", 1),
    ] {
        assert!(causes.contains(&cause), "{cause:?}: {causes:#?}");
    }
    assert_eq!(causes.iter().map(|(_, runs)| runs).sum::<u64>(), map.failed);
}

#[test]
fn a_failed_run_is_compared_with_a_passing_run_that_is_as_like_it_as_there_is() {
    let failed = transcript("count", "error: 'no table t'", "1");
    let passed = transcript("count", "result: 7", "7");
    let path = |place: &str| format!("results/count-{place}.yaml");
    let compared = |passing: &[&str]| {
        let bench = Bench::new()
            .file("tasks/count.yaml", TASK)
            .file(&path("tool_calling-o3-variation0"), &failed);
        let bench = passing.iter().fold(bench, |bench, place| bench.file(&path(place), &passed));
        let bench = bench.open();
        let id = bench.row("count-tool_calling-o3-variation0.yaml").unwrap().id;
        let step = bench.app().run_cause(&id).unwrap().unwrap().decisive.unwrap();
        (step.baseline_name, step.baseline_of)
    };
    let other = "tool_calling_python-claude-variation0";
    let (system, model) = ("tool_calling-claude-variation0", "tool_calling-o3-variation0-run2");
    assert_eq!(
        compared(&[other]),
        ("tool_calling_python/claude".to_owned(), PassingRunOf::OtherSystem)
    );
    assert_eq!(
        compared(&[other, system]),
        ("tool_calling/claude".to_owned(), PassingRunOf::SameSystem)
    );
    assert_eq!(
        compared(&[other, system, model]),
        ("tool_calling/o3".to_owned(), PassingRunOf::SameSystemAndModel)
    );
}

#[test]
fn a_failed_run_says_its_cause_as_the_map_does_and_other_runs_have_none() {
    let bench = bench();
    let cause = |model: &str, repeat: usize| {
        let path = name(model, repeat).replace("results/", "");
        bench.app().run_cause(&bench.row(&path).unwrap().id).unwrap()
    };
    assert_eq!(cause("o1", 1), None, "it passed");
    assert!(cause("o3", 1).unwrap().title.starts_with("`count` failed"));
    let map = complete_map(bench.app(), &filtered(""));
    let one = cause("o3", 1).unwrap();
    let cluster = map.clusters.iter().find(|cluster| cluster.title == one.title).unwrap();
    assert_eq!(
        (one.mode, &one.subject, &one.detail),
        (cluster.mode, &cluster.subject, &cluster.detail)
    );
    assert_eq!(one.step, cluster.examples[0].step);
    assert!(!one.quote.is_empty());
}
