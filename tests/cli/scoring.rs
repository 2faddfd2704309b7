//! `score` and the scores in `list`: by the real program.
use crate::sandbox::{ANSWERED, Sandbox};
use serde_json::{Value, json};

const TASK: &str = "tool_calling_prompt: List the tickets.\nvariations:\n  - expected_output: [{ ticket_id: 7 }]\n";
const WRONG: &str =
    "conversation:\n  - user_message: List them.\n  - assistant_message: Here.\nanswer:\n  - ticket_id: 8\n";

/// One run that is right, one that is wrong.
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
        let keys = ["path", "scorer", "score", "passed", "reason", "detail"];
        assert_eq!(row.as_object().unwrap().keys().collect::<Vec<_>>(), keys);
    }
    let told: Vec<_> = rows.iter().map(|row| (&row["score"], &row["passed"])).collect();
    let none = (&Value::Null, &Value::Null);
    assert_eq!(told, [none, (&json!(1.0), &json!(true)), none, none], "what did not end has no score");
    assert_eq!(rows[1]["scorer"], "fields");
    assert!(rows[1]["detail"].as_object().is_some_and(|detail| !detail.is_empty()), "{}", rows[1]);
    assert!(rows[2]["reason"].as_str().unwrap().contains("status 529"), "{}", rows[2]);
    assert_eq!(ran.status, 1, "a run ended in an error");
    assert!(ran.err.contains("fields: mean 1.000 of 1 runs, 1 passed (100 %)"), "{}", ran.err);
    assert!(ran.err.contains("1 ended in a system error"), "{}", ran.err);
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
    let (status, said) =
        (sandbox.run(&["score", "--fail-under", "0", "--filter", "model:nobody"]).status, tried("2").1);
    assert_eq!(status, 1, "nothing was scored, so nothing was enough");
    assert!(said.contains("from 0 to 1"), "{said}");
}

#[test]
fn a_scorer_that_no_suite_names_is_computed_over_what_is_on_disk() {
    let sandbox = two("score-named");
    let of = |arguments: &[&str]| {
        let ran = sandbox.run(&[&["score", "--json"], arguments].concat());
        assert_eq!(ran.status, 0, "{ran:?}");
        ran.json().iter().map(|row| format!("{} {}", row["scorer"].as_str().unwrap(), row["score"])).collect::<Vec<_>>()
    };
    assert_eq!(of(&["--scorer", "exact"]), ["exact 1.0", "exact 0.0"]);
    assert_eq!(of(&["--scorer", "exact", "--scorer", "tool_calls", "--filter", "model:o1"]).len(), 2);
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
    let told: Vec<_> = rows.iter().map(|row| (row["score"].as_f64(), row["passed"].as_bool())).collect();
    assert_eq!(told, [(Some(0.0), Some(false)), (Some(1.0), Some(true))]);
    assert!(rows[0]["reason"].as_str().is_some_and(|reason| reason.contains("ticket_id 7 → 8")), "{}", rows[0]);
    let words = sandbox.run(&["list", "--filter", "passed:yes"]).out;
    assert!(words.lines().count() == 2 && words.contains("1.00  yes"), "{words}");
}
