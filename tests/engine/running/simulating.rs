//! Tests of virtual APIs simulated by a model: their cost, the failures that stop them, and their
//! effect on a run.
use super::searching::{GIVES, LEVEL, RUN, call_reply, folder, last, only};
use super::stage::{calls, count, says};
use super::{document, request, run};
use crate::bench::Bench;
use crate::scripted::{Reply, Scripted};
use serde_json::json;
use touchstone_api::LaunchRequest;

/// The folder of a search with a simulator behind the cache; `more` is added to its tool, `key` to
/// its model.
fn simulated(server: &Scripted, simulator: &Scripted, more: &str, key: &str) -> Bench {
    let bench = folder(server, "method: CoT@1, offer: query", "");
    let (url, own) = (simulator.url("/v1"), server.url("/v1"));
    let price = "price: { input: 1000000.0, output: 0.0 }";
    bench.write(
        "touchstone.yaml",
        format!(
            "input_dir: tasks\noutput_dir: results\nmodels:\
             \n  scripted: {{ provider: openai, base_url: '{own}', model: any, price: {{ input: \
             0.0, output: 0.0 }} }}\n  sim: {{ provider: openai, base_url: '{url}', model: sim, \
             {price}{key} }}\nsystems: {{ tool_calling: {{ method: CoT@1, offer: query }} }}\n\
             tools: {{ apis: {{ kind: virtual, cache: apis, simulator: sim{more} }} }}\n"
        ),
    );
    bench
}

/// A model that looks up two uncached places in turn, then answers.
fn looks_twice() -> Scripted {
    Scripted::start(|seen| match count(seen, "tool") {
        0 => call_reply(LEVEL, r#"{"place": "Nowhere"}"#),
        1 => call_reply(LEVEL, r#"{"place": "Elsewhere"}"#),
        _ => call_reply("Finish", GIVES),
    })
}

#[test]
fn simulated_replies_are_paid_for_like_any_other() {
    let (server, simulator) =
        (looks_twice(), Scripted::always(says(r#"{"error": "", "response": "dry"}"#)));
    let bench = simulated(&server, &simulator, "", "");
    let view = run(&bench, &only("G1_instruction/1"));
    // Each costs 100 dollars.
    assert_eq!(
        (view.done, view.cost, view.tokens),
        (1, 200.0, Some(3 * 110 + 2 * 110)),
        "{view:?}"
    );
    assert_eq!(simulator.seen().len(), 2);
}

#[test]
fn a_budget_that_is_spent_buys_no_simulated_reply() {
    let server = Scripted::start(|seen| match count(seen, "tool") {
        0 => calls(&[("a", LEVEL, r#"{"place": "Nowhere"}"#)]),
        _ => call_reply("Finish", GIVES),
    });
    let simulator = Scripted::always(says(r#"{"error": "", "response": "dry"}"#));
    let bench = simulated(&server, &simulator, "", "");
    let most = LaunchRequest { max_cost: Some(50.0), concurrency: Some(1), ..request() };
    let view = run(&bench, &most);
    assert_eq!((simulator.seen().len(), view.cost), (1, 100.0), "{view:?}");
    assert!(
        view.why.as_deref().is_some_and(|why| why.contains("budget of $50 is spent")),
        "{view:?}"
    );
}

#[test]
fn a_simulated_reply_that_broke_off_is_put_aside_from_the_budget() {
    let reply = || says(r#"{"error": "", "response": "dry"}"#);
    let simulator =
        Scripted::start(move |seen| if seen.number == 0 { reply().cut_after(60) } else { reply() });
    let server = looks_twice();
    let bench = simulated(&server, &simulator, "", "");
    // A million tokens cost a million dollars.
    let most = LaunchRequest { max_cost: Some(100.5), concurrency: Some(1), ..only("*/1") };
    let view = run(&bench, &most);
    assert_eq!((simulator.seen().len(), view.cost, view.unpriced), (2, 100.0, 1), "{view:?}");
    assert!(
        view.why.as_deref().is_some_and(|why| why.contains("$100.000000 for replies, and about $")),
        "{view:?}"
    );
}

#[test]
fn a_simulator_whose_key_is_refused_stops_the_launch() {
    let refused = json!({ "error": { "message": "wrong key", "type": "invalid_request_error", "code": "invalid_api_key" } });
    let (server, simulator) = (looks_twice(), Scripted::always(Reply::json(&refused).status(401)));
    let bench = simulated(&server, &simulator, "", "");
    let view = run(&bench, &LaunchRequest { concurrency: Some(1), ..request() });
    assert_eq!((simulator.seen().len(), view.done), (1, 0), "{view:?}");
    assert!(view.why.is_some(), "{view:?}");
}

#[test]
fn a_simulator_without_its_key_is_told_before_anything_is_bought() {
    let (server, simulator) = (looks_twice(), Scripted::always(says("")));
    let bench = simulated(&server, &simulator, "", ", api_key_env: TOUCHSTONE_NO_SUCH_KEY");
    let plan = bench.app().launches().plan_launch(&request()).unwrap();
    assert_eq!((plan.owed_total, plan.skipped_total, plan.blocked[0].runs), (3, 0, 3));
    let why = &plan.blocked[0].why;
    assert!(why.contains("simulator `sim`") && why.contains("TOUCHSTONE_NO_SUCH_KEY"), "{why}");
}

#[test]
fn an_api_whose_server_broke_off_is_no_call_that_worked() {
    let (server, simulator) = (looks_twice(), Scripted::always(Reply::new(400)));
    let bench = simulated(&server, &simulator, ", order: mirrorapi", "");
    run(&bench, &only("G1_instruction/1"));
    let shown: Vec<String> = server
        .seen()
        .iter()
        .filter(|seen| count(seen, "tool") == 1)
        .map(|seen| last(seen).1)
        .collect();
    assert_eq!(
        shown,
        [r#"{"error": "request invalid, data error. status_code=500", "response": ""}"#]
    );
    let tree = document(&bench, RUN).run().unwrap().tree.unwrap();
    assert!(tree.nodes[1].trouble.is_some(), "{:?}", tree.nodes[1]);
}

#[test]
fn the_key_of_real_apis_is_among_the_keys_that_can_be_stored() {
    let (server, simulator) = (looks_twice(), Scripted::always(says("")));
    let bench = simulated(&server, &simulator, ", url: 'http://127.0.0.1:9/rapidapi'", "");
    let keys = bench.app().settings().keys().unwrap();
    let key = keys.iter().find(|key| key.name == "TOOLBENCH_KEY").unwrap();
    assert_eq!(key.used_by, ["apis"]);
}
