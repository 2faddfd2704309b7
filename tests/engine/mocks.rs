//! The codecs against mock servers that others wrote, when `TOUCHSTONE_MOCKS` names some: `http://127.0.0.1:1,http://127.0.0.1:2`.
//! Each has to take a question, call tools, take their results and answer, whole and streamed, over both wires; what it breaks on
//! request has to be a fault. Ignored in a usual run:
//! `cargo test -p touchstone-engine --test engine mocks -- --ignored --nocapture`. Seen with `@copilotkit/aimock` and `llmock`.
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;
use touchstone_engine::runs::provider::{
    Ask, Auth, Fault, FaultKind, HttpReply, HttpRequest, Offer, Reply, Stop, decode, encode,
};
use touchstone_engine::runs::spec::{Model, Provider};
use touchstone_engine::runs::talk::{Outcome, Said, Turn};
use touchstone_formats::{json, value::Value};

fn model(provider: Provider, base_url: String, stream: bool) -> Model {
    Model {
        name: "probe".to_owned(),
        provider,
        model_id: if provider == Provider::Anthropic { "claude-3-5-sonnet-20241022" } else { "gpt-4o" }.to_owned(),
        base_url,
        max_tokens: Some(1000),
        key: Some("PROBE".to_owned()),
        price: None,
        reasoning: false,
        way: touchstone_engine::runs::way::Way::default(),
        settings: vec![("stream".to_owned(), Value::Bool(stream))],
    }
}

fn offers() -> Vec<Offer> {
    let parameters =
        json::read(r#"{"type":"object","properties":{"sql":{"type":"string"}},"required":["sql"]}"#).unwrap();
    let offer =
        |name: &str| Offer { name: name.to_owned(), description: "Asks.".to_owned(), parameters: parameters.clone() };
    vec![offer("query"), offer("look")]
}

/// Sends over HTTP 1.0, where a body ends with the connection: what came until then is the reply.
fn send(request: &HttpRequest, more: &str) -> HttpReply {
    let (host, path) = request.url.trim_start_matches("http://").split_once('/').unwrap();
    let headers: String = request.headers.iter().flat_map(|(name, value)| [name, ": ", value, "\r\n"]).collect();
    let head = format!(
        "POST /{path} HTTP/1.0\r\nhost: {host}\r\n{headers}{more}authorization: Bearer probe\r\nx-api-key: probe\r\ncontent-length: {}\r\n\r\n",
        request.body.len()
    );
    let mut stream = TcpStream::connect(host).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream.write_all(&[head.as_bytes(), &request.body].concat()).unwrap();
    let mut bytes = Vec::new();
    // A connection that is reset has given what it gave.
    let _ = stream.read_to_end(&mut bytes);
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").map_or(bytes.len(), |at| at + 4);
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    let headers = head.lines().filter_map(|line| line.split_once(": "));
    let headers = headers.map(|(name, value)| (name.to_lowercase(), value.to_owned())).collect();
    HttpReply { status, headers, body: bytes[end..].to_vec() }
}

fn ask(model: &Model, turns: &[Turn], more: &str) -> Result<Reply, Fault> {
    let request = encode(&Ask { model, system: "Be brief.", turns, tools: &offers() });
    decode(model.provider, &send(&request, more))
}

/// Where a server has this wire.
fn base(server: &str, provider: Provider) -> String {
    let prefixed = format!("{server}/anthropic/v1");
    let probe = || ask(&model(provider, prefixed.clone(), false), &[Turn::User("hello".to_owned())], "").is_ok();
    if provider == Provider::Anthropic && probe() { prefixed } else { format!("{server}/v1") }
}

fn servers() -> Vec<String> {
    let named = std::env::var("TOUCHSTONE_MOCKS").unwrap_or_default();
    let servers: Vec<String> = named.split(',').filter(|url| !url.is_empty()).map(str::to_owned).collect();
    assert!(!servers.is_empty(), "TOUCHSTONE_MOCKS names no server");
    servers
}

fn each(mut look: impl FnMut(&str, &Model)) {
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
    each(|server, model| {
        let mut turns = vec![Turn::User("How many?".to_owned())];
        let first = ask(model, &turns, "").unwrap();
        assert_eq!(first.stop, Stop::Calls, "{server} {:?}", model.provider);
        assert!(first.calls.iter().all(|call| matches!(call.params, Value::Map(_))), "{:?}", first.calls);
        let mut calls = first.calls;
        for (at, call) in calls.iter_mut().enumerate() {
            let value = Value::from("3");
            call.outcome = Some(if at == 0 { Outcome::Result(value) } else { Outcome::Error(value) });
        }
        eprintln!("{server} {:?}: {} calls, {:?}", model.provider, calls.len(), first.usage);
        turns.push(Turn::Assistant(Said { text: first.text, kept: first.kept, calls }));
        let last = ask(model, &turns, "").unwrap();
        assert_eq!(last.stop, Stop::Done, "{server} {:?}", model.provider);
        assert!(last.text.is_some());
    });
}

/// Tells llmock what to do with the next question; false when the server is another.
fn script(server: &str, behaviour: &str) -> bool {
    let headers = vec![("content-type".to_owned(), "application/json".to_owned())];
    let url = format!("{server}/_llmock/scenario");
    let body = format!("{{\"behaviors\":[{behaviour}]}}").into_bytes();
    send(&HttpRequest { url, headers, auth: Auth::None, body, stream: false, patience: 1 }, "").status == 201
}

#[test]
#[ignore = "needs servers in TOUCHSTONE_MOCKS"]
fn what_such_servers_break_is_a_fault() {
    let hello = [Turn::User("hello".to_owned())];
    each(|server, model| {
        let found = |what: &str| {
            let found = ask(model, &hello, what);
            eprintln!("{server} {:?} {} {}: {found:?}", model.provider, found.is_ok(), what.trim_end());
            found.map_err(|fault| fault.kind)
        };
        assert!(found("").is_ok(), "without a fault it works");
        let statuses = [429, 500, 503].map(|status| format!("x-llmock-force-status: {status}\r\n"));
        let own = ["ratelimit", "drop"].map(|fault| format!("x-aimock-chaos-{fault}: 1\r\n"));
        if script(server, r#"{"type":"delay","seconds":0.2}"#) {
            assert!(found("").is_ok(), "slow is no fault");
            for status in &statuses {
                assert_eq!(found(status), Err(FaultKind::Passing));
            }
            for kind in ["disconnect", "truncate", "malformed"].into_iter().filter(|_| switched(model)) {
                let fault = format!(r#"{{"type":"stream_fault","kind":"{kind}","after_chunks":1}}"#);
                assert!(script(server, &fault));
                assert!(matches!(found(""), Err(FaultKind::Truncated | FaultKind::Passing)), "{kind}");
            }
        } else {
            assert!(found("x-aimock-chaos-latency: 200\r\n").is_ok(), "slow is no fault");
            for fault in &own {
                assert_eq!(found(fault), Err(FaultKind::Passing));
            }
            for kind in ["malformed", "disconnect"] {
                let header = format!("x-aimock-chaos-{kind}: 1\r\n");
                assert!(matches!(found(&header), Err(FaultKind::Truncated | FaultKind::Passing)), "{kind}");
            }
        }
    });
}

#[test]
#[ignore = "needs servers in TOUCHSTONE_MOCKS"]
fn broken_arguments_from_such_a_server_come_as_text_and_are_taken_back() {
    let mut broken = 0;
    each(|server, model| {
        if !script(server, r#"{"type":"tool_fault","kind":"malformed_arguments"}"#) {
            return;
        }
        let mut turns = vec![Turn::User("How many?".to_owned())];
        let mut first = ask(model, &turns, "").unwrap();
        eprintln!("{server} {:?}: {:?}", model.provider, first.calls);
        broken += first.calls.iter().filter(|call| call.params.text().is_some()).count();
        for call in &mut first.calls {
            call.outcome = Some(Outcome::Error(Value::from("These arguments are no JSON.")));
        }
        turns.push(Turn::Assistant(Said { text: first.text, kept: first.kept, calls: first.calls }));
        assert_eq!(ask(model, &turns, "").unwrap().stop, Stop::Done);
    });
    assert!(broken > 0, "one of the servers has to be llmock");
}

fn switched(model: &Model) -> bool {
    model.setting("stream") == Some(&Value::Bool(true))
}
