//! Tests of the cache of virtual APIs on disk: every layout is found, files are never destroyed,
//! and nothing is lost.
use super::{KEPT, KEY, Stage, call, echo, reply_json};
use crate::scripted::{Reply, Scripted};
use fs_err as fs;
use futures_util::future::join_all;
use serde_json::json;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;
use touchstone_formats::stabletoolbench::cache_file::KeyForm;
use touchstone_runner::tools::virtual_api::{Order, Origin, Save};

#[tokio::test]
async fn replies_are_found_in_every_layout_and_under_every_form_of_their_key() {
    let input = r#"{"b":1,"a":"x"}"#;
    let (python, sorted, json) = ("{'b': 1, 'a': 'x'}", "{'a': 'x', 'b': 1}", r#"{"a":"x","b":1}"#);
    for (file, key, form) in [
        (KEPT, python, KeyForm::Python),
        (KEPT, sorted, KeyForm::PythonSorted),
        (KEPT, json, KeyForm::Json),
        ("Weather/River Gauge/Level_of_gauge.json", python, KeyForm::Python),
        ("Weather/river_gauge/level_of_gauge.json", json, KeyForm::Json),
    ] {
        let stage = Stage::new();
        stage.write(file, &json!({ key: {"error": "", "response": file} }).to_string());
        let reply = call(&stage.open(), input).await;
        assert_eq!(
            (reply.from, reply_json(&reply)["response"].as_str()),
            (Origin::Hit(form), Some(file)),
            "{key}"
        );
    }
    // The first location takes precedence.
    let stage = Stage::new();
    for file in ["Weather/river_gauge/level_of_gauge.json", KEPT] {
        stage.write(file, &json!({ python: {"error": "", "response": file} }).to_string());
    }
    assert_eq!(reply_json(&call(&stage.open(), input).await)["response"], KEPT);
}

#[tokio::test]
async fn a_cache_that_several_programs_wrote_is_read_as_it_is() {
    let dir = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/fixtures/stabletoolbench/cache");
    let stage = Stage::new().set(|settings| settings.cache = Some(dir));
    let apis = stage.open();
    let python = Origin::Hit(KeyForm::Python);
    let library = "Municipal Library Catalogue And Lending Statistics Service";
    for (tool, api, input, from, response) in [
        (
            "River Gauge",
            "Level of gauge",
            r#"{"id":"G-1"}"#,
            python,
            json!({"level": 143.0, "unit": "cm", "place": "Z\u{fc}rich"}),
        ),
        (
            "river_gauge_for_Weather",
            "level_of_gauge",
            r#"{"id":"G-1","smooth":true}"#,
            python,
            json!("[141, 143]"),
        ),
        (
            "River Gauge",
            "Level of gauge",
            r#"{"smooth":true,"id":"G-1"}"#,
            Origin::Hit(KeyForm::PythonSorted),
            json!("[141, 143]"),
        ),
        ("river_gauge", "level_of_gauge_for_river_gauge", "", python, json!("")),
        (
            "River Gauge",
            "Gauges near",
            r#"{"lat":47.40,"lon":8.55}"#,
            python,
            json!([{"id": "G-1", "km": 1.5}, {"id": "G-7", "km": 4.0}]),
        ),
        (
            library,
            "Catalogue",
            r#"{"words":["river","bank"],"page":2}"#,
            Origin::Hit(KeyForm::Json),
            json!({"found": 0}),
        ),
    ] {
        let category = if tool == library { "Education" } else { "Weather" };
        let reply =
            apis.call(category, tool, api, input, "", &CancellationToken::new()).await.unwrap();
        assert_eq!(
            (reply.from, &reply_json(&reply)["response"]),
            (from, &response),
            "{api} {input}"
        );
    }
    let cut = apis
        .call(
            "Weather",
            "River Gauge",
            "3 day outlook",
            r#"{"id":"G-1"}"#,
            "",
            &CancellationToken::new(),
        )
        .await;
    let cut = cut.unwrap();
    assert!(
        cut.from == Origin::Failed && cut.notes.iter().any(|note| note.contains("cannot be read")),
        "{cut:?}"
    );
    assert_eq!(
        cut.error(),
        "This call is not in the cache, and no simulator is set.",
        "models hear nothing of folders"
    );
    let said = "This call is not in the cache, and no simulator is set.";
    assert_eq!(cut.error(), said, "models hear nothing of folders");
}

#[tokio::test]
async fn a_file_that_another_program_changed_is_read_again() {
    let stage = Stage::new();
    let apis = stage.open();
    let entry = |n: usize| json!({"{}": {"error": "", "response": n}}).to_string();
    for n in 0..5 {
        // Like the original, the file is overwritten in place.
        stage.write(KEPT, &entry(n * 10_usize.pow(u32::try_from(n).unwrap())));
        assert_eq!(
            reply_json(&call(&apis, "{}").await)["response"],
            n * 10_usize.pow(u32::try_from(n).unwrap())
        );
    }
    // Also immediately, with an equal number of bytes.
    for n in 5..9 {
        stage.write(KEPT, &entry(n));
        assert_eq!(reply_json(&call(&apis, "{}").await)["response"], n);
    }
    fs::remove_file(stage.path(KEPT)).unwrap();
    assert_eq!(call(&apis, "{}").await.from, Origin::Failed);
}

#[tokio::test]
async fn a_file_that_cannot_be_read_is_never_touched_and_new_replies_are_kept_beside_it() {
    for broken in ["{\"broken\"}", "[]", "", "{\"{}\": {\"error\": \"\", \"respon"] {
        let model = Scripted::start(echo);
        let stage = Stage::new().simulated_by(&model);
        stage.write(KEPT, broken);
        let reply = call(&stage.open(), r#"{"a":1}"#).await;
        assert_eq!(reply.from, Origin::Simulated, "the answer is given all the same");
        assert!(
            reply.notes.iter().any(|note| note.contains("cannot be read")),
            "{:?}",
            reply.notes
        );
        assert_eq!(stage.read(KEPT).as_deref(), Some(broken));
        let beside = KEPT.replace(".json", ".beside.json");
        assert_eq!(stage.cached_entries(&beside).len(), 1);
        let again = call(&stage.open(), r#"{"a":1}"#).await;
        assert_eq!(
            (again.from, reply_json(&again)),
            (Origin::Hit(KeyForm::Python), reply_json(&reply))
        );
        assert_eq!(model.seen().len(), 1);
    }
}

#[tokio::test]
async fn what_stands_in_a_file_stays_in_its_order_whoever_wrote_it() {
    let model = Scripted::start(echo);
    let stage = Stage::new().simulated_by(&model);
    let old =
        "{\"z\" : {\"error\":\"\",\"response\":1e400, \"more\":[NaN]},\n\"a\": \"odd \\ud83d\"";
    stage.write(KEPT, &format!("{old} }}"));
    call(&stage.open(), r#"{"a":1}"#).await;
    let new = stage.read(KEPT).unwrap();
    assert!(new.starts_with(old) && new.ends_with("\n    }\n}"), "{new}");
}

#[tokio::test]
async fn no_name_leads_out_of_the_folder() {
    let model = Scripted::start(echo);
    let stage = Stage::new().simulated_by(&model);
    let apis = stage.open();
    fs::create_dir_all(stage.path("")).unwrap();
    fs::create_dir_all(stage.home.path().join("outside")).unwrap();
    fs::write(
        stage.home.path().join("outside/a.json"),
        r#"{"{}": {"error": "", "response": "secret"}}"#,
    )
    .unwrap();
    symlink(stage.home.path().join("outside"), stage.path("Linked")).unwrap();
    fs::create_dir_all(stage.home.path().join("outside/t_for_Linked")).unwrap();
    fs::copy(
        stage.home.path().join("outside/a.json"),
        stage.home.path().join("outside/t_for_Linked/a.json"),
    )
    .unwrap();
    for (category, tool, api) in [
        ("..", "outside", "a"),
        ("../outside", "t", "a"),
        ("Data", "../../outside", "a"),
        ("Data", "../../outside_for_Data", "../a"),
        ("/etc", "passwd", "a"),
        (".", "outside", "a"),
        ("", "", ""),
        ("a\0b", "t", "a"),
        ("Linked", "t", "a"),
        ("..\\..", "t", "a"),
    ] {
        let reply =
            apis.call(category, tool, api, "{}", "", &CancellationToken::new()).await.unwrap();
        assert_eq!(reply.from, Origin::Simulated, "{category} {tool} {api}");
    }
    let mut outside: Vec<_> =
        fs::read_dir(stage.home.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    outside.sort();
    assert_eq!(outside, ["cache", "outside"]);
    assert_eq!(fs::read_dir(stage.home.path().join("outside")).unwrap().count(), 2);
    assert_eq!(fs::read_dir(stage.home.path().join("outside/t_for_Linked")).unwrap().count(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_calls_at_once_to_one_api_none_is_lost() {
    let model = Scripted::start(echo);
    let stage = Stage::new().simulated_by(&model);
    let old: serde_json::Map<_, _> =
        (0..50).map(|n| (format!("{{'id': {n}}}"), json!({"error": "", "response": n}))).collect();
    stage.write(KEPT, &serde_json::Value::Object(old).to_string());
    // Two independent instances, like two processes; each call is made by both.
    let apis = [Arc::new(stage.open()), Arc::new(stage.open())];
    let calls = (0..400).map(|n| {
        let apis = Arc::clone(&apis[n % 2]);
        tokio::spawn(async move { call(&apis, &format!(r#"{{"id":{}}}"#, n / 2)).await })
    });
    for (n, reply) in join_all(calls).await.into_iter().enumerate() {
        let (n, reply) = (n / 2, reply.unwrap());
        let wanted = if n < 50 { json!(n) } else { json!(format!("{{'id': {n}}}")) };
        assert_eq!(reply_json(&reply)["response"], wanted);
    }
    let kept = stage.cached_entries(KEPT);
    assert_eq!(kept.len(), 200);
    assert!(kept.iter().take(50).enumerate().all(|(n, (key, _))| *key == format!("{{'id': {n}}}")));
    assert_eq!(
        fs::read_dir(stage.path(KEPT).parent().unwrap()).unwrap().count(),
        1,
        "nothing half-written stays"
    );
}

#[tokio::test]
async fn a_reply_that_cannot_be_kept_is_given_and_that_is_said() {
    let model = Scripted::start(echo);
    let stage = Stage::new().simulated_by(&model);
    // A file in the place of the folder.
    fs::create_dir_all(stage.path("")).unwrap();
    fs::write(stage.path("Weather"), "mine").unwrap();
    let reply = call(&stage.open(), "{}").await;
    assert_eq!(reply.from, Origin::Simulated);
    assert!(
        reply.notes.iter().any(|note| note.contains("could not be saved")),
        "{:?}",
        reply.notes
    );
    assert_eq!(stage.read("Weather").as_deref(), Some("mine"));
}

#[tokio::test]
async fn a_key_that_comes_back_or_is_sent_along_stands_in_no_file_and_in_no_note() {
    let mine = "caller-canary-987654321";
    let real = Scripted::start(move |seen| {
        let body = seen.json();
        match body["tool_input"]["how"].as_str() {
            Some("told") => Reply::json(
                &json!({ "error": "", "response": format!("{KEY} and {mine}"), "sent": body["tool_input"] }),
            ),
            _ => Reply::new(200).text("text/plain", &format!("not for {KEY}")),
        }
    });
    let url = real.url("/rapidapi");
    let stage = Stage::new();
    let log = stage.home.path().join("calls.jsonl");
    let stage = stage.set(|settings| {
        settings.order = Order::Real;
        settings.url = Some(url);
        settings.log = Some(log.clone());
    });
    let apis = stage.open();
    let asked = async |how: &str| {
        let input = json!({ "how": how, "token": KEY }).to_string();
        let body = json!({ "category": "Weather", "tool_name": "River Gauge", "api_name": "Level of gauge", "tool_input": input,
            "strip": "", "toolbench_key": mine });
        let asked = touchstone_formats::stabletoolbench::request::read(body.to_string().as_bytes())
            .unwrap();
        apis.answer(asked, &CancellationToken::new()).await.unwrap()
    };
    let first = asked("told").await;
    assert_eq!(reply_json(&first)["response"], "[redacted] and [redacted]");
    assert_eq!(
        real.seen()[0].json()["tool_input"]["token"],
        KEY,
        "the API itself gets what it is called with"
    );
    let again = asked("told").await;
    assert_eq!(
        (again.from, reply_json(&again)),
        (Origin::Hit(KeyForm::Python), reply_json(&first))
    );
    let odd = asked("odd").await;
    assert_eq!(odd.from, Origin::Failed);
    let kept = stage.read(KEPT).unwrap();
    assert!(kept.contains("[redacted] and [redacted]"), "{kept}");
    for text in [kept, fs::read_to_string(&log).unwrap(), format!("{odd:?}")] {
        assert!(!text.contains("canary"), "{text}");
    }
}

#[tokio::test]
async fn a_simulator_that_could_not_be_asked_leaves_nothing_in_the_cache_though_failures_are_kept()
{
    let model = Scripted::always(
        Reply::json(&json!({ "error": { "message": "no such key" } })).status(401),
    );
    let stage = Stage::new().simulated_by(&model).set(|settings| settings.save = Save::All);
    let apis = stage.open();
    for _ in 0..2 {
        assert_eq!(call(&apis, "{}").await.from, Origin::Failed);
    }
    assert_eq!((model.seen().len(), stage.cached_entries(KEPT).len()), (2, 0));
}
