//! Tests of the pure modules of an open run.
use super::pieces::{Budget, MARGIN, piece, raw_piece};
use super::table::Table;
use super::{PartId, body, find, view};
use proptest::prelude::*;
use touchstone_api::{Body, Cell, CellKind, Language, RowRequest, Span};
use touchstone_model::json;
use touchstone_model::run::{Answer, Part, Run, Step};
use touchstone_model::value::Value;
use touchstone_store::snippet::Needle;

fn new_part(label: &str, value: Value) -> Part {
    Part { label: label.into(), value, ..Part::default() }
}

fn step(parts: Vec<Part>) -> Step {
    Step { turn: 1, parts, ..Step::default() }
}

fn value(text: &str) -> Value {
    json::read(text).unwrap()
}

fn render_body(text: &str) -> Body {
    body::part(PartId::Answer, "x", Language::Plain, &value(text), &mut Budget::new(1 << 20)).body
}

fn sorted(table: &str, column: u32, descending: bool) -> String {
    let span = Span { offset: 0, limit: 100 };
    let table = value(table);
    let rows = Table::from_value(&table)
        .unwrap()
        .read(&RowRequest { span, column: Some(column), descending })
        .rows;
    let cell = |row: &Vec<Cell>| row[column as usize].text.clone();
    rows.iter().map(cell).collect::<Vec<_>>().join(" ")
}

/// Maximum JSON bytes of one page of steps, including overhead.
const MAX_PAGE: usize = 400 << 10;

fn weight(run: &Run) -> usize {
    let page = view::steps(run, 0, usize::MAX);
    let rest = (view::answer(run), view::facts(run), view::notes(run));
    let rest = serde_json::to_vec(&rest).unwrap().len();
    assert!(rest < 200 << 10, "answer, facts and notes weigh {rest}");
    serde_json::to_vec(&page).unwrap().len()
}

#[test]
fn a_list_of_objects_is_a_table_and_nothing_else_is() {
    assert!(matches!(render_body(r#"[{"a": 1}, {"b": 2}]"#), Body::Table { total: 2, .. }));
    for other in ["[]", "[1]", r#"[{"a": 1}, 2]"#, r#"{"a": 1}"#, "null", "5"] {
        assert!(matches!(render_body(other), Body::Value { whole: true, .. }), "{other}");
    }
    let wide: String = (0..201).map(|n| format!("\"k{n}\":1")).collect::<Vec<_>>().join(",");
    assert!(matches!(render_body(&format!("[{{{wide}}}]")), Body::Value { .. }));
}

#[test]
fn a_table_keeps_what_each_cell_is_and_how_its_number_was_written() {
    let Body::Table { columns, rows, .. } =
        render_body(r#"[{"n": 1.50, "t": "x"}, {"t": null, "l": [1, {"a": true}], "n": 2e3}]"#)
    else {
        panic!("no table")
    };
    let columns: Vec<_> =
        columns.iter().map(|column| (column.name.as_str(), column.numeric)).collect();
    assert_eq!(columns, [("n", true), ("t", false), ("l", false)]);
    let cells: Vec<_> = rows.iter().flatten().map(|cell| (cell.text.as_str(), cell.kind)).collect();
    let expected = [
        ("1.50", CellKind::Number),
        ("x", CellKind::Text),
        ("", CellKind::Missing),
        ("2e3", CellKind::Number),
        ("null", CellKind::Null),
        (r#"[1,{"a":true}]"#, CellKind::Nested),
    ];
    assert_eq!(cells, expected);
}

#[test]
fn rows_are_ordered_by_number_where_there_are_numbers_and_what_is_missing_comes_last() {
    let table =
        r#"[{"n": 10}, {"n": null}, {"n": 9}, {"n": "b"}, {}, {"n": 1e1}, {"n": -1}, {"n": "a"}]"#;
    assert_eq!(sorted(table, 0, false), "-1 9 10 1e1 a b null ");
    assert_eq!(sorted(table, 0, true), "10 1e1 9 -1 b a null ");
    assert_eq!(
        sorted(r#"[{"n": 9007199254740993}, {"n": 9007199254740992}]"#, 0, false),
        "9007199254740992 9007199254740993"
    );
}

#[test]
fn csv_holds_no_formula_and_tells_no_value_from_an_empty_text() {
    let table = value(
        r#"[{"a,b": "x\"y", "c": 1.0}, {"a,b": "=1+1", "c": null}, {"a,b": "two\nlines"}, {"a,b": "", "c": {"k": [1]}}]"#,
    );
    insta::assert_snapshot!(Table::from_value(&table).unwrap().csv().replace('\r', "␍"), @r#"
    "a,b",c␍
    "x""y",1.0␍
    '=1+1,␍
    "two
    lines",␍
    "","{""k"":[1]}"␍
    "#);
}

#[test]
fn steps_come_in_windows_that_hold_at_least_one() {
    let run = Run {
        steps: vec![step(vec![new_part("message", Value::from("x"))]); 450],
        ..Run::default()
    };
    let window = |offset, limit| {
        let steps = view::steps(&run, offset, limit);
        (steps.first().map(|step| step.index), steps.len())
    };
    assert_eq!(window(0, 1_000), (Some(0), 200));
    assert_eq!(window(440, 200), (Some(440), 10));
    assert_eq!(window(3, 1), (Some(3), 1));
    assert_eq!(window(450, 5), (None, 0));
    let big = Run {
        steps: vec![step(vec![new_part("message", Value::from("x".repeat(10 << 20).as_str()))]); 3],
        ..Run::default()
    };
    assert!(!view::steps(&big, 0, 200).is_empty());
}

#[test]
fn cut_texts_are_marked_and_can_be_continued_from_their_end() {
    let long = "é".repeat(10_000);
    let run = Run {
        steps: vec![step(vec![new_part("message", Value::from(long.as_str()))])],
        ..Run::default()
    };
    let part = &view::steps(&run, 0, 1)[0].parts[0];
    let Body::Text { text, whole: false, .. } = &part.body else { panic!("{:?}", part.body) };
    assert_eq!((text.len(), part.bytes), (8 << 10, 20_000));
    let id: PartId = part.id.parse().unwrap();
    let whole = id.value(&run).unwrap();
    let rest = piece(whole.text().unwrap(), text.len() as u64, 1 << 20);
    assert_eq!(format!("{text}{}", rest.text), long);
    assert_eq!((rest.next, rest.total), (None, 20_000));
}

#[test]
fn a_window_stays_small_whatever_a_file_holds() {
    let hostile = "\u{1}".repeat(9_000);
    let wide: Vec<(Value, Value)> = (0..200)
        .map(|n| (Value::from(format!("{n}{hostile:.300}").as_str()), Value::from(&hostile[..50])))
        .collect();
    let table = Value::List(vec![Value::Map(wide); 2]);
    let shapes = [
        vec![step(vec![new_part("message", Value::from(hostile.as_str()))]); 300],
        vec![step(vec![new_part("message", Value::from("\u{1}".repeat(10 << 20).as_str()))])],
        vec![step(vec![new_part(&hostile, Value::from(hostile.as_str())); 130])],
        vec![step(vec![new_part("result", table); 2]); 2],
        vec![
            Step {
                title: Some(hostile.clone()),
                call_id: Some(hostile.clone()),
                ..Step::default()
            };
            300
        ],
        vec![step(vec![new_part("x", Value::List(vec![Value::Null; 100_000]))]); 9],
        vec![step(vec![new_part("message", Value::from("short"))]); 100_000],
    ];
    for (at, steps) in shapes.into_iter().enumerate() {
        let facts = (0..300)
            .map(|n| (format!("{n}{hostile:.300}"), Value::from(&hostile[..5_000])))
            .collect();
        let answer = Some(Answer {
            value: Value::from(hostile.as_str()),
            source: hostile.clone(),
            lenient: false,
        });
        let run = Run { steps, facts, answer, notes: vec![hostile.clone(); 100], ..Run::default() };
        let weight = weight(&run);
        assert!(weight <= MAX_PAGE, "shape {at} weighs {weight}");
    }
}

#[test]
fn a_step_with_very_many_parts_shows_the_rest_as_one() {
    let run = Run {
        steps: vec![step(
            (0..150).map(|n| new_part(&format!("p{n}"), Value::from("needle"))).collect(),
        )],
        ..Run::default()
    };
    let parts = &view::steps(&run, 0, 1)[0].parts;
    assert_eq!((parts.len(), parts[100].label.as_str()), (101, "50 more"));
    let rest: PartId = parts[100].id.parse().unwrap();
    assert_eq!(rest.value(&run).unwrap().entries().len(), 50);
    assert_eq!(find::find(&run, &Needle::anywhere("needle").unwrap()).total, 150);
}

#[test]
fn a_text_is_found_anywhere_in_the_order_of_reading() {
    let run = Run {
        steps: vec![
            step(vec![new_part("message", Value::from("Say Hello"))]),
            step(vec![
                new_part("sql", Value::from("hellO, othello")),
                new_part("result", value(r#"[{"hello": 1}]"#)),
            ]),
        ],
        answer: Some(Answer { value: Value::from("hello"), source: String::new(), lenient: false }),
        ..Run::default()
    };
    let found = find::find(&run, &Needle::anywhere("hello").unwrap());
    let places: Vec<_> =
        found.matches.iter().map(|m| format!("{:?} {} {}", m.step, m.part, m.offset)).collect();
    let expected = [
        "Some(0) step:0.0 4",
        "Some(1) step:1.0 0",
        "Some(1) step:1.0 9",
        "Some(1) step:1.1 11",
        "None answer 0",
    ];
    assert_eq!((found.total, places), (5, expected.map(str::to_owned).to_vec()));
    assert_eq!(
        found.matches.iter().map(|m| m.row).collect::<Vec<_>>(),
        [None, None, None, Some(0), None]
    );
    let many = Run {
        steps: vec![step(vec![new_part("m", Value::from("a ".repeat(5_000).as_str()))])],
        ..Run::default()
    };
    let found = find::find(&many, &Needle::anywhere("a").unwrap());
    assert_eq!((found.total, found.matches.len()), (5_000, 2_000));
}

#[test]
fn a_place_in_a_table_says_its_row_whatever_the_cells_look_like() {
    let rows = r#"[{"a": "x\n  {"}, {"a": {"b": [{"c": "needle"}]}}, {"a": "\n  {needle"}, {}, {"needle": 1}]"#;
    let run = Run { steps: vec![step(vec![new_part("result", value(rows))])], ..Run::default() };
    let found = find::find(&run, &Needle::anywhere("needle").unwrap());
    assert_eq!(
        found.matches.iter().map(|m| m.row).collect::<Vec<_>>(),
        [Some(1), Some(2), Some(4)]
    );
    let list = Run {
        steps: vec![step(vec![new_part("result", value(r#"["needle"]"#))])],
        ..Run::default()
    };
    assert_eq!(find::find(&list, &Needle::anywhere("needle").unwrap()).matches[0].row, None);
}

proptest! {
    #[test]
    fn pieces_of_a_text_put_together_are_the_text(text in "(\\PC|\u{1}|é|退){0,60}", limit in 0u64..9) {
        let mut whole = String::new();
        let mut at = Some(0);
        while let Some(offset) = at {
            let piece = piece(&text, offset, limit);
            prop_assert_eq!(piece.offset, offset);
            whole.push_str(&piece.text);
            at = piece.next;
        }
        prop_assert_eq!(whole, text);
    }

    #[test]
    fn raw_pieces_put_together_are_the_file_with_its_broken_bytes_marked(
        bytes in prop::collection::vec(prop_oneof![any::<u8>(), Just(0xC3), Just(0xA9), Just(0xF0), Just(0x9F)], 0..40),
        text in "[aé退😀]{0,10}",
        limit in 4usize..9,
    ) {
        let bytes = [text.as_bytes(), &bytes, text.as_bytes()].concat();
        let mut whole = String::new();
        let mut at = 0;
        while at < bytes.len() {
            let from = at.saturating_sub(MARGIN);
            let window = &bytes[from..(at + limit + MARGIN).min(bytes.len())];
            let (text, range) = raw_piece(window, at - from..at - from + limit);
            prop_assert_eq!(range.start + from, at);
            whole.push_str(&text);
            at = from + range.end;
        }
        let marked = String::from_utf8_lossy(&bytes);
        // The number of replacement characters for a broken sequence may differ at the end of a
        // piece; valid text may not.
        let readable = |text: &str| text.replace('\u{FFFD}', "");
        prop_assert_eq!(readable(&whole), readable(&marked));
    }

    #[test]
    fn the_name_of_a_part_reads_back(step in 0usize..100_000, part in 0usize..101) {
        for id in [PartId::Step(step, part), PartId::Node(step, part), PartId::Answer, PartId::Fact(part), PartId::Prompt, PartId::Expected,
                   PartId::Parameter(part), PartId::Raw(part)] {
            prop_assert_eq!(id.to_string().parse(), Ok(id));
        }
    }

    #[test]
    fn any_name_of_a_part_is_read_without_harm(text in "(step|fact|raw|answer|parameter)?[:.0-9-]{0,30}") {
        let run = Run { steps: vec![step(vec![new_part("m", Value::Null)])], ..Run::default() };
        if let Ok(id) = text.parse::<PartId>() {
            let _ = id.value(&run);
        }
    }
}
