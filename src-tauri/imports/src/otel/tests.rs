//! Tests of the reader with small traces.
use super::*;
use crate::run::{Event, EventKind, TokenCounts};
use crate::source::NoFolder;
use touchstone_model::json;

/// Creates a span: id, parent, start and end in seconds after the beginning, and attributes as
/// `key = value`, one a line.
fn span(id: &str, parent: &str, times: (u64, u64), attributes: &str) -> String {
    span_with(id, parent, times, attributes, "")
}

fn span_with(id: &str, parent: &str, times: (u64, u64), attributes: &str, more: &str) -> String {
    let base = 1_795_461_832_000_000_000;
    let (start, end) = (base + times.0 * 1_000_000_000, base + times.1 * 1_000_000_000);
    format!(
        r#"{{"traceId":"t1","spanId":"{id}","parentSpanId":"{parent}","name":"execute_tool f",
        "startTimeUnixNano":"{start}","endTimeUnixNano":{end},"attributes":[{}]{more}}}"#,
        list(attributes)
    )
    .replace('\n', " ")
}

fn list(attributes: &str) -> String {
    let pairs = attributes.lines().map(str::trim).filter(|line| !line.is_empty()).map(|line| {
        let (key, value) = line.split_once(" = ").unwrap();
        let value = if value.parse::<i64>().is_ok() {
            format!("{{\"intValue\":\"{value}\"}}")
        } else {
            format!("{{\"stringValue\":{}}}", json::write(&Value::from(value), false))
        };
        format!("{{\"key\":\"{key}\",\"value\":{value}}}")
    });
    pairs.collect::<Vec<_>>().join(",")
}

fn document(spans: &[String]) -> String {
    format!(
        r#"{{"resourceSpans":[{{"resource":{{"attributes":[{}]}},"scopeSpans":[{{"scope":{{"name":"lib","version":"1.2"}},"spans":[{}]}}]}}]}}"#,
        list("service.name = shop"),
        spans.join(",")
    )
}

fn read_file(text: &str) -> (Vec<(String, ImportedRun)>, Option<String>) {
    let bytes = text.as_bytes().to_vec();
    let input = Input { path: "a.json", source: &bytes, folder: &NoFolder };
    let file = Otel.open(input).unwrap();
    let runs = (0..file.len()).map(|at| (file.member(at).unwrap(), file.read(at).unwrap()));
    (runs.collect(), file.file_error().map(|error| error.message))
}

fn read(spans: &[String]) -> ImportedRun {
    let (mut runs, error) = read_file(&document(spans));
    assert_eq!((runs.len(), error), (1, None));
    runs.remove(0).1
}

fn short(events: &[Event]) -> Vec<String> {
    let texts = events.iter().map(|event| match &event.kind {
        EventKind::System(text) => format!("s:{text}"),
        EventKind::User(text) => format!("u:{text}"),
        EventKind::Assistant(text) => format!("a:{text}"),
        EventKind::Reasoning(text) => format!("r:{text}"),
        EventKind::Media(media) => format!("m:{}", media.text),
        EventKind::Call { name, arguments: given, .. } => {
            let given = crate::text::arguments(Some(given));
            format!("{name}({})", crate::text::canonical_json(&given))
        }
        EventKind::Result { value, failed, .. } => {
            let mark = if *failed == Some(true) { "!" } else { "" };
            format!("={}{mark}", crate::text::text_or_json(value).unwrap_or_default())
        }
        EventKind::Error(text) => format!("!{text}"),
        other => format!("{other:?}"),
    });
    texts.collect()
}

const ROOT: &str = "gen_ai.operation.name = invoke_agent\ngen_ai.agent.name = clerk";

#[test]
fn messages_of_each_convention_are_read() {
    let expected = ["s:Be brief.", "u:Hi", "r:hm", "a:Yes", "f({\"a\":1})", "=42", "a:Done"];
    let genai = [
        "gen_ai.operation.name = chat
        gen_ai.system_instructions = [{\"type\":\"text\",\"content\":\"Be brief.\"}]
        gen_ai.input.messages = [{\"role\":\"user\",\"parts\":[{\"type\":\"text\",\"content\":\"Hi\"}]}]
        gen_ai.output.messages = [{\"role\":\"assistant\",\"parts\":[{\"type\":\"reasoning\",\"content\":\"hm\"},{\"type\":\"text\",\
            \"content\":\"Yes\"},{\"type\":\"tool_call\",\"id\":\"c\",\"name\":\"f\",\"arguments\":{\"a\":1}}]}]",
        "gen_ai.operation.name = chat
        gen_ai.input.messages = [{\"role\":\"user\",\"parts\":[{\"type\":\"text\",\"content\":\"Hi\"}]},{\"role\":\"assistant\",\
            \"parts\":[{\"type\":\"text\",\"content\":\"Yes\"},{\"type\":\"tool_call\",\"id\":\"c\",\"name\":\"f\",\
            \"arguments\":\"{\\\"a\\\": 1}\"}]},{\"role\":\"tool\",\"parts\":[{\"type\":\"tool_call_response\",\"id\":\"c\",\"response\":\"42\"}]}]
        gen_ai.output.messages = [{\"role\":\"assistant\",\"parts\":[{\"type\":\"text\",\"content\":\"Done\"}],\"finish_reason\":\"stop\"}]",
    ];
    // Numbers have gaps, and 10 comes after 2.
    let inference = [
        "openinference.span.kind = LLM
        llm.input_messages.10.message.role = user
        llm.input_messages.10.message.content = Hi
        llm.input_messages.2.message.role = system
        llm.input_messages.2.message.content = Be brief.
        llm.output_messages.0.message.role = assistant
        llm.output_messages.0.message.contents.0.message_content.type = reasoning
        llm.output_messages.0.message.contents.0.message_content.text = hm
        llm.output_messages.0.message.contents.1.message_content.type = text
        llm.output_messages.0.message.contents.1.message_content.text = Yes
        llm.output_messages.0.message.tool_calls.0.tool_call.id = c
        llm.output_messages.0.message.tool_calls.0.tool_call.function.name = f
        llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments = {\"a\":1}",
        "openinference.span.kind = LLM
        llm.input_messages.0.message.role = user
        llm.input_messages.0.message.content = Hi
        llm.input_messages.1.message.role = assistant
        llm.input_messages.1.message.content = Yes
        llm.input_messages.1.message.tool_calls.0.tool_call.function.name = f
        llm.input_messages.1.message.tool_calls.0.tool_call.function.arguments = {\"a\":1}
        llm.input_messages.2.message.role = tool
        llm.input_messages.2.message.name = f
        llm.input_messages.2.message.content = 42
        llm.output_messages.0.message.role = assistant
        llm.output_messages.0.message.content = Done",
    ];
    let older = [
        "gen_ai.operation.name = chat
        gen_ai.prompt.0.role = system
        gen_ai.prompt.0.content = Be brief.
        gen_ai.prompt.1.role = user
        gen_ai.prompt.1.content = Hi
        gen_ai.completion.0.content = Yes
        gen_ai.completion.0.tool_calls.0.id = c
        gen_ai.completion.0.tool_calls.0.name = f
        gen_ai.completion.0.tool_calls.0.arguments = {\"a\":1}",
        "gen_ai.operation.name = chat
        gen_ai.prompt.0.role = user
        gen_ai.prompt.0.content = Hi
        gen_ai.prompt.1.role = assistant
        gen_ai.prompt.1.content = Yes
        gen_ai.prompt.1.tool_calls.0.name = f
        gen_ai.prompt.1.tool_calls.0.arguments = {\"a\":1}
        gen_ai.prompt.2.role = tool
        gen_ai.prompt.2.content = 42
        gen_ai.completion.0.content = Done",
    ];
    let raw = [
        "openinference.span.kind = LLM
        input.mime_type = application/json
        input.value = {\"messages\":[{\"role\":\"system\",\"content\":\"Be brief.\"},{\"role\":\"user\",\"content\":\"Hi\"}]}
        output.mime_type = application/json
        output.value = {\"choices\":[{\"message\":{\"role\":\"assistant\",\"reasoning_content\":\"hm\",\"content\":\"Yes\",\
            \"tool_calls\":[{\"id\":\"c\",\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"a\\\":1}\"}}]}}]}",
        "openinference.span.kind = LLM
        input.mime_type = application/json
        input.value = {\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"},{\"role\":\"assistant\",\"content\":\"Yes\",\
            \"tool_calls\":[{\"id\":\"c\",\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"a\\\":1}\"}}]},{\"role\":\"tool\",\
            \"tool_call_id\":\"c\",\"content\":\"42\"}]}
        output.mime_type = application/json
        output.value = {\"choices\":[{\"message\":{\"role\":\"assistant\",\"content\":\"Done\"}}]}",
    ];
    for (name, calls) in
        [("genai", genai), ("inference", inference), ("older", older), ("raw", raw)]
    {
        let run = read(&[
            span("c", "a", (3, 4), calls[1]),
            span("b", "a", (1, 2), calls[0]),
            span("a", "", (0, 5), ROOT),
        ]);
        // The older attributes have no reasoning.
        let expected = expected.iter().filter(|text| name != "older" || **text != "r:hm");
        assert_eq!(short(&run.events), expected.copied().collect::<Vec<_>>(), "{name}");
        assert_eq!(run.answer.as_deref(), Some("Done"), "{name}");
        assert_eq!((run.system.as_deref(), run.end), (Some("clerk"), RunEnd::Complete));
    }
}

#[test]
fn messages_in_events_of_older_conventions_are_read() {
    let event = |name: &str, attributes: &str| {
        format!("{{\"name\":\"{name}\",\"attributes\":[{}]}}", list(attributes))
    };
    let events = |events: &[String]| format!(",\"events\":[{}]", events.join(","));
    let expected = ["s:S", "u:Hi", "a:Yes", "f({\"a\":1})", "=42", "a:Done"];
    let calls = "[{\"id\":\"c\",\"function\":{\"name\":\"f\",\"arguments\":{\"a\":1}}}]";
    let bodies = [
        event("gen_ai.system.message", "gen_ai.event.content = {\"content\":\"S\"}"),
        event("gen_ai.user.message", "gen_ai.event.content = {\"content\":\"Hi\"}"),
        event(
            "gen_ai.choice",
            &format!(
                "gen_ai.event.content = {{\"index\":0,\"message\":{{\"content\":\"Yes\",\"tool_calls\":{calls}}}}}"
            ),
        ),
    ];
    let plain = [
        event("gen_ai.user.message", "content = Hi"),
        event("gen_ai.assistant.message", &format!("content = Yes\ntool_calls = {calls}")),
        event("gen_ai.tool.message", "content = 42\nid = c"),
        event("gen_ai.choice", "message = [{\"text\":\"Done\"}]\nfinish_reason = stop"),
    ];
    let chat = "gen_ai.operation.name = chat";
    let run = read(&[
        span_with("b", "a", (1, 2), chat, &events(&bodies)),
        span_with("c", "a", (3, 4), chat, &events(&plain)),
        span("a", "", (0, 5), ROOT),
    ]);
    assert_eq!(short(&run.events), expected);
    let listed = format!(
        "{chat}\nevents = [{{\"event.name\":\"gen_ai.user.message\",\"content\":\"Hi\",\"role\":\"user\"}},\
         {{\"event.name\":\"gen_ai.choice\",\"message\":{{\"role\":\"assistant\",\"content\":\"Yes\"}}}}]"
    );
    assert_eq!(short(&read(&[span("b", "", (1, 2), &listed)]).events), ["u:Hi", "a:Yes"]);
    let prompt = [
        event("gen_ai.content.prompt", "gen_ai.prompt = [{\"role\":\"user\",\"content\":\"Hi\"}]"),
        event(
            "gen_ai.content.completion",
            "gen_ai.completion = [{\"role\":\"assistant\",\"content\":\"Yes\"}]",
        ),
    ];
    let run = read(&[span_with("b", "", (1, 2), chat, &events(&prompt))]);
    assert_eq!(short(&run.events), ["u:Hi", "a:Yes"]);
    let details = event(
        "gen_ai.client.inference.operation.details",
        "gen_ai.input.messages = [{\"role\":\"user\",\"parts\":[{\"type\":\"text\",\"content\":\"Hi\"}]}]",
    );
    let run = read(&[span_with("b", "", (1, 2), chat, &events(&[details]))]);
    assert_eq!(short(&run.events), ["u:Hi"]);
}

#[test]
fn the_end_follows_the_top_the_agents_and_the_last_call() {
    let failed = r#","status":{"code":2,"message":"boom"}"#;
    let chat = "gen_ai.operation.name = chat";
    let tool = "gen_ai.operation.name = execute_tool";
    let table: [(&str, Vec<String>, RunEnd, Option<&str>); 9] = [
        ("top", vec![span_with("a", "", (0, 9), "", failed)], RunEnd::Error, Some("boom")),
        (
            "agent",
            vec![span("a", "", (0, 9), ""), span_with("b", "a", (1, 2), ROOT, failed)],
            RunEnd::Error,
            Some("boom"),
        ),
        (
            "chain",
            vec![
                span("a", "", (0, 9), ""),
                span_with("b", "a", (1, 2), "openinference.span.kind = CHAIN", failed),
            ],
            RunEnd::Error,
            Some("boom"),
        ),
        (
            "tool",
            vec![span("a", "", (0, 9), ""), span_with("b", "a", (1, 2), tool, failed)],
            RunEnd::Complete,
            None,
        ),
        (
            "a call that is not the last",
            vec![
                span("a", "", (0, 9), ""),
                span_with("b", "a", (1, 2), chat, failed),
                span("c", "a", (3, 4), chat),
            ],
            RunEnd::Complete,
            None,
        ),
        (
            "the last call",
            vec![
                span("a", "", (0, 9), ""),
                span_with("c", "a", (3, 4), chat, failed),
                span("b", "a", (1, 2), chat),
            ],
            RunEnd::Error,
            Some("boom"),
        ),
        ("no top", vec![span("b", "a", (1, 2), chat)], RunEnd::Unfinished, None),
        (
            "exception",
            vec![span_with(
                "a",
                "",
                (0, 9),
                "error.type = E",
                r#","status":{"code":"STATUS_CODE_ERROR"},"events":[{"name":"exception","attributes":[{"key":"exception.message",
            "value":{"stringValue":"late"}}]}]"#,
            )],
            RunEnd::Error,
            Some("late"),
        ),
        (
            "type",
            vec![span_with(
                "a",
                "",
                (0, 9),
                "error.type = E",
                r#","status":{"code":2,"message":" "}"#,
            )],
            RunEnd::Error,
            Some("E"),
        ),
    ];
    for (name, spans, end, error) in table {
        let run = read(&spans);
        assert_eq!((run.end, run.error.as_deref()), (end, error), "{name}");
    }
}

#[test]
fn figures_are_those_of_the_model_calls_and_times_those_of_all_spans() {
    let run = read(&[
        span(
            "a",
            "",
            (0, 60),
            "gen_ai.operation.name = invoke_agent\ngen_ai.usage.input_tokens = 900",
        ),
        span(
            "b",
            "a",
            (1, 2),
            "gen_ai.operation.name = chat\ngen_ai.usage.input_tokens = 10\ngen_ai.usage.output_tokens = 5\ngen_ai.response.model = m-1\ngen_ai.usage.cost = 3",
        ),
        span(
            "c",
            "a",
            (2, 3),
            "openinference.span.kind = LLM\nllm.token_count.prompt = 20\nllm.token_count.completion = 7\nllm.token_count.total = 30\nllm.model_name = m-2",
        ),
        span("d", "a", (3, 4), "openinference.span.kind = LLM\nllm.token_count.prompt = -4"),
    ]);
    let tokens = TokenCounts { input: Some(30), output: Some(12), total: Some(45) };
    assert_eq!((run.tokens, run.cost), (Some(tokens), None));
    assert_eq!((run.model.as_deref(), run.system.as_deref()), (Some("m-1"), Some("shop")));
    assert_eq!(run.started.as_deref(), Some("2026-11-23T19:23:52.000000000Z"));
    assert_eq!(run.seconds, Some(60.0));
}

#[test]
fn without_messages_the_tools_are_the_calls() {
    let run = read(&[
        span("a", "", (0, 9), ROOT),
        span("b", "a", (1, 2), "gen_ai.operation.name = chat"),
        span(
            "d",
            "a",
            (4, 5),
            "openinference.span.kind = TOOL\ntool.name = g\ninput.value = {\"x\":1}\noutput.value = no",
        ),
        span_with(
            "c",
            "a",
            (2, 3),
            "gen_ai.operation.name = execute_tool",
            r#","status":{"code":2,"message":"late"}"#,
        ),
        // The error of a model call stands where it happened.
        span_with(
            "e",
            "a",
            (3, 4),
            "gen_ai.operation.name = chat",
            r#","status":{"code":2,"message":"busy"}"#,
        ),
    ]);
    let expected = ["f({})", "=late!", "!busy", "g({\"x\":1})", "=no"];
    assert_eq!(short(&run.events), expected);
    assert_eq!(run.answer, None);
    assert!(run.notes[0].contains("no messages"));
    let run = read(&[span("a", "", (0, 9), "")]);
    assert!(run.events.is_empty() && run.notes[0].contains("no model call"));
}

#[test]
fn a_trace_may_be_spread_over_lines_and_a_cut_line_keeps_the_others() {
    let one = document(&[span("b", "a", (1, 2), "gen_ai.operation.name = chat")]);
    let two = document(&[
        span("a", "", (0, 9), ROOT),
        span("z", "", (0, 9), "").replace("\"t1\"", "\"t2\""),
    ]);
    let (runs, error) = read_file(&format!("{one}\n{{\"resourceLogs\":[]}}\n{two}\n"));
    assert_eq!(runs.iter().map(|(id, _)| id.as_str()).collect::<Vec<_>>(), ["t1", "t2"]);
    assert_eq!((runs[0].1.end, error), (RunEnd::Complete, None));
    let (runs, error) = read_file(&format!("{one}\n{}", &two[..two.len() - 4]));
    assert_eq!((runs.len(), runs[0].1.end), (2, RunEnd::Complete));
    assert!(error.unwrap().contains("cut off"));
    let (runs, _) = read_file(&two[..two.len() - 30]);
    assert_eq!(runs.len(), 1);
    let (runs, _) = read_file(&format!("[{one},{two}]"));
    assert_eq!(runs.len(), 2);
}

#[test]
fn nested_agents_are_named_among_the_facts() {
    let run = read(&[
        span("a", "", (0, 9), ROOT),
        span("b", "a", (1, 2), "gen_ai.operation.name = invoke_agent\ngen_ai.agent.name = helper"),
    ]);
    let agents = run.facts.iter().find(|(key, _)| key == "agents").map(|(_, list)| list.items());
    assert_eq!(agents.unwrap(), [Value::from("clerk"), Value::from("helper")]);
}

#[test]
fn traces_are_detected_and_other_signals_are_no_runs() {
    let detect =
        |text: &str| Otel.detect("x.json", text.as_bytes(), Head::read(text.as_bytes()).as_ref());
    assert_eq!(detect("{\"resourceSpans\":[{\"resource\":{"), Some(Detected::Runs));
    assert_eq!(detect("[{\"resourceSpans\":[]}]"), Some(Detected::Runs));
    assert!(matches!(detect("{\"resourceLogs\":[]}"), Some(Detected::NoRun(_))));
    assert_eq!(detect("{\"resourceMetrics\":[]}\n{\"resourceSpans\":[]}"), Some(Detected::Runs));
    assert_eq!(detect("{\"spans\":[],\"note\":\"resourceSpans\"}"), None);
}

#[test]
fn times_are_written_as_dates() {
    for (nanos, text) in [
        (951_782_400_000_000_001, "2000-02-29T00:00:00.000000001Z"),
        (1_709_251_199_500_000_000, "2024-02-29T23:59:59.500000000Z"),
        (4_107_542_400_000_000_000, "2100-03-01T00:00:00.000000000Z"),
    ] {
        assert_eq!(span::format_nanos(nanos), text);
    }
    assert!(span::format_nanos(u64::MAX).starts_with("2554-"));
}
