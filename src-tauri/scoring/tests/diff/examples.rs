//! Expected output of individual comparisons.
use touchstone_model::value::Value;
use touchstone_model::yaml;
use touchstone_scoring::diff::{Alignment, Diff, Node, Options, Sides, diff};

fn read(text: &str) -> Value {
    yaml::read(text).unwrap()
}

fn plain(expected: &str, actual: &str) -> Diff<'static> {
    diff(&read(expected), &read(actual), &Options::default()).into_owned()
}

#[test]
fn a_row_that_one_side_names_twice_is_an_extra_row() {
    let diff = plain(
        "[{ticket_id: 1, p: a}, {ticket_id: 2, p: b}]",
        "[{ticket_id: 1, p: x}, {ticket_id: 2, p: b}, {ticket_id: 1, p: a}]",
    );
    let Node::List(list) = &diff.root else { panic!("{diff:?}") };
    assert_eq!(
        list.alignment,
        Alignment::Key { fields: vec!["ticket_id".to_owned()], inferred: true }
    );
    assert_eq!(
        (diff.counts.rows.equal, diff.counts.rows.extra, diff.counts.rows.different),
        (2, 1, 0)
    );
}

#[test]
fn of_rows_with_one_key_equal_ones_find_each_other_whichever_side_has_more_of_them() {
    let (two, one) = ("[{id: 1, v: 1}, {id: 1, v: 2}]", "[{id: 1, v: 2}]");
    let many = "[{id: 1, v: 1}, {id: 1, v: 2}, {id: 2, v: 3}]";
    let rows =
        |diff: Diff<'_>| (diff.counts.rows.equal, diff.counts.rows.missing, diff.counts.rows.extra);
    assert_eq!(rows(plain(two, one)), (1, 1, 0));
    assert_eq!(rows(plain(one, two)), (1, 0, 1));
    assert_eq!(rows(plain(many, "[{id: 1, v: 2}, {id: 2, v: 3}, {id: 3, v: 4}]")), (2, 1, 1));
}

#[test]
fn rows_without_a_key_are_paired_by_likeness() {
    let diff = plain(
        "[{city: Bonn, kind: a, n: 1.5}, {city: Bonn, kind: b, n: 2.5}, {city: Ulm, kind: a, n: 1.5}]",
        "[{city: Ulm, kind: a, n: 1.5}, {city: Bonn, kind: b, n: 9.5}, {city: Bonn, kind: a, n: 1.5}]",
    );
    assert_eq!((diff.counts.rows.equal, diff.counts.rows.different), (2, 1), "{diff:?}");
}

#[test]
fn a_name_that_is_wrong_is_a_wrong_name_and_an_id_that_is_wrong_is_another_row() {
    let named = |key: &str, other: &str| {
        let rows = |name: &str| {
            format!(
                "[{{{key}: alpha, a: 1.5, b: x, c: y}}, {{{key}: beta, a: 2.5, b: x, c: z}}, {{{key}: {name}, a: 3.5, b: w, c: z}}]"
            )
        };
        plain(&rows("gamma"), &rows(other)).counts.rows
    };
    assert_eq!((named("name", "delta").different, named("name", "delta").missing), (1, 0));
    assert_eq!((named("team_id", "delta").different, named("team_id", "delta").missing), (0, 1));
}

#[test]
fn places_and_measures_are_no_names() {
    let by = |expected: &str, actual: &str| match plain(expected, actual).root {
        Node::List(list) => list.alignment.words(),
        other => panic!("{other:?}"),
    };
    assert_eq!(
        by(
            "[{rank: 1, ticket: 7}, {rank: 2, ticket: 9}]",
            "[{rank: 1, ticket: 9}, {rank: 2, ticket: 7}]"
        ),
        "by ticket"
    );
    assert_eq!(by("[{score: 1.5}, {score: 2.5}]", "[{score: 2.5}, {score: 1.5}]"), "by likeness");
    assert_eq!(
        by("[{paid: 1, name: a}, {paid: 2, name: b}]", "[{paid: 2, name: b}, {paid: 1, name: a}]"),
        "by name"
    );
    assert_eq!(
        by(
            "[{a: x, b: 1, n: 5}, {a: x, b: 2, n: 5}, {a: y, b: 1, n: 5}]",
            "[{a: x, b: 2, n: 6}, {a: y, b: 1, n: 5}, {a: x, b: 1, n: 5}]"
        ),
        "by a and b"
    );
}

#[test]
fn nothing_alike_is_compared_by_place() {
    let diff = plain("[{a: x}, {a: y}]", "[{a: 1}]");
    let Node::List(list) = &diff.root else { panic!("{diff:?}") };
    assert_eq!(list.alignment, Alignment::Place);
    assert!(
        matches!(list.rows[0].sides, Sides::Both(_))
            && matches!(list.rows[1].sides, Sides::Missing(_))
    );
}

/// Returns the summaries of several pairs.
fn summaries(pairs: &[(&str, &str)]) -> String {
    pairs.iter().map(|(expected, actual)| plain(expected, actual).summary() + "\n").collect()
}

fn ten(score: &str) -> Vec<String> {
    let score = |id: usize| if id == 5 { score.to_owned() } else { id.to_string() };
    (0..10)
        .map(|id| format!("{{ticket_id: {}, priority_score: {}}}", 140 + id, score(id)))
        .collect()
}

fn list(rows: &[String]) -> String {
    format!("[{}]", rows.join(", "))
}

#[test]
fn one_line_says_what_matters_of_ten_rows() {
    let (expected, mut actual) = (ten("84.1"), ten("81.9"));
    actual.remove(3);
    insta::assert_snapshot!(plain(&list(&expected), &list(&actual)).summary(), @"\
        8 of 10 rows right, 1 missing (#143), 1 field differs: priority_score 84.1 → 81.9");
    actual.clone_from(&expected);
    actual.swap(1, 7);
    actual.swap(0, 9);
    insta::assert_snapshot!(
        plain(&list(&expected), &list(&actual)).summary(),
        @"all 10 rows are there, 4 moved: #140 (1 → 10), #141 (2 → 8), #147 (8 → 2), …"
    );
    let all_wrong: Vec<String> =
        expected.iter().map(|row| row.replace("priority_score: ", "priority_score: 1")).collect();
    insta::assert_snapshot!(plain(&list(&expected), &list(&all_wrong)).summary(), @"0 of 10 rows right, 10 fields differ: priority_score wrong in 10 rows");
    insta::assert_snapshot!(plain(&list(&expected), &list(&expected[..1])).summary(), @"1 of 10 rows right, 9 missing (#141, #142, #143, …)");
}

#[test]
fn another_answer_is_not_what_was_expected_so_nothing_is_called_right_or_wrong() {
    let between = |one: &str, other: &str| {
        let options = Options { between: true, ..Options::default() };
        diff(&read(one), &read(other), &options).summary() + "\n"
    };
    let (one, mut other) = (ten("84.1"), ten("81.9"));
    other.remove(3);
    other.push("{ticket_id: 200, priority_score: 1}".to_owned());
    let all: Vec<String> =
        one.iter().map(|row| row.replace("priority_score: ", "priority_score: 1")).collect();
    insta::assert_snapshot!([
        between(&list(&one), &list(&other)),
        between(&list(&one), &list(&all)),
        between(&list(&one), &list(&one)),
        between(&list(&one), "[]"),
        between("[]", "[{a: 1}, {a: 2}]"),
        between("[{a: 1}]", "[]"),
        between("{a: 1, b: 2, c: {d: 1}}", "{a: 1, b: 3, e: 4}"),
        between("[1, 2]", "{a: 1}"),
        between("{rows: [{id: 1, tags: [x]}]}", "{rows: [{id: 1, tags: [x, y]}]}"),
    ].concat(), @r"
    8 of 10 rows the same, 1 gone (#143), 1 new (#200), 1 field differs: priority_score 84.1 → 81.9
    0 of 10 rows the same, 10 fields differ: priority_score differs in 10 rows
    all 10 rows the same
    all 10 rows are gone
    2 rows here, none there
    the only row is gone
    1 of 3 fields the same, 1 gone (c), 1 new (e), 1 differs: b 2 → 3
    a list of 2 there, an object of 1 field here
    0 of 1 field the same, rows: 0 of 1 row the same, 1 item of tags new
    ");
}

#[test]
fn one_line_says_what_matters_of_rows_and_items() {
    insta::assert_snapshot!(summaries(&[
        ("[{ticket_id: 1}, {ticket_id: 2}, {ticket_id: 3}]", "[{ticket_id: 3}, {ticket_id: 1}, {ticket_id: 2}]"),
        ("[{ticket_id: 1}, {ticket_id: 2}, {ticket_id: 3}]", "[{ticket_id: 1}, {ticket_id: 2}, {ticket_id: 3}]"),
        ("[{ticket_id: 1}]", "[{ticket_id: '1'}]"),
        ("[{ticket_id: 1}]", "[{ticket_id: 1, plan: free}]"),
        ("[{ticket_id: 1, plan: free}, {ticket_id: 2, plan: free}]", "[{ticket_id: 1}, {ticket_id: 2}]"),
        ("[{ticket_id: 1, plan: free}, {ticket_id: 2, plan: free}]", "[{ticket_id: 1, plan: base}, {ticket_id: 2, plan: base}, {ticket_id: 3}]"),
        ("[{ticket_id: 1}]", "[]"),
        ("[1, 2, 3]", "[]"),
        ("[]", "[1, 2]"),
        ("[]", "[]"),
        ("[1, 2, 3]", "[1, 3, 2]"),
        ("[a, b]", "[a, c]"),
        ("[a, b, c, d]", "[e, f, g, h]"),
    ]), @"
    all 3 rows are there, 1 moved: #3 (3 → 1)
    all 3 rows right
    1 of 1 row right, 1 value of another type
    0 of 1 row right, 1 field extra: plan
    0 of 2 rows right, 2 fields differ: plan missing in 2 rows
    0 of 2 rows right, 1 extra (#3), 2 fields differ: plan wrong in 2 rows
    the only row is missing
    none of 3 items is there
    no items were expected, and 2 came
    equal: an empty list
    all 3 items are there, 1 moved: 3 (3 → 2)
    1 of 2 items right, 1 item differs: b → c
    0 of 4 items right, 4 items differ: a → e, b → f, c → g, …
    ");
}

#[test]
fn rows_are_counted_once_and_items_inside_them_are_called_items() {
    insta::assert_snapshot!(summaries(&[
        ("[{id: 1, t: [1, 9]}, {id: 2, t: [5]}]", "[{id: 1, t: [1]}, {id: 2, t: [5]}]"),
        ("[{id: 1, t: [1, 9]}]", "[{id: 1, t: [1, 8]}]"),
        ("[{id: 1, t: [1, 8, 9]}, {id: 2, t: [5, 6]}]", "[{id: 1, t: [1]}, {id: 2, t: [5]}]"),
        ("[{id: 1, t: [1, 8, 9]}, {id: 2, t: [5]}]", "[{id: 1, t: [1]}, {id: 2, t: [5], n: 1}]"),
        ("[{id: 1, t: [{a: 1, b: 1}, {a: 2, b: 1}]}]", "[{id: 1, t: [{a: 1, b: 2}, {a: 2, b: 2}]}]"),
    ]), @r"
    1 of 2 rows right, 1 item of t missing
    0 of 1 row right, 1 item differs: t 9 → 8
    0 of 2 rows right, 3 items differ: 3 items of t missing in 2 rows
    0 of 2 rows right, 3 values differ: 2 items of t missing in 1 row, n extra
    0 of 1 row right, 2 fields differ: t[].b wrong in 1 row
    ");
}

#[test]
fn a_list_is_told_by_its_rows_wherever_it_is() {
    insta::assert_snapshot!(summaries(&[
        ("{data: {rows: [{id: 1, n: 84}, {id: 2, n: 5}]}, t: x}", "{data: {rows: [{id: 1, n: 81}]}, t: x}"),
        ("{data: {page: {rows: [a, b]}, n: 1}}", "{data: {page: {rows: [a, c]}, n: 2}}"),
        ("{data: {rows: [a, b, c]}}", "{data: {rows: [a, c, b]}}"),
        ("{data: {rows: [a], n: 1}}", "{data: {m: 1}}"),
    ]), @r"
    1 of 2 fields right, data.rows: 0 of 2 rows right, 1 missing (#2), 1 field differs: n 84 → 81
    0 of 1 field right, 1 differs: data.n 1 → 2, data.page.rows: 1 of 2 items right, 1 item differs: b → c
    0 of 1 field right, data.rows: all 3 items are there, 1 moved: c (3 → 2)
    0 of 1 field right, 2 missing (data.rows, data.n), 1 extra (data.m)
    ");
}

#[test]
fn another_order_inside_rows_is_said() {
    insta::assert_snapshot!(summaries(&[
        ("[{id: 1, t: [1, 2]}, {id: 2, t: [5]}]", "[{id: 1, t: [2, 1]}, {id: 2, t: [5]}]"),
        ("[{id: 1, t: [1, 2]}, {id: 2, t: [5, 6]}]", "[{id: 2, t: [6, 5]}, {id: 1, t: [2, 1]}]"),
        ("[{id: 1, a: {t: [1, 2]}, n: 1}]", "[{id: 1, a: {t: [2, 1]}, n: 2}]"),
        ("[{id: 1, t: [{x: 1, u: [1, 2]}]}]", "[{id: 1, t: [{x: 1, u: [2, 1]}]}]"),
    ]), @r"
    all 2 rows are there, another order inside: t in 1 row
    all 2 rows are there, 1 moved: #1 (1 → 2), another order inside: t in 2 rows
    0 of 1 row right, 1 field differs: n 1 → 2, another order inside: a.t in 1 row
    the row is there, another order inside: t[].u in 1 row
    ");
}

#[test]
fn lists_of_lists_have_no_names_and_say_what_they_are() {
    insta::assert_snapshot!(summaries(&[
        ("[[1, 2], [3, 4]]", "[[1, 2], [3, 5]]"),
        ("[[1, 2], [3, 4]]", "[[1, 2], [3]]"),
        ("[[1, 2, 8], [3, 4]]", "[[1], [3]]"),
        ("[[1, 2], [3, 4]]", "[[2, 1], [3, 4]]"),
        ("[[{a: 1}], [{a: 2}]]", "[[{a: 1}], [{a: 3}]]"),
        ("[{id: 1, t: [[1, 2]]}]", "[{id: 1, t: [[1, 3]]}]"),
    ]), @r"
    1 of 2 items right, 1 item of a list inside differs: 4 → 5
    1 of 2 items right, 1 item of a list inside missing
    0 of 2 items right, 3 items differ: 3 items of a list inside missing in 2 items
    all 2 items are there, another order inside: 1 item
    1 of 2 items right, 1 field differs: [].a 2 → 3
    0 of 1 row right, 1 item differs: t[] 2 → 3
    ");
}

#[test]
fn the_path_of_a_difference_leads_to_it() {
    let paths = |expected: &str, actual: &str| -> Vec<(Option<usize>, String)> {
        plain(expected, actual)
            .differences()
            .iter()
            .map(|found| (found.row, found.path.clone()))
            .collect()
    };
    let found = |row, path: &str| vec![(row, path.to_owned())];
    assert_eq!(
        paths("{data: {rows: [{id: 1, n: 2}]}}", "{data: {rows: [{id: 1, n: 3}]}}"),
        found(Some(0), "data.rows[].n")
    );
    assert_eq!(paths("[{id: 1, t: [5, 6]}]", "[{id: 1, t: [5]}]"), found(Some(0), "t[]"));
    assert_eq!(paths("[[1, 2], [3, 4]]", "[[1, 2], [3]]"), found(Some(1), "[]"));
    assert_eq!(paths("[1, 2]", "[1, 3]"), found(Some(1), ""));
}

#[test]
fn letters_that_look_the_same_say_so() {
    let told = summaries(&[
        ("caf\u{e9}", "cafe\u{301}"),
        ("[{id: 1, n: \u{e9}}]", "[{id: 1, n: e\u{301}}]"),
    ]);
    insta::assert_snapshot!(told.replace('\u{301}', "+accent"), @r"
    café → cafe+accent (they look the same, but letters are written with other characters)
    0 of 1 row right, 1 field differs: n é → e+accent (they look the same, but letters are written with other characters)
    ");
}

#[test]
fn a_key_that_rows_lack_is_said_and_one_that_a_list_inside_them_lacks_is_not() {
    let keyed = |key: &str, expected: &str, actual: &str| {
        let options = Options { key: Some(vec![key.to_owned()]), ..Options::default() };
        diff(&read(expected), &read(actual), &options).summary()
    };
    insta::assert_snapshot!(keyed("nope", "[{id: 1, p: a}, {id: 2, p: b}]", "[{id: 1, p: x}, {id: 2, p: b}]"), @"\
        1 of 2 rows right, 1 field differs: p a → x (not by nope: rows lack it)");
    insta::assert_snapshot!(keyed("id", "[{id: 1, p: [{a: 1}]}]", "[{id: 1, p: [{a: 2}]}]"), @"0 of 1 row right, 1 field differs: p[].a 1 → 2");
    insta::assert_snapshot!(keyed("id", "[1, 2]", "[1, 3]"), @"1 of 2 items right, 1 item differs: 2 → 3");
}

#[test]
fn long_numbers_are_cut_around_what_differs() {
    let long = |last: &str| {
        format!(
            "{{d: 1234567890123456789012345678{last}, e: 12345678901234567890123456789012345678901234567890{last}}}"
        )
    };
    insta::assert_snapshot!(plain(&long("1"), &long("2")).summary(), @"\
        0 of 2 fields right, 2 differ: d 12345678901234567890123456781 → \
        12345678901234567890123456782, e …123456789012345678901 → …123456789012345678902");
}

#[test]
fn a_text_whose_words_were_counted_coarsely_says_so_to_programs_too() {
    let shuffled = |step: usize| {
        let lines: Vec<String> =
            (0..60_000).map(|n| format!("word{}", n * step % 60_000)).collect();
        Value::from(lines.join("\n").as_str())
    };
    let (expected, actual) = (shuffled(7_919), shuffled(49_999));
    let diff = diff(&expected, &actual, &Options::default());
    assert!(diff.is_coarse() && diff.summary().contains("coarsely"), "{}", diff.summary());
    assert_eq!(diff.to_value().get("coarse"), Some(&Value::Bool(true)));
}

#[test]
fn one_line_says_what_matters_of_anything_else() {
    insta::assert_snapshot!(summaries(&[
        ("84.1", "81.9"),
        ("84.1", "'84.10'"),
        ("84.1", "[1, 2]"),
        ("[{a: 1}]", "null"),
        ("2024-01-02", "2024-01-05"),
        ("2024-01-02", "Jan 2, 2024"),
        ("free", "Free"),
        ("''", "free"),
        ("the customer is on the free plan since March", "the customer is on the advanced plan since last March"),
        ("{a: 1, b: {c: x}, d: 1, f: 3}", "{a: 1, b: {c: y}, e: 1, f: 4}"),
        ("{data: [{id: 1, a: x}, {id: 2, a: x}], title: t}", "{data: [{id: 1, a: y}], title: t}"),
        ("{a: 1}", "{a: 1}"),
    ]), @r#"
    84.1 → 81.9
    equal: 84.1 and 84.10 (text instead of number)
    number 84.1 was expected, and a list of 2 came
    a list of 1 was expected, and null came
    2024-01-02 → 2024-01-05 (3 days later)
    equal: 2024-01-02 and Jan 2, 2024 (same date, other notation)
    free → Free (only upper and lower case differ)
    "" → free
    the text differs: 1 word missing, 2 words extra
    1 of 4 fields right, 1 missing (d), 1 extra (e), 2 differ: b.c x → y, f 3 → 4
    1 of 2 fields right, data: 0 of 2 rows right, 1 missing (#2), 1 field differs: a x → y
    1 of 1 field right
    "#);
}

fn terminal(expected: &str, actual: &str) -> String {
    let lines =
        touchstone_scoring::diff::plain(&plain(expected, actual), &|text| text.replace('\n', " "));
    lines
        .iter()
        .map(|line| line.iter().map(|span| span.text.as_str()).collect::<String>() + "\n")
        .collect()
}

#[test]
fn on_a_terminal_rows_are_a_table_and_anything_else_is_lines() {
    insta::assert_snapshot!(terminal(
        "[{ticket_id: 1, plan: free, n: 1}, {ticket_id: 2, plan: free, n: 2}, {ticket_id: 3, plan: base, n: 3}, {ticket_id: 4, plan: a, n: 4}]",
        "[{ticket_id: 4, plan: a, n: 4}, {ticket_id: 1, plan: base, n: '1'}, {ticket_id: 2, plan: free, n: 2}, {ticket_id: 5, x: 5}]",
    ), @"
                 row  ticket_id  plan         n                               x
    differs      1    1          free → base  1 = 1 (text instead of number)
    extra        → 4  5                                                       5
    missing      3    3          base         3
    moved 4 → 1  4    4          a            4
    1 equal row
    ");
    insta::assert_snapshot!(terminal(
        "{title: the free plan, rows: [{id: 1, tags: [a, b]}, {id: 2, tags: []}], a: 1, b: 2, c: 3, d: 4, e: 5, f: 6, g: 7, h: {}}",
        "{title: the base plan, rows: [{id: 2, tags: []}, {id: 1, tags: [a, c]}], a: 1, b: 2, c: 3, d: 4, e: 5, f: 6, g: 7, h: {x: 1}}",
    ), @"
    - title: the free plan
    + title: the base plan
      rows:
    -   # place 1
    +   # place 2
        - id: 1
          tags:
            - a
    -       - b
    +       - c
        - id: 2
          tags: []
      a: 1
      … 3 equal lines
      e: 5
      f: 6
      g: 7
    - h: {}
    + h:
    +   x: 1
    ");
}

/// Breaks JSON before the long parts, for snapshots.
fn lines(json: &str) -> String {
    [",\"counts\":", ",\"diff\":", ",\"rows\":{", ",\"note\":", ",\"pieces\":", ",{\"kind\":"]
        .iter()
        .fold(json.to_owned(), |text, key| text.replace(key, &key.replacen(',', ",\n", 1)))
}

#[test]
fn programs_get_everything() {
    let diff = plain(
        "[{id: 1, n: 1.50}, {id: 2, t: a b}]",
        "[{id: 2, t: a c}, {id: 1, n: '1.5'}, {id: 3}]",
    );
    let json = touchstone_model::json::write(&diff.to_value(), false);
    insta::assert_snapshot!(lines(&json), @r##"
    {"summary":"0 of 2 rows right, 1 extra (#3), 1 field differs: t a b → a c, 1 moved: #1 (1 → 2), 1 value of another type","equal":false,"coarse":false,
    "counts":{"expected":4,"actual":5,"right":3,"changed":1,"missing":0,"extra":1,"other_type":1,"other_notation":0,"within_tolerance":0,
    "rows":{"expected":2,"actual":3,"right":0,"different":1,"missing":0,"extra":1,"moved":1}},
    "diff":{"kind":"changed","aligned":"by id","rows":[{"name":"#1","from":1,"to":2,"moved":true,"kind":"alike",
    "diff":{"kind":"alike","fields":[{"key":"id","kind":"same",
    "diff":{"kind":"same","value":1}},{"key":"n","kind":"alike",
    "diff":{"kind":"alike","expected":1.50,"actual":"1.5","type_differs":true,
    "note":"text instead of number"}}]}},{"name":"#2","from":2,"to":1,"moved":false,"kind":"changed",
    "diff":{"kind":"changed","fields":[{"key":"id","kind":"same",
    "diff":{"kind":"same","value":2}},{"key":"t","kind":"changed",
    "diff":{"kind":"changed","expected":"a b","actual":"a c","type_differs":false,
    "pieces":[{"kind":"same","text":"a "},
    {"kind":"removed","text":"b"},
    {"kind":"added","text":"c"}]}}]}},{"name":"#3","from":null,"to":3,"moved":false,"kind":"extra","actual":{"id":3}}]}}
    "##);
}

#[test]
fn values_nested_as_deep_as_can_be_read_and_deeper_bring_nothing_to_a_stop() {
    let nested = |depth: usize, inner: &str, list: bool| {
        (0..depth).fold(Value::from(inner), |inner, at| {
            if list && at % 2 == 0 {
                Value::List(vec![inner])
            } else {
                Value::Map(vec![(Value::from("a"), inner)])
            }
        })
    };
    for depth in [1, 64, 127, 129, 1_000] {
        for list in [true, false] {
            let (one, other) = (nested(depth, "x", list), nested(depth, "y", list));
            let options = Options::default();
            let differs = diff(&one, &other, &options);
            assert!(!differs.is_equal() && diff(&one, &one, &options).is_equal(), "{depth}");
            assert_eq!(differs.coarse, depth > 128);
            assert!(!differs.summary().is_empty());
            assert!(!touchstone_scoring::diff::plain(&differs, &str::to_owned).is_empty());
            assert!(matches!(differs.to_value(), Value::Map(_)));
        }
    }
    // Neither comparing nor dropping the value recurses to the bottom.
    let mut far = nested(100_000, "x", true);
    assert!(diff(&far, &Value::Null, &Options::default()).coarse);
    loop {
        far = match far {
            Value::List(mut items) => items.pop().unwrap(),
            Value::Map(mut entries) => entries.pop().unwrap().1,
            _ => break,
        };
    }
}

#[test]
fn what_is_too_much_work_is_compared_coarsely_and_says_so() {
    let rows = |word: &str| {
        let row = |n: usize| format!("{{a: {n}.5, b: {word} {}, c: x}}", n % 7);
        list(&(0..400).map(row).collect::<Vec<_>>())
    };
    let (expected, actual) = (read(&rows("left")), read(&rows("right")));
    let coarse =
        |budget: u64| diff(&expected, &actual, &Options { budget, ..Options::default() }).coarse;
    assert!(coarse(1_000) && !coarse(Options::default().budget));
    let cut = diff(&expected, &actual, &Options { budget: 1_000, ..Options::default() });
    assert!(cut.summary().ends_with(" (compared coarsely)"), "{}", cut.summary());
}

#[test]
fn a_table_of_countless_fields_has_countable_columns() {
    let row = |n: usize| format!("{{id: {n}, field{n}: 1}}");
    let rows = |from: usize| list(&(from..from + 2_000).map(row).collect::<Vec<_>>());
    let diff = plain(&rows(0), &rows(1_000));
    let table = touchstone_scoring::diff::Table::from_diff(&diff).unwrap();
    assert_eq!((table.len(), table.columns.len()), (3_000, 500));
    assert_eq!(table.row(2_999).unwrap().cells.len(), 500);
}
