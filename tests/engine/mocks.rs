//! Tests of the codecs, the client and complete runs against third-party mock servers, given by
//! `TOUCHSTONE_MOCKS`. Each must accept a question, call tools, accept their results and answer,
//! whole and streamed, over both APIs; a failure that it simulates must be a fault. Ignored by
//! default, because these servers are third-party programs:
//!
//! ```text
//! npm install @copilotkit/aimock && npx llmock --port 4110 --fixtures FILE   # a fixture that calls tools when asked "How many",
//! pip install llmock && llmock serve --port 4111                             # answers their results, and greets back at "hello"
//! TOUCHSTONE_MOCKS=http://127.0.0.1:4110,http://127.0.0.1:4111 \
//!   cargo test --workspace --test engine mocks -- --ignored --nocapture --test-threads=1
//! ```
use crate::running::{self, folder_of, request, run};
use tokio_util::sync::CancellationToken;
use touchstone_model::{json, value::Value};
use touchstone_runner::conversation::{AssistantMessage, Outcome, Turn};
use touchstone_runner::http::client::{Client, SendError, SendFault};
use touchstone_runner::http::keys::ApiKey;
use touchstone_runner::provider::{
    Auth, Fault, FaultKind, HttpReply, HttpRequest, ModelRequest, Reply, StopReason, ToolOffer,
    decode, encode,
};
use touchstone_runner::spec::{Model, Provider};

fn model(provider: Provider, base_url: String, stream: bool) -> Model {
    Model {
        name: "probe".to_owned(),
        provider,
        model_id: if provider == Provider::Anthropic {
            "claude-3-5-sonnet-20241022"
        } else {
            "gpt-4o"
        }
        .to_owned(),
        base_url,
        max_tokens: Some(1000),
        key: Some("PROBE".to_owned()),
        price: None,
        reasoning: false,
        keeps_system: false,
        way: touchstone_runner::strategy::Strategy::default(),
        settings: vec![("stream".to_owned(), Value::Bool(stream))],
    }
}

fn offers() -> Vec<ToolOffer> {
    let parameters = json::read(
        r#"{"type":"object","properties":{"sql":{"type":"string"}},"required":["sql"]}"#,
    )
    .unwrap();
    let offer = |name: &str| ToolOffer {
        name: name.to_owned(),
        description: "Asks.".to_owned(),
        parameters: parameters.clone(),
    };
    vec![offer("query"), offer("look")]
}

fn key() -> ApiKey {
    ApiKey::new("probe").unwrap()
}

fn wait<T>(doing: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(doing)
}

/// Sends a request like a run does, with an additional header.
fn send(request: &HttpRequest, more: Option<(&str, &str)>) -> Result<HttpReply, SendError> {
    let mut request = request.clone();
    request.headers.extend(more.map(|(name, value)| (name.to_owned(), value.to_owned())));
    request.patience = 20;
    wait(Client::default().send(&request, Some(&key()), &CancellationToken::new()))
}

fn ask(model: &Model, turns: &[Turn], more: Option<(&str, &str)>) -> Result<Reply, Fault> {
    let request = encode(&ModelRequest { model, system: "Be brief.", turns, tools: &offers() });
    match send(&request, more) {
        Ok(reply) => decode(model.provider, &reply),
        Err(error) => {
            let kind = if error.fault == SendFault::Cut {
                FaultKind::Truncated
            } else {
                FaultKind::Passing
            };
            Err(Fault { kind, message: error.message, status: None })
        }
    }
}

/// Returns the base URL of this API on a server.
fn base(server: &str, provider: Provider) -> String {
    let prefixed = format!("{server}/anthropic/v1");
    let probe = || {
        ask(&model(provider, prefixed.clone(), false), &[Turn::User("hello".to_owned())], None)
            .is_ok()
    };
    if provider == Provider::Anthropic && probe() { prefixed } else { format!("{server}/v1") }
}

fn servers() -> Vec<String> {
    let named = std::env::var("TOUCHSTONE_MOCKS").unwrap_or_default();
    let servers: Vec<String> =
        named.split(',').filter(|url| !url.is_empty()).map(str::to_owned).collect();
    assert!(!servers.is_empty(), "TOUCHSTONE_MOCKS names no server");
    servers
}

fn for_each_server(mut look: impl FnMut(&str, &Model)) {
    for server in servers() {
        for provider in [Provider::Anthropic, Provider::OpenAi] {
            let base = base(&server, provider);
            for stream in [false, true] {
                look(&server, &model(provider, base.clone(), stream));
            }
        }
    }
}

#[test]
#[ignore = "needs servers in TOUCHSTONE_MOCKS"]
fn servers_that_others_wrote_take_questions_and_results_of_tools() {
    for_each_server(|server, model| {
        let mut turns = vec![Turn::User("How many?".to_owned())];
        let first = ask(model, &turns, None).unwrap();
        assert_eq!(first.stop, StopReason::Calls, "{server} {:?}", model.provider);
        assert!(
            first.calls.iter().all(|call| matches!(call.params, Value::Map(_))),
            "{:?}",
            first.calls
        );
        let mut calls = first.calls;
        for (at, call) in calls.iter_mut().enumerate() {
            let value = Value::from("3");
            call.outcome =
                Some(if at == 0 { Outcome::Result(value) } else { Outcome::Error(value) });
        }
        eprintln!("{server} {:?}: {} calls, {:?}", model.provider, calls.len(), first.usage);
        turns.push(Turn::Assistant(AssistantMessage { text: first.text, kept: first.kept, calls }));
        let last = ask(model, &turns, None).unwrap();
        assert_eq!(last.stop, StopReason::Done, "{server} {:?}", model.provider);
        assert!(last.text.is_some());
    });
}

/// Configures the next reply of llmock. Returns false for any other server.
fn script(server: &str, behaviour: &str) -> bool {
    let headers = vec![("content-type".to_owned(), "application/json".to_owned())];
    let url = format!("{server}/_llmock/scenario");
    let body = format!("{{\"behaviors\":[{behaviour}]}}").into_bytes();
    let request = HttpRequest { url, headers, auth: Auth::None, body, stream: false, patience: 1 };
    send(&request, None).is_ok_and(|reply| reply.status == 201)
}

#[test]
#[ignore = "needs servers in TOUCHSTONE_MOCKS"]
fn errors_injected_by_mock_servers_are_faults() {
    let hello = [Turn::User("hello".to_owned())];
    for_each_server(|server, model| {
        let found = |what: Option<(&str, &str)>| {
            let found = ask(model, &hello, what);
            eprintln!("{server} {:?} {} {what:?}: {found:?}", model.provider, found.is_ok());
            found.map_err(|fault| fault.kind)
        };
        assert!(found(None).is_ok(), "without a fault it works");
        if script(server, r#"{"type":"delay","seconds":0.2}"#) {
            assert!(found(None).is_ok(), "slow is no fault");
            for status in ["429", "500", "503"] {
                assert_eq!(found(Some(("x-llmock-force-status", status))), Err(FaultKind::Passing));
            }
            for kind in
                ["disconnect", "truncate", "malformed"].into_iter().filter(|_| switched(model))
            {
                let fault =
                    format!(r#"{{"type":"stream_fault","kind":"{kind}","after_chunks":1}}"#);
                assert!(script(server, &fault));
                assert!(
                    matches!(found(None), Err(FaultKind::Truncated | FaultKind::Passing)),
                    "{kind}"
                );
            }
        } else {
            assert!(found(Some(("x-aimock-chaos-latency", "200"))).is_ok(), "slow is no fault");
            for fault in ["x-aimock-chaos-ratelimit", "x-aimock-chaos-drop"] {
                assert_eq!(found(Some((fault, "1"))), Err(FaultKind::Passing));
            }
            for fault in ["x-aimock-chaos-malformed", "x-aimock-chaos-disconnect"] {
                assert!(
                    matches!(
                        found(Some((fault, "1"))),
                        Err(FaultKind::Truncated | FaultKind::Passing)
                    ),
                    "{fault}"
                );
            }
        }
    });
}

#[test]
#[ignore = "needs servers in TOUCHSTONE_MOCKS"]
fn a_whole_run_comes_to_its_end_against_such_a_server() {
    for_each_server(|server, model| {
        let provider = if model.provider == Provider::Anthropic { "anthropic" } else { "openai" };
        let (id, url, stream) = (&model.model_id, &model.base_url, switched(model));
        let file = format!(
            "input_dir: tasks\noutput_dir: results\nmodels:\n  scripted: {{ provider: {provider}, base_url: '{url}', model: {id}, stream: {stream} }}\n{}",
            running::THINGS
        );
        let bench = folder_of(&file, running::stage::PLAIN).open();
        let view = run(&bench, &request());
        assert_eq!(
            (view.done, view.failed),
            (1, 0),
            "{server} {provider} {stream}: {:?}",
            view.runs
        );
        let said = running::stage::transcript_lines(&bench, running::stage::RUN);
        eprintln!("{server} {provider} {stream}:\n{said}");
        let last = said.lines().last().unwrap();
        assert!(said.contains("query_things") && last.contains("assistant_message"), "{said}");
        assert!(view.tokens.is_some(), "{view:?}");
        assert_eq!(bench.app().launches().plan_launch(&request()).unwrap().owed_total, 0);
    });
}

#[test]
#[ignore = "needs servers in TOUCHSTONE_MOCKS"]
fn broken_arguments_from_such_a_server_come_as_text_and_are_taken_back() {
    let mut broken = 0;
    for_each_server(|server, model| {
        if !script(server, r#"{"type":"tool_fault","kind":"malformed_arguments"}"#) {
            return;
        }
        let mut turns = vec![Turn::User("How many?".to_owned())];
        let mut first = ask(model, &turns, None).unwrap();
        eprintln!("{server} {:?}: {:?}", model.provider, first.calls);
        broken += first.calls.iter().filter(|call| call.params.text().is_some()).count();
        for call in &mut first.calls {
            call.outcome = Some(Outcome::Error(Value::from("These arguments are not JSON.")));
        }
        turns.push(Turn::Assistant(AssistantMessage {
            text: first.text,
            kept: first.kept,
            calls: first.calls,
        }));
        assert_eq!(ask(model, &turns, None).unwrap().stop, StopReason::Done);
    });
    assert!(broken > 0, "one of the servers has to be llmock");
}

fn switched(model: &Model) -> bool {
    model.setting("stream") == Some(&Value::Bool(true))
}
