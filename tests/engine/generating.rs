//! Tests of tasks that a model writes: the suite loads, replies are paid for once, and nothing is
//! written before it is complete.
use super::bench::{Bench, DEADLINE};
use super::running::stage::{chat, plain, refuses, says};
use super::scripted::{Latch, Reply, Scripted, Seen};
use fs_err as fs;
use serde_json::json;
use std::cell::RefCell;
use touchstone_api::{GenerationRequest, GenerationView, LaunchState, Stale};
use touchstone_app::error::AppError;
use touchstone_app::suites::generating::{GenerateProgress, GenerateRequest, Generated};

/// Replies with as many pairs as the request asks for, with other questions each time.
fn writes(seen: &Seen) -> Reply {
    let message = seen.json()["messages"][1]["content"].as_str().unwrap_or_default().to_owned();
    let count =
        message.split("Write ").nth(1).and_then(|rest| rest.split(' ').next()?.parse().ok());
    let number = seen.number;
    let pairs: Vec<_> = (0..count.unwrap_or(0))
        .map(|at: usize| json!({ "query": format!("What is {number}.{at}?"), "response": format!("{at}") }))
        .collect();
    says(&json!(pairs).to_string())
}

fn request(bench: &Bench, queries: usize) -> GenerateRequest {
    bench.write("manual.md", "# Manual\n\nThe machine has two keys.\n");
    GenerateRequest {
        from: bench.path("manual.md").into(),
        model: "scripted".into(),
        queries,
        turns: 1,
        out: bench.path("tasks/manual.yaml"),
        ..GenerateRequest::default()
    }
}

fn generate(bench: &Bench, request: &GenerateRequest) -> Result<Generated, AppError> {
    bench.app().suites().generate(request, || 0, |_| {})
}

#[test]
fn the_suite_that_is_written_loads_with_its_questions_and_answers() {
    let server = Scripted::start(writes);
    let bench = plain(&server);
    let request = request(&bench, 12);
    let plan = bench.app().suites().plan_generation(&request).unwrap();
    assert_eq!((plan.requests, server.seen().len()), (2, 0));
    assert!(plan.cost.is_some_and(|cost| cost > 0.0));
    let done = generate(&bench, &request).unwrap();
    assert_eq!((done.queries, done.requests, done.tokens, done.why), (12, 2, Some(220), None));
    assert!(
        server.seen()[1].json()["messages"][1]["content"]
            .as_str()
            .unwrap()
            .contains("- What is 0.9?")
    );
    let suite = fs::read_to_string(bench.path("tasks/manual.yaml")).unwrap();
    let suite = touchstone_formats::suite::read(&suite, "manual").unwrap();
    assert_eq!((suite.tasks[0].variations.len(), suite.warnings.len()), (12, 0));
    assert!(generate(&bench, &request).unwrap_err().message.contains("exists already"));
    // The same request again, to another file, is paid for already.
    let other = GenerateRequest { out: bench.path("tasks/other.yaml"), ..request };
    assert_eq!(generate(&bench, &other).unwrap().requests, 0);
    assert_eq!(server.seen().len(), 2);
}

#[test]
fn a_failure_writes_nothing_and_the_same_command_pays_only_for_the_rest() {
    let server = Scripted::start(|seen| {
        if seen.number == 1 { refuses(400, "invalid", "no") } else { writes(seen) }
    });
    let bench = plain(&server);
    let request = request(&bench, 20);
    let error = generate(&bench, &request).unwrap_err();
    assert!(error.hint.unwrap().contains("continues from there"));
    assert!(!bench.path("tasks/manual.yaml").exists());
    let done = generate(&bench, &request).unwrap();
    assert_eq!((done.queries, done.requests, server.seen().len()), (20, 1, 3));
}

#[test]
fn a_budget_and_an_interruption_stop_the_requests() {
    let server = Scripted::start(writes);
    let bench = plain(&server);
    // A reply costs 0.00012 dollars.
    let request = GenerateRequest { max_cost: Some(0.0001), ..request(&bench, 20) };
    let spent = generate(&bench, &request).unwrap_err().message;
    assert!(spent.starts_with("The budget of $0.0001 is spent"), "{spent}");
    assert_eq!(server.seen().len(), 1);
    let unbounded = GenerateRequest { max_cost: None, ..request };
    assert_eq!(generate(&bench, &unbounded).unwrap().requests, 1);
}

#[test]
fn the_reason_of_a_stop_is_the_one_that_applies() {
    let silent = Scripted::start(|_| {
        let mut reply = chat(Some("[]"), &[]);
        reply.as_object_mut().unwrap().remove("usage");
        Reply::json(&reply)
    });
    let bench = plain(&silent);
    let limited = GenerateRequest { max_cost: Some(1.0), ..request(&bench, 20) };
    let why = generate(&bench, &limited).unwrap_err().message;
    assert!(why.contains("did not report its tokens"), "{why}");
    let gate = Latch::default();
    let held = gate.clone();
    let server = Scripted::start(move |seen| writes(seen).once_open(&held));
    let bench = plain(&server);
    let interrupts = || {
        let is_asked = !server.seen().is_empty();
        if is_asked {
            gate.open();
        }
        u32::from(is_asked)
    };
    let why = bench
        .app()
        .suites()
        .generate(&request(&bench, 20), interrupts, |_| {})
        .unwrap_err()
        .message;
    assert_eq!((why.as_str(), server.seen().len()), ("It was interrupted.", 1));
}

#[test]
fn a_wait_for_the_provider_is_shown() {
    let server = Scripted::start(|seen| match seen.number {
        0 => Reply::new(429).header("retry-after-ms", "1"),
        _ => writes(seen),
    });
    let bench = plain(&server);
    let heard = RefCell::new(Vec::new());
    let hear = |progress| heard.borrow_mut().push(progress);
    bench.app().suites().generate(&request(&bench, 3), || 0, hear).unwrap();
    let heard = heard.into_inner();
    assert!(matches!(heard[0], GenerateProgress::Retrying { .. }), "{heard:?}");
    assert!(matches!(heard[1], GenerateProgress::Replied(_)), "{heard:?}");
    assert_eq!(heard.last(), Some(&GenerateProgress::Questions { done: 3, all: 3 }));
}

#[test]
fn what_cannot_be_read_is_asked_for_again_and_then_fewer_are_written() {
    let server = Scripted::start(|seen| match seen.number {
        0 => says("I would rather not."),
        1 => says(r#"[{"query": "A?", "response": "a"}]"#),
        _ => says("[]"),
    });
    let bench = plain(&server);
    let done = generate(&bench, &request(&bench, 3)).unwrap();
    assert_eq!((done.queries, server.seen().len()), (1, 3));
    assert!(done.why.unwrap().contains("fewer questions"));
}

#[test]
fn rows_become_text_and_several_turns_a_simulated_user() {
    let server = Scripted::start(writes);
    let bench = plain(&server);
    for (name, text) in [
        ("rows.csv", "product,price\n\"lamp, red\",3\n"),
        ("rows.jsonl", "{\"product\": \"lamp, red\", \"price\": 3}\n"),
    ] {
        bench.write(name, text);
        let out = bench.path(&format!("tasks/{name}.yaml"));
        let tasks = vec!["buy a lamp".to_owned()];
        let from = bench.path(name).into();
        let request =
            GenerateRequest { from, out: out.clone(), turns: 3, tasks, ..request(&bench, 2) };
        generate(&bench, &request).unwrap();
        let suite =
            touchstone_formats::suite::read(&fs::read_to_string(out).unwrap(), "rows").unwrap();
        let user = suite.tasks[0].user.as_ref().unwrap();
        assert_eq!((user.max_turns, suite.warnings.len()), (3, 0));
        assert!(suite.tasks[0].user_texts(Some(0))[0].1.contains("buy a lamp"));
    }
    let asked = server.seen()[0].json()["messages"][1]["content"].as_str().unwrap().to_owned();
    assert!(
        asked.contains("product: lamp, red\nprice: 3") && asked.contains("1. buy a lamp"),
        "{asked}"
    );
    assert_eq!(server.seen().len(), 1, "both files say the same");
    bench.write("broken.jsonl", "{\"a\": 1}\n{\n");
    let broken = GenerateRequest { from: bench.path("broken.jsonl").into(), ..request(&bench, 2) };
    assert!(generate(&bench, &broken).unwrap_err().message.contains("line 2"));
}

fn of_page(queries: u32, name: &str) -> GenerationRequest {
    GenerationRequest {
        name: name.to_owned(),
        file: Some("manual.md".to_owned()),
        text: "# Manual\n\nThe machine has two keys.\n".to_owned(),
        model: "scripted".to_owned(),
        queries,
        turns: 1,
        ..GenerationRequest::default()
    }
}

/// Waits until the newest generation is over.
fn finished(bench: &Bench, id: &str) -> GenerationView {
    assert!(bench.app().suites().wait_generation(id, DEADLINE).unwrap());
    bench.app().suites().generations().remove(0)
}

#[test]
fn a_generation_of_the_page_writes_a_suite_that_is_listed_when_it_ends() {
    let server = Scripted::start(writes);
    let bench = plain(&server);
    let options = bench.app().suites().generation_options(true).unwrap();
    let model = options.models.iter().find(|model| model.name == "scripted").unwrap();
    assert!(options.why_not.is_none() && model.why_not.is_none(), "{options:?}");
    assert!(bench.app().suites().generation_options(false).unwrap().why_not.is_some());
    let request = of_page(12, "manual");
    let plan = bench.app().suites().plan_page_generation(&request).unwrap();
    assert_eq!((plan.requests, server.seen().len()), (2, 0));
    let id = bench.app().suites().start_generation(None, &request).unwrap().generation;
    let done = finished(&bench, &id);
    assert_eq!((done.state, done.written, done.why), (LaunchState::Done, true, None));
    assert_eq!((done.done, done.total, done.calls, done.tokens), (12, 12, 2, 220));
    assert!(done.cost > 0.0 && !done.unpriced);
    let task = bench.app().suites().read_task(&done.task).unwrap();
    assert_eq!(task.row.variations, 12);
    assert!(bench.events().contains(&Stale::Generations));
    let suite = fs::read_to_string(bench.path("tasks/manual.yaml")).unwrap();
    assert!(suite.contains("Written by scripted from manual.md."), "{suite}");
    let taken = bench.app().suites().start_generation(None, &request).unwrap_err();
    assert!(taken.message.contains("There is a task named `manual`"), "{}", taken.message);
    assert!(bench.app().suites().start_generation(Some("other"), &of_page(2, "b")).is_err());
    assert!(bench.app().suites().start_generation(None, &of_page(2, "../b")).is_err());
    let long = GenerationRequest { text: "a".repeat((1 << 20) + 1), ..of_page(2, "b") };
    assert!(bench.app().suites().plan_page_generation(&long).unwrap_err().message.contains("1 MB"));
}

#[test]
fn a_generation_that_is_stopped_writes_what_there_is_and_nothing_is_bought_twice() {
    let gate = Latch::default();
    let held = gate.clone();
    let server = Scripted::start(move |seen| {
        if seen.number == 1 { writes(seen).once_open(&held) } else { writes(seen) }
    });
    let bench = plain(&server);
    let id = bench.app().suites().start_generation(None, &of_page(30, "part")).unwrap().generation;
    server.wait_for(2);
    let busy = bench.app().suites().start_generation(None, &of_page(2, "other")).unwrap_err();
    assert!(busy.message.contains("already"), "{}", busy.message);
    assert!(bench.app().folder().close_folder().is_err(), "its folder stays open");
    bench.app().suites().stop_generation(&id, false).unwrap();
    assert_eq!(bench.app().suites().generations()[0].state, LaunchState::Stopping);
    gate.open();
    let done = finished(&bench, &id);
    assert_eq!((done.state, done.written, done.done), (LaunchState::Stopped, true, 20));
    assert_eq!((done.total, done.why.as_deref()), (30, Some("It was stopped.")));
    assert!(done.hint.unwrap().contains("pay only for the rest"));
    assert_eq!(bench.app().suites().read_task("part").unwrap().row.variations, 20);
    let id = bench.app().suites().start_generation(None, &of_page(30, "whole")).unwrap().generation;
    let whole = finished(&bench, &id);
    assert_eq!((whole.state, whole.done, whole.calls), (LaunchState::Done, 30, 1));
    assert_eq!(server.seen().len(), 3);
}

#[test]
fn a_generation_without_any_question_says_why_and_writes_nothing() {
    let server = Scripted::start(|_| refuses(400, "invalid", "no such model"));
    let bench = plain(&server);
    let id = bench.app().suites().start_generation(None, &of_page(3, "none")).unwrap().generation;
    let done = finished(&bench, &id);
    assert_eq!((done.state, done.written, done.done), (LaunchState::Stopped, false, 0));
    assert!(done.why.unwrap().contains("no such model"));
    assert!(done.hint.unwrap().contains("continue from there"));
    assert!(!bench.path("tasks/none.yaml").exists());
    bench.app().folder().close_folder().unwrap();
}

#[test]
fn a_partial_suite_is_written_only_when_it_is_asked_for() {
    let server = Scripted::start(|seen| {
        if seen.number % 2 == 1 { refuses(400, "invalid", "no") } else { writes(seen) }
    });
    let bench = plain(&server);
    let request = GenerateRequest { partial: true, ..request(&bench, 20) };
    let done = generate(&bench, &request).unwrap();
    assert_eq!((done.queries, done.ended_early), (10, true));
    assert!(done.why.unwrap().contains("no"));
    assert!(bench.path("tasks/manual.yaml").exists());
}
