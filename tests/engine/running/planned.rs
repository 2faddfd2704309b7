//! Tests of plans without a provider: a plan depends only on files, and lists every reason why a
//! run cannot start.
use super::stage::{PLAIN, calls_then_answers, workspace};
use super::{folder_of, request};
use crate::bench::{Bench, beside_the_project, wait_until};
use crate::scripted::Scripted;
use fs_err as fs;
use touchstone_api::{
    Act, ForkRequest, JudgeRequest, LaunchPlan, LaunchRequest, Phase, Review, RunState, Verdict,
};
use touchstone_app::error::{AppError, Code};

const TWO_MODELS: &str = "input_dir: tasks\noutput_dir: results\nmodels:\
    \n  first: { provider: openai, model: a, api_key_env: KEY_OF_FIRST }\
    \n  second: { provider: openai, model: b, api_key_env: KEY_OF_SECOND }\n";

fn both() -> LaunchRequest {
    LaunchRequest { models: vec!["first".into(), "second".into()], ..request() }
}

#[test]
fn a_plan_needs_no_key_and_only_a_launch_is_refused_with_one_line_a_cause() {
    let bench = folder_of(TWO_MODELS, PLAIN).key("ANOTHER_KEY", "0123456789").open();
    let plan =
        bench.app().launches().plan_launch(&LaunchRequest { repeats: Some(2), ..both() }).unwrap();
    let causes: Vec<_> =
        plan.blocked.iter().map(|cause| (cause.why.as_str(), cause.runs)).collect();
    let each = plan.owed_total / 2;
    assert_eq!(causes, [("KEY_OF_FIRST is not set", each), ("KEY_OF_SECOND is not set", each)]);
    assert_eq!((plan.owed_total, plan.skipped_total, plan.blocked_total), (2 * each, 0, 2 * each));
    assert!(plan.owed.iter().all(|run| run.act == Act::Start));
    let refused = bench.app().launches().start_launch(&both()).unwrap_err();
    assert_eq!(refused.code, Code::BadRequest);
    let lines: Vec<&str> = refused.message.lines().collect();
    assert_eq!(lines.len(), 2, "{refused:?}");
    assert!(lines[0].starts_with("Cannot start here: KEY_OF_FIRST is not set ("), "{refused:?}");
    assert_eq!(fs::read_dir(bench.path("results")).unwrap().count(), 0, "nothing is written");
}

#[test]
fn runs_that_can_start_are_not_counted_as_blocked() {
    let bench = folder_of(TWO_MODELS, PLAIN).key("KEY_OF_FIRST", "0123456789").open();
    let plan = bench.app().launches().plan_launch(&both()).unwrap();
    assert_eq!((plan.blocked.len(), plan.blocked_total * 2), (1, plan.owed_total));
    assert_eq!(plan.blocked[0].why, "KEY_OF_SECOND is not set");
}

fn promptql(build: &str) -> LaunchPlan {
    let workspace = format!("{TWO_MODELS}systems:\n  promptql: {{ {build} }}\n");
    let task = "promptql_prompt: How many?\nvariations:\n  - {}\n";
    let bench = folder_of(&workspace, task).key("PROMPTQL_API_KEY", "0123456789").open();
    bench
        .app()
        .launches()
        .plan_launch(&LaunchRequest { systems: vec!["promptql".into()], ..both() })
        .unwrap()
}

#[test]
fn a_plan_says_where_runs_of_several_models_would_send_the_same_requests() {
    let one = promptql("version: v2, build_version: b1");
    assert_eq!((one.owed_total, one.blocked_total), (2, 0));
    let [note] = one.notes.as_slice() else { panic!("{:?}", one.notes) };
    assert!(
        note.starts_with("PromptQL v2 requests carry no model") && note.contains("first, second"),
        "{note}"
    );
    assert_eq!(promptql("version: v2, build_version: { first: b1, second: b1 }").notes.len(), 1);
    let each = promptql("version: v2, build_version: { first: b1, second: b2 }");
    assert_eq!((each.notes.len(), each.blocked_total), (0, 0), "each has a build of its own");
    assert_eq!(promptql("version: v1, ddn: { url: 'https://sql.example' }").notes, [""; 0]);
    let lacks = promptql("build_id: { first: b1 }");
    assert_eq!(lacks.blocked_total, 1);
    assert_eq!(
        lacks.blocked[0].why,
        "`systems.promptql` in touchstone.yaml names no build for the model `second`"
    );
}

/// A folder with copies of all files of another one.
fn copied(from: &str) -> Bench {
    fn collect_files(dir: &std::path::Path, found: &mut Vec<std::path::PathBuf>) {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { collect_files(&path, found) } else { found.push(path) }
        }
    }
    let (root, mut files) = (beside_the_project(from), Vec::new());
    collect_files(&root, &mut files);
    let bench = Bench::new();
    // Keep only the directories of the original.
    fs::remove_dir(bench.path("tasks")).unwrap();
    files.iter().fold(bench, |bench, path| {
        bench.file(path.strip_prefix(&root).unwrap().to_str().unwrap(), fs::read(path).unwrap())
    })
}

#[test]
fn runs_in_the_layout_of_the_benchmark_are_complete_runs_of_their_tasks_and_never_written_to() {
    let bench = copied("tests/fixtures/benchmark").open();
    let request = LaunchRequest {
        tasks: vec!["late_crossings".into()],
        systems: vec!["promptql".into(), "tool_calling".into()],
        models: vec!["o1".into(), "claude".into(), "o3-mini".into()],
        repeats: Some(3),
        ..LaunchRequest::default()
    };
    let rows = bench.rows();
    let plan = bench.app().launches().plan_launch(&request).unwrap();
    let there = |path: &str| rows.iter().find(|row| row.path == path);
    let others: Vec<_> = plan.skipped.iter().filter(|run| there(&run.path).is_some()).collect();
    let complete: Vec<_> = others.iter().filter(|run| run.act == Act::Nothing).collect();
    assert!(complete.len() >= 3, "{:?}", plan.skipped);
    for run in &complete {
        let row = there(&run.path).unwrap();
        assert_eq!((&run.run, run.repeat), (&row.id, row.repeat));
        assert!(run.why.contains(&run.path) && run.why.contains("never changed"), "{}", run.why);
    }
    // Oracle runs, which were given their data, are other runs; and a missing repeat is owed.
    assert!(others.iter().all(|run| !run.path.contains("/oracle/")), "{others:?}");
    assert!(plan.owed.iter().all(|run| run.act == Act::Start && is_yaml(&run.path)));
    assert!(
        plan.owed
            .iter()
            .any(|run| run.system == "promptql" && run.model == "o1" && run.repeat == 3)
    );
    assert!(!plan.owed.iter().any(|run| complete.iter().any(|done| {
        (&done.task, &done.system, &done.model, done.variation, done.repeat)
            == (&run.task, &run.system, &run.model, run.variation, run.repeat)
    })));
    let anew =
        bench.app().launches().plan_launch(&LaunchRequest { start_over: true, ..request }).unwrap();
    assert!(anew.owed_total >= plan.owed_total + complete.len() as u64);
    assert!(
        anew.owed.iter().all(|run| run.act == Act::Start && is_yaml(&run.path)),
        "a file of its own"
    );
}

#[test]
fn an_answer_of_the_original_benchmark_is_the_run_of_its_query_method_and_model() {
    let queries = r#"[{"query_id": 101, "query": "Which ship is next?", "api_list": [], "relevant APIs": []}]"#;
    let raw = fs::read(beside_the_project(
        "tests/fixtures/stabletoolbench/answers/harbour-model/G1_harbour/101_DFS_woFilter_w2.json",
    ))
    .unwrap();
    let workspace = "input_dir: tasks\noutput_dir: results\nmodels:\n  harbour-model: { provider: openai, model: a }\n";
    let bench = Bench::new()
        .file("touchstone.yaml", workspace)
        .file("tasks/G1_harbour.json", queries)
        .file("results/harbour-model/G1_harbour/101_DFS_woFilter_w2.json", raw)
        .open();
    let plan = |method: Option<&str>, task: &str| {
        let request = LaunchRequest {
            tasks: vec![task.to_owned()],
            models: vec!["harbour-model".into()],
            method: method.map(str::to_owned),
            ..request()
        };
        let plan = bench.app().launches().plan_launch(&request).unwrap();
        (plan.owed_total, plan.skipped.first().map(|run| (run.act, run.path.clone())))
    };
    let path = "results/harbour-model/G1_harbour/101_DFS_woFilter_w2.json";
    let listed = bench
        .row(path)
        .map_or_else(|| path.trim_start_matches("results/").to_owned(), |row| row.path);
    for task in ["101", "*10*", "G1_harbour/101", "G1_*/101", "G1_harbour/*"] {
        assert_eq!(
            plan(Some("DFS_woFilter_w2"), task),
            (0, Some((Act::Nothing, listed.clone()))),
            "{task}"
        );
        assert_eq!(plan(Some("CoT@1"), task), (1, None), "another method is another run: {task}");
    }
    let refused =
        bench.app().launches().plan_launch(&LaunchRequest { tasks: vec!["999".into()], ..both() });
    assert!(refused.is_err());
}

/// A folder with one finished run of a task, and the launch that produced it.
fn finished(server: &Scripted) -> (Bench, String) {
    let bench = folder_of(&workspace(server, "", ""), PLAIN).open();
    let launch = bench.app().launches().start_launch(&request()).unwrap().launch;
    super::ended(&bench, &launch);
    bench.wait_state(super::stage::NAME, RunState::Answered);
    (bench, launch)
}

/// Calls everything that pays or writes, and returns the errors by name.
fn everything_refused(bench: &Bench, launch: &str) -> Vec<(&'static str, AppError)> {
    let (app, id) = (bench.app(), bench.rows()[0].id.clone());
    let judge =
        JudgeRequest { judge: "sopr".into(), model: "scripted".into(), ..JudgeRequest::default() };
    let anew = LaunchRequest { start_over: true, ..request() };
    vec![
        ("launch", app.launches().start_launch(&anew).unwrap_err()),
        ("retry", app.launches().retry_launch(launch).unwrap_err()),
        ("nudge", app.launches().nudge_run(&id, "Go on.", false).unwrap_err()),
        ("fork", app.launches().fork_run(&id, &ForkRequest::new(1, Some("Go on."))).unwrap_err()),
        ("judge", app.judging().start_judging(&judge).unwrap_err()),
    ]
}

#[test]
fn nothing_is_paid_for_while_a_key_of_the_workspace_file_is_misspelt_whatever_it_is() {
    let server = Scripted::start(calls_then_answers);
    let (bench, launch) = finished(&server);
    let asked = server.delivered();
    bench.put("touchstone.yaml", workspace(&server, "", "run: { max_costs: 0.001 }\n"));
    for (what, refused) in everything_refused(&bench, &launch) {
        assert!(
            refused.message.contains("`max_costs` is not a key of `run`"),
            "{what}: {refused:?}"
        );
    }
    assert_eq!(server.delivered(), asked);
}

#[test]
fn while_the_results_are_lost_nothing_is_written_or_run_and_all_that_was_there_comes_back_with_them()
 {
    let server = Scripted::start(calls_then_answers);
    let (bench, launch) = finished(&server);
    let (asked, id) = (server.delivered(), bench.rows()[0].id.clone());
    fs::rename(bench.path("results"), bench.path("away")).unwrap();
    // Both before and after the loss was detected.
    let verdict = Some(Verdict::Right);
    let review = Review {
        verdict,
        score: None,
        note: String::new(),
        at_ms: 0,
        stale: false,
        answer: None,
        author: None,
        steps: Vec::new(),
        labels: std::collections::BTreeMap::new(),
    };
    for noticed in [false, true] {
        if noticed {
            wait_until("it is told", || {
                matches!(bench.status().phase, Phase::Failed { .. }).then_some(())
            });
        }
        let mut refused = everything_refused(&bench, &launch);
        refused.push(("review", bench.app().reviews().review_run(&id, Some(&review)).unwrap_err()));
        refused.push(("no review", bench.app().reviews().review_run(&id, None).unwrap_err()));
        for (what, refused) in refused {
            assert!(refused.message.starts_with("Folder not found: "), "{what}: {refused:?}");
        }
        let plan = bench.app().launches().plan_launch(&request()).unwrap();
        assert!(plan.invalid.unwrap().message.starts_with("Folder not found: "));
        assert!(!bench.path("results").exists(), "nothing takes its place");
        assert_eq!((bench.rows().len(), server.delivered()), (1, asked));
    }
    fs::rename(bench.path("away"), bench.path("results")).unwrap();
    wait_until("it is back", || (bench.status().phase == Phase::Ready).then_some(()));
    bench.app().reviews().review_run(&id, Some(&review)).unwrap();
    assert_eq!(bench.app().launches().plan_launch(&request()).unwrap().owed_total, 0);
}

#[test]
fn a_variable_that_a_tool_needs_and_that_is_not_set_blocks_the_runs_that_use_it_and_is_told_by_its_name()
 {
    let tools = "tools:\n  db: { kind: sql, database: \
        'postgres://u:${NO_SUCH_PASSWORD}@localhost/x' }\
        \n  other: { kind: mcp, command: [x], env: { K: '${NO_SUCH_VALUE}' } }\
        \n  free: { kind: sql, database: 'sqlite:data/things.db', description: 'Costs ${AMOUNT}.' }\n";
    let workspace = TWO_MODELS.to_owned() + tools;
    let causes = |used: &str| {
        let task = format!("{PLAIN}tools: [{used}]\n");
        let bench = folder_of(&workspace, &task)
            .key("KEY_OF_FIRST", "0123456789")
            .key("KEY_OF_SECOND", "0123456789");
        let bench = bench.open();
        let plan = bench.app().launches().plan_launch(&both()).unwrap();
        if !plan.blocked.is_empty() {
            let refused = bench.app().launches().start_launch(&both()).unwrap_err();
            assert!(refused.message.contains("NO_SUCH_"), "{refused:?}");
        }
        plan.blocked.into_iter().map(|cause| cause.why).collect::<Vec<_>>()
    };
    assert_eq!(causes("db"), ["NO_SUCH_PASSWORD is not set, and the tool `db` needs it"]);
    assert_eq!(causes("other"), ["NO_SUCH_VALUE is not set, and the tool `other` needs it"]);
    assert_eq!(causes("free"), Vec::<String>::new());
}

#[test]
fn a_plan_says_of_which_models_no_price_is_known_and_names_no_sum() {
    let workspace =
        TWO_MODELS.replace("model: a,", "model: a, price: { input: 1.0, output: 2.0 },");
    let bench = folder_of(&workspace, PLAIN).open();
    let plan = bench.app().launches().plan_launch(&both()).unwrap();
    let said = plan.unpriced.unwrap();
    assert!(said.contains("second") && !said.contains("first"), "{said}");
    assert_eq!(plan.estimate.cost, None);
    let priced = LaunchRequest { models: vec!["first".into()], ..both() };
    assert_eq!(bench.app().launches().plan_launch(&priced).unwrap().unpriced, None);
}

fn is_yaml(path: &str) -> bool {
    std::path::Path::new(path).extension().is_some_and(|extension| extension == "yaml")
}
