//! Tests of `agreement`: the table, the details of a pair, and the JSON document.
use crate::sandbox::Sandbox;
use crate::scripted::{Reply, Scripted, Seen};
use serde_json::json;

fn judges() -> Scripted {
    Scripted::start(|seen: &Seen| {
        let asked = seen.json().to_string();
        let word = if asked.contains("Nothing at all.") { "unsolved" } else { "solved" };
        let said = json!({ "reason": format!("It is {word}."), "verdict": word }).to_string();
        Reply::json(&json!({
            "id": "c", "object": "chat.completion", "model": "any-1",
            "choices": [{ "index": 0, "message": { "role": "assistant", "content": said }, "finish_reason": "stop" }],
            "usage": { "prompt_tokens": 100, "completion_tokens": 10 },
        }))
    })
}

fn run(answer: &str) -> String {
    format!(
        "conversation:\n- user_message: How many?\n- assistant_message: {answer}\nanswer: {answer}\n"
    )
}

fn folder(name: &str, server: &Scripted) -> Sandbox {
    let url = server.url("/v1");
    let workspace = format!(
        "input_dir: tasks\noutput_dir: results\nmodels:\n  local: {{ provider: openai, base_url: '{url}', model: any }}\n"
    );
    let mut files = vec![
        ("touchstone.yaml".to_owned(), workspace),
        ("tasks/count.yaml".to_owned(), "tool_calling_prompt: How many?\n".to_owned()),
    ];
    for repeat in 1..=12 {
        let again = if repeat > 1 { format!("-run{repeat}") } else { String::new() };
        let name = format!("count-tool_calling-o1-variation0{again}.yaml");
        let said = if repeat > 9 || repeat == 1 { "wrong" } else { "right" };
        files.push((
            format!("results/{name}"),
            run(if repeat > 8 { "Nothing at all." } else { "Three." }),
        ));
        let review = format!("verdict: {said}\nnote: \"Seen {repeat}.\\e[2J\"\n");
        files.push((format!("results/.touchstone/reviews/{name}"), review));
    }
    let files: Vec<(&str, &str)> =
        files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    Sandbox::with(name, &files)
}

#[test]
fn the_next_step_is_said_while_nothing_can_be_compared() {
    let server = judges();
    let sandbox = folder("agreement-before", &server);
    let ran = sandbox.run(&["agreement", "."]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(
        ran.out.starts_with(
            "12 runs were reviewed.\nNo run is judged yet. Judge some: touchstone score --judge"
        ),
        "{}",
        ran.out
    );
    let ran = sandbox.run(&["agreement", ".", "--judge", "sopr"]);
    assert_eq!(ran.status, 2);
    assert!(ran.err.contains("No judge named `sopr` has judged"), "{}", ran.err);
    let ran = sandbox.run(&["agreement", ".", "--filter", "review:right system:nobody"]);
    assert!(ran.out.starts_with("No run is reviewed yet."), "{}", ran.out);
    assert_eq!(sandbox.run(&["agreement", ".", "--filter", "rewiev:right"]).status, 2);
}

#[test]
fn a_judge_is_held_against_people_and_every_disagreement_has_both_reasons() {
    let server = judges();
    let sandbox = folder("agreement", &server);
    let judge = [
        "score",
        ".",
        "--judge",
        "sopr",
        "--judge-model",
        "local",
        "--rounds",
        "1",
        "--filter",
        "review:yes",
    ];
    assert_eq!(sandbox.run(&judge).status, 0);
    let ran = sandbox.run(&["agreement", "."]);
    assert!(ran.out.contains("people  sopr by local  12    10  0.63"), "{}", ran.out);
    let ran = sandbox.run(&["agreement", ".", "--judge", "sopr"]);
    assert!(
        ran.out.contains("         right  wrong\n  right      7      1\n  wrong      1      3\n"),
        "{}",
        ran.out
    );
    assert!(
        ran.out.contains("people wrong: Seen 1.")
            && ran.out.contains("sopr by local right: It is solved."),
        "{}",
        ran.out
    );
    assert!(!ran.out.contains('\u{1b}'), "{}", ran.out);
    let told =
        sandbox.run(&["agreement", ".", "--judge", "sopr by local", "--json"]).json().remove(0);
    let pair = &told["agreements"][0];
    assert_eq!(
        (&told["reviewed"], &pair["table"], &pair["n"]),
        (&json!(12), &json!([[7, 1], [1, 3]]), &json!(12))
    );
    assert_eq!(pair["disagreements"].as_array().map(Vec::len), Some(2));
    // 10 of 12 agree; by chance it would be 8 * 8 + 4 * 4 of 144.
    assert!(
        (pair["kappa"].as_f64().unwrap() - (10.0 / 12.0 - 80.0 / 144.0) / (64.0 / 144.0)).abs()
            < 1e-9
    );
}

#[test]
fn two_judges_are_held_against_each_other_and_names_that_nobody_has_are_refused() {
    let server = judges();
    let sandbox = folder("agreement-two", &server);
    let workspace = sandbox.folder.join("touchstone.yaml");
    let text = std::fs::read_to_string(&workspace).unwrap();
    let line = text.lines().find(|line| line.trim_start().starts_with("local:")).unwrap();
    std::fs::write(&workspace, format!("{text}{}\n", line.replace("local:", "other:"))).unwrap();
    for (model, filter) in [("local", ""), ("other", "review:right")] {
        let judge = [
            "score",
            ".",
            "--judge",
            "sopr",
            "--judge-model",
            model,
            "--rounds",
            "1",
            "--filter",
            filter,
        ];
        assert_eq!(sandbox.run(&judge).status, 0);
    }
    let two = ["agreement", ".", "--judge", "sopr by other", "--with"];
    let with = |name: &str, more: &[&str]| sandbox.run(&[&two[..], &[name], more].concat());
    let told = with("sopr by local", &["--json"]).json().remove(0);
    let pair = &told["agreements"][0];
    assert_eq!(told["agreements"].as_array().map(Vec::len), Some(1));
    assert_eq!(
        (&pair["n"], &pair["same"], &pair["disagreements_total"]),
        (&json!(8), &json!(8), &json!(0)),
        "{pair}"
    );
    let words = with("sopr by local", &[]);
    assert!(
        words.out.contains("sopr by local (rows) and sopr by other (columns)"),
        "{}",
        words.out
    );
    assert!(words.out.contains("  right      7      0\n  wrong      0      1\n"), "{}", words.out);
    assert!(
        words.out.contains("They disagree on no run.") && !words.out.contains("people (rows)"),
        "{}",
        words.out
    );
    // People are one more rater to compare with.
    let people = with("people", &[]);
    assert!(people.out.contains("people (rows) and sopr by other (columns)"), "{}", people.out);
    for (name, why) in
        [("nobody", "No judge named `nobody`"), ("sopr by other", "no runs in common")]
    {
        let refused = with(name, &[]);
        assert!(refused.status == 2 && refused.err.contains(why), "{refused:?}");
    }
    assert!(with("nobody", &[]).err.contains("There are: sopr by local, sopr by other."));
    assert_eq!(sandbox.run(&["agreement", ".", "--with", "sopr"]).status, 2, "of whom is not said");
}

#[test]
fn a_file_of_judgements_that_cannot_be_read_is_told_and_ends_with_one() {
    let server = judges();
    let sandbox = folder("agreement-broken", &server);
    let file = sandbox
        .folder
        .join("results/.touchstone/judgements/count-tool_calling-o1-variation0.yaml.yaml");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, "judgements: odd\n").unwrap();
    for (arguments, on_out) in [
        (&["agreement", "."][..], true),
        (&["agreement", ".", "--json"], true),
        (&["report", ".", "--format", "azure", "--out", "-"], false),
    ] {
        let ran = sandbox.run(arguments);
        assert_eq!(ran.status, 1, "{arguments:?} {ran:?}");
        let told = if on_out { &ran.out } else { &ran.err };
        assert!(told.contains("1 file of judgements cannot be read"), "{arguments:?} {ran:?}");
    }
}
