//! Tests of cases other than one answer with one expected value.
use super::{format_score, scorer, value};
use touchstone_scoring::scorers::{Case, Need, Outcome, score};

#[test]
fn without_an_answer_the_score_is_0_and_without_anything_expected_there_is_none() {
    let (list, text) = (value("[1, 2]"), value("Paris"));
    for line in
        ["exact", "fields", "numeric", "prefix_list", "similar_list", "kendall_tau", "python: a.py"]
    {
        let Outcome::Scored(scored) =
            score(&scorer(line), &Case { expected: Some(&list), ..Case::default() })
        else {
            panic!("{line}")
        };
        assert_eq!(format_score(&scored), "0.0000 failed: no answer", "{line}");
        let nothing = Case { answer: Some(&list), ..Case::default() };
        assert_eq!(
            score(&scorer(line), &nothing),
            Outcome::NoExpected("There is no expected output.".to_owned())
        );
    }
    for line in ["text: f1", "string_check: like", "text_similarity: fuzzy"] {
        let case = Case { expected: Some(&text), said: "It is Paris.", ..Case::default() };
        let Outcome::Scored(scored) = score(&scorer(line), &case) else { panic!("{line}") };
        assert!(
            scored.score > Some(0.0) && scored.reason.ends_with(", in the last message"),
            "{}",
            format_score(&scored)
        );
        let silent = score(&scorer(line), &Case { said: "  ", ..case });
        assert!(
            matches!(&silent, Outcome::Scored(scored) if format_score(scored) == "0.0000 failed: no answer"),
            "{silent:?}"
        );
    }
}

#[test]
fn what_a_scorer_cannot_compare_is_no_fault_of_the_answer() {
    for (line, expected, sentence) in [
        ("numeric", "Paris", "`numeric` compares numbers, and the text “Paris” is expected."),
        ("numeric", "[a, b]", "`numeric` compares numbers, and no number is expected."),
        (
            "numeric: age",
            "[{score: 1}]",
            "`numeric: age` compares numbers, and no number is expected in `age`.",
        ),
        ("kendall_tau", "{a: 1}", "`kendall_tau` compares lists, and an object is expected."),
        ("prefix_list", "5", "`prefix_list` compares lists, and the number 5 is expected."),
    ] {
        let (expected, answer) = (value(expected), value("[1]"));
        for answer in [Some(&answer), None] {
            let found = score(
                &scorer(line),
                &Case { expected: Some(&expected), answer, ..Case::default() },
            );
            assert_eq!(found, Outcome::Unfit(sentence.to_owned()), "{line}");
        }
    }
}

#[test]
fn programs_and_models_are_asked_for_and_not_run() {
    let one = value("1");
    let case = Case { expected: Some(&one), answer: Some(&one), ..Case::default() };
    assert_eq!(
        score(&scorer("python: a.py"), &case),
        Outcome::Needs(Need::Program("a.py".to_owned()))
    );
    assert_eq!(
        score(&scorer("judge:relevance"), &case),
        Outcome::Needs(Need::Model("relevance".to_owned()))
    );
}

#[test]
fn the_key_of_the_suite_is_what_rows_are_told_apart_by() {
    let expected = value("[{ticket_id: 1}, {ticket_id: 2}]");
    let answer = value("[{rank: 7, ticket_id: 1}, {rank: 8, ticket_id: 2}]");
    let case = Case { expected: Some(&expected), answer: Some(&answer), ..Case::default() };
    let points = |key| {
        let Outcome::Scored(scored) = score(&scorer("kendall_tau"), &Case { key, ..case }) else {
            panic!("{key:?}")
        };
        scored.score
    };
    assert_eq!((points(None), points(Some("ticket_id"))), (Some(0.0), Some(1.0)));
}

#[test]
fn an_answer_with_nothing_left_to_compare_is_right_only_when_nothing_differs() {
    let expected = value("{a: 1}");
    for (answer, told_as) in [("{a: 2}", "1.0000 passed"), ("wrong", "0.0000 failed")] {
        let answer = value(answer);
        let case = Case { expected: Some(&expected), answer: Some(&answer), ..Case::default() };
        let Outcome::Scored(scored) = score(&scorer("fields: {ignore: a}"), &case) else {
            panic!("{answer:?}")
        };
        assert!(format_score(&scored).starts_with(told_as), "{}", format_score(&scored));
    }
}
