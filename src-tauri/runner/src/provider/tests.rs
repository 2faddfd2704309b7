//! Tests of the code shared by the codecs: faults, hashes, and robustness against arbitrary bytes.
//! Also owns helpers for the tests of each codec.
use super::*;
use crate::conversation::{AssistantMessage, Outcome};
use crate::spec::Model;
use proptest::prelude::*;
use touchstone_model::json;

/// Returns a model of this provider with these settings, given as JSON.
pub(super) fn model(provider: Provider, settings: &str) -> Model {
    let base_url = match provider {
        Provider::Anthropic => "https://api.anthropic.com/v1",
        _ => "http://127.0.0.1:8080/v1",
    };
    let settings = json::read(settings).unwrap();
    let settings = settings
        .entries()
        .iter()
        .map(|(key, value)| (key.text().unwrap().to_owned(), value.clone()));
    Model {
        name: "probe".to_owned(),
        provider,
        model_id: "probe-1".to_owned(),
        base_url: base_url.to_owned(),
        max_tokens: Some(1000),
        key: Some("PROBE_KEY".to_owned()),
        price: None,
        reasoning: false,
        keeps_system: false,
        way: crate::strategy::Strategy::default(),
        settings: settings.collect(),
    }
}

pub(super) fn value(text: &str) -> Value {
    json::read(text).unwrap()
}

pub(super) fn call(id: &str, params: Value, outcome: Outcome) -> Call {
    Call { id: id.to_owned(), name: "query".to_owned(), params, outcome: Some(outcome) }
}

pub(super) fn offers() -> Vec<ToolOffer> {
    let parameters =
        value(r#"{"type":"object","properties":{"sql":{"type":"string"}},"required":["sql"]}"#);
    let offer = |name: &str| ToolOffer {
        name: name.to_owned(),
        description: "Asks.".to_owned(),
        parameters: parameters.clone(),
    };
    vec![offer("query"), offer("look")]
}

/// A conversation with a question, two calls in one turn of which one fails, a nudge, and broken
/// arguments.
pub(super) fn talk() -> Vec<Turn> {
    let fine = call(
        "c1",
        value(r#"{"sql":"select 1","big":12345678901234567890.10}"#),
        Outcome::Result(value("[1.50]")),
    );
    let failed = call("c2", value("{}"), Outcome::Error(Value::from("No such table.")));
    let broken = call(
        "c3",
        Value::from("{\"sql\": "),
        Outcome::Error(Value::from("Arguments are not JSON.")),
    );
    let said = |text: Option<&str>, calls| AssistantMessage {
        text: text.map(str::to_owned),
        kept: Vec::new(),
        calls,
    };
    vec![
        Turn::User("How many?".to_owned()),
        Turn::Assistant(said(Some("I look."), vec![fine, failed])),
        Turn::User("go on".to_owned()),
        Turn::Assistant(said(None, vec![broken])),
    ]
}

pub(super) fn encoded(model: &Model, turns: &[Turn]) -> HttpRequest {
    encode(&ModelRequest { model, system: "Be brief.", turns, tools: &offers() })
}

pub(super) fn body(request: &HttpRequest) -> Value {
    value(std::str::from_utf8(&request.body).unwrap())
}

/// Formats a body, one line per part.
pub(super) fn pretty(request: &HttpRequest) -> String {
    let keys = body(request);
    let told = keys.entries().iter().map(|(key, value)| match value {
        Value::List(items) if !items.is_empty() => {
            format!("{}:\n{}", key.text().unwrap(), lines(items))
        }
        other => format!("{}: {}", key.text().unwrap(), json::write(other, false)),
    });
    told.collect::<Vec<_>>().join("\n")
}

/// Formats values as JSON, one per line.
pub(super) fn lines(values: &[Value]) -> String {
    values
        .iter()
        .map(|value| format!("- {}", json::write(value, false)))
        .collect::<Vec<_>>()
        .join("\n")
}

pub(super) fn reply(status: u16, body: &str) -> HttpReply {
    HttpReply { status, headers: Vec::new(), body: body.as_bytes().to_vec() }
}

const WIRES: [Provider; 2] = [Provider::Anthropic, Provider::OpenAi];

fn anthropic(kind: &str, words: &str) -> String {
    format!(r#"{{"type":"error","error":{{"type":"{kind}","message":"{words}"}}}}"#)
}

fn openai(kind: &str, code: &str) -> String {
    format!(r#"{{"error":{{"message":"No.","type":"{kind}","param":null,"code":"{code}"}}}}"#)
}

fn assert_kinds(cases: impl IntoIterator<Item = (u16, String, FaultKind)>) {
    for (status, body, kind) in cases {
        for provider in WIRES {
            let fault = decode(provider, &reply(status, &body)).unwrap_err();
            assert_eq!(fault.kind, kind, "{provider:?} {status} {body}: {}", fault.message);
            assert_eq!(fault.status, Some(status));
            assert!(
                !fault.message.contains('<') && fault.message.ends_with(['.', '!', '?']),
                "{}",
                fault.message
            );
        }
    }
}

#[test]
fn faults_are_classified_by_status_and_error_name() {
    use FaultKind::{Exhausted, Key, Passing, Refused};
    let limit = r#"{"type":"error","error":{"type":"rate_limit_error","message":"Limit.","details":{"error_code":"enforced_spend_limit_reached"}}}"#;
    assert_kinds([
        (400, anthropic("invalid_request_error", "max_tokens: too large"), Refused),
        (
            400,
            anthropic("invalid_request_error", "Your credit balance is too low to access the API."),
            Exhausted,
        ),
        (
            400,
            anthropic(
                "invalid_request_error",
                "The request body is not valid JSON: unexpected end of data",
            ),
            Passing,
        ),
        (401, anthropic("authentication_error", "invalid x-api-key"), Key),
        (402, anthropic("billing_error", "Pay."), Exhausted),
        (403, anthropic("permission_error", "Your API key does not have permission."), Key),
        (403, anthropic("permission_error", "This organization may not use it."), Refused),
        (404, anthropic("not_found_error", "model: probe"), Refused),
        (413, anthropic("request_too_large", "Too large."), Refused),
        (429, anthropic("rate_limit_error", "Slow down."), Passing),
        (429, limit.to_owned(), Exhausted),
        (500, anthropic("api_error", "Oops."), Passing),
        (529, anthropic("overloaded_error", "Overloaded"), Passing),
        (401, openai("invalid_request_error", "invalid_api_key"), Key),
        (403, openai("request_forbidden", "unsupported_country_region_territory"), Refused),
        (404, openai("invalid_request_error", "model_not_found"), Refused),
        (422, openai("invalid_request_error", "x"), Refused),
        (429, openai("insufficient_quota", "insufficient_quota"), Exhausted),
        (429, openai("x", "credit_balance_exhausted"), Exhausted),
        (429, openai("requests", "rate_limit_exceeded"), Passing),
        (429, openai("invalid_request_error", "tokens"), Passing),
        (0, String::new(), Passing),
        (408, String::new(), Passing),
        (409, "busy".to_owned(), Passing),
        (301, String::new(), Refused),
        (401, String::new(), Key),
        (402, "{}".to_owned(), Exhausted),
        (418, "[]".to_owned(), Refused),
        (502, "<html><head><title>502 Bad Gateway</title></head></html>".to_owned(), Passing),
        (503, "<!doctype html><p>".to_owned(), Passing),
        (403, "<html><title>Attention Required!</title>".to_owned(), Refused),
    ]);
}

#[test]
fn a_good_status_does_not_make_a_body_good() {
    use FaultKind::{Exhausted, Key, Passing, Refused, Truncated};
    assert_kinds([
        (200, anthropic("overloaded_error", "Overloaded"), Passing),
        (200, anthropic("invalid_request_error", "No."), Refused),
        (200, openai("x", "insufficient_quota"), Exhausted),
        (200, r#"{"error":{"message":"No.","code":401}}"#.to_owned(), Key),
        (200, r#"{"error":{"message":"Later.","code":429}}"#.to_owned(), Passing),
        (200, r#"{"error":"model is loading"}"#.to_owned(), Passing),
        (200, "<html><title>Sign in</title></html>".to_owned(), Refused),
        (200, String::new(), Truncated),
        (200, r#"{"id":"x","cho"#.to_owned(), Truncated),
        (200, "upstream connect error".to_owned(), Passing),
        (200, "[]".to_owned(), Passing),
        (200, "{}".to_owned(), Refused),
        (200, r#"{"content":"x","choices":[]}"#.to_owned(), Refused),
        (200, format!(r#"{{"content":{}{}}}"#, "[".repeat(100), "]".repeat(100)), Refused),
    ]);
}

#[test]
fn a_message_is_a_sentence_with_the_words_of_the_provider() {
    let said =
        |provider, status, body: &str| decode(provider, &reply(status, body)).unwrap_err().message;
    let overloaded =
        r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#;
    insta::assert_snapshot!(said(Provider::Anthropic, 529, overloaded), @"\
        The Anthropic API could not answer this time, status 529, overloaded_error: Overloaded.");
    let key = r#"{"error":{"message":"Incorrect API key provided: sk-proj-abcdef1234567890.","code":"invalid_api_key"}}"#;
    insta::assert_snapshot!(said(Provider::OpenAi, 401, key), @"The model server rejects the key \
        (fix it, then continue), status 401, invalid_api_key: Incorrect API key provided: [key].");
    insta::assert_snapshot!(said(Provider::OpenAi, 502, "<html><title>502 Bad\nGateway</title>"), @"\
        The model server could not answer this time, status 502: 502 Bad Gateway.");
    insta::assert_snapshot!(said(Provider::OpenAi, 307, ""), @"The model server redirects \
        elsewhere, which is not followed (check its `base_url`), status 307: no reason was given.");
}

#[test]
fn no_shape_of_a_key_gets_into_a_message() {
    let keys = [
        "sk-ant-api03-AbC_dEf-123456",
        "sk-proj-AbCdEf123456",
        "SK-abcdef123456",
        "Bearer AbCdEf123456",
        "ghp_abcdefgh12345678",
        "AIzaSyAbCdEf123456",
        "gsk_AbCdEf123456",
        "sk-ab***************cd",
        "abc********yz",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOjF9.abc",
    ];
    for key in keys {
        for body in [
            key.to_owned(),
            format!("key={key}."),
            format!(r#"{{"error":{{"message":"{key} is wrong","type":"{key}"}}}}"#),
        ] {
            let message = decode(Provider::OpenAi, &reply(400, &body)).unwrap_err().message;
            assert!(
                message.contains("[key]") && !message.contains(&key[key.len() - 6..]),
                "{message}"
            );
        }
    }
    let plain = decode(Provider::OpenAi, &reply(400, "the task-runner and risk-based key is fine"))
        .unwrap_err()
        .message;
    assert!(plain.contains("the task-runner and risk-based key is fine"), "{plain}");
}

#[test]
fn no_more_than_4_kib_of_foreign_words_are_kept() {
    for letter in ["a", "é", "\u{1f600}"] {
        let message =
            decode(Provider::OpenAi, &reply(400, &letter.repeat(100_000))).unwrap_err().message;
        assert!(message.len() > 4000 && message.len() < 4096 + 200, "{}", message.len());
    }
}

#[test]
fn the_same_question_has_the_same_hash_and_another_has_another() {
    let turns = talk();
    let mut seen = std::collections::HashSet::new();
    for provider in [Provider::Anthropic, Provider::OpenAi, Provider::Replay] {
        let model = model(provider, "{}");
        let request = encoded(&model, &turns);
        assert_eq!(hash(&request), hash(&encoded(&model, &turns)));
        assert_eq!(hash(&request).len(), 32);
        let shorter = encoded(&model, &turns[..2]);
        let elsewhere = HttpRequest { url: "https://elsewhere.test".to_owned(), ..request.clone() };
        let headers = HttpRequest { headers: Vec::new(), ..request.clone() };
        assert_eq!(hash(&request), hash(&headers));
        assert!(seen.insert(hash(&request)) && seen.insert(hash(&shorter)));
        assert_ne!(hash(&request), hash(&elsewhere));
    }
}

#[test]
fn what_recordings_answer_is_never_sent() {
    let request = encoded(&model(Provider::Replay, "{}"), &talk());
    assert_eq!((request.url.as_str(), request.auth), ("replay:probe", Auth::None));
    assert!(decode(Provider::Replay, &reply(200, "{}")).is_err());
}

fn params() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<String>().prop_map(Value::Text),
        "[0-9]{1,20}".prop_map(|sql| Value::Map(vec![(Value::from("sql"), Value::Text(sql))])),
        Just(Value::List(vec![Value::Bool(true)])),
    ]
}

fn outcome() -> impl Strategy<Value = Option<Outcome>> {
    prop_oneof![
        Just(None),
        params().prop_map(|value| Some(Outcome::Result(value))),
        params().prop_map(|value| Some(Outcome::Error(value))),
    ]
}

/// Turns in any order, with ids that are duplicates or that no provider accepts.
fn turns() -> impl Strategy<Value = Vec<Turn>> {
    let call = (prop::sample::select(vec!["a", "b", "", "ü x", "a_2"]), params(), outcome());
    let call = call.prop_map(|(id, params, outcome)| Call {
        id: id.to_owned(),
        name: "query".to_owned(),
        params,
        outcome,
    });
    let said = (prop::option::of("[ a-z]{0,4}"), prop::collection::vec(call, 0..4));
    let said = said.prop_map(|(text, calls)| {
        Turn::Assistant(AssistantMessage { text, kept: Vec::new(), calls })
    });
    prop::collection::vec(prop_oneof!["[ a-z]{0,4}".prop_map(Turn::User), said], 0..8)
}

proptest! {
    #[test]
    fn no_bytes_are_too_strange(status in 100u16..700, stream in any::<bool>(), bytes in any::<Vec<u8>>(), text in "\
        (data: |event: |\\{|\"|choices|content|:|\\[|\\]|\\}|null|1|\n|error|,){0,30}") {
        let kind = if stream { "text/event-stream" } else { "application/json" };
        for body in [bytes, text.into_bytes()] {
            let reply = HttpReply { status, headers: vec![("content-type".to_owned(), kind.to_owned())], body };
            for provider in WIRES {
                prop_assert!(decode(provider, &reply).is_err());
            }
            prop_assert!(promptql::decode(&reply).is_err());
        }
    }

    #[test]
    fn roles_alternate_and_every_call_is_answered_for_anthropic(turns in turns()) {
        let body = body(&encoded(&model(Provider::Anthropic, "{}"), &turns));
        let messages = body.get("messages").unwrap().items();
        let role = |message: &Value| message.get("role").unwrap().text().unwrap().to_owned();
        let of = |message: &Value, kind: &str, key: &str| -> Vec<String> {
            let blocks = message.get("content").unwrap().items().iter();
            let blocks = blocks.filter(|block| block.get("type").unwrap().text() == Some(kind));
            blocks.map(|block| block.get(key).unwrap().text().unwrap().to_owned()).collect()
        };
        let mut all = Vec::new();
        for (at, message) in messages.iter().enumerate() {
            prop_assert!(!message.get("content").unwrap().items().is_empty());
            prop_assert!(of(message, "text", "text").iter().all(|text| !text.trim().is_empty()));
            if let Some(next) = messages.get(at + 1) {
                prop_assert_ne!(role(message), role(next));
            }
            let calls = of(message, "tool_use", "id");
            if !calls.is_empty() {
                let answered = of(&messages[at + 1], "tool_result", "tool_use_id");
                prop_assert_eq!(&calls, &answered);
            }
            all.extend(calls);
        }
        let calls = turns.iter().map(|turn| if let Turn::Assistant(said) = turn { said.calls.len() } else { 0 });
        prop_assert_eq!(all.len(), calls.sum::<usize>());
        prop_assert!(all.iter().all(|id| id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')));
        let count = all.len();
        all.sort();
        all.dedup();
        prop_assert_eq!(all.len(), count);
    }

    #[test]
    fn every_call_is_answered_right_after_it_for_openai(turns in turns()) {
        let body = body(&encoded(&model(Provider::OpenAi, "{}"), &turns));
        let messages = body.get("messages").unwrap().items();
        let mut seen = std::collections::HashSet::new();
        let mut owed: Vec<String> = Vec::new();
        for message in messages {
            if message.get("role").unwrap().text() == Some("tool") {
                let id = message.get("tool_call_id").unwrap().text().unwrap();
                prop_assert_eq!(owed.remove(0), id);
                prop_assert!(message.get("content").unwrap().text().is_some());
                continue;
            }
            prop_assert!(owed.is_empty());
            owed = message.get("tool_calls").map(Value::items).unwrap_or_default().iter()
                .map(|call| call.get("id").unwrap().text().unwrap().to_owned()).collect();
            prop_assert!(owed.iter().all(|id| !id.is_empty() && seen.insert(id.clone())));
        }
        prop_assert!(owed.is_empty());
    }
}

#[test]
fn usage_is_read_from_error_bodies_and_never_invented() {
    use super::{is_free, usage_of, with_estimates};
    use crate::spec::Provider::{Anthropic, OpenAi};
    let start = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":7,\"output_tokens\":1}}}\n\n";
    let delta = "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{},\"usage\":{\"output_tokens\":9}}\n\n";
    let chunk = "data: {\"choices\":[],\"usage\":null}\n\ndata: {\"choices\":[],\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":9}}\n\n";
    let cases = [
        (Anthropic, format!("{start}{delta}data: {{\"type"), Some((Some(7), Some(9)))),
        // The count at the beginning of a stream is not the number of output tokens.
        (Anthropic, start.to_owned(), Some((Some(7), None))),
        (
            Anthropic,
            r#"{"usage":{"input_tokens":1,"output_tokens":2}}"#.to_owned(),
            Some((Some(1), Some(2))),
        ),
        (OpenAi, chunk.to_owned(), Some((Some(7), Some(9)))),
        (
            OpenAi,
            r#"{"usage":{"prompt_tokens":1,"completion_tokens":2}}"#.to_owned(),
            Some((Some(1), Some(2))),
        ),
        (OpenAi, r#"{"usage":{"prompt_tokens":1,"complet"#.to_owned(), None),
        (OpenAi, r#"{"usage":{}}"#.to_owned(), None),
        (OpenAi, "data: {\"choices\":[]}\n\n".to_owned(), None),
        (Anthropic, String::new(), None),
    ];
    for (provider, body, expected) in cases {
        let reply = reply(200, &body);
        let used = usage_of(provider, &reply).map(|usage| (usage.input, usage.output));
        assert_eq!(used, expected, "{provider:?} {body}");
        assert!(!is_free(&reply), "{body}");
    }
    // Estimates depend on the text sent and received, not on the framing of a stream.
    let text = "x".repeat(299);
    let deltas = format!(
        r#"data: {{"type":"content_block_delta","delta":{{"type":"text_delta","text":"{text}"}}}}"#
    ) + "\n\n";
    let openai =
        format!(r#"data: {{"id":"{text}","choices":[{{"delta":{{"content":"{text}"}}}}]}}"#)
            + "\n\n";
    let guesses = [
        (Anthropic, format!("{start}{deltas}{deltas}"), (Some(7), Some(200))),
        (
            Anthropic,
            format!("{start}{deltas}{}", deltas.replace("text\":", "signature\":")),
            (Some(7), Some(100)),
        ),
        (OpenAi, format!("{openai}{openai}data: {{\"cho"), (Some(1000), Some(200))),
        (OpenAi, text, (Some(1000), Some(100))),
        (OpenAi, chunk.to_owned(), (Some(7), Some(9))),
    ];
    for (provider, body, expected) in guesses {
        let reply = reply(200, &body);
        let guess = with_estimates(usage_of(provider, &reply).unwrap_or_default(), 3_000, &reply);
        assert_eq!((guess.input, guess.output), expected, "{provider:?} {body}");
    }
    for free in [
        "<html>",
        r#"{"error":{"message":"no"}}"#,
        "event: error\ndata: {\"type\":\"error\",\"error\":{}}\n\n",
    ] {
        assert!(is_free(&reply(200, free)), "{free}");
    }
}
