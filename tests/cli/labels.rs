//! Tests of labels on the command line, and of `suite`, which uses them.
use crate::sandbox::{ANSWERED, Sandbox};

const LABELS: &str = "labels:\n  quick: turns:<9\n  bad: label:severity=high\n  \
                      severity: { kind: category, values: [low, high] }\n";

fn sandbox(name: &str) -> Sandbox {
    Sandbox::with(
        name,
        &[
            ("touchstone.yaml", LABELS),
            ("tasks/t.yaml", "tool_calling_prompt: hello\nexpected_output: 1\n"),
            ("results/t-tool_calling-o1-variation0.yaml", ANSWERED),
            ("results/t-tool_calling-o1-variation0-run2.yaml", ANSWERED),
        ],
    )
}

#[test]
fn labels_are_listed_given_and_filtered_by() {
    let sandbox = sandbox("labels");
    let ran = sandbox.run(&["labels"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(ran.out.contains("quick") && ran.out.contains("turns:<9"), "{}", ran.out);
    let file = "results/t-tool_calling-o1-variation0.yaml";
    let given = sandbox.run(&["review", file, "--label", "severity=high"]);
    assert_eq!(
        (given.status, given.out.as_str()),
        (0, "no verdict\nlabel severity: high\n"),
        "{given:?}"
    );
    let listed = sandbox.run(&["list", "--json", "--filter", "label:bad"]);
    let rows = listed.json();
    assert_eq!(rows.len(), 1, "{listed:?}");
    assert_eq!(rows[0]["labels"][2], serde_json::json!({ "name": "severity", "value": "high" }));
    let counts: Vec<_> =
        sandbox.run(&["labels", "--json"]).json().iter().map(|one| one["count"].clone()).collect();
    assert_eq!(counts, [2, 1, 1]);
    let wrong = sandbox.run(&["review", file, "--label", "severity=mid"]);
    assert!(wrong.status == 2 && wrong.err.contains("Choose one of: low, high."), "{wrong:?}");
    let gone = sandbox.run(&["review", file, "--label", "severity="]);
    assert_eq!((gone.status, gone.out.as_str()), (0, "This run has no review.\n"));
    for command in ["list", "stats", "report", "failures"] {
        let ran = sandbox.run(&[command, "--filter", "label:quik"]);
        assert_eq!(ran.status, 2, "{command}: {ran:?}");
        assert!(ran.err.contains("Did you mean label:quick?"), "{command}: {}", ran.err);
    }
}

#[test]
fn a_label_with_a_mistake_ends_with_one() {
    let sandbox =
        Sandbox::with("labels-wrong", &[("touchstone.yaml", "labels: { a: 'label:a' }\n")]);
    let ran = sandbox.run(&["labels", "."]);
    assert_eq!(ran.status, 1, "{ran:?}");
    assert!(ran.out.contains("leads back to itself: a → a"), "{}", ran.out);
}

#[test]
fn a_suite_of_a_filter_is_written_once_and_can_be_planned() {
    let sandbox = sandbox("suite");
    let make = || sandbox.run(&["suite", "--from", "label:quick", "--out", "tasks/again.yaml"]);
    let ran = make();
    assert_eq!((ran.status, ran.out.as_str()), (0, "tasks/again.yaml: 1 task\n"), "{ran:?}");
    let text = std::fs::read_to_string(sandbox.folder.join("tasks/again.yaml")).unwrap();
    assert!(text.contains("prompt: hello") && text.contains("expected_output: 1"), "{text}");
    let ran = make();
    assert!(ran.status == 2 && ran.err.contains("exists already"), "{ran:?}");
    let ran = sandbox.run(&["suite", "--from", "label:none", "--out", "tasks/x.yaml"]);
    assert!(ran.status == 2 && ran.err.contains("There is no label"), "{ran:?}");
    assert!(!sandbox.folder.join("tasks/x.yaml").exists());
}

#[test]
fn a_list_prints_the_columns_that_are_asked_for() {
    let sandbox = sandbox("columns");
    let columns = "repeat,label:quick,answer,fact:none,passed";
    let ran = sandbox.run(&["list", "--columns", columns, "--filter", "repeat:1"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    let lines: Vec<Vec<&str>> =
        ran.out.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[0], ["repeat", "label:quick", "answer", "fact:none", "passed"]);
    assert_eq!((lines[1][0], lines[1][1]), ("1", "yes"), "{}", ran.out);
    assert!(lines[1].contains(&"–"), "{}", ran.out);
    let rows = sandbox.run(&["list", "--json", "--columns", "label:quick,fact:none"]).json();
    assert_eq!(rows[0]["columns"]["label:quick"], "yes");
    assert_eq!(rows[0]["columns"]["fact:none"], serde_json::Value::Null);
    let sorted = |sort: &str| {
        let ran = sandbox.run(&["list", "--json", "--sort", sort]);
        assert_eq!(ran.status, 0, "{ran:?}");
        let rows = ran.json();
        rows.iter().map(|row| row["repeat"].to_string()).collect::<Vec<_>>().join(" ")
    };
    for (file, severity) in [("", "severity=high"), ("-run2", "severity=low")] {
        let file = format!("results/t-tool_calling-o1-variation0{file}.yaml");
        assert_eq!(sandbox.run(&["review", &file, "--label", severity]).status, 0);
    }
    assert_eq!(sorted("label:severity"), "1 2", "the order of the texts high, low");
    assert_eq!(sorted("-label:severity"), "2 1");
    let wrong = sandbox.run(&["list", "--sort", "answer[x]"]);
    assert!(wrong.status != 0 && wrong.err.contains("There is no column"), "{wrong:?}");
    let wrong = sandbox.run(&["list", "--sort", "costs"]);
    assert!(wrong.status != 0 && wrong.err.contains("answer.items[0].id"), "{wrong:?}");
    let wrong = sandbox.run(&["list", "--columns", "costs"]);
    assert!(wrong.status == 2 && wrong.err.contains("There is no column “costs”."), "{wrong:?}");
}

const TEXTS: &str = "input_dir: tasks\noutput_dir: results\n\
                     labels: { said: { kind: text }, quick: 'turns:<9' }\n";

#[test]
fn a_list_prints_of_sensitive_runs_no_column_that_may_quote_them() {
    let file = "results/t-tool_calling-o1-variation0.yaml";
    let sandbox = Sandbox::with(
        "columns-sensitive",
        &[
            ("touchstone.yaml", TEXTS),
            ("results/.touchstone/sensitive/m.json", "{\"tasks\": [\"t\"]}"),
            (file, &ANSWERED.replace("  - ticket_id: 7\n", "  pasted\nrun: { version: pasted }\n")),
        ],
    );
    assert_eq!(sandbox.run(&["review", file, "--label", "said=pasted"]).status, 0);
    let columns = "state, answer, fact:run.version, label:said, label:quick, labels";
    for format in [&[][..], &["--json"]] {
        let list = [&["list", "--columns", columns][..], format].concat();
        let ran = sandbox.run(&list);
        assert_eq!(ran.status, 0, "{ran:?}");
        assert!(!ran.out.contains("pasted") && ran.out.contains("yes"), "{}", ran.out);
        assert!(ran.err.contains("left out of 1 run"), "{ran:?}");
        let whole = sandbox.run(&[&list[..], &["--include-sensitive"]].concat());
        assert!(whole.out.matches("pasted").count() >= 3, "{}", whole.out);
    }
}
