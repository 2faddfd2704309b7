//! Tests of `score`, and of the scores in `list`, with the real program.
use crate::sandbox::{ANSWERED, Sandbox};
use serde_json::{Value, json};

const TASK: &str = "tool_calling_prompt: List the tickets.\nvariations:\n  - expected_output: [{ ticket_id: 7 }]\n";
const WRONG: &str = "conversation:\n  - user_message: List them.\n  - assistant_message: Here.\nanswer:\n  - ticket_id: 8\n";

/// A folder with one run that is right and one that is wrong.
fn two(name: &str) -> Sandbox {
    Sandbox::with(
        name,
        &[
            ("tasks/tickets.yaml", TASK),
            ("results/tickets-tool_calling-claude-variation0.yaml", ANSWERED),
            ("results/tickets-tool_calling-o1-variation0.yaml", WRONG),
        ],
    )
}

#[test]
fn score_writes_one_object_for_each_scorer_with_exactly_the_documented_keys() {
    let ran = Sandbox::usual("score-json").run(&["score", "--json"]);
    let rows = ran.json();
    assert_eq!(rows.len(), 4, "{ran:?}");
    for row in &rows {
        let keys = ["path", "lineage", "scorer", "score", "passed", "reason", "detail"];
        assert_eq!(row.as_object().unwrap().keys().collect::<Vec<_>>(), keys);
    }
    let told: Vec<_> = rows.iter().map(|row| (&row["score"], &row["passed"])).collect();
    let none = (&Value::Null, &Value::Null);
    assert_eq!(
        told,
        [none, (&json!(1.0), &json!(true)), none, none],
        "what did not end has no score"
    );
    assert_eq!(rows[1]["scorer"], "fields");
    assert!(rows[1]["detail"].as_object().is_some_and(|detail| !detail.is_empty()), "{}", rows[1]);
    assert!(rows[2]["reason"].as_str().unwrap().contains("status 529"), "{}", rows[2]);
    assert_eq!(ran.status, 1, "a run ended in an error");
    assert!(ran.err.contains("fields: mean 1.000 of 1 runs, 1 passed (100 %)"), "{}", ran.err);
    assert!(ran.err.contains("1 ended in a system error"), "{}", ran.err);
}

#[test]
fn forks_are_in_no_number_of_score_unless_the_filter_names_them() {
    let run = |rest: &str| format!("results/tickets-tool_calling-claude-variation0{rest}.yaml");
    let sandbox = Sandbox::with(
        "score-forks",
        &[
            ("tasks/tickets.yaml", TASK),
            (&run(""), ANSWERED),
            (&run("-run2"), ANSWERED),
            (&run("-fork1"), WRONG),
        ],
    );
    let ran = sandbox.run(&["score", ".", "--fail-under", "0.9"]);
    assert_eq!((ran.status, ran.err.as_str()), (0, ""), "{ran:?}");
    assert!(
        ran.out.contains("mean 1.000 of 2 runs, 2 passed") && !ran.out.contains("-fork1"),
        "{}",
        ran.out
    );
    assert!(
        ran.out.contains(
            "1 run that is a fork, was continued or is superseded is left out of these numbers."
        ),
        "{}",
        ran.out
    );
    let all = ["score", ".", "--fail-under", "0.9", "--filter", "forked:yes,no"];
    let ran = sandbox.run(&all);
    assert!(ran.status == 1 && ran.out.contains("of 3 runs, 2 passed"), "{ran:?}");
    assert!(
        ran.out.contains("-fork1.yaml  (fork; ") && !ran.out.contains("left out"),
        "{}",
        ran.out
    );
    let told = sandbox.run(&["score", ".", "--filter", "forked:yes,no", "--json"]).json();
    let lineages: Vec<&Value> = told.iter().map(|row| &row["lineage"]).collect();
    assert_eq!(lineages, [&json!("fork"), &Value::Null, &Value::Null]);
}

#[test]
fn a_score_that_is_not_enough_ends_with_one_and_says_which_number_it_was() {
    let sandbox = two("score-under");
    let tried = |least: &str| {
        let ran = sandbox.run(&["score", ".", "--fail-under", least]);
        (ran.status, ran.err)
    };
    for enough in ["0.5", "0", "50%"] {
        assert_eq!(tried(enough), (0, String::new()), "{enough}");
    }
    let (status, said) = tried("0.51");
    assert_eq!((status, said.as_str()), (1, "The mean score is 0.5000 (2 runs), below 0.51.\n"));
    let (status, said) = tried("51%");
    assert_eq!((status, said.as_str()), (1, "50.00 % of 2 runs passed, below 51 %.\n"));
    let (status, said) = (
        sandbox.run(&["score", "--fail-under", "0", "--filter", "model:nobody"]).status,
        tried("2").1,
    );
    assert_eq!(status, 1, "nothing was scored, so nothing was enough");
    assert!(said.contains("from 0 to 1"), "{said}");
}

#[test]
fn a_scorer_that_no_suite_names_is_computed_over_what_is_on_disk() {
    let sandbox = two("score-named");
    let of = |arguments: &[&str]| {
        let ran = sandbox.run(&[&["score", "--json"], arguments].concat());
        assert_eq!(ran.status, 0, "{ran:?}");
        ran.json()
            .iter()
            .map(|row| format!("{} {}", row["scorer"].as_str().unwrap(), row["score"]))
            .collect::<Vec<_>>()
    };
    assert_eq!(of(&["--scorer", "exact"]), ["exact 1.0", "exact 0.0"]);
    assert_eq!(
        of(&["--scorer", "exact", "--scorer", "tool_calls", "--filter", "model:o1"]).len(),
        2
    );
    let ran = sandbox.run(&["score", "--scorer", "exactly"]);
    assert_eq!(ran.status, 2);
    assert!(ran.err.contains("Did you mean `exact`?"), "{}", ran.err);
    assert!(of(&[]).iter().all(|one| one.starts_with("fields")), "naming one changes nothing");
}

#[test]
fn score_for_people_stands_in_columns_with_a_word_beside_each_number() {
    let ran = two("score-plain").run(&["score"]);
    let lines: Vec<&str> = ran.out.lines().collect();
    assert_eq!(lines.len(), 4, "{}", ran.out);
    assert!(lines[1].contains("1.00  passed      fields"), "{}", ran.out);
    assert!(lines[2].contains("0.00  not passed  fields"), "{}", ran.out);
    assert_eq!(lines[3], "fields: mean 0.500 of 2 runs, 1 passed (50 %)");
    assert!(!ran.out.contains('\u{1b}'));
}

#[test]
fn list_shows_scores_and_sorts_by_them() {
    let sandbox = two("list-scores");
    let rows = sandbox.run(&["list", "--json", "--sort", "score"]).json();
    let told: Vec<_> =
        rows.iter().map(|row| (row["score"].as_f64(), row["passed"].as_bool())).collect();
    assert_eq!(told, [(Some(0.0), Some(false)), (Some(1.0), Some(true))]);
    assert!(
        rows[0]["reason"].as_str().is_some_and(|reason| reason.contains("ticket_id 7 → 8")),
        "{}",
        rows[0]
    );
    let words = sandbox.run(&["list", "--filter", "passed:yes"]).out;
    assert!(words.lines().count() == 2 && words.contains("1.00  yes"), "{words}");
}

#[test]
fn a_scorer_that_cannot_be_read_is_told_and_is_not_enough() {
    let suite = TASK.replace("variations:", "scorers: [kendal_tau]\nvariations:");
    let sandbox = Sandbox::with(
        "score-left-out",
        &[
            ("tasks/tickets.yaml", &suite),
            ("results/tickets-tool_calling-claude-variation0.yaml", ANSWERED),
        ],
    );
    let told = "tasks/tickets.yaml, line 2: ";
    // The rest is still printed, and the status shows that it is incomplete.
    for command in [&["score"][..], &["stats"], &["report", "--format", "md", "--out", "-"]] {
        let ran = sandbox.run(command);
        assert_eq!(ran.status, 2, "{ran:?}");
        assert!(
            ran.err.contains(told) && ran.err.contains("Did you mean `kendall_tau`?"),
            "{command:?}: {}",
            ran.err
        );
    }
    let report = sandbox.run(&["report", "--format", "md", "--out", "-"]).out;
    assert!(report.contains("- tasks/tickets.yaml, line 2: "), "{report}");
    let ran = sandbox.run(&["score", "--fail-under", "0.5"]);
    assert!(ran.status == 2 && ran.err.contains("Did you mean `kendall_tau`?"), "{ran:?}");
    let named = sandbox.run(&["score", "--fail-under", "0.5", "--scorer", "exact"]);
    assert_eq!(named.status, 0, "the suite does not say by whom: {named:?}");
}

#[test]
fn a_suite_that_cannot_be_read_is_named_with_its_line_and_is_not_enough() {
    let sandbox = Sandbox::with(
        "score-broken-suite",
        &[
            ("tasks/tickets.yaml", TASK),
            ("tasks/churn.yaml", "name: churn\nvariations: [\n"),
            ("results/tickets-tool_calling-claude-variation0.yaml", ANSWERED),
            ("results/churn-tool_calling-claude-variation0.yaml", ANSWERED),
        ],
    );
    let ran = sandbox.run(&["score"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(ran.out.contains("The suite of the task churn cannot be read"), "{}", ran.out);
    assert!(ran.err.starts_with("tasks/churn.yaml, line "), "{}", ran.err);
    let json = sandbox.run(&["score", "--json"]).json();
    assert!(json[0]["reason"].as_str().unwrap().contains("tasks/churn.yaml, line "), "{}", json[0]);
    let ran = sandbox.run(&["score", "--fail-under", "0.5"]);
    assert!(ran.status == 1 && ran.err.contains("One suite cannot be read"), "{ran:?}");
    let report = sandbox.run(&["report", "--format", "md", "--out", "-"]).out;
    assert!(
        report
            .contains("1 run has no score: there is no suite for the task, or it cannot be read."),
        "{report}"
    );
}

#[test]
fn files_that_cannot_be_read_are_counted_by_themselves_and_are_not_enough() {
    let sandbox = Sandbox::with(
        "score-damaged",
        &[
            ("tasks/tickets.yaml", TASK),
            ("results/tickets-tool_calling-claude-variation0.yaml", ANSWERED),
            ("results/tickets-tool_calling-o1-variation0.yaml", "output: {unclosed: [\n"),
        ],
    );
    let ran = sandbox.run(&["score"]);
    assert!(
        ran.status == 0 && ran.out.contains("counted apart: 1 that cannot be read\n"),
        "{ran:?}"
    );
    assert!(ran.out.contains("damaged") && !ran.out.contains("not ended"), "{}", ran.out);
    let ran = sandbox.run(&["score", "--fail-under", "0.5"]);
    assert!(ran.status == 1 && ran.err.contains("One file cannot be read"), "{ran:?}");
    let others = sandbox.run(&["score", "--fail-under", "0.5", "--filter", "model:claude"]);
    assert_eq!(
        (others.status, others.err.as_str()),
        (0, ""),
        "what was not asked for does not count"
    );
}

#[test]
fn runs_whose_score_is_not_known_yet_are_not_enough_and_say_why() {
    let right = "results/tickets-tool_calling-claude-variation0.yaml";
    let other = "results/tickets-tool_calling-o1-variation0.yaml";
    let waiting = ANSWERED.split("  - assistant_message").next().unwrap();
    let gold = TASK.replace("expected_output: [{ ticket_id: 7 }]", "ground_truth_path: gold.json");
    let second = "results/gold-tool_calling-o1-variation0.yaml";
    let judged = TASK.replace("variations:", "scorers: [judge:sopr]\nvariations:");
    let third = "results/judged-tool_calling-o1-variation0.yaml";
    for (name, more, why) in [
        ("score-open", vec![(other, waiting)], "One run has not ended, so its score is not known."),
        (
            "score-gold",
            vec![("tasks/gold.yaml", gold.as_str()), (second, ANSWERED)],
            "One run has an expected output that cannot be read",
        ),
        (
            "score-unasked",
            vec![("tasks/judged.yaml", judged.as_str()), (third, ANSWERED)],
            "One run waits for a scorer that was not asked",
        ),
    ] {
        let files = [vec![("tasks/tickets.yaml", TASK), (right, ANSWERED)], more].concat();
        let sandbox = Sandbox::with(name, &files);
        let ran = sandbox.run(&["score", "--fail-under", "0.5"]);
        assert!(ran.status == 1 && ran.err.contains(why), "{ran:?}");
        let without =
            sandbox.run(&["score", "--fail-under", "0.5", "--filter", "task:tickets model:claude"]);
        assert_eq!(without.status, 0, "what was not asked for does not count: {without:?}");
    }
}

#[test]
fn a_report_says_of_each_run_why_it_has_no_score_as_it_is() {
    let gold = TASK.replace("expected_output: [{ ticket_id: 7 }]", "ground_truth_path: gold.json");
    let sandbox = Sandbox::with(
        "report-why",
        &[
            ("tasks/tickets.yaml", TASK),
            ("tasks/gold.yaml", &gold),
            ("results/gold-tool_calling-claude-variation0.yaml", ANSWERED),
            ("results/tickets-tool_calling-claude-variation7.yaml", ANSWERED),
            ("results/churn-tool_calling-claude-variation0.yaml", ANSWERED),
        ],
    );
    let notes = sandbox.run(&["report", "--format", "md", "--out", "-"]).out;
    let lines = sandbox.run(&["report", "--format", "csv", "--out", "-"]).out;
    for why in [
        "The expected output in gold.json could not be read",
        "The suite has no variation like this one any more.",
        "there is no suite for the task, or it cannot be read.",
    ] {
        assert!(
            notes.contains(&format!("- 1 run has no score: {why}")),
            "{why} is missing in\n{notes}"
        );
        assert!(lines.contains(why), "{why} is missing in\n{lines}");
    }
}

#[test]
fn a_filter_that_is_not_understood_stops_what_counts_and_writes_nothing() {
    let sandbox = two("score-filter");
    for command in [&["score"][..], &["stats"], &["report", "--out", "made"]] {
        let ran = sandbox.run(&[command, &["--filter", "sytem:promptql"]].concat());
        assert_eq!((ran.status, ran.out.as_str()), (2, ""), "{ran:?}");
        assert!(ran.err.contains("sytem"), "{}", ran.err);
    }
    assert!(!sandbox.folder.join("made").exists());
}

#[test]
fn a_report_says_who_scored_why_runs_have_no_score_and_where_people_say_otherwise() {
    let sandbox = Sandbox::usual("report-notes");
    let file = "results/tickets-tool_calling-claude-variation0.yaml";
    let ran = sandbox.run(&["review", file, "wrong", "--note", "Ticket 9 is missing."]);
    assert_eq!(ran.status, 0, "{ran:?}");
    let report = |format: &str| sandbox.run(&["report", "--format", format, "--out", "-"]).out;
    let text = report("md");
    for part in [
        "Scored by fields (version ",
        "- 1 run has no score: the file cannot be read.",
        "- 1 run has no score: not ended yet.",
        "- Reviews differ from scores: one run that passed is not right.",
        "| wrong: Ticket 9 is missing. |",
    ] {
        assert!(text.contains(part), "{part} is missing in\n{text}");
    }
    assert!(report("html").contains("wrong: Ticket 9 is missing."));
    let nobody =
        sandbox.run(&["report", "--format", "md", "--out", "-", "--filter", "model:nobody"]).out;
    assert!(nobody.contains("No run passes the filter."), "{nobody}");
    let empty = Sandbox::with(
        "report-empty",
        &[("tasks/tickets.yaml", TASK), ("results/readme.md", "nothing")],
    );
    let nothing = empty.run(&["report", "--format", "md", "--out", "-"]).out;
    assert!(
        nothing.contains("No runs were found in this folder.") && !nothing.contains("filter"),
        "{nothing}"
    );
}

#[test]
fn a_report_that_is_read_as_runs_is_not_put_among_them_and_says_which_had_not_ended() {
    let sandbox = Sandbox::usual("report-azure");
    let among = sandbox.run(&["report", "--format", "azure", "--out", "results/made"]);
    assert!(among.status == 2 && among.err.contains("would be read as a run"), "{among:?}");
    let beside = sandbox.run(&["report", "--format", "azure", "--out", "made"]);
    assert_eq!(beside.status, 0, "{beside:?}");
    assert_eq!(sandbox.run(&["list", "--json"]).json().len(), 4);
    let read_back = sandbox.run(&["list", "-i", "tasks", "-o", "made", "--json"]).json();
    let told: Vec<(&str, &str)> = read_back
        .iter()
        .map(|row| (row["model"].as_str().unwrap(), row["state"].as_str().unwrap()))
        .collect();
    assert_eq!(told, [("claude", "answered"), ("o1", "error"), ("o3-mini", "waiting")]);
    assert!(read_back[2]["score"].is_null(), "{}", read_back[2]);
}

#[test]
fn a_scorer_that_does_not_exist_ends_with_two_only_where_its_suite_is_asked_about_whoever_counts_by_it()
 {
    let sandbox = Sandbox::with(
        "score-others-suite",
        &[
            ("tasks/tickets.yaml", TASK),
            ("tasks/bad.yaml", &format!("{TASK}scorers: [exakt]\n")),
            ("results/tickets-tool_calling-claude-variation0.yaml", ANSWERED),
            ("results/bad-tool_calling-claude-variation0.yaml", ANSWERED),
        ],
    );
    let out = sandbox.folder.join("report");
    let out = out.to_str().unwrap();
    for command in [
        &["score", ".", "--fail-under", "0.5"][..],
        &["stats", "."],
        &["report", ".", "--format", "md", "--out", out],
    ] {
        let asked = |filter: &str| sandbox.run(&[command, &["--filter", filter]].concat());
        let (other, own) = (asked("task:tickets"), asked("task:bad"));
        assert_eq!(
            (other.status, other.err.contains("exakt")),
            (0, false),
            "{command:?} {other:?}"
        );
        assert_eq!(
            (own.status, own.err.contains("`exakt` is not a scorer")),
            (2, true),
            "{command:?} {own:?}"
        );
        assert_eq!(sandbox.run(command).status, 2, "{command:?}");
    }
}
