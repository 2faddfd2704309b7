//! Tests of the order of sources, and of their requests.
use super::{KEPT, KEY, Stage, call, chat, completion, echo, reply_json};
use crate::scripted::{Latch, Reply, Scripted};
use fs_err as fs;
use serde_json::json;
use tokio_util::sync::CancellationToken;
use touchstone_formats::stabletoolbench::cache_file::KeyForm;
use touchstone_formats::stabletoolbench::check::Rules;
use touchstone_formats::stabletoolbench::strip::Strip;
use touchstone_formats::workspace;
use touchstone_runner::setup::Setup;
use touchstone_runner::tools::virtual_api::{Order, Origin, Save, Shorten, Style, look};

#[tokio::test]
async fn what_is_not_kept_is_simulated_once_and_then_kept() {
    let model = Scripted::start(echo);
    let stage = Stage::new().with_tools().simulated_by(&model);
    let apis = stage.open();
    let first = call(&apis, r#"{"id":"G-1"}"#).await;
    assert_eq!(
        (first.from, reply_json(&first)),
        (Origin::Simulated, json!({"error": "", "response": "{'id': 'G-1'}"}))
    );
    assert_eq!(
        stage.read(KEPT).unwrap(),
        "{\n    \"{'id': 'G-1'}\": {\n        \"error\": \"\",\n        \"response\": \"{'id': 'G-1'}\"\n    }\n}"
    );
    let again = call(&apis, r#"{ "id": "G-1" }"#).await;
    assert_eq!(
        (again.from, reply_json(&again)),
        (Origin::Hit(KeyForm::Python), reply_json(&first))
    );
    assert_eq!(model.seen().len(), 1);
    let asked = model.seen()[0].json();
    assert_eq!(
        (&asked["temperature"], &asked["max_tokens"], &asked["seed"]),
        (&json!(0.1), &json!(2048), &json!(42))
    );
    let words = asked["messages"][1]["content"].as_str().unwrap();
    for part in [
        "'api_name': 'Level of gauge'",
        "'tool_category': 'Weather'",
        "'required_parameters': [{'name': 'id'",
        "Water levels",
    ] {
        assert!(words.contains(part), "{part} is not in {words}");
    }
}

#[tokio::test]
async fn any_model_is_shown_what_the_api_said_before() {
    let model = Scripted::always(completion(
        "```json\n{\"error\": \"\", \"response\": {\"level\": 3}}\n```",
    ));
    let stage =
        Stage::new().with_tools().simulated_by(&model).set(|settings| settings.style = Style::Gpt);
    let entries: Vec<String> = (0..9)
        .map(|n| format!(r#""{{'id': 'E{n}'}}": {{"error": "", "response": {n}}}"#))
        .collect();
    stage.write(KEPT, &format!("{{{}}}", entries.join(",")));
    let reply = call(&stage.open(), r#"{"id":"G-1"}"#).await;
    assert_eq!(reply_json(&reply), json!({"error": "", "response": {"level": 3}}));
    let asked = model.seen()[0].json();
    assert_eq!((&asked["temperature"], &asked["max_tokens"]), (&json!(0), &json!(1024)));
    assert_eq!(asked["response_format"], json!({"type": "json_object"}));
    let words = asked["messages"][1]["content"].as_str().unwrap();
    assert!(
        words.contains("'E4'} -> {'error': '', 'response': 4}") && !words.contains("E5"),
        "{words}"
    );
}

#[tokio::test]
async fn a_simulator_is_asked_three_times_and_its_failure_is_kept_only_where_that_is_asked_for() {
    for (save, files) in [(Save::Successes, 0), (Save::All, 1), (Save::Nothing, 0)] {
        let model = Scripted::always(completion("I cannot do that."));
        let stage = Stage::new().simulated_by(&model).set(|settings| settings.save = save);
        let apis = stage.open();
        let reply = call(&apis, "{}").await;
        assert_eq!(
            (reply.from, reply.error().as_str()),
            (Origin::Failed, "Failed to generate fake response")
        );
        assert!(reply.notes[0].contains("3 times"), "{:?}", reply.notes);
        assert_eq!((model.seen().len(), stage.cached_entries(KEPT).len()), (3, files));
        let seeds: Vec<_> = model.seen().iter().map(|seen| seen.json()["seed"].clone()).collect();
        assert_eq!(seeds, [json!(42), json!(43), json!(44)], "the same chance would say the same");
        let more = if files == 1 { 0 } else { 3 };
        call(&apis, "{}").await;
        assert_eq!(model.seen().len(), 3 + more);
    }
}

#[tokio::test]
async fn the_second_try_counts_when_the_first_said_nothing() {
    let model =
        Scripted::sequence([completion("nope"), completion(r#"{"error":"","response":"b "c"}"#)]);
    let reply = call(&Stage::new().simulated_by(&model).open(), "{}").await;
    assert_eq!(
        (reply.from, reply_json(&reply)),
        (Origin::Simulated, json!({"error": "", "response": "b \"c\"}"}))
    );
}

#[tokio::test]
async fn what_was_cut_is_no_reply_however_well_its_beginning_reads() {
    let mut cut = chat(r#"{"error":"","response":"the first ha"}"#);
    cut["choices"][0]["finish_reason"] = json!("length");
    for (order, said_first) in [(Order::Mirror, false), (Order::MainMirror, true)] {
        let model = Scripted::sequence([
            Reply::json(&cut),
            completion(r#"{"error":"","response":"whole"}"#),
        ]);
        let stage =
            Stage::new().with_tools().simulated_by(&model).set(|settings| settings.order = order);
        let reply = call(&stage.open(), r#"{"id":"G-1"}"#).await;
        let expected = if said_first { "the first ha" } else { "whole" };
        assert_eq!(reply_json(&reply)["response"], expected, "{order:?}");
    }
}

#[tokio::test]
async fn real_apis_are_asked_instead_and_their_successes_are_kept() {
    let real = Scripted::start(|seen| match seen.json()["tool_input"]["id"].as_str() {
        Some("good") => Reply::json(&json!({"error": "", "response": "level 3"})),
        Some("price") => Reply::json(&json!({"error": "", "response": "level 1500"})),
        Some("page") => Reply::new(200).text("text/html", "<html>"),
        _ => Reply::new(503),
    });
    let url = real.url("/rapidapi");
    for (check, kept) in [(Rules::Compat, 1), (Rules::Strict, 2)] {
        let stage = Stage::new().set(|settings| {
            settings.order = Order::Real;
            settings.url = Some(url.clone());
            settings.check = check;
        });
        let apis = stage.open();
        assert_eq!(call(&apis, r#"{"id":"good"}"#).await.from, Origin::Real);
        assert_eq!(call(&apis, r#"{"id":"good"}"#).await.from, Origin::Hit(KeyForm::Python));
        // A rejected reply is still returned.
        assert_eq!(call(&apis, r#"{"id":"price"}"#).await.response(), "level 1500".into());
        let page = call(&apis, r#"{"id":"page"}"#).await;
        assert!(page.from == Origin::Failed && page.error().contains("not JSON"), "{page:?}");
        assert!(call(&apis, r#"{"id":"none"}"#).await.error().contains("503"));
        assert_eq!(stage.cached_entries(KEPT).len(), kept);
        assert!(!stage.read(KEPT).unwrap().contains(KEY));
    }
    let seen = &real.seen()[0];
    assert_eq!(seen.headers["toolbench_key"], KEY);
    assert!(!seen.headers.contains_key("authorization"));
    assert_eq!(
        seen.json(),
        json!({"category": "Weather", "tool_name": "river_gauge", "api_name": "level_of_gauge", "tool_input": {"id": "good"},
            "strip": "", "toolbench_key": KEY})
    );
}

#[tokio::test]
async fn where_a_simulator_fails_the_real_api_is_asked_and_the_other_way_round_in_the_order_of_the_original()
 {
    let (model, real) = (
        Scripted::always(completion("nope")),
        Scripted::always(Reply::json(&json!({"error": "", "response": "r"}))),
    );
    let url = real.url("/");
    let stage = Stage::new().simulated_by(&model).set(|settings| settings.url = Some(url));
    assert_eq!(call(&stage.open(), "{}").await.from, Origin::Real);
    let (model, real) = (Scripted::start(echo), Scripted::always(Reply::new(500)));
    let url = real.url("/");
    let stage = Stage::new().simulated_by(&model).set(|settings| {
        settings.url = Some(url);
        settings.order = Order::Main;
        settings.style = Style::Gpt;
    });
    assert_eq!(call(&stage.open(), "{}").await.from, Origin::Simulated);
    assert_eq!(real.seen().len(), 1);
    let asked = real.seen()[0].json();
    assert_eq!(
        (&asked["tool_name"], &asked["api_name"]),
        (&json!("river_gauge"), &json!("level_of_gauge"))
    );
}

#[tokio::test]
async fn without_a_cache_everything_is_asked_again_and_nothing_is_written() {
    let model = Scripted::start(echo);
    let stage = Stage::new().simulated_by(&model).set(|settings| settings.cache = None);
    let apis = stage.open();
    for _ in 0..2 {
        assert_eq!(call(&apis, "{}").await.from, Origin::Simulated);
    }
    assert_eq!(model.seen().len(), 2);
    assert!(!stage.path("").exists());
}

#[tokio::test]
async fn an_input_that_is_no_json_and_a_call_that_nobody_can_answer_are_told() {
    let apis = Stage::new().open();
    let unread = call(&apis, "{'id': 1}").await;
    assert_eq!(
        (unread.from, reply_json(&unread)),
        (Origin::Unread, json!({"error": "Tool input parse error...\n", "response": ""}))
    );
    let nobody = call(&apis, "").await;
    assert!(nobody.error().contains("no simulator is set"), "{nobody:?}");
    let stop = CancellationToken::new();
    let chat = apis.call("Data", "t", "chat_with_user", "{}", "", &stop).await.unwrap();
    assert_eq!(reply_json(&chat), json!({"error": "", "response": "Chat with user."}));
}

#[tokio::test]
async fn a_reply_is_made_short_where_the_settings_say_so() {
    let long = json!({ "error": "", "response": { "text": "x".repeat(3000) } }).to_string();
    let model = Scripted::always(completion(&long));
    let stage = Stage::new().simulated_by(&model);
    let whole = call(&stage.open(), "{}").await;
    assert_eq!(reply_json(&whole)["response"]["text"].as_str().unwrap().len(), 3000);
    let apis = stage.set(|settings| settings.strip = Some(Shorten::Always(Strip::Truncate))).open();
    let short = call(&apis, "{}").await;
    let text = reply_json(&short)["response"].as_str().unwrap().to_owned();
    assert!(text.starts_with("{'text': 'xxx") && text.len() == 2048, "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_call_at_the_same_time_is_bought_once_and_kept_though_nobody_waits_any_more() {
    let latch = Latch::default();
    let held = latch.clone();
    let model = Scripted::start(move |seen| echo(seen).once_open(&held));
    let stage = Stage::new().simulated_by(&model);
    let apis = stage.open();
    let stop = CancellationToken::new();
    let gone = apis.call("Weather", "River Gauge", "Level of gauge", r#"{"id":1}"#, "", &stop);
    let many = futures_util::future::join_all((0..50).map(|_| call(&apis, r#"{"id":1}"#)));
    let open = async {
        tokio::task::block_in_place(|| model.wait_for(1));
        stop.cancel();
        tokio::task::yield_now().await;
        latch.open();
    };
    let (gone, many, ()) = tokio::join!(gone, many, open);
    assert_eq!(gone, None, "who is stopped gets nothing");
    assert!(many.iter().all(|reply| reply_json(reply)["response"] == "{'id': 1}"));
    assert_eq!((model.seen().len(), stage.cached_entries(KEPT).len()), (1, 1));
}

#[tokio::test]
async fn the_log_has_a_line_for_every_call_and_no_key() {
    let model = Scripted::start(echo);
    let stage = Stage::new().simulated_by(&model);
    let log = stage.home.path().join("calls.jsonl");
    let stage = stage.set(|settings| settings.log = Some(log.clone()));
    let apis = stage.open();
    for _ in 0..2 {
        let body = json!({"category": "Weather", "tool_name": "t", "api_name": "a", "tool_input": "{\"a\": 1}", "strip": "", "toolbench_key": KEY});
        let asked = touchstone_formats::stabletoolbench::request::read(body.to_string().as_bytes())
            .unwrap();
        apis.answer(asked, &CancellationToken::new()).await.unwrap();
    }
    let text = fs::read_to_string(log).unwrap();
    let lines: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let kinds: Vec<_> = lines.iter().map(|line| line["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["fake_response", "cached_real_response"]);
    assert_eq!(lines[0]["request"]["tool_input"], json!({"a": 1}));
    assert_eq!(lines[1]["response"], lines[0]["response"]);
    assert!(!text.contains("canary"), "{text}");
}

#[tokio::test]
async fn the_doctor_says_what_there_is_and_what_is_missing() {
    let model = Scripted::start(echo);
    let stage = Stage::new().simulated_by(&model);
    let setup = |stage: &Stage| Setup::from_workspace(&workspace::read(&stage.models).unwrap());
    let said = look(&stage.settings, &setup(&stage)).await.unwrap();
    assert!(
        said.contains("created with the first reply") && said.contains("sim can be reached"),
        "{said}"
    );
    stage.write(KEPT, "{}");
    stage.write("Weather/river_gauge_for_Weather/other.json", "{}");
    assert!(look(&stage.settings, &setup(&stage)).await.unwrap().contains("replies of 2 APIs"));
    assert_eq!(model.seen().len(), 0, "nothing was bought");
    // A port that was just released, so nothing listens there.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let models = format!(
        "models: {{ sim: {{ provider: openai, base_url: 'http://127.0.0.1:{port}/v1', model: stub }} }}"
    );
    let stage = Stage { models, ..stage };
    let gone = look(&stage.settings, &setup(&stage)).await.unwrap_err();
    assert!(gone.message.contains("does not answer"), "{gone}");
    let nobody = stage.set(|settings| settings.simulator = Some("nobody".to_owned()));
    assert!(look(&nobody.settings, &setup(&nobody)).await.is_err());
}
