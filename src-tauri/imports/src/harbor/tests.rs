//! Tests of the reader of Harbor's trials.
use super::*;
use crate::run::{Event, EventKind, ImportedRun, Repeat, RunEnd, TokenCounts};
use crate::source::NoFolder;
use crate::testing::Files;
use touchstone_model::value::Value;

fn run_at(files: &Files, path: &str) -> Option<ImportedRun> {
    let source = files.bytes(path);
    Harbor.open(Input { path, source: &source, folder: files }).unwrap().read(0).ok()
}

const CONFIG: &str = r#"{"task":{"path":"ds/hello/","source":"ds"},"trial_name":"hello__AAAAAAA","agent":{"model_name":"p/m"}}"#;

fn result(more: &str) -> String {
    r#"{"task_name":"hello","trial_name":"hello__AAAAAAA","source":"ds","#.to_owned()
        + r#""started_at":"2026-01-01T00:00:00Z","finished_at":"2026-01-01T00:00:02.5Z","#
        + r#""agent_info":{"name":"a","version":"1","model_info":{"provider":"p","name":"n"}},"#
        + &format!("{more}}}")
}

/// Writes a trajectory with these steps and keys.
fn atif(steps: &[&str], more: &str) -> String {
    format!(
        r#"{{"schema_version":"ATIF-v1.6","session_id":"s","agent":{{"name":"t",
           "model_name":"tm"}},"steps":[{}],"final_metrics":{{"total_prompt_tokens":10,
           "total_completion_tokens":5,"total_cost_usd":0.5}}{more}}}"#,
        steps.join(",")
    )
}

fn user(text: &str) -> String {
    format!(r#"{{"source":"user","timestamp":"2026-01-01T00:00:00Z","message":"{text}"}}"#)
}

fn agent(text: &str, more: &str) -> String {
    format!(r#"{{"source":"agent","timestamp":"2026-01-01T00:00:01Z","message":"{text}"{more}}}"#)
}

fn trial(result: Option<&str>, trajectory: Option<&str>) -> ImportedRun {
    let mut all = vec![("job/hello__AAAAAAA/config.json", CONFIG)];
    all.extend(result.map(|text| ("job/hello__AAAAAAA/result.json", text)));
    all.extend(trajectory.map(|text| ("job/hello__AAAAAAA/agent/trajectory.json", text)));
    run_at(&Files::new(&all), "job/hello__AAAAAAA/config.json").unwrap()
}

fn outline(events: &[Event]) -> String {
    let one = |event: &Event| match &event.kind {
        EventKind::System(text) => format!("system {text}"),
        EventKind::User(text) => format!("user {text}"),
        EventKind::Assistant(text) => format!("model {text}"),
        EventKind::Reasoning(text) => format!("thinks {text}"),
        EventKind::Call { name, .. } => format!("call {name}"),
        EventKind::Result { value, .. } => {
            format!("result {}", crate::text::text_or_json(value).unwrap_or_default())
        }
        EventKind::SubAgent { name, call, events } => {
            format!("{name} of {} [{}]", call.as_deref().unwrap_or("-"), outline(events))
        }
        EventKind::Compaction(text) => format!("compaction {text}"),
        EventKind::Error(text) => format!("error {text}"),
        EventKind::Note(text) => format!("note {text}"),
        EventKind::Media(media) => format!("media {}", media.text),
        other => format!("{other:?}"),
    };
    events.iter().map(one).collect::<Vec<_>>().join(", ")
}

#[test]
fn a_trial_stands_in_its_settings_and_its_other_files_are_no_runs() {
    let detect = |path: &str, text: &str| {
        Harbor.detect(path, text.as_bytes(), Head::read(text.as_bytes()).as_ref())
    };
    let is_run = |path: &str, text: &str| detect(path, text) == Some(Detected::Run);
    let is_no_run = |path: &str, text: &str| matches!(detect(path, text), Some(Detected::NoRun(_)));
    let (trajectory, result) = (atif(&[], ""), result("\"x\":1"));
    assert!(is_run("x/config.json", CONFIG) && is_run("x.json", &trajectory));
    assert!(is_no_run("x/result.json", &result));
    assert!(is_no_run("job/result.json", "{\"id\":1,\"n_total_trials\":2,\"stats\":{}}"));
    assert!(is_no_run("job/config.json", "{\"job_name\":\"j\",\"n_attempts\":2}"));
    assert!(is_no_run("job/hello__AAAAAAA/agent/trajectory.json", &trajectory));
    let session = "{\"sessionId\":\"s\",\"parentUuid\":null,\"type\":\"user\"}";
    assert!(is_no_run("hello__AAAAAAA/agent/sessions/s.jsonl", session));
    assert!(is_no_run("hello__AAAAAAA/steps/one/agent/trajectory.json", &trajectory));
    assert!(detect("hello__AAAA/agent/s.jsonl", session).is_none());
    assert!(detect("x/config.json", "{\"trial_name\":\"x\"}").is_none());
    assert!(detect("x.json", "{\"schema_version\":\"1.0\",\"note\":\"ATIF-v1\"}").is_none());
    assert!(is_run("r/t/t.1/results.json", "{\"task_id\":\"t\",\"is_resolved\":true}"));
    assert!(is_no_run("r/results.json", "{\"results\":[{\"is_resolved\":true}]}"));
    assert!(is_no_run("r/run_metadata.json", "{\"run_id\":\"r\",\"agent_name\":\"a\"}"));
}

#[test]
fn each_file_of_a_trial_names_the_file_that_stands_for_it() {
    for (path, owner) in [
        ("j/hello__AAAAAAA/result.json", Some("j/hello__AAAAAAA/config.json")),
        ("j/hello__AAAAAAA/agent/sessions/x.jsonl", Some("j/hello__AAAAAAA/config.json")),
        ("j/hello__AAAAAAA/config.json", None),
        ("j/named/result.json", Some("j/named/config.json")),
        ("j/named/agent/trajectory.json", Some("j/named/config.json")),
        ("j/named/steps/one/agent/trajectory.json", Some("j/named/config.json")),
        ("x.json", None),
    ] {
        assert_eq!(Harbor.owner(path, &NoFolder).as_deref(), owner, "{path}");
    }
}

#[test]
fn the_state_is_that_of_the_result() {
    let exception = |kind: &str| {
        result(&format!(
            r#""exception_info":{{"exception_type":"{kind}","exception_message":"late\nx"}}"#
        ))
    };
    let table = [
        (None, RunEnd::Unfinished, None),
        (Some("{\"task_na".to_owned()), RunEnd::Unfinished, None),
        (Some(result("\"exception_info\":null")), RunEnd::Complete, None),
        (Some(exception("AgentTimeoutError")), RunEnd::Limit, Some("late\nx")),
        (Some(exception("VerifierTimeoutError")), RunEnd::Error, Some("late\nx")),
    ];
    for (result, end, error) in table {
        let run = trial(result.as_deref(), None);
        assert_eq!((run.end, run.error.as_deref()), (end, error), "{result:?}");
        assert_eq!(run.task.as_deref(), Some("ds/hello"));
        assert_eq!(run.model.as_deref(), Some("p/m"));
    }
}

#[test]
fn rewards_are_verdicts_and_only_one_and_zero_pass_or_fail() {
    let rewards = r#""verifier_result":{"rewards":{"a":1.0,"b":0,"c":0.5,"d":2}}"#;
    let run = trial(Some(&result(rewards)), None);
    let verdicts: Vec<_> = run.verdicts.iter().map(|one| (one.name.as_str(), one.passed)).collect();
    assert_eq!(verdicts, [("a", Some(true)), ("b", Some(false)), ("c", None), ("d", None)]);
    assert_eq!((run.seconds, run.started.as_deref()), (Some(2.5), Some("2026-01-01T00:00:00Z")));
    let start = Some(1_767_225_600.0);
    assert_eq!(run.repeat, Repeat::Ordered { group: "job".to_owned(), start });
}

#[test]
fn totals_of_the_result_win_where_it_has_them() {
    let trajectory = atif(&[&user("x")], "");
    let run = trial(
        Some(&result(
            r#""agent_result":{"n_input_tokens":7,"n_output_tokens":null,"cost_usd":null,"model_usage":{"m":{"n_output_tokens":9}}}"#,
        )),
        Some(&trajectory),
    );
    let tokens = |input, output, total| {
        Some(TokenCounts { input: Some(input), output: Some(output), total: Some(total) })
    };
    assert_eq!((run.tokens, run.cost), (tokens(7, 5, 12), Some(0.5)));
    let running = trial(None, Some(&trajectory));
    assert_eq!((running.tokens, running.seconds), (tokens(10, 5, 15), None));
    assert_eq!(running.system.as_deref(), Some("t"));
    let without = trial(Some(&result("\"agent_result\":{}")), None);
    assert_eq!((without.tokens, without.cost, without.answer), (None, None, None));
    assert_eq!(without.system.as_deref(), Some("a"));
}

#[test]
fn steps_are_reasoning_text_calls_and_results() {
    let calls = concat!(
        r#","reasoning_content":"hm","tool_calls":[{"tool_call_id":"1","function_name":"ls","#,
        r#""arguments":{}}],"observation":{"results":[{"source_call_id":"1","content":""},"#,
        r#"{"content":null},{"content":[{"type":"text","text":"p"}]}]},"#,
        r#""metrics":{"prompt_tokens":3,"completion_tokens":4}"#,
    );
    let parts = r#"{"source":"user","message":[{"type":"text","text":"a"},{"type":"image","source":{"media_type":"image/png","path":"i.png"}}]}"#;
    let compaction = r#"{"source":"system","message":"shorter","extra":{"context_management":{"type":"compaction"}}}"#;
    let trajectory =
        atif(&[r#"{"source":"system","message":"s"}"#, parts, &agent("y", calls), compaction], "");
    let run = trial(None, Some(&trajectory));
    let expected = "system s, user a, media image/png, thinks hm, model y, call ls, result , result p, compaction shorter";
    assert_eq!(outline(&run.events), expected);
    assert_eq!((run.answer.as_deref(), run.events[3].tokens), (Some("y"), Some(7)));
    // While the agent writes, the last step may be cut off.
    let cut = trajectory.find("\"source\":\"system\",\"message\":\"shorter\"").unwrap();
    let growing = trial(None, Some(&trajectory[..cut]));
    assert_eq!(outline(&growing.events), expected.strip_suffix(", compaction shorter").unwrap());
    assert!(growing.notes.iter().any(|note| note.contains("half written")));
}

#[test]
fn a_trajectory_that_goes_on_is_followed_without_the_steps_that_were_copied() {
    let copied = user("old").replace("\"source\"", "\"is_copied_context\":true,\"source\"");
    let first = atif(
        &[&user("x"), &agent("y", "")],
        r#","continued_trajectory_ref":"trajectory.cont-1.json""#,
    );
    let second =
        atif(&[&copied, &agent("z", "")], r#","continued_trajectory_ref":"trajectory.json""#);
    let all = Files::new(&[
        ("d/trajectory.json", &first),
        ("d/trajectory.cont-1.json", &second),
        ("e/other.cont-1.json", &second),
    ]);
    let run = run_at(&all, "d/trajectory.json").unwrap();
    assert_eq!(outline(&run.events), "user x, model y, model z");
    assert_eq!((run.seconds, run.end), (Some(1.0), RunEnd::Complete));
    assert_eq!((run.system.as_deref(), run.model.as_deref()), (Some("t"), Some("tm")));
    // What another file refers to is no run of its own; what nothing refers to shows all steps.
    assert!(run_at(&all, "d/trajectory.cont-1.json").is_none());
    let alone = run_at(&all, "e/other.cont-1.json").unwrap();
    assert_eq!(outline(&alone.events), "user old, model z");
}

#[test]
fn sub_agents_follow_the_calls_that_started_them() {
    let reference = |id: &str| {
        format!(
            r#"{{"session_id":"{id}","trajectory_path":"trajectory.{id}.json","extra":{{"summary":"why"}}}}"#
        )
    };
    let calls = format!(
        r#","tool_calls":[{{"tool_call_id":"1","function_name":"f","arguments":{{}}}},
           {{"tool_call_id":"2","function_name":"g","arguments":{{}}}}],
           "observation":{{"results":[{{"source_call_id":"2","content":"r",
           "subagent_trajectory_ref":{}}},{{"source_call_id":"1","subagent_trajectory_ref":[{},
           {}]}}]}}"#,
        reference("in"),
        reference("file"),
        reference("lost"),
    );
    let inside = atif(&[&user("i")], "").replace("\"s\"", "\"in\"");
    let unused = atif(&[&user("u")], "").replace("\"s\"", "\"un\"");
    let main =
        atif(&[&agent("y", &calls)], &format!(",\"subagent_trajectories\":[{inside},{unused}]"));
    // The sub-agent names its own file: it is opened once.
    let file = atif(&[&agent("f", &calls)], "");
    let all = Files::new(&[("d/trajectory.json", &main), ("d/trajectory.file.json", &file)]);
    let lost = |id: &str| format!("note The sub-agent trajectory.{id}.json cannot be read. (why)");
    let inner = format!(
        "model f, call f, {}, {}, call g, {}, result r",
        lost("file"),
        lost("lost"),
        lost("in")
    );
    let expected = format!(
        "model y, call f, t of 1 [{inner}], {}, call g, t of 2 [user i], result r, t of - [user u]",
        lost("lost")
    );
    assert_eq!(outline(&run_at(&all, "d/trajectory.json").unwrap().events), expected);
    assert!(run_at(&all, "d/trajectory.file.json").is_none());
}

#[test]
fn a_task_of_several_steps_shows_them_in_order() {
    let steps = concat!(
        r#""step_results":[{"step_name":"two","agent_result":{"n_input_tokens":1,"#,
        r#""n_output_tokens":2},"verifier_result":{"rewards":{"reward":1}}},{"step_name":"one","#,
        r#""agent_result":{"n_input_tokens":3,"n_output_tokens":4},"#,
        r#""exception_info":{"exception_message":"no"}}]"#,
    );
    let (one, two, three) =
        (atif(&[&user("1")], ""), atif(&[&user("2")], ""), atif(&[&user("3")], ""));
    let result = result(steps);
    let all = Files::new(&[
        ("config.json", CONFIG),
        ("result.json", &result),
        ("steps/one/agent/trajectory.json", &one),
        ("steps/two/agent/trajectory.json", &two),
        ("steps/three/agent/trajectory.json", &three),
    ]);
    let run = run_at(&all, "config.json").unwrap();
    let expected = "note Step two, with the rewards {\"reward\":1}., user 2, note Step one., user 1, error no, note Step three., user 3";
    assert_eq!(outline(&run.events), expected);
    assert_eq!(run.tokens.and_then(|tokens| tokens.total), Some(10));
    assert!(run_at(&all, "steps/one/agent/trajectory.json").is_none());
}

#[test]
fn a_trajectory_that_is_cut_off_gives_its_complete_steps_and_an_error() {
    let text = atif(&[&user("x"), &agent("y", "")], "");
    for end in 0..text.len() {
        let source = text.as_bytes()[..end].to_vec();
        let folder = Files::new(&[]);
        let input = Input { path: "x.json", source: &source, folder: &folder };
        if let Ok(file) = Harbor.open(input) {
            assert!(file.file_error().is_some() && file.read(0).is_ok(), "{end}");
        }
    }
}

#[test]
fn results_of_terminal_bench_have_verdicts_and_no_steps() {
    let result = |failure: &str| {
        r#"{"id":"1","trial_name":"t.1-of-1.r","task_id":"t","instruction":"Do it","#.to_owned()
            + &format!(
                r#""is_resolved":false,"failure_mode":"{failure}","parser_results":{{"test_a":"passed","#
            )
            + r#""test_b":"failed"},"trial_started_at":"2025-06-01T00:00:00+00:00","#
            + r#""trial_ended_at":"2025-06-01T00:01:00+00:00","total_input_tokens":3,"#
            + r#""total_output_tokens":4}"#
    };
    for (failure, end) in [
        ("unset", RunEnd::Complete),
        ("agent_timeout", RunEnd::Limit),
        ("parse_error", RunEnd::Error),
    ] {
        let all = Files::new(&[
            ("r/t/t.1/results.json", &result(failure)),
            ("r/run_metadata.json", r#"{"run_id":"r","agent_name":"a","model_name":"m"}"#),
        ]);
        let run = run_at(&all, "r/t/t.1/results.json").unwrap();
        let passed: Vec<_> = run.verdicts.iter().map(|one| one.passed).collect();
        assert_eq!(passed, [Some(false), Some(true), Some(false)]);
        assert_eq!((run.end, run.system.as_deref(), run.seconds), (end, Some("a"), Some(60.0)));
        assert_eq!(run.verdicts[0].value, Value::Bool(false));
        assert_eq!(outline(&run.events), "user Do it");
    }
}

#[test]
fn an_object_of_another_program_under_the_key_of_this_one_replaces_nothing() {
    let read = |own: &str| {
        let more = format!(r#","extra":{{"touchstone":{own}}}"#);
        let text = atif(&[&user("q"), &agent("a", "")], &more);
        run_at(&Files::new(&[("x/t.json", &text)]), "x/t.json").unwrap()
    };
    let plain = read("1");
    assert_eq!((plain.system.as_deref(), plain.cost), (Some("t"), Some(0.5)));
    for own in ["{}", r#"{"run":"r"}"#, r#"{"run":"r","state":"done","cost":9}"#] {
        assert_eq!(read(own), plain, "{own}");
    }
    let own = read(r#"{"run":"r","state":"limit","model":"m","cost":9}"#);
    assert_eq!((own.system, own.model.as_deref(), own.cost), (None, Some("m"), Some(9.0)));
}

#[test]
fn each_step_names_its_model_and_those_of_a_sub_agent_that_of_their_agent() {
    let inner = r#","subagent_trajectories":[{"session_id":"i","agent":{"name":"scout",
        "model_name":"small"},"steps":[{"source":"agent","message":"in"}]}]"#;
    let steps = [&user("q"), &agent("1", ""), &agent("2", ",\"model_name\":\"other\"")];
    let run = trial(Some(&result("")), Some(&atif(&steps.map(String::as_str), inner)));
    let model = |event: &Event| event.model.clone();
    let models: Vec<_> = run.events.iter().map(model).collect();
    assert_eq!(models, [None, None, Some("other".to_owned()), None]);
    let Some(EventKind::SubAgent { events, .. }) = run.events.last().map(|event| &event.kind)
    else {
        panic!("a sub-agent is expected")
    };
    assert_eq!(events.iter().map(model).collect::<Vec<_>>(), [Some("small".to_owned())]);
}
