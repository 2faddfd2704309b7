//! Tests of the failure map: runs are read in the background, once for each content of their files,
//! and compared with the passing runs of their tasks.
use super::bench::{Bench, DEADLINE, wait_until};
use super::running::stage::says;
use super::scripted::Scripted;
use fs_err as fs;
use std::path::Path;
use touchstone_api::{
    FailureMap, FailuresRequest, FailuresState, NameCausesRequest, PassingRunOf, ReportFormat,
    ReportRequest, Stale,
};
use touchstone_app::App;
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
        Some(app.failures().map(request).unwrap()).filter(|map| map.state == FailuresState::Done)
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
fn a_report_does_not_wait_for_many_transcripts_and_says_how_many_it_covers() {
    let failed = transcript("count", "error: 'no table t'", "1");
    let bench = Bench::new().file("tasks/count.yaml", TASK).file(&name("o1", 1), &failed).open();
    let all = FailuresRequest::default();
    // Reading is stopped, so that nothing is read meanwhile.
    complete_map(bench.app(), &all);
    bench.app().failures().map(&all).unwrap();
    bench.app().failures().stop_failures(&all).unwrap();
    for at in 2..=151 {
        bench.put(&name("o1", at), &failed);
    }
    wait_until("all are listed", || {
        (bench.app().folder().status().counts.runs == 151).then_some(())
    });
    let report = |format| {
        bench.app().reports().make_report(&ReportRequest::for_format(format), true).unwrap()
    };
    let first = report(ReportFormat::Json);
    let causes = |report: &touchstone_api::Report| {
        let json: serde_json::Value = serde_json::from_str(&report.text).unwrap();
        ["read", "failed"].map(|key| json["causes"][key].as_u64().unwrap())
    };
    assert_eq!((causes(&first), first.causes_unread), ([1, 151], 150));
    bench.app().failures().whole_map(&all, false, &|_, _| ()).unwrap();
    let last = report(ReportFormat::Json);
    assert_eq!((causes(&last), last.causes_unread), ([151, 151], 0));
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
fn a_number_of_another_tool_without_a_threshold_is_no_failure() {
    const OK: &str = r#"{"name": "ok", "value": 1, "stringValue": "True", "dataType": "BOOLEAN", "comment": "fine"}, "#;
    let lines = include_str!("../../src-tauri/imports/tests/fixtures/langfuse/lines.jsonl");
    assert!(lines.contains(OK));
    let without = lines.replace(OK, "").replace("\"tone\"", "\"toxicity\"");
    let bench = Bench::new().file("results/lines.jsonl", without).open();
    let map = complete_map(bench.app(), &filtered("-state:error"));
    assert_eq!((map.failed, causes(&map)), (0, Vec::new()));
    // A verdict of the tool decides, as ever.
    bench.write(
        "results/lines.jsonl",
        lines.replace(
            "\"value\": 1, \"stringValue\": \"True\"",
            "\"value\": 0, \"stringValue\": \"False\"",
        ),
    );
    wait_until("the verdicts are read", || {
        let map = complete_map(bench.app(), &filtered("-state:error"));
        (map.failed > 0).then_some(())
    });
}

#[test]
fn a_run_is_read_again_only_when_its_file_changes() {
    let bench = bench();
    let request = filtered("");
    complete_map(bench.app(), &request);
    let known = bench.app().failures().map(&request).unwrap();
    assert_eq!(known.state, FailuresState::Done, "nothing is left to read");
    bench.put(&name("o3", 3), transcript("count", "result: 7", "-7"));
    let title = "Answer has the wrong sign";
    wait_until("the changed run has another cause", || {
        let map = bench.app().failures().map(&request).unwrap();
        map.clusters.iter().any(|one| one.title == title).then_some(())
    });
}

/// Typing `m`, `mo`, `model:o3` asks for three maps; only the last one goes on.
#[test]
fn a_filter_that_is_typed_leaves_no_reading_behind() {
    let bench = bench();
    for typed in ["count", "count tool", "model:o3"] {
        bench.app().failures().map(&filtered(typed)).unwrap();
    }
    assert_eq!(complete_map(bench.app(), &filtered("model:o3")).read, 3);
    // What was passed over goes on when it is asked for again, and is not called stopped.
    let map = bench.app().failures().map(&filtered("count")).unwrap();
    assert_ne!(map.state, FailuresState::Stopped);
    complete_map(bench.app(), &filtered("count"));
}

#[test]
fn a_map_that_is_made_is_used_until_something_changes() {
    let bench = bench();
    let first = complete_map(bench.app(), &filtered(""));
    assert_eq!(bench.app().failures().map(&filtered("")).unwrap(), first);
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
    bench.app().failures().map(&request).unwrap();
    bench.app().failures().stop_failures(&request).unwrap();
    let map = bench.app().failures().map(&request).unwrap();
    assert_ne!(map.state, FailuresState::Running);
    bench.app().failures().resume_failures(&request).unwrap();
    assert_eq!(complete_map(bench.app(), &request).read, 3);
}

#[test]
fn an_unknown_scorer_and_a_closed_folder_are_errors() {
    let bench = bench();
    let request = FailuresRequest { scorer: Some("felds".to_owned()), ..filtered("") };
    assert_eq!(bench.app().failures().map(&request).unwrap_err().code, Code::BadRequest);
    bench.app().folder().close_folder().unwrap();
    assert!(bench.app().failures().map(&filtered("")).is_err());
}

/// The sample data has a run for nearly every cause; a person named them beside the transcripts.
#[test]
fn the_causes_of_the_sample_data_are_those_it_was_made_with() {
    let demo = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../demo");
    let bench = Bench::new();
    let app = bench.app_with(Some(fs::canonicalize(demo).unwrap()));
    app.folder().open_demo().unwrap();
    app.folder().wait_ready(DEADLINE).unwrap();
    let map = app.failures().whole_map(&filtered(""), true, &|_, _| ()).unwrap().0;
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
    // A report hands out the same, with the most frequent cause in its opening.
    let report =
        |format| app.reports().make_report(&ReportRequest::for_format(format), true).unwrap().text;
    let html = report(ReportFormat::Html);
    let (opening, rest) = html.split_once("id=\"summary\"").unwrap();
    assert!(opening.contains("What goes wrong most: “Wrong values”, in 13 of 27 failed runs."));
    assert!(rest.contains("Never called <code>query_support_tickets</code>"));
    assert!(
        report(ReportFormat::Markdown).contains("| · Never called `query_support_tickets` | 2 |")
    );
    let json: serde_json::Value = serde_json::from_str(&report(ReportFormat::Json)).unwrap();
    let runs = json["causes"]["lines"].as_array().unwrap().iter();
    let runs: u64 = runs.map(|line| line["runs"].as_u64().unwrap()).sum();
    assert_eq!((runs, json["causes"]["read"].as_u64()), (27, Some(27)));
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
        let step = bench.app().failures().run_cause(&id).unwrap().unwrap().decisive.unwrap();
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
        bench.app().failures().run_cause(&bench.row(&path).unwrap().id).unwrap()
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

/// A folder with failed runs, and a model that is served by the scripted server.
fn with_model(server: &Scripted) -> Bench {
    let workspace = format!(
        "input_dir: tasks\noutput_dir: results\nmodels:\n  scripted: {{ provider: openai, base_url: '{}', \
         model: any, price: {{ input: 1.0, output: 2.0 }} }}\n",
        server.url("/v1")
    );
    let bench = bench();
    bench.write("touchstone.yaml", workspace);
    bench.close().open()
}

fn naming(max_cost: Option<f64>) -> NameCausesRequest {
    NameCausesRequest { failures: filtered(""), model: "scripted".to_owned(), max_cost }
}

#[test]
fn a_model_names_the_causes_once_and_the_mined_names_stay() {
    let server = Scripted::start(|seen| {
        let message = seen.json()["messages"][1]["content"].as_str().unwrap_or_default().to_owned();
        assert!(message.contains("\n| "), "what is copied stands behind a bar: {message}");
        says(if message.contains("no table") {
            "Asks for a table that is gone."
        } else {
            "Off by a factor"
        })
    });
    let bench = with_model(&server);
    let unread = bench.app().failures().plan_cause_names(&naming(None));
    if let Err(error) = unread {
        assert_eq!(error.message, "Not all failed runs have been read.");
    }
    let before = complete_map(bench.app(), &filtered(""));
    let plan = bench.app().failures().plan_cause_names(&naming(None)).unwrap();
    assert_eq!((plan.requests, plan.named, server.seen().len()), (2, 0, 0));
    assert!(plan.cost.is_some_and(|cost| cost > 0.0) && plan.example.unwrap().contains("no table"));
    let done = bench.app().failures().name_causes(&naming(None), &|| 0, &|_| ()).unwrap();
    assert_eq!((done.done, done.all, done.requests, done.why), (2, 2, 2, None));
    let map = complete_map(bench.app(), &filtered(""));
    assert_eq!(causes(&map), causes(&before));
    let named: Vec<_> = map.clusters.iter().filter_map(|one| one.named.as_ref()).collect();
    assert_eq!(named[0].name, "Asks for a table that is gone");
    assert_eq!(named.iter().map(|one| one.model.as_str()).collect::<Vec<_>>(), ["scripted"; 2]);
    // Names are kept, and so are replies: without the file of names nothing is paid for again.
    assert_eq!(bench.app().failures().plan_cause_names(&naming(None)).unwrap().requests, 0);
    fs::remove_file(bench.path("results/.touchstone/cause-names.json")).unwrap();
    let again = bench.app().failures().name_causes(&naming(None), &|| 0, &|_| ()).unwrap();
    assert_eq!((again.done, again.requests, server.seen().len()), (2, 0, 2));
    // A file that cannot be read is not replaced.
    bench.write("results/.touchstone/cause-names.json", "[");
    assert!(bench.app().failures().name_causes(&naming(None), &|| 0, &|_| ()).is_err());
    assert_eq!(
        fs::read_to_string(bench.path("results/.touchstone/cause-names.json")).unwrap(),
        "["
    );
}

#[test]
fn naming_stops_at_its_budget_goes_on_in_the_background_and_asks_no_replay() {
    let server = Scripted::start(|_| says("A name"));
    let bench = with_model(&server);
    complete_map(bench.app(), &filtered(""));
    let done = bench.app().failures().name_causes(&naming(Some(0.0001)), &|| 0, &|_| ()).unwrap();
    assert_eq!((done.done, server.seen().len()), (1, 1));
    assert!(done.why.unwrap().starts_with("The budget of $0.0001 is spent"));
    bench.app().failures().start_cause_names(&naming(None)).unwrap();
    let view = wait_until("all causes are named", || {
        let map = bench.app().failures().map(&filtered("")).unwrap();
        map.naming.filter(|naming| !naming.is_running)
    });
    assert_eq!((view.done, view.all, view.why), (1, 1, None));
    assert_eq!(server.seen().len(), 2);
    let replay = NameCausesRequest { model: "replay".to_owned(), ..naming(None) };
    assert!(bench.app().failures().plan_cause_names(&replay).is_err());
    let unknown = NameCausesRequest { model: "nobody".to_owned(), ..naming(None) };
    assert!(bench.app().failures().plan_cause_names(&unknown).is_err());
}

#[test]
fn of_sensitive_runs_nothing_is_sent_to_a_model_and_their_errors_name_no_cause() {
    let server = Scripted::start(|seen| {
        let message = seen.json()["messages"][1]["content"].as_str().unwrap_or_default().to_owned();
        assert!(message.contains("t_9") && message.contains("| other\n"), "{message}");
        let leaks = ["t_1", "t_2", "| count\n", "left out"];
        assert!(leaks.iter().all(|leak| !message.contains(leak)), "{message}");
        says("Asks for a table that is gone")
    });
    let bench = with_model(&server);
    bench.write("results/.touchstone/sensitive/m.json", "{\"tasks\": [\"count\"]}");
    let map = complete_map(bench.app(), &filtered(""));
    let told = causes(&map);
    assert_eq!(told[0], ("`count` failed: [sensitive text left out] 1", 2));
    let text = serde_json::to_string(&map).unwrap();
    assert!(!text.contains("no table"), "{text}");
    assert_eq!(bench.app().failures().plan_cause_names(&naming(None)).unwrap().requests, 0);
    let done = bench.app().failures().name_causes(&naming(None), &|| 0, &|_| ()).unwrap();
    assert_eq!((done.all, server.seen().len()), (0, 0));
    // What such a run has in common with others is theirs as well.
    let other = "results/other-tool_calling-o3-variation0.yaml";
    bench.write("tasks/other.yaml", TASK);
    bench.write(other, transcript("count", "error: 'no table t_9'", "1"));
    wait_until("the other run is counted", || {
        (complete_map(bench.app(), &filtered("")).failed == 4).then_some(())
    });
    let map = complete_map(bench.app(), &filtered(""));
    assert_eq!(causes(&map)[0], ("`count` failed: no table <id>", 3));
    let done = bench.app().failures().name_causes(&naming(None), &|| 0, &|_| ()).unwrap();
    assert_eq!((done.done, done.all, server.seen().len()), (1, 1, 1));
}
