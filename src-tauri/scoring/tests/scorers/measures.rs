//! Tests of the weights of parts, and of the distance of numbers. `numeric` compares numbers,
//! therefore a number that may be wrong does not identify a row.
use super::{format_score, scored, scorer, value};
use proptest::prelude::*;
use touchstone_model::value::Value;
use touchstone_scoring::diff::{Alignment, ExtraFields, Measured, Node, diff};
use touchstone_scoring::scorers::{Case, Outcome, Scored, comparison, score};

fn format_answer_score(line: &str, expected: &str, answer: &str) -> String {
    format_score(&scored(line, expected, answer))
}

#[test]
fn a_number_that_is_compared_is_no_key() {
    let groups = "[{category: bug, plan: free, n: 12}, {category: bug, plan: base, n: 7}, {category: down, plan: free, n: 3}]";
    let turned = "[{category: bug, plan: free, n: 7}, {category: bug, plan: base, n: 3}, {category: down, plan: free, n: 12}]";
    for line in ["numeric", "numeric: {field: n}", "numeric: n"] {
        insta::allow_duplicates! {
            insta::assert_snapshot!(format_answer_score(line, groups, turned), @"\
                0.0000 failed: none of 3 numbers right, farthest: down / free n 3 → 12, 9 above \
                (300 %), beyond the cutoff");
        }
    }
    let months = "[{month: 1, total: 5}, {month: 2, total: 6}, {month: 3, total: 9}]";
    let turned = "[{month: 1, total: 6}, {month: 2, total: 9}, {month: 3, total: 5}]";
    for line in ["numeric", "numeric: {field: total}", "numeric: {key: month}"] {
        insta::allow_duplicates! {
            insta::assert_snapshot!(format_answer_score(line, months, turned), @"\
                0.0000 failed: none of 3 numbers right, farthest: #3 total 9 → 5, 4 below (44.4444 \
                %), beyond the cutoff");
        }
    }
    // A year identifies its row, an amount does not.
    let years = "[{year: 2021, earned: 500}, {year: 2022, earned: 900}]";
    insta::assert_snapshot!(format_answer_score("numeric", years, "[{year: 2022, earned: 500}, \
        {year: 2021, earned: 900}]"), @"\
        0.0000 failed: none of 2 numbers right, farthest: #2021 earned 500 → 900, 400 above (80 \
        %), beyond the cutoff");
    let spelled = "[{name: Bug, count: 12}, {name: Downtime, count: 7}]";
    insta::assert_snapshot!(format_answer_score("numeric: {field: count}", spelled, "\
        [{name: bug, count: 7}, {name: downtime, count: 12}]"), @"\
        0.0000 failed: none of 2 numbers right, farthest: count 12 → 7, 5 below (41.6667 %), \
        beyond the cutoff");
}

#[test]
fn whether_a_number_is_expected_is_no_question_of_the_answer() {
    insta::assert_snapshot!(format_answer_score("numeric", "[{n: 5}, {n: 6}]", "[{n: 5}, {n: 7}]"), @"\
        0.5000 failed: 1 of 2 numbers right, farthest: n 6 → 7, 1 above (16.6667 %), beyond the cutoff");
    insta::assert_snapshot!(format_answer_score("numeric", "[{n: 5}, {n: 6}]", "[{n: 6}, {n: 5}]"), @"1.0000 passed: both numbers right");
    insta::assert_snapshot!(format_answer_score("numeric", "[{n: 5}, {n: 6}]", "[{n: 50}, {n: 60}]"), @"\
        0.0000 failed: none of 2 numbers right, farthest: n 6 → 60, 54 above (900 %), beyond the \
        cutoff");
}

/// Generates rows of two names and two numbers, with few values to make collisions frequent.
fn groups() -> impl Strategy<Value = Vec<Value>> {
    let row = |(a, b, n, m): (u8, u8, u8, u8)| {
        let number = |n: u8| Value::Number(n.to_string());
        let text = |n: u8| Value::from(format!("name {n}").as_str());
        Value::Map(vec![
            ("a".into(), text(a)),
            ("b".into(), text(b)),
            ("n".into(), number(n)),
            ("m".into(), number(m)),
        ])
    };
    prop::collection::vec((0..3_u8, 0..3_u8, 0..9_u8, 0..9_u8).prop_map(row), 1..6)
}

fn scored_as(line: &str, expected: &[Value], answer: &[Value]) -> Scored {
    let (expected, answer) = (Value::List(expected.to_vec()), Value::List(answer.to_vec()));
    match score(
        &scorer(line),
        &Case { expected: Some(&expected), answer: Some(&answer), ..Case::default() },
    ) {
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

/// Generates rows that are identified by a team and a number together (neither is sufficient alone
/// when there are several), and an answer with all names whose measurements are moved to other
/// rows.
fn measured_elsewhere() -> impl Strategy<Value = (Vec<Value>, Vec<Value>)> {
    let parts = (1..4_usize, 2..4_usize, prop::sample::select(vec![1_usize, 2021]), 0..3_u8);
    (parts, any::<prop::sample::Index>(), any::<prop::sample::Index>()).prop_map(
        |((teams, years, first, kind), by, turn)| {
            let all = teams * years;
            let by = 1 + by.index(all - 1);
            let measure = |at: usize| match kind {
                0 => format!("{}", at + 1),
                1 => format!("{}", 10 << at),
                _ => format!("{}.5", 10 << at),
            };
            let row = |at: usize, measured: usize| {
                let number = |text: String| Value::Number(text);
                Value::Map(vec![
                    ("team".into(), Value::from(format!("team {}", at / years).as_str())),
                    ("year".into(), number((first + at % years).to_string())),
                    ("earned".into(), number(measure(measured))),
                ])
            };
            let expected = (0..all).map(|at| row(at, at)).collect();
            let mut answer: Vec<Value> = (0..all).map(|at| row(at, (at + by) % all)).collect();
            answer.rotate_left(turn.index(all));
            (expected, answer)
        },
    )
}

proptest! {
    #[test]
    fn what_was_measured_of_other_rows_is_never_right((expected, answer) in measured_elsewhere()) {
        for line in ["numeric", "numeric: earned", "numeric: {field: earned}"] {
            let scored = scored_as(line, &expected, &answer);
            prop_assert_eq!((scored.score, scored.passed), (Some(0.0), Some(false)), "{}: {}", line, scored.reason);
        }
    }
}

#[test]
fn a_text_and_a_number_together_may_tell_rows_apart() {
    let expected = "[{team: A, year: 2021, earned: 10.5}, {team: A, year: 2022, earned: 20.5}, \
                     {team: B, year: 2021, earned: 30.5}, {team: B, year: 2022, earned: 40.5}]";
    let swapped = "[{team: A, year: 2021, earned: 20.5}, {team: A, year: 2022, earned: 10.5}, \
                    {team: B, year: 2021, earned: 40.5}, {team: B, year: 2022, earned: 30.5}]";
    for line in ["numeric", "numeric: {field: earned}"] {
        let found = scored(line, expected, swapped);
        assert_eq!(
            (found.score, found.passed),
            (Some(0.0), Some(false)),
            "{line}: {}",
            found.reason
        );
    }
}

#[test]
fn what_is_measured_makes_no_rows_alike() {
    // One team occurs twice and all are spelled differently, therefore no field is a key.
    let expected = "[{team: red one, of: x, n: 10}, {team: blue two, of: x, n: 50}, {team: blue two, of: x, n: 51}]";
    let answer = "[{team: Red uno, of: x, n: 50}, {team: Blue due, of: x, n: 10}, {team: Blue due, of: x, n: 11}]";
    for line in ["numeric", "numeric: {field: n}"] {
        let found = scored(line, expected, answer);
        assert_eq!(
            (found.score, found.passed),
            (Some(0.0), Some(false)),
            "{line}: {}",
            found.reason
        );
    }
}

#[test]
fn a_row_whose_measure_is_null_hides_no_name() {
    let expected = "[{month: 1, total: null}, {month: 2, total: 6}, {month: 3, total: 9}]";
    let swapped = "[{month: 1, total: null}, {month: 2, total: 9}, {month: 3, total: 6}]";
    for line in ["numeric", "numeric: total"] {
        let found = scored(line, expected, swapped);
        assert_eq!(
            (found.score, found.passed),
            (Some(0.0), Some(false)),
            "{line}: {}",
            found.reason
        );
    }
}

#[test]
fn rows_are_shown_beside_those_they_are_scored_against() {
    let months = value("[{month: 1, total: 5}, {month: 2, total: 6}]");
    let swapped = value("[{month: 2, total: 5}, {month: 1, total: 6}]");
    for list in ["[numeric]", "[exact, {numeric: {field: total}}]", "[{numeric: {key: month}}]"] {
        let shown = diff(&months, &swapped, &comparison(value(list).items(), None));
        let Node::List(rows) = &shown.root else { panic!("{list}: {:?}", shown.root) };
        let Alignment::Key { fields, .. } = &rows.alignment else {
            panic!("{list}: {:?}", rows.alignment)
        };
        assert_eq!(fields, &["month"], "{list}");
    }
    // The options of `fields` take precedence.
    let both = comparison(value("[numeric, {fields: {strict: true}}]").items(), None);
    assert_eq!((both.measured, both.extra_fields), (Measured::Nothing, ExtraFields::Wrong));
}

#[test]
fn an_empty_object_is_right_only_when_nothing_came() {
    for (line, expected, answer, wanted) in [
        ("fields", "{}", "{}", "1.0000 passed"),
        ("fields", "{}", "{a: 1}", "0.0000 failed"),
        ("fields", "{user: {}, n: 1}", "{user: {a: 1}, n: 1}", "0.5000 failed"),
        ("fields", "[{id: 1, of: {}}]", "[{id: 1, of: {a: 1}}]", "0.5000 failed"),
        ("fields", "{n: 1}", "{n: 1, a: 1}", "1.0000 passed"),
        ("fields: {ignore: [a]}", "{}", "{a: 1}", "1.0000 passed"),
        ("fields: {ignore: [a]}", "{}", "{b: 1}", "0.0000 failed"),
        ("fields: {ignore: [a]}", "{user: {}, n: 1}", "{user: {a: 1}, n: 2}", "0.5000 failed"),
        ("fields", "{user: {}, n: 1}", "{user: {}, n: 2}", "0.5000 failed"),
        // A wrong value has the same weight however large the answer is.
        (
            "fields",
            "{user: {}, n: 1}",
            "{user: {a: 1, b: 2, c: {d: 3, e: 4}}, n: 1}",
            "0.5000 failed",
        ),
        ("fields: {strict: true}", "{user: {}, n: 1}", "{user: {a: 1}, n: 1}", "0.5000 failed"),
        (
            "fields: {strict: true}",
            "{user: {}, n: 1}",
            "{user: {a: 1, b: 2, c: 3}, n: 1}",
            "0.2500 failed",
        ),
    ] {
        let found = format_score(&scored(line, expected, answer));
        assert!(found.starts_with(wanted), "{line}: {expected} / {answer}: {found}");
    }
    let found = scored("fields", "{user: {}, n: 1}", "{user: {a: 1, b: 2}, n: 1}");
    let told = |name: &str| found.detail.iter().find(|(other, _)| other == name).unwrap().1.clone();
    assert_eq!(["fields", "extra", "precision", "recall"].map(told), ["1 of 2", "0", "0.5", "0.5"]);
}

#[test]
fn a_row_weighs_the_same_when_it_is_right_wrong_or_missing() {
    // Three rows, each with two fields and its position, and with two nested rows of one field and
    // its position each.
    let row = |id: u32| format!("{{id: {id}, in: [{{x: {id}}}, {{x: 9}}]}}");
    let (one, two, three) = (row(1), row(2), row(3));
    let expected = format!("[{one}, {two}, {three}]");
    for (answer, score) in [
        (format!("[{one}, {two}, {three}]"), 1.0),
        (format!("[{one}, {two}]"), 2.0 / 3.0),
        (format!("[{one}]"), 1.0 / 3.0),
        (format!("[{one}, {two}, {three}, {}]", row(4)), 3.0 / 4.0),
    ] {
        let found = scored("fields: {ordered: true, key: id}", &expected, &answer).score.unwrap();
        assert!((found - score).abs() < 1e-12, "{answer}: {found}, not {score}");
    }
    let fields = |answer: &str| scored("fields: {ordered: true}", "{a: [1, 2], b: 5}", answer);
    let weight = |answer: &str| {
        fields(answer).detail.iter().find(|(name, _)| name == "fields").unwrap().1.clone()
    };
    assert_eq!(
        ["{a: [1, 2], b: 5}", "{b: 5}", "{a: none, b: 5}"].map(weight),
        ["5 of 5", "1 of 5", "1 of 5"],
        "what is missing counts as much as it did when it was right"
    );
}

#[test]
fn only_the_number_that_was_expected_is_all_right_however_near_another_is() {
    for (expected, answer, off) in [
        ("9007199254740993", "9007199254740992", "1"),
        ("123456789012345678901234567890", "123456789012345678901234567891", "1"),
        ("1.00000000000000000001", "1", "1.00e-20"),
        ("[9007199254740993, 5]", "[9007199254740992, 5]", "1"),
    ] {
        let found = scored("numeric", expected, answer);
        assert!(found.score.unwrap() < 1.0 && found.passed == Some(false), "{expected}: {found:?}");
        let told = found.detail.iter().find(|(name, _)| name.ends_with("off") || name == "off by");
        assert_eq!(told.unwrap().1, off, "{expected}");
    }
    let same = scored("numeric", "9007199254740993", "9007199254740993.0");
    assert_eq!((same.score, same.passed), (Some(1.0), Some(true)));
    assert!(
        format_score(&scored("numeric: 10", "9007199254740993", "9007199254740995"))
            .contains("2 above")
    );
}
