//! Tests of `evaluate`: evaluators over the rows of a data file.
use crate::sandbox::{Ran, Sandbox};
use crate::scripted::{Reply, Scripted};
use serde_json::{Value, json};
use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

const ROWS: &str = include_str!("../fixtures/evaluate/rows.jsonl");
const DIFFERENCES: &str = include_str!("../../docs/reference/evaluators.md");
const MAPPED: [&str; 4] = [
    "--column-mapping",
    "response=${data.answer}",
    "--column-mapping",
    "ground_truth=${data.truth}",
];

fn folder(name: &str, workspace: &str) -> Sandbox {
    Sandbox::with(name, &[("touchstone.yaml", workspace), ("rows.jsonl", ROWS)])
}

fn evaluate(sandbox: &Sandbox, more: &[&str]) -> Ran {
    sandbox.run(&[&["evaluate", "--data", "rows.jsonl"], MAPPED.as_slice(), more].concat())
}

#[test]
fn texts_are_measured_and_written_in_the_shape_of_the_package() {
    let sandbox = folder("evaluate", "");
    let ran = evaluate(&sandbox, &["--evaluators", "f1_score,rouge_score", "--out", "out.json"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    let text = fs::read_to_string(sandbox.folder.join("out.json")).unwrap();
    let written: Value = serde_json::from_str(&text).unwrap();
    let expected = include_str!("../fixtures/evaluate/results.json");
    assert_eq!(text, expected.trim_end(), "tests/fixtures/evaluate/results.json is something else");
    assert_eq!(written["rows"][1]["outputs.f1_score.f1_score"], 1.0);
    assert_eq!(written["rows"][3]["outputs.f1_score.f1_result"], "fail");
    assert!(
        ran.out.contains("f1_score.f1_score") && ran.out.contains("written: out.json"),
        "{}",
        ran.out
    );
    // Nothing was paid for, so nothing is stored beside the file.
    assert!(!sandbox.folder.join(".touchstone").exists());
    let again = evaluate(&sandbox, &["--evaluators", "f1_score", "--out", "out.json"]);
    assert_eq!(again.status, 2);
    assert!(again.err.contains("out.json already exists."), "{}", again.err);
    let printed = evaluate(&sandbox, &["--evaluators", "f1_score,rouge_score", "--json"]);
    assert_eq!(printed.out.trim_end(), text);
    let package =
        evaluate(&sandbox, &["--evaluators", "f1_score", "--json", "--like-package", "all"]);
    let package = package.json().remove(0);
    assert_eq!(
        package.as_object().unwrap().keys().collect::<Vec<_>>(),
        ["rows", "metrics", "studio_url"]
    );
}

#[test]
fn evaluators_of_a_file_have_thresholds_and_mappings_of_their_own() {
    let sandbox = folder("evaluate-config", "");
    let config = "strict:\n  kind: f1_score\n  threshold: 0.9\n  column_mapping: { response: '${data.answer}', ground_truth: '${data.truth}' }\n";
    fs::write(sandbox.folder.join("evaluators.yaml"), config).unwrap();
    let asked = ["evaluate", "--data", "rows.jsonl", "--config", "evaluators.yaml", "--json"];
    let ran = sandbox.run(&asked);
    assert_eq!(ran.status, 0, "{ran:?}");
    let rows = ran.json().remove(0);
    let results: Vec<&Value> = rows["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| &row["outputs.strict.f1_result"])
        .collect();
    assert_eq!(results, ["fail", "pass", "fail", "fail"]);
    let below = |least: &str| sandbox.run(&[asked.as_slice(), &["--fail-under", least]].concat());
    let missed = below("80%");
    assert_eq!(missed.status, 1);
    assert!(missed.err.contains("strict.binary_aggregate is 0.2500, below 0.8."), "{}", missed.err);
    assert_eq!(
        (below("20%").status, below("strict.f1_score=0.1").status, below("strict.such=1").status),
        (0, 0, 1)
    );
    assert_eq!(below("no.such=1").status, 2);
}

#[test]
fn what_cannot_be_understood_is_a_sentence_and_ends_with_two() {
    let sandbox = folder("evaluate-wrong", "input_dir: tasks\nmodels: {}\n");
    fs::write(sandbox.folder.join("broken.jsonl"), "{\"a\": 1}\n{\n").unwrap();
    let cosine = "like: { kind: text_similarity, options: { evaluation_metric: cosine } }\n";
    fs::write(sandbox.folder.join("cosine.yaml"), cosine).unwrap();
    for (arguments, words) in [
        (
            &["--data", "no/such.jsonl", "--evaluators", "f1_score"][..],
            "no/such.jsonl cannot be read",
        ),
        (
            &["--data", "broken.jsonl", "--evaluators", "f1_score"],
            "broken.jsonl cannot be read completely. Line 2",
        ),
        (&["--data", "rows.jsonl"], "No evaluator was named."),
        (&["--data", "rows.jsonl", "--evaluators", "f1_skore"], "Did you mean `f1_score`?"),
        (
            &["--data", "rows.jsonl", "--evaluators", "f1_score", "--column-mapping", "x"],
            "is not a mapping",
        ),
        (
            &[
                "--data",
                "rows.jsonl",
                "--evaluators",
                "f1_score",
                "--column-mapping",
                "response=answer",
            ],
            "Unexpected",
        ),
        (
            &[
                "--data",
                "rows.jsonl",
                "--evaluators",
                "f1_score",
                "--like-package",
                "roles_from_text",
            ],
            "cannot be switched on",
        ),
        (
            &["--data", "rows.jsonl", "--evaluators", "f1_score", "--out", "no/such/out.json"],
            "does not exist",
        ),
        (
            &["--data", "rows.jsonl", "--evaluators", "f1_score", "--target", "a 'b"],
            "is not a valid command",
        ),
        (&["--data", "rows.jsonl", "--evaluators", "relevance"], "--judge-model MODEL"),
        (
            &["--data", "rows.jsonl", "--evaluators", "relevance", "--folder", "."],
            "touchstone.yaml: --judge-model MODEL",
        ),
        (&["--data", "rows.jsonl", "--evaluators", "f1_score", "--folder", "no/such"], "no/such"),
        (
            &["--data", "rows.jsonl", "--evaluators", "relevance", "--judge-model", "x"],
            "There is no model named `x`.",
        ),
        // The embedding model is looked up here, too.
        (&["--data", "rows.jsonl", "--config", "cosine.yaml"], "touchstone.yaml has none"),
        (
            &[
                "--data",
                "rows.jsonl",
                "--evaluators",
                "f1_score",
                "--target",
                "/no/such x",
                "--out",
                "out.json",
            ],
            "The target `/no/such` cannot be started: there is no such file.",
        ),
        (
            &[
                "--data",
                "rows.jsonl",
                "--evaluators",
                "f1_score",
                "--fail-under",
                "nope.x=1",
                "--out",
                "out.json",
            ],
            "--fail-under nope.x: no selected evaluator gives this number.",
        ),
        (
            &[
                "--data",
                "rows.jsonl",
                "--evaluators",
                "f1_score",
                "--column-mapping",
                "respons=${data.answer}",
            ],
            "Did you mean `response`?",
        ),
        (
            &[
                "--data",
                "rows.jsonl",
                "--evaluators",
                "string_check",
                "--column-mapping",
                "string_check.reference=${data.truth}",
            ],
            "It takes `response`, `ground_truth`.",
        ),
        (&["--data", "rows.jsonl", "--config", "no.yaml"], "no.yaml cannot be read"),
    ] {
        let ran = sandbox.run(&[&["evaluate"], arguments].concat());
        assert_eq!((ran.status, ran.out.as_str()), (2, ""), "{arguments:?} {ran:?}");
        assert!(ran.err.contains(words) && !ran.err.contains("panicked"), "{words}: {}", ran.err);
    }
    assert!(!sandbox.folder.join("out.json").exists(), "nothing was begun, so nothing is written");
}

#[test]
fn a_target_is_quoted_as_in_a_shell_and_the_first_troubles_are_told_in_order_with_how_many_more() {
    let sandbox = folder("evaluate-quoted", "");
    let rows: Vec<String> = (0..60).map(|at| format!("{{\"n\": {at}}}")).collect();
    fs::write(sandbox.folder.join("many.jsonl"), rows.join("\n")).unwrap();
    let target = r#"sh -c "cat >/dev/null; echo '{\"response\": [1], \"ground_truth\": \"x\"}'""#;
    let ran = sandbox.run(&[
        "evaluate",
        "--data",
        "many.jsonl",
        "--evaluators",
        "f1_score",
        "--target",
        target,
    ]);
    assert_eq!(ran.status, 1, "{ran:?}");
    let told: Vec<&str> = ran.out.lines().filter(|line| line.starts_with("row ")).collect();
    assert_eq!((told.len(), told[0]), (50, "row 1, f1_score: `response` is not text."));
    assert!(
        told[49].starts_with("row 50, ") && ran.out.contains("and 10 more without a result\n"),
        "{}",
        ran.out
    );
}

#[test]
fn csv_with_semicolons_is_read_as_it_is_meant_and_what_a_row_lacks_is_said_in_our_words() {
    let sandbox = folder("evaluate-semicolons", "");
    fs::write(sandbox.folder.join("rows.csv"), "response;ground_truth\nAt seven;At seven\n")
        .unwrap();
    fs::write(sandbox.folder.join("bare.csv"), "response\nAt seven\n").unwrap();
    let run = |more: &[&str]| {
        sandbox.run(&[&["evaluate", "--evaluators", "f1_score", "--data"], more].concat())
    };
    let ran = run(&["rows.csv"]);
    assert!(ran.status == 0 && ran.out.contains("1 of 1 result, 0 without one"), "{ran:?}");
    let lacking = run(&["bare.csv"]);
    let ours = "row 1, f1_score: The row has no `ground_truth`, and no `conversation` instead.";
    assert!(lacking.status == 1 && lacking.out.contains(ours), "{lacking:?}");
    let theirs = run(&["bare.csv", "--like-package", "vague_errors"]);
    assert!(theirs.out.contains("F1ScoreEvaluator: Either 'conversation'"), "{theirs:?}");
    let plan = run(&["bare.csv", "--plan"]);
    assert_eq!(plan.out, "1 row\nno API calls\nf1_score: 1 of 1 rows has no ground_truth.\n");
}

/// Reply of a judge with this text.
fn says(text: &str) -> Reply {
    Reply::json(&json!({
        "id": "c", "object": "chat.completion", "model": "any-1",
        "choices": [{ "index": 0, "finish_reason": "stop", "message": { "role": "assistant", "content": text } }],
        "usage": { "prompt_tokens": 100, "completion_tokens": 10 },
    }))
}

/// A folder with a judge model and an embedding model.
fn paid_folder(name: &str, server: &Scripted) -> Sandbox {
    let url = server.url("/v1");
    let workspace = format!(
        "input_dir: tasks\noutput_dir: results\nmodels:\
         \n  local: {{ provider: openai, base_url: '{url}', model: any, price: {{ input: 1, \
         output: 2 }} }}\n  embed: {{ base_url: '{url}', model: small, embeddings: true, price: {{ \
         input: 1000.0, output: 0.0 }} }}\n"
    );
    folder(name, &workspace)
}

const JUDGED: [&str; 6] = [
    "--evaluators",
    "relevance",
    "--judge-model",
    "local",
    "--column-mapping",
    "query=${data.question}",
];

#[test]
fn a_judge_is_asked_once_for_each_row_and_needs_a_file_to_keep_what_it_says() {
    let server = Scripted::always(says(r#"{"explanation": "So it is.", "score": 4}"#));
    let sandbox = paid_folder("evaluate-judge", &server);
    let judge = |more: &[&str]| evaluate(&sandbox, &[JUDGED.as_slice(), more].concat());
    let nowhere = judge(&[]);
    assert!(nowhere.status == 2 && nowhere.err.contains("--out"), "{nowhere:?}");
    let plan = judge(&["--out", "out.json", "--plan"]);
    assert!(plan.status == 0 && plan.out.contains("4 to 8 requests"), "{plan:?}");
    let plan = judge(&["--out", "out.json", "--plan", "--json"]).json().remove(0);
    assert_eq!((&plan["rows"], &plan["kept"], server.seen().len()), (&json!(4), &json!(0), 0));
    for bought in [4, 4] {
        let ran = judge(&["--out", "out.json", "--replace"]);
        assert_eq!((ran.status, server.seen().len()), (0, bought), "{ran:?}");
        assert!(
            ran.out.contains("relevance.relevance") && ran.out.contains("4.0000"),
            "{}",
            ran.out
        );
    }
    assert!(sandbox.folder.join(".touchstone/evaluations/out.jsonl").exists());
    // An unused mapping is an error for a new evaluation; for an existing one it is ignored, with a
    // note.
    let stray = |out: &str| {
        judge(&["--out", out, "--replace", "--column-mapping", "respons=${data.answer}"])
    };
    let (ran, anew) = (stray("out.json"), stray("other.json"));
    assert_eq!((ran.status, anew.status, server.seen().len()), (0, 2, 4), "{ran:?} {anew:?}");
    assert!(
        ran.out.contains("`respons` is mapped") && ran.out.contains("It is ignored"),
        "{}",
        ran.out
    );
    assert!(
        anew.err.contains("`respons` is mapped") && !anew.err.contains("passed over"),
        "{}",
        anew.err
    );
}

#[test]
fn replies_that_cannot_be_read_end_with_one_and_can_be_asked_for_once_more_alone() {
    let server = Scripted::start(|seen| {
        let is_odd = String::from_utf8_lossy(&seen.body).contains("Two metres") && seen.number < 14;
        says(if is_odd {
            "I would rather not say."
        } else {
            r#"{"explanation": "So it is.", "score": 4}"#
        })
    });
    let sandbox = paid_folder("evaluate-unread", &server);
    let judge = |more: &[&str]| {
        let usual = ["--out", "out.json", "--replace", "--rounds", "2"];
        evaluate(&sandbox, &[JUDGED.as_slice(), &usual, more].concat())
    };
    let ran = judge(&[]);
    let bought = server.seen().len();
    assert_eq!(ran.status, 1, "{ran:?}");
    assert!(
        ran.out.contains("2 replies could not be read")
            && ran.out.contains("--again=unread --replace"),
        "{}",
        ran.out
    );
    let plan = judge(&["--plan"]);
    assert!(plan.out.contains("no new requests; 10 replies are reused\n2"), "{}", plan.out);
    assert!(plan.out.contains("2 rounds could not be read; --again=unread"), "{}", plan.out);
    assert!(judge(&["--plan", "--again=unread"]).out.contains("2 to 4 requests"));
    // The first reply is unreadable again, a later one is not.
    assert_eq!((judge(&["--again=unread"]).status, server.seen().len()), (1, bought + 4));
    let ran = judge(&["--again=unread"]);
    assert_eq!((ran.status, server.seen().len()), (0, bought + 6), "{ran:?}");
    assert_eq!((judge(&[]).status, server.seen().len()), (0, bought + 6));
    assert_eq!((judge(&["--again"]).status, server.seen().len()), (0, bought + 6 + 8));
    assert_eq!(judge(&["--again=some"]).status, 2);
}

#[test]
fn where_a_judge_is_asked_once_the_summary_speaks_of_no_second_time() {
    let server = Scripted::always(says("I would rather not say."));
    let sandbox = paid_folder("evaluate-once", &server);
    for (switch, asked, also) in [("asked_once", 4, false), ("all", 8, false), ("", 16, true)] {
        let like = if switch.is_empty() { vec![] } else { vec!["--like-package", switch] };
        let out = format!("out-{switch}.json");
        let ran = evaluate(&sandbox, &[&JUDGED, &["--out", &out][..], &like].concat());
        assert_eq!((ran.status, server.seen().len()), (1, asked), "{ran:?}");
        let wanted = if also {
            "could not be read, also when asked again."
        } else {
            "could not be read. Run again"
        };
        assert!(ran.out.contains(wanted), "{switch}: {}", ran.out);
    }
}

#[test]
fn what_embeddings_cost_is_told() {
    let data = json!([{ "embedding": [1.0, 0.5] }, { "embedding": [1.0, 0.25] }]);
    let server =
        Scripted::always(Reply::json(&json!({ "data": data, "usage": { "prompt_tokens": 10 } })));
    let sandbox = paid_folder("evaluate-embed", &server);
    fs::write(
        sandbox.folder.join("one.yaml"),
        "alike: { kind: text_similarity, options: { evaluation_metric: cosine } }\n",
    )
    .unwrap();
    let cosine = |more: &[&str]| {
        evaluate(
            &sandbox,
            &[&["--config", "one.yaml", "--folder", ".", "--out", "out.json"], more].concat(),
        )
    };
    let ran = cosine(&[]);
    // The last row has no answer, and an empty text has no embedding.
    assert_eq!(ran.status, 1, "{ran:?}");
    assert!(ran.out.contains("3 replies bought, 30 tokens, $0.0300"), "{}", ran.out);
    let texts = evaluate(&sandbox, &["--evaluators", "f1_score"]);
    assert!(!texts.out.contains("bought"), "{}", texts.out);
}

#[test]
fn a_plan_with_a_target_says_what_each_row_takes_and_that_the_rest_is_not_known() {
    let server = Scripted::always(says(r#"{"explanation": "So it is.", "score": 4}"#));
    let sandbox = paid_folder("evaluate-target", &server);
    let rows = "{\"question\": \"When?\"}\n{\"question\": \"Where?\"}\n";
    fs::write(sandbox.folder.join("bare.jsonl"), rows).unwrap();
    let run = |more: &[&str]| {
        let asked = [
            "evaluate",
            "--data",
            "bare.jsonl",
            "--target",
            "sh -c 'cat >/dev/null; echo {\\\"response\\\": \\\"Seven.\\\"}'",
        ];
        let usual = ["--out", "out.json", "--replace", "--rounds", "3"];
        sandbox.run(&[asked.as_slice(), &JUDGED, &usual, more].concat())
    };
    let plan = run(&["--plan"]);
    assert_eq!((plan.status, server.seen().len()), (0, 0), "{plan:?}");
    for words in [
        "2 rows\nthe target runs 2 times first, once for each row without an answer: sh -c 'cat",
        "}'\nrelevance: 1 to 2 requests for each row, in each of 3 rounds.",
        "6 to 12 requests, tokens are not known before the target answers",
    ] {
        assert!(plan.out.contains(words), "{words}: {}", plan.out);
    }
    assert!(!plan.out.contains("no API calls") && !plan.out.contains('$'), "{}", plan.out);
    let plan = run(&["--plan", "--json"]).json().remove(0);
    assert_eq!(
        (&plan["target"], &plan["tokens_most"], &plan["cost_most"]),
        (&json!(2), &Value::Null, &Value::Null)
    );
    let ran = run(&[]);
    assert_eq!((ran.status, server.seen().len()), (0, 6), "{ran:?}");
    assert!(!ran.out.contains("are reused"), "{}", ran.out);
}

#[test]
fn every_difference_on_purpose_is_listed_and_stands_in_the_table() {
    let sandbox = folder("evaluate-list", "");
    let words = sandbox.run(&["evaluate", "--list"]);
    assert_eq!(words.status, 0, "{words:?}");
    assert!(words.out.contains("local judge, not the hosted service"), "{}", words.out);
    let list = sandbox.run(&["evaluate", "--list", "--json"]).json().remove(0);
    assert!(list["evaluators"].as_array().is_some_and(|all| all.len() > 25));
    let mut lines: Vec<String> = Vec::new();
    for part in ["switches", "never"] {
        for switch in list[part].as_array().unwrap() {
            let text = |key: &str| switch[key].as_str().unwrap().to_owned();
            assert!(words.out.contains(&text("name")), "{switch}");
            lines.push(format!("| `{}` | {} | {} |", text("name"), text("theirs"), text("ours")));
        }
    }
    let table: Vec<&str> = DIFFERENCES.lines().filter(|line| line.starts_with("| `")).collect();
    assert_eq!(
        table,
        lines,
        "docs/reference/evaluators.md tells of other differences. It should say:\n{}",
        lines.join("\n")
    );
}

#[test]
fn what_the_package_writes_is_written_to_the_byte_when_it_is_asked_for() {
    let golden = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/golden/azure");
    let (Ok(rows), Ok(expected)) = (
        fs::read_to_string(golden.join("evaluate_in.jsonl")),
        fs::read_to_string(golden.join("evaluate_out.json")),
    ) else {
        return println!("cases: 0");
    };
    let config = "f1: { kind: f1_score }\nbleu: { kind: bleu_score }\nrouge: { kind: rouge_score, options: { rouge_type: rougeL } }\n";
    let sandbox =
        Sandbox::with("evaluate-golden", &[("rows.jsonl", &rows), ("three.yaml", config)]);
    let like = [
        "evaluate",
        "--data",
        "rows.jsonl",
        "--config",
        "three.yaml",
        "--like-package",
        "all",
        "--out",
        "out.json",
    ];
    let ran = sandbox.run(&like);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert_eq!(fs::read_to_string(sandbox.folder.join("out.json")).unwrap(), expected);
    println!("cases: {}", rows.lines().count());
}

#[test]
fn a_target_does_not_outlive_whoever_asks_it() {
    let sandbox = folder("evaluate-killed", "");
    let target = "sh -c 'sleep 600 & echo $$ $! >> begun; wait'";
    let asked = [
        &["evaluate", "--data", "rows.jsonl", "--evaluators", "f1_score", "--target", target],
        MAPPED.as_slice(),
    ];
    let mut command = sandbox.command(&asked.concat());
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let begun = || fs::read_to_string(sandbox.folder.join("begun")).unwrap_or_default();
    let rows = ROWS.lines().count();
    until("all targets have begun", || begun().lines().count() == rows);
    child.kill().unwrap();
    child.wait().unwrap();
    for process in begun().split_whitespace() {
        until("the target has ended", || is_gone(process));
    }
}

#[test]
fn a_program_that_never_comes_to_its_functions_ends_with_the_first_interrupt() {
    if std::env::var_os("TOUCHSTONE_WITHOUT_SANDBOX").is_some() {
        return eprintln!("not run: TOUCHSTONE_WITHOUT_SANDBOX is set");
    }
    let sandbox = folder("evaluate-endless", "");
    let source = "import time\nwhile True:\n    time.sleep(1)\n";
    let config = json!({ "mine": { "kind": "python", "options": { "source": source } } });
    fs::write(sandbox.folder.join("mine.json"), config.to_string()).unwrap();
    let mut command =
        sandbox.command(&["evaluate", "--data", "rows.jsonl", "--config", "mine.json"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let id = child.id().to_string();
    until("interrupts are listened to", || is_caught(&id, 2));
    assert!(std::process::Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    let ended = child.wait_with_output().unwrap();
    let said = String::from_utf8(ended.stdout).unwrap();
    assert_eq!(ended.status.code(), Some(1), "{said}");
    assert!(
        said.contains(
            "No results were written.\nIt was stopped while reading mine, before row 1.\n"
        ),
        "{said}"
    );
}

/// Returns true if a process has a handler for a signal.
pub(crate) fn is_caught(process: &str, signal: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    caught
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

/// Polls until a condition without a notification holds.
pub(crate) fn until(what: &str, is_so: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_mins(1);
    while !is_so() {
        assert!(Instant::now() < deadline, "{what}: not within a minute");
        std::thread::park_timeout(Duration::from_millis(5));
    }
}

/// Returns true if no process of that number is running any more.
fn is_gone(process: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_none_or(|(_, rest)| rest.trim_start().starts_with('Z'))
}
