//! Tests of the reader with small traces.
use super::*;
use crate::run::EventKind;
use crate::source::NoFolder;

const TRACE: &str =
    r#"{"object":"trace","id":"trace_1","workflow_name":"flow","group_id":"g","metadata":null}"#;

fn span(id: &str, parent: &str, second: u32, data: &str, error: &str) -> String {
    let parent = if parent.is_empty() { "null".to_owned() } else { format!("\"{parent}\"") };
    let error = if error.is_empty() {
        "null".to_owned()
    } else {
        format!("{{\"message\":\"{error}\",\"data\":null}}")
    };
    format!(
        r#"{{"object":"trace.span","id":"{id}","trace_id":"trace_1","parent_id":{parent},"started_at":"2026-01-02T03:04:{second:02}.250000+00:00",
            "ended_at":"2026-01-02T03:04:{:02}.500000+00:00","span_data":{data},"error":{error}}}"#,
        second + 1
    )
    .replace('\n', " ")
}

fn generation(input: &str, output: &str) -> String {
    format!(
        r#"{{"type":"generation","input":{input},"output":[{output}],"model":"m1","model_config":{{"temperature":0.5}},
            "usage":{{"input_tokens":10,"output_tokens":2}}}}"#
    )
}

fn agent(name: &str) -> String {
    format!(r#"{{"type":"agent","name":"{name}","handoffs":[],"tools":["f"],"output_type":"str"}}"#)
}

fn read_file(text: &str) -> (Vec<(String, ImportedRun)>, bool) {
    assert_eq!(
        OpenAiAgentsSdk.detect("a", b"", Head::read(text.as_bytes()).as_ref()),
        Some(Detected::Runs)
    );
    let bytes = text.as_bytes().to_vec();
    let file =
        OpenAiAgentsSdk.open(Input { path: "a", source: &bytes, folder: &NoFolder }).unwrap();
    let runs = (0..file.len()).map(|at| (file.member(at).unwrap(), file.read(at).unwrap()));
    (runs.collect(), file.file_error().is_some())
}

fn read(spans: &[String]) -> ImportedRun {
    let (mut runs, is_damaged) = read_file(&format!("{{\"data\":[{TRACE},{}]}}", spans.join(",")));
    assert!(!is_damaged && runs.len() == 1 && runs[0].0 == "trace_1");
    runs.remove(0).1
}

fn texts(run: &ImportedRun) -> Vec<String> {
    let texts = run.events.iter().map(|event| match &event.kind {
        EventKind::User(text) | EventKind::Assistant(text) => text.clone(),
        EventKind::Call { name, .. } => format!("{name}()"),
        EventKind::Result { value, failed, .. } => {
            let mark = if *failed == Some(true) { "!" } else { "" };
            format!("={}{mark}", value.text().unwrap_or_default())
        }
        other => format!("{other:?}"),
    });
    texts.collect()
}

const CALL: &str = r#"{"role":"assistant","content":"hm","tool_calls":[{"id":"c1","function":{"name":"f","arguments":"{\"a\": 1}"}}]}"#;

#[test]
fn generations_and_functions_make_one_conversation() {
    let first = generation(r#"[{"role":"user","content":"q"}]"#, CALL);
    let second = generation(
        &format!(
            r#"[{{"role":"user","content":"q"}},{CALL},{{"role":"tool","tool_call_id":"c1","content":"42"}}]"#
        ),
        &CALL.replace("hm", "again").replace("c1", "c2"),
    );
    let run = read(&[
        span(
            "d",
            "a",
            5,
            r#"{"type":"function","name":"f","input":"{\"a\": 1}","output":"42"}"#,
            "",
        ),
        span(
            "e",
            "a",
            8,
            r#"{"type":"function","name":"f","input":"{\"a\": 1}","output":null}"#,
            "no",
        ),
        span("b", "a", 4, &first, ""),
        span("c", "a", 6, &second, ""),
        span("a", "", 3, &agent("clerk"), ""),
    ]);
    assert_eq!(texts(&run), ["q", "hm", "f()", "=42", "again", "f()", "=no!"]);
    assert_eq!((run.system.as_deref(), run.model.as_deref()), (Some("clerk"), Some("m1")));
    assert_eq!(run.tokens, TokenCounts::new(Some(20), Some(4), None));
    assert_eq!(run.started.as_deref(), Some("2026-01-02T03:04:03.250000+00:00"));
    assert_eq!((run.seconds, run.end), (Some(6.25), RunEnd::Complete));
}

#[test]
fn responses_without_messages_show_the_tools_and_those_with_them_are_read() {
    let bare = r#"{"type":"response","response_id":"r1","usage":{"input_tokens":7,"output_tokens":1,"total_tokens":9}}"#;
    let tool = r#"{"type":"function","name":"f","input":"","output":"42"}"#;
    let run = read(&[span("b", "", 1, bare, ""), span("c", "", 2, tool, "")]);
    assert_eq!(texts(&run), ["f()", "=42"]);
    assert_eq!(run.tokens, TokenCounts::new(Some(7), Some(1), Some(9)));
    assert!(run.notes[0].contains("no messages"));
    let full = r#"{"type":"response","response_id":"r1","input":"q","response":{"model":"m2","object":"response",
            "output":[{"type":"function_call","call_id":"c1","name":"f","arguments":""}],"usage":{"input_tokens":7,"output_tokens":1}}}"#;
    let run = read(&[span("b", "", 1, full, ""), span("c", "", 2, tool, "")]);
    assert_eq!(texts(&run), ["q", "f()", "=42"]);
    assert_eq!((run.model.as_deref(), run.tokens.is_some()), (Some("m2"), true));
}

#[test]
fn an_error_counts_at_the_top_in_agents_and_in_the_last_call() {
    let custom = r#"{"type":"custom","name":"task","data":{}}"#;
    let call = generation("null", "");
    let tool = r#"{"type":"function","name":"f"}"#;
    let table: [(Vec<String>, RunEnd); 6] = [
        (vec![span("a", "", 1, custom, "boom")], RunEnd::Error),
        (vec![span("a", "", 1, custom, ""), span("b", "a", 2, &agent("x"), "boom")], RunEnd::Error),
        (vec![span("a", "", 1, custom, ""), span("b", "a", 2, tool, "boom")], RunEnd::Complete),
        (vec![span("a", "", 1, custom, ""), span("b", "a", 2, &call, "boom")], RunEnd::Error),
        (
            vec![
                span("a", "", 1, custom, ""),
                span("b", "a", 2, &call, "boom"),
                span("c", "a", 3, &call, ""),
            ],
            RunEnd::Complete,
        ),
        (vec![span("b", "a", 2, &call, "")], RunEnd::Unfinished),
    ];
    for (spans, end) in table {
        let run = read(&spans);
        let error = (end == RunEnd::Error).then_some("boom");
        assert_eq!((run.end, run.error.as_deref()), (end, error), "{spans:?}");
    }
}

#[test]
fn a_trace_may_be_spread_over_lines_and_batches() {
    let one = span("a", "", 1, &agent("clerk"), "");
    let two = span("b", "a", 2, &agent("helper"), "");
    let other = one.replace("trace_1", "trace_2");
    for text in [
        format!("{TRACE}\n{one}\n{two}\n{other}\n"),
        format!("[{TRACE},{one},{two},{other}]"),
        format!("{{\"data\":[{TRACE},{one}]}}\n{{\"data\":[{two},{other}]}}"),
    ] {
        let (runs, is_damaged) = read_file(&text);
        assert_eq!(
            runs.iter().map(|(id, _)| id.as_str()).collect::<Vec<_>>(),
            ["trace_1", "trace_2"]
        );
        assert!(!is_damaged);
        let agents = runs[0].1.facts.iter().find(|(key, _)| key == "agents").unwrap();
        assert_eq!(agents.1.items().len(), 2);
    }
    let (runs, is_damaged) = read_file(&format!("{{\"data\":[{TRACE},{one},{}", &other[..99]));
    assert_eq!((runs.len(), is_damaged), (1, true));
}

#[test]
fn files_of_other_tools_are_not_detected() {
    for text in [
        r#"{"object":"list","data":[{"object":"model","id":"m"}]}"#,
        r#"{"object":"trace","id":"x"}"#,
        r#"{"data":[{"id":1,"trace_id":2}]}"#,
    ] {
        assert_eq!(OpenAiAgentsSdk.detect("a", b"", Head::read(text.as_bytes()).as_ref()), None);
    }
}
