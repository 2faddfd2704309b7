//! Tests of the PromptQL codec, with hand-written bodies, and with the real replies in the golden
//! folder if it exists.
use super::*;
use crate::provider::tests::{model, pretty, reply, value};
use crate::reply::last_artifact;
use std::path::Path;

fn claude() -> Model {
    Model { name: "claude".to_owned(), ..model(Provider::Anthropic, "{}") }
}

fn question<'a>(spec: &'a PromptQl, model: &'a Model, earlier: &'a [Interaction]) -> Question<'a> {
    Question { spec, model, prompt: "How many?", artifacts: &[], earlier }
}

fn unknown(_: &str) -> Option<String> {
    None
}

#[test]
fn version_1_names_the_models_and_the_project() {
    let spec = read(&value(
        r#"{"base_url":"http://127.0.0.1:9/","version":"v1","ddn":{"url":"https://x.test/v1/sql","headers":{"x-role":"admin","x-token":{"env":"DDN_TOKEN"}}},
        "llm":{"claude":{"provider":"anthropic","api_key":{"env":"ANTHROPIC_API_KEY"}}},"ai_primitives_llm":{"provider":"hasura"},
        "timezone":"America/Los_Angeles","system_instructions":"Be brief."}"#,
    ));
    let spec = spec.unwrap();
    let model = claude();
    let request = encode(&question(&spec, &model, &[]), &unknown);
    insta::assert_snapshot!(pretty(&request), @r#"
    version: "v1"
    llm: {"provider":"anthropic","api_key":{"env":"ANTHROPIC_API_KEY"}}
    ai_primitives_llm: {"provider":"hasura"}
    ddn: {"url":"https://x.test/v1/sql","headers":{"x-role":"admin","x-token":{"env":"DDN_TOKEN"}}}
    artifacts: []
    system_instructions: "Be brief."
    timezone: "America/Los_Angeles"
    interactions:
    - {"user_message":{"text":"How many?"}}
    stream: false
    "#);
    assert_eq!(
        (request.url.as_str(), request.auth, request.stream),
        ("http://127.0.0.1:9/query", Auth::Bearer, false)
    );
    assert_eq!(spec.names(&model), ["ANTHROPIC_API_KEY", "DDN_TOKEN"]);
    let sent = encode(&question(&spec, &model, &[]), &|name| Some(format!("value of {name}")));
    let sent = String::from_utf8(sent.body).unwrap();
    assert!(
        sent.contains(r#""x-token":"value of DDN_TOKEN""#)
            && sent.contains(r#""api_key":"value of ANTHROPIC_API_KEY""#)
    );
}

#[test]
fn version_2_names_the_build_and_what_was_said_before() {
    let spec = read(&value(r#"{"build_version":"f0e1d2","timezone":"UTC"}"#)).unwrap();
    let output = value(
        r#"{"assistant_actions":[{"message":"I will.","plan":"1. Look.","code":null}],"modified_artifacts":[]}"#,
    );
    let earlier = [Interaction { prompt: "Q".to_owned(), output }];
    let artifacts =
        [value(r#"{"identifier":"a","title":"A","artifact_type":"table","data":[{"n":1.0}]}"#)];
    let model = claude();
    let asked = Question { artifacts: &artifacts, ..question(&spec, &model, &earlier) };
    let request = encode(&asked, &unknown);
    insta::assert_snapshot!(
        String::from_utf8(request.body).unwrap(),
        @"{\"version\":\"v2\",\"ddn\":{\"build_version\":\"f0e1d2\",\"headers\":{}},\
         \"artifacts\":[{\"identifier\":\"a\",\"title\":\"A\",\"artifact_type\":\"table\",\
         \"data\":[{\"n\":1.0}]}],\"timezone\":\"UTC\",\
         \"interactions\":[{\"user_message\":{\"text\":\"Q\"},\
         \"assistant_actions\":[{\"message\":\"I will.\",\"plan\":\"1. \
         Look.\",\"code\":null}]},{\"user_message\":{\"text\":\"How many?\"}}],\"stream\":false}"
    );
    assert_eq!(request.url, "https://api.promptql.pro.hasura.io/query");
    let by_id = read(&value(r#"{"version":"v2","build_id":"b-1"}"#)).unwrap();
    assert_eq!(by_id.version, Version::V2(Builds::One(Build::Id("b-1".to_owned()))));
}

#[test]
fn a_model_is_named_by_who_makes_it_unless_the_settings_say() {
    let spec =
        read(&value(r#"{"ddn":{"url":"https://x.test"},"llm":{"other":{"provider":"bedrock"}}}"#))
            .unwrap();
    let Version::V1 { llm, .. } = &spec.version else { panic!("version 1") };
    let o1 = Model {
        name: "o1".to_owned(),
        model_id: "o1-2024-12-17".to_owned(),
        ..model(Provider::OpenAi, "{}")
    };
    let other = Model { name: "other".to_owned(), ..o1.clone() };
    assert_eq!(
        chosen(llm.as_ref(), &claude()),
        value(r#"{"provider":"anthropic","model":"probe-1"}"#)
    );
    assert_eq!(
        chosen(llm.as_ref(), &o1),
        value(r#"{"provider":"openai","model":"o1-2024-12-17"}"#)
    );
    assert_eq!(chosen(llm.as_ref(), &other), value(r#"{"provider":"bedrock"}"#));
}

#[test]
fn settings_that_cannot_be_used_are_told_in_a_sentence() {
    let cases = [
        "null",
        "[]",
        "{}",
        r#"{"version":"v2"}"#,
        r#"{"version":"v3","build_id":"b"}"#,
        r#"{"version":"v1","build_id":"b"}"#,
        r#"{"build_id":"b","confirm_plans":"often"}"#,
        r#"{"build_id":"b","confirm_plans":-1}"#,
        r#"{"build_id":"b","timezone":[]}"#,
        r#"{"build_id":"b","buildversion":"b"}"#,
        r#"{"build_id":"b","ddn":{"headers":[]}}"#,
        r#"{"build_id":"b","ddn":{"headers":{"a":{"envy":"B"}}}}"#,
        r#"{"ddn":{"url":"x"},"llm":"claude"}"#,
    ];
    let told: Vec<String> =
        cases.iter().map(|case| format!("{case}: {}", read(&value(case)).unwrap_err())).collect();
    insta::assert_snapshot!(told.join("\n"), @"
    null: `systems.promptql` needs `ddn: { url: … }` (version v1) or `build_version` (version v2).
    []: `systems.promptql` has to be a map of these keys: base_url, version, build_id, \
        build_version, ddn, llm, ai_primitives_llm, timezone, system_instructions, key, confirm_plans.
    {}: `systems.promptql` needs `ddn: { url: … }` (version v1) or `build_version` (version v2).
    {\"version\":\"v2\"}: `systems.promptql` of version v2 needs `build_id` or `build_version` to choose the build.
    {\"version\":\"v3\",\"build_id\":\"b\"}: `systems.promptql.version` is `v3`; it can be v1 or v2.
    {\"version\":\"v1\",\"build_id\":\"b\"}: `systems.promptql` needs `ddn: { url: … }` (version v1) or `build_version` (version v2).
    {\"build_id\":\"b\",\"confirm_plans\":\"often\"}: `systems.promptql.confirm_plans` has to be a number of times, such as 2.
    {\"build_id\":\"b\",\"confirm_plans\":-1}: `systems.promptql.confirm_plans` has to be a number of times, such as 2.
    {\"build_id\":\"b\",\"timezone\":[]}: `timezone` of `systems.promptql` has to be a text.
    {\"build_id\":\"b\",\"buildversion\":\"b\"}: `systems.promptql` has no key `buildversion`; it \
        has base_url, version, build_id, build_version, ddn, llm, ai_primitives_llm, timezone, \
        system_instructions, key, confirm_plans.
    {\"build_id\":\"b\",\"ddn\":{\"headers\":[]}}: `systems.promptql.ddn.headers` has to be a map of names to texts or to `{ env: NAME }`.
    {\"build_id\":\"b\",\"ddn\":{\"headers\":{\"a\":{\"envy\":\"B\"}}}}: \
        `systems.promptql.ddn.headers` has to be a map of names to texts or to `{ env: NAME }`.
    {\"ddn\":{\"url\":\"x\"},\"llm\":\"claude\"}: `systems.promptql.llm` has to be a map with a `provider`, or a map of names of models to such maps.
    ");
    assert_eq!(read(&value(r#"{"build_id":"b","confirm_plans":2}"#)).unwrap().confirm_plans, 2);
}

const REPLY: &str = r#"{"thread_id":"t","assistant_actions":[{"message":"Done.","plan":"1.","code":"x = 1","code_output":"1","code_error":null}],
 "modified_artifacts":[{"identifier":"a","title":"A","artifact_type":"table","data":[{"n":1}]},
  {"identifier":"b","title":"B","artifact_type":"text","data":"b"},
  {"identifier":"a","title":"A","artifact_type":"table","data":[{"n":10000000000000000000.10}]}]}"#;

#[test]
fn the_last_artifact_of_an_identifier_counts() {
    let output = decode(&reply(200, REPLY)).unwrap();
    let last = value(r#"[{"n":10000000000000000000.10}]"#);
    assert_eq!(last_artifact(&output, "a"), Some(&last));
    assert_eq!(last_artifact(&output, "b"), Some(&Value::from("b")));
    assert_eq!(last_artifact(&output, "c"), None);
    let later = value(r#"{"modified_artifacts":[{"identifier":"b","data":"later"}]}"#);
    let several = Value::List(vec![output.clone(), later]);
    let inside = Value::Map(vec![(Value::from("interactions"), several.clone())]);
    for output in [several, inside] {
        assert_eq!(last_artifact(&output, "a"), Some(&last));
        assert_eq!(last_artifact(&output, "b"), Some(&Value::from("later")));
    }
}

#[test]
fn a_reply_that_only_proposes_a_plan_is_told_from_one_that_ran() {
    let cases = [
        (REPLY, false),
        (
            r#"{"assistant_actions":[{"message":"I will.","plan":"1. Look.","code":null}],"modified_artifacts":[]}"#,
            true,
        ),
        (r#"{"assistant_actions":[{"message":"Hello.","plan":null}]}"#, false),
        (
            r#"{"assistant_actions":[{"plan":"1.","code":"x","code_error":"no"},{"plan":"2."}]}"#,
            false,
        ),
        (r#"{"assistant_actions":[]}"#, false),
    ];
    for (body, expected) in cases {
        assert_eq!(is_plan_only(&decode(&reply(200, body)).unwrap()), expected, "{body}");
    }
}

#[test]
fn faults_are_told_by_status_and_body() {
    let cases = [
        (401, r#"{"detail":"Invalid API key"}"#, FaultKind::Key),
        (422, r#"{"detail":[{"loc":["body","ddn"],"msg":"field required"}]}"#, FaultKind::Refused),
        (500, r#"{"detail":"Internal"}"#, FaultKind::Passing),
        (504, "<html><title>504 Gateway Time-out</title></html>", FaultKind::Passing),
        (200, r#"{"error":"no"}"#, FaultKind::Passing),
        (200, r#"{"status":"ok"}"#, FaultKind::Refused),
    ];
    for (status, body, kind) in cases {
        assert_eq!(decode(&reply(status, body)).unwrap_err().kind, kind, "{status} {body}");
    }
    insta::assert_snapshot!(
        decode(&reply(422, cases[1].1)).unwrap_err().message,
        @r#"PromptQL refused the request, status 422: [{"loc":["body","ddn"],"msg":"field required"}]."#
    );
    for at in 0..REPLY.len() {
        assert_eq!(
            decode(&reply(200, &REPLY[..at])).unwrap_err().kind,
            FaultKind::Truncated,
            "{at}"
        );
    }
}

/// Reads real replies, if the folder exists.
#[test]
fn real_replies_are_read_and_hold_their_artifact() {
    let models = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared/golden/benchmark/results/score_based_prioritization");
    let mut replies = 0;
    for model in ["claude", "o1"] {
        let folder = models.join(model).join("promptql/retrieval");
        for file in
            fs_err::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path())
        {
            if file.extension().is_none_or(|end| end != "history") {
                continue;
            }
            let output = value(&fs_err::read_to_string(&file).unwrap());
            for interaction in output.items() {
                let body = touchstone_model::json::write(interaction, false);
                assert!(!is_plan_only(&decode(&reply(200, &body)).unwrap()), "{}", file.display());
                let rows = last_artifact(&output, "prioritized_tickets").unwrap();
                assert!(
                    !rows.items().is_empty()
                        && last_artifact(interaction, "prioritized_tickets") == Some(rows)
                );
                replies += 1;
            }
        }
    }
    eprintln!("{replies} real replies of PromptQL were read");
}
