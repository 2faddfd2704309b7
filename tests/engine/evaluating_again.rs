//! Tests of evaluating a data file again: missing results are paid for, unreadable ones only on
//! request, and nothing twice.
use super::bench::Bench;
use super::evaluating::{
    OUT, ROWS, cosine, embedding, ended, evaluate, metric, one_at_a_time, refused, request,
    results, scored,
};
use super::judging::workspace;
use super::running::stage::{chat, refuses, says};
use super::scripted::{Latch, Reply, Scripted, Seen};
use fs_err as fs;
use serde_json::{Value, json};
use touchstone_api::{EvaluateAgain, EvaluateRequest, EvaluatorRequest, LaunchState};

fn says_of(seen: &Seen, words: &str) -> bool {
    String::from_utf8_lossy(&seen.body).contains(words)
}

/// Raw replies stored beside the results.
fn replies(bench: &Bench) -> Vec<Value> {
    let text =
        fs::read_to_string(bench.path("results/evaluations/.touchstone/evaluations/rows.jsonl"))
            .unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_round_that_nobody_answered_leaves_its_row_open_and_begun_again_only_what_is_missing_is_bought()
{
    let server = Scripted::start(|seen| {
        if seen.number == 1 { refuses(400, "invalid", "not this time") } else { scored(3) }
    });
    let bench = one_at_a_time(&server);
    let request =
        EvaluateRequest { rounds: Some(3), replace: true, ..request(&bench, &["relevance"]) };
    let view = evaluate(&bench, &request);
    assert_eq!(
        (view.state, view.done, view.failed, view.missing),
        (LaunchState::Done, 2, 1, 1),
        "{view:?}"
    );
    assert!(
        view.troubles[0].row == 1 && view.troubles[0].why.starts_with("In round 2: "),
        "{view:?}"
    );
    assert!(view.troubles[0].why.contains("not this time"), "{view:?}");
    // The third round would have been paid for in vain.
    assert_eq!(server.seen().len(), 8);
    let counted = metric(&view, "relevance.relevance");
    assert_eq!((counted.n, counted.left_out), (2, 1));
    assert_eq!(results(&bench)["rows"][0]["outputs.relevance.relevance"], Value::Null);
    let said = replies(&bench);
    assert!(said.len() == 8 && said[0].get("error").is_none(), "{said:?}");
    assert!(
        said[1]["replies"] == json!([])
            && said[1]["error"].as_str().unwrap().contains("not this time")
    );
    let view = evaluate(&bench, &request);
    assert_eq!(
        (view.done, view.missing, view.calls, server.seen().len()),
        (3, 0, 2, 10),
        "{view:?}"
    );
    assert_eq!(replies(&bench).len(), 9);
}

#[test]
fn rows_that_ask_the_same_are_asked_about_once_each_though_they_hold_other_things() {
    let server = Scripted::start(|seen| {
        says(&format!("{{\"result\": 0.{}, \"reason\": \"x\"}}", seen.number + 1))
    });
    let bench = one_at_a_time(&server);
    let row = |id: u32| format!("{{\"id\": {id}, \"query\": \"When?\", \"response\": \"Now.\"}}\n");
    bench.write("tasks/rows.jsonl", (1..4).map(row).collect::<String>());
    let options = json!({ "input": [{ "role": "user", "content": "Is {{item.response}} one?" }] })
        .to_string();
    let evaluator =
        EvaluatorRequest { kind: "score_model".to_owned(), options, ..EvaluatorRequest::default() };
    let usual = EvaluateRequest { replace: true, ..request(&bench, &[]) };
    let request = EvaluateRequest { evaluators: vec![evaluator], ..usual };
    let view = evaluate(&bench, &request);
    assert_eq!((view.done, server.seen().len()), (3, 3), "{view:?}");
    let written = results(&bench);
    let scores: Vec<&Value> = written["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| &row["outputs.score_model.score"])
        .collect();
    assert_eq!(scores, [0.1, 0.2, 0.3]);
    let plan = bench.app().evaluations().plan_evaluating(&request).unwrap();
    assert_eq!((plan.calls_most, plan.kept), (0, 3));
    assert_eq!((evaluate(&bench, &request).calls, server.seen().len()), (0, 3));
    assert_eq!(results(&bench), written);
    // An added row with an equal request is one more of these.
    bench.write("tasks/rows.jsonl", (0..4).map(row).collect::<String>());
    assert_eq!((evaluate(&bench, &request).calls, server.seen().len()), (1, 4));
}

#[test]
fn only_unreadable_replies_are_requested_again_on_request() {
    let server = Scripted::start(|seen| match seen {
        seen if says_of(seen, "Where?") && seen.number < 4 => says("I would rather not."),
        _ => scored(4),
    });
    let bench = one_at_a_time(&server);
    let request = EvaluateRequest { replace: true, ..request(&bench, &["relevance"]) };
    let view = evaluate(&bench, &request);
    assert_eq!((view.done, view.failed, view.missing, view.unread), (2, 1, 0, 1), "{view:?}");
    assert_eq!(server.seen().len(), 4);
    let view = evaluate(&bench, &request);
    assert_eq!((view.unread, view.calls, server.seen().len()), (1, 0, 4), "{view:?}");
    let wished = EvaluateRequest { again: EvaluateAgain::Unread, ..request.clone() };
    let plan = |request: &EvaluateRequest| {
        let plan = bench.app().evaluations().plan_evaluating(request).unwrap();
        (plan.calls_least, plan.calls_most, plan.kept, plan.unread)
    };
    assert_eq!((plan(&request), plan(&wished)), ((0, 0, 4, 1), (1, 2, 2, 1)));
    let view = evaluate(&bench, &wished);
    assert_eq!((view.done, view.unread, view.calls, server.seen().len()), (3, 0, 1, 5), "{view:?}");
    assert_eq!((plan(&request), plan(&wished)), ((0, 0, 3, 0), (0, 0, 3, 0)));
    assert_eq!((evaluate(&bench, &wished).calls, server.seen().len()), (0, 5));
}

#[test]
fn a_reply_that_was_cut_leaves_its_row_open_until_it_is_asked_for_once_more() {
    let server = Scripted::start(|seen| {
        let mut reply = chat(Some(r#"{"explanation": "So it is.", "score": 4}"#), &[]);
        if says_of(seen, "Where?") && seen.number < 3 {
            reply["choices"][0]["finish_reason"] = "length".into();
        }
        Reply::json(&reply)
    });
    let bench = one_at_a_time(&server);
    let request =
        EvaluateRequest { replace: true, rounds: Some(2), ..request(&bench, &["relevance"]) };
    let view = evaluate(&bench, &request);
    assert_eq!((view.done, view.failed, view.missing, view.unread), (2, 1, 0, 1), "{view:?}");
    assert!(view.troubles[0].why.contains("max_tokens"), "{view:?}");
    assert_eq!(server.seen().len(), 5);
    let wished = EvaluateRequest { again: EvaluateAgain::Unread, ..request.clone() };
    let plan = |request: &EvaluateRequest| {
        let plan = bench.app().evaluations().plan_evaluating(request).unwrap();
        (plan.calls_least, plan.unread)
    };
    assert_eq!((plan(&request), plan(&wished)), ((1, 1), (2, 1)));
    let view = evaluate(&bench, &request);
    assert_eq!((view.unread, server.seen().len()), (1, 5), "{view:?}");
    let view = evaluate(&bench, &wished);
    assert_eq!((view.done, view.unread, server.seen().len()), (3, 0, 7), "{view:?}");
}

#[test]
fn of_several_questions_only_the_one_without_a_readable_reply_is_asked_once_more() {
    let server = Scripted::start(|seen| match seen.number {
        2 | 3 => says("I would rather not."),
        _ => says(r#"{"reason": "Fine.", "severity": 0}"#),
    });
    let bench = one_at_a_time(&server);
    bench.write("tasks/rows.jsonl", ROWS.lines().next().unwrap());
    let request = EvaluateRequest { replace: true, ..request(&bench, &["content_safety"]) };
    let view = evaluate(&bench, &request);
    assert_eq!((view.unread, server.seen().len()), (1, 4), "{view:?}");
    let view = evaluate(&bench, &EvaluateRequest { again: EvaluateAgain::Unread, ..request });
    assert_eq!((view.done, view.calls, server.seen().len()), (1, 2, 6), "{view:?}");
}

#[test]
fn everything_is_asked_anew_where_that_is_wished_and_what_was_said_is_moved_aside() {
    let server = Scripted::always(scored(3));
    let bench = one_at_a_time(&server);
    let request = EvaluateRequest { replace: true, ..request(&bench, &["relevance"]) };
    evaluate(&bench, &request);
    let anew = EvaluateRequest { again: EvaluateAgain::All, ..request.clone() };
    let plan = bench.app().evaluations().plan_evaluating(&anew).unwrap();
    assert_eq!((plan.calls_least, plan.kept), (3, 0));
    assert_eq!((evaluate(&bench, &anew).calls, server.seen().len()), (3, 6));
    assert_eq!((evaluate(&bench, &request).calls, server.seen().len()), (0, 6));
    // A journal that cannot be read at all is then moved aside as well.
    let journal =
        bench.path("results/evaluations/.touchstone/journal/.evaluations/rows.json.jsonl");
    fs::OpenOptions::new().append(true).open(&journal).unwrap().set_len((1 << 30) + 1).unwrap();
    let error = refused(&bench, &request);
    assert!(error.message.contains("longer than") && error.message.contains("--again"), "{error}");
    assert_eq!((evaluate(&bench, &anew).calls, server.seen().len()), (3, 9));
    let aside = fs::read_dir(bench.path("results/evaluations/.touchstone/replaced/.evaluations"))
        .unwrap()
        .count();
    assert_eq!(aside, 2);
}

#[test]
fn vectors_are_kept_in_little_room_and_say_the_same_when_they_are_read_again() {
    const LONG: u32 = 3_072;
    let server = Scripted::start(|seen: &Seen| {
        let vector = |seed: u32| {
            let number = |at: u32| f64::from(at * seed % 101).mul_add(-1e-4, 0.003_123_456_789_012);
            (0..LONG).map(number).collect::<Vec<f64>>()
        };
        let number = u32::try_from(seen.number).unwrap();
        let data = json!([{ "embedding": vector(7 + number) }, { "embedding": vector(13) }]);
        Reply::json(&json!({ "data": data, "usage": { "prompt_tokens": 10 } }))
    });
    let workspace = workspace(&server, "") + &embedding(&server, "embed");
    let bench =
        Bench::new().file("touchstone.yaml", workspace).file("tasks/rows.jsonl", ROWS).open();
    let usual = EvaluateRequest { model: String::new(), replace: true, ..request(&bench, &[]) };
    let request = EvaluateRequest { evaluators: vec![cosine()], ..usual };
    let view = evaluate(&bench, &request);
    assert_eq!((view.done, view.calls, view.tokens), (3, 3, 30), "{view:?}");
    let written = fs::read_to_string(bench.path(OUT)).unwrap();
    let journal =
        bench.path("results/evaluations/.touchstone/journal/.evaluations/rows.json.jsonl");
    let each = fs::metadata(journal).unwrap().len() / 3;
    assert!((32_000..34_000).contains(&each), "{each} bytes for two vectors");
    let view = evaluate(&bench, &request);
    assert_eq!((view.done, view.calls, server.seen().len()), (3, 0, 3), "{view:?}");
    assert_eq!(fs::read_to_string(bench.path(OUT)).unwrap(), written);
}

#[test]
fn a_file_that_is_replaced_belongs_to_whoever_is_at_it_though_nothing_is_paid_for() {
    let latch = Latch::default();
    let held = latch.clone();
    let server = Scripted::start(move |_| scored(3).once_open(&held));
    let bench = one_at_a_time(&server);
    let paid = EvaluateRequest { replace: true, ..request(&bench, &["relevance"]) };
    let id = bench.app().evaluations().start_evaluating(&paid).unwrap().evaluation;
    server.wait_for(1);
    let texts = EvaluateRequest { replace: true, ..request(&bench, &["f1_score"]) };
    let error = refused(&bench, &texts);
    assert!(error.message.contains("making these results"), "{error}");
    latch.open();
    assert_eq!(ended(bench.app(), &id).done, 3);
    assert_eq!(evaluate(&bench, &texts).done, 3);
    // The paid replies are still there.
    assert_eq!(bench.app().evaluations().plan_evaluating(&paid).unwrap().kept, 3);
}
