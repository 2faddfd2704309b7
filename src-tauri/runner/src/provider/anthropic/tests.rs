//! Tests of the Messages API codec, with hand-written bodies.
use crate::conversation::{AssistantMessage, Outcome, Turn};
use crate::provider::tests::{body, call, encoded, lines, model, pretty, reply, talk, value};
use crate::provider::{Auth, FaultKind, HttpReply, Reply, StopReason, Usage, decode};
use crate::spec::{Model, Provider};
use touchstone_model::value::Value;

fn probe(settings: &str) -> Model {
    model(Provider::Anthropic, settings)
}

fn read(body: &str) -> Reply {
    decode(Provider::Anthropic, &reply(200, body)).unwrap()
}

#[test]
fn a_question_is_one_body_with_the_turns_of_each_side() {
    let request = encoded(&probe("{}"), &talk());
    insta::assert_snapshot!(pretty(&request), @r#"
    model: "probe-1"
    max_tokens: 1000
    system:
    - {"type":"text","text":"Be brief.","cache_control":{"type":"ephemeral"}}
    tools:
    - {"name":"query","description":"Asks.","input_schema":{"type":"object","properties":{"sql":{"type":"string"}},"required":["sql"]}}
    - {"name":"look","description":"Asks.","input_schema":{"type":"object","properties":{"sql":{"type":"string"}},"required":["sql"]},"cache_control":{"type":"ephemeral"}}
    messages:
    - {"role":"user","content":[{"type":"text","text":"How many?"}]}
    - {"role":"assistant","content":[{"type":"text","text":"I look."},{"type":"tool_use","id":"c1","name":"query","input":{"sql":"select 1","big":12345678901234567890.10}},{"type":"tool_use","id":"c2","name":"query","input":{}}]}
    - {"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"[1.50]"},{"type":"tool_result","tool_use_id":"c2","content":"No such table.","is_error":true},{"type":"text","text":"go on"}]}
    - {"role":"assistant","content":[{"type":"tool_use","id":"c3","name":"query","input":{"unreadable_arguments":"{\"sql\": "}}]}
    - {"role":"user","content":[{"type":"tool_result","tool_use_id":"c3","content":"Arguments are not JSON.","is_error":true,"cache_control":{"type":"ephemeral"}}]}
    "#);
    assert_eq!(request.url, "https://api.anthropic.com/v1/messages");
    assert_eq!((request.auth, request.stream, request.patience), (Auth::ApiKey, false, 600));
    assert!(request.headers.contains(&("anthropic-version".to_owned(), "2023-06-01".to_owned())));
}

#[test]
fn a_body_keeps_numbers_as_they_are_written() {
    let body = String::from_utf8(encoded(&probe("{}"), &talk()).body).unwrap();
    assert!(body.contains("12345678901234567890.10") && body.contains("[1.50]"), "{body}");
}

#[test]
fn thinking_is_sent_back_verbatim_before_the_text() {
    let kept = vec![
        value(r#"{"type":"thinking","thinking":"Hm.","signature":"c2ln"}"#),
        value(r#"{"type":"redacted_thinking","data":"eA=="}"#),
    ];
    let fine = call("toolu_1", value("{}"), Outcome::Result(Value::from("")));
    let silent = call("toolu_2", value("{}"), Outcome::Error(Value::from("")));
    let said = AssistantMessage { text: Some("So.".to_owned()), kept, calls: vec![fine, silent] };
    let request = encoded(
        &probe(r#"{"thinking":2000}"#),
        &[Turn::User("Q".to_owned()), Turn::Assistant(said)],
    );
    let messages = body(&request).get("messages").unwrap().items()[1..].to_vec();
    insta::assert_snapshot!(lines(&messages), @r#"
    - {"role":"assistant","content":[{"type":"thinking","thinking":"Hm.","signature":"c2ln"},{"type":"redacted_thinking","data":"eA=="},{"type":"text","text":"So."},{"type":"tool_use","id":"toolu_1","name":"query","input":{}},{"type":"tool_use","id":"toolu_2","name":"query","input":{}}]}
    - {"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1"},{"type":"tool_result","tool_use_id":"toolu_2","content":"The call failed.","is_error":true,"cache_control":{"type":"ephemeral"}}]}
    "#);
}

#[test]
fn no_thinking_is_asked_for_after_calls_that_have_lost_theirs() {
    let block = value(r#"{"type":"thinking","thinking":"Hm.","signature":"c2ln"}"#);
    let said = |kept: &[&Value]| {
        let call = call("toolu_1", value("{}"), Outcome::Result(Value::from("1")));
        let kept = kept.iter().map(|block| (*block).clone()).collect();
        Turn::Assistant(AssistantMessage { text: None, kept, calls: vec![call] })
    };
    let user = || Turn::User("Q".to_owned());
    for (settings, turns, thinks) in [
        ("2000", vec![user()], true),
        ("2000", vec![user(), said(&[&block])], true),
        ("2000", vec![user(), said(&[])], false),
        // A model thinks before its first call, and need not before the next.
        ("2000", vec![user(), said(&[&block]), said(&[])], true),
        ("2000", vec![user(), said(&[]), said(&[&block])], false),
        ("2000", vec![user(), said(&[]), user()], true),
        (r#"{"type":"adaptive"}"#, vec![user(), said(&[])], true),
    ] {
        let model = probe(&format!(r#"{{"thinking":{settings}}}"#));
        let sent = body(&encoded(&model, &turns));
        assert_eq!(sent.get("thinking").is_some(), thinks, "{settings} {turns:?}");
    }
}

#[test]
fn blank_text_is_never_sent() {
    let turns = [
        Turn::User("Q".to_owned()),
        Turn::Assistant(AssistantMessage::default()),
        Turn::User(" \n".to_owned()),
    ];
    let sent = body(&encoded(&probe("{}"), &turns));
    assert_eq!(sent.get("messages").unwrap().items().len(), 1);
    let model = probe("{}");
    let ask =
        crate::provider::ModelRequest { model: &model, system: " ", turns: &turns, tools: &[] };
    let sent = body(&super::encode(&ask));
    assert_eq!((sent.get("system"), sent.get("tools")), (None, None));
}

#[test]
fn settings_go_into_the_body_where_they_are_allowed() {
    // Settings, max_tokens, reasoning; then the expected request: max_tokens, temperature, budget,
    // stream, timeout.
    let cases = [
        ("{}", None, false, ("8192", None, None, false, 600)),
        (r#"{"temperature":0.20}"#, Some(10), false, ("10", Some("0.20"), None, false, 600)),
        (r#"{"temperature":0.2}"#, Some(10), true, ("10", None, None, false, 3600)),
        (
            r#"{"temperature":0.2,"thinking":2000}"#,
            Some(4000),
            false,
            ("4000", None, Some("2000"), false, 3600),
        ),
        (r#"{"thinking":2000}"#, Some(1000), false, ("3000", None, Some("2000"), false, 3600)),
        (r#"{"thinking":5}"#, Some(8000), false, ("8000", None, Some("1024"), false, 3600)),
        (r#"{"thinking":true}"#, Some(8000), false, ("8000", None, Some("4000"), false, 3600)),
        (
            r#"{"thinking":false,"temperature":1}"#,
            Some(8000),
            false,
            ("8000", Some("1"), None, false, 600),
        ),
        (
            r#"{"thinking":{"type":"disabled"}}"#,
            Some(8000),
            false,
            ("8000", None, None, false, 600),
        ),
        (
            r#"{"thinking":{"type":"enabled","budget_tokens":3000}}"#,
            Some(8000),
            false,
            ("8000", None, Some("3000"), false, 3600),
        ),
        (r#"{"stream":true}"#, Some(100), false, ("100", None, None, true, 600)),
        ("{}", Some(21_333), false, ("21333", None, None, false, 600)),
        (r#"{"stream":false}"#, Some(21_334), false, ("21334", None, None, true, 3600)),
    ];
    for (settings, max_tokens, reasoning, expected) in cases {
        let model = Model { max_tokens, reasoning, ..probe(settings) };
        // Up to the last message, after which the model may think.
        let request = encoded(&model, &talk()[..3]);
        let sent = body(&request);
        let number = |value: Option<&Value>| match value {
            Some(Value::Number(text)) => Some(text.clone()),
            _ => None,
        };
        let budget =
            number(sent.get("thinking").and_then(|thinking| thinking.get("budget_tokens")));
        let found = (
            number(sent.get("max_tokens")),
            number(sent.get("temperature")),
            budget,
            request.stream,
            request.patience,
        );
        let expected = (
            Some(expected.0.to_owned()),
            expected.1.map(str::to_owned),
            expected.2.map(str::to_owned),
            expected.3,
            expected.4,
        );
        assert_eq!(found, expected, "{settings} {max_tokens:?}");
        assert_eq!(sent.get("stream").is_some(), request.stream);
    }
}

const COMPLETE_BODY: &str = r#"{"id":"msg_1","type":"message","role":"assistant","model":"claude-x-1","content":[
  {"type":"thinking","thinking":"Two things.","signature":"c2lnbmF0dXJl"},
  {"type":"redacted_thinking","data":"AAAA"},
  {"type":"text","text":""},
  {"type":"text","text":"I look twice.","citations":null},
  {"type":"tool_use","id":"toolu_1","name":"query","input":{"sql":"select 1","limit":10.50}},
  {"type":"tool_use","id":"toolu_2","name":"look","input":{}}],
 "stop_reason":"tool_use","stop_sequence":null,
 "usage":{"input_tokens":100,"cache_creation_input_tokens":20,"cache_read_input_tokens":3,"output_tokens":40,"service_tier":"standard"}}"#;

fn streamed() -> String {
    let events = [
        concat!(
            r#"{"type":"message_start","message":{"id":"msg_1","type":"message","#,
            r#""role":"assistant","model":"claude-x-1","content":[],"stop_reason":null,"#,
            r#""usage":{"input_tokens":100,"cache_creation_input_tokens":20,"#,
            r#""cache_read_input_tokens":3,"output_tokens":1}}}"#,
        ),
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}"#,
        r#"{"type":"ping"}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Two "}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"things."}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"c2lnbmF0dXJl"}}"#,
        r#"{"type":"content_block_stop","index":0}"#,
        r#"{"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"AAAA"}}"#,
        r#"{"type":"content_block_stop","index":1}"#,
        r#"{"type":"content_block_start","index":2,"content_block":{"type":"text","text":""}}"#,
        r#"{"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"I look"}}"#,
        r#"{"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":" twice."}}"#,
        r#"{"type":"content_block_delta","index":2,"delta":{"type":"new_delta","what":"x"}}"#,
        r#"{"type":"content_block_stop","index":2}"#,
        r#"{"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"toolu_1","name":"query","input":{}}}"#,
        r#"{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":""}}"#,
        r#"{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"{\"sql\":\"sel"}}"#,
        r#"{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"ect 1\",\"limit\":10.50}"}}"#,
        r#"{"type":"content_block_stop","index":3}"#,
        r#"{"type":"content_block_start","index":4,"content_block":{"type":"tool_use","id":"toolu_2","name":"look","input":{}}}"#,
        r#"{"type":"content_block_stop","index":4}"#,
        r#"{"type":"new_event","index":4}"#,
        r#"{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":40,"input_tokens":null}}"#,
        r#"{"type":"message_stop"}"#,
    ];
    events.iter().flat_map(|event| ["event: x\ndata: ", event, "\n\n"]).collect()
}

#[test]
fn a_reply_is_text_thoughts_and_calls() {
    let reply = read(COMPLETE_BODY);
    assert_eq!(reply.text.as_deref(), Some("I look twice."));
    assert_eq!(reply.stop, StopReason::Calls);
    assert_eq!(reply.model_id.as_deref(), Some("claude-x-1"));
    let calls: Vec<_> = reply
        .calls
        .iter()
        .map(|call| (call.id.as_str(), call.name.as_str(), call.params.clone()))
        .collect();
    assert_eq!(calls[0], ("toolu_1", "query", value(r#"{"sql":"select 1","limit":10.50}"#)));
    assert_eq!(calls[1], ("toolu_2", "look", value("{}")));
    assert_eq!(reply.kept.len(), 2);
    assert_eq!(
        reply.kept[0],
        value(r#"{"type":"thinking","thinking":"Two things.","signature":"c2lnbmF0dXJl"}"#)
    );
    let usage = Usage {
        input: Some(100),
        output: Some(40),
        cache_read: Some(3),
        cache_write: Some(20),
        reasoning: None,
    };
    assert_eq!(reply.usage, usage);
}

#[test]
fn a_streamed_reply_is_the_same_as_a_whole_one() {
    assert_eq!(read(&streamed()), read(COMPLETE_BODY));
    assert_eq!(read(&streamed().replace('\n', "\r\n")), read(COMPLETE_BODY));
}

#[test]
fn a_reply_cut_at_any_byte_is_truncated() {
    for kind in ["application/json", "text/event-stream"] {
        let whole = if kind == "application/json" { COMPLETE_BODY.to_owned() } else { streamed() };
        let headers = vec![("content-type".to_owned(), kind.to_owned())];
        for at in 0..whole.len() {
            let cut = HttpReply {
                status: 200,
                headers: headers.clone(),
                body: whole.as_bytes()[..at].to_vec(),
            };
            let fault = decode(Provider::Anthropic, &cut).unwrap_err();
            assert_eq!(fault.kind, FaultKind::Truncated, "{at} of {kind}: {}", fault.message);
        }
    }
}

#[test]
fn a_stream_that_ends_without_a_reason_to_stop_is_truncated() {
    for reason in [r#""stop_reason":null"#, r#""other":"tool_use""#] {
        let body = streamed().replace(r#""stop_reason":"tool_use""#, reason);
        let fault = decode(Provider::Anthropic, &reply(200, &body)).unwrap_err();
        assert_eq!(fault.kind, FaultKind::Truncated, "{}", fault.message);
    }
}

#[test]
fn an_error_inside_a_stream_is_a_fault_of_its_kind() {
    let cases = [
        ("overloaded_error", FaultKind::Passing),
        ("api_error", FaultKind::Passing),
        ("invalid_request_error", FaultKind::Refused),
        ("authentication_error", FaultKind::Key),
        ("billing_error", FaultKind::Exhausted),
    ];
    for (kind, expected) in cases {
        let half = streamed()
            .split("event: x\ndata: {\"type\":\"content_block_stop\"")
            .next()
            .unwrap()
            .to_owned();
        let error = format!(r#"{{"type":"error","error":{{"type":"{kind}","message":"No"}}}}"#);
        let body = format!("{half}event: error\ndata: {error}\n\n{}", streamed());
        assert_eq!(
            decode(Provider::Anthropic, &reply(200, &body)).unwrap_err().kind,
            expected,
            "{kind}"
        );
    }
}

#[test]
fn a_reason_to_stop_says_what_a_reply_is() {
    let cases = [
        (r#""end_turn""#, StopReason::Done),
        (r#""stop_sequence""#, StopReason::Done),
        (r#""max_tokens""#, StopReason::Length),
        (r#""model_context_window_exceeded""#, StopReason::Length),
        (r#""refusal""#, StopReason::Refused(Some("Hm".to_owned()))),
        (r#""pause_turn""#, StopReason::Other("pause_turn".to_owned())),
        (r#""tool_use""#, StopReason::Other("tool_use without a call".to_owned())),
        ("null", StopReason::Other("no stop_reason".to_owned())),
    ];
    for (reason, stop) in cases {
        let body =
            format!(r#"{{"content":[{{"type":"text","text":"Hm"}}],"stop_reason":{reason}}}"#);
        let reply = read(&body);
        assert_eq!(reply.stop, stop, "{reason}");
        assert_eq!(reply.usage, Usage::default(), "what is not said is not 0");
    }
    let silent = read(r#"{"content":[{"type":"text","text":" "}],"stop_reason":"refusal"}"#);
    assert_eq!((silent.text, silent.stop), (None, StopReason::Refused(None)));
}

#[test]
fn broken_input_of_a_streamed_call_is_kept_as_text() {
    let broken = streamed().replace(r#",\"limit\":10.50}"#, "");
    assert_eq!(read(&broken).calls[0].params, Value::from(r#"{"sql":"select 1""#));
}
