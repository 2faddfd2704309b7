//! Tests of the scorers for queries of `StableToolBench`.
use super::{format_score, scorer};
use touchstone_formats::stabletoolbench::{Api, Query, names};
use touchstone_judges::stabletoolbench::Offered;
use touchstone_model::run::CallInfo;
use touchstone_model::value::Value;
use touchstone_scoring::scorers::{Case, Outcome, query_scorers, score};

const LONG: &str = "Over And Over The Same Long Words In Every Name Of This Tool";

fn offered() -> Offered {
    let pairs =
        [("Sky_v2", "Stars"), ("Sky_v2", "Moons"), (LONG, "Today Sure"), (LONG, "Tomorrow Sure")];
    let apis = pairs
        .map(|(tool, name)| Api { tool: tool.into(), name: name.into(), ..Api::default() })
        .to_vec();
    let gold = vec![apis[0].pair(), apis[2].pair(), apis[3].pair()];
    Offered::from_query(&Query { apis, gold, ..Query::default() })
}

fn score_calls(line: &str, called: &[&str], answer: Option<&str>) -> Outcome {
    let offered = offered();
    let calls: Vec<(String, bool)> = called
        .iter()
        .map(|name| (name.trim_end_matches('!').to_owned(), name.ends_with('!')))
        .collect();
    let answer = answer.map(Value::from);
    let case =
        Case { offered: Some(&offered), calls: &calls, answer: answer.as_ref(), ..Case::default() };
    score(&scorer(line), &case)
}

fn line(line: &str, called: &[&str], answer: Option<&str>) -> String {
    let Outcome::Scored(scored) = score_calls(line, called, answer) else { panic!("{line}") };
    let detail: Vec<String> =
        scored.detail.iter().map(|(name, value)| format!("{name}: {value}")).collect();
    format!("{} [{}]", format_score(&scored), detail.join("; "))
}

#[test]
fn api_calls_says_which_apis_of_the_query_were_called() {
    let shared = names::function_name(LONG, "Tomorrow Sure");
    let found: Vec<String> = [
        &["stars_for_sky_v2", "Finish"][..],
        &["Sky_v2_Stars", "Sky_v2 Moons!", "weather", "weather"],
        &[&shared],
        &[],
    ]
    .iter()
    .map(|called| line("api_calls", called, None))
    .collect();
    insta::assert_snapshot!(found.join("\n"), @"
    0.3333 failed: 1 of 3 gold APIs called, never called: `Today Sure`, `Tomorrow Sure` [called: 1 \
        of 3; precision: 1; gold, called: `Stars of Sky_v2`; gold, not called: `Today Sure of Over \
        And Over The Same Long Words In Every Name Of This Tool`, `Tomorrow Sure of Over And Over \
        The Same Long Words In Every Name Of This Tool`; calls: 2; failed: 0]
    0.3333 failed: 1 of 3 gold APIs called, never called: `Today Sure`, `Tomorrow Sure`, no API of \
        the query: `weather`, 1 of 4 calls failed [called: 1 of 3; precision: 0.3333; gold, \
        called: `Stars of Sky_v2`; gold, not called: `Today Sure of Over And Over The Same Long \
        Words In Every Name Of This Tool`, `Tomorrow Sure of Over And Over The Same Long Words In \
        Every Name Of This Tool`; others: `Moons of Sky_v2`; calls: 4; failed: 1]
    0.3333 failed: 1 of 3 gold APIs called, never called: `Stars`, `Tomorrow Sure`, ambiguous: the \
        name of a function stands for several APIs, and the first of them counts [called: 1 of 3; \
        precision: 1; gold, called: `Today Sure of Over And Over The Same Long Words In Every Name \
        Of This Tool`; gold, not called: `Stars of Sky_v2`, `Tomorrow Sure of Over And Over The \
        Same Long Words In Every Name Of This Tool`; if each API of a shared name counted: 0.6667; \
        calls: 1; failed: 0]
    0.0000 failed: none of 3 gold APIs called, never called: `Stars`, `Today Sure`, `Tomorrow \
        Sure` [called: 0 of 3; precision: –; gold, not called: `Stars of Sky_v2`, `Today Sure of \
        Over And Over The Same Long Words In Every Name Of This Tool`, `Tomorrow Sure of Over And \
        Over The Same Long Words In Every Name Of This Tool`; calls: 0; failed: 0]
    ");
    let seed = line("api_calls: seed", &["stars_for_sky_v2", "Sky_v2_Stars"], Some("x"));
    insta::assert_snapshot!(seed, @"0.0000 failed: 0 as the original counts: what stands before the first `_` of a name is taken for the tool []");
}

#[test]
fn finish_is_told_by_the_rule_that_is_named() {
    let mut found = Vec::new();
    for rule in ["finish", "finish: official", "finish: document", "finish: seed"] {
        for (called, answer) in [
            (&["a", "Finish"][..], Some("x")),
            (&["Finish"], None),
            (&["Finish", "a"], Some("x")),
            (&["a"], Some("x")),
        ] {
            let said = line(rule, called, answer);
            let said = said.split(" [").next().unwrap_or_default();
            found.push(format!(
                "{rule}, {}{}: {said}",
                called.join(" "),
                answer.map_or("", |_| " with an answer")
            ));
        }
    }
    insta::assert_snapshot!(found.join("\n"), @r"
    finish, a Finish with an answer: 1.0000 passed: `Finish` was called, and its arguments are unknown
    finish, Finish: 1.0000 passed: `Finish` was called, and its arguments are unknown
    finish, Finish a with an answer: 1.0000 passed: `Finish` was called, and its arguments are unknown
    finish, a with an answer: 0.0000 failed: `Finish` was never called
    finish: official, a Finish with an answer: 1.0000 passed: `Finish` is the last tool call
    finish: official, Finish: 1.0000 passed: `Finish` is the last tool call
    finish: official, Finish a with an answer: 0.0000 failed: `Finish` is not the last tool call
    finish: official, a with an answer: 0.0000 failed: `Finish` is not the last tool call
    finish: document, a Finish with an answer: 1.0000 passed: `Finish` was called
    finish: document, Finish: 1.0000 passed: `Finish` was called
    finish: document, Finish a with an answer: 1.0000 passed: `Finish` was called
    finish: document, a with an answer: 0.0000 failed: `Finish` was never called
    finish: seed, a Finish with an answer: 0.0000 failed: the original looks for `Finish` in the wrong place, and never finds it
    finish: seed, Finish: 0.0000 failed: the original looks for `Finish` in the wrong place, and never finds it
    finish: seed, Finish a with an answer: 0.0000 failed: the original looks for `Finish` in the wrong place, and never finds it
    finish: seed, a with an answer: 0.0000 failed: the original looks for `Finish` in the wrong place, and never finds it
    ");
}

#[test]
fn an_answer_that_was_handed_over_is_finished_and_one_that_gave_up_is_not_whatever_is_taken_for_the_answer()
 {
    let (offered, answer, calls) = (offered(), Value::from("x"), [("Finish".to_owned(), false)]);
    for (gave_up, answer, score_of) in [
        (Some(true), Some(&answer), 0.0),
        (Some(false), None, 1.0),
        (None, None, 1.0),
        (None, Some(&answer), 1.0),
    ] {
        let told = CallInfo { gave_up, ..CallInfo::default() };
        let case = Case {
            offered: Some(&offered),
            calls: &calls,
            answer,
            told: Some(&told),
            ..Case::default()
        };
        let Outcome::Scored(scored) = score(&scorer("finish"), &case) else {
            panic!("{gave_up:?}")
        };
        assert_eq!(scored.score, Some(score_of), "{gave_up:?}, {answer:?}");
    }
}

#[test]
fn apis_that_a_file_names_count_as_they_are_named_and_where_nothing_is_told_there_is_no_score() {
    let offered = offered();
    let of = |line: &str, told: &CallInfo| {
        let outcome = score(
            &scorer(line),
            &Case { offered: Some(&offered), told: Some(told), ..Case::default() },
        );
        if let Outcome::Scored(scored) = outcome { scored.score } else { None }
    };
    let named = CallInfo {
        apis: Some(vec![offered.apis[3].clone(), offered.apis[0].clone()]),
        ..CallInfo::default()
    };
    assert_eq!(of("api_calls", &named), Some(2.0 / 3.0), "the second of two that share a name");
    assert_eq!((of("finish", &named), of("seed_heuristic", &named)), (None, None));
    let untold = CallInfo { untold: true, ..CallInfo::default() };
    for line in ["api_calls", "api_calls: seed", "finish", "seed_heuristic"] {
        assert_eq!(of(line, &untold), None, "{line}");
    }
    assert_eq!(of("api_calls", &CallInfo::default()), Some(0.0), "nothing was called");
}

#[test]
fn the_heuristic_says_that_it_is_no_judgement() {
    let long = "All that you asked for is in this answer, word by word, and more.";
    let found: Vec<String> = [
        ("seed_heuristic", &["stars_for_sky_v2", "Finish"][..], Some(long)),
        ("seed_heuristic", &["stars_for_sky_v2"], Some(long)),
        ("seed_heuristic", &["Finish"], None),
        ("seed_heuristic: seed", &["stars_for_sky_v2", "Finish"], Some(long)),
    ]
    .map(|(rule, called, answer)| line(rule, called, answer))
    .to_vec();
    insta::assert_snapshot!(found.join("\n"), @"
    0.5000 failed: not a judgement: “All that you asked for is in this answer…”, finished, API \
        call score 0.3333 [status: Unsure; finished: yes; API call score: 0.3333; length: 65]
    0.5000 failed: not a judgement: “All that you asked for is in this answer…”, not finished, API \
        call score 0.3333 [status: Unsure; finished: no; API call score: 0.3333; length: 65]
    0.0000 failed: not a judgement: there is no answer [status: Unsolved; finished: yes; API call score: 0; length: 0]
    0.5000 failed: not a judgement: “All that you asked for is in this answer…”, not finished, API \
        call score 0 [status: Unsure; finished: no; API call score: 0; length: 65]
    ");
}

#[test]
fn other_tasks_have_no_apis_to_call_and_no_finish() {
    assert_eq!(
        query_scorers().iter().map(touchstone_scoring::scorers::Scorer::name).collect::<Vec<_>>(),
        ["api_calls", "finish", "seed_heuristic", "judge:sopr", "judge:fac"]
    );
    for line in ["finish", "seed_heuristic"] {
        let outcome = score(&scorer(line), &Case::default());
        assert_eq!(
            outcome,
            Outcome::NoExpected("The task is not a query of StableToolBench.".to_owned()),
            "{line}"
        );
    }
    let nothing = Offered::default();
    let outcome = score(&scorer("api_calls"), &Case { offered: Some(&nothing), ..Case::default() });
    assert_eq!(outcome, Outcome::NoExpected("The query does not list its gold APIs.".to_owned()));
}
