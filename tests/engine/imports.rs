//! Result files of other tools: their runs are rows like all others, with the coordinates, the
//! verdicts and the expected answers of their files.
use crate::bench::{Bench, wait_until};
use touchstone_api::{
    Body, ForkRequest, Language, Lineage, RunNames, RunRow, RunState, ScoreStanding, Span,
    TaskRequest,
};

const PROMPTFOO: &str =
    include_str!("../../src-tauri/imports/tests/fixtures/promptfoo/results.json");
const HARBOR: [(&str, &str); 3] = [
    (
        "config.json",
        include_str!("../../src-tauri/imports/tests/fixtures/harbor/job/sums__abc1234/config.json"),
    ),
    (
        "result.json",
        include_str!("../../src-tauri/imports/tests/fixtures/harbor/job/sums__abc1234/result.json"),
    ),
    (
        "agent/trajectory.json",
        include_str!(
            "../../src-tauri/imports/tests/fixtures/harbor/job/sums__abc1234/agent/trajectory.json"
        ),
    ),
];
const INSPECT: &str = include_str!("../../src-tauri/imports/tests/fixtures/inspect/log.json");
const TAU_BENCH: &str =
    include_str!("../../src-tauri/imports/tests/fixtures/tau_bench/tool-calling-model-a-1.0.json");
const SESSION: &str =
    include_str!("../../src-tauri/imports/tests/fixtures/claude_code/session.jsonl");
const CHATS: &str = include_str!("../../src-tauri/imports/tests/fixtures/messages/lines.jsonl");

fn runs(bench: &Bench) -> Vec<RunRow> {
    bench.rows().into_iter().filter(|row| row.state != RunState::Other).collect()
}

#[test]
fn a_run_of_another_tool_is_scored_by_its_own_verdict_and_by_what_its_file_expects() {
    let bench = Bench::new().file("results/results.json", PROMPTFOO).open();
    let [row] = &runs(&bench)[..] else { panic!("one run is expected") };
    assert_eq!(row.format.as_deref(), Some("promptfoo"));
    let place = (row.task.as_deref(), row.system.as_deref(), row.model.as_deref());
    assert_eq!(place, (Some("hello"), Some("say"), Some("echo")));
    assert_eq!((row.scoring, row.score), (Some(ScoreStanding::Scored), Some(1.0)));
    assert_eq!((row.scorer.as_deref(), row.passed), (Some("success"), Some(true)));
    let scores = bench.app().scoring().run_scores(&row.id).unwrap();
    let names: Vec<&str> = scores.scores.iter().map(|score| score.scorer.as_str()).collect();
    assert_eq!(names, ["success", "equals", "text: f1"]);
    assert_eq!(scores.notes, Vec::<String>::new());
    let view = bench.app().runs().open_run(&row.id).unwrap();
    assert_eq!((view.layout.as_str(), view.total_steps), ("promptfoo", 2));
    assert!(view.task.unwrap().expected.is_some());
    bench.wait_words();
    assert_eq!(bench.hits("hello").len(), 1);
}

#[test]
fn plain_chats_are_runs_without_a_score_and_data_of_evaluators_is_none() {
    let chat =
        r#"[{"role": "user", "content": "Why?"}, {"role": "assistant", "content": "**So.**"}]"#;
    let data = r#"{"query": "q", "response": "a", "messages": [{"role": "user", "content": "q"}]}"#;
    let bench = Bench::new()
        .file("results/chat.json", chat)
        .file("results/chats.jsonl", CHATS)
        .file("results/data.jsonl", format!("{data}\n{data}\n"))
        .open();
    let rows = bench.rows();
    let row = |path: &str| rows.iter().find(|row| row.path == path).unwrap();
    let one = row("chat.json");
    assert_eq!((one.format.as_deref(), one.state), (Some("messages"), RunState::Answered));
    assert_eq!((one.task.as_deref(), one.prompt.as_deref()), (None, Some("Why?")));
    let sum = row("chats.jsonl#sum");
    assert_eq!((sum.task.as_deref(), sum.state), (Some("sum"), RunState::Answered));
    assert_eq!((sum.score, sum.scoring), (None, None));
    // A chat that ends with a question waits for its answer.
    assert_eq!(row("chats.jsonl#chat 4").state, RunState::Waiting);
    assert_eq!(row("data.jsonl").state, RunState::Other);
    // An answer that is a message is drawn like it.
    let answer = bench.app().runs().open_run(&one.id).unwrap().answer.unwrap();
    let Body::Text { language, .. } = answer.part.body else { panic!("a text is expected") };
    assert_eq!(language, Language::Markdown);
}

#[test]
fn a_session_is_listed_with_its_first_prompt_and_found_by_the_name_of_its_file() {
    let bench = Bench::new().file("results/huge.jsonl", SESSION).open();
    bench.wait_words();
    let [row] = &runs(&bench)[..] else { panic!("one run is expected") };
    assert_eq!((row.task.as_deref(), row.prompt.as_deref()), (None, Some("List the files.")));
    for (text, is_found) in [("huge", true), ("huge.jsonl", true), ("hug", true), ("uge", false)] {
        let found = bench.hits(text);
        assert_eq!(found.len(), usize::from(is_found), "{text}: {found:?}");
    }
}

#[test]
fn numbers_of_trials_that_files_state_are_kept() {
    let trial = |trial: u32| {
        format!(
            r#"{{"task_id": 0, "reward": 1.0, "trial": {trial}, "info": {{"task": {{"user_id": "u"}}}},
            "traj": [{{"role": "user", "content": "I need a ticket."}},
                     {{"role": "assistant", "content": "Done."}}]}}"#
        )
    };
    let file = || format!("[{}, {}]", trial(0), trial(1));
    let bench = Bench::new()
        .file("results/one/tool-calling-model-a-1.0.json", file())
        .file("results/two/tool-calling-model-a-1.0.json", file())
        .open();
    let mut repeats: Vec<u32> = runs(&bench).iter().map(|row| row.repeat).collect();
    repeats.sort_unstable();
    assert_eq!(repeats, [1, 1, 2, 2]);
}

#[test]
fn a_task_without_a_suite_is_listed_with_the_question_and_the_expected_answer_of_its_runs() {
    let suite = "tool_calling_prompt: Say hello\n";
    let list = |bench: &Bench| {
        let span = Span { offset: 0, limit: 9 };
        let request = TaskRequest { words: String::new(), set: None, category: None, span };
        bench.app().suites().list_tasks(request).unwrap().rows
    };
    let bench = Bench::new().file("results/results.json", PROMPTFOO).open();
    let [row] = &list(&bench)[..] else { panic!("one task is expected") };
    let shown = (row.id.as_str(), row.recorded_by.as_deref(), row.set.as_deref());
    assert_eq!(shown, ("hello", Some("promptfoo"), Some("promptfoo")));
    let task = bench.app().suites().read_task("hello").unwrap();
    assert_eq!((&task.row, task.prompts[0].text.text.as_str()), (row, "Say hello"));
    assert_eq!(task.file, "results.json#test 0 prompt 0");
    let expected = task.variations.iter().map(|one| one.expected.as_ref().unwrap().text.as_str());
    assert_eq!(expected.collect::<Vec<_>>(), ["hello"]);
    assert!(bench.app().suites().read_task("other").is_err());
    // Runs whose files state their number are in no group of their own.
    let bench =
        Bench::new().file("results/log.json", INSPECT).file("results/tau.json", TAU_BENCH).open();
    let recorded = list(&bench);
    let by = |title: &str| {
        let of_tool = recorded.iter().filter(|row| row.recorded_by.as_deref() == Some(title));
        of_tool.map(|row| row.id.as_str()).collect::<Vec<_>>()
    };
    let all = [by("Inspect"), by("tau-bench")];
    assert!(all.iter().all(|tasks| !tasks.is_empty()), "{recorded:?}");
    for task in all.iter().flatten() {
        bench.app().suites().read_task(task).unwrap();
    }
    let bench =
        Bench::new().file("tasks/hello.yaml", suite).file("results/results.json", PROMPTFOO).open();
    let [row] = &list(&bench)[..] else { panic!("the suite is the task") };
    assert_eq!(row.recorded_by, None);
}

#[test]
fn the_question_of_a_recorded_task_is_a_text_and_not_an_image_before_it() {
    let image = r#"{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}}"#;
    let text = r#"{"type":"text","text":"What is this?"}"#;
    let (first, rest) = SESSION.split_once('\n').unwrap();
    let names = "imports:\n  files: { session.jsonl: { task: look } }\n";
    let question = |content: &str| {
        let content = format!("\"content\": [{content}]");
        let asked = first.replace("\"content\": \"List the files.\"", &content);
        assert_ne!(asked, first);
        let bench = Bench::new()
            .file("touchstone.yaml", format!("output_dir: results\n{names}"))
            .file("results/session.jsonl", format!("{asked}\n{rest}"))
            .open();
        let task = bench.app().suites().read_task("look").unwrap();
        task.prompts.first().map(|prompt| prompt.text.text.clone())
    };
    let both = format!("{image},{text}");
    assert_eq!(question(&both).as_deref(), Some("What is this?"));
    assert_eq!(question(image), None);
}

#[test]
fn expected_answers_that_are_not_shown_are_counted() {
    let one: serde_json::Value = serde_json::from_str(PROMPTFOO).unwrap();
    let text = one["results"]["results"][0].to_string();
    let mut lines = String::new();
    for number in 0..23 {
        let line = text.replace(r#""value":"hello""#, &format!(r#""value":"hello {number}""#));
        lines += &line.replace(r#""r1""#, &format!(r#""r{number}""#));
        lines.push('\n');
    }
    let bench = Bench::new().file("results/many.jsonl", lines).open();
    let task = bench.app().suites().read_task("hello").unwrap();
    assert_eq!((task.variations.len(), task.more_expected), (20, 3));
}

#[test]
fn trials_of_a_job_are_numbered_by_their_start_and_follow_their_parts() {
    let mut bench = Bench::new();
    for (trial, start) in [("b", "09:00:00"), ("a", "08:00:00")] {
        for (file, text) in HARBOR {
            let text = text.replace("sums__abc1234", &format!("sums__{trial}"));
            let text = text.replace("10:00:00", start);
            bench = bench.file(&format!("results/job/sums__{trial}/{file}"), text);
        }
    }
    let bench = bench.open();
    let repeats = || {
        let rows = runs(&bench).into_iter();
        rows.map(|row| (row.path, row.repeat)).collect::<Vec<_>>()
    };
    let path = |trial: &str| format!("job/sums__{trial}/config.json#sums__{trial}");
    assert_eq!(repeats(), [(path("a"), 1), (path("b"), 2)]);
    // The earlier trial goes, and the other becomes the first.
    for (file, _) in HARBOR {
        bench.remove(&format!("results/job/sums__a/{file}"));
    }
    wait_until("the other trial is the first", || (repeats() == [(path("b"), 1)]).then_some(()));
    // The result is no run of its own; the trial follows it.
    let result = HARBOR[1].1.replace("\"reward\": 1.0", "\"reward\": 0.0");
    bench.put("results/job/sums__b/result.json", result);
    wait_until("the reward is the new one", || {
        (runs(&bench)[0].passed == Some(false)).then_some(())
    });
}

#[test]
fn the_same_result_in_two_files_counts_once() {
    let whole: serde_json::Value = serde_json::from_str(PROMPTFOO).unwrap();
    let line = format!("{}\n", whole["results"]["results"][0]);
    let bench = Bench::new().file("results/a.json", PROMPTFOO).file("results/b.jsonl", line).open();
    let by = |name: &str| {
        let row = runs(&bench).into_iter().find(|row| row.path.starts_with(name))?;
        Some((row.lineage, row.superseded_by.is_some()))
    };
    assert_eq!(by("a.json"), Some((None, false)));
    assert_eq!(by("b.jsonl"), Some((Some(Lineage::Superseded), true)));
    bench.remove("results/a.json");
    wait_until("the other file counts", || (by("b.jsonl") == Some((None, false))).then_some(()));
}

#[test]
fn a_session_that_grows_is_followed_and_never_damaged() {
    let lines: Vec<&str> = SESSION.lines().collect();
    let half = format!("{}\n{}\n{}", lines[0], lines[1], &lines[2][..40]);
    let bench = Bench::new().file("results/s/session.jsonl", half).open();
    let row = bench.wait_state("s/session.jsonl#s1", RunState::Waiting);
    assert_eq!((row.format.as_deref(), row.tool_calls), (Some("claude_code"), 1));
    bench.put("results/s/session.jsonl", SESSION);
    let row = bench.wait_state("s/session.jsonl#s1", RunState::Answered);
    assert_eq!(row.model.as_deref(), Some("model-a"));
}

#[test]
fn a_session_follows_the_file_of_a_sub_agent_that_lies_beside_it() {
    let record = |side: bool, uuid: &str, parent: &str, kind: &str, content: &str, more: &str| {
        format!(
            "{{\"parentUuid\": {parent}, \"isSidechain\": {side}, \"sessionId\": \"s\", \"type\": \"{kind}\", \
             \"message\": {{\"role\": \"{kind}\", \"content\": {content}}}, \"uuid\": \"{uuid}\"{more}}}\n"
        )
    };
    let call = "[{\"type\": \"tool_use\", \"id\": \"c1\", \"name\": \"Task\", \"input\": {\"prompt\": \"p\"}}]";
    let result = "[{\"type\": \"tool_result\", \"tool_use_id\": \"c1\", \"content\": \"ok\"}]";
    let started = ", \"toolUseResult\": {\"agentId\": \"k1\"}";
    let session = [
        record(false, "u1", "null", "user", "\"go\"", ""),
        record(false, "u2", "\"u1\"", "assistant", call, ""),
        record(false, "u3", "\"u2\"", "user", result, started),
    ];
    let agent = |text: &str| record(true, "a1", "null", "user", &format!("\"{text}\""), "");
    let bench = Bench::new().file("results/p/s.jsonl", session.concat()).open();
    let is_found = |word: &str| bench.hits(word).iter().any(|path| path.starts_with("p/s.jsonl"));
    bench.put("results/p/agent-k1.jsonl", agent("walrus"));
    wait_until("the session has its sub-agent", || is_found("walrus").then_some(()));
    bench.put("results/p/agent-k1.jsonl", agent("penguin"));
    wait_until("the session has the new words", || is_found("penguin").then_some(()));
    bench.remove("results/p/agent-k1.jsonl");
    wait_until("the session is alone again", || (!is_found("penguin")).then_some(()));
    bench.remove("results/p/s.jsonl");
    bench.put("results/p/agent-k1.jsonl", agent("heron"));
    let lone = || runs(&bench).into_iter().find(|row| row.path.starts_with("p/agent-k1.jsonl"));
    wait_until("a sub-agent without its session is a run", || {
        lone().filter(|row| row.superseded_by.is_none())
    });
    bench.put("results/p/s.jsonl", session.concat());
    wait_until("the session that came later has its sub-agent", || {
        lone().filter(|row| row.superseded_by.is_some() && is_found("heron"))
    });
}

#[test]
fn files_of_other_tools_are_never_written_to() {
    let bench = Bench::new().file("results/s/session.jsonl", SESSION).open();
    let id = runs(&bench)[0].id.clone();
    let why = bench.app().launches().fork_run(&id, &ForkRequest::new(0, None)).unwrap_err();
    assert!(why.message.contains("read-only"), "{}", why.message);
}

#[test]
fn rows_are_made_of_all_runs_of_a_file() {
    let whole: serde_json::Value = serde_json::from_str(PROMPTFOO).unwrap();
    let line = |number: usize| {
        let mut result = whole["results"]["results"][0].clone();
        (result["id"], result["testIdx"]) = (format!("r{number}").into(), number.into());
        format!("{result}\n")
    };
    let lines = |count: usize| (0..count).map(line).collect::<String>();
    let bench = Bench::new().file("results/many.jsonl", lines(100)).open();
    assert_eq!(runs(&bench).len(), 100);
    let made = bench.app().evaluations().make_rows("", false).unwrap();
    assert_eq!((made.rows, made.notes), (100, Vec::new()));
}

#[test]
fn names_of_other_tools_are_those_that_the_workspace_file_gives_them_also_when_it_changes() {
    let workspace = |imports: &str| format!("output_dir: results\n{imports}");
    let bench = Bench::new()
        .file("results/a/results.json", PROMPTFOO)
        .file("results/b/session.jsonl", SESSION)
        .file("touchstone.yaml", workspace("imports: { systems: { say: mine } }\n"))
        .open();
    let names = |bench: &Bench| {
        let rows = runs(bench).into_iter();
        let mut names: Vec<_> = rows.map(|row| (row.system, row.model)).collect();
        names.sort();
        names
    };
    let pair = |system: &str, model: &str| (Some(system.to_owned()), Some(model.to_owned()));
    assert_eq!(names(&bench), [pair("claude-code", "model-a"), pair("mine", "echo")]);

    let both = "imports:\n  systems: { say: one }\n  files: { b: { system: one, model: echo } }\n";
    bench.put("touchstone.yaml", workspace(both));
    let merged = [pair("one", "echo"), pair("one", "echo")];
    wait_until("the new names count", || (names(&bench) == merged).then_some(()));

    // While the folder is not open, the names are taken back.
    let bench = bench.close();
    bench.put("touchstone.yaml", workspace(""));
    let bench = bench.open();
    let own = [pair("claude-code", "model-a"), pair("say", "echo")];
    wait_until("the own names are back", || (names(&bench) == own).then_some(()));
}

#[test]
fn a_run_that_is_renamed_keeps_its_file_and_the_correction_can_be_taken_back() {
    let workspace = "# where\noutput_dir: results\n";
    let bench = Bench::new()
        .file("results/a/results.json", PROMPTFOO)
        .file("results/own.yaml", crate::bench::answered("42"))
        .file("touchstone.yaml", workspace)
        .open();
    let text = |path: &str| std::fs::read_to_string(bench.path(path)).unwrap();
    let row = || runs(&bench).into_iter().find(|row| row.format.is_some()).unwrap();
    let names = |system: &str| RunNames {
        task: Some("hello".to_owned()),
        system: Some(system.to_owned()),
        model: None,
    };
    bench.app().runs().rename_run(None, &row().id, &names("mine")).unwrap();
    assert_eq!(
        text("touchstone.yaml"),
        format!("{workspace}imports:\n  systems:\n    \"say\": \"mine\"\n")
    );
    wait_until("the new name counts", || (row().system.as_deref() == Some("mine")).then_some(()));
    let own = bench.app().runs().open_run(&row().id).unwrap().own_names.unwrap();
    assert_eq!(own.system.as_deref(), Some("say"));
    assert_eq!(text("results/a/results.json"), PROMPTFOO);

    bench.app().runs().rename_run(None, &row().id, &names("say")).unwrap();
    assert_eq!(text("touchstone.yaml"), workspace);
    wait_until("the own name is back", || (row().system.as_deref() == Some("say")).then_some(()));

    let own_run = runs(&bench).into_iter().find(|row| row.format.is_none()).unwrap();
    let why = bench.app().runs().rename_run(None, &own_run.id, &names("mine")).unwrap_err();
    assert!(why.message.contains("Only runs of other tools"), "{}", why.message);
    assert!(bench.app().runs().rename_run(Some("other"), &row().id, &names("mine")).is_err());
    bench.put("touchstone.yaml", "models: [\n");
    let why = bench.app().runs().rename_run(None, &row().id, &names("mine")).unwrap_err();
    assert!(why.message.starts_with("touchstone.yaml was not changed: line"), "{}", why.message);
}

/// Result of promptfoo for a prompt, with an id of its own, so that it counts beside others.
fn promptfoo(prompt: &str, id: &str) -> String {
    let mut whole: serde_json::Value = serde_json::from_str(PROMPTFOO).unwrap();
    let result = &mut whole["results"]["results"][0];
    (result["id"], result["prompt"]["label"]) = (id.into(), prompt.into());
    whole["evalId"] = id.into();
    whole.to_string()
}

#[test]
fn runs_of_merged_systems_are_repeats_of_each_other_and_get_their_own_numbers_back() {
    let merge = "imports: { systems: { first: one, second: one } }\n";
    let workspace = |imports: &str| format!("output_dir: results\n{imports}");
    let bench = Bench::new()
        .file("results/a.json", promptfoo("first", "r1"))
        .file("results/b.json", promptfoo("second", "r2"))
        .file("touchstone.yaml", workspace(""))
        .open();
    let rows = |bench: &Bench| {
        let rows = runs(bench).into_iter();
        let mut rows: Vec<_> = rows
            .map(|row| (row.path.clone(), row.system.unwrap_or_default(), row.repeat))
            .collect();
        rows.sort();
        rows.into_iter().map(|(_, system, repeat)| (system, repeat)).collect::<Vec<_>>()
    };
    let expected = |rows: [(&str, u32); 2]| rows.map(|(name, number)| (name.to_owned(), number));
    let own = expected([("first", 1), ("second", 1)]);
    assert_eq!(rows(&bench), own);

    bench.put("touchstone.yaml", workspace(merge));
    let merged = expected([("one", 1), ("one", 2)]);
    wait_until("the runs are repeats", || (rows(&bench) == merged).then_some(()));
    let bench = bench.reopen();
    assert_eq!(rows(&bench), merged);

    bench.remove("results/a.json");
    wait_until("the other run is the first", || {
        (rows(&bench) == [("one".to_owned(), 1)]).then_some(())
    });
    bench.put("results/a.json", promptfoo("first", "r1"));
    wait_until("both runs are there", || (rows(&bench) == merged).then_some(()));

    let bench = bench.close();
    bench.put("touchstone.yaml", workspace(""));
    let bench = bench.open();
    wait_until("the own numbers are back", || (rows(&bench) == own).then_some(()));
}

#[test]
fn a_correction_makes_a_workspace_file_where_there_is_none_and_the_folder_stays_as_it_was() {
    let bench = Bench::new().file("logs/a/results.json", PROMPTFOO).open_at("folder/logs");
    let row = |bench: &Bench| runs(bench).into_iter().next();
    let before = row(&bench).unwrap();
    let new = RunNames { task: before.task.clone(), system: Some("mine".to_owned()), model: None };
    bench.app().runs().rename_run(None, &before.id, &new).unwrap();
    let is_renamed = |bench: &Bench| {
        let now = row(bench)?;
        ((&now.id, now.system.as_deref()) == (&before.id, Some("mine"))).then_some(())
    };
    wait_until("the new name counts", || is_renamed(&bench));
    let text = std::fs::read_to_string(bench.path("logs/touchstone.yaml")).unwrap();
    assert_eq!(text, "imports:\n  systems:\n    \"say\": \"mine\"\n");
    let bench = bench.close().open_at("folder/logs");
    wait_until("the new name counts again", || is_renamed(&bench));
}

#[test]
fn a_report_that_comes_later_judges_the_runs_beside_and_below_it() {
    let trajectory = |id: &str| {
        format!(
            r#"{{"info": {{"exit_status": "Submitted"}}, "trajectory_format": "mini-swe-agent-1",
            "messages": [{{"role": "user", "content": "{id}"}}]}}"#
        )
    };
    let bench = Bench::new()
        .file("results/job/org__a-1/org__a-1.traj.json", trajectory("org__a-1"))
        .file("results/job/org__a-2/org__a-2.traj.json", trajectory("org__a-2"))
        .open();
    let passed = || {
        let rows = runs(&bench).into_iter().map(|row| (row.task.unwrap_or_default(), row.passed));
        let mut rows: Vec<_> = rows.collect();
        rows.sort();
        rows
    };
    let expected =
        |first, second| vec![("org__a-1".to_owned(), first), ("org__a-2".to_owned(), second)];
    assert_eq!(passed(), expected(None, None));
    let report = r#"{"total_instances": 2, "resolved_instances": 1, "resolved_ids": ["org__a-1"],
        "unresolved_ids": ["org__a-2"]}"#;
    bench.put("results/job/agent.report.json", report);
    wait_until("the runs are judged", || {
        (passed() == expected(Some(true), Some(false))).then_some(())
    });
    bench.remove("results/job/agent.report.json");
    wait_until("the runs are not judged any more", || {
        (passed() == expected(None, None)).then_some(())
    });
}

/// Creates a database as promptfoo does, with its results in rows.
fn promptfoo_database(path: &std::path::Path) -> rusqlite::Connection {
    let sql = rusqlite::Connection::open(path).unwrap();
    sql.execute_batch(
        "PRAGMA journal_mode = WAL;
         CREATE TABLE evals (id TEXT, created_at INTEGER, description TEXT, results TEXT);
         CREATE TABLE eval_results (id TEXT, eval_id TEXT, prompt_idx INT, test_idx INT,
           test_case TEXT, prompt TEXT, provider TEXT, response TEXT, success INT, score REAL,
           failure_reason INT);
         INSERT INTO evals VALUES ('e1', 1, 'Sums', '{}');",
    )
    .unwrap();
    sql
}

fn insert_result(sql: &rusqlite::Connection, test: i64) {
    let case = format!(r#"{{"vars": {{"q": "task {test}"}}}}"#);
    sql.execute(
        r#"INSERT INTO eval_results VALUES (?1, 'e1', 0, ?2, ?3, '{"raw": "q", "label": "plain"}',
           '{"id": "m"}', '{"output": "words of 7"}', 1, 1, 0)"#,
        (format!("r{test}"), test, case),
    )
    .unwrap();
}

#[test]
fn the_database_of_promptfoo_is_followed_while_promptfoo_writes_to_it() {
    let bench = Bench::new().file("results/other.txt", "").open();
    let folder = bench.path("results");
    let sql = promptfoo_database(&folder.join("promptfoo.db"));
    insert_result(&sql, 0);
    let paths = || runs(&bench).into_iter().map(|row| row.path).collect::<Vec<_>>();
    let path = |test: u32| format!("promptfoo.db#e1 test {test} prompt 0");
    wait_until("the first result is there", || (paths() == [path(0)]).then_some(()));
    let row = runs(&bench).remove(0);
    let place = (row.task.as_deref(), row.system.as_deref(), row.model.as_deref(), row.passed);
    assert_eq!(place, (Some("task 0"), Some("plain"), Some("m"), Some(true)));
    // Only the log changes; the database stays as it is.
    insert_result(&sql, 1);
    wait_until("the second result is there", || (paths().len() == 2).then_some(()));
    let view = bench.app().runs().open_run(&row.id).unwrap();
    assert_eq!((view.layout.as_str(), view.total_steps), ("promptfoo", 2));
    // The log goes with the last connection, and nothing else was left beside the database.
    drop(sql);
    wait_until("both results are there", || {
        let names = std::fs::read_dir(&folder).unwrap().map(|one| one.unwrap().file_name());
        let mut names: Vec<_> = names.collect();
        names.sort();
        (names == ["other.txt", "promptfoo.db"] && paths().len() == 2).then_some(())
    });
}
