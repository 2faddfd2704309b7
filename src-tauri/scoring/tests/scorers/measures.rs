//! `numeric` compares numbers, so a number that may be wrong tells no row from another.
use super::{scored, scorer, told};
use proptest::prelude::*;
use touchstone_formats::value::Value;
use touchstone_scoring::scorers::{Case, Outcome, Scored, score};

fn told_of(line: &str, expected: &str, answer: &str) -> String {
    told(&scored(line, expected, answer))
}

#[test]
fn a_number_that_is_compared_is_no_key() {
    let groups =
        "[{category: bug, plan: free, n: 12}, {category: bug, plan: base, n: 7}, {category: down, plan: free, n: 3}]";
    let turned =
        "[{category: bug, plan: free, n: 7}, {category: bug, plan: base, n: 3}, {category: down, plan: free, n: 12}]";
    for line in ["numeric", "numeric: {field: n}", "numeric: n"] {
        insta::allow_duplicates! {
            insta::assert_snapshot!(told_of(line, groups, turned), @"0.0000 failed: none of 3 numbers right, farthest: down / free n 3 → 12, 9 above (300 %), beyond the cutoff");
        }
    }
    let months = "[{month: 1, total: 5}, {month: 2, total: 6}, {month: 3, total: 9}]";
    let turned = "[{month: 1, total: 6}, {month: 2, total: 9}, {month: 3, total: 5}]";
    for line in ["numeric", "numeric: {field: total}", "numeric: {key: month}"] {
        insta::allow_duplicates! {
            insta::assert_snapshot!(told_of(line, months, turned), @"0.0000 failed: none of 3 numbers right, farthest: #3 total 9 → 5, 4 below (44.4444 %), beyond the cutoff");
        }
    }
    // A year names its row, and not what was earned in it.
    let years = "[{year: 2021, earned: 500}, {year: 2022, earned: 900}]";
    insta::assert_snapshot!(told_of("numeric", years, "[{year: 2022, earned: 500}, {year: 2021, earned: 900}]"), @"0.0000 failed: none of 2 numbers right, farthest: #2021 earned 500 → 900, 400 above (80 %), beyond the cutoff");
    let spelled = "[{name: Bug, count: 12}, {name: Downtime, count: 7}]";
    insta::assert_snapshot!(told_of("numeric: {field: count}", spelled, "[{name: bug, count: 7}, {name: downtime, count: 12}]"), @"0.0000 failed: none of 2 numbers right, farthest: count 12 → 7, 5 below (41.6667 %), beyond the cutoff");
}

#[test]
fn whether_a_number_is_expected_is_no_question_of_the_answer() {
    insta::assert_snapshot!(told_of("numeric", "[{n: 5}, {n: 6}]", "[{n: 5}, {n: 7}]"), @"0.5000 failed: 1 of 2 numbers right, farthest: n 6 → 7, 1 above (16.6667 %), beyond the cutoff");
    insta::assert_snapshot!(told_of("numeric", "[{n: 5}, {n: 6}]", "[{n: 6}, {n: 5}]"), @"1.0000 passed: both numbers right");
    insta::assert_snapshot!(told_of("numeric", "[{n: 5}, {n: 6}]", "[{n: 50}, {n: 60}]"), @"0.0000 failed: none of 2 numbers right, farthest: n 6 → 60, 54 above (900 %), beyond the cutoff");
}

/// Rows of two names and two numbers; few values, so that they meet often.
fn groups() -> impl Strategy<Value = Vec<Value>> {
    let row = |(a, b, n, m): (u8, u8, u8, u8)| {
        let number = |n: u8| Value::Number(n.to_string());
        let text = |n: u8| Value::from(format!("name {n}").as_str());
        Value::Map(vec![("a".into(), text(a)), ("b".into(), text(b)), ("n".into(), number(n)), ("m".into(), number(m))])
    };
    prop::collection::vec((0..3_u8, 0..3_u8, 0..9_u8, 0..9_u8).prop_map(row), 1..6)
}

fn scored_as(line: &str, expected: &[Value], answer: &[Value]) -> Scored {
    let (expected, answer) = (Value::List(expected.to_vec()), Value::List(answer.to_vec()));
    match score(&scorer(line), &Case { expected: Some(&expected), answer: Some(&answer), ..Case::default() }) {
        Outcome::Scored(scored) => scored,
        other => panic!("{line}: {other:?}"),
    }
}

proptest! {
    #[test]
    fn rows_with_numbers_always_have_a_score(expected in groups(), answer in groups()) {
        for line in ["numeric", "numeric: n", "numeric: {field: [n, m]}"] {
            prop_assert!(scored_as(line, &expected, &answer).score.is_some(), "{line}");
        }
    }

    #[test]
    fn the_order_of_the_answer_is_none_of_its_numbers(expected in groups(), turn in any::<prop::sample::Index>()) {
        let mut turned = expected.clone();
        turned.rotate_left(turn.index(expected.len()));
        for line in ["numeric", "numeric: n", "numeric: {field: [n, m]}"] {
            let scored = scored_as(line, &expected, &turned);
            prop_assert_eq!((scored.score, scored.passed), (Some(1.0), Some(true)), "{}: {}", line, scored.reason);
        }
    }
}
