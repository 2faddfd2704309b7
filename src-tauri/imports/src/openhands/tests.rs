//! Tests of the reader of `OpenHands` results.
use super::*;
use crate::run::{EventKind, Repeat, TokenCounts};
use crate::source::NoFolder;
use crate::testing::Files;

fn open_text(text: &str) -> (Vec<Option<String>>, Vec<ImportedRun>, bool) {
    let source = text.as_bytes().to_vec();
    let input = Input { path: "x/output.jsonl", source: &source, folder: &NoFolder };
    let file = OpenHands.open(input).unwrap();
    let members = (0..file.len()).map(|at| file.member(at)).collect();
    let runs = (0..file.len()).filter_map(|at| file.read(at).ok()).collect();
    (members, runs, file.file_error().is_some())
}

fn open(text: &str) -> ImportedRun {
    open_text(text).1.remove(0)
}

fn outline(events: &[Event]) -> String {
    let one = |event: &Event| match &event.kind {
        EventKind::System(text) => format!("system {text}"),
        EventKind::User(text) => format!("user {text}"),
        EventKind::Assistant(text) => format!("model {text}"),
        EventKind::Reasoning(text) => format!("thinks {text}"),
        EventKind::Call { name, arguments, .. } => {
            format!("{name} {}", crate::text::canonical_json(arguments))
        }
        EventKind::Result { id, value, failed, .. } => {
            let mark = if *failed == Some(true) { "failed" } else { "result" };
            let value = crate::text::text_or_json(value).unwrap_or_default();
            format!("{mark} {value} of {}", id.as_deref().unwrap_or("-"))
        }
        EventKind::Compaction(text) => format!("compaction {text}"),
        EventKind::Error(text) => format!("error {text}"),
        EventKind::Note(text) => format!("note {text}"),
        other => format!("{other:?}"),
    };
    events.iter().map(one).collect::<Vec<_>>().join(", ")
}

#[test]
fn outputs_events_and_conversations_are_recognised_and_nothing_else_is() {
    let detect = |path: &str, text: &str| {
        OpenHands.detect(path, text.as_bytes(), Head::read(text.as_bytes()).as_ref())
    };
    let runs = Some(Detected::Runs);
    assert_eq!(detect("a.jsonl", r#"{"instance_id":"i","history":[]}"#), runs);
    assert_eq!(detect("a.jsonl", r#"{"instance_id":"i","test_result":{"git_patch":"d"#), runs);
    assert_eq!(detect("a.jsonl", r#"{"issue":{},"issue_type":"pr"}"#), runs);
    let run = Some(Detected::Run);
    assert_eq!(detect("a.json", r#"[{"id":0,"source":"user","action":"message","args":{}}]"#), run);
    let sdk = r#"{"id":"1","timestamp":"t","source":"user","kind":"MessageEvent"}"#;
    assert_eq!(detect("a.jsonl", sdk), run);
    assert_eq!(detect("a.json", &format!("[{sdk}]")), run);
    let prompt = r#"{"id":"1","timestamp":"t","source":"agent","system_prompt":{"text":"lo"#;
    assert_eq!(detect("a.jsonl", prompt), run);
    assert_eq!(detect("c/base_state.json", r#"{"id":"c","agent":{}}"#), run);
    assert!(matches!(detect("c/events/event-00001-x.json", sdk), Some(Detected::NoRun(_))));
    for text in [
        r#"{"instance_id":"i","model_patch":"p"}"#,
        r#"[{"action":"message","content":"x"}]"#,
        r#"{"source":"user","kind":"span"}"#,
        r#"{"id":"c","agent":{}}"#,
    ] {
        assert_eq!(detect("a.json", text), None, "{text}");
    }
    let owner = OpenHands.owner("c/events/event-00001-x.json", &NoFolder);
    assert_eq!(owner.as_deref(), Some("c/base_state.json"));
}

#[test]
fn fields_stand_in_the_arguments_or_beside_the_action() {
    let flat = open(
        r#"{"instance_id":"i","history":[
        {"action":"message","content":"task"},
        {"action":"run","command":"ls","thought":"look","keep_prompt":true},
        {"observation":"run","content":"a","exit_code":2},
        {"action":"run_ipython","code":"1","thought":""},
        [{"action":"browse","url":"u","thought":"t"},{"observation":"browse","content":"page"}],
        {"action":"finish","thought":"done","outputs":{}}]}"#
            .replace('\n', "")
            .as_str(),
    );
    let expected = "user task, model look, run {\"command\":\"ls\"}, failed a of -, run_ipython \
        {\"code\":\"1\"}, model t, browse {\"url\":\"u\"}, result page of -, model done";
    assert_eq!(outline(&flat.events), expected);
    let nested = open(
        r#"[
        {"id":0,"source":"agent","action":"system","args":{"content":"s"}},
        {"id":1,"source":"user","action":"message","args":{"content":"task"}},
        {"id":2,"source":"user","action":"recall","args":{"query":"q"}},
        {"id":3,"source":"environment","observation":"recall","content":"r","cause":2},
        {"id":4,"source":"agent","action":"edit","args":{"path":"p","thought":"t"}},
        {"id":5,"source":"agent","observation":"edit","content":"o","cause":4},
        {"id":6,"source":"user","action":"run","args":{"command":"pwd"}},
        {"id":7,"source":"environment","observation":"agent_state_changed","content":""},
        {"id":8,"source":"agent","action":"message","args":{"content":"say"}},
        {"id":9,"source":"agent","observation":"error","content":"bad"},
        {"id":10,"source":"environment","observation":"null","content":""},
        {"id":11,"source":"agent","action":"change_agent_state","args":{"agent_state":"x"}}]"#,
    );
    let expected = "system s, user task, model t, edit {\"path\":\"p\"}, result o of 4, note The user ran run: pwd, model say, failed bad of -";
    assert_eq!(outline(&nested.events), expected);
    assert_eq!(nested.end, RunEnd::Unfinished);
}

#[test]
fn the_call_is_that_of_the_model_and_each_response_counts_once() {
    let metadata = |id: &str, call: &str| {
        format!(r#""tool_call_metadata":{{"tool_call_id":"{call}","function_name":"f","#)
            + &format!(r#""model_response":{{"id":"{id}","model":"m","#)
            + r#""choices":[{"message":{"tool_calls":[{"id":"1","function":{"name":"f","#
            + r#""arguments":"{\"a\":1}"}},{"id":"2","function":{"name":"g","#
            + r#""arguments":"{}"}}]}}],"usage":{"prompt_tokens":3,"completion_tokens":4,"#
            + r#""total_tokens":8}}}"#
    };
    let event = |rest: &str, metadata: &str| format!("{{\"source\":\"agent\",{rest},{metadata}}}");
    let action =
        r#""action":"run","args":{"command":"x","thought":""},"timestamp":"2026-01-01T00:00:00""#;
    let finish = r#""action":"finish","args":{"thought":"t","final_thought":"end"},"timestamp":"2026-01-01T00:00:02""#;
    let text = format!(
        "[{},{},{},{},{}]",
        event(action, &metadata("r1", "1")),
        event(action, &metadata("r1", "2")),
        event("\"observation\":\"run\",\"content\":\"o\"", &metadata("r1", "2")),
        event(action, &metadata("r2", "missing")),
        event(finish, &metadata("r3", "9")),
    );
    let run = open(&text);
    let expected =
        "f \"{\\\"a\\\":1}\", g \"{}\", result o of 2, run {\"command\":\"x\"}, model t, model end";
    assert_eq!(outline(&run.events), expected);
    let tokens = TokenCounts { input: Some(9), output: Some(12), total: Some(24) };
    assert_eq!((run.tokens, run.model.as_deref()), (Some(tokens), Some("m")));
    assert_eq!((run.end, run.seconds), (RunEnd::Complete, Some(2.0)));
    assert_eq!(run.started.as_deref(), Some("2026-01-01T00:00:00"));
    assert_eq!(run.answer.as_deref(), Some("end"));
}

#[test]
fn a_line_is_an_instance_with_its_coordinates_and_verdicts() {
    let one = concat!(
        r#"{"instance_id":"i","metadata":{"agent_class":"A","llm_config":{"model":"m"}},"#,
        r#""history":[],"metrics":{"accumulated_cost":0.5,"#,
        r#""accumulated_token_usage":{"prompt_tokens":3,"completion_tokens":4}},"error":null}"#,
    );
    let issue = r#"{"issue":{"owner":"o","repo":"r","number":5},"issue_type":"issue","history":[],"success":false,"result_explanation":"why","error":"late"}"#;
    let report = r#"{"instance_id":"i","history":[],"test_result":{"report":{"resolved":true}}}"#;
    let (members, runs, is_cut) =
        open_text(&format!("{one}\n{issue}\n{report}\n{{\"instance_id\":\"j\",\"hist"));
    let names: Vec<_> = members.iter().flatten().map(String::as_str).collect();
    assert_eq!((names, is_cut), (vec!["i", "o/r#5", "i (2)"], true));
    let run = &runs[0];
    assert_eq!((run.task.as_deref(), run.system.as_deref()), (Some("i"), Some("A")));
    assert_eq!((run.model.as_deref(), run.cost, run.end), (Some("m"), Some(0.5), RunEnd::Complete));
    assert_eq!(run.tokens.and_then(|tokens| tokens.total), Some(7));
    let run = &runs[1];
    assert_eq!((run.system.as_deref(), run.end), (Some("openhands"), RunEnd::Error));
    assert_eq!(run.error.as_deref(), Some("late"));
    let verdict = &run.verdicts[0];
    assert_eq!((verdict.passed, verdict.reason.as_deref()), (Some(false), Some("why")));
    let run = &runs[2];
    assert_eq!((run.verdicts[0].name.as_str(), run.verdicts[0].passed), ("resolved", Some(true)));
    assert_eq!(run.repeat, Repeat::Number(2));
}

#[test]
fn a_line_that_is_no_json_is_the_error_of_one_run_only() {
    let one = r#"{"instance_id":"i","history":[]}"#;
    let (members, runs, is_cut) =
        open_text(&format!("{one}\n{{\"instance_id\":\"b\",\"x\":nul}}\n{one}\n"));
    assert_eq!((members.len(), runs.len(), is_cut), (3, 2, false));
}

#[test]
fn events_of_the_sdk_end_as_their_last_status_says() {
    let start = [
        r#"{"kind":"SystemPromptEvent","source":"agent","system_prompt":{"type":"text","text":"s"}}"#,
        r#"{"kind":"MessageEvent","source":"user","timestamp":"2026-01-01T00:00:00","llm_message":{"role":"user","content":[{"type":"text","text":"u"}]}}"#,
        concat!(
            r#"{"kind":"ActionEvent","source":"agent","thought":[{"type":"text","text":"t"}],"#,
            r#""reasoning_content":"hm","tool_call_id":"1","tool_name":"term","tool_call":{"id":"1","#,
            r#""name":"term","arguments":"{}"},"action":{"command":"x"}}"#,
        ),
        r#"{"kind":"ObservationEvent","tool_call_id":"1","observation":{"content":[{"type":"text","text":"o"}],"is_error":true}}"#,
        concat!(
            r#"{"kind":"ActionEvent","source":"agent","thought":[],"#,
            r#""thinking_blocks":[{"type":"thinking","thinking":"b"}],"tool_call_id":"2","#,
            r#""tool_name":"f","action":{"a":1}}"#,
        ),
        r#"{"kind":"AgentErrorEvent","tool_call_id":"2","error":"no"}"#,
        r#"{"kind":"UserRejectObservation","tool_call_id":"3","rejection_reason":"stop"}"#,
        r#"{"kind":"Condensation","summary":"short"}"#,
        concat!(
            r#"{"kind":"ConversationStateUpdateEvent","key":"stats","#,
            r#""value":{"usage_to_metrics":{"agent":{"model_name":"m","accumulated_cost":0.5,"#,
            r#""accumulated_token_usage":{"prompt_tokens":3,"completion_tokens":4}},"#,
            r#""condenser":{"accumulated_cost":0.25,"accumulated_token_usage":{"prompt_tokens":1,"#,
            r#""completion_tokens":1}}}}}"#,
        ),
        concat!(
            r#"{"kind":"MessageEvent","source":"agent","timestamp":"2026-01-01T00:00:03","#,
            r#""llm_message":{"role":"assistant","content":[{"type":"text","text":"a"}]}}"#,
        ),
        r#"{"kind":"ConversationErrorEvent","code":"c","detail":"broke"}"#,
    ];
    let shown = "system s, user u, thinks hm, model t, term \"{}\", failed o of 1, thinks b, f \
        {\"a\":1}, failed no of 2, failed stop of 3, compaction short, model a, error broke";
    for (status, end, error) in [
        ("finished", RunEnd::Complete, None),
        ("error", RunEnd::Error, Some("broke")),
        ("stuck", RunEnd::Error, Some("broke")),
        ("paused", RunEnd::Unfinished, None),
    ] {
        let last = format!(
            r#"{{"kind":"ConversationStateUpdateEvent","key":"execution_status","value":"{status}"}}"#
        );
        let run = open(&format!("{}\n{last}\n{{\"kind\":\"Mess", start.join("\n")));
        assert_eq!(outline(&run.events), shown);
        assert_eq!((run.end, run.error.as_deref()), (end, error), "{status}");
        assert_eq!((run.cost, run.seconds, run.notes.len()), (Some(0.75), Some(3.0), 0));
        assert_eq!(run.tokens.and_then(|tokens| tokens.total), Some(9));
        assert_eq!(run.model.as_deref(), Some("m"));
    }
}

#[test]
fn a_conversation_has_a_file_for_each_event() {
    let message = |text: &str| {
        format!(
            r#"{{"kind":"MessageEvent","source":"user","llm_message":{{"role":"user","content":"{text}"}}}}"#
        )
    };
    let state = r#"{"id":"c","agent":{"llm":{"model":"m"}},"execution_status":"finished","max_iterations":9}"#;
    let files = Files::new(&[
        ("c/base_state.json", state),
        ("c/events/event-00000-x.json", &message("1")),
        ("c/events/event-00001-x.json", &message("2")),
        ("c/events/.lock", ""),
    ]);
    let source = state.as_bytes().to_vec();
    let input = Input { path: "c/base_state.json", source: &source, folder: &files };
    let file = OpenHands.open(input).unwrap();
    let run = file.read(0).unwrap();
    assert_eq!((outline(&run.events).as_str(), run.end), ("user 1, user 2", RunEnd::Complete));
    assert_eq!((file.member(0).as_deref(), run.model.as_deref()), (Some("c"), Some("m")));
}

#[test]
fn a_list_of_events_that_is_cut_off_gives_its_complete_events() {
    let text = r#"[{"source":"user","action":"message","args":{"content":"a"}},{"source":"agent","action":"finish","args":{"thought":"b"}}]"#;
    for end in 50..text.len() {
        let (_, runs, is_cut) = open_text(&text[..end]);
        assert!(runs[0].events.len() <= 2 && is_cut, "{end}");
    }
}
