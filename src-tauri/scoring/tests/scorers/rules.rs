//! Tests of each scorer by example.
use super::{format_score, scored, scorer, value};
use touchstone_model::value::Value;
use touchstone_scoring::diff::{Dates, ExtraFields, diff};
use touchstone_scoring::scorers::{Case, Outcome, comparison, score};

/// Checks cases of scorer, expected value, answer and formatted score.
fn check<'a>(cases: impl IntoIterator<Item = (&'a str, &'a str, &'a str, &'a str)>) {
    let wrong = |(line, expected, answer, wanted): (&str, &str, &str, &str)| {
        let found = format_score(&scored(line, expected, answer));
        // The formatting of differences is tested elsewhere; `…` cuts it off.
        let right = wanted
            .strip_suffix('…')
            .map_or(found == wanted, |beginning| found.starts_with(beginning));
        (!right)
            .then(|| format!("{line}: {expected} / {answer}\n  is     {found}\n  wanted {wanted}"))
    };
    let wrong: Vec<String> = cases.into_iter().filter_map(wrong).collect();
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// Checks cases of one scorer.
fn table(line: &str, cases: &[(&str, &str, &str)]) {
    check(cases.iter().map(|(expected, answer, wanted)| (line, *expected, *answer, *wanted)));
}

#[test]
fn exact_is_the_same_value_and_type_with_keys_in_any_order() {
    table(
        "exact",
        &[
            (
                "{a: 84.10, b: [1, 2]}",
                "{b: [1.0, 2], a: 84.1}",
                "1.0000 passed: exactly what was expected",
            ),
            ("[1, 2]", "[2, 1]", "0.0000 failed: all 2 items are there, 1 moved…"),
            (
                "84.1",
                "'84.1'",
                "0.0000 failed: the number 84.1 was expected, and the text “84.1” came: the same in another type",
            ),
            (
                "{a: '143'}",
                "{a: 143}",
                "0.0000 failed: the same, but some values are of another type",
            ),
            ("Paris", "paris", "0.0000 failed: Paris → paris…"),
            ("2024-01-02", "Jan 2 2024", "0.0000 failed: 2024-01-02 → Jan 2 2024…"),
            ("[1]", "{rows: [1]}", "0.0000 failed: a list of 1 was expected, and an object came"),
            ("null", "null", "1.0000 passed: exactly what was expected"),
        ],
    );
}

#[test]
fn fields_is_the_share_of_expected_fields_that_are_right_where_extra_rows_cost() {
    let three = "[{id: 1, a: 10, b: x}, {id: 2, a: 20, b: y}, {id: 3, a: 30, b: z}]";
    table(
        "fields",
        &[
            (three, three, "1.0000 passed: all 3 rows right"),
            (
                three,
                "[{id: 3, a: 30, b: z}, {id: 1, a: 10, b: x}, {id: 2, a: 20, b: y}]",
                "1.0000 passed: all 3 rows right; in another order, which does not count",
            ),
            (
                three,
                "[{id: 1, a: 10, b: x}, {id: 2, a: 21, b: y}, {id: 3, a: 30, b: z}]",
                "0.8889 failed: 2 of 3 rows right, 1 field differs: a 20 → 21",
            ),
            (
                three,
                "[{id: 1, a: 10, b: x}, {id: 2, a: 20, b: y}]",
                "0.6667 failed: 2 of 3 rows right, 1 missing (#3)",
            ),
            (
                three,
                "[{id: 1, a: 10, b: x}, {id: 2, a: 20, b: y}, {id: 3, a: 30, b: z}, {id: 4, a: 1, b: 2, c: 3}]",
                "0.7500 failed: 3 of 3 rows right, 1 extra (#4)",
            ),
            (
                three,
                "[{id: 1, a: 10, b: x, note: n}, {id: 2, a: 20, b: y, note: n}, {id: 3, a: '30', b: z}]",
                "1.0000 passed: all 3 rows right, 1 value of another type; not expected, and not counted: `note`",
            ),
            (three, "[]", "0.0000 failed: none of 3 rows is there"),
            (
                "[1, 2, 3]",
                "[3, 9, 1]",
                "0.5000 failed: 2 of 3 items right, 1 missing (2), 1 extra (9); in another order, which does not count",
            ),
            (
                "[1, 2, 3]",
                "[9, 3, 1]",
                "0.5000 failed: 2 of 3 items right, 1 missing (2), 1 extra (9); in another order, which does not count",
            ),
            (three, "{rows: []}", "0.0000 failed: a list of 3 was expected, and an object came"),
            ("[]", "[]", "1.0000 passed: equal…"),
            ("[]", "[{id: 1}]", "0.0000 failed: no rows were expected…"),
            (
                "{mean: 5, count: 2}",
                "{mean: 5}",
                "0.5000 failed: 1 of 2 fields right, 1 missing (count)",
            ),
            (
                "{mean: 5, count: 2}",
                "{mean: 5, count: 3, note: about}",
                "0.5000 failed: 1 of 2 fields right, 1 differs: count 2 → 3; not expected, and not counted: `note`",
            ),
            ("5", "5.0", "1.0000 passed: equal: 5…"),
            ("5", "six", "0.0000 failed: the number 5 was expected, and the text “six” came"),
        ],
    );
}

#[test]
fn fields_follows_its_options() {
    let two = "[{id: 1, a: 10}, {id: 2, a: 20}]";
    let cases = [
        (
            "fields: {ordered: true}",
            "[{id: 2, a: 20}, {id: 1, a: 10}]",
            "0.8333 failed: all 2 rows are there, 1 moved…",
        ),
        (
            "fields: {strict: true}",
            "[{id: 1, a: 10, b: 1}, {id: 2, a: 20, b: 2}]",
            "0.6667 failed: 0 of 2 rows right, 2 fields differ…",
        ),
        (
            "fields: {tolerance: 0.5}",
            "[{id: 1, a: 10.4}, {id: 2, a: 20.6}]",
            "0.7500 failed: 1 of 2 rows right, 1 field differs: a 20 → 20.6, 1 value within tolerance",
        ),
        (
            "fields: {tolerance: 5%}",
            "[{id: 1, a: 10.5}, {id: 2, a: 19}]",
            "1.0000 passed: all 2 rows right, 2 values within tolerance",
        ),
        (
            "fields: {tolerance: {absolute: 0.1, relative: 0.05}}",
            "[{id: 1, a: 10.1}, {id: 2, a: 21}]",
            "1.0000 passed: all 2 rows right, 2 values within tolerance",
        ),
        (
            "fields: {tolerance: 0.05, relative: true}",
            "[{id: 1, a: 10.1}, {id: 2, a: 22}]",
            "0.7500 failed: 1 of 2 rows right, 1 field differs…",
        ),
        ("fields: {ignore: a}", "[{id: 1, a: 0}, {id: 2}]", "1.0000 passed: all 2 rows right"),
        (
            "fields: {threshold: 0.7}",
            "[{id: 1, a: 10}, {id: 2, a: 0}]",
            "0.7500 passed: 1 of 2 rows right, 1 field differs: a 20 → 0",
        ),
        (
            "fields: {key: a}",
            "[{id: 8, a: 20}, {id: 9, a: 10}]",
            "0.5000 failed: 0 of 2 rows right, 2 fields differ: id wrong in 2 rows; in another order, which does not count",
        ),
    ];
    check(cases.map(|(line, answer, wanted)| (line, two, answer, wanted)));
}

#[test]
fn what_a_person_is_shown_is_compared_as_it_was_scored() {
    let of = |list: &str| comparison(value(list).items(), Some("id"));
    let named =
        of("[exact, fields: {tolerance: 1%, ignore: note, strict: true, dates: as_written}]");
    assert_eq!((named.key, named.ignore), (Some(vec!["id".to_owned()]), vec!["note".to_owned()]));
    assert_eq!(named.tolerance.and_then(|tolerance| tolerance.relative), Some(0.01));
    assert_eq!((named.extra_fields, named.dates), (ExtraFields::Wrong, Dates::AsWritten));
    assert_eq!(
        of("[fields: {key: [a, b], ordered: true}]").key,
        Some(vec!["a".to_owned(), "b".to_owned()])
    );
    assert_eq!(of("[]").extra_fields, ExtraFields::Allowed, "as the usual scorer says");
    assert_eq!(of("[exact]").extra_fields, ExtraFields::Wrong);
    assert!(
        ["[]", "[fields]", "[exact]"].iter().all(|list| !of(list).ignore_order),
        "moves are shown"
    );
}

#[test]
fn what_a_person_is_shown_is_paired_as_it_was_scored_and_moves_are_shown() {
    for (expected, answer) in
        [("[a, b, c]", "[a, x, c]"), ("[a, b, c]", "[c, x, a]"), ("[a, b]", "[x, y]")]
    {
        let (left, right) = (value(expected), value(answer));
        let shown = diff(&left, &right, &comparison(&[], None));
        let scored = scored("fields", expected, answer);
        let parts = |text: &str| -> Vec<String> {
            // The number of right values depends on moves.
            let told = text.split("; ").next().unwrap_or_default().split(", ").skip(1);
            told.filter(|part| !part.contains("moved")).map(str::to_owned).collect()
        };
        assert_eq!(parts(&shown.summary()), parts(&scored.reason));
    }
    let (left, right) = (value("[a, b, c]"), value("[c, a, b]"));
    assert!(diff(&left, &right, &comparison(&[], None)).summary().contains("1 moved"));
    let ordered = comparison(value("[fields: {ordered: true}]").items(), None);
    let (left, right) = (value("[a, b, c]"), value("[a, x, c]"));
    assert!(
        diff(&left, &right, &ordered).summary().contains("b → x"),
        "where the order counts, places tell"
    );
}

#[test]
fn numeric_falls_from_1_at_the_number_to_0_at_the_cutoff() {
    table(
        "numeric: 10",
        &[
            ("100", "100.0", "1.0000 passed: 100.0 as expected"),
            ("100", "'100'", "1.0000 passed: 100 as expected, as a text"),
            ("100", "101", "0.6977 failed: 101 came instead of 100: 1 above (1 %)"),
            ("100", "98", "0.4839 failed: 98 came instead of 100: 2 below (2 %)"),
            ("100", "105", "0.1502 failed: 105 came instead of 100: 5 above (5 %)"),
            (
                "100",
                "110",
                "0.0000 failed: 110 came instead of 100: 10 above (10 %), beyond the cutoff",
            ),
            (
                "100",
                "1000",
                "0.0000 failed: 1000 came instead of 100: 900 above (900 %), beyond the cutoff",
            ),
            (
                "100",
                "about 100",
                "0.0000 failed: the number 100 was expected, and the text “about 100” came",
            ),
            ("100", "[100]", "0.0000 failed: the number 100 was expected, and a list of 1 came"),
            ("0", "1", "0.6977 failed: 1 came instead of 0: 1 above"),
        ],
    );
    table(
        "numeric",
        &[
            ("2301.8", "2301.80", "1.0000 passed: 2301.80 as expected"),
            ("2301.8", "2299", "0.9165 failed: 2299 came instead of 2301.8: 2.8 below (0.1216 %)"),
            ("0", "0.0", "1.0000 passed: 0.0 as expected"),
            (
                "0",
                "0.001",
                "0.0000 failed: 0.001 came instead of 0: 1.00e-3 above, beyond the cutoff",
            ),
        ],
    );
    table(
        "numeric: 50%",
        &[
            ("-10", "-11", "0.4839 failed: -11 came instead of -10: 1 below (10 %)"),
            (
                "-10",
                "10",
                "0.0000 failed: 10 came instead of -10: 20 above (200 %), beyond the cutoff",
            ),
        ],
    );
}

#[test]
fn numeric_compares_the_numbers_of_structured_answers_field_by_field() {
    let rows = "[{ticket_id: 143, project_id: 7, score: 100, age: 10}, {ticket_id: 287, project_id: 8, score: 50, age: 20}]";
    table(
        "numeric: {cutoff: 10}",
        &[
            (rows, rows, "1.0000 passed: all 4 numbers right"),
            (
                rows,
                "[{ticket_id: 287, project_id: 9, score: 51, age: 20}, {ticket_id: 143, project_id: 7, score: 100, age: 10}]",
                "0.9244 failed: 3 of 4 numbers right, farthest: #287 score 50 → 51, 1 above (2 %)",
            ),
            (
                rows,
                "[{ticket_id: 143, project_id: 7, score: 100}]",
                "0.2500 failed: 1 of 4 numbers right, 3 missing",
            ),
            (
                rows,
                "[{ticket_id: 143, score: 100, age: 10}, {ticket_id: 287, score: 50, age: 20}, {ticket_id: 1, score: 5, age: 1}]",
                "0.6667 failed: all 4 numbers right, 2 in extra rows",
            ),
            (rows, "none", "0.0000 failed: a list of 2 was expected, and the text “none” came"),
            (
                "{mean: 5, median: 4}",
                "{mean: 6, median: 4}",
                "0.8488 failed: 1 of 2 numbers right, farthest: mean 5 → 6, 1 above (20 %)",
            ),
            (
                "[1, 2, 3]",
                "[1, 2, 4]",
                "0.8992 failed: 2 of 3 numbers right, farthest: 3 → 4, 1 above (33.3333 %)",
            ),
        ],
    );
    table(
        "numeric: {cutoff: 10, field: score}",
        &[(
            rows,
            "[{ticket_id: 143, score: '101'}, {ticket_id: 287, score: 50}]",
            "0.8488 failed: 1 of 2 numbers right, farthest: #143 score 100 → 101, 1 above (1 %)",
        )],
    );
}

#[test]
fn prefix_list_is_the_share_that_is_right_from_the_beginning() {
    let expected = "[{id: 1}, {id: 2}, {id: 3}, {id: 4}]";
    table(
        "prefix_list",
        &[
            (
                expected,
                "[{id: 1}, {id: 2}, {id: 3}, {id: 4}]",
                "1.0000 passed: all 4 items right from the beginning",
            ),
            (
                expected,
                "[1, 2, '3', 4.0, 5]",
                "1.0000 passed: all 4 items right from the beginning, 1 item after it",
            ),
            (
                expected,
                "[{id: 1}, {id: 2}, {id: 4}, {id: 3}]",
                "0.5000 failed: the first 2 of 4 right, then 3 was expected and 4 came",
            ),
            (
                expected,
                "[{id: 1}, {id: 2}]",
                "0.5000 failed: the first 2 of 4 right, then the list ends where 3 was expected",
            ),
            (
                expected,
                "[{id: 2}, {id: 1}]",
                "0.0000 failed: the first item is wrong, then 1 was expected and 2 came",
            ),
            (
                expected,
                "[]",
                "0.0000 failed: the first item is wrong, then the list ends where 1 was expected",
            ),
            ("[]", "[]", "1.0000 passed: an empty list, as expected"),
            ("[]", "[1]", "0.0000 failed: an empty list was expected"),
            (
                expected,
                "{ids: [1]}",
                "0.0000 failed: a list was expected, and an object came; its `ids` is a list",
            ),
        ],
    );
}

#[test]
fn similar_list_takes_something_off_for_each_place() {
    let expected = "[1, 2, 3, 4]";
    table(
        "similar_list: 1",
        &[
            (expected, "[1, 2, 3, 4]", "1.0000 passed: all 4 items in place"),
            (
                expected,
                "[2, 1, 3, 4]",
                "0.7500 failed: 2 of 4 items in place, 2 displaced by 1 on average",
            ),
            (
                expected,
                "[4, 2, 3, 1]",
                "0.5000 failed: 2 of 4 items in place, 2 displaced by 3 on average (2 by more than 1)",
            ),
            (expected, "[1, 2, 3]", "0.7500 failed: 3 of 4 items in place, 1 missing (4)"),
            (expected, "[1, 2, 3, 4, 5]", "0.8000 failed: all 4 items in place, 1 extra (5)"),
            (
                expected,
                "[2, 3, 4]",
                "0.3750 failed: none of 4 items in place, 3 displaced by 1 on average, 1 missing (1)",
            ),
            (
                expected,
                "[]",
                "0.0000 failed: none of 4 items in place, 4 missing (1, 2, 3 and 1 more)",
            ),
            ("[]", "[]", "1.0000 passed: an empty list, as expected"),
            (
                "[1, 1, 2]",
                "[1, 2, 1]",
                "0.6667 failed: 1 of 3 items in place, 2 displaced by 1 on average",
            ),
        ],
    );
}

#[test]
fn kendall_tau_counts_the_order_and_what_is_missing_or_extra() {
    let expected = "[{id: 1}, {id: 2}, {id: 3}, {id: 4}, {id: 5}]";
    table(
        "kendall_tau",
        &[
            (
                expected,
                "[{id: 1}, {id: 2}, {id: 3}, {id: 4}, {id: 5}]",
                "1.0000 passed: all 5 items in order",
            ),
            (
                expected,
                "[{id: '1'}, {id: 2.0}, {id: 3}, {id: 4}, {id: 5}]",
                "1.0000 passed: all 5 items in order",
            ),
            (
                expected,
                "[{id: 2}, {id: 1}, {id: 3}, {id: 4}, {id: 5}]",
                "0.8000 failed: 4 of 5 items in order, τ = 0.8",
            ),
            (
                expected,
                "[{id: 1}, {id: 2}, {id: 3}, {id: 4}]",
                "0.8000 failed: 4 of 5 items in order, 1 missing (5)",
            ),
            (
                expected,
                "[{id: 1}, {id: 2}, {id: 9}, {id: 3}, {id: 4}, {id: 5}]",
                "0.8000 failed: all 5 items in order, 1 extra (9)",
            ),
            (
                expected,
                "[{id: 5}, {id: 4}, {id: 3}, {id: 2}, {id: 1}]",
                "0.0000 failed: 1 of 5 items in order, τ = -1",
            ),
            (
                expected,
                "[{id: 1}, {id: 2}, {id: 3}, {id: 4}, {id: 5}, {id: 5}]",
                "1.0000 passed: all 5 items in order, 1 item more than once",
            ),
            (
                expected,
                "[{rank: 7, id: 1}, {rank: 8, id: 2}]",
                "0.0000 failed: none of 5 items in order, 5 missing (1, 2, 3 and 2 more), 2 extra (7, 8); `rank` was compared with `id`",
            ),
            (
                expected,
                "[]",
                "0.0000 failed: none of 5 items in order, 5 missing (1, 2, 3 and 2 more)",
            ),
            ("[1]", "[1]", "1.0000 passed: the only item in order"),
            ("[1, 2]", "[1]", "0.0000 failed: 1 of 2 items in order, 1 missing (2)"),
            ("[]", "[]", "1.0000 passed: an empty list, as expected"),
            ("[]", "[1]", "0.0000 failed: an empty list was expected, 1 extra (1)"),
            (
                expected,
                "{tickets: [1, 2]}",
                "0.0000 failed: a list was expected, and an object came; its `tickets` is a list",
            ),
        ],
    );
    table(
        "kendall_tau: id",
        &[(
            expected,
            "[{rank: 1, id: 1}, {rank: 2, id: 2}, {rank: 3, id: 3}, {rank: 4, id: 4}, {rank: 5, id: 5}]",
            "1.0000 passed: all 5 items in order",
        )],
    );
}

#[test]
fn texts_are_measured_and_pass_from_one_half_on() {
    table(
        "text: f1",
        &[
            ("the cat sat", "the cat sat", "1.0000 passed: the same text"),
            (
                "the cat sat",
                "the cat ran home",
                "0.4000 failed: words in common: 0.4 (0.5 is needed)",
            ),
            ("one", "two", "0.0000 failed: words in common: 0 (0.5 is needed)"),
            (
                "five",
                "[5]",
                "0.0000 failed: words in common: 0 (0.5 is needed), the answer taken as its JSON",
            ),
        ],
    );
    table(
        "text: {metric: rouge1, threshold: 0.9}",
        &[("the cat sat", "the cat ran", "0.6667 failed: words in common: 0.6667 (0.9 is needed)")],
    );
    table(
        "text_similarity: fuzzy",
        &[(
            "Paris",
            "paris",
            "0.8000 passed: letters in common, in the same order: 0.8 (0.5 is enough)",
        )],
    );
}

#[test]
fn texts_whose_order_would_take_too_long_to_compare_have_no_score_and_say_what_to_do() {
    let words = |sign: char, many: usize| -> String {
        (0..many).map(|at| format!("{sign}{at} ")).collect::<Vec<_>>().concat()
    };
    let (left, right) = (words('a', 70_000), words('b', 70_000));
    let tried = |line: &str, expected: &str, answer: &str| {
        let (expected, answer) = (Value::from(expected), Value::from(answer));
        score(
            &scorer(line),
            &Case { expected: Some(&expected), answer: Some(&answer), ..Case::default() },
        )
    };
    for line in ["text: rougeL", "text_similarity: fuzzy", "text_similarity: rouge_l"] {
        let Outcome::Unfit(why) = tried(line, &left, &right) else { panic!("{line}") };
        assert!(
            why.starts_with("These texts are too long for `text") && why.contains("Choose"),
            "{why}"
        );
        // A common beginning and end cost nothing.
        let long = left.replace("a35000 ", "other ");
        let Outcome::Scored(scored) = tried(line, &left, &long) else { panic!("{line}") };
        assert!(scored.score > Some(0.99), "{scored:?}");
    }
    assert!(matches!(tried("text: f1", &left, &right), Outcome::Scored(_)));
}

#[test]
fn string_check_asks_what_its_name_says() {
    let cases = [
        ("string_check", "Paris", "1.0000 passed: it is “Paris”"),
        ("string_check: eq", "paris", "0.0000 failed: it is not “Paris”, but “paris”"),
        ("string_check: ne", "paris", "1.0000 passed: it is not “Paris”, but “paris”"),
        ("string_check: like", "It is Paris.", "1.0000 passed: it contains “Paris”"),
        (
            "string_check: like",
            "it is paris",
            "0.0000 failed: it contains “Paris” only with other capitals",
        ),
        ("string_check: like", "Rome", "0.0000 failed: it does not contain “Paris”"),
        (
            "string_check: ilike",
            "it is paris",
            "1.0000 passed: it contains “Paris”, capitals aside",
        ),
        (
            "string_check: {operation: ilike, reference: rome}",
            "Rome",
            "1.0000 passed: it contains “rome”, capitals aside",
        ),
    ];
    check(cases.map(|(line, answer, wanted)| (line, "Paris", answer, wanted)));
}

fn calls(expected: &str, called: &str, line: &str) -> Outcome {
    let expected: Vec<String> = expected.split_whitespace().map(str::to_owned).collect();
    let call = |word: &str| (word.trim_end_matches('!').to_owned(), word.ends_with('!'));
    let calls: Vec<(String, bool)> = called.split_whitespace().map(call).collect();
    score(&scorer(line), &Case { expected_calls: &expected, calls: &calls, ..Case::default() })
}

#[test]
fn tool_calls_is_the_share_of_expected_tools_that_were_called() {
    let mut found = Vec::new();
    for (expected, called) in [
        ("a b", "a b"),
        ("a b", "b! a c a"),
        ("a b c", "a"),
        ("a a b", "b"),
        ("a b c d e f g", ""),
        ("a", "a"),
    ] {
        let Outcome::Scored(scored) = calls(expected, called, "tool_calls") else {
            panic!("{expected}")
        };
        let detail: Vec<String> =
            scored.detail.iter().map(|(name, value)| format!("{name} {value}")).collect();
        found.push(format!(
            "{expected} / {called}: {} [{}]",
            format_score(&scored),
            detail.join("; ")
        ));
    }
    insta::assert_snapshot!(found.join("\n"), @"
    a b / a b: 1.0000 passed: both expected tools called [called 2 of 2; precision 1; order 2 of 2 in the expected order; calls 2; failed 0]
    a b / b! a c a: 1.0000 passed: both expected tools called, 1 of 4 calls failed [called 2 of 2; \
        precision 0.6667; order 1 of 2 in the expected order; calls 4; failed 1]
    a b c / a: 0.3333 failed: 1 of 3 expected tools called, never called: `b` and `c` [called 1 of 3; precision 1; order –; calls 1; failed 0]
    a a b / b: 0.5000 failed: 1 of 2 expected tools called, never called: `a` [called 1 of 2; precision 1; order –; calls 1; failed 0]
    a b c d e f g / : 0.0000 failed: none of 7 expected tools called, never called: `a`, `b`, `c`, \
        `d`, `e` and 2 more [called 0 of 7; precision –; order –; calls 0; failed 0]
    a / a: 1.0000 passed: the only expected tool called [called 1 of 1; precision 1; order –; calls 1; failed 0]
    ");
    assert_eq!(
        calls("", "a", "tool_calls"),
        Outcome::NoExpected("No calls are expected.".to_owned())
    );
    let Outcome::Scored(scored) = calls("a b", "a", "api_calls") else { panic!("api_calls") };
    assert_eq!(
        format_score(&scored),
        "0.5000 failed: 1 of 2 expected APIs called, never called: `b`"
    );
}
