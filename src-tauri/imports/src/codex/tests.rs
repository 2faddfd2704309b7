//! Tests of the reader of Codex's sessions.
use super::*;
use crate::run::{Event, TokenCounts};
use crate::source::NoFolder;
use touchstone_model::value::Value;

fn open_bytes(bytes: &[u8]) -> Box<dyn ImportedFile> {
    let source = bytes.to_vec();
    let input = Input { path: "rollout-1.jsonl", source: &source, folder: &NoFolder };
    let file = Codex.open(input).unwrap();
    let (member, run, error) = (file.member(0), file.read(0).ok(), file.file_error());
    Box::new(Session { member, run, error })
}

fn open(lines: &[&str]) -> ImportedRun {
    open_bytes(lines.join("\n").as_bytes()).read(0).unwrap()
}

fn item(payload: &str) -> String {
    format!(r#"{{"timestamp":"2026-01-01T00:00:02Z","type":"response_item","payload":{payload}}}"#)
}

fn event(payload: &str) -> String {
    format!(r#"{{"timestamp":"2026-01-01T00:00:03Z","type":"event_msg","payload":{payload}}}"#)
}

fn rollout(records: &[String]) -> ImportedRun {
    let meta = r#"{"timestamp":"2026-01-01T00:00:00Z","type":"session_meta","payload":{"id":"t","model":"m0","cli_version":"0.1"}}"#;
    let mut lines = vec![meta];
    lines.extend(records.iter().map(String::as_str));
    open(&lines)
}

fn message(role: &str, text: &str) -> String {
    item(&format!(r#"{{"type":"message","role":"{role}","content":[{{"type":"x_text","text":"{text}"}}]}}"#)
        .replace("x_text", if role == "assistant" { "output_text" } else { "input_text" }))
}

fn outline(events: &[Event]) -> String {
    let one = |event: &Event| match &event.kind {
        EventKind::System(text) => format!("system {text}"),
        EventKind::User(text) => format!("user {text}"),
        EventKind::Assistant(text) => format!("model {text}"),
        EventKind::Reasoning(text) => format!("thinks {text}"),
        EventKind::Call { name, arguments, .. } => {
            format!(
                "{name} {}",
                crate::text::canonical_json(&crate::text::arguments(Some(arguments)))
            )
        }
        EventKind::Result { value, failed, .. } => {
            let mark = if *failed == Some(true) { "failed" } else { "result" };
            format!("{mark} {}", crate::text::text_or_json(value).unwrap_or_default())
        }
        EventKind::Compaction(text) => format!("compaction {text}"),
        EventKind::Error(text) => format!("error {text}"),
        EventKind::Note(text) => format!("note {text}"),
        other => format!("{other:?}"),
    };
    events.iter().map(one).collect::<Vec<_>>().join(", ")
}

#[test]
fn rollouts_and_streams_are_recognised_and_nothing_else_is() {
    let detect = |path: &str, text: &str| {
        Codex.detect(path, text.as_bytes(), Head::read(text.as_bytes()).as_ref()).is_some()
    };
    assert!(detect("a.jsonl", &message("user", "x")));
    assert!(detect("a.jsonl", "{\"type\":\"thread.started\",\"thread_id\":\"t\"}\n"));
    let old = "{\"id\":\"t\",\"timestamp\":\"2025-05-01T00:00:00Z\",\"instructions\":null}\n{\"type\":\"message\"}";
    assert!(detect("rollout-1.jsonl", old) && !detect("a.jsonl", old));
    assert!(Codex.detect("x/rollout-1.jsonl.zst", zstd::MAGIC, None).is_some());
    assert!(Codex.detect("x/other.jsonl.zst", zstd::MAGIC, None).is_none());
    for text in ["{\"type\":\"session_meta\"}", "{\"type\":\"user\",\"sessionId\":\"s\"}", "[{}]"] {
        assert!(!detect("a.jsonl", text), "{text}");
    }
}

#[test]
fn only_items_are_the_transcript() {
    let run = rollout(&[
        event(r#"{"type":"user_message","message":"hi"}"#),
        message("developer", "rules"),
        message("user", "hi"),
        item(
            r#"{"type":"reasoning","summary":[{"type":"summary_text","text":"a"}],"content":[{"type":"reasoning_text","text":"b"}],"encrypted_content":"x"}"#,
        ),
        item(r#"{"type":"reasoning","summary":[],"content":null,"encrypted_content":"x"}"#),
        item(r#"{"type":"function_call","name":"f","arguments":"{\"b\":1}","call_id":"1"}"#),
        item(r#"{"type":"function_call_output","call_id":"1","output":"o"}"#),
        item(r#"{"type":"custom_tool_call","name":"apply_patch","input":"*** x","call_id":"2"}"#),
        event(r#"{"type":"patch_apply_end","call_id":"2","success":false}"#),
        item(
            r#"{"type":"custom_tool_call_output","call_id":"2","output":[{"type":"output_text","text":"p"},{"type":"output_text","text":"q"}]}"#,
        ),
        item(
            r#"{"type":"local_shell_call","call_id":"3","action":{"type":"exec","command":["ls"]}}"#,
        ),
        item(
            r#"{"type":"function_call_output","call_id":"3","output":{"content":"c","success":true}}"#,
        ),
        item(r#"{"type":"web_search_call","id":"4","action":{"query":"q"}}"#),
        event(r#"{"type":"agent_message","message":"done"}"#),
        message("assistant", "done"),
    ]);
    let expected = "system rules, user hi, thinks a\nb, f {\"b\":1}, result o, apply_patch \
        \"*** x\", failed p\nq, local_shell {\"command\":[\"ls\"],\"type\":\"exec\"}, result c, \
        web_search {\"query\":\"q\"}, model done";
    assert_eq!(outline(&run.events), expected);
    assert_eq!((run.end, run.answer.as_deref()), (RunEnd::Complete, Some("done")));
    assert_eq!((run.model.as_deref(), run.seconds), (Some("m0"), Some(2.0)));
    assert_eq!(run.started.as_deref(), Some("2026-01-01T00:00:00Z"));
}

#[test]
fn messages_that_codex_puts_in_do_not_count() {
    let harness = |kinds: &str| {
        let texts = r#"{"type":"input_text","text":"x"},{"type":"input_text","text":"y"}"#;
        let metadata = format!(r#"{{"content_item_metadata":[{kinds}]}}"#);
        item(
            &format!(
                r#"{{"type":"message","role":"user","content":[{texts}],
            "internal_chat_message_metadata_passthrough":{metadata}}}"#
            )
            .replace('\n', ""),
        )
    };
    let of = |kind: &str| format!(r#"{{"provenance":{{"type":"{kind}"}}}}"#);
    let (own, user) = (of("harness"), of("user"));
    let table = [
        (message("user", "<environment_context> x"), "system"),
        (message("user", "<user_instructions>x"), "system"),
        (message("user", "# AGENTS.md instructions for x"), "system"),
        (message("user", "<turn_aborted>"), "system"),
        (message("user", "x <turn_aborted>"), "user"),
        (harness(&format!("{own},{own}")), "system"),
        (harness(&format!("{own},{user}")), "user"),
        (harness(&own), "user"),
        (harness(""), "user"),
    ];
    for (record, role) in table {
        let run = rollout(std::slice::from_ref(&record));
        assert!(outline(&run.events).starts_with(role), "{record}");
    }
}

#[test]
fn the_state_is_that_of_the_last_task() {
    let started = || event(r#"{"type":"task_started"}"#);
    let complete = || event(r#"{"type":"task_complete","last_agent_message":"x"}"#);
    let error = || event(r#"{"type":"error","message":"limit reached\nx"}"#);
    let text = || message("assistant", "x");
    let table = [
        (vec![started(), text()], RunEnd::Unfinished, None),
        (vec![started(), complete()], RunEnd::Complete, None),
        (vec![started(), error()], RunEnd::Error, Some("limit reached\nx")),
        (vec![started(), error(), complete()], RunEnd::Error, Some("limit reached\nx")),
        (vec![started(), error(), started(), complete()], RunEnd::Complete, None),
        (vec![started(), complete(), started()], RunEnd::Unfinished, None),
        (vec![text()], RunEnd::Complete, None),
        (vec![text(), message("user", "y")], RunEnd::Unfinished, None),
        (vec![], RunEnd::Unfinished, None),
    ];
    for (records, end, error) in table {
        let run = rollout(&records);
        assert_eq!((run.end, run.error.as_deref()), (end, error), "{records:?}");
    }
}

#[test]
fn tokens_are_the_last_running_total_and_those_of_answers_stand_with_them() {
    let count = |total: u32, last: u32| {
        let sum =
            format!(r#"{{"input_tokens":{total},"output_tokens":5,"total_tokens":9{total}}}"#);
        let last = format!(r#"{{"total_tokens":{last}}}"#);
        let info = format!(r#"{{"total_token_usage":{sum},"last_token_usage":{last}}}"#);
        event(&format!(r#"{{"type":"token_count","info":{info}}}"#))
    };
    let run = rollout(&[
        message("user", "x"),
        message("assistant", "a"),
        count(1, 11),
        message("assistant", "b"),
        count(2, 12),
        event(r#"{"type":"token_count","info":null}"#),
    ]);
    let tokens = TokenCounts { input: Some(2), output: Some(5), total: Some(92) };
    assert_eq!(run.tokens, Some(tokens));
    let of_events: Vec<_> = run.events.iter().map(|event| event.tokens).collect();
    assert_eq!(of_events, [None, Some(11), Some(12)]);
}

#[test]
fn what_happens_beside_the_transcript_is_shown_where_it_happened() {
    let run = rollout(&[
        r#"{"timestamp":"2026-01-01T00:00:01Z","type":"turn_context","payload":{"model":"m1"}}"#
            .to_owned(),
        r#"{"timestamp":"2026-01-01T00:00:01Z","type":"turn_context","payload":{"model":"m2"}}"#
            .to_owned(),
        item(r#"{"type":"function_call","name":"f","arguments":"","call_id":"1"}"#),
        event(
            r#"{"type":"exec_command_end","call_id":"1","exit_code":2,"duration":{"secs":1,"nanos":500000000}}"#,
        ),
        item(r#"{"type":"function_call_output","call_id":"1","output":"o"}"#),
        event(r#"{"type":"turn_aborted","reason":"interrupted"}"#),
        event(r#"{"type":"thread_rolled_back","num_turns":2}"#),
        r#"{"timestamp":"2026-01-01T00:00:09Z","type":"compacted","payload":{"message":"so far"}}"#
            .to_owned(),
        r#"{"timestamp":"2026-01-01T00:00:09Z","type":"future_record","payload":{"a":1}}"#
            .to_owned(),
    ]);
    let expected = "f {}, failed o, note The turn was aborted: interrupted., note The user went back by 2 turns., compaction so far";
    assert_eq!(outline(&run.events), expected);
    assert_eq!((run.events[0].seconds, run.model.as_deref()), (Some(1.5), Some("m1")));
    // A turn may have another model than the first one.
    let models: Vec<_> = run.events.iter().map(|event| event.model.as_deref()).collect();
    assert_eq!(models, [Some("m2"), None, None, None, None]);
}

#[test]
fn the_output_of_exec_has_items() {
    let start = [
        r#"{"type":"thread.started","thread_id":"t"}"#,
        r#"{"type":"item.completed","item":{"id":"0","type":"error","message":"notice"}}"#,
        r#"{"type":"turn.started"}"#,
        r#"{"type":"item.completed","item":{"id":"1","type":"reasoning","text":"hm"}}"#,
        r#"{"type":"item.started","item":{"id":"2","type":"command_execution","command":"ls","status":"in_progress"}}"#,
        r#"{"type":"item.completed","item":{"id":"2","type":"command_execution","command":"ls","aggregated_output":"a","exit_code":1,"status":"failed"}}"#,
        concat!(
            r#"{"type":"item.completed","item":{"id":"3","type":"mcp_tool_call","server":"s","#,
            r#""tool":"look","arguments":{"q":1},"result":{"content":[{"type":"text","text":"r"}]},"#,
            r#""status":"completed"}}"#,
        ),
        r#"{"type":"item.started","item":{"id":"4","type":"web_search","query":"w"}}"#,
        r#"{"type":"item.completed","item":{"id":"5","type":"file_change","changes":[{"path":"p"}],"status":"completed"}}"#,
        r#"{"type":"item.started","item":{"id":"6","type":"agent_message","text":"par"}}"#,
        r#"{"type":"item.completed","item":{"id":"6","type":"agent_message","text":"done"}}"#,
    ];
    let shown = "note notice, thinks hm, command_execution {\"command\":\"ls\"}, failed a, look \
        {\"q\":1}, result r, web_search {\"query\":\"w\"}, file_change \
        {\"changes\":[{\"path\":\"p\"}]}, result completed, model done";
    let table = [
        ("", RunEnd::Unfinished, None, None),
        (
            r#"{"type":"turn.completed","usage":{"input_tokens":3,"output_tokens":4}}"#,
            RunEnd::Complete,
            None,
            Some(7),
        ),
        (r#"{"type":"turn.failed","error":{"message":"no"}}"#, RunEnd::Error, Some("no"), None),
    ];
    for (last, end, error, total) in table {
        let lines: Vec<&str> = start.iter().copied().chain([last]).collect();
        let run = open(&lines);
        assert_eq!(outline(&run.events), shown);
        assert_eq!((run.end, run.error.as_deref()), (end, error));
        assert_eq!(run.tokens.and_then(|tokens| tokens.total), total);
        let file = open_bytes(lines.join("\n").as_bytes());
        assert_eq!((file.member(0).as_deref(), run.model), (Some("t"), None));
        assert_eq!(run.identity, Some(Identity { key: "codex/t".to_owned(), rank: 0.0 }));
    }
}

#[test]
fn compressed_rollouts_are_read_in_all_their_frames() {
    let text = [message("user", "x"), message("assistant", "y")].join("\n");
    let (first, second) = text.as_bytes().split_at(text.len() / 2);
    let frame = |bytes: &[u8]| ::zstd::encode_all(bytes, 1).unwrap();
    let bytes = [frame(first), frame(second)].concat();
    let file = open_bytes(&bytes);
    assert_eq!(outline(&file.read(0).unwrap().events), "user x, model y");
    assert_eq!(file.file_error(), None);
    let cut = open_bytes(&bytes[..bytes.len() - 3]);
    assert!(cut.file_error().is_some());
    let source = bytes[..6].to_vec();
    let input = Input { path: "rollout-1.jsonl.zst", source: &source, folder: &NoFolder };
    assert!(Codex.open(input).is_err());
}

#[test]
fn rollouts_from_before_lines_had_a_type_are_read() {
    let run = open(&[
        r#"{"id":"t","timestamp":"2025-05-01T00:00:00Z","instructions":null,"git":{"branch":"b"}}"#,
        r#"{"record_type":"state"}"#,
        r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"x"}]}"#,
        r#"{"type":"message","role":"assistant","content":[{"type":"output_text","text":"y"}]}"#,
        r#"{"type":"mess"#,
    ]);
    assert_eq!((outline(&run.events).as_str(), run.end), ("user x, model y", RunEnd::Complete));
    assert!(
        run.notes.is_empty() && run.facts.contains(&("git branch".to_owned(), Value::from("b")))
    );
}
