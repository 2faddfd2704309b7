//! Properties that hold for any answer.
use super::{scorer, value};
use proptest::prelude::*;
use touchstone_model::value::Value;
use touchstone_scoring::scorers::{Case, Outcome, Scored, read, score};

const STRUCTURED: [&str; 6] =
    ["exact", "fields", "fields: {ordered: true}", "prefix_list", "similar_list", "kendall_tau"];
const ALL: [&str; 14] = [
    "exact",
    "fields",
    "fields: {ordered: true, strict: true, tolerance: 1, ignore: b}",
    "fields: {key: a, threshold: 0.5}",
    "numeric",
    "numeric: {cutoff: 0}",
    "numeric: {cutoff: 3, field: [a, id], key: id}",
    "prefix_list",
    "similar_list: 0",
    "similar_list: {cutoff: 2, key: a}",
    "kendall_tau",
    "text: f1",
    "string_check: ilike",
    "text_similarity: fuzzy",
];

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        prop_oneof![
            "-?[0-9]{1,3}(\\.[0-9])?",
            "[0-9]e[0-9]{1,3}",
            Just(".nan".to_owned()),
            Just("-.inf".to_owned())
        ]
        .prop_map(Value::Number),
        prop_oneof!["[a-c ]{0,6}", "-?[0-9]{1,2}(\\.[0-9])?", "\\PC{0,8}"].prop_map(Value::Text),
    ]
}

fn any_value() -> impl Strategy<Value = Value> {
    let key = prop_oneof![8 => prop_oneof![Just("id"), Just("a"), Just("b")].prop_map(Value::from), 1 => scalar()];
    scalar().prop_recursive(3, 40, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::List),
            prop::collection::vec((key.clone(), inner.clone()), 0..4).prop_map(Value::Map),
            prop::collection::vec(
                prop::collection::vec((key.clone(), inner), 1..4).prop_map(Value::Map),
                0..6
            )
            .prop_map(Value::List),
        ]
    })
}

/// Returns a row with an id and two fields.
fn row(id: usize, a: u8) -> Value {
    let number = |number: usize| Value::Number(number.to_string());
    Value::Map(vec![
        ("id".into(), number(100 + id)),
        ("a".into(), number(usize::from(a))),
        ("b".into(), "x".into()),
    ])
}

fn some_rows() -> impl Strategy<Value = Vec<Value>> {
    prop::collection::vec(0_u8..5, 2..12)
        .prop_map(|all| all.iter().enumerate().map(|(id, a)| row(id, *a)).collect())
}

fn points(line: &str, expected: &Value, answer: &Value) -> Scored {
    match score(
        &scorer(line),
        &Case { expected: Some(expected), answer: Some(answer), ..Case::default() },
    ) {
        Outcome::Scored(found) => found,
        other => panic!("{line}: {other:?}"),
    }
}

fn score_of(line: &str, expected: &[Value], answer: &[Value]) -> f64 {
    points(line, &Value::List(expected.to_vec()), &Value::List(answer.to_vec())).score.unwrap()
}

proptest! {
    #[test]
    fn every_score_is_from_0_to_1_has_a_reason_and_is_the_same_again(
        expected in prop::option::of(any_value()), answer in prop::option::of(any_value()), said in "\\PC{0,12}"
    ) {
        for line in ALL {
            let case = Case { expected: expected.as_ref(), answer: answer.as_ref(), said: &said, ..Case::default() };
            let scorer = scorer(line);
            let found = score(&scorer, &case);
            if let Outcome::Scored(scored) = &found {
                let points = scored.score.unwrap();
                prop_assert!((0.0..=1.0).contains(&points), "{line}: {points}");
                prop_assert!(scored.passed.is_some() && !scored.reason.is_empty(), "{line}");
                prop_assert!(scored.reason.chars().count() < 400, "{line}: {}", scored.reason);
            }
            prop_assert_eq!(score(&scorer, &case), found, "{}", line);
        }
    }

    #[test]
    fn what_was_expected_scores_1_and_passes(expected in any_value()) {
        for line in STRUCTURED.into_iter().chain(["numeric"]) {
            let case = Case { expected: Some(&expected), answer: Some(&expected), ..Case::default() };
            if let Outcome::Scored(scored) = score(&scorer(line), &case) {
                prop_assert_eq!((scored.score, scored.passed), (Some(1.0), Some(true)), "{}: {}", line, scored.reason);
            }
        }
    }

    #[test]
    fn what_passes_without_a_threshold_scores_1(expected in any_value(), answer in any_value()) {
        for line in STRUCTURED.into_iter().chain(["numeric"]) {
            let case = Case { expected: Some(&expected), answer: Some(&answer), ..Case::default() };
            if let Outcome::Scored(scored) = score(&scorer(line), &case) {
                prop_assert!(scored.passed != Some(true) || scored.score == Some(1.0), "{line}: {scored:?}");
            }
        }
    }

    #[test]
    fn another_order_costs_where_order_matters(rows in some_rows(), a in any::<prop::sample::Index>(), b in any::<prop::sample::Index>()) {
        let (a, b) = (a.index(rows.len()), b.index(rows.len()));
        prop_assume!(a != b);
        let mut moved = rows.clone();
        moved.swap(a, b);
        let (expected, answer) = (Value::List(rows), Value::List(moved));
        for line in ["exact", "fields: {ordered: true}", "prefix_list", "similar_list", "kendall_tau"] {
            let scored = points(line, &expected, &answer);
            prop_assert!(scored.score < Some(1.0) && scored.passed == Some(false), "{line}: {scored:?}");
        }
        for line in ["fields", "numeric"] {
            let scored = points(line, &expected, &answer);
            prop_assert_eq!((scored.score, scored.passed), (Some(1.0), Some(true)), "{}", line);
        }
    }

    #[test]
    fn another_error_never_raises_a_score(rows in some_rows(), at in any::<prop::sample::Index>(), kind in 0..3) {
        let whole = rows.clone();
        let at = at.index(rows.len());
        let mut one = rows.clone();
        one[0] = row(0, 77);
        let mut two = one.clone();
        match kind {
            0 => { two.remove(at); }
            1 => two.insert(at, row(99, 1)),
            _ => two[at] = row(at, 78),
        }
        for line in ["exact", "fields", "fields: {ordered: true}", "numeric"] {
            let (none, one, two) = (score_of(line, &whole, &whole), score_of(line, &whole, &one), score_of(line, &whole, &two));
            // Removing or changing a row that was already wrong has no effect.
            prop_assert!(none > one && one >= two - 1e-12, "{line}: {none} {one} {two}");
        }
        // These scorers only consider which rows are present.
        let mut less = whole.clone();
        less.remove(at);
        for line in ["prefix_list", "similar_list", "kendall_tau"] {
            prop_assert!(score_of(line, &whole, &less) < 1.0, "{line}");
        }
        let mut more = whole.clone();
        more.insert(at, row(99, 1));
        for line in ["fields", "prefix_list", "similar_list", "kendall_tau"] {
            prop_assert!(score_of(line, &whole, &more) < 1.0, "{line}");
        }
    }

    #[test]
    fn a_number_that_is_nearer_scores_no_less(expected in -1000_i32..1000, near in 0_i32..60, further in 0_i32..60) {
        let of = |off: i32| {
            let (expected, answer) = (Value::Number(expected.to_string()), Value::Number((expected + off).to_string()));
            points("numeric: 50", &expected, &answer).score.unwrap()
        };
        let (near, far) = (near, near + further);
        prop_assert!(of(near) >= of(far));
        prop_assert!((of(near) - of(-near)).abs() < 1e-12);
        prop_assert!((of(far) > 0.0) == (far < 50), "{far}");
    }

    #[test]
    fn any_list_of_scorers_can_be_read(list in prop::collection::vec(any_value(), 0..4)) {
        let (scorers, _) = read(&list);
        let mut names: Vec<&str> = scorers.iter().map(touchstone_scoring::scorers::Scorer::name).collect();
        names.sort_unstable();
        names.dedup();
        prop_assert_eq!(names.len(), scorers.len());
    }

    #[test]
    fn any_option_of_any_scorer_can_be_read(
        name in prop_oneof![Just("fields"), Just("numeric"), Just("text"), Just("python"), Just("judge"), Just("string_check")],
        option in prop_oneof![Just("key"), Just("tolerance"), Just("threshold"), Just("cutoff"), Just("metric"), Just("path")],
        given in any_value(),
    ) {
        let options = Value::Map(vec![(option.into(), given.clone())]);
        for given in [given, options] {
            let (scorers, warnings) = read(&[Value::Map(vec![(name.into(), given)])]);
            prop_assert!(scorers.len() == 1 || !warnings.is_empty());
        }
    }
}

#[test]
fn a_long_list_is_scored_at_once() {
    let rows = |from: usize| Value::List((from..from + 20_000).map(|id| row(id, 1)).collect());
    for line in ["kendall_tau", "similar_list", "prefix_list", "fields"] {
        assert!(points(line, &rows(0), &rows(10)).score.unwrap() < 1.0, "{line}");
    }
    assert_eq!(points("exact", &value("[1]"), &value("[1.0]")).score, Some(1.0));
}
