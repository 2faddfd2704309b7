//! Tests of PromptQL runs, end to end, and of recordings in place of providers.
use super::stage::{folder_with, refuses};
use super::{document, run};
use crate::bench::{Bench, beside_the_project};
use crate::canary;
use crate::scripted::{Reply, Scripted};
use fs_err as fs;
use serde_json::{Value, json};
use touchstone_api::{LaunchRequest, LaunchRunState};
use touchstone_formats::transcript::Document;
use touchstone_model::json as formats;

const TASK: &str = "promptql_prompt: How many {what}?\nexpected_promptql_artifact: table\nvariations: [{what: trees}]\n";
pub(super) const PQL: &str = "results/count-promptql-scripted-variation0.yaml";

fn workspace(server: &Scripted, settings: &str) -> String {
    let url = server.url("");
    format!(
        "input_dir: tasks\noutput_dir: results\nmodels:\
         \n  scripted: {{ provider: openai, model: m-1, base_url: '{url}' }}\nsystems:\n  promptql:\
         \n    base_url: '{url}'\n    key: PQL_KEY\n{settings}"
    )
}

const V1: &str = "    version: v1\n    ddn: { url: 'https://sql.example', headers: { x-role: admin, x-token: { env: DDN_TOKEN } } }\n";
pub(super) const V2: &str =
    "    build_version: b1\n    ddn: { headers: { x-token: { env: DDN_TOKEN } } }\n";
const KEY: &str = "pql-canary/key+0123456789";
const TOKEN: &str = "ddn-canary/token=987654321";

pub(super) fn folder(server: &Scripted, settings: &str) -> Bench {
    let bench = super::folder_of(&workspace(server, settings), TASK);
    bench.key("PQL_KEY", KEY).key("DDN_TOKEN", TOKEN).open()
}

pub(super) fn promptql_launch() -> LaunchRequest {
    LaunchRequest {
        systems: vec!["promptql".into()],
        models: vec!["scripted".into()],
        ..LaunchRequest::default()
    }
}

pub(super) fn answers() -> Value {
    let artifact = |n: u32| json!({ "identifier": "table", "title": "T", "artifact_type": "table", "data": [{ "n": n }] });
    json!({
        "thread_id": "t", "assistant_actions": [{ "message": "Done.", "plan": null, "code": "print(1)", "code_output": "1", "code_error": null }],
        "modified_artifacts": [artifact(1), artifact(2)],
    })
}

fn get(document: &Document, key: &str) -> Option<String> {
    document.get(key).map(|value| formats::write(value, false))
}

#[test]
fn both_versions_are_asked_and_the_last_artifact_of_its_name_is_the_answer() {
    for settings in [V1, V2] {
        let server = Scripted::always(Reply::json(&answers()));
        let bench = folder(&server, settings);
        let view = run(&bench, &promptql_launch());
        assert_eq!(
            (view.done, view.runs[0].state),
            (1, LaunchRunState::Answered),
            "{:?}",
            view.runs
        );
        let document = document(&bench, PQL);
        assert_eq!(get(&document, "answer").as_deref(), Some(r#"[{"n":2}]"#));
        assert_eq!(
            serde_json::from_str::<Value>(&get(&document, "output").unwrap()).unwrap(),
            answers()
        );
        let seen = &server.seen()[0];
        let body = seen.json();
        assert_eq!(
            (seen.path.as_str(), seen.headers["authorization"].as_str()),
            ("/query", &*format!("Bearer {KEY}"))
        );
        assert_eq!(body["version"], if settings == V1 { "v1" } else { "v2" });
        assert_eq!(body["ddn"]["headers"]["x-token"], TOKEN, "it is sent, and written nowhere");
        assert_eq!(
            body["interactions"],
            json!([{ "user_message": { "text": "How many trees?" } }])
        );
        for secret in [KEY, TOKEN] {
            assert_eq!(canary::search(bench.path("").parent().unwrap(), secret), []);
        }
        assert_eq!(bench.app().launches().plan_launch(&promptql_launch()).unwrap().owed_total, 0);
    }
}

#[test]
fn a_reply_that_was_taken_away_is_asked_for_anew() {
    let server = Scripted::always(Reply::json(&answers()));
    let bench = folder(&server, V2);
    for asked in 1..=3 {
        assert_eq!((run(&bench, &promptql_launch()).done, server.delivered()), (1, asked));
        bench.remove(PQL);
    }
}

#[test]
fn an_error_is_kept_as_it_came_and_the_run_is_made_again_from_the_start() {
    let server = Scripted::start(|seen| match seen.number {
        0 => refuses(400, "bad_request", "no such build"),
        _ => Reply::json(&answers()),
    });
    let bench = folder(&server, V2);
    let view = run(&bench, &promptql_launch());
    assert_eq!(view.failed, 1, "{:?}", view.runs);
    let document = document(&bench, PQL);
    let error: Value = serde_json::from_str(&get(&document, "error").unwrap()).unwrap();
    assert_eq!(
        (&error["status"], &error["body"]["error"]["message"]),
        (&json!(400), &json!("no such build"))
    );
    assert!(error["message"].as_str().unwrap().contains("no such build"));
    assert_eq!((run(&bench, &promptql_launch()).done, server.delivered()), (1, 2));
    assert!(super::document(&bench, PQL).get("error").is_none());
}

#[test]
fn a_plan_is_told_to_go_ahead_as_often_as_the_settings_say() {
    let plan = json!({
        "thread_id": "t", "assistant_actions": [{ "message": "I would.", "plan": "1. Look.", "code": null }], "modified_artifacts": [],
    });
    for (times, asked, state) in [
        (0, 1, LaunchRunState::NoAnswer),
        (1, 2, LaunchRunState::NoAnswer),
        (3, 3, LaunchRunState::Answered),
    ] {
        let plan = plan.clone();
        let server = Scripted::start(move |seen| {
            Reply::json(&if seen.number < 2 { plan.clone() } else { answers() })
        });
        let bench = folder(&server, &format!("{V2}    confirm_plans: {times}\n"));
        let view = run(&bench, &promptql_launch());
        assert_eq!((view.runs[0].state, server.delivered()), (state, asked), "{times}");
        let last = server.seen().last().unwrap().json();
        assert_eq!(last["interactions"].as_array().unwrap().len() as u64, asked);
        let output: Value =
            serde_json::from_str(&get(&document(&bench, PQL), "output").unwrap()).unwrap();
        if asked > 1 {
            assert_eq!(
                output["interactions"][1]["user_message"]["text"],
                "Go ahead with this plan."
            );
        }
    }
}

#[test]
fn a_reply_that_is_no_promptql_reply_is_an_error_and_no_answer() {
    let server = Scripted::always(Reply::json(&json!({ "hello": 1 })));
    let bench = folder(&server, V2);
    assert_eq!(run(&bench, &promptql_launch()).failed, 1);
    let document = document(&bench, PQL);
    assert!(document.get("answer").is_none() && document.get("output").is_none());
}

/// A folder with copies of the recorded runs.
fn demo() -> Bench {
    let bench = Bench::new();
    let mut left = vec![beside_the_project("demo")];
    while let Some(path) = left.pop() {
        let below = path.strip_prefix(beside_the_project("demo")).unwrap().to_owned();
        if path.is_dir() {
            left.extend(fs::read_dir(&path).unwrap().flatten().map(|entry| entry.path()));
            fs::create_dir_all(bench.path(below.to_str().unwrap())).unwrap();
        } else {
            fs::copy(&path, bench.path(below.to_str().unwrap())).unwrap();
        }
    }
    bench.open()
}

#[test]
fn a_recorded_run_is_played_again_and_its_tools_really_run() {
    let bench = demo();
    // A wrong row in the recording, so that a result that was only copied would be detected.
    let recorded = "results/churn-risk-tool_calling-claude-variation0.yaml";
    let true_text = fs::read_to_string(bench.path(recorded)).unwrap();
    bench.write(recorded, true_text.replacen("prj-3g39dc", "prj-forged", 1));
    let wanted = LaunchRequest {
        tasks: vec!["churn-risk".into()],
        systems: vec!["tool_calling".into(), "promptql".into()],
        models: vec!["replay".into()],
        variations: vec![0],
        ..LaunchRequest::default()
    };
    let view = run(&bench, &wanted);
    assert_eq!((view.done, view.failed), (2, 0), "{:?}", view.runs);
    assert!(view.cost.abs() < 1e-12 && view.unpriced <= 1);
    let original = Document::read(true_text.as_bytes()).unwrap();
    let played = document(&bench, "results/churn-risk-tool_calling-replay-variation0.yaml");
    assert_eq!(played.get("answer"), original.get("answer"));
    let results = |document: &Document| -> Vec<String> {
        let result = |item: &touchstone_model::value::Value| {
            Some(formats::write(item.get("tool_call")?.get("result")?, false))
        };
        document.items().iter().filter_map(result).collect()
    };
    assert_eq!(results(&played), results(&original));
    assert!(results(&played).len() >= 2 && !played.write().contains("forged"));
    assert_eq!(
        formats::write(played.get("run").unwrap().get("model_id").unwrap(), false),
        r#""replay of claude-3-7-sonnet-latest""#
    );
    let reply = document(&bench, "results/churn-risk-promptql-replay-variation0.yaml");
    let recorded = document(&bench, "results/churn-risk-promptql-claude-variation0.yaml");
    assert_eq!(
        (reply.get("answer"), reply.get("output")),
        (recorded.get("answer"), recorded.get("output"))
    );
}

#[test]
fn settings_that_cannot_be_used_are_said_before_a_result_is_moved_aside() {
    let server = Scripted::always(Reply::json(&answers()));
    let bench = super::folder_of(&workspace(&server, "    version: v2\n"), TASK)
        .file(PQL, "output: {}\n")
        .open();
    let refused = bench
        .app()
        .launches()
        .start_launch(&LaunchRequest { start_over: true, ..promptql_launch() })
        .unwrap_err();
    assert!(refused.message.contains("build_id"), "{refused:?}");
    assert_eq!(server.seen().len(), 0);
    assert_eq!(fs::read_to_string(bench.path(PQL)).unwrap(), "output: {}\n");
}

#[test]
fn a_header_whose_value_is_not_set_is_said_before_anything_is_sent() {
    let llm = "    llm: { scripted: { provider: openai, token: { env: LLM_TOKEN } } }\n";
    for (settings, name) in [
        (V1.to_owned(), "DDN_TOKEN"),
        (V2.to_owned(), "DDN_TOKEN"),
        (format!("{V1}{llm}"), "LLM_TOKEN"),
    ] {
        let server = Scripted::always(Reply::json(&answers()));
        let bench = super::folder_of(&workspace(&server, &settings), TASK).key("PQL_KEY", KEY);
        let bench = if name == "DDN_TOKEN" { bench } else { bench.key("DDN_TOKEN", TOKEN) }.open();
        let plan = bench.app().launches().plan_launch(&promptql_launch()).unwrap();
        assert_eq!((plan.owed_total, plan.blocked_total, plan.blocked[0].runs), (1, 1, 1));
        let why = &plan.blocked[0].why;
        assert_eq!(
            *why,
            format!("{name} is not set, and `systems.promptql` in touchstone.yaml needs it")
        );
        let refused = bench.app().launches().start_launch(&promptql_launch()).unwrap_err();
        assert!(refused.message.contains(why.as_str()), "{refused:?}");
        assert!(server.seen().is_empty() && !bench.path(PQL).exists());
    }
}

#[test]
fn a_run_without_a_recording_is_refused_and_leaves_no_file() {
    let file = "input_dir: tasks\noutput_dir: results\nmodels:\n  replay: { provider: replay, model: nobody }\n";
    let bench = folder_with(file, super::stage::PLAIN);
    let wanted = LaunchRequest { models: vec!["replay".into()], ..super::request() };
    let plan = bench.app().launches().plan_launch(&wanted).unwrap();
    assert_eq!((plan.owed_total, plan.skipped_total), (0, 1));
    assert!(plan.skipped[0].why.contains("no recording"), "{:?}", plan.skipped);
    assert!(
        bench.app().launches().start_launch(&wanted).unwrap_err().message.contains("no recording")
    );
    assert!(!bench.path("results/count-tool_calling-replay-variation0.yaml").exists());
}
