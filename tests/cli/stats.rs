//! Tests of `stats`: the numbers of a folder, as text and as JSON.
use crate::HOSTILE;
use crate::sandbox::{ANSWERED, Sandbox, TASK};
use serde_json::Value;

fn document(sandbox: &Sandbox, arguments: &[&str]) -> Value {
    let ran = sandbox.run(&[&["stats", "--json"], arguments].concat());
    assert_eq!(ran.status, 0, "{ran:?}");
    let mut documents = ran.json();
    assert_eq!(documents.len(), 1, "one document, one line");
    documents.remove(0)
}

#[test]
fn every_run_is_counted_under_what_became_of_it() {
    let stats = document(&Sandbox::usual("stats-ends"), &[]);
    let count = |key: &str| stats[key].as_u64().unwrap();
    assert_eq!((count("runs"), count("errors"), count("waiting"), count("damaged")), (4, 1, 1, 1));
    assert_eq!(count("scored") + count("unscored"), 1);
    let names: Vec<&str> = stats["groups"]
        .as_array()
        .unwrap()
        .iter()
        .map(|group| group["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        ["promptql/claude", "tool_calling/claude", "tool_calling/o1", "tool_calling/o3-mini"]
    );
    let failed = &stats["groups"][2];
    assert_eq!(failed["errors"], 1);
    assert!(
        failed["score"].is_null() && failed["passes"].is_null(),
        "an error is no wrong answer: {failed}"
    );
    assert!(failed["tokens"]["mean"].is_null() && failed["tokens"]["unknown"] == 1, "{failed}");
}

#[test]
fn a_scorer_or_a_baseline_that_no_run_has_is_refused_by_every_command_that_takes_one() {
    let sandbox = Sandbox::usual("stats-unknown");
    for command in [&["stats"][..], &["report", "--format", "junit", "--out", "-"]] {
        for (option, name) in [("--scorer", "felds"), ("--baseline", "nobody/none")] {
            let ran = sandbox.run(&[command, &[option, name]].concat());
            assert_eq!(ran.status, 2, "{ran:?}");
            assert!(ran.err.contains(name), "{ran:?}");
        }
    }
}

#[test]
fn the_document_has_the_numbers_of_the_report() {
    let stats = document(&Sandbox::usual("stats-json"), &["--baseline", "tool_calling/o1"]);
    let keys: Vec<&String> = stats.as_object().unwrap().keys().collect();
    let expected = [
        "generation",
        "scorers",
        "tasks",
        "headline",
        "runs",
        "scored",
        "errors",
        "waiting",
        "running",
        "damaged",
        "unscored",
        "nudged",
        "forks_left_out",
        "replays_left_out",
        "evaluations_left_out",
        "groups",
        "front_by",
        "baseline",
        "comparisons",
        "rows",
        "better",
        "method",
        "misread",
    ];
    assert_eq!(keys, expected);
    assert_eq!(stats["baseline"], "tool_calling/o1");
    let comparisons = stats["comparisons"].as_array().unwrap();
    assert_eq!(comparisons.len(), 3, "each of the others");
    for comparison in comparisons {
        assert_eq!(
            (&comparison["baseline"], &comparison["pairs"]),
            (&"tool_calling/o1".into(), &0.into())
        );
        assert!(comparison["score"].is_null(), "nothing in common is no difference of 0");
        assert!(!comparison["sentences"].as_array().unwrap().is_empty());
    }
    for group in stats["groups"].as_array().unwrap() {
        let keys = group.as_object().unwrap();
        assert!(keys.contains_key("standing") && keys.contains_key("on_front"), "{group}");
        for amount in ["tokens", "cost", "seconds"] {
            let amount = group[amount].as_object().unwrap();
            assert!(amount.contains_key("low") && amount.contains_key("high"), "{group}");
            assert!(amount["low"].is_null(), "one run has no interval: {group}");
        }
    }
    assert_eq!(stats["rows"][0]["cells"].as_array().unwrap().len(), 4);
    assert_eq!(
        (&stats["better"]["score"], &stats["better"]["cost"]),
        (&"higher".into(), &"lower".into())
    );
}

#[test]
fn a_filter_narrows_what_is_counted() {
    let sandbox = Sandbox::usual("stats-filter");
    assert_eq!(document(&sandbox, &["--filter", "state:error"])["runs"], 1);
    let ran = sandbox.run(&["stats", "--filter", "state:bad"]);
    assert_eq!(
        (ran.status, ran.out.as_str()),
        (2, ""),
        "what is left of it lets through more than was meant: {ran:?}"
    );
    assert!(ran.err.contains("state:bad"), "{}", ran.err);
}

#[test]
fn a_baseline_that_is_not_there_is_said_with_those_that_are() {
    let ran = Sandbox::usual("stats-baseline").run(&["stats", "--baseline", "tool_calling/gpt"]);
    assert_eq!((ran.status, ran.out.as_str()), (2, ""), "{ran:?}");
    assert!(
        ran.err.contains("tool_calling/gpt") && ran.err.contains("tool_calling/o3-mini"),
        "{}",
        ran.err
    );
}

#[test]
fn people_get_a_table_whose_columns_stand_under_each_other() {
    let sandbox = Sandbox::usual("stats-plain");
    let ran = sandbox.run(&["stats"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    let lines: Vec<&str> = ran.out.lines().collect();
    assert!(
        lines[0].starts_with("4 runs of 1 task: ")
            && lines[0].contains("1 in error, 1 paused, 1 damaged"),
        "{}",
        ran.out
    );
    assert!(lines[2].starts_with("tool_calling/claude: 1.00 on 1 task."), "{}", ran.out);
    assert!(lines[4].starts_with("system        model    n"), "{}", ran.out);
    let ends = |line: &str, title: &str| {
        lines[4].find(title).map(|at| line.chars().take(at + title.len()).collect::<String>())
    };
    let errors: Vec<bool> =
        lines[5..9].iter().map(|line| ends(line, "error").unwrap().ends_with(" 1")).collect();
    assert_eq!(errors, [false, false, true, false], "{}", ran.out);
    assert!(!ran.out.contains('\u{1b}'));
    assert!(
        sandbox.run(&["stats", "--filter", "model:nobody"]).out.starts_with("0 runs of 0 tasks.")
    );
}

#[test]
fn names_of_files_do_not_steer_the_terminal() {
    let name = |model: &str| format!("results/{HOSTILE}-tool_calling-{model}-variation0.yaml");
    let (one, other) = (name("o1"), name("claude"));
    let sandbox = Sandbox::with(
        "stats-hostile",
        &[(&one, ANSWERED), (&other, ANSWERED), ("tasks/a.yaml", "tool_calling_prompt: a\n")],
    );
    let ran = sandbox.run(&["stats"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(!ran.out.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{:?}", ran.out);
}

/// A folder with seven tasks that one model always gets right and the other never.
fn decided(name: &str) -> Sandbox {
    let wrong = ANSWERED.replace("answer:\n  - ticket_id: 7", "answer:\n  - ticket_id: 8");
    assert_ne!(wrong, ANSWERED);
    let paths: Vec<[String; 3]> = (0..7)
        .map(|n| {
            let run = |model: &str| format!("results/t{n}-tool_calling-{model}-variation0.yaml");
            [format!("tasks/t{n}.yaml"), run("claude"), run("o1")]
        })
        .collect();
    let files: Vec<(&str, &str)> = paths
        .iter()
        .flat_map(|[task, right, other]| {
            [(task.as_str(), TASK), (right.as_str(), ANSWERED), (other.as_str(), wrong.as_str())]
        })
        .collect();
    Sandbox::with(name, &files)
}

#[test]
fn differences_are_shown_with_their_uncertainty() {
    let sandbox = decided("stats-decided");
    let stats = document(&sandbox, &[]);
    let [right, wrong] = [0, 1].map(|at| &stats["groups"][at]);
    assert_eq!(
        (&right["name"], &right["scored"], &right["passes"]["passed"]),
        (&"tool_calling/claude".into(), &7.into(), &7.into())
    );
    assert_eq!((&wrong["score"]["value"], &wrong["passes"]["passed"]), (&0.0.into(), &0.into()));
    // Wilson's interval of 7 of 7 begins at 7 / (7 + 1.96²).
    let low = right["passes"]["low"].as_f64().unwrap();
    assert!((low - 0.645_670).abs() < 1e-6 && right["passes"]["high"] == 1.0, "{right}");
    let comparison = &stats["comparisons"][0];
    let passes = &comparison["passes"];
    assert_eq!(
        (&passes["only_group"], &passes["only_baseline"], &passes["shown"]),
        (&0.into(), &7.into(), &"worse".into())
    );
    assert_eq!((&passes["p"], &comparison["score"]["p"]), (&0.015_625.into(), &0.015_625.into()));
    let ran = sandbox.run(&["stats"]);
    assert!(ran.out.contains("tool_calling/o1 against tool_calling/claude"), "{}", ran.out);
    assert!(ran.out.contains("p = 0.016. It is worse."), "{}", ran.out);
    let turned = sandbox.run(&["stats", "--baseline", "tool_calling/o1"]);
    assert!(turned.out.contains("p = 0.016. It is better."), "{}", turned.out);
}

#[test]
fn tries_are_told_that_most_rows_have_and_over_which() {
    let runs = [("t0", 3), ("t1", 2), ("t2", 1)].into_iter().flat_map(|(task, runs)| {
        (1..=runs)
            .map(move |run| format!("results/{task}-tool_calling-o1-variation0-run{run}.yaml"))
    });
    let tasks = (0..3).map(|task| format!("tasks/t{task}.yaml"));
    let files: Vec<(String, &str)> = tasks
        .map(|task| (task, TASK))
        .chain(runs.map(|run| (run.replace("-run1.", "."), ANSWERED)))
        .collect();
    let sandbox = Sandbox::with(
        "stats-tries",
        &files.iter().map(|(path, text)| (path.as_str(), *text)).collect::<Vec<_>>(),
    );
    let group = &document(&sandbox, &[])["groups"][0];
    assert_eq!((&group["told_tries"], group["tries"].as_array().unwrap().len()), (&2.into(), 3));
    let out = sandbox.run(&["stats"]).out;
    assert!(out.contains("pass@2") && out.contains("1.000 (over 2 of 3 rows)"), "{out}");
}
