//! Tests of paid attempts without a reply: they are counted, and a cost that is unknown is never
//! invented.
use super::stage::{ANSWER, QUERY, RUN, calls, fact, plain, says};
use super::{request, run};
use crate::scripted::{Reply, Scripted};
use serde_json::json;
use touchstone_api::LaunchRequest;

/// A completion without a choice: two dollars for nothing.
fn shapeless() -> Reply {
    Reply::json(
        &json!({ "model": "any-1", "usage": { "prompt_tokens": 1_000_000, "completion_tokens": 500_000 } }),
    )
}

#[test]
fn a_reply_that_cannot_be_read_counts_in_the_run_and_in_the_launch_and_once_only() {
    let server = Scripted::start(|seen| if seen.number == 0 { shapeless() } else { says(ANSWER) });
    let bench = plain(&server);
    let view = run(&bench, &request());
    assert_eq!((view.failed, view.unpriced), (1, 0), "{:?}", view.runs);
    assert!((view.cost - 2.0).abs() < 1e-9, "{}", view.cost);
    assert_eq!(fact(&bench, RUN, "cost").as_deref(), Some("2"));
    let view = run(&bench, &request());
    assert_eq!(view.done, 1, "{:?}", view.runs);
    assert!(view.cost < 1.0, "what was paid before is not paid again: {}", view.cost);
    let cost = fact(&bench, RUN, "cost");
    assert_eq!(cost.as_deref(), Some("2.00012"));
    assert!(fact(&bench, RUN, "usage").unwrap().contains("1000100"));
    // Simulates a kill before the transcript was written: everything comes from the journal.
    let begun = fact(&bench, RUN, "started").unwrap();
    bench.write(
        RUN,
        format!("conversation:\n- user_message: How many?\nrun: {{started: {begun}}}\n"),
    );
    let view = run(&bench, &request());
    assert_eq!((view.done, server.delivered()), (1, 2), "{:?}", view.runs);
    assert_eq!((fact(&bench, RUN, "cost"), view.cost), (cost, 0.0));
}

#[test]
fn what_nobody_says_is_not_known_and_stays_so() {
    let server = Scripted::start(|seen| {
        if seen.number == 0 { Reply::json(&json!({ "model": "any-1" })) } else { says(ANSWER) }
    });
    let bench = plain(&server);
    let view = run(&bench, &request());
    assert_eq!((view.failed, view.unpriced), (1, 1), "{:?}", view.runs);
    assert_eq!(run(&bench, &request()).done, 1);
    assert_eq!(fact(&bench, RUN, "cost"), None);
}

#[test]
fn a_stream_that_was_cut_is_paid_from_the_budget() {
    let cut = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"He\"}}]}\n\n\
        data: {\"choices\":[],\"usage\":{\"prompt_tokens\":1000000,\"completion_tokens\":500000}}\n\n";
    let server = Scripted::start(move |seen| match seen.number {
        0 => Reply::new(200).text("text/event-stream", cut),
        1 => calls(&[("c", "query_things", QUERY)]),
        _ => says(ANSWER),
    });
    let bench = plain(&server);
    let view = run(&bench, &LaunchRequest { max_cost: Some(1.5), ..request() });
    assert_eq!((view.stopped, server.delivered()), (1, 2), "{:?}", view.runs);
    assert!((view.cost - 2.00012).abs() < 1e-9, "{}", view.cost);
    assert_eq!(fact(&bench, RUN, "cost").as_deref(), Some("2.00012"));
}

#[test]
fn a_stream_that_was_cut_and_does_not_say_what_it_took_is_put_aside_from_the_budget_and_its_cost_stays_unknown()
 {
    let cut = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"He\"}}]}\n\n";
    let server = Scripted::start(move |seen| match seen.number {
        0 => Reply::new(200).text("text/event-stream", cut),
        1 => calls(&[("c", "query_things", QUERY)]),
        _ => says(ANSWER),
    });
    let bench = plain(&server);
    // A million tokens cost a dollar, and a request has some hundred bytes.
    let view = run(&bench, &LaunchRequest { max_cost: Some(0.0003), ..request() });
    assert_eq!((view.stopped, server.delivered()), (1, 2), "{:?}", view.runs);
    let why = view.why.unwrap();
    // The request has some hundred bytes, three to a token; the partial reply is one word. The two
    // complete replies cost 0.00012.
    let guess = why
        .split("about $")
        .nth(1)
        .and_then(|rest| rest.split(' ').next()?.parse::<f64>().ok())
        .unwrap();
    assert!(
        why.starts_with("The budget of $0.0003 is spent: $0.000120 for replies, and about $"),
        "{why}"
    );
    assert!((0.000_18..0.000_6).contains(&guess), "{why}");
    assert_eq!((fact(&bench, RUN, "cost"), view.unpriced), (None, 1), "a guess is no cost");
    assert_eq!(run(&bench, &request()).done, 1);
}
