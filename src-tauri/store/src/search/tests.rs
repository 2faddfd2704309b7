//! Tests of the free-text search: the matching rules, and their independence from the full-text
//! index.
use crate::query::Lists;
use crate::test_index::{TestIndex, TestRun, paths, request};
use proptest::prelude::*;
use touchstone_api::{Column, Snippet, Span};

fn book(path: &str, texts: &[&str]) -> TestRun {
    let items =
        texts.iter().zip(0..).map(|(text, step)| (Some(step), (*text).to_owned())).collect();
    TestRun { path: path.into(), items, ..TestRun::default() }
}

fn format_snippet(snippet: &Snippet) -> String {
    let pieces: String = snippet
        .pieces
        .iter()
        .map(|p| if p.hit { format!("[{}]", p.text) } else { p.text.clone() })
        .collect();
    format!("{:?} {pieces}", snippet.step)
}

/// Returns the paths that match a filter. Must be equal before and after the full-text index is
/// complete.
fn found(shelf: &TestIndex, filter: &str) -> String {
    let page =
        Lists::default().list(&shelf.reader(), &request(filter, Column::Path, false)).unwrap();
    assert_eq!(page.misread, vec![], "{filter}");
    paths(&page)
}

#[test]
fn text_is_found_from_the_start_of_a_word_on_ignoring_case() {
    let shelf = TestIndex::with(&[
        book("a", &["Refund the customer", "SELECT ticket_id FROM t WHERE x => 5"]),
        book("b", &["prerefund", "Überprüfung der Tickets"]),
        book("c", &["naïve café, 退款 请求", "100% sure"]),
        book("d", &[]),
    ]);
    let rules = [
        ("refund", "a"),
        ("REFUND", "a"),
        ("refu", "a"),
        ("tick", "a b"),
        ("ticket_", "a"),
        ("_id", "a"),
        ("=>", "a"),
        ("\"refund the\"", "a"),
        ("refund ticket_id", "a"),
        ("\"customer select\"", ""),
        ("überprüf", "b"),
        ("ÜBERPRÜF", "b"),
        ("款", "c"),
        ("cafe", ""),
        ("café", "c"),
        ("100%", "c"),
        ("-refund", "b c d"),
        ("tick -refund", "b"),
        ("-tick -caf", "d"),
        ("\"AND\" \"NEAR(\"", ""),
        ("\"OR\"", ""),
    ];
    for (filter, expected) in rules {
        assert_eq!(found(&shelf, filter), expected, "{filter}");
    }
    shelf.complete();
    for (filter, expected) in rules {
        assert_eq!(found(&shelf, filter), expected, "{filter}, with the index complete");
    }
}

#[test]
fn a_row_shows_the_first_hit_with_its_step() {
    let long = format!("{} the needle {}", "before ".repeat(100), "after é ".repeat(100));
    let shelf = TestIndex::with(&[book("a", &["nothing here", &long, "needle again"])]);
    let page =
        Lists::default().list(&shelf.reader(), &request("needle", Column::Path, false)).unwrap();
    // Words are not cut at either end.
    let expected =
        format!("Some(1)  {} the [needle] {}", "before ".repeat(6), "after é ".repeat(11));
    assert_eq!(format_snippet(page.rows[0].snippet.as_ref().unwrap()), expected);
}

#[test]
fn hits_come_newest_run_first_and_many_of_one_run_do_not_drown_the_others() {
    let mut new = book("new", &[&"word and ".repeat(100)]);
    new.modified_ms = 2;
    let shelf = TestIndex::with(&[book("old", &["x", "a word"]), new]);
    let lists = Lists::default();
    let hits = |offset, limit| {
        let hits = lists.search(&shelf.reader(), "word", Span { offset, limit }).unwrap();
        hits.iter()
            .map(|hit| format!("{} {:?}", hit.path, hit.snippet.step.unwrap()))
            .collect::<Vec<_>>()
    };
    assert_eq!(hits(0, 100).len(), 21);
    assert_eq!(hits(19, 5), ["new 0", "old 1"]);
    assert_eq!(hits(21, 5), [""; 0]);
    assert_eq!(
        lists.search(&shelf.reader(), "state:error", Span { offset: 0, limit: 5 }).unwrap(),
        vec![]
    );
}

#[test]
fn a_hit_across_the_pieces_of_a_long_text_is_found_once() {
    for before in [(1 << 20) - 3, (1 << 20), (2 << 20) - 3, (2 << 20) - 1, 2 << 20, (4 << 20) - 4] {
        let text = format!("{} needle {}", "x".repeat(before), "y".repeat(1 << 20));
        let shelf = TestIndex::with(&[book("a", &[&text])]);
        assert_eq!(found(&shelf, "needle"), "a", "{before}");
        assert_eq!(found(&shelf, "eedle"), "", "{before}");
        assert_eq!(found(&shelf, "needle -yy"), "", "{before}");
        let hits = Lists::default()
            .search(&shelf.reader(), "needle", Span { offset: 0, limit: 9 })
            .unwrap();
        assert_eq!(hits.len(), 1, "{before}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn the_full_text_index_never_changes_what_is_found(
        texts in prop::collection::vec(prop::collection::vec("[abcAé_ .]{0,12}", 0..3), 1..6),
        needles in prop::collection::vec("[abcé_.]([abcé_ .]{0,3}[abcé_.])?", 1..6),
    ) {
        let books: Vec<TestRun> = texts.iter().enumerate().map(|(n, items)| {
            book(&format!("run{n}"), &items.iter().map(String::as_str).collect::<Vec<_>>())
        }).collect();
        let shelf = TestIndex::with(&books);
        let filters: Vec<String> = needles.iter().map(|needle| format!("\"{needle}\"")).collect();
        let before: Vec<String> = filters.iter().map(|filter| found(&shelf, filter)).collect();
        shelf.complete();
        let after: Vec<String> = filters.iter().map(|filter| found(&shelf, filter)).collect();
        prop_assert_eq!(before, after);
    }
}

fn any_phrase() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "no", "such", "column", "s", "No", "a_b", "_", " ", " ", ": ", "-", "é", "\u{17F}", "k",
        "\u{212A}", "退款", "b", "\n", "x", "naïve", "ß", "(\"", "Σ", "ς",
    ]);
    prop::collection::vec(piece, 1..9).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]
    #[test]
    fn phrases_are_found_by_the_full_text_index_as_by_a_reading(
        texts in prop::collection::vec(prop::collection::vec(any_phrase(), 0..5), 1..8),
        cuts in prop::collection::vec((any::<prop::sample::Index>(), 1..9_usize, any::<bool>()), 12),
        others in prop::collection::vec(any_phrase(), 4),
    ) {
        let books: Vec<TestRun> = texts.iter().enumerate().map(|(n, items)| {
            book(&format!("run{n}"), &items.iter().map(String::as_str).collect::<Vec<_>>())
        }).collect();
        let all: Vec<char> = texts.iter().map(|items| items.concat()).collect::<String>().chars().collect();
        // Parts of the texts are wanted, so that some are found.
        let part = |(at, len, negated): &(prop::sample::Index, usize, bool)| {
            let from = if all.is_empty() { 0 } else { at.index(all.len()) };
            let text: String = all[from..all.len().min(from + len)].iter().collect();
            (text, *negated)
        };
        let wanted = cuts.iter().map(part).chain(others.iter().map(|text| (text.clone(), false)));
        let token = |(text, negated): (String, bool)| {
            let text = text.replace(['"', '\n', '\\'], " ").trim().to_owned();
            (!text.is_empty()).then(|| format!("{}\"{text}\"", if negated { "-" } else { "" }))
        };
        let mut filters: Vec<String> = wanted.filter_map(token).collect();
        let both: Vec<String> = filters.windows(2).map(|two| two.join(" ")).collect();
        filters.extend(both);
        let shelf = TestIndex::with(&books);
        let before: Vec<String> = filters.iter().map(|filter| found(&shelf, filter)).collect();
        shelf.complete();
        for (filter, before) in filters.iter().zip(before) {
            prop_assert_eq!(found(&shelf, filter), before, "{}", filter);
        }
    }
}
