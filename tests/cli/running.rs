//! Tests of `plan`, `run` and `nudge`: their events for programs, their exit status, and their
//! errors.
use super::evaluating::until;
use crate::conversation::{Conversation, Wire};
use crate::sandbox::{Ran, Sandbox};
use crate::scripted::{Latch, Reply, Scripted};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::process::{Command, Stdio};

const RUN: [&str; 5] = ["--system", "tool_calling", "--model", "local", "--json"];
const FIRST: &str = "results/count-tool_calling-local-variation0.yaml";

/// A folder with three variations of one task, and a model that answers after one turn without
/// tools.
fn folder(name: &str, server: &Scripted) -> Sandbox {
    let url = server.url("/v1");
    let workspace = format!(
        "input_dir: tasks\noutput_dir: results\nmodels:\n  local: {{ provider: openai, base_url: '{url}', model: any, price: {{ input: 1, output: 2 }} }}\n"
    );
    let task = "tool_calling_prompt: Count the {things}.\nvariations:\n  - things: stones\n  - things: trees\n  - things: stars\n";
    Sandbox::with(name, &[("touchstone.yaml", &workspace), ("tasks/count.yaml", task)])
}

fn answers() -> Scripted {
    let conversation = Conversation::new(Wire::Chat, 0);
    Scripted::start(move |seen| conversation.reply(seen))
}

fn command(sandbox: &Sandbox, what: &str, more: &[&str]) -> Ran {
    sandbox.run(&[&[what, "."], RUN.as_slice(), more].concat())
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

fn owed(ran: &Ran) -> Vec<String> {
    let plan = ran.json().remove(0);
    plan["owed"]
        .as_array()
        .unwrap()
        .iter()
        .map(|run| run["path"].as_str().unwrap().to_owned())
        .collect()
}

/// Returns the events of runs that ended.
fn ends(ran: &Ran) -> Vec<Value> {
    ran.json().into_iter().filter(|event| event["event"] == "ended").collect()
}

#[test]
fn plan_says_what_is_owed_with_the_documented_keys_and_sends_nothing() {
    let server = answers();
    let sandbox = folder("plan", &server);
    for ran in [command(&sandbox, "plan", &[]), command(&sandbox, "run", &["--plan"])] {
        assert_eq!(ran.status, 0, "{ran:?}");
        let plan = ran.json().remove(0);
        let all = [
            "owed",
            "owed_total",
            "skipped",
            "skipped_total",
            "estimate",
            "unbound",
            "blocked",
            "blocked_total",
            "user_models",
            "notes",
            "unpriced",
            "problems",
            "invalid",
            "scan",
        ];
        assert_eq!(keys(&plan), all);
        assert_eq!(keys(&plan["estimate"]), ["known", "calls", "tokens", "cost"]);
        let run = &plan["owed"][0];
        let shown = [
            "path",
            "run",
            "task",
            "system",
            "model",
            "variation",
            "repeat",
            "act",
            "why",
            "differs",
        ];
        assert_eq!(keys(run), shown);
        assert_eq!((&run["act"], &plan["owed_total"]), (&json!("start"), &json!(3)));
        assert_eq!(plan["estimate"]["cost"], Value::Null, "what no past run says is not 0");
    }
    let words = sandbox.run(&["plan", ".", "-s", "tool_calling", "-m", "local"]);
    assert!(
        words.out.contains("3 to run, 0 skipped") && words.out.contains("No estimate"),
        "{}",
        words.out
    );
    assert_eq!(server.seen().len(), 0);
    assert!(!sandbox.folder.join("results").exists(), "a plan writes nothing");
}

#[test]
fn plan_answers_without_a_key_and_only_run_refuses() {
    let workspace = "input_dir: tasks\noutput_dir: results\nmodels:\n  local: { provider: openai, model: any, api_key_env: TOUCHSTONE_NO_SUCH_KEY }\n";
    let task = "tool_calling_prompt: Count the {things}.\nvariations:\n  - things: stones\n  - things: trees\n";
    let sandbox =
        Sandbox::with("no-key", &[("touchstone.yaml", workspace), ("tasks/count.yaml", task)]);
    let words = sandbox.run(&["plan", ".", "-s", "tool_calling", "-m", "local"]);
    assert_eq!(words.status, 0, "{words:?}");
    let cause = "cannot start here: TOUCHSTONE_NO_SUCH_KEY is not set (2 runs)";
    assert!(
        words.out.starts_with("2 to run, 0 skipped\n") && words.out.contains(cause),
        "{}",
        words.out
    );
    let plan = command(&sandbox, "plan", &[]).json().remove(0);
    let blocked = (&plan["owed_total"], &plan["blocked"][0]["why"], &plan["blocked"][0]["runs"]);
    assert_eq!(blocked, (&json!(2), &json!("TOUCHSTONE_NO_SUCH_KEY is not set"), &json!(2)));
    let ran = command(&sandbox, "run", &[]);
    assert_eq!((ran.status, ran.out.as_str()), (2, ""), "{ran:?}");
    assert!(
        ran.err.contains("Cannot start here: TOUCHSTONE_NO_SUCH_KEY is not set (2 runs)."),
        "{}",
        ran.err
    );
    assert!(!sandbox.folder.join("results").exists());
}

#[test]
fn run_tells_one_event_a_line_and_ends_with_nothing_when_all_went_well() {
    let server = answers();
    let sandbox = folder("run", &server);
    let ran = command(&sandbox, "run", &["--concurrency", "2"]);
    assert_eq!((ran.status, ran.err.as_str()), (0, ""), "{ran:?}");
    let events = ran.json();
    assert_eq!(
        (&events[0]["event"], &events[0]["runs"], &events[0]["run"]),
        (&json!("began"), &json!(3), &Value::Null)
    );
    assert_eq!(events.last().unwrap()["event"], "finished");
    assert!(events.iter().all(|event| event["at_ms"].as_u64() > Some(0)));
    let first: Vec<&Value> = events
        .iter()
        .filter(|event| event["run"] == FIRST.trim_start_matches("results/"))
        .collect();
    let names: Vec<&str> = first.iter().map(|event| event["event"].as_str().unwrap()).collect();
    assert_eq!(names, ["started", "asking", "replied", "ended"]);
    let replied = [
        "at_ms",
        "run",
        "event",
        "turn",
        "input",
        "output",
        "cache_read",
        "cache_write",
        "reasoning",
        "cost",
        "ms",
        "journaled",
    ];
    assert_eq!(keys(first[2]), replied);
    assert_eq!((&first[3]["how"], &first[3]["why"]), (&json!("answered"), &Value::Null));
    let text = fs::read_to_string(sandbox.folder.join(FIRST)).unwrap();
    assert!(text.contains("Count the stones.") && text.contains("answer:"), "{text}");
    // Everything is complete already, which is a success.
    let again = command(&sandbox, "run", &[]);
    assert_eq!((again.status, again.out.as_str()), (0, ""), "{again:?}");
    assert!(again.err.contains("Nothing to run: of 3 runs, 0 are not complete."), "{}", again.err);
    assert_eq!(server.delivered(), 3);
}

#[test]
fn a_run_that_fails_ends_with_one_and_is_gone_on_with() {
    let conversation = Conversation::new(Wire::Chat, 0);
    let server = Scripted::start(move |seen| match seen.number {
        0 => Reply::json(&json!({ "error": { "message": "no such thing" } })).status(400),
        _ => conversation.reply(seen),
    });
    let sandbox = folder("run-fails", &server);
    let ran = command(&sandbox, "run", &["--concurrency", "1"]);
    assert_eq!(ran.status, 1, "{ran:?}");
    let hows: Vec<Value> = ends(&ran).iter().map(|event| event["how"].clone()).collect();
    assert_eq!(hows, ["error", "answered", "answered"]);
    assert!(ends(&ran)[0]["why"].as_str().unwrap().contains("no such thing"));
    let plan = command(&sandbox, "plan", &[]).json().remove(0);
    assert_eq!((&plan["owed"][0]["act"], &plan["skipped_total"]), (&json!("continue"), &json!(2)));
    let ran = command(&sandbox, "run", &[]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert_eq!(server.delivered(), 4);
    assert_eq!(
        ran.json().iter().find(|event| event["event"] == "started").unwrap()["resumed"],
        true
    );
}

#[test]
fn parts_of_a_launch_are_all_of_it_and_nothing_twice() {
    let server = answers();
    let sandbox = folder("shards", &server);
    let all = owed(&command(&sandbox, "plan", &["--repeat", "3"]));
    assert_eq!(all.len(), 9);
    let parts: Vec<String> = (1..=4)
        .flat_map(|part| {
            owed(&command(&sandbox, "plan", &["--repeat", "3", "--shard", &format!("{part}/4")]))
        })
        .collect();
    assert_eq!(parts.len(), all.len());
    assert_eq!(parts.iter().collect::<BTreeSet<_>>(), all.iter().collect());
    let only = owed(&command(&sandbox, "plan", &["--variation", "0,2", "--task", "cou*"]));
    assert_eq!(only.len(), 2, "{only:?}");
}

#[test]
fn a_script_for_a_scheduler_runs_all_of_a_launch_and_nothing_twice() {
    let server = answers();
    let sandbox = folder("submit", &server);
    fs::create_dir(sandbox.folder.join("results")).unwrap();
    let submit = |arguments: &[&str]| {
        let which = ["submit", ".", "--system", "tool_calling", "--model", "local", "--parts", "2"];
        sandbox.run(&[&which[..], arguments].concat())
    };
    let script = submit(&["--print", "slurm", "--task", "cou*", "--max-cost", "50"]);
    assert_eq!(script.status, 0, "{script:?}");
    assert!(script.out.contains("#SBATCH --array=1-2\n"), "{script:?}");
    let command = sandbox.command(&[]);
    let environment = command.get_envs();
    let environment: Vec<_> = environment
        .filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())))
        .collect();
    let run = |number: &str| {
        let mut shell = Command::new("sh");
        shell.envs(environment.clone());
        shell.args(["-c", &script.out]).env("SLURM_ARRAY_TASK_ID", number);
        Ran::from(shell.output().unwrap())
    };
    for number in ["1", "2", "1"] {
        let ran = run(number);
        assert_eq!(ran.status, 0, "{ran:?}");
    }
    assert_eq!(server.delivered(), 3);
    let job = submit(&["--print", "kubernetes", "--image", "touchstone:1", "--claim", "folder"]);
    let job: Value = serde_json::from_str(&job.out).unwrap();
    assert_eq!((&job["kind"], &job["spec"]["completions"]), (&json!("Job"), &json!(2)));
    let container = &job["spec"]["template"]["spec"]["containers"][0];
    let words: Vec<&str> = container["command"]
        .as_array()
        .unwrap()
        .iter()
        .map(|word| word.as_str().unwrap())
        .collect();
    assert_eq!(
        (words[..2].to_vec(), words.last()),
        (vec!["touchstone", "run"], Some(&"--shard=auto/2"))
    );
    assert_eq!(container["volumeMounts"][0]["mountPath"], json!(sandbox.folder));
    assert_eq!(submit(&["--print", "kubernetes"]).status, 2);
    assert_eq!(job["spec"]["backoffLimitPerIndex"], json!(0), "a part is not started again");
    let script = submit(&["--print", "parallel", "--repeat", "2", "--yes"]);
    for part in ["1", "2"] {
        let mut shell = Command::new("sh");
        shell.args(["-c", &script.out, "job.sh", part]).envs(environment.clone());
        let ran = Ran::from(shell.output().unwrap());
        assert_eq!(ran.status, 0, "{ran:?}");
    }
    assert_eq!(server.delivered(), 6);
}

#[test]
fn run_from_the_start_moves_the_old_result_aside() {
    let server = answers();
    let sandbox = folder("force", &server);
    let only = ["--variation", "0"];
    assert_eq!(command(&sandbox, "run", &only).status, 0);
    let old = fs::read_to_string(sandbox.folder.join(FIRST)).unwrap();
    assert_eq!(command(&sandbox, "run", &["--variation", "0", "--force"]).status, 0);
    let aside = sandbox.folder.join("results/.touchstone/replaced");
    let kept: Vec<String> = fs::read_dir(&aside)
        .unwrap()
        .map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap_or_default())
        .collect();
    assert!(kept.contains(&old), "{kept:?}");
    assert!(sandbox.folder.join(FIRST).exists());
    assert_eq!(server.delivered(), 2);
}

#[test]
fn runs_that_cannot_start_end_with_status_1_and_are_named() {
    let server = answers();
    let sandbox = folder("damaged", &server);
    fs::create_dir(sandbox.folder.join("results")).unwrap();
    fs::write(sandbox.folder.join(FIRST), "conversation: [").unwrap();
    let ran = command(&sandbox, "run", &["--variation", "0"]);
    assert_eq!(ran.status, 1, "{ran:?}");
    assert!(
        ran.err.contains("of 1 run, 1 is not complete")
            && ran.err.contains("count-tool_calling-local"),
        "{}",
        ran.err
    );
    assert_eq!(fs::read_to_string(sandbox.folder.join(FIRST)).unwrap(), "conversation: [");
}

#[test]
fn what_cannot_be_run_is_told_beside_what_is_run_and_ends_with_one() {
    let server = answers();
    let sandbox = folder("damaged-too", &server);
    fs::create_dir(sandbox.folder.join("results")).unwrap();
    fs::write(sandbox.folder.join(FIRST), "conversation: [").unwrap();
    let ran = command(&sandbox, "run", &[]);
    assert_eq!((ran.status, ends(&ran).len()), (1, 2), "{ran:?}");
    let told: Vec<Value> =
        ran.json().into_iter().filter(|event| event["event"] == "left_out").collect();
    assert_eq!(keys(&told[0]), ["at_ms", "run", "event", "act", "why"]);
    let name = FIRST.trim_start_matches("results/");
    assert_eq!(
        (told.len(), &told[0]["run"], &told[0]["act"]),
        (1, &json!(name), &json!("damaged"))
    );
    fs::remove_file(sandbox.folder.join(FIRST.replace("variation0", "variation1"))).unwrap();
    let words = sandbox.run(&["run", ".", "-s", "tool_calling", "-m", "local"]);
    assert_eq!(words.status, 1, "{words:?}");
    assert!(
        words.err.contains(&format!("damaged   {name}: The file cannot be read")),
        "{}",
        words.err
    );
    assert!(
        words.out.contains("1 run: 1 done") && words.out.contains("1 more could not be run."),
        "{}",
        words.out
    );
    let json = command(&sandbox, "run", &[]);
    assert_eq!((json.status, &json.json()[0]["event"]), (1, &json!("left_out")), "{json:?}");
}

#[test]
fn a_suite_that_cannot_be_read_is_told_wherever_its_runs_are_missing() {
    let server = answers();
    let sandbox = folder("broken-suite", &server);
    fs::write(sandbox.folder.join("tasks/churn.yaml"), "name: churn\nvariations: [\n").unwrap();
    let long_ago = std::time::SystemTime::now() - std::time::Duration::from_hours(1);
    let churn =
        fs::OpenOptions::new().append(true).open(sandbox.folder.join("tasks/churn.yaml")).unwrap();
    churn.set_modified(long_ago).unwrap();
    for what in ["index", "list"] {
        let ran = sandbox.run(&[what, "."]);
        assert!(ran.status == 0 && ran.err.starts_with("tasks/churn.yaml, line "), "{ran:?}");
    }
    let refused = |plan: &Value| plan["skipped"][0]["why"].as_str().unwrap_or_default().to_owned();
    for (task, owed) in [("", 3), ("*", 3), ("churn", 0)] {
        let only = if task.is_empty() { vec![] } else { vec!["--task", task] };
        let plan = command(&sandbox, "plan", &only).json().remove(0);
        assert_eq!(plan["owed_total"], owed, "{task}");
        let why = refused(&plan);
        assert!(
            why.starts_with("Its suite cannot be read. tasks/churn.yaml, line "),
            "{task}: {why}"
        );
    }
    let other = command(&sandbox, "plan", &["--task", "count"]).json().remove(0);
    assert_eq!((&other["owed_total"], &other["skipped_total"]), (&json!(3), &json!(0)));
    let ran = command(&sandbox, "run", &[]);
    assert_eq!((ran.status, ends(&ran).len()), (1, 3), "{ran:?}");
    let told: Vec<Value> =
        ran.json().into_iter().filter(|event| event["event"] == "left_out").collect();
    assert_eq!((told.len(), &told[0]["run"]), (1, &json!("churn")));
    let ran = command(&sandbox, "run", &["--task", "churn"]);
    assert!(ran.status == 1 && ran.err.contains("Its suite cannot be read."), "{ran:?}");
    assert_eq!(command(&sandbox, "run", &["--task", "count"]).status, 0);
}

#[test]
fn a_workspace_file_that_cannot_be_read_is_told() {
    let sandbox = folder("broken-workspace", &answers());
    fs::write(sandbox.folder.join("touchstone.yaml"), "models: [\n").unwrap();
    for what in ["index", "list"] {
        let ran = sandbox.run(&[what, "."]);
        assert!(ran.err.contains("touchstone.yaml"), "{what}: {ran:?}");
    }
}

#[test]
fn runs_of_another_process_are_not_failures() {
    let latch = Latch::default();
    let held = latch.clone();
    let conversation = Conversation::new(Wire::Chat, 0);
    let server = Scripted::start(move |seen| match seen.number {
        0 => conversation.reply(seen).once_open(&held),
        _ => conversation.reply(seen),
    });
    let sandbox = folder("elsewhere", &server);
    let first = [&["run", "."], RUN.as_slice(), &["--variation", "0"]].concat();
    let mut child = sandbox.command(&first).stdout(Stdio::null()).spawn().unwrap();
    server.wait_for(1);
    for (more, told) in [(&["--variation", "0"][..], 1), (&[], 1)] {
        let ran = command(&sandbox, "run", more);
        assert_eq!(ran.status, 0, "{ran:?}");
        let left: Vec<Value> =
            ran.json().into_iter().filter(|event| event["event"] == "left_out").collect();
        assert_eq!((left.len(), &left[0]["act"]), (told, &json!("elsewhere")), "{ran:?}");
    }
    latch.open();
    assert!(child.wait().unwrap().success());
}

#[test]
fn ctrl_c_ends_a_run_whose_tools_do_not_open() {
    let server = answers();
    let sandbox = folder("opening", &server);
    let workspace = fs::read_to_string(sandbox.folder.join("touchstone.yaml")).unwrap();
    // A tool server that never responds.
    let tool = "tools:\n  silent: { kind: mcp, command: ['sh', '-c', 'echo > started; exec sleep 600'] }\n";
    fs::write(sandbox.folder.join("touchstone.yaml"), workspace + tool).unwrap();
    let asked = [&["run", "."], RUN.as_slice()].concat();
    let child =
        sandbox.command(&asked).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    until("the tool is started", || sandbox.folder.join("started").exists());
    until("interrupts are listened to", || {
        crate::evaluating::is_caught(&child.id().to_string(), 2)
    });
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let ran = Ran::from(child.wait_with_output().unwrap());
    assert_eq!((ran.status, server.seen().len()), (1, 0), "{ran:?}");
    assert!(ran.err.contains("no run started"), "{}", ran.err);
}

#[test]
fn a_request_that_cannot_be_understood_ends_with_two_and_says_what_there_is() {
    let server = answers();
    let sandbox = folder("wrong", &server);
    let cases = [
        (["tool_calling", "nobody", "count"], ["no model named `nobody`", "local"]),
        (["magic", "local", "count"], ["no system named `magic`", "tool_calling_python"]),
        (["tool_calling", "local", "no*such"], ["No task matches `no*such`", "input directory"]),
    ];
    for ([system, model, task], words) in cases {
        for what in ["plan", "run"] {
            let ran =
                sandbox.run(&[what, ".", "--system", system, "--model", model, "--task", task]);
            assert_eq!((ran.status, ran.out.as_str()), (2, ""), "{ran:?}");
            assert!(words.iter().all(|word| ran.err.contains(word)), "{}", ran.err);
        }
    }
    for wrong in [&["--shard", "3/2"][..], &["--concurrency", "many"], &["--variation", "x"]] {
        assert_eq!(command(&sandbox, "run", wrong).status, 2, "{wrong:?}");
    }
    assert_eq!(server.seen().len(), 0);
}

#[test]
fn nudge_in_place_adds_the_message_and_goes_on_with_the_run() {
    let server = answers();
    let sandbox = folder("nudge", &server);
    assert_eq!(command(&sandbox, "run", &["--variation", "0"]).status, 0);
    let ran = sandbox.run(&["nudge", FIRST, "Count them again.", "--in-place", "--json"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert_eq!(ends(&ran)[0]["how"], "answered");
    let text = fs::read_to_string(sandbox.folder.join(FIRST)).unwrap();
    assert_eq!(text.matches("user_message").count(), 2, "{text}");
    assert!(text.contains("Count them again."), "{text}");
    let sent = server.seen().pop().unwrap().json();
    assert_eq!(
        sent["messages"].as_array().unwrap().last().unwrap()["content"],
        "Count them again."
    );
}

#[test]
fn nudge_leaves_a_finished_run_as_it_is_and_names_the_fork() {
    let server = answers();
    let sandbox = folder("nudge-fork", &server);
    assert_eq!(command(&sandbox, "run", &["--variation", "0"]).status, 0);
    let before = fs::read_to_string(sandbox.folder.join(FIRST)).unwrap();
    let ran = sandbox.run(&["nudge", FIRST, "Count them again."]);
    assert_eq!(ran.status, 0, "{ran:?}");
    let fork = FIRST.replace(".yaml", "-fork1.yaml");
    let name = fork.rsplit('/').next().unwrap();
    assert!(
        format!("{}{}", ran.out, ran.err).contains(&format!("Fork created: {name}")),
        "{ran:?}"
    );
    assert_eq!(fs::read_to_string(sandbox.folder.join(FIRST)).unwrap(), before);
    assert!(fs::read_to_string(sandbox.folder.join(&fork)).unwrap().contains("Count them again."));
    let shown = sandbox.run(&["show", &fork]).out;
    assert!(shown.contains("Fork of ") && shown.contains(" from step "), "{shown}");
    assert!(sandbox.run(&["show", FIRST]).out.contains(&format!("1 fork: {name}")));
    let list = |filter: &str| sandbox.run(&["list", ".", "--filter", filter, "--json"]).out;
    assert!(list("forked:yes").contains(r#""lineage":"fork""#), "{}", list("forked:yes"));
    assert!(list("forked:no").contains(r#""lineage":null"#));
    let stats = sandbox.run(&["stats", "."]).out;
    assert!(
        stats.starts_with("1 run of 1 task")
            && stats.contains("1 run that is a fork, was continued or is superseded is left out"),
        "{stats}"
    );
    let plan = command(&sandbox, "plan", &["--variation", "0", "--repeat", "2"]);
    assert!(plan.out.contains("variation0-run2.yaml"), "the fork is no repeat: {plan:?}");
}

#[test]
fn fork_continues_from_an_edited_step_or_only_makes_the_copy() {
    let server = answers();
    let sandbox = folder("fork", &server);
    let talk = "conversation:\n- user_message: How many?\n\
        - tool_call: {id: a, name: gone, params: {of: it}, result: 1, turn: 1}\n\
        - assistant_message: One.\nanswer: 1\n";
    fs::create_dir_all(sandbox.folder.join("results")).unwrap();
    fs::write(sandbox.folder.join(FIRST), talk).unwrap();
    fs::write(sandbox.folder.join("new.json"), "[3,\n 4]\n").unwrap();
    let fork = |more: &[&str]| sandbox.run(&[&["fork", FIRST], more].concat());
    let edited = ["--step", "2", "--part", "result", "--edit", "@new.json"];
    let ran = fork(&edited);
    assert_eq!(ran.status, 0, "{ran:?}");
    let name = |number: u32| FIRST.replace(".yaml", &format!("-fork{number}.yaml"));
    assert!(format!("{}{}", ran.out, ran.err).contains("Fork created: "), "{ran:?}");
    let messages = server.seen().pop().unwrap().json()["messages"].clone();
    assert_eq!(messages.as_array().unwrap().last().unwrap()["content"], "[3,4]");
    assert!(fs::read_to_string(sandbox.folder.join(name(1))).unwrap().contains("part: result"));
    assert_eq!(fs::read_to_string(sandbox.folder.join(FIRST)).unwrap(), talk);
    let ran = fork(&["--step", "1", "--edit", "@@all", "--copy", "--json"]);
    let path = name(2).rsplit('/').next().unwrap().to_owned();
    assert_eq!((ran.status, ran.out.trim()), (0, format!("{{\"path\":\"{path}\"}}").as_str()));
    assert!(fs::read_to_string(sandbox.folder.join(name(2))).unwrap().contains("'@all'"));
    assert_eq!(server.seen().len(), 1, "a copy alone asks nobody");
    for (wrong, word) in [
        (&["--step", "2", "--edit", "[]"][..], "--part arguments, result or error"),
        (&["--step", "2", "--edit", "[]", "--part", "message"], "`arguments`, the `result`"),
        (&["--step", "3", "--edit", "Two."], "nothing to answer"),
        (&["--step", "1", "--edit", "@nothing.txt"], "nothing.txt cannot be read"),
        (&["--step", "1", "--model", "nobody"], "no model named `nobody`"),
        (&["--step", "0"], "0 is not in"),
    ] {
        let ran = fork(wrong);
        assert_eq!(ran.status, 2, "{ran:?}");
        assert!(ran.err.contains(word), "{}", ran.err);
    }
    assert!(!sandbox.folder.join(name(3)).exists());
}

#[test]
fn a_nudge_of_nothing_or_to_nothing_ends_with_two() {
    let server = answers();
    let sandbox = folder("nudge-wrong", &server);
    assert_eq!(command(&sandbox, "run", &["--variation", "0"]).status, 0);
    let before = fs::read(sandbox.folder.join(FIRST)).unwrap();
    for (file, message, word) in [
        (FIRST, "  ", "message is empty"),
        ("results/nothing.yaml", "Go on.", "nothing.yaml"),
        ("tasks/count.yaml", "Go on.", "not in the output directory"),
    ] {
        let ran = sandbox.run(&["nudge", file, message]);
        assert_eq!(ran.status, 2, "{ran:?}");
        assert!(ran.err.contains(word), "{}", ran.err);
    }
    assert_eq!(fs::read(sandbox.folder.join(FIRST)).unwrap(), before);
    assert_eq!(server.seen().len(), 1);
}

#[test]
fn a_run_searches_by_the_method_it_is_told_and_is_not_gone_on_with_by_another() {
    let server = Scripted::start(|_| {
        let give_up =
            json!({ "name": "Finish", "arguments": "{\"return_type\": \"give_up_and_restart\"}" });
        let message = json!({ "role": "assistant", "content": null, "tool_calls": [{ "id": "c", "type": "function", "function": give_up }] });
        Reply::json(
            &json!({ "choices": [{ "index": 0, "message": message, "finish_reason": "tool_calls" }] }),
        )
    });
    let sandbox = folder("method", &server);
    let one = ["--variation", "0", "--method", "CoT@3"];
    let ran = command(&sandbox, "run", &one);
    assert_eq!((ran.status, server.seen().len()), (0, 3), "{ran:?}");
    assert_eq!(ends(&ran)[0]["how"], "no_answer");
    let file = fs::read_to_string(sandbox.folder.join(FIRST)).unwrap();
    assert!(file.contains("method: CoT@3") && file.contains("pruned: true"), "{file}");
    // The file is left unfinished, like after an interruption.
    let cut: Vec<&str> = file.lines().filter(|line| !line.starts_with("  finished:")).collect();
    fs::write(sandbox.folder.join(FIRST), cut.join("\n") + "\n").unwrap();
    let other = command(&sandbox, "plan", &["--variation", "0", "--method", "DFS_woFilter_w2"])
        .json()
        .remove(0);
    let refused = &other["skipped"][0];
    assert_eq!((&other["owed_total"], &refused["act"]), (&json!(0), &json!("refused")));
    assert!(refused["differs"].as_str().unwrap().contains("CoT@3"), "{refused}");
    assert_eq!(command(&sandbox, "run", &one).status, 0);
    assert_eq!(server.seen().len(), 3, "what was tried is in the file");
    for wrong in [&["--method", "BFS"][..], &["--offer", "best"], &["--steps", "0"]] {
        let ran = command(&sandbox, "run", wrong);
        assert_eq!(ran.status, 2, "{wrong:?} {ran:?}");
    }
}

#[test]
fn nothing_is_begun_with_a_key_of_the_workspace_file_that_means_nothing_and_every_front_door_says_which()
 {
    let server = answers();
    let sandbox = folder("misspelt", &server);
    let path = sandbox.folder.join("touchstone.yaml");
    let right = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("{right}run: {{ max_costs: 0.001, concurency: 1 }}\n")).unwrap();
    let line = right.lines().count() + 1;
    let first = format!(
        "touchstone.yaml, line {line}: `max_costs` is not a key of `run`. Did you mean `max_cost`?"
    );
    let second = format!(
        "touchstone.yaml, line {line}: `concurency` is not a key of `run`. Did you mean `concurrency`?"
    );
    for what in ["plan", "run"] {
        let ran = command(&sandbox, what, &[]);
        assert_eq!(ran.status, 2, "{what}: {}", ran.err);
        assert!(ran.err.contains(&first) && ran.err.contains(&second), "{what}: {}", ran.err);
        assert_eq!(ran.err.matches(&first).count(), 1, "{what}: {}", ran.err);
    }
    let plan = command(&sandbox, "plan", &[]).json().remove(0);
    assert_eq!(
        (plan["owed_total"].as_u64(), plan["problems"].as_array().unwrap().len()),
        (Some(3), 2),
        "{plan}"
    );
    assert_eq!(
        plan["invalid"]["message"].as_str(),
        Some(&*format!("{first} It has 1 more error."))
    );
    let doctor = sandbox.run(&["doctor", ".", "--json"]);
    assert!(
        doctor.out.contains("`max_costs` is not a key of `run`.") && doctor.status == 1,
        "{}",
        doctor.out
    );
    assert_eq!((server.seen().len(), sandbox.folder.join(FIRST).exists()), (0, false));
    fs::write(&path, format!("{right}run: {{ max_cost: 5, concurrency: 1 }}\n")).unwrap();
    let ran = command(&sandbox, "run", &[]);
    assert_eq!((ran.status, ends(&ran).len()), (0, 3), "{}", ran.err);
}

#[test]
fn plan_and_run_tell_what_is_wrong_with_the_suites_and_begin_nothing_with_a_scorer_that_does_not_exist()
 {
    let server = answers();
    let sandbox = folder("suites_told", &server);
    let path = sandbox.folder.join("tasks/count.yaml");
    let right = fs::read_to_string(&path).unwrap();
    let doubtful =
        right.replace("{things}.", "{things} of {other}.") + "expected_tool_call: [query]\n";
    fs::write(&path, &doubtful).unwrap();
    let ran = command(&sandbox, "plan", &[]);
    let plan = ran.json().remove(0);
    let told: Vec<&str> = plan["problems"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["message"].as_str().unwrap())
        .collect();
    assert_eq!((ran.status, told.len(), &plan["invalid"]), (0, 2, &Value::Null), "{plan}");
    assert!(ran.err.contains("`{other}`") || ran.err.contains("{other}"), "{}", ran.err);
    assert!(ran.err.contains("tasks/count.yaml, line 6: `expected_tool_call` is not a key of a suite. Did you mean `expected_tool_calls`?"), "{}", ran.err);
    fs::write(&path, doubtful + "scorers: [exakt]\n").unwrap();
    for what in ["plan", "run"] {
        let ran = command(&sandbox, what, &[]);
        assert_eq!(ran.status, 2, "{what}: {}", ran.err);
        assert!(
            ran.err.contains("tasks/count.yaml, line 7: `exakt` is not a scorer"),
            "{what}: {}",
            ran.err
        );
    }
    assert_eq!(server.seen().len(), 0);
    // A task with valid scorers can still be run.
    fs::write(sandbox.folder.join("tasks/other.yaml"), "tool_calling_prompt: Count.\n").unwrap();
    assert_eq!(command(&sandbox, "run", &["--task", "other"]).status, 0);
    assert_eq!(
        sandbox.run(&["score", "."]).status,
        2,
        "another scorer would be taken for the one that was meant"
    );
}

#[test]
fn an_output_directory_that_is_named_is_made_with_its_first_run_and_never_again_once_it_is_lost() {
    let server = answers();
    let sandbox = folder("named-output", &server);
    let out = sandbox.folder.join("named");
    let there = ["--output-dir", out.to_str().unwrap()];
    let plan = command(&sandbox, "plan", &there);
    assert_eq!((plan.status, out.exists()), (0, false), "{plan:?}");
    let ran = command(&sandbox, "run", &there);
    assert_eq!((ran.status, ends(&ran).len()), (0, 3), "{ran:?}");
    assert_eq!(sandbox.run(&[&["list", "."], there.as_slice()].concat()).status, 0);
    fs::rename(&out, sandbox.folder.join("away")).unwrap();
    for what in ["plan", "run"] {
        let ran = command(&sandbox, what, &there);
        assert_eq!((ran.status, out.exists()), (2, false), "{what}: {ran:?}");
        assert!(ran.err.contains("Folder not found: "), "{what}: {}", ran.err);
    }
    assert_eq!(server.seen().len(), 3);
}
