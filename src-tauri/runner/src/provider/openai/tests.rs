//! Tests of the Chat Completions codec, with hand-written bodies.
use crate::conversation::{AssistantMessage, Outcome, Turn};
use crate::provider::tests::{body, encoded, model, pretty, reply, talk, value};
use crate::provider::{Auth, FaultKind, HttpReply, Reply, StopReason, Usage, decode};
use crate::spec::{Model, Provider};
use touchstone_model::value::Value;

fn probe(settings: &str) -> Model {
    model(Provider::OpenAi, settings)
}

fn read(body: &str) -> Reply {
    decode(Provider::OpenAi, &reply(200, body)).unwrap()
}

#[test]
fn a_question_is_one_body_with_a_message_for_every_result() {
    let request = encoded(&probe(r#"{"temperature":0,"stream":false}"#), &talk());
    insta::assert_snapshot!(pretty(&request), @r#"
    model: "probe-1"
    max_tokens: 1000
    temperature: 0
    tools:
    - {"type":"function","function":{"name":"query","description":"Asks.","parameters":{"type":"object","properties":{"sql":{"type":"string"}},"required":["sql"]}}}
    - {"type":"function","function":{"name":"look","description":"Asks.","parameters":{"type":"object","properties":{"sql":{"type":"string"}},"required":["sql"]}}}
    messages:
    - {"role":"system","content":"Be brief."}
    - {"role":"user","content":"How many?"}
    - {"role":"assistant","content":"I look.","tool_calls":[{"id":"c1","type":"function","function":{"name":"query","arguments":"{\"sql\":\"select 1\",\"big\":12345678901234567890.10}"}},{"id":"c2","type":"function","function":{"name":"query","arguments":"{}"}}]}
    - {"role":"tool","tool_call_id":"c1","content":"[1.50]"}
    - {"role":"tool","tool_call_id":"c2","content":"error: No such table."}
    - {"role":"user","content":"go on"}
    - {"role":"assistant","content":null,"tool_calls":[{"id":"c3","type":"function","function":{"name":"query","arguments":"{\"sql\": "}}]}
    - {"role":"tool","tool_call_id":"c3","content":"error: Arguments are not JSON."}
    "#);
    assert_eq!(request.url, "http://127.0.0.1:8080/v1/chat/completions");
    assert_eq!((request.auth, request.stream, request.patience), (Auth::Bearer, false, 600));
}

#[test]
fn a_model_that_thinks_is_asked_in_its_own_way() {
    let settings = r#"{"temperature":0,"reasoning_effort":"high","stream":true}"#;
    let model = Model { reasoning: true, key: None, ..probe(settings) };
    let request = encoded(&model, &[Turn::User("Q".to_owned())]);
    let sent = body(&request);
    let keys: Vec<_> = sent.entries().iter().filter_map(|(key, _)| key.text()).collect();
    let expected = [
        "model",
        "max_completion_tokens",
        "reasoning_effort",
        "stream",
        "stream_options",
        "tools",
        "messages",
    ];
    assert_eq!(keys, expected);
    assert_eq!(
        sent.get("messages").unwrap().items()[0],
        value(r#"{"role":"developer","content":"Be brief."}"#)
    );
    assert_eq!(sent.get("stream_options"), Some(&value(r#"{"include_usage":true}"#)));
    assert_eq!((request.auth, request.stream, request.patience), (Auth::None, true, 3600));
}

#[test]
fn a_judge_whose_model_reasons_is_asked_as_the_package_asks_it() {
    for model in
        [probe(r#"{"temperature":0}"#), Model { reasoning: true, ..probe(r#"{"temperature":0}"#) }]
    {
        let sent = body(&encoded(&model.as_reasoning(), &[Turn::User("Q".to_owned())]));
        let keys: Vec<_> = sent.entries().iter().filter_map(|(key, _)| key.text()).collect();
        assert_eq!(keys, ["model", "max_completion_tokens", "tools", "messages"]);
        assert_eq!(sent.get("max_completion_tokens"), Some(&value("60000")));
        assert_eq!(
            sent.get("messages").unwrap().items()[0],
            value(r#"{"role":"system","content":"Be brief."}"#)
        );
    }
}

#[test]
fn requests_without_limit_and_tools_omit_both() {
    let model = Model { max_tokens: None, ..probe("{}") };
    let ask = crate::provider::ModelRequest {
        model: &model,
        system: "",
        turns: &[Turn::User(String::new())],
        tools: &[],
    };
    let sent = String::from_utf8(super::encode(&ask).body).unwrap();
    insta::assert_snapshot!(sent, @r#"{"model":"probe-1","messages":[{"role":"user","content":""}]}"#);
}

const COMPLETE_BODY: &str = r#"{"id":"chatcmpl-1","object":"chat.completion","created":1,"model":"o3-mini-2025-01-31","choices":[{"index":0,
 "message":{"role":"assistant","content":"I look.","refusal":null,"annotations":[],"tool_calls":[
  {"id":"call_1","type":"function","function":{"name":"query","arguments":"{\"sql\":\"select 1\",\"limit\":10.50}"}},
  {"id":"call_2","type":"function","function":{"name":"look","arguments":"{\"a\": "}},
  {"id":"call_3","type":"function","function":{"name":"look","arguments":""}}]},
 "logprobs":null,"finish_reason":"tool_calls"}],
 "usage":{"prompt_tokens":120,"completion_tokens":50,"total_tokens":170,"prompt_tokens_details":{"cached_tokens":100,"audio_tokens":0},
  "completion_tokens_details":{"reasoning_tokens":30}},"service_tier":"default","system_fingerprint":"fp"}"#;

fn chunk(delta: &str, finish: &str) -> String {
    format!(
        concat!(
            r#"{{"id":"chatcmpl-1","object":"chat.completion.chunk","model":"o3-mini-2025-01-31","#,
            r#""choices":[{{"index":0,"delta":{delta},"finish_reason":{finish}}}],"usage":null}}"#,
        ),
        delta = delta,
        finish = finish,
    )
}

fn streamed() -> String {
    let start = |index: u8, id: &str, name: &str| {
        format!(
            r#"{{"tool_calls":[{{"index":{index},"id":"{id}","type":"function","function":{{"name":"{name}","arguments":""}}}}]}}"#
        )
    };
    let more = |index: u8, piece: &str| {
        format!(r#"{{"tool_calls":[{{"index":{index},"function":{{"arguments":"{piece}"}}}}]}}"#)
    };
    let chunks = [
        chunk(r#"{"role":"assistant","content":"","refusal":null}"#, "null"),
        chunk(r#"{"content":"I "}"#, "null"),
        chunk(r#"{"content":"look."}"#, "null"),
        chunk(&start(0, "call_1", "query"), "null"),
        chunk(&more(0, r#"{\"sql\":\"sel"#), "null"),
        chunk(&start(1, "call_2", "look"), "null"),
        chunk(&more(0, r#"ect 1\",\"limit\":10.50}"#), "null"),
        chunk(&more(1, r#"{\"a\": "#), "null"),
        chunk(&start(2, "call_3", "look"), "null"),
        chunk("{}", r#""tool_calls""#),
        concat!(
            r#"{"id":"chatcmpl-1","model":"o3-mini-2025-01-31","choices":[],"#,
            r#""usage":{"prompt_tokens":120,"completion_tokens":50,"#,
            r#""prompt_tokens_details":{"cached_tokens":100},"#,
            r#""completion_tokens_details":{"reasoning_tokens":30}}}"#,
        )
        .to_owned(),
        "[DONE]".to_owned(),
    ];
    chunks.iter().flat_map(|chunk| ["data: ", chunk, "\n\n"]).collect()
}

#[test]
fn a_reply_is_text_and_calls_and_broken_arguments_stay_text() {
    let reply = read(COMPLETE_BODY);
    assert_eq!((reply.text.as_deref(), &reply.stop), (Some("I look."), &StopReason::Calls));
    let calls: Vec<_> = reply
        .calls
        .iter()
        .map(|call| (call.id.as_str(), call.name.as_str(), call.params.clone()))
        .collect();
    assert_eq!(calls[0], ("call_1", "query", value(r#"{"sql":"select 1","limit":10.50}"#)));
    assert_eq!(calls[1], ("call_2", "look", Value::from("{\"a\": ")));
    assert_eq!(calls[2], ("call_3", "look", value("{}")));
    let usage = Usage {
        input: Some(20),
        output: Some(50),
        cache_read: Some(100),
        cache_write: None,
        reasoning: Some(30),
    };
    assert_eq!(reply.usage, usage);
    assert_eq!(reply.model_id.as_deref(), Some("o3-mini-2025-01-31"));
}

#[test]
fn broken_arguments_go_back_as_they_came() {
    let mut calls = read(COMPLETE_BODY).calls;
    for call in &mut calls {
        call.outcome = Some(Outcome::Error(Value::from("no")));
    }
    let sent = body(&encoded(
        &probe("{}"),
        &[Turn::Assistant(AssistantMessage { calls, ..AssistantMessage::default() })],
    ));
    let message = &sent.get("messages").unwrap().items()[1];
    let arguments = |at: usize| {
        message.get("tool_calls").unwrap().items()[at]
            .get("function")
            .unwrap()
            .get("arguments")
            .cloned()
    };
    assert_eq!(arguments(0), Some(Value::from(r#"{"sql":"select 1","limit":10.50}"#)));
    assert_eq!(arguments(1), Some(Value::from("{\"a\": ")));
    assert_eq!(message.get("content"), Some(&Value::Null));
}

#[test]
fn a_streamed_reply_is_the_same_as_a_whole_one() {
    assert_eq!(read(&streamed()), read(COMPLETE_BODY));
    assert_eq!(
        read(&format!(": ping\r\n\r\n{}", streamed().replace('\n', "\r\n"))),
        read(COMPLETE_BODY)
    );
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
            let fault = decode(Provider::OpenAi, &cut).unwrap_err();
            assert_eq!(fault.kind, FaultKind::Truncated, "{at} of {kind}: {}", fault.message);
        }
    }
}

#[test]
fn a_stream_is_complete_only_with_a_reason_and_its_last_event() {
    let text = |body: String| decode(Provider::OpenAi, &reply(200, &body));
    let hello = format!("data: {}\n\n", chunk(r#"{"content":"Hi"}"#, "null"));
    let stop = format!("data: {}\n\n", chunk("{}", r#""stop""#));
    let done = "data: [DONE]\n\n";
    assert_eq!(text(format!("{hello}{stop}{done}")).unwrap().text.as_deref(), Some("Hi"));
    for cut in [
        format!("{hello}{stop}"),
        format!("{hello}{done}"),
        hello.clone(),
        format!("{hello}{stop}data: [DONE]\n"),
    ] {
        assert_eq!(text(cut).unwrap_err().kind, FaultKind::Truncated);
    }
    let error = r#"data: {"error":{"message":"Overloaded","type":"server_error","code":null}}"#;
    assert_eq!(
        text(format!("{hello}{error}\n\n{stop}{done}")).unwrap_err().kind,
        FaultKind::Passing
    );
    let strange = format!("{hello}data: what\n\n{stop}{done}");
    assert_eq!(text(strange).unwrap_err().kind, FaultKind::Passing);
}

#[test]
fn calls_that_servers_stream_in_their_own_way_are_told_apart() {
    let whole = |index: &str, id: &str| {
        format!(
            r#"{{"tool_calls":[{{{index}"id":"{id}","function":{{"name":"look","arguments":"{{\"n\":\"{id}\"}}"}}}}]}}"#
        )
    };
    for index in ["\"index\":0,", ""] {
        let deltas = [whole(index, "a"), whole(index, "b")];
        let body: String = deltas
            .iter()
            .flat_map(|delta| ["data: ".to_owned(), chunk(delta, "null"), "\n\n".to_owned()])
            .collect();
        let body = format!("{body}data: {}\n\ndata: [DONE]\n\n", chunk("{}", r#""stop""#));
        let reply = read(&body);
        let ids: Vec<_> =
            reply.calls.iter().map(|call| (call.id.clone(), call.params.clone())).collect();
        assert_eq!(
            ids,
            [("a".to_owned(), value(r#"{"n":"a"}"#)), ("b".to_owned(), value(r#"{"n":"b"}"#))]
        );
        assert_eq!(reply.stop, StopReason::Calls);
    }
}

fn choice(message: &str, finish: &str) -> String {
    format!(r#"{{"choices":[{{"message":{message},"finish_reason":{finish}}}]}}"#)
}

#[test]
fn a_reason_to_stop_says_what_a_reply_is() {
    let text = |text: &str| Some(text.to_owned());
    let call = r#"{"content":null,"tool_calls":[{"id":"a","function":{"name":"look","arguments":{"n":1.0}}}]}"#;
    let cases = [
        (r#"{"content":"Hi"}"#, r#""stop""#, text("Hi"), StopReason::Done),
        (r#"{"content":null}"#, r#""stop""#, None, StopReason::Done),
        (r#"{"content":""}"#, r#""stop""#, None, StopReason::Done),
        (
            r#"{"content":[{"type":"text","text":"a"},{"type":"thinking"},{"type":"text","text":"b"}]}"#,
            r#""stop""#,
            text("ab"),
            StopReason::Done,
        ),
        (r#"{"content":"Hi"}"#, r#""length""#, text("Hi"), StopReason::Length),
        (call, r#""length""#, None, StopReason::Length),
        (call, r#""stop""#, None, StopReason::Calls),
        (call, r#""tool_calls""#, None, StopReason::Calls),
        (r#"{"content":"Hi"}"#, r#""content_filter""#, text("Hi"), StopReason::Refused(text("Hi"))),
        (
            r#"{"content":null,"refusal":"I will not."}"#,
            r#""stop""#,
            None,
            StopReason::Refused(text("I will not.")),
        ),
        (
            r#"{"content":[{"type":"refusal","refusal":"No."}]}"#,
            r#""stop""#,
            None,
            StopReason::Refused(text("No.")),
        ),
        (
            r#"{"content":"Hi"}"#,
            r#""tool_calls""#,
            text("Hi"),
            StopReason::Other("tool_calls without a call".to_owned()),
        ),
        (r#"{"content":"Hi"}"#, r#""eos""#, text("Hi"), StopReason::Other("eos".to_owned())),
        (
            r#"{"content":"Hi"}"#,
            "null",
            text("Hi"),
            StopReason::Other("no finish_reason".to_owned()),
        ),
    ];
    for (message, finish, text, stop) in cases {
        let reply = read(&choice(message, finish));
        assert_eq!((reply.text, reply.stop), (text, stop), "{message} {finish}");
        assert_eq!(reply.usage, Usage::default(), "what is not said is not 0");
    }
    assert_eq!(read(&choice(call, r#""stop""#)).calls[0].params, value(r#"{"n":1.0}"#));
}

#[test]
fn calls_without_ids_of_their_own_get_the_same_ids_each_time() {
    let calls = |ids: [&str; 4]| {
        let calls = ids
            .map(|id| format!(r#"{{{id}"function":{{"name":"look","arguments":"{{}}"}}}}"#))
            .join(",");
        let body =
            choice(&format!(r#"{{"content":null,"tool_calls":[{calls}]}}"#), r#""tool_calls""#);
        assert_eq!(read(&body), read(&body));
        read(&body).calls.into_iter().map(|call| call.id).collect::<Vec<_>>()
    };
    assert_eq!(
        calls([r#""id":"a","#, r#""id":"a","#, r#""id":"b","#, r#""id":"a","#]),
        ["a", "a_2", "b", "a_3"]
    );
    let ours = calls(["", r#""id":"","#, r#""id":null,"#, r#""id":"a","#]);
    assert!(
        ours[0].starts_with("call_") && ours[1] == format!("{}_2", ours[0]) && ours[3] == "a",
        "{ours:?}"
    );
    assert_ne!(ours[0], calls(["", "", "", ""])[0]);
}

#[test]
fn a_reply_that_says_a_key_twice_is_read_for_it_was_paid_for() {
    let body = r#"{"model":"a","model":"b","choices":[{"message":{"content":"Hi"},"finish_reason":"stop"}]}"#;
    assert_eq!(read(body).text.as_deref(), Some("Hi"));
}
