//! Properties that hold for any two values.
use proptest::prelude::*;
use touchstone_model::value::Value;
use touchstone_scoring::diff::{
    Alignment, Columns, Counts, Diff, ExtraFields, FoldItem, Kind, List, Node, Options, PieceKind,
    Sides, Table, Tolerance, apply, diff, plain, revert,
};

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        prop_oneof![
            "-?[0-9]{1,3}(\\.[0-9]{1,2})?",
            "[0-9]e[0-9]",
            Just(".nan".to_owned()),
            Just("0x1F".to_owned())
        ]
        .prop_map(Value::Number),
        prop_oneof![
            "[a-c ]{0,6}",
            "[0-9]{1,2}(\\.[0-9])?",
            "true|False",
            "2024-0[1-3]-0[1-9](T10:00:00Z)?",
            "0[1-3]/0[1-3]/2024",
            "\\PC{0,8}"
        ]
        .prop_map(Value::Text),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(4, 48, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::List),
            prop::collection::vec((key(), inner.clone()), 0..5).prop_map(Value::Map),
            prop::collection::vec(
                prop::collection::vec((key(), inner), 1..4).prop_map(Value::Map),
                0..6
            )
            .prop_map(Value::List),
        ]
    })
}

fn key() -> impl Strategy<Value = Value> {
    prop_oneof![8 => prop_oneof![Just("id"), Just("a"), Just("b"), Just("name")].prop_map(Value::from), 1 => scalar()]
}

/// Returns a row with an id and fields that may be wrong.
fn row(id: usize, score: u8, name: &str) -> Value {
    let field = |key: &str, value| (Value::from(key), value);
    Value::Map(vec![
        field("score", Value::Number(score.to_string())),
        field("ticket_id", Value::Number((id * 7 + 100).to_string())),
        field("name", Value::from(name)),
    ])
}

fn rows() -> impl Strategy<Value = Vec<Value>> {
    prop::collection::vec((0_u8..4, "[a-c]{1,2}"), 1..20).prop_map(|all| {
        all.iter().enumerate().map(|(id, (score, name))| row(id, *score, name)).collect()
    })
}

/// Generates a second value that has much in common with the first.
fn changed(value: Value) -> impl Strategy<Value = Value> {
    match value {
        Value::List(items) => {
            let count = items.len();
            (prop::collection::vec(scalar(), 0..2), Just(items).prop_shuffle(), 0..=count)
                .prop_map(|(more, items, keep)| {
                    Value::List(items.into_iter().take(keep).chain(more).collect())
                })
                .boxed()
        }
        Value::Map(entries) => (Just(entries).prop_shuffle(), key(), scalar())
            .prop_map(|(mut entries, key, value)| {
                entries.pop();
                entries.push((key, value));
                Value::Map(entries)
            })
            .boxed(),
        other => prop_oneof![Just(other), scalar()].boxed(),
    }
}

fn pair() -> impl Strategy<Value = (Value, Value)> {
    prop_oneof![
        (value(), value()),
        value().prop_flat_map(|one| (Just(one.clone()), changed(one))),
        rows().prop_flat_map(|rows| (Just(Value::List(rows.clone())), changed(Value::List(rows)))),
    ]
}

fn options() -> impl Strategy<Value = Options> {
    (
        prop_oneof![
            Just(None),
            Just(Some(vec!["id".to_owned()])),
            Just(Some(vec!["a".to_owned(), "b".to_owned()]))
        ],
        any::<bool>(),
        any::<bool>(),
        prop_oneof![Just(Vec::new()), Just(vec!["a".to_owned()])],
        prop_oneof![Just(0_u64), Just(500), Just(60_000_000)],
        any::<bool>(),
    )
        .prop_map(|(key, ignore_order, allowed, ignore, budget, near)| Options {
            key,
            tolerance: near.then_some(Tolerance { absolute: Some(0.5), relative: None }),
            ignore_order,
            places_say_nothing: ignore_order,
            ignore,
            extra_fields: if allowed { ExtraFields::Allowed } else { ExtraFields::Wrong },
            budget,
            ..Options::default()
        })
}

fn add_up(counts: &Counts) -> bool {
    let rows = &counts.rows;
    counts.expected == counts.right + counts.changed + counts.missing
        && counts.actual == counts.right + counts.changed + counts.extra
        && counts.extra_in_rows <= counts.extra
        && rows.expected == rows.equal + rows.different + rows.missing
        && rows.actual == rows.equal + rows.different + rows.extra
        && rows.right <= rows.equal
}

/// Returns the counts of a difference with the sides swapped.
fn turned(counts: &Counts) -> (usize, usize, usize, usize, usize, usize, usize) {
    (
        counts.actual,
        counts.expected,
        counts.right,
        counts.changed,
        counts.extra,
        counts.missing,
        counts.rows.moved,
    )
}

fn list<'a>(diff: &'a Diff<'a>) -> &'a List<'a> {
    match &diff.root {
        Node::List(list) => list,
        other => panic!("no list: {other:?}"),
    }
}

fn read(text: &str) -> Value {
    touchstone_model::yaml::read(text).unwrap()
}

fn can_be_written(value: &Value) -> bool {
    touchstone_model::yaml::read(&touchstone_model::yaml::write(value)).is_ok()
}

/// Formats a value with its rows and fields in a canonical order.
fn without_order(value: &Value) -> String {
    let mut parts: Vec<String> = match value {
        Value::List(items) => items.iter().map(without_order).collect(),
        Value::Map(entries) => entries
            .iter()
            .map(|(key, value)| without_order(key) + ": " + &without_order(value))
            .collect(),
        other => return format!("{other:?}"),
    };
    parts.sort_unstable();
    format!("{}{parts:?}", matches!(value, Value::Map(_)))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_value_does_not_differ_from_itself(value in value(), options in options()) {
        let diff = diff(&value, &value, &options);
        prop_assert!(diff.is_equal(), "{:?}", diff);
        prop_assert_eq!((diff.counts.changed, diff.counts.missing, diff.counts.extra, diff.counts.rows.moved), (0, 0, 0, 0));
        prop_assert!(add_up(&diff.counts));
    }

    #[test]
    fn put_onto_one_side_it_gives_the_other((expected, actual) in pair(), options in options()) {
        let diff = diff(&expected, &actual, &options);
        prop_assert_eq!(apply(&expected, &diff), Some(actual.clone()));
        prop_assert_eq!(revert(&actual, &diff), Some(expected.clone()));
        prop_assert_eq!(diff.clone().into_owned(), diff.clone());
        prop_assert!(add_up(&diff.counts), "{:?}", diff.counts);
    }

    #[test]
    fn values_that_are_the_same_to_the_letter_are_the_only_ones_without_any_remark((expected, actual) in pair()) {
        let diff = diff(&expected, &actual, &Options::default());
        prop_assert_eq!(matches!(diff.root, Node::Same(_)), expected == actual);
    }

    #[test]
    fn with_a_key_the_sides_may_change_places(
        (expected, actual) in rows().prop_flat_map(|rows| (Just(Value::List(rows.clone())), changed(Value::List(rows))))
    ) {
        let options = Options { key: Some(vec!["ticket_id".to_owned()]), ..Options::default() };
        let (there, back) = (diff(&expected, &actual, &options).counts, diff(&actual, &expected, &options).counts);
        prop_assert_eq!(turned(&there), (back.expected, back.actual, back.right, back.changed, back.missing, back.extra, back.rows.moved));
    }

    #[test]
    fn rows_with_a_key_find_each_other_in_any_order(
        (expected, actual) in rows().prop_flat_map(|rows| (Just(rows.clone()), Just(rows).prop_shuffle())),
        configured in any::<bool>()
    ) {
        let key = configured.then(|| vec!["ticket_id".to_owned()]);
        let (left, right) = (Value::List(expected.clone()), Value::List(actual.clone()));
        let diff = diff(&left, &right, &Options { key, ..Options::default() });
        prop_assert_eq!(diff.counts.right, expected.len() * 3);
        if expected == actual {
            return Ok(());
        }
        let list = list(&diff);
        prop_assert_eq!(&list.alignment, &Alignment::Key { fields: vec!["ticket_id".to_owned()], inferred: !configured });
        for row in &list.rows {
            prop_assert_eq!(&expected[row.from.unwrap()], &actual[row.to.unwrap()]);
            prop_assert!(matches!(&row.sides, Sides::Both(Node::Same(_))));
        }
        let stayed: Vec<_> = list.rows.iter().filter(|row| !row.moved).map(|row| (row.from, row.to)).collect();
        prop_assert!(stayed.windows(2).all(|two| two[0] < two[1] && two[0].1 < two[1].1));
        prop_assert!(!diff.is_equal());
    }

    #[test]
    fn work_stops_where_it_is_told_and_nothing_is_lost((expected, actual) in pair(), budget in 0_u64..2_000) {
        let diff = diff(&expected, &actual, &Options { budget, ..Options::default() });
        prop_assert_eq!(apply(&expected, &diff), Some(actual.clone()));
    }

    #[test]
    fn both_columns_of_lines_are_the_two_values((expected, actual) in pair(), options in options()) {
        // Keys that are equal to a YAML reader cannot be parsed.
        prop_assume!(can_be_written(&expected) && can_be_written(&actual));
        let diff = diff(&expected, &actual, &options);
        let columns = Columns::from_diff(&diff);
        let (mut left, mut right) = (String::new(), String::new());
        let mut numbers = (1, 1);
        for at in 0..columns.len() {
            let line = columns.line(at).unwrap();
            for (side, text, number) in [(line.left, &mut left, &mut numbers.0), (line.right, &mut right, &mut numbers.1)] {
                if let Some(side) = side {
                    prop_assert_eq!(side.number, *number);
                    *number += 1;
                    text.push_str(side.text);
                    text.push('\n');
                }
            }
            let pieces = line.pieces();
            let said = |other: PieceKind| pieces.iter().filter(|piece| piece.kind != other).map(|piece| piece.text.as_str()).collect::<String>();
            prop_assert_eq!(said(PieceKind::Added), line.left.map_or("", |side| side.text));
            prop_assert_eq!(said(PieceKind::Removed), line.right.map_or("", |side| side.text));
            prop_assert_eq!(line.kind, columns.kind(at));
            prop_assert!(line.kind != Kind::Same || line.left.map(|side| side.text) == line.right.map(|side| side.text));
        }
        if let (Some(expected), Some(actual)) = (expected.text(), actual.text()) {
            let lines = |text: &str| text.lines().map(|line| line.to_owned() + "\n").collect::<String>();
            prop_assert_eq!((left, right), (lines(expected), lines(actual)));
            return Ok(());
        }
        prop_assert_eq!(without_order(&read(&left)), without_order(&expected), "{}", left);
        prop_assert_eq!(without_order(&read(&right)), without_order(&actual), "{}", right);
        let lines: usize = columns.folded(2).iter().map(|shown| match shown { FoldItem::Line(_) => 1, FoldItem::Folded(range) => range.len() }).sum();
        prop_assert_eq!(lines, columns.len());
    }

    #[test]
    fn one_line_is_one_line_and_not_long((expected, actual) in pair(), options in options()) {
        let diff = diff(&expected, &actual, &options);
        let line = diff.summary();
        prop_assert!(line.chars().count() <= 160 && !line.is_empty(), "{}", line);
        prop_assert!(!line.contains(['\n', '\r', '\t']), "{:?}", line);
        prop_assert_eq!(diff.differences().is_empty() && !diff.root.is_moved(), diff.is_equal());
    }

    #[test]
    fn a_table_has_every_row_and_a_cell_for_each_column((expected, actual) in pair(), options in options()) {
        let diff = diff(&expected, &actual, &options);
        if let Some(table) = Table::from_diff(&diff) {
            for at in 0..table.len() {
                let row = table.row(at).unwrap();
                prop_assert_eq!(row.cells.len(), table.columns.len());
                prop_assert_eq!(table.is_same(at), row.kind == Kind::Same && !row.moved);
                prop_assert!(row.cells.iter().flatten().all(|cell| row.kind != Kind::Same || cell.kind == Kind::Same));
            }
            prop_assert!(table.row(table.len()).is_none());
        }
        let lines = plain(&diff, &|text| text.to_owned());
        prop_assert_eq!(lines.is_empty(), diff.root.kind() == Kind::Same);
        let json = touchstone_model::json::write(&diff.to_value(), true);
        prop_assert!(touchstone_model::json::embedded(&json).is_some());
    }

    #[test]
    fn what_is_ignored_never_counts(
        (expected, actual) in rows().prop_flat_map(|rows| (Just(rows.clone()), prop::collection::vec(0_u8..9, rows.len())))
            .prop_map(|(rows, scores)| {
                let actual = rows.iter().zip(scores).map(|(row, score)| {
                    let mut entries = row.entries().to_vec();
                    entries[0].1 = Value::Number(score.to_string());
                    Value::Map(entries)
                }).collect();
                (Value::List(rows), Value::List(actual))
            })
    ) {
        let diff = diff(&expected, &actual, &Options { ignore: vec!["score".to_owned()], ..Options::default() });
        prop_assert!(diff.is_equal());
        prop_assert_eq!(diff.counts.expected, expected.items().len() * 2);
    }
}
