//! Tests of the reader of Claude Code's sessions.
use super::*;
use crate::run::{Event, EventKind, ImportedRun, RunEnd, TokenCounts};
use crate::source::NoFolder;
use crate::testing::Files;

fn run_at(files: &Files, path: &str) -> ImportedRun {
    let source = files.bytes(path);
    let input = Input { path, source: &source, folder: files };
    ClaudeCode.open(input).unwrap().read(0).unwrap()
}

/// Writes a record; `more` are keys of the record, with a comma before.
fn record(kind: &str, uuid: &str, parent: &str, content: &str, more: &str) -> String {
    let parent = if parent.is_empty() { "null".to_owned() } else { format!("\"{parent}\"") };
    let model = if kind == "assistant" { ",\"model\":\"m\",\"id\":\"i-x\"" } else { "" };
    format!(r#"{{"parentUuid":{parent},"isSidechain":false,"sessionId":"s","type":"{kind}","#)
        + &format!(
            r#""message":{{"role":"{kind}","content":{content}{model}}},"uuid":"{uuid}"{more}}}"#
        )
}

fn user(uuid: &str, parent: &str, text: &str) -> String {
    record("user", uuid, parent, &format!("\"{text}\""), "")
}

fn model(uuid: &str, parent: &str, text: &str) -> String {
    record("assistant", uuid, parent, &format!("[{{\"type\":\"text\",\"text\":\"{text}\"}}]"), "")
}

fn call(uuid: &str, parent: &str, id: &str, prompt: &str) -> String {
    let input = format!("{{\"prompt\":\"{prompt}\",\"subagent_type\":\"Explore\"}}");
    let content =
        format!("[{{\"type\":\"tool_use\",\"id\":\"{id}\",\"name\":\"Task\",\"input\":{input}}}]");
    record("assistant", uuid, parent, &content, "")
}

fn result(uuid: &str, parent: &str, id: &str, more: &str) -> String {
    let content =
        format!("[{{\"type\":\"tool_result\",\"tool_use_id\":\"{id}\",\"content\":\"ok\"}}]");
    record("user", uuid, parent, &content, more)
}

fn side(line: &str) -> String {
    line.replace("\"isSidechain\":false", "\"isSidechain\":true")
}

fn open(text: &str) -> ImportedRun {
    run_at(&Files::new(&[("s.jsonl", text)]), "s.jsonl")
}

/// Writes events in short, nested ones in brackets.
fn outline(events: &[Event]) -> String {
    let one = |event: &Event| match &event.kind {
        EventKind::System(text) => format!("system {text}"),
        EventKind::User(text) => format!("user {text}"),
        EventKind::Assistant(text) => format!("model {text}"),
        EventKind::Reasoning(text) => format!("thinks {text}"),
        EventKind::Call { name, .. } => format!("call {name}"),
        EventKind::Result { .. } => "result".to_owned(),
        EventKind::SubAgent { name, call, events } => {
            format!("{name} of {} [{}]", call.as_deref().unwrap_or("-"), outline(events))
        }
        EventKind::Abandoned(events) => format!("left [{}]", outline(events)),
        EventKind::Compaction(text) => format!("compaction {text}"),
        EventKind::Error(text) => format!("error {text}"),
        EventKind::Note(text) => format!("note {text}"),
        other => format!("{other:?}"),
    };
    events.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn lines(lines: &[String]) -> String {
    lines.join("\n") + "\n"
}

#[test]
fn a_session_is_recognised_by_its_records_and_nothing_else_is() {
    let detect =
        |text: &str| ClaudeCode.detect("x", text.as_bytes(), Head::read(text.as_bytes()).as_ref());
    let snapshot = "{\"type\":\"file-history-snapshot\",\"messageId\":\"a\",\"snapshot\":{}}\n";
    let summary = "{\"type\":\"summary\",\"summary\":\"t\",\"leafUuid\":\"u\"}\n";
    for text in [
        user("a", "", "x"),
        format!("{snapshot}{}", user("a", "", "x")),
        format!("{summary}{}", user("a", "", &"x".repeat(20_000))),
        "{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s\"}\n".to_owned(),
        "[{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s\"}]".to_owned(),
        "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"session_id\":\"s\"}"
            .to_owned(),
        "{\"loglines\":[{\"type\":\"user\",\"message\":{}}]}".to_owned(),
    ] {
        assert_eq!(detect(&text), Some(Detected::Run), "{text:.80}");
    }
    assert!(matches!(detect(summary), Some(Detected::NoRun(_))));
    for text in [
        "{\"type\":\"user\",\"message\":{\"sessionId\":\"x\",\"parentUuid\":\"y\"}}",
        "{\"type\":\"session_meta\",\"payload\":{}}",
        "{\"sessionId\":\"s\",\"projectHash\":\"p\"}",
        "{\"loglines\":3}",
        "sessionId parentUuid",
    ] {
        assert_eq!(detect(text), None, "{text}");
    }
}

#[test]
fn the_state_follows_from_the_last_message() {
    let failed =
        record("assistant", "b", "a", "\"API Error: 500\\nx\"", ",\"isApiErrorMessage\":true");
    let meta = record("user", "z", "b", "\"m\"", ",\"isMeta\":true");
    let table = [
        (vec![user("a", "", "x")], RunEnd::Unfinished, None),
        (vec![user("a", "", "x"), model("b", "a", "y")], RunEnd::Complete, None),
        (vec![user("a", "", "x"), model("b", "a", "y"), meta], RunEnd::Complete, None),
        (vec![user("a", "", "x"), call("b", "a", "c", "p")], RunEnd::Unfinished, None),
        (
            vec![user("a", "", "x"), call("b", "a", "c", "p"), result("d", "b", "c", "")],
            RunEnd::Unfinished,
            None,
        ),
        (vec![user("a", "", "x"), failed], RunEnd::Error, Some("API Error: 500\nx")),
    ];
    for (records, end, error) in table {
        let text = lines(&records);
        let run = open(&text);
        assert_eq!((run.end, run.error.as_deref()), (end, error), "{text}");
        // A session that is still growing ends in half a line.
        let run = open(&format!("{text}{{\"parentUuid\":\"b\",\"type\":\"us"));
        assert_eq!((run.end, run.notes.len()), (end, 0), "{text}");
    }
}

#[test]
fn messages_of_the_tool_do_not_count_and_other_lines_are_skipped() {
    let meta = record("user", "m", "", "\"caveat\"", ",\"isMeta\":true");
    let text = lines(&[
        meta,
        "42\n\"x\"".to_owned(),
        record("user", "a", "", "[\"part\",{\"type\":\"text\",\"text\":\" \"}]", ""),
        record(
            "assistant",
            "b",
            "a",
            "[{\"type\":\"thinking\",\"thinking\":\"t\"},{\"type\":\"thinking\",\"thinking\":\"\"}]",
            "",
        ),
        model("c", "b", "y"),
    ]);
    let run = open(&text);
    assert_eq!(outline(&run.events), "system caveat, user part, thinks t, model y");
    assert_eq!(run.notes, ["2 lines are no JSON object, and left out."]);
    assert_eq!((run.answer.as_deref(), run.model.as_deref()), (Some("y"), Some("m")));
}

#[test]
fn tokens_count_once_for_each_answer_and_cached_ones_in_the_total_only() {
    let usage = |id: &str, output: u32| {
        format!(r#"{{"type":"assistant","sessionId":"s","uuid":"{id}{output}","costUSD":0.5,"#)
            + &format!(r#""message":{{"id":"{id}","model":"<synthetic>","content":"x","#)
            + &format!(
                r#""usage":{{"input_tokens":10,"output_tokens":{output},"cache_read_input_tokens":100,"#
            )
            + r#""cache_creation_input_tokens":1000}}}"#
    };
    let run = open(&lines(&[usage("a", 1), usage("a", 5), usage("b", 2)]));
    let tokens = TokenCounts { input: Some(20), output: Some(7), total: Some(2_227) };
    assert_eq!((run.tokens, run.cost, run.model), (Some(tokens), Some(1.5), None));
}

#[test]
fn a_branch_that_was_left_is_folded_where_it_stands() {
    let text = lines(&[
        user("a", "", "1"),
        model("b", "a", "2"),
        user("c", "b", "no"),
        model("d", "c", "left"),
        user("e", "b", "3"),
        model("f", "e", "4"),
    ]);
    let run = open(&text);
    let expected = "user 1, model 2, left [user no, model left], user 3, model 4";
    assert_eq!(outline(&run.events), expected);
}

#[test]
fn calls_side_by_side_and_a_new_start_are_no_branches() {
    let text = lines(&[
        user("a", "", "1"),
        call("b", "a", "c1", "p"),
        call("c", "b", "c2", "q"),
        result("d", "b", "c1", ""),
        result("e", "c", "c2", ""),
        model("f", "e", "2"),
        user("g", "", "<command-name>/clear</command-name>"),
        model("h", "g", "3"),
    ]);
    assert!(!outline(&open(&text).events).contains("left"));
    // A chain that leads back to itself ends.
    let circle = lines(&[user("a", "b", "1"), user("b", "a", "2")]);
    assert_eq!(outline(&open(&circle).events), "user 1, user 2");
}

#[test]
fn a_compaction_stands_before_its_summary() {
    let boundary = concat!(
        r#"{"type":"system","subtype":"compact_boundary","uuid":"x","parentUuid":null,"#,
        r#""logicalParentUuid":"b","sessionId":"s","content":"Conversation compacted","#,
        r#""compactMetadata":{"trigger":"auto","preTokens":7}}"#,
    );
    let summary = record("user", "c", "x", "\"so far\"", ",\"isCompactSummary\":true");
    let text =
        lines(&[user("a", "", "1"), model("b", "a", "2"), boundary.to_owned(), summary.clone()]);
    let expected =
        "user 1, model 2, compaction Conversation compacted (auto, 7 tokens before), user so far";
    assert_eq!(outline(&open(&text).events), expected);
    let alone = lines(&[user("a", "", "1"), summary]);
    assert!(
        outline(&open(&alone).events).starts_with("user 1, compaction The message that follows")
    );
}

#[test]
fn sub_agents_in_the_file_follow_the_calls_that_started_them() {
    let text = lines(&[
        user("a", "", "1"),
        call("b", "a", "c1", "p"),
        call("c", "b", "c2", "q"),
        side(&user("x1", "", "q")),
        side(&user("y1", "", "p")),
        side(&model("x2", "x1", "of q")),
        side(&user("z1", "", "Warmup")),
        result("d", "b", "c1", ""),
    ]);
    let expected = "user 1, call Task, Explore of c1 [user p], call Task, Explore of c2 [user q, model of q], result, sub-agent of - [user Warmup]";
    assert_eq!(outline(&open(&text).events), expected);
}

#[test]
fn the_files_of_sub_agents_follow_their_calls_and_may_start_others() {
    let started = |agent: &str| {
        format!(
            ",\"toolUseResult\":{{\"agentId\":\"{agent}\",\"totalDurationMs\":1500,\"totalTokens\":9}}"
        )
    };
    let main = lines(&[
        user("a", "", "1"),
        call("b", "a", "c1", "p"),
        result("c", "b", "c1", &started("k1")),
        model("d", "c", "2"),
    ]);
    let inner = lines(&[
        side(&user("x", "", "p")),
        side(&call("y", "x", "c2", "q")),
        side(&result("z", "y", "c2", &started("k2"))),
        // A sub-agent that names itself or leaves its folder is not opened again.
        side(&call("v", "z", "c3", "r")),
        side(&result("w", "v", "c3", &started("k1"))),
        side(&result("w", "v", "c4", &started("../../s"))),
    ]);
    let files = Files::new(&[
        ("p/s.jsonl", &main),
        ("p/s/subagents/agent-k1.jsonl", &inner),
        ("p/s/subagents/agent-k2.jsonl", &lines(&[side(&user("i", "", "q"))])),
        ("p/s/subagents/agent-k9.jsonl", &lines(&[side(&user("j", "", "aside"))])),
        ("p/s/subagents/agent-k9.meta.json", "{\"agentType\":\"Aside\"}"),
        ("q/other.jsonl", &main),
        ("q/side.jsonl", &inner),
    ]);
    let run = run_at(&files, "p/s.jsonl");
    let expected = "user 1, call Task, Explore of c1 [user p, call Task, Explore of c2 [user \
        q], result, call Task, result, result], result, model 2, Aside of - [user aside]";
    assert_eq!(outline(&run.events), expected);
    let result = run.events.iter().find(|event| matches!(event.kind, EventKind::Result { .. }));
    assert_eq!(result.map(|event| (event.seconds, event.tokens)), Some((Some(1.5), Some(9))));
    // The file of a sub-agent is a run that belongs to its session.
    let identity = |path: &str| run_at(&files, path).identity.map(|one| (one.key, one.rank));
    let of = |path: &str, rank| Some((format!("claude_code/{path}"), rank));
    assert_eq!(identity("p/s.jsonl"), of("p/s.jsonl", 1.0));
    assert_eq!(identity("p/s/subagents/agent-k1.jsonl"), of("p/s.jsonl", 0.0));
    assert_eq!(identity("q/side.jsonl"), of("q/other.jsonl", 0.0));
    let owner = ClaudeCode.owner("p/s/subagents/agent-k1.jsonl", &NoFolder);
    assert_eq!(owner.as_deref(), Some("p/s.jsonl"));
    assert_eq!(ClaudeCode.owner("p/s.jsonl", &files), None);
    assert_eq!(run_at(&Files::new(&[("x.jsonl", &inner)]), "x.jsonl").identity, None);
}

#[test]
fn each_message_names_the_model_of_its_own_record() {
    let small = |line: &str| line.replace("\"model\":\"m\"", "\"model\":\"small\"");
    let main = lines(&[
        user("a", "", "1"),
        call("b", "a", "c1", "p"),
        result("c", "b", "c1", ",\"toolUseResult\":{\"agentId\":\"k1\"}"),
        model("d", "c", "2"),
        small(&model("e", "d", "3")),
    ]);
    let inner = lines(&[side(&user("f", "", "p")), small(&side(&model("g", "f", "of p")))]);
    let files = Files::new(&[("p/s.jsonl", &main), ("p/s/subagents/agent-k1.jsonl", &inner)]);
    let run = run_at(&files, "p/s.jsonl");
    assert_eq!(run.model.as_deref(), Some("m"));
    let run = crate::convert::to_run(run, "claude_code");
    let models: Vec<_> = run.steps.iter().map(|step| (step.depth, step.model.as_deref())).collect();
    // Steps of the run's own model have no name of their own.
    let own = (0, None);
    let expected = [own, own, own, (1, None), (1, Some("small")), own, (0, Some("small"))];
    assert_eq!(models, expected);
}

#[test]
fn a_sub_agent_beside_its_session_belongs_to_it_by_what_it_holds() {
    let inner = side(&user("a", "", "q"));
    let files = Files::new(&[
        ("p/s.jsonl", &user("b", "", "main")),
        ("p/agent-k1.jsonl", &inner),
        ("p/agent-k1.meta.json", "{}"),
        ("q/renamed.jsonl", &user("b", "", "main")),
        ("q/agent-k1.jsonl", &inner),
        ("agent-k1.jsonl", &inner),
        ("p/agent-main.jsonl", &user("c", "", "no sub-agent")),
    ]);
    for (path, owner) in [
        ("p/agent-k1.jsonl", Some("p/s.jsonl")),
        ("p/agent-k1.meta.json", Some("p/s.jsonl")),
        ("q/agent-k1.jsonl", Some("q/renamed.jsonl")),
        ("agent-k1.jsonl", None),
        ("p/agent-main.jsonl", None),
        ("p/agent-gone.jsonl", None),
        ("p/s.jsonl", None),
    ] {
        assert_eq!(ClaudeCode.owner(path, &files).as_deref(), owner, "{path}");
    }
}

#[test]
fn a_stream_ends_in_its_result() {
    let start = [
        r#"{"type":"system","subtype":"init","session_id":"s","model":"m","claude_code_version":"2.1"}"#,
        concat!(
            r#"{"type":"assistant","session_id":"s","parent_tool_use_id":null,"message":{"id":"1","#,
            r#""model":"m","content":[{"type":"tool_use","id":"c1","name":"Task","input":{}}],"#,
            r#""usage":{"input_tokens":1,"output_tokens":1}}}"#,
        ),
        r#"{"type":"user","session_id":"s","parent_tool_use_id":"c1","message":{"content":"inner"}}"#,
        r#"{"type":"user","session_id":"s","parent_tool_use_id":null,"message":{"content":[{"type":"tool_result","tool_use_id":"c1","content":"ok"}]}}"#,
    ]
    .join("\n");
    let table = [
        (
            r#""subtype":"success","is_error":false,"result":"done""#,
            RunEnd::Complete,
            None,
            Some("done"),
        ),
        (
            r#""subtype":"success","is_error":true,"result":"Login""#,
            RunEnd::Error,
            Some("Login"),
            None,
        ),
        (
            r#""subtype":"error_max_turns","is_error":false"#,
            RunEnd::Limit,
            Some("error_max_turns"),
            None,
        ),
        (
            r#""subtype":"error_during_execution","is_error":true,"errors":["x","y"]"#,
            RunEnd::Error,
            Some("x\ny"),
            None,
        ),
    ];
    for (keys, end, error, answer) in table {
        let usage = r#"{"input_tokens":5,"output_tokens":6,"cache_read_input_tokens":7}"#;
        let costs = format!(r#""num_turns":3,"total_cost_usd":0.25,"usage":{usage}"#);
        let result =
            format!(r#"{{"type":"result",{keys},"session_id":"s","duration_ms":2500,{costs}}}"#);
        let text = format!("{start}\n{result}");
        let run = open(&text);
        assert_eq!((run.end, run.error.as_deref(), run.answer.as_deref()), (end, error, answer));
        assert_eq!((run.seconds, run.cost), (Some(2.5), Some(0.25)));
        assert_eq!(run.tokens.and_then(|tokens| tokens.total), Some(18));
        assert_eq!(outline(&run.events), "call Task, c1 of c1 [user inner], result");
        assert!(run.facts.contains(&("version".to_owned(), Value::from("2.1"))));
        // Printed as one list, it is the same run.
        let list = format!("[{}]", text.replace('\n', ","));
        assert_eq!(open(&list).events, run.events);
    }
    let growing = open(&start);
    assert_eq!((growing.end, growing.notes.len()), (RunEnd::Unfinished, 2));
}

#[test]
fn an_export_of_the_web_has_its_records_in_loglines() {
    let text = format!("{{\"loglines\":[{},{}]}}", user("a", "", "1"), model("b", "a", "2"));
    let run = open(&text);
    assert_eq!((outline(&run.events).as_str(), run.end), ("user 1, model 2", RunEnd::Complete));
    let source = text.as_bytes()[..text.len() - 9].to_vec();
    let input = Input { path: "x.json", source: &source, folder: &NoFolder };
    assert!(ClaudeCode.open(input).is_err());
}

#[test]
fn a_file_without_messages_has_no_run() {
    let text = "{\"type\":\"queue-operation\",\"operation\":\"enqueue\",\"sessionId\":\"s\"}\n";
    let source = text.as_bytes().to_vec();
    let file = ClaudeCode.open(Input { path: "s.jsonl", source: &source, folder: &NoFolder });
    assert!(file.is_ok_and(|file| file.is_empty() && file.read(0).is_err()));
}
