//! Tests of evaluating data files: the results file, replies that are never paid for twice, and
//! rows that fail.
use super::bench::{Bench, DEADLINE, wait_until};
use super::judging::workspace;
use super::running::stage::{refuses, says};
use super::scripted::{Latch, Reply, Scripted, Seen};
use fs_err as fs;
use serde_json::Value;
use touchstone_api::{
    DataFile, EvaluateMetric, EvaluateRequest, EvaluatedRows, EvaluationView, EvaluatorRequest,
    LaunchState, Span,
};
use touchstone_app::App;
use touchstone_app::error::{AppError, Code};
use touchstone_app::evaluating::FileRequest;

pub(super) const ROWS: &str = r#"{"query": "When?", "response": "At seven.", "ground_truth": "At seven."}
{"query": "Where?", "response": "Over there.", "ground_truth": "Here."}
{"query": "Who?", "response": "Nobody.", "ground_truth": "Nobody at all."}
"#;
pub(super) const OUT: &str = "results/evaluations/rows.json";

pub(super) fn scored(score: u32) -> Reply {
    says(&format!(r#"{{"explanation": "So it is.", "score": {score}}}"#))
}

/// A folder with three rows and a judge.
pub(super) fn bench(server: &Scripted) -> Bench {
    Bench::new()
        .file("touchstone.yaml", workspace(server, ""))
        .file("tasks/rows.jsonl", ROWS)
        .open()
}

/// Like `bench`, with one request in flight at a time.
pub(super) fn one_at_a_time(server: &Scripted) -> Bench {
    let workspace = workspace(server, "").replace("concurrency: 2", "concurrency: 1");
    Bench::new().file("touchstone.yaml", workspace).file("tasks/rows.jsonl", ROWS).open()
}

pub(super) fn offered(bench: &Bench, name: &str) -> DataFile {
    let options = bench.app().evaluations().evaluate_options(true).unwrap();
    let found = options.files.into_iter().find(|file| file.path.ends_with(name));
    found.unwrap_or_else(|| panic!("{name} is not offered"))
}

pub(super) fn request(bench: &Bench, kinds: &[&str]) -> EvaluateRequest {
    let evaluator =
        |kind: &&str| EvaluatorRequest { kind: (*kind).to_owned(), ..EvaluatorRequest::default() };
    EvaluateRequest {
        data: offered(bench, "rows.jsonl").id,
        evaluators: kinds.iter().map(evaluator).collect(),
        model: "local".to_owned(),
        ..EvaluateRequest::default()
    }
}

pub(super) fn ended(app: &App, id: &str) -> EvaluationView {
    assert!(app.evaluations().wait_evaluation(id, DEADLINE).unwrap(), "the evaluation did not end");
    app.evaluations().view(id).unwrap()
}

pub(super) fn evaluate(bench: &Bench, request: &EvaluateRequest) -> EvaluationView {
    let id = bench.app().evaluations().start_evaluating(request).unwrap().evaluation;
    ended(bench.app(), &id)
}

pub(super) fn refused(bench: &Bench, request: &EvaluateRequest) -> AppError {
    bench.app().evaluations().start_evaluating(request).unwrap_err()
}

pub(super) fn results(bench: &Bench) -> Value {
    serde_json::from_str(&fs::read_to_string(bench.path(OUT)).unwrap()).unwrap()
}

pub(super) fn metric<'a>(view: &'a EvaluationView, name: &str) -> &'a EvaluateMetric {
    let found = view.metrics.iter().find(|metric| metric.name == name);
    found.unwrap_or_else(|| panic!("{name} is not in {:?}", view.metrics))
}

#[test]
fn a_judge_whose_model_reasons_is_asked_without_a_temperature_and_for_more_tokens() {
    for (options, reasons) in [("", false), (r#"{"is_reasoning_model": true}"#, true)] {
        let server = Scripted::always(scored(4));
        let bench = bench(&server);
        let mut request = request(&bench, &["response_completeness"]);
        options.clone_into(&mut request.evaluators[0].options);
        request.evaluators[0].mapping = vec![
            ("response".to_owned(), "${data.response}".to_owned()),
            ("ground_truth".to_owned(), "${data.response}".to_owned()),
        ];
        evaluate(&bench, &request);
        let asked = server.seen()[0].json();
        assert_eq!(
            asked.get("max_completion_tokens"),
            reasons.then_some(&60_000.into()),
            "{asked}"
        );
        assert_eq!(asked["messages"][0]["role"], "system");
    }
}

#[test]
fn rows_get_the_results_of_every_evaluator_and_nothing_is_asked_twice() {
    let server = Scripted::start(|seen| {
        scored(if seen.body.windows(7).any(|text| text == b"Nobody.") { 2 } else { 4 })
    });
    let bench = bench(&server);
    let request = request(&bench, &["relevance", "f1_score"]);
    let plan = bench.app().evaluations().plan_evaluating(&request).unwrap();
    assert_eq!((plan.rows, plan.calls_least, plan.calls_most, plan.kept), (3, 3, 6, 0));
    assert!(
        plan.cost_least > Some(0.0)
            && !plan.exists
            && plan.lacks.is_empty()
            && server.seen().is_empty()
    );
    let view = evaluate(&bench, &request);
    assert_eq!(
        (view.state, view.done, view.failed, view.calls),
        (LaunchState::Done, 6, 0, 3),
        "{view:?}"
    );
    assert_eq!(view.file.as_deref(), Some(OUT));
    let written = results(&bench);
    let row = &written["rows"][2];
    assert_eq!(
        (&row["inputs.query"], &row["outputs.relevance.relevance"]),
        (&"Who?".into(), &2.0.into()),
        "{row}"
    );
    assert_eq!(row["outputs.relevance.relevance_reason"], "So it is.");
    assert_eq!(row["outputs.f1_score.f1_score"], 0.5);
    assert_eq!(metric(&view, "relevance.relevance").n, 3);
    let again = refused(&bench, &request);
    assert!(again.message.contains("already") && again.hint.is_some(), "{again}");
    let request = EvaluateRequest { replace: true, ..request };
    let plan = bench.app().evaluations().plan_evaluating(&request).unwrap();
    assert_eq!((plan.calls_least, plan.calls_most, plan.kept, plan.exists), (0, 0, 3, true));
    let view = evaluate(&bench, &request);
    assert_eq!((view.done, view.calls, server.seen().len()), (6, 0, 3));
    assert_eq!(results(&bench), written);
    // The content of the results file is stored nowhere else.
    let kept = || bench.app().evaluations().evaluation_results(&view.id).unwrap();
    assert_eq!(kept(), Some(fs::read_to_string(bench.path(OUT)).unwrap()));
    fs::remove_file(bench.path(OUT)).unwrap();
    assert_eq!(kept(), None);
}

#[test]
fn what_was_stopped_goes_on_without_a_second_purchase() {
    let latch = Latch::default();
    let held = latch.clone();
    let server =
        Scripted::start(
            move |seen: &Seen| {
                if seen.number == 1 { scored(3).once_open(&held) } else { scored(3) }
            },
        );
    let bench = one_at_a_time(&server);
    let request = request(&bench, &["relevance"]);
    let id = bench.app().evaluations().start_evaluating(&request).unwrap().evaluation;
    server.wait_for(2);
    assert!(bench.app().folder().close_folder().unwrap_err().message.contains("being evaluated"));
    let elsewhere = refused(&bench, &request);
    assert!(elsewhere.message.contains("making these results"), "{elsewhere}");
    bench.app().evaluations().stop_evaluating(&id, false).unwrap();
    latch.open();
    let view = ended(bench.app(), &id);
    assert_eq!((view.state, view.why.as_deref()), (LaunchState::Stopped, Some("It was stopped.")));
    assert_eq!((view.done, server.seen().len()), (2, 2));
    assert!(view.file.is_none() && !bench.path(OUT).exists());
    let bench = bench.reopen();
    let view = evaluate(&bench, &request);
    assert_eq!(
        (view.state, view.done, view.calls, server.seen().len()),
        (LaunchState::Done, 3, 1, 3)
    );
}

#[test]
fn a_file_of_results_is_the_same_from_the_page_and_from_the_command_line() {
    let latch = Latch::default();
    let held = latch.clone();
    let server =
        Scripted::start(
            move |seen: &Seen| {
                if seen.number == 1 { scored(3).once_open(&held) } else { scored(3) }
            },
        );
    let bench = one_at_a_time(&server);
    let page = request(&bench, &["relevance"]);
    let typed = FileRequest {
        data: bench.path("tasks/rows.jsonl"),
        out: Some(bench.path(OUT)),
        request: page.clone(),
        ..FileRequest::default()
    };
    let id = bench.app().evaluations().start_evaluating(&page).unwrap().evaluation;
    server.wait_for(2);
    let elsewhere = bench.app().evaluations().start_evaluating_file(&typed).unwrap_err();
    assert!(elsewhere.message.contains("making these results"), "{elsewhere}");
    bench.app().evaluations().stop_evaluating(&id, false).unwrap();
    latch.open();
    ended(bench.app(), &id);
    assert_eq!(bench.app().evaluations().plan_evaluating_file(&typed).unwrap().kept, 2);
    let id = bench.app().evaluations().start_evaluating_file(&typed).unwrap().evaluation;
    let view = ended(bench.app(), &id);
    assert_eq!(
        (view.state, view.done, view.calls, server.seen().len()),
        (LaunchState::Done, 3, 1, 3),
        "{view:?}"
    );
    assert_eq!(bench.app().evaluations().plan_evaluating(&page).unwrap().kept, 3);
}

#[test]
fn a_row_that_is_put_in_is_the_only_one_that_is_asked_about() {
    let server = Scripted::always(scored(3));
    let bench = bench(&server);
    let usual = request(&bench, &["relevance"]);
    let same =
        "{\"query\": \"When?\", \"response\": \"At seven.\", \"ground_truth\": \"At seven.\"}\n";
    // A duplicate row counts as two rows, whose replies may differ.
    for (rows, bought) in [
        (ROWS.to_owned(), 3),
        (format!("{{\"query\": \"New?\", \"response\": \"Yes.\"}}\n{ROWS}"), 4),
        (format!("{same}{ROWS}"), 5),
        (ROWS.split_inclusive('\n').skip(1).collect(), 5),
    ] {
        bench.write("tasks/rows.jsonl", rows);
        let view = evaluate(&bench, &EvaluateRequest { replace: true, ..usual.clone() });
        assert_eq!((view.state, server.seen().len()), (LaunchState::Done, bought), "{view:?}");
    }
}

#[test]
fn an_empty_purse_ends_it_and_writes_nothing() {
    let server = Scripted::always(scored(3));
    let bench = bench(&server);
    // Each reply costs more than this limit.
    let poor = EvaluateRequest { max_cost: Some(0.000_001), ..request(&bench, &["relevance"]) };
    let view = evaluate(&bench, &poor);
    assert_eq!(view.state, LaunchState::Stopped, "{view:?}");
    assert!(view.why.as_deref().is_some_and(|why| why.contains("budget")), "{view:?}");
    assert!(!bench.path(OUT).exists() && view.calls < 3);
    let rich = EvaluateRequest { max_cost: Some(1.0), ..poor };
    assert_eq!((evaluate(&bench, &rich).done, server.seen().len()), (3, 3));
    assert!(
        refused(&bench, &EvaluateRequest { max_cost: Some(-1.0), replace: true, ..rich })
            .message
            .contains("budget")
    );
}

#[test]
fn a_row_that_fails_is_told_and_the_others_have_their_results() {
    let says_of = |seen: &Seen, words: &str| String::from_utf8_lossy(&seen.body).contains(words);
    let server = Scripted::start(move |seen| match seen {
        seen if says_of(seen, "When?") => refuses(400, "invalid", "not this one"),
        seen if says_of(seen, "Where?") => says("I would rather not."),
        _ => scored(5),
    });
    let bench = bench(&server);
    let view = evaluate(&bench, &request(&bench, &["relevance", "f1_score"]));
    assert_eq!(
        (view.state, view.done, view.failed, view.unread),
        (LaunchState::Done, 4, 2, 1),
        "{view:?}"
    );
    assert!(
        view.troubles
            .iter()
            .any(|trouble| trouble.row == 1 && trouble.why.contains("not this one")),
        "{view:?}"
    );
    let led: Vec<_> = view.troubles.iter().map(|trouble| trouble.run.clone()).collect();
    let run = |row: u64| Some(bench.row(&format!("evaluations/rows.json#row-{row}"))?.id);
    wait_until("its rows are listed", || run(2));
    assert_eq!(led, [run(1), run(2)], "each leads to its run");
    let written = results(&bench);
    assert_eq!(written["rows"][0]["outputs.relevance.relevance"], Value::Null);
    assert_eq!(written["rows"][2]["outputs.relevance.relevance"], 5.0);
    assert_eq!(
        (metric(&view, "relevance.relevance").n, metric(&view, "relevance.relevance").left_out),
        (1, 2)
    );
    let replies =
        fs::read_to_string(bench.path("results/evaluations/.touchstone/evaluations/rows.jsonl"))
            .unwrap();
    let lines: Vec<Value> =
        replies.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((lines.len(), &lines[0]["row"]), (3, &1.into()), "{replies}");
    assert!(
        lines[0]["replies"] == serde_json::json!([])
            && lines[0]["error"].as_str().unwrap().contains("not this one")
    );
    assert_eq!(
        lines[1]["replies"],
        serde_json::json!(["I would rather not.", "I would rather not."])
    );
}

#[test]
fn rows_show_what_was_said_of_them_with_the_replies_and_never_those_to_another_row() {
    let server = Scripted::start(|seen| {
        let refuses = seen.body.windows(7).any(|text| text == b"Nobody.");
        if refuses { says("I would rather not.") } else { scored(4) }
    });
    let bench = bench(&server);
    evaluate(&bench, &request(&bench, &["relevance", "f1_score"]));
    let bench = bench.reopen();
    let stored = |bench: &Bench, path: &str| {
        bench
            .app()
            .scoring()
            .run_scores(&bench.row(path).unwrap_or_else(|| panic!("no {path}")).id)
            .unwrap()
            .stored
    };
    let first = stored(&bench, "evaluations/rows.json#row-1");
    let said = &first[0];
    assert_eq!(
        (said.evaluator.as_str(), said.score.as_deref(), said.passed),
        ("relevance", Some("4.0"), Some(true))
    );
    assert_eq!(
        (said.threshold.as_deref(), said.reason.as_deref()),
        (Some("3"), Some("So it is.")),
        "{said:?}"
    );
    assert_eq!(said.rounds[0].replies, [r#"{"explanation": "So it is.", "score": 4}"#]);
    assert!(
        first[1].evaluator == "f1_score" && first[1].rounds.is_empty() && !first[1].silent,
        "{first:?}"
    );
    let third = stored(&bench, "evaluations/rows.json#row-3");
    let silent = &third[0];
    assert!(
        silent.silent && silent.rounds[0].error.is_some() && silent.rounds[0].replies.len() == 2,
        "{silent:?}"
    );

    // A copy of the file elsewhere, and another file in its place, have the verdicts they contain,
    // but no replies.
    let text = fs::read_to_string(bench.path(OUT)).unwrap();
    bench.write("results/moved.json", &text);
    bench.write(OUT, text.replace("At seven.", "At eight."));
    let bench = bench.reopen();
    for path in ["moved.json#row-1", "evaluations/rows.json#row-1"] {
        let stored = stored(&bench, path);
        assert_eq!(
            (stored[0].score.as_deref(), stored[0].rounds.len()),
            (Some("4.0"), 0),
            "{path}"
        );
    }
    assert_eq!(
        stored(&bench, "evaluations/rows.json#row-2")[0].rounds.len(),
        1,
        "this row is as it was"
    );
}

#[test]
fn several_rounds_are_their_mean_with_the_spread() {
    let server =
        Scripted::sequence([scored(2), scored(4), scored(3), scored(3), scored(5), scored(1)]);
    let bench = one_at_a_time(&server);
    let view = evaluate(
        &bench,
        &EvaluateRequest { rounds: Some(2), ..request(&bench, &["relevance", "f1_score"]) },
    );
    assert_eq!((view.done, view.calls), (6, 6), "{view:?}");
    let written = results(&bench);
    let told = |row: usize, key: &str| {
        written["rows"][row][format!("outputs.relevance.relevance{key}")].clone()
    };
    assert_eq!(
        (told(0, ""), told(0, "_spread"), told(0, "_result")),
        (3.0.into(), 1.0.into(), "pass".into())
    );
    assert_eq!((told(1, ""), told(1, "_spread")), (3.0.into(), 0.0.into()));
    assert_eq!(written["rows"][0].get("outputs.f1_score.f1_score_spread"), None);
}

#[test]
fn data_files_are_named_by_ids_and_nothing_hidden_is_among_them() {
    let server = Scripted::always(scored(3));
    let bench = bench(&server);
    bench.write("tasks/deep/down/more.csv", "a,b\n1,\n");
    bench.write("top.csv", "a\n1\n");
    bench.write("elsewhere/of-nobody.csv", "a\n1\n");
    bench.write("tasks/.hidden/secret.jsonl", "{}\n");
    bench.write("tasks/.secret.jsonl", "{}\n");
    bench.write("tasks/broken.jsonl", "{\"a\": 1}\nno\n");
    let options = bench.app().evaluations().evaluate_options(true).unwrap();
    let mut names: Vec<&str> = options.files.iter().map(|file| file.path.as_str()).collect();
    names.sort_unstable();
    assert_eq!(
        names,
        ["tasks/broken.jsonl", "tasks/deep/down/more.csv", "tasks/rows.jsonl", "top.csv"]
    );
    assert_eq!(
        (
            options.unlisted,
            bench.app().evaluations().look_at_data(&offered(&bench, "top.csv").id).unwrap().rows
        ),
        (None, 1)
    );
    assert!(options.evaluators.iter().any(|one| one.name == "relevance" && one.model));
    assert!(options.models.iter().any(|model| model.name == "old" && model.why_not.is_some()));
    let looks = bench.app().evaluations().evaluate_options(false).unwrap();
    assert!(looks.why_not.is_some() && looks.models.is_empty() && looks.folder.is_none());
    let look = bench.app().evaluations().look_at_data(&offered(&bench, "more.csv").id).unwrap();
    assert_eq!(
        (look.rows, look.columns.join(" "), &look.sample[0]),
        (1, "a b".to_owned(), &vec![Some("1".to_owned()), None])
    );
    let broken = offered(&bench, "broken.jsonl").id;
    assert_eq!(bench.app().evaluations().look_at_data(&broken).unwrap().wrong.len(), 1);
    let error =
        refused(&bench, &EvaluateRequest { data: broken, ..request(&bench, &["f1_score"]) });
    assert!(error.message.contains("Line 2"), "{error}");
    for id in ["/etc/passwd", "../rows.jsonl", "tasks/rows.jsonl"] {
        assert_eq!(bench.app().evaluations().look_at_data(id).unwrap_err().code, Code::NotFound);
    }
    // A listed file is found without another scan in its current state, and not found once it is
    // deleted.
    let top = offered(&bench, "top.csv").id;
    bench.write("top.csv", "a\n1\n2\n");
    bench.write("tasks/later.csv", "a\n1\n");
    let look = bench.app().evaluations().look_at_data(&top).unwrap();
    assert_eq!((look.rows, look.file.size), (2, 6));
    fs::remove_file(bench.path("top.csv")).unwrap();
    assert_eq!(bench.app().evaluations().look_at_data(&top).unwrap_err().code, Code::NotFound);
    // A file outside the folder is available once a dialog has registered it.
    let elsewhere = bench.path("../elsewhere.jsonl");
    fs::write(&elsewhere, ROWS).unwrap();
    let handed = bench.app().evaluations().register_data(&elsewhere).unwrap();
    assert_eq!(bench.app().evaluations().look_at_data(&handed.id).unwrap().rows, 3);
}

#[test]
fn what_makes_no_sense_is_refused_before_anything_is_sent() {
    let server = Scripted::always(scored(3));
    let bench = bench(&server);
    let usual = request(&bench, &["relevance"]);
    let with = |change: &dyn Fn(&mut EvaluateRequest)| {
        let mut request = usual.clone();
        change(&mut request);
        refused(&bench, &request).message
    };
    for (message, words) in [
        (with(&|request| request.evaluators.clear()), "Choose 1 to"),
        (
            with(&|request| request.evaluators[0].kind = "relevanse".to_owned()),
            "Did you mean `relevance`?",
        ),
        (with(&|request| request.evaluators[0].options = "[".to_owned()), "not JSON"),
        (with(&|request| request.evaluators.push(request.evaluators[0].clone())), "Two evaluators"),
        (with(&|request| request.model = "nobody".to_owned()), "no model named `nobody`"),
        (with(&|request| request.model.clear()), "asks a model"),
        (with(&|request| request.model = "old".to_owned()), "cannot judge"),
        (with(&|request| request.rounds = Some(0)), "rounds"),
        (with(&|request| request.switches = vec!["no_such".to_owned()]), "no switch named"),
        (with(&|request| request.out = "../x".to_owned()), "not a valid name"),
        (with(&|request| request.out = ".x".to_owned()), "not a valid name"),
        (with(&|request| request.data = "0".to_owned()), "no longer exists"),
        (
            with(&|request| {
                request.evaluators[0].mapping =
                    vec![("query".to_owned(), "${data.nowhere}".to_owned())];
            }),
            "not a column",
        ),
    ] {
        assert!(message.contains(words), "{words}: {message}");
    }
    assert!(server.seen().is_empty() && !bench.path("results/evaluations").exists());
    let lacks =
        EvaluateRequest { evaluators: request(&bench, &["groundedness"]).evaluators, ..usual };
    assert_eq!(
        bench.app().evaluations().plan_evaluating(&lacks).unwrap().lacks,
        ["groundedness: 3 of 3 rows have no context."]
    );
}

#[test]
fn a_program_of_a_person_grades_rows_in_the_sandbox() {
    if std::env::var_os("TOUCHSTONE_WITHOUT_SANDBOX").is_some() {
        return eprintln!("not run: TOUCHSTONE_WITHOUT_SANDBOX is set");
    }
    let server = Scripted::always(scored(3));
    let bench = bench(&server);
    let source = "def grade(sample, item):\n    return 1.0 if item['response'] == item['ground_truth'] else 1 / 0\n";
    let options = serde_json::json!({ "source": source }).to_string();
    let evaluator =
        EvaluatorRequest { kind: "python".into(), options, ..EvaluatorRequest::default() };
    let view =
        evaluate(&bench, &EvaluateRequest { evaluators: vec![evaluator], ..request(&bench, &[]) });
    assert_eq!((view.state, view.total), (LaunchState::Done, 3), "{view:?}");
    let written = results(&bench);
    assert_eq!(written["rows"][0]["outputs.python.score"], 1.0, "{written}");
    assert!(server.seen().is_empty());
}

/// An embedding model, next to those that answer.
pub(super) fn embedding(server: &Scripted, name: &str) -> String {
    let url = server.url("/v1");
    format!(
        "  {name}: {{ base_url: '{url}', model: small, embeddings: true, price: {{ input: 1.0, output: 0.0 }} }}\n"
    )
}

pub(super) fn cosine() -> EvaluatorRequest {
    let options = r#"{"evaluation_metric": "cosine", "pass_threshold": 0.9}"#.to_owned();
    EvaluatorRequest { kind: "text_similarity".to_owned(), options, ..EvaluatorRequest::default() }
}

#[test]
fn vectors_of_a_model_say_how_alike_texts_are_and_are_paid_for_once() {
    let server = Scripted::start(|seen: &Seen| {
        let said = seen.json();
        let (first, second) = (&said["input"][0], &said["input"][1]);
        let vector = if first == second { [1.0, 0.0] } else { [0.0, -1.0] };
        let data = serde_json::json!([{ "index": 1, "embedding": vector }, { "index": 0, "embedding": [2.0, 0.0] }]);
        match (seen.number, first == "Nobody.") {
            (0, _) => refuses(503, "overloaded", "later"),
            (_, true) => refuses(400, "invalid", "no"),
            _ => Reply::json(
                &serde_json::json!({ "data": data, "usage": { "prompt_tokens": 10, "total_tokens": 10 } }),
            ),
        }
    });
    let workspace = workspace(&server, "").replace("concurrency: 2", "concurrency: 1")
        + &embedding(&server, "embed");
    let bench =
        Bench::new().file("touchstone.yaml", workspace).file("tasks/rows.jsonl", ROWS).open();
    let models = bench.app().evaluations().evaluate_options(true).unwrap().models;
    assert!(
        models.iter().all(|model| model.name != "embed"),
        "it answers nothing, so it is not offered"
    );
    let request = EvaluateRequest {
        evaluators: vec![cosine()],
        model: String::new(),
        ..request(&bench, &[])
    };
    let plan = bench.app().evaluations().plan_evaluating(&request).unwrap();
    assert_eq!((plan.calls_least, plan.calls_most, plan.kept), (3, 3, 0));
    assert!(plan.cost_most > Some(0.0));
    let view = evaluate(&bench, &request);
    assert_eq!(
        (view.done, view.failed, view.unread, view.calls, view.tokens),
        (2, 1, 0, 2, 20),
        "{view:?}"
    );
    assert_eq!((view.model.as_deref(), view.cost), (None, 0.000_02));
    let asked = &server.seen()[1];
    assert_eq!((asked.path.as_str(), &asked.json()["model"]), ("/v1/embeddings", &"small".into()));
    assert_eq!(asked.json()["input"], serde_json::json!(["At seven.", "At seven."]));
    let written = results(&bench);
    assert_eq!(written["evaluators"]["text_similarity"]["model"], "embed");
    let said = |row: usize, key: &str| {
        written["rows"][row][format!("outputs.text_similarity.{key}")].clone()
    };
    assert_eq!(
        [said(0, "score"), said(1, "score"), said(2, "score")],
        [Value::from(1.0), Value::from(0.0), Value::Null]
    );
    assert_eq!([said(0, "passed"), said(1, "passed")], [Value::from(true), Value::from(false)]);
    let (again, before) = (EvaluateRequest { replace: true, ..request }, server.seen().len());
    assert_eq!(bench.app().evaluations().plan_evaluating(&again).unwrap().kept, 2);
    assert_eq!((evaluate(&bench, &again).calls, server.seen().len()), (0, before + 1));
}

#[test]
fn cosine_without_one_model_that_gives_embeddings_says_how_to_have_one() {
    let server = Scripted::always(scored(3));
    for (more, says) in [
        (String::new(), "embeddings: true"),
        (embedding(&server, "a") + &embedding(&server, "b"), "a, b"),
    ] {
        let workspace = workspace(&server, "") + &more;
        let bench =
            Bench::new().file("touchstone.yaml", workspace).file("tasks/rows.jsonl", ROWS).open();
        let request = EvaluateRequest { evaluators: vec![cosine()], ..request(&bench, &[]) };
        let why = bench.app().evaluations().plan_evaluating(&request).unwrap_err();
        assert!(
            format!("{} {}", why.message, why.hint.unwrap_or_default()).contains(says),
            "{}",
            why.message
        );
        assert!(server.seen().is_empty());
    }
}

/// Mean of the scores that the rows show of an evaluator.
fn mean(page: &EvaluatedRows, at: usize) -> f64 {
    let scores = page.rows.iter().filter_map(|row| row.results[at].as_ref()?.score.as_deref());
    let scores: Vec<f64> = scores.map(|score| score.parse().unwrap()).collect();
    scores.iter().sum::<f64>() / f64::from(u32::try_from(scores.len()).unwrap())
}

#[test]
fn the_rows_of_an_evaluation_have_the_score_and_the_reason_of_each_evaluator() {
    let server = Scripted::always(scored(4));
    let bench = bench(&server);
    let view = evaluate(&bench, &request(&bench, &["f1_score", "relevance"]));
    let page = |offset: u32, limit: u32| {
        bench.app().evaluations().evaluation_rows(&view.id, Span { offset, limit }).unwrap()
    };
    let all = page(0, 10);
    assert_eq!((all.total, all.rows.len()), (3, 3));
    assert_eq!(all.evaluators, ["f1_score", "relevance"]);
    let totals: Vec<_> = all.totals.iter().map(|it| (it.scored, it.decided)).collect();
    assert_eq!(totals, [(3, 3), (3, 3)], "{:?}", all.totals);
    let means = all.totals.iter().filter_map(|it| it.mean);
    assert!(means.eq([mean(&all, 0), mean(&all, 1)]), "{:?}", all.totals);
    let first = &all.rows[0];
    assert_eq!(first.row, 1);
    assert!(first.inputs.contains(&("query".to_owned(), "When?".to_owned())), "{first:?}");
    let results: Vec<_> = first.results.iter().flatten().collect();
    assert_eq!((results[0].score.as_deref(), results[0].passed), (Some("1.0"), Some(true)));
    assert_eq!(results[1].reason.as_deref(), Some("So it is."));
    wait_until("the row opens", || bench.app().runs().open_run(first.run.as_deref()?).ok());
    assert_eq!(page(2, 10).rows[0].row, 3);
    assert_eq!(page(7, 10).rows.len(), 0);
}
