//! Tests of suites: names of variations, expected tool calls, and errors in a suite.
use crate::bench::{Bench, answered, wait_until};
use touchstone_api::{ProblemKind, Stale};
use touchstone_store::limits::SuiteUsage;

const RUN: &str = "results/plans-tool_calling-claude-variation0.yaml";
const RUN_PATH: &str = "plans-tool_calling-claude-variation0.yaml";

fn suite(expected: &str) -> String {
    format!(
        "tool_calling_prompt: How many {{what}} are there?\nexpected_tool_calls: [{expected}]\nvariations:\n\
         - what: plans\n- name: all of them\n  parameters: {{ what: tickets }}\n"
    )
}

#[test]
fn a_run_bears_the_name_of_its_variation_and_misses_the_calls_that_never_happened() {
    let bench = Bench::new()
        .file("tasks/plans.yaml", suite("query_plans, query_tickets"))
        .answered(RUN, "Three")
        .answered("results/plans-tool_calling-claude-variation1.yaml", "Three")
        .answered("results/plans-promptql-claude-variation0.yaml", "Three")
        .open();
    let row = bench.row(RUN_PATH).unwrap();
    assert_eq!(
        (row.variation_name.as_deref(), row.missing_calls),
        (Some("what: plans"), vec!["query_tickets".to_owned()])
    );
    let named = bench.row("plans-tool_calling-claude-variation1.yaml").unwrap();
    assert_eq!(named.variation_name.as_deref(), Some("all of them"));
    let promptql = bench.row("plans-promptql-claude-variation0.yaml").unwrap();
    assert!(promptql.missing_calls.is_empty(), "a PromptQL run is not expected to call tools");
    assert_eq!(bench.status().counts.tasks, 1);
}

#[test]
fn a_suite_that_changes_comes_or_goes_is_seen_in_the_runs_of_its_task() {
    let bench = Bench::new().answered(RUN, "Three").open();
    assert_eq!(bench.row(RUN_PATH).unwrap().variation_name, None);
    let missing = |wanted: &[&str]| {
        wait_until(&format!("{wanted:?} are missing"), || {
            bench
                .row(RUN_PATH)
                .filter(|row| row.missing_calls == wanted && row.variation_name.is_some())
        })
    };
    bench.put("tasks/plans.yaml", suite("query_tickets"));
    missing(&["query_tickets"]);
    bench.put("tasks/plans.yaml", suite("query_plans"));
    missing(&[]);
    bench.remove("tasks/plans.yaml");
    wait_until("the name is gone", || {
        bench.row(RUN_PATH).filter(|row| row.variation_name.is_none())
    });
    assert_eq!(bench.status().counts.tasks, 0);
}

#[test]
fn a_suite_that_changed_while_the_program_was_closed_is_seen_at_the_next_start() {
    let bench =
        Bench::new().file("tasks/plans.yaml", suite("query_tickets")).answered(RUN, "Three").open();
    assert_eq!(bench.row(RUN_PATH).unwrap().missing_calls, ["query_tickets"]);
    let bench = bench.close().file("tasks/plans.yaml", suite("query_plans")).open();
    assert!(bench.row(RUN_PATH).unwrap().missing_calls.is_empty());
}

#[test]
fn a_broken_suite_is_a_problem_with_its_place_and_hides_no_other() {
    let bench = Bench::new()
        .file(
            "tasks/bad.yaml",
            "tool_calling_prompt: x\nvariations:\n- expected_output:\n   - a: 1\n     b: 2\n    c: 3\n",
        )
        .file("tasks/deep/plans.yaml", suite("query_plans"))
        .open();
    wait_until("the good suite is read", || (bench.status().counts.tasks == 1).then_some(()));
    let problem = bench
        .problems()
        .into_iter()
        .find(|problem| problem.kind == ProblemKind::SuiteError)
        .unwrap();
    assert_eq!(problem.file, "tasks/bad.yaml");
    assert!(problem.line.is_some() && problem.excerpt.is_some(), "{problem:?}");
    assert_eq!(bench.status().counts.suite_problems, 1);
    bench.put("tasks/bad.yaml", suite("query_plans"));
    wait_until("the problem is gone", || bench.problems().is_empty().then_some(()));
}

#[test]
fn the_workspace_file_names_the_directories_and_the_models() {
    let bench = Bench::new()
        .file(
            "touchstone.yaml",
            "input_dir: ask\noutput_dir: got\nmodels:\n  my-own-model: { provider: openai }\n",
        )
        .file("ask/plans.yaml", suite("query_plans"))
        .answered("got/plans-tool_calling-my-own-model-variation0.yaml", "Three")
        .answered("results/elsewhere.yaml", "Not here")
        .open();
    let rows = bench.rows();
    assert_eq!(rows.len(), 1);
    assert_eq!(
        (rows[0].model.as_deref(), rows[0].variation_name.as_deref()),
        (Some("my-own-model"), Some("what: plans"))
    );
}

#[test]
fn a_workspace_file_that_cannot_be_read_is_a_problem_and_the_folder_opens_by_its_names() {
    let bench = Bench::new().file("touchstone.yaml", "input_dir: [").answered(RUN, "Three").open();
    assert_eq!(bench.rows().len(), 1);
    let problem = bench.problems().remove(0);
    assert_eq!((problem.kind, problem.file.as_str()), (ProblemKind::SuiteError, "touchstone.yaml"));
}

#[test]
fn an_output_directory_inside_the_input_directory_keeps_runs_and_suites_apart() {
    let bench = Bench::new()
        .file("touchstone.yaml", "input_dir: .\noutput_dir: out\n")
        .file("plans.yaml", suite("query_tickets"))
        .answered("out/plans-tool_calling-claude-variation0.yaml", "Three")
        .open();
    assert_eq!(bench.row(RUN_PATH).unwrap().missing_calls, ["query_tickets"]);
    assert_eq!(bench.status().counts.tasks, 1);
    bench.put("out/plans-tool_calling-claude-variation1.yaml", answered("Four"));
    wait_until("the new run is there", || (bench.rows().len() == 2).then_some(()));
    assert!(bench.problems().is_empty(), "{:?}", bench.problems());
}

#[test]
fn a_folder_of_loose_prompts_is_a_task() {
    let bench = Bench::new().file("tasks/plans/promptql_prompt.txt", "How many?").open();
    wait_until("the task is read", || (bench.status().counts.tasks == 1).then_some(()));
    bench.remove("tasks/plans/promptql_prompt.txt");
    wait_until("the task is gone", || (bench.status().counts.tasks == 0).then_some(()));
}

#[test]
fn a_suite_that_is_too_large_is_refused_with_a_reason_and_hides_no_other() {
    let bench = Bench::new()
        .limit(|limits| limits.suite_bytes = 2_000)
        .file("tasks/huge.yaml", format!("tool_calling_prompt: {}\n", "word ".repeat(1_000)))
        .file("tasks/plans.yaml", suite("query_plans"))
        .answered(RUN, "Three")
        .open();
    assert_eq!(bench.row(RUN_PATH).unwrap().variation_name.as_deref(), Some("what: plans"));
    let problems = bench.problems();
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert_eq!(
        (problems[0].kind, problems[0].file.as_str()),
        (ProblemKind::SuiteError, "tasks/huge.yaml")
    );
    assert!(problems[0].message.contains("could not be read"), "{}", problems[0].message);
}

#[test]
fn all_suites_of_a_folder_share_one_bound_and_those_that_do_not_fit_are_named_until_there_is_room()
{
    let many = |count: usize| {
        let variations = (0..count)
            .fold(String::new(), |text, n| text + &format!("- parameters: {{ what: p{n} }}\n"));
        format!("tool_calling_prompt: How many {{what}}?\nvariations:\n{variations}")
    };
    let bench = Bench::new()
        .limit(|limits| {
            limits.suites = SuiteUsage { variations: 100, values: 10_000, bytes: 1 << 20 }
        })
        .file("tasks/a.yaml", many(60))
        .file("tasks/b.yaml", many(60))
        .file("tasks/c.yaml", many(40))
        .open();
    let left_out = || {
        let problems =
            bench.problems().into_iter().filter(|problem| problem.kind == ProblemKind::SuiteError);
        problems.map(|problem| (problem.file, problem.message)).collect::<Vec<_>>()
    };
    let [(file, message)] = left_out().try_into().unwrap();
    assert_eq!(file, "tasks/b.yaml");
    assert!(message.contains("left out") && message.contains("100 variations"), "{message}");
    assert_eq!(bench.status().counts.tasks, 2);
    bench.remove("tasks/a.yaml");
    wait_until("there is room for it", || {
        (left_out().is_empty() && bench.status().counts.tasks == 2).then_some(())
    });
    // A suite that grows beyond the remaining space is the one that is left out.
    bench.put("tasks/c.yaml", many(41));
    wait_until("it does not fit", || {
        left_out().iter().any(|(file, _)| file == "tasks/c.yaml").then_some(())
    });
    for (what, most) in [
        ("values", SuiteUsage { variations: 1_000, values: 100, bytes: 1 << 20 }),
        ("bytes", SuiteUsage { variations: 1_000, values: 10_000, bytes: 3_000 }),
    ] {
        let bench = Bench::new()
            .limit(|limits| limits.suites = most)
            .file("tasks/a.yaml", many(60))
            .file("tasks/b.yaml", many(60))
            .open();
        assert_eq!(
            (bench.problems().len(), bench.status().counts.tasks),
            (1, 1),
            "{what}: {:?}",
            bench.problems()
        );
    }
}

#[test]
fn a_misspelt_key_of_the_workspace_file_is_a_problem_until_it_is_corrected_and_the_folder_opens_all_the_same()
 {
    let file = |key: &str| {
        format!(
            "input_dir: tasks\noutput_dir: results\nmodels:\n  a: {{ {key}: x, provider: openai }}\n"
        )
    };
    let bench = Bench::new()
        .file("touchstone.yaml", file("modle"))
        .file("tasks/plans.yaml", suite("query_plans"))
        .answered("results/plans-tool_calling-a-variation0.yaml", "Three")
        .open();
    assert_eq!(
        bench.rows()[0].model.as_deref(),
        Some("a"),
        "names of models are known all the same"
    );
    let problem = bench.problems().remove(0);
    assert_eq!(
        (problem.kind, problem.file.as_str(), problem.line),
        (ProblemKind::SuiteError, "touchstone.yaml", Some(4))
    );
    assert_eq!(
        problem.to_line(),
        "touchstone.yaml, line 4: `modle` is not a key of `models.a`. Did you mean `model`?"
    );
    assert_eq!(bench.status().counts.suite_problems, 1);
    bench.put("touchstone.yaml", file("model"));
    assert_eq!((bench.problems(), bench.status().counts.suite_problems), (Vec::new(), 0));
}

#[test]
fn a_scorer_that_does_not_exist_is_an_error_and_no_other_takes_its_place() {
    let bench = Bench::new()
        .file("tasks/plans.yaml", suite("query_plans") + "  expected_output: 3\nscorers: [exakt]\n")
        .answered("results/plans-tool_calling-claude-variation1.yaml", "3")
        .open();
    let problem = bench.problems().remove(0);
    assert_eq!((problem.kind, problem.line), (ProblemKind::SuiteError, Some(8)), "{problem:?}");
    assert!(
        problem.message.contains("`exakt` is not a scorer") && problem.message.contains("`exact`"),
        "{problem:?}"
    );
    let row = bench.row("plans-tool_calling-claude-variation1.yaml").unwrap();
    assert_eq!(bench.app().scoring().run_scores(&row.id).unwrap().scores.len(), 0);
    let shown = bench.app().suites().read_task("plans").unwrap().problems;
    assert_eq!(shown, [problem]);
}

#[test]
fn an_expected_tool_that_no_tool_set_has_is_a_warning_unless_only_the_tools_know_their_names() {
    let workspace = |more: &str| {
        format!(
            "input_dir: tasks\noutput_dir: results\ntools:\n  query_plans: {{ kind: sql, database: 'sqlite:a.db' }}\n{more}"
        )
    };
    let warned = |more: &str| {
        let bench = Bench::new()
            .file("touchstone.yaml", workspace(more))
            .file("tasks/plans.yaml", suite("query_plans, query_plan, execute_python_program"))
            .open();
        bench.problems().iter().map(touchstone_api::Problem::to_line).collect::<Vec<_>>()
    };
    let expected = "tasks/plans.yaml, line 2: `query_plan` is not a tool of touchstone.yaml, so no run can call it. Did you mean `query_plans`?";
    assert_eq!(warned(""), [expected]);
    assert_eq!(warned("  some: { kind: mcp, command: [x], tools: [a] }\n"), [expected]);
    assert_eq!(
        warned("  some: { kind: mcp, command: [x], prefix: query_, tools: [plan] }\n"),
        Vec::<String>::new()
    );
    assert_eq!(warned("  some: { kind: mcp, command: [x] }\n"), Vec::<String>::new());
}

#[test]
fn warnings_about_tools_follow_the_workspace_file_while_the_folder_is_open() {
    let workspace = |tool: &str| {
        format!(
            "input_dir: tasks\noutput_dir: results\ntools:\n  {tool}: {{ kind: sql, database: 'sqlite:a.db' }}\n"
        )
    };
    let bench = Bench::new()
        .file("touchstone.yaml", workspace("query_plan"))
        .file("tasks/plans.yaml", suite("query_plans"))
        .file("tasks/loose/promptql_prompt.txt", "How many?")
        .open();
    let warned = |count: usize| {
        wait_until(&format!("{count} warnings are listed"), || {
            let problems = bench.problems();
            let counted = bench.status().counts.suite_problems;
            (problems.len() == count && counted == count as u64).then_some(problems)
        })
    };
    assert!(warned(1)[0].message.contains("Did you mean `query_plan`?"));
    bench.put("touchstone.yaml", workspace("query_plans"));
    warned(0);
    let tasks = bench.status().counts.tasks;
    assert_eq!(tasks, 2, "no task is lost");
    bench.forget_events();
    bench.put("touchstone.yaml", workspace("plans"));
    assert_eq!(warned(1)[0].line, Some(2));
    wait_until("the page hears of it", || {
        let is_all = |event: &Stale| matches!(event, Stale::Runs { all: true, .. });
        bench.events().iter().any(is_all).then_some(())
    });
    // While the file cannot be read, its last readable state counts.
    bench.put("touchstone.yaml", "tools: [\n");
    warned(2);
    bench.remove("touchstone.yaml");
    warned(0);
}

#[test]
fn a_suite_that_is_removed_while_the_workspace_file_changes_is_gone() {
    let workspace = |tool: &str| {
        format!(
            "input_dir: tasks\noutput_dir: results\ntools:\n  {tool}: {{ kind: sql, database: 'sqlite:a.db' }}\n"
        )
    };
    let bench = Bench::new()
        .file("touchstone.yaml", workspace("query_plan"))
        .file("tasks/plans.yaml", suite("query_plans"))
        .file("tasks/tickets.yaml", suite("query_tickets"))
        .open();
    bench.remove("tasks/plans.yaml");
    bench.put("touchstone.yaml", workspace("query_tickets"));
    wait_until("one task without problems is left", || {
        (bench.status().counts.tasks == 1 && bench.problems().is_empty()).then_some(())
    });
}

#[test]
fn unread_files_that_look_like_tasks_are_reported_with_the_reason() {
    let bench = Bench::new()
        .file("queries/plans/plans.yaml", suite("query_plans"))
        .file("queries/plans/prompt.txt", "notes beside a task")
        .file("queries/plans/correct_answer.json", "{}")
        .file("queries/somebody/1/prompt.txt", "Which plans are there?")
        .file("queries/somebody/1/answer_correct.json", "{\"plans\": [1]}")
        .file("queries/somebody/2/correct_answer.json", "{\"plans\": [1]}")
        .file("queries/somebody/3.json", "[{\"question\": \"Which?\", \"answer\": 1}]")
        .file("queries/somebody/data.json", "{\"plans\": [1]}")
        .file("results/plans-tool_calling-claude-variation0.yaml", "conversation: []\n");
    std::fs::remove_dir(bench.path("tasks")).unwrap();
    let bench = bench.open();
    let named = || -> Vec<String> {
        let mut named: Vec<String> = bench
            .problems()
            .into_iter()
            .filter(|problem| {
                problem.kind == ProblemKind::SuiteWarning && problem.message.contains("is not read")
            })
            .map(|problem| problem.file)
            .collect();
        named.sort();
        named
    };
    assert_eq!(
        named(),
        ["queries/somebody/1/prompt.txt", "queries/somebody/2", "queries/somebody/3.json"]
    );
    assert_eq!((bench.status().counts.tasks, bench.status().counts.suite_problems), (1, 3));
    let told = bench.app().folder().suite_trouble("").unwrap();
    assert_eq!(
        (told.unreadable.len(), told.unread),
        (3, 0),
        "the command line names them: {told:?}"
    );
    let doctor = bench
        .app()
        .folder()
        .doctor(false)
        .into_iter()
        .find(|check| check.name == "Suites")
        .unwrap();
    assert!(
        doctor.ok
            && doctor.detail.contains("is not read")
            && doctor.detail.ends_with("And 2 more."),
        "{doctor:?}"
    );
    bench.remove("queries/somebody/1/prompt.txt");
    wait_until("it is named no more", || (named().len() == 2).then_some(()));
}

#[test]
fn tools_that_a_task_names_are_those_of_the_workspace_file_and_only_theirs_are_expected_to_be_called()
 {
    let workspace = "input_dir: tasks\noutput_dir: results\ntools:\
        \n  first: { kind: sql, database: 'sqlite:a.db' }\
        \n  second: { kind: sql, database: 'sqlite:a.db' }\n  server: { kind: mcp, command: [x] }\n";
    let told = |tools: &str| {
        let text =
            suite("first, second").replace("variations", &format!("tools: [{tools}]\nvariations"));
        let bench =
            Bench::new().file("touchstone.yaml", workspace).file("tasks/plans.yaml", text).open();
        bench
            .problems()
            .into_iter()
            .map(|problem| (problem.kind, problem.to_line()))
            .collect::<Vec<_>>()
    };
    assert_eq!(told("first, second"), []);
    assert_eq!(told("first, server"), [], "only the server knows its tools");
    let [(kind, said)] = told("first").try_into().unwrap();
    assert_eq!(kind, ProblemKind::SuiteWarning);
    assert!(said.contains("`second` is not among the tools that the task names"), "{said}");
    let [(kind, said)] = told("firts, second").try_into().unwrap();
    assert_eq!(kind, ProblemKind::SuiteWarning, "runs of other tasks are begun all the same");
    assert!(
        said.contains("`firts` is not a tool of touchstone.yaml")
            && said.ends_with("Did you mean `first`?"),
        "{said}"
    );
}

#[test]
fn a_workspace_file_with_the_other_ending_is_not_read_in_silence() {
    let bench = Bench::new()
        .file("touchstone.yml", "run: { max_cost: 1 }\n")
        .file("tasks/plans.yaml", suite("x"))
        .open();
    let [problem] = bench.problems().try_into().unwrap();
    assert_eq!(
        (problem.file.as_str(), problem.kind),
        ("touchstone.yml", ProblemKind::SuiteWarning)
    );
    assert!(problem.message.ends_with("Rename it to touchstone.yaml."), "{problem:?}");
}
