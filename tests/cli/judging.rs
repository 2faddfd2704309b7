//! Tests of `score --judge`: a model judges the runs on disk, each only once.
use crate::sandbox::{Ran, Sandbox};
use crate::scripted::{Reply, Scripted};
use serde_json::{Value, json};

const RUN: &str =
    "conversation:\n- user_message: How many?\n- assistant_message: Three.\nanswer: 3\n";
const ASK: [&str; 6] = ["score", ".", "--judge", "sopr", "--judge-model", "local"];

fn says(text: &str) -> Reply {
    Reply::json(&json!({
        "id": "c", "object": "chat.completion", "model": "any-1",
        "choices": [{ "index": 0, "message": { "role": "assistant", "content": text }, "finish_reason": "stop" }],
        "usage": { "prompt_tokens": 100, "completion_tokens": 10 },
    }))
}

fn folder(name: &str, server: &Scripted) -> Sandbox {
    let url = server.url("/v1");
    let workspace = format!(
        "input_dir: tasks\noutput_dir: results\nmodels:\
         \n  local: {{ provider: openai, base_url: '{url}', model: any, price: {{ input: 1, \
         output: 2 }} }}\n  old: {{ provider: replay }}\n"
    );
    Sandbox::with(
        name,
        &[
            ("touchstone.yaml", &workspace),
            ("tasks/count.yaml", "tool_calling_prompt: How many?\nscorers: [judge:sopr]\n"),
            ("results/count-tool_calling-o1-variation0.yaml", RUN),
            (
                "results/count-tool_calling-o1-variation0-run2.yaml",
                "conversation:\n- user_message: How many?\n",
            ),
        ],
    )
}

fn ask(sandbox: &Sandbox, more: &[&str]) -> Ran {
    sandbox.run(&[ASK.as_slice(), more].concat())
}

#[test]
fn runs_are_judged_once_and_what_was_said_is_told_with_every_round() {
    let server = Scripted::always(says(r#"{"reason": "All there.", "verdict": "solved"}"#));
    let sandbox = folder("judge", &server);
    let plan = ask(&sandbox, &["--rounds", "2", "--plan", "--json"]);
    assert_eq!((plan.status, server.seen().len()), (0, 0), "{plan:?}");
    let plan = plan.json().remove(0);
    assert_eq!(
        (&plan["runs"], &plan["calls_least"], &plan["skipped_total"]),
        (&json!(1), &json!(2), &json!(1))
    );
    let words = ask(&sandbox, &["--plan"]);
    assert!(
        words.out.contains("1 run to judge") && words.out.contains("about $0.00"),
        "{}",
        words.out
    );
    for bought in [2, 2] {
        let ran = ask(&sandbox, &["--rounds", "2", "--json"]);
        assert_eq!((ran.status, server.seen().len()), (0, bought), "{ran:?}");
        let line = ran.json().remove(0);
        let told = (&line["scorer"], &line["score"], &line["passed"], &line["reason"]);
        assert_eq!(told, (&json!("judge:sopr"), &json!(1.0), &json!(true), &json!("All there.")));
        assert_eq!(line["detail"]["rounds"].as_array().map(Vec::len), Some(2));
        assert!(ran.err.contains("sopr: mean 1.000 ± 0.000 of 1 runs"), "{}", ran.err);
        assert!(ran.err.contains("The run has not ended."), "{}", ran.err);
    }
    // The suite names the judge, so its verdict is the score.
    let scores = sandbox.run(&["score", ".", "--json"]).json();
    let judged = scores.iter().find(|line| line["score"] != Value::Null).unwrap();
    assert_eq!((&judged["scorer"], &judged["score"]), (&json!("judge:sopr"), &json!(1.0)));
    let words = ask(&sandbox, &["--rounds", "2"]);
    assert!(
        words.out.contains("1.000  solved, solved  count-tool_calling-o1-variation0.yaml"),
        "{}",
        words.out
    );
}

#[test]
fn what_was_said_against_another_run_is_not_told_as_the_verdict_on_this_pair() {
    let server = Scripted::sequence(
        ["first", "first", "second"]
            .map(|word| says(&format!(r#"{{"reason": "ok", "verdict": "{word}"}}"#))),
    );
    let sandbox = folder("judge-pairs", &server);
    for (model, words) in [("claude", "Two."), ("gemini", "Four.")] {
        let run =
            format!("conversation:\n- user_message: How many?\n- assistant_message: {words}\n");
        let path =
            sandbox.folder.join(format!("results/count-tool_calling-{model}-variation0.yaml"));
        std::fs::write(path, run).unwrap();
    }
    let pair = |reference: &str, more: &[&str]| {
        let asked = [
            "score",
            ".",
            "--judge",
            "sowr",
            "--judge-model",
            "local",
            "--rounds",
            "1",
            "--json",
            "--filter",
            "model:o1",
        ];
        sandbox.run(&[asked.as_slice(), &["--reference", reference], more].concat())
    };
    assert_eq!(pair("model:claude", &[]).json().len(), 1);
    // The spend limit allows no request, and this pair has no verdict.
    let other = pair("model:gemini", &["--max-cost", "0"]);
    assert_eq!((other.json().len(), server.seen().len()), (0, 1), "{other:?}");
}

#[test]
fn replies_that_cannot_be_read_end_with_one_and_a_model_that_cannot_judge_with_two() {
    let server = Scripted::always(says("hm"));
    let sandbox = folder("judge-unread", &server);
    let ran = ask(&sandbox, &["--rounds", "1", "--json"]);
    assert_eq!((ran.status, server.seen().len()), (1, 2), "{ran:?}");
    assert_eq!(ran.json()[0]["detail"]["rounds"][0]["replies"], json!(["hm", "hm"]));
    let ran = sandbox.run(&["score", ".", "--judge", "sopr", "--judge-model", "old"]);
    assert!(
        ran.status != 0 && ran.err.contains("replays recordings of runs, so it cannot judge"),
        "{ran:?}"
    );
    for wrong in [
        &["score", ".", "--judge", "sopr"][..],
        &["score", ".", "--rounds", "2"],
        &["score", ".", "--judge", "sopr", "--judge-model", "local", "--scorer", "exact"],
    ] {
        assert_eq!(sandbox.run(wrong).status, 2, "{wrong:?}");
    }
}

#[test]
fn without_a_model_the_one_that_the_suites_name_judges_and_what_came_of_it_is_told_with_its_rates()
{
    let server = Scripted::always(says(r#"{"reason": "All there.", "verdict": "solved"}"#));
    let sandbox = folder("judge-suites", &server);
    let bare = ["score", ".", "--judge", "sopr"];
    let none = sandbox.run(&bare);
    assert_eq!(none.status, 2, "{none:?}");
    assert!(
        none.err.contains("No suite of these runs names a model for `judge:sopr`."),
        "{}",
        none.err
    );
    let suite = "tool_calling_prompt: How many?\nscorers: [judge:sopr: { model: local, rounds: 2, threshold: 0.9 }]\n";
    std::fs::write(sandbox.folder.join("tasks/count.yaml"), suite).unwrap();
    let plan = sandbox.run(&[bare.as_slice(), &["--plan"]].concat());
    assert!(
        plan.out.contains("by local in 2 rounds") && plan.out.contains("\n1 run to judge, "),
        "{plan:?}"
    );
    let ran = sandbox.run(&bare);
    assert_eq!((ran.status, server.seen().len()), (0, 2), "{ran:?}");
    assert!(ran.out.contains("1.000  solved, solved  count-tool_calling"), "{}", ran.out);
    assert!(ran.out.contains("sopr: 1 of 1 runs pass ["), "{}", ran.out);
    let line = sandbox.run(&[bare.as_slice(), &["--json"]].concat()).json().remove(0);
    assert_eq!((&line["passed"], &line["detail"]["threshold"]), (&json!(true), &json!("from 0.9")));
}

#[test]
fn where_nothing_could_be_judged_it_says_so_and_ends_with_one() {
    let server = Scripted::always(says(r#"{"reason": "All there.", "verdict": "solved"}"#));
    let sandbox = folder("judge-nothing", &server);
    let ran = ask(&sandbox, &["--filter", "state:waiting"]);
    assert_eq!((ran.status, server.seen().len()), (1, 0), "{ran:?}");
    assert!(
        ran.out.contains("0 of 1 runs judged, 0 failed, 1 skipped")
            && ran.out.contains("No run was judged."),
        "{ran:?}"
    );
}

#[test]
fn a_budget_without_a_price_ends_with_two_and_one_of_the_file_is_told() {
    let server = Scripted::always(says(r#"{"reason": "All there.", "verdict": "solved"}"#));
    let sandbox = folder("judge-unbound", &server);
    let file = sandbox.folder.join("touchstone.yaml");
    let text =
        std::fs::read_to_string(&file).unwrap().replace(", price: { input: 1, output: 2 }", "");
    std::fs::write(&file, &text).unwrap();
    let ran = ask(&sandbox, &["--rounds", "1", "--max-cost", "0.001"]);
    assert_eq!((ran.status, server.seen().len()), (2, 0), "{ran:?}");
    assert!(
        ran.err.contains("`local` has no known price") && ran.err.contains("leave out the budget"),
        "{}",
        ran.err
    );
    std::fs::write(&file, format!("{text}run: {{ max_cost: 5 }}\n")).unwrap();
    let plan = ask(&sandbox, &["--rounds", "1", "--plan"]);
    assert!(plan.out.contains("the budget of $5 has no effect"), "{}", plan.out);
    let ran = ask(&sandbox, &["--rounds", "1"]);
    assert_eq!((ran.status, server.seen().len()), (0, 1), "{ran:?}");
    assert!(
        ran.out.contains("The budget of $5 does not limit replies of unknown cost"),
        "{}",
        ran.out
    );
}

#[test]
fn show_tells_what_judges_said_of_a_run_and_asks_nobody() {
    let replies = [
        r#"{"explanation": "Short, and to the point.", "score": 5}"#,
        r#"{"explanation": "A bit\u001b[2J short.", "score": 3}"#,
    ];
    let server = Scripted::sequence(replies.map(says));
    let sandbox = folder("judge-show", &server);
    let file = "results/count-tool_calling-o1-variation0.yaml";
    let before = sandbox.run(&["show", file]);
    assert!(before.status == 0 && !before.out.contains("Judges"), "{before:?}");
    let asked = ["score", ".", "--judge", "relevance", "--judge-model", "local", "--rounds", "2"];
    assert_eq!((sandbox.run(&asked).status, server.seen().len()), (0, 2));
    let ran = sandbox.run(&["show", file]);
    let first = ran
        .out
        .split_once("\nJudges\n  relevance version ")
        .map(|(_, after)| after.lines().next().unwrap());
    assert!(
        first
            .is_some_and(|first| first.ends_with(" by local: 4 of 5 ± 1.00, passes (from 3 of 5)")),
        "{ran:?}"
    );
    assert!(ran.out.contains("     5 of 5: Short, and to the point.\n"), "{}", ran.out);
    assert!(!ran.out.contains("stale") && !ran.out.contains("explanation"), "{}", ran.out);
    let ran = sandbox.run(&["show", file, "--replies"]);
    assert!(
        ran.out.contains("reply of any-1, as it came") && ran.out.contains(replies[0]),
        "{}",
        ran.out
    );
    assert!(!ran.out.contains('\u{1b}'), "{}", ran.out);
    let told = sandbox.run(&["show", file, "--json"]).json().remove(0);
    let judged = &told["judged"][0];
    assert_eq!(
        (&judged["passed"], &judged["rounds"][1]["replies"][0]),
        (&json!(true), &json!(replies[1]))
    );
    assert_eq!(told["row"]["path"], "count-tool_calling-o1-variation0.yaml");
    // The verdict is stale for another answer.
    std::fs::write(
        sandbox.folder.join(file),
        RUN.replace("Three.", "Four.").replace("answer: 3", "answer: 4"),
    )
    .unwrap();
    let ran = sandbox.run(&["show", file]);
    assert!(ran.out.contains("stale: ") && ran.out.contains("It is not counted."), "{}", ran.out);
    assert_eq!(server.seen().len(), 2, "nobody is asked");
    let kept = format!("{}.yaml", file.replace("results/", "results/.touchstone/judgements/"));
    assert!(sandbox.folder.join(&kept).exists());
    std::fs::write(sandbox.folder.join(kept), "judgements: odd\n").unwrap();
    let ran = sandbox.run(&["show", file]);
    assert!(
        ran.status == 1 && ran.err.contains("The judgements of this run cannot be read."),
        "{ran:?}"
    );
}
