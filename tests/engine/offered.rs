//! Tests of the tools offered to runs: new transcripts record them, old ones take them from the
//! workspace file, and judges of tool calls and external evaluators receive them.
use super::bench::{Bench, beside_the_project, wait_until};
use super::judging::{judge, request};
use super::running::stage::{NAME, RUN, calls_then_answers, fact, says, workspace};
use super::running::{document, folder_of, request as launch, run};
use super::scripted::Scripted;
use fs_err as fs;
use touchstone_api::{JudgeRequest, RunRow, RunState};
use touchstone_app::reports::rows_of_runs::Choice;

const FIVE: &str =
    r#"{"chain_of_thought": "Right.", "tool_calls_success_level": 5, "details": {}}"#;

fn accuracy(filter: &str) -> JudgeRequest {
    JudgeRequest { judge: "tool_call_accuracy".into(), filter: filter.into(), ..request(1) }
}

/// The demo with an additional local model.
fn demo(server: &Scripted) -> Bench {
    let from = beside_the_project("demo");
    let file = fs::read_to_string(from.join("touchstone.yaml")).unwrap();
    let local = format!(
        "models:\n  local: {{ provider: openai, base_url: '{}', model: any }}\n",
        server.url("/v1")
    );
    let head = file.find("models:").unwrap();
    let rest = file[head..].split_once('\n').unwrap().1;
    let mut bench = Bench::new().file("touchstone.yaml", format!("{}{local}{rest}", &file[..head]));
    for (from, to) in [
        (from.join("tasks"), "tasks"),
        (from.join("tasks/ground-truth"), "tasks/ground-truth"),
        (from.join("results"), "results"),
    ] {
        for entry in
            fs::read_dir(from).unwrap().map(Result::unwrap).filter(|entry| entry.path().is_file())
        {
            let name = entry.file_name().into_string().unwrap();
            bench = bench.file(&format!("{to}/{name}"), fs::read(entry.path()).unwrap());
        }
    }
    bench.open()
}

#[test]
fn recorded_runs_of_the_demo_are_judged_by_their_calls_and_only_those_without_any_are_left_out() {
    let server = Scripted::always(says(FIVE));
    let bench = demo(&server);
    let without = |row: &&RunRow| {
        row.tool_calls == 0 || !matches!(row.state, RunState::Answered | RunState::NoAnswer)
    };
    let rows = bench.rows();
    let (left_out, all) = (rows.iter().filter(without).count() as u64, rows.len() as u64);
    let plan = bench.app().judging().plan_judging(&accuracy("")).unwrap();
    assert_eq!((plan.skipped_total, plan.runs), (left_out, all - left_out), "{:?}", plan.skipped);
    assert!(plan.runs > 40, "{}", plan.runs);
    // A run that executes programs and calls no tools is skipped for that reason.
    let programs = plan.skipped.iter().filter(|skip| skip.path.contains("-promptql-"));
    assert!(
        programs
            .map(|skip| skip.why.as_str())
            .all(|why| why == "No tool was called." || why.contains("system error"))
    );
    let view = judge(bench.app(), &accuracy("task:churn-risk model:claude"));
    let few = rows
        .iter()
        .filter(|row| row.path.starts_with("churn-risk-") && row.path.contains("-claude-"));
    let (skipped, done): (Vec<&RunRow>, Vec<&RunRow>) = few.partition(without);
    assert_eq!((view.skipped, view.done), (skipped.len() as u64, done.len() as u64), "{view:?}");
    assert!(view.skipped > 0 && view.calls == view.done);
    let asked = server.seen().iter().map(|seen| seen.json().to_string()).collect::<String>();
    for shown in ["Users, tickets and comments of the help desk.", "Runs a Python 3 program"] {
        assert!(asked.contains(shown), "{shown}");
    }
}

#[test]
fn a_new_transcript_says_what_its_model_was_offered_once_and_going_on_changes_nothing_of_it() {
    // Judges are offered no tools.
    let server = Scripted::start(|seen| {
        if seen.json()["tools"].is_null() { says(FIVE) } else { calls_then_answers(seen) }
    });
    let bench = folder_of(&workspace(&server, "", ""), "tool_calling_prompt: How many?\n").open();
    run(&bench, &launch());
    let sent = server.seen()[0].json()["tools"].clone();
    let said = fact(&bench, RUN, "tool_definitions").unwrap();
    let said: serde_json::Value = serde_json::from_str(&said).unwrap();
    assert_eq!(said[0], sent[0]["function"], "what is written is what was sent");
    assert_eq!(said.as_array().map(Vec::len), sent.as_array().map(Vec::len));
    let text = fs::read_to_string(bench.path(RUN)).unwrap();
    assert_eq!(text.matches("tool_definitions").count(), 1);
    // Like an old transcript: without the definitions it is complete, and those of the workspace
    // file are equal.
    let plan = |bench: &Bench| {
        bench
            .app()
            .judging()
            .plan_judging(&JudgeRequest { model: "scripted".into(), ..accuracy("") })
            .unwrap()
    };
    wait_until("the run is there", || (plan(&bench).runs == 1).then_some(()));
    let inputs = |bench: &Bench| {
        judge(bench.app(), &JudgeRequest { model: "scripted".into(), ..accuracy("") });
        server.seen().last().unwrap().json()["messages"][1]["content"].clone()
    };
    let recorded = inputs(&bench);
    let mut old = document(&bench, RUN);
    let facts = old
        .get("run")
        .unwrap()
        .entries()
        .iter()
        .filter(|(key, _)| key.text() != Some("tool_definitions"));
    let facts = touchstone_model::value::Value::Map(facts.cloned().collect());
    old.set("run", facts);
    bench.put(RUN, old.write());
    wait_until("the old one is there", || {
        let facts = bench.app().runs().open_run(&bench.row(NAME)?.id).ok()?.facts;
        facts.iter().all(|fact| fact.key != "run.tool_definitions").then_some(())
    });
    let asked = server.seen().len();
    assert_eq!(
        (inputs(&bench), server.seen().len()),
        (recorded, asked),
        "the same was shown, so nobody is asked again"
    );
}

#[test]
fn rows_for_evaluators_have_the_tools_of_the_workspace_too() {
    let server = Scripted::always(says(FIVE));
    let bench = demo(&server);
    let (rows, _) = bench
        .app()
        .reports()
        .rows_of_runs("system:tool_calling_python", &Choice::default(), false)
        .unwrap();
    assert!(!rows.lines.is_empty() && rows.notes.is_empty());
    for line in &rows.lines {
        let row: serde_json::Value = serde_json::from_str(line).unwrap();
        let names: Vec<&str> = row["tool_definitions"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|tool| tool["name"].as_str())
            .collect();
        assert_eq!(
            names,
            ["query_support_tickets", "query_control_plane_data", "execute_python_program"]
        );
    }
}
