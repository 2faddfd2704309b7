//! Tests of the tools of runs: a missing tool stops only the runs that need it, and available ones
//! are really called.
use super::stage::{
    ANSWER, PLAIN, RUN, calls, calls_then_answers, count, folder_with, says, workspace,
};
use super::{document, request, run};
use crate::bench::{Bench, beside_the_project, wait_until};
use crate::mcp::lives;
use crate::scripted::Scripted;
use fs_err as fs;
use serde_json::json;
use touchstone_api::{LaunchRequest, LaunchRunState};
use touchstone_model::json;

#[test]
fn a_tool_that_is_missing_or_does_not_open_stops_only_the_runs_that_need_it() {
    let server = Scripted::start(calls_then_answers);
    let broken = "  broken: { kind: sql, database: 'sqlite:data/missing.db' }\n";
    let bench = super::folder_of(
        &workspace(&server, "", broken),
        &format!("{PLAIN}tools: [query_things]\n"),
    )
    .file("tasks/missing.yaml", format!("{PLAIN}tools: [query_things, query_stars]\n"))
    .file("tasks/broken.yaml", format!("{PLAIN}tools: [broken]\n"))
    .file("tasks/all.yaml", PLAIN)
    .file("tasks/none.yaml", format!("{PLAIN}tools: []\n"))
    .file(
        "results/broken-tool_calling-scripted-variation0.yaml",
        "conversation:\n- user_message: How many?\n",
    )
    .open();
    let view = run(&bench, &LaunchRequest { concurrency: Some(1), ..request() });
    assert_eq!((view.done, view.failed), (2, 2), "{:?}", view.runs);
    let blocked = bench.app().launches().plan_launch(&request()).unwrap().blocked;
    let blocked: Vec<_> = blocked.iter().map(|cause| (cause.why.as_str(), cause.runs)).collect();
    assert_eq!(
        blocked,
        [("touchstone.yaml does not define the tool `query_stars`, and the task uses it", 1)]
    );
    let mut said: Vec<String> = view
        .runs
        .iter()
        .filter(|run| run.state == LaunchRunState::Error)
        .map(|run| {
            format!(
                "{}: {}",
                run.path.split('-').next().unwrap(),
                run.doing.as_deref().unwrap_or_default()
            )
        })
        .map(|line| line.replace(bench.path("").canonicalize().unwrap().to_str().unwrap(), "…"))
        .collect();
    said.sort();
    insta::assert_snapshot!(said.join("\n"), @r"
    all: The tool `broken`: missing.db: The database file is not there. Check `database` in touchstone.yaml: a path is relative to that file.
    broken: The tool `broken`: missing.db: The database file is not there. Check `database` in touchstone.yaml: a path is relative to that file.
    ");
    assert!(document(&bench, RUN).get("answer").is_some());
    assert_eq!(server.delivered(), 4, "nothing was bought for a run that cannot be made");
    assert!(!bench.path("results/missing-tool_calling-scripted-variation0.yaml").exists());
    let untouched =
        fs::read_to_string(bench.path("results/broken-tool_calling-scripted-variation0.yaml"))
            .unwrap();
    assert_eq!(untouched, "conversation:\n- user_message: How many?\n");
    // A run that cannot be repeated is not moved aside either.
    let anew = LaunchRequest { start_over: true, tasks: vec!["broken".into()], ..request() };
    assert_eq!(run(&bench, &anew).failed, 1);
    assert!(bench.path("results/broken-tool_calling-scripted-variation0.yaml").exists());
    // A task that names no tools gets none.
    let asked = server
        .seen()
        .into_iter()
        .filter(|seen| seen.json().get("tools").is_none_or(|tools| tools == &json!([])));
    assert!(asked.count() >= 1);
}

#[test]
fn a_program_is_run_in_the_sandbox_and_its_output_goes_back_to_the_model() {
    if std::env::var_os("TOUCHSTONE_WITHOUT_SANDBOX").is_some() {
        eprintln!("not run: TOUCHSTONE_WITHOUT_SANDBOX is set");
        return;
    }
    let server = Scripted::start(|seen| match count(seen, "tool") {
        0 => calls(&[
            ("p", "execute_python_program", r#"{"pythonCode": "print(6 * 7)"}"#),
            ("q", "query_things", super::stage::QUERY),
        ]),
        _ => says(ANSWER),
    });
    let bench = folder_with(&workspace(&server, "", ""), "tool_calling_python_prompt: How many?\n");
    let wanted = LaunchRequest { systems: vec!["tool_calling_python".into()], ..request() };
    let view = run(&bench, &wanted);
    assert_eq!(view.done, 1, "{:?}", view.runs);
    let document = document(&bench, "results/count-tool_calling_python-scripted-variation0.yaml");
    let result = document.items()[1].get("tool_call").unwrap().get("result").unwrap();
    assert_eq!(result.get("stdout").and_then(touchstone_model::value::Value::text), Some("42\n"));
    let told = server.seen()[1].json();
    assert!(told["messages"].to_string().contains("42"), "{told}");
    let offered = server.seen()[0].json()["tools"].to_string();
    assert!(offered.contains("execute_python_program") && offered.contains("query_things"));
}

fn with_server(server: &Scripted) -> Bench {
    let more = "  notes: { kind: mcp, command: [python3, scripted.py, normal] }\n";
    let bench = super::folder_of(&workspace(server, "", more), &format!("{PLAIN}tools: [notes]\n"));
    fs::copy(beside_the_project("tests/fixtures/mcp/scripted.py"), bench.path("scripted.py"))
        .unwrap();
    bench.open()
}

#[test]
fn tools_of_a_server_are_called_and_the_server_ends_with_the_launch() {
    let server = Scripted::start(|seen| match count(seen, "tool") {
        0 => calls(&[
            ("a", "echo", r#"{"say": "hello"}"#),
            ("b", "fail", "{}"),
            ("f", "family", "{}"),
        ]),
        _ => says(ANSWER),
    });
    let bench = with_server(&server);
    let view = run(&bench, &request());
    assert_eq!(view.done, 1, "{:?}", view.runs);
    let document = document(&bench, RUN);
    let of = |at: usize, key: &str| {
        document.items()[at]
            .get("tool_call")
            .and_then(|call| call.get(key))
            .map(|value| json::write(value, false))
    };
    assert!(of(1, "result").unwrap().contains("hello"));
    assert!(of(2, "error").unwrap().contains("no such row"));
    let processes: Vec<u32> =
        serde_json::from_str(&of(3, "result").unwrap().trim_matches('"').replace('\\', ""))
            .unwrap();
    assert_eq!(
        processes.len(),
        4,
        "itself, a child, one with a session of its own, and one that lost its parent"
    );
    for process in processes {
        wait_until("all of it has ended", || (!lives(&process.to_string())).then_some(()));
    }
}
