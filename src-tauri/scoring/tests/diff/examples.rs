//! What single comparisons say.
use touchstone_formats::value::Value;
use touchstone_formats::yaml;
use touchstone_scoring::diff::{Alignment, Diff, Node, Options, Sides, diff};

fn read(text: &str) -> Value {
    yaml::read(text).unwrap()
}

fn plain(expected: &str, actual: &str) -> Diff {
    diff(&read(expected), &read(actual), &Options::default())
}

#[test]
fn a_row_that_one_side_names_twice_is_an_extra_row() {
    let diff = plain(
        "[{ticket_id: 1, p: a}, {ticket_id: 2, p: b}]",
        "[{ticket_id: 1, p: x}, {ticket_id: 2, p: b}, {ticket_id: 1, p: a}]",
    );
    let Node::List(list) = &diff.root else { panic!("{diff:?}") };
    assert_eq!(list.alignment, Alignment::Key { fields: vec!["ticket_id".to_owned()], inferred: true });
    assert_eq!((diff.counts.rows.equal, diff.counts.rows.extra, diff.counts.rows.different), (2, 1, 0));
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
fn nothing_alike_is_compared_by_place() {
    let diff = plain("[{a: x}, {a: y}]", "[{a: 1}]");
    let Node::List(list) = &diff.root else { panic!("{diff:?}") };
    assert_eq!(list.alignment, Alignment::Place);
    assert!(matches!(list.rows[0].sides, Sides::Both(_)) && matches!(list.rows[1].sides, Sides::Missing(_)));
}
