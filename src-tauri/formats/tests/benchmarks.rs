//! Tests of benchmark folders: assignment of files to runs, and parsing of the files.
#![expect(clippy::unwrap_used, reason = "files that cannot be read fail the test")]
use std::path::Path;
use touchstone_formats::transcript::outline_of;

use touchstone_formats::benchmark::{Kind, Parts, coordinates, member, outline, read};
use touchstone_model::error::ReadErrorKind;
use touchstone_model::json;
use touchstone_model::run::{Language, RecordedState, Run, StepKind};
use touchstone_model::value::Value;

const HISTORY: &str = r#"[
  {"role": "system", "content": "be brief"},
  {"role": "user", "content": "which parcels wait?"},
  {"role": "assistant", "content": [
    "TextBlock(citations=None, text=\"I'll look.\", type='text')",
    "ToolUseBlock(id='t1', input={'sql': 'SELECT 1\\nFROM parcel'}, name='query_parcels', type='tool_use')",
    {"type": "tool_use", "id": "t2", "name": "query_depots", "input": {"sql": "SELECT 2"}}
  ]},
  {"role": "user", "content": [
    {"type": "tool_result", "tool_use_id": "t2", "is_error": true, "content": [{"type": "text", "text": "no such table"}]},
    {"type": "tool_result", "tool_use_id": "t1", "content": "[{\"parcel_id\": 41}]"}
  ]},
  {"role": "assistant", "content": "<rows>[41]</rows>"},
  {"role": "user", "content": "are you sure?"},
  {"role": "assistant", "content": null, "tool_calls": [{"id": "t3", "function": {"name": "query_parcels", "arguments": "{\"sql\": \"SELECT 3\"}"}}]},
  {"role": "tool", "tool_call_id": "t3", "content": "[]"},
  {"role": "assistant", "content": "yes"}
]"#;

fn run(parts: &Parts<'_>) -> Run {
    let run = read(parts).unwrap();
    assert_eq!(outline_of(&run), outline(parts).unwrap());
    run
}

#[test]
fn messages_become_steps_and_results_go_to_their_calls() {
    let run = run(&Parts {
        history: Some(HISTORY.as_bytes()),
        result: Some(b"[41]"),
        ..Parts::default()
    });
    let steps: Vec<_> = run
        .steps
        .iter()
        .map(|step| (step.kind, step.turn, step.title.as_deref(), step.failed))
        .collect();
    assert_eq!(
        steps,
        [
            (StepKind::System, 1, None, None),
            (StepKind::User, 1, None, None),
            (StepKind::Assistant, 2, None, None),
            (StepKind::ToolCall, 2, Some("query_parcels"), Some(false)),
            (StepKind::ToolCall, 2, Some("query_depots"), Some(true)),
            (StepKind::Assistant, 3, None, None),
            (StepKind::User, 4, None, None),
            (StepKind::ToolCall, 5, Some("query_parcels"), Some(false)),
            (StepKind::Assistant, 6, None, None),
        ]
    );
    let call = &run.steps[3];
    assert_eq!((call.parts[0].label.as_str(), call.parts[0].language), ("sql", Language::Sql));
    assert_eq!(call.parts[0].value, "SELECT 1\nFROM parcel".into());
    assert!(matches!(&call.parts[1].value, Value::List(rows) if rows.len() == 1));
    assert_eq!(call.parts[1].raw.as_deref(), Some("[{\"parcel_id\": 41}]"));
    assert_eq!(
        (run.steps[4].parts[1].label.as_str(), run.steps[4].parts[1].value.text()),
        ("error", Some("no such table"))
    );
    assert!(run.steps[6].nudge && !run.steps[1].nudge);
    assert_eq!(run.steps[5].parts[0].value.text(), Some("<rows>[41]</rows>"));
}

#[test]
fn interactions_of_promptql_become_steps() {
    let history = r#"[{"user_message": {"text": "a"}, "assistant_actions": [
        {"message": "b", "plan": "c", "code": "d", "code_output": "e", "code_error": null},
        {"message": null, "code": "f", "code_error": "g"}, {"message": "h"}],
        "modified_artifacts": [{"identifier": "rows", "title": "t", "artifact_type": "table", "data": [{"x": 1}]}]}]"#;
    let run = run(&Parts { history: Some(history.as_bytes()), ..Parts::default() });
    let steps: Vec<_> = run
        .steps
        .iter()
        .map(|step| (step.kind, step.turn, step.failed, step.parts.len()))
        .collect();
    assert_eq!(
        steps,
        [
            (StepKind::User, 1, None, 1),
            (StepKind::Assistant, 2, None, 1),
            (StepKind::Program, 2, Some(false), 3),
            (StepKind::Program, 3, Some(true), 2),
            (StepKind::Assistant, 4, None, 1),
            (StepKind::Artifact, 4, None, 3),
        ]
    );
    assert_eq!(outline_of(&run).turns, 3);
}

#[test]
fn the_other_files_say_how_it_ended_and_what_it_took() {
    let api = br#"[{"timestamp": "x", "response": {"model": "m", "usage": {"input_tokens": 5, "output_tokens": 6, "cache_read_input_tokens": 7}}},
        {"response": {"model": "m", "usage": {"prompt_tokens": 10, "completion_tokens": 1, "total_tokens": 11}}}]"#;
    let parts = Parts {
        history: Some(b"[]"),
        result: Some(b"null"),
        api: Some(api),
        time: Some(b"0:01:33.5\n"),
        err: Some(b" \n"),
    };
    let outline = outline_of(&run(&parts));
    assert_eq!(
        (outline.standing, outline.tokens, outline.seconds),
        (RecordedState::NoAnswer, Some(29), Some(93.5))
    );
    let failed = outline_of(&run(&Parts {
        err: Some(b"Traceback:\n  File x\nValueError: no rows\n"),
        ..parts
    }));
    assert_eq!(
        (failed.standing, failed.reason.as_deref()),
        (RecordedState::Error, Some("ValueError: no rows"))
    );
    let warned = run(&Parts { err: Some(b"a warning"), result: Some(b"1000.10"), ..parts });
    assert_eq!(outline_of(&warned).standing, RecordedState::Answered);
    assert_eq!(json::write(&warned.answer.unwrap().value, false), "1000.10");
}

#[test]
fn a_broken_history_is_an_error_and_a_broken_api_file_a_note() {
    let error = read(&Parts { history: Some(b"[{\"role\": "), ..Parts::default() }).unwrap_err();
    assert_eq!(error.kind, ReadErrorKind::Truncated);
    assert!(error.message.starts_with("In the .history file"), "{error}");
    let run = run(&Parts { history: Some(b"[]"), api: Some(b"nonsense"), ..Parts::default() });
    assert!(run.notes[0].contains(".api"), "{:?}", run.notes);
}

#[test]
fn paths_say_which_run_it_is() {
    assert_eq!(member("last_10_run_1.history"), Some(("last_10_run_1", Kind::History)));
    assert_eq!(member("notes.txt"), None);
    assert_eq!(member(".time"), None);
    let place = coordinates("a/b/claude/tool_calling/oracle", "last_run_10_run_2").unwrap();
    assert_eq!(
        (place.task.as_deref(), place.model.as_str(), place.system.as_str()),
        (Some("a/b"), "claude", "tool_calling")
    );
    assert_eq!(
        (place.mode.as_str(), place.variation.as_str(), place.repeat),
        ("oracle", "last_run_10", 2)
    );
    assert_eq!(coordinates("claude/tool_calling/oracle", "a_run_1").unwrap().task, None);
    for (dir, stem) in [
        ("x/y/z", "a_run_1"),
        ("m/s/oracle", "a"),
        ("m/s/oracle", "a_run_0"),
        ("oracle", "a_run_1"),
        ("", ""),
    ] {
        assert_eq!(coordinates(dir, stem), None, "{dir} {stem}");
    }
}

#[test]
fn reprs_of_openai_messages_are_read_as_messages() {
    let history = concat!(
        r#"["ChatCompletionMessage(content=None, role='assistant', tool_calls=["#,
        r#"ChatCompletionMessageToolCall(id='c1', "#,
        r#"function=Function(arguments='{\"sql\": \"x\"}', name='q'), type='function')])","#,
        r#"{"role": "tool", "tool_call_id": "c1", "content": "[1]"},"#,
        r#"{"role": "assistant", "content": null, "#,
        r#""function_call": {"name": "old", "arguments": "{}"}},"#,
        r#"{"role": "function", "name": "old", "content": "r"}]"#,
    );
    let run = run(&Parts { history: Some(history.as_bytes()), ..Parts::default() });
    let calls: Vec<_> = run
        .steps
        .iter()
        .map(|step| (step.title.as_deref(), step.failed, step.parts.len()))
        .collect();
    assert_eq!(calls, [(Some("q"), Some(false), 2), (Some("old"), Some(false), 1)]);
}

#[test]
fn a_history_without_messages_says_so() {
    let run = run(&Parts { history: Some(b"{\"a\": 1}"), ..Parts::default() });
    assert!(run.notes[0].contains(".history"), "{:?}", run.notes);
}

#[test]
fn every_run_of_a_folder_says_where_it_belongs_and_how_it_ended() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/benchmark/results");
    for (dir, stem, standing, [steps, calls], tokens, seconds, ends) in [
        (
            "claude/tool_calling/retrieval",
            "last_3_run_1",
            RecordedState::Answered,
            [6, 2],
            Some(2_826),
            26.381,
            "8",
        ),
        (
            "claude/tool_calling/retrieval",
            "last_3_run_2",
            RecordedState::Error,
            [3, 1],
            Some(941),
            7.002,
            "",
        ),
        (
            "claude/tool_calling_python/retrieval",
            "last_3_run_1",
            RecordedState::Answered,
            [4, 2],
            Some(2_826),
            135.443,
            "7",
        ),
        ("o1/promptql/retrieval", "last_3_run_1", RecordedState::Answered, [5, 0], None, 62.5, "8"),
        (
            "o1/promptql/retrieval",
            "last_3_run_2",
            RecordedState::NoAnswer,
            [0, 0],
            None,
            93.196,
            "",
        ),
        (
            "o3-mini/tool_calling/oracle",
            "last_4_run_1",
            RecordedState::Answered,
            [4, 1],
            Some(721),
            5.0,
            "6",
        ),
    ] {
        let dir = format!("late_crossings/{dir}");
        let content = |extension: &str| {
            fs_err::read(root.join(&dir).join(format!("{stem}.{extension}"))).ok()
        };
        let files = ["result", "history", "api", "time", "err"].map(content);
        let [result, history, api, time, err] = files.each_ref().map(Option::as_deref);
        let run = run(&Parts { result, history, api, time, err });
        let outline = outline_of(&run);
        let name = format!("{dir}/{stem}");
        assert_eq!(
            (outline.standing, outline.tokens, outline.seconds),
            (standing, tokens, Some(seconds)),
            "{name}"
        );
        assert_eq!(
            [run.steps.len(), outline.tool_calls as usize],
            [steps, calls],
            "{name}: {:#?}",
            run.steps
        );
        assert!(!outline.text.contains("Block("), "{name}: a repr was not read");
        let last = run
            .answer
            .as_ref()
            .and_then(|answer| answer.value.items().last()?.get("crossing_id").cloned());
        assert_eq!(last.map(|id| json::write(&id, false)).unwrap_or_default(), ends, "{name}");
        let place = coordinates(&dir, stem).unwrap();
        let written = format!("{}/{}/{}", place.model, place.system, place.mode);
        assert_eq!(
            (place.task.as_deref(), dir.ends_with(&written)),
            (Some("late_crossings"), true),
            "{name}"
        );
    }
}
