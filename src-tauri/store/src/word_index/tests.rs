//! Tests of the full-text index: it holds what a reading of the texts finds, while runs are added,
//! changed and removed, and while segments are merged.
use super::ANYWHERE;
use super::fill::{Done, Filling, LARGEST};
use super::lookup::{WordIndex, waiting};
use super::plan::Plan;
use super::segments::forget;
use crate::query::Lists;
use crate::snippet::Needle;
use crate::test_index::{TestIndex, TestRun, paths, request};
use proptest::prelude::*;
use touchstone_api::Column;

fn run(path: &str, text: &str) -> TestRun {
    TestRun {
        path: path.to_owned(),
        items: vec![(Some(0), text.to_owned())],
        modified_ms: i64::from(text.len().is_multiple_of(2)),
        ..TestRun::default()
    }
}

/// Returns the ids of the runs that hold a word, by the index and by reading.
fn found(shelf: &TestIndex, word: &str) -> (Vec<i64>, Vec<i64>) {
    let reader = shelf.reader();
    let needle = Needle::word(word).unwrap();
    let Plan::Exactly(term) = Plan::for_needle(&needle) else { panic!("{word} is no word") };
    let by_index = WordIndex::open(&reader).unwrap().runs_with(&term, ANYWHERE).unwrap();
    let waiting = waiting(&reader).unwrap();
    let text = reader.text().unwrap();
    let mut select = reader.prepare("SELECT id, text_offset, text_len FROM runs").unwrap();
    let mut rows = select.query([]).unwrap();
    let mut read = Vec::new();
    while let Some(row) = rows.next().unwrap() {
        let (id, start, len): (i64, i64, i64) =
            (row.get(0).unwrap(), row.get(1).unwrap(), row.get(2).unwrap());
        let text = text.read(start.cast_unsigned(), usize::try_from(len).unwrap()).unwrap();
        if needle.find(&text, 0).is_some() && !waiting.contains(id) {
            read.push(id);
        }
    }
    (by_index.iter().collect(), read)
}

/// Makes small segments of all runs, and merges them.
fn fill(shelf: &TestIndex, filling: &mut Filling, steps: usize) {
    for _ in 0..steps {
        if matches!(filling.step(shelf.writer(), &|| true).unwrap(), Done::Nothing) {
            return;
        }
    }
}

const WORDS: [&str; 12] =
    ["a", "ab", "abc", "b", "c1", "no", "no_such", "such", "é1", "ska", "kelvin", "x"];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn the_index_holds_what_a_reading_finds_while_runs_come_and_go(
        changes in prop::collection::vec(
            (
                prop::collection::vec(
                    prop::sample::select(vec![
                        "ab", "abc", "c1", "_", " ", ".", "no", "no_such", "\u{17F}ka", "é", "é1",
                        "\u{212A}elvin", "退", "\n", "x", "Ab", "NO",
                    ]),
                    0..14,
                ),
                0..4_u8,
                0..4_usize,
            ),
            1..60,
        ),
    ) {
        let mut shelf = TestIndex::new();
        let mut filling = Filling::default();
        for (at, (text, change, steps)) in changes.iter().enumerate() {
            let text = text.concat();
            match change {
                // Text that changes is appended, and its run keeps its id.
                0 if at > 0 => {
                    let id = i64::try_from(at / 2).unwrap();
                    forget(&shelf.writer().sql, id).unwrap();
                    shelf.add(&[run(&format!("new {at}"), &text)]);
                    shelf.change(&format!(
                        "UPDATE runs SET words = NULL, (text_offset, text_len) = \
                         (SELECT text_offset, text_len FROM runs ORDER BY id DESC LIMIT 1) \
                         WHERE id = {id}"
                    ));
                }
                1 if at > 0 => {
                    let id = i64::try_from(at / 3).unwrap();
                    forget(&shelf.writer().sql, id).unwrap();
                    shelf.change(&format!("DELETE FROM runs WHERE id = {id}"));
                }
                _ => shelf.add(&[run(&format!("run {at}"), &text)]),
            }
            fill(&shelf, &mut filling, *steps);
            for word in WORDS.iter().filter(|word| word.is_ascii()) {
                let (by_index, read) = found(&shelf, word);
                prop_assert_eq!(by_index, read, "{} after {}", word, at);
            }
        }
        // Another process goes on.
        fill(&shelf, &mut Filling::default(), usize::MAX);
        for word in WORDS.iter().filter(|word| word.is_ascii()) {
            let (by_index, read) = found(&shelf, word);
            prop_assert_eq!(by_index, read, "{} at the end", word);
        }
        let sql = &shelf.writer().sql;
        let segments = "SELECT count(*) FROM word_segments";
        prop_assert!(sql.query_row(segments, [], |row| row.get::<_, i64>(0)).unwrap() < 8);
        let strays = "SELECT count(*) FROM word_blocks \
                      WHERE segment NOT IN (SELECT id FROM word_segments)";
        prop_assert_eq!(sql.query_row(strays, [], |row| row.get::<_, i64>(0)).unwrap(), 0);
    }
}

#[test]
fn a_text_that_is_too_long_is_left_out_and_read() {
    let long = format!("{} needle", "x ".repeat(usize::try_from(LARGEST).unwrap() / 2));
    let shelf = TestIndex::with(&[run("long", &long), run("short", "needle")]);
    shelf.complete();
    let reader = shelf.reader();
    assert_eq!(waiting(&reader).unwrap().iter().collect::<Vec<_>>(), [1]);
    assert_eq!(found(&shelf, "needle").0, [2]);
    let page = Lists::default().list(&reader, &request("needle", Column::Path, false)).unwrap();
    assert_eq!(paths(&page), "long short");
}

#[test]
fn a_word_across_the_pieces_of_a_long_text_is_found_whole() {
    for before in [(1 << 20) - 20, (1 << 20) - 4, (1 << 20) - 1, 1 << 20, (1 << 20) + 1] {
        let text = format!("{} needle_of_some_length {}", "é".repeat(before / 2), "y".repeat(99));
        let shelf = TestIndex::with(&[run("a", &text)]);
        shelf.complete();
        assert_eq!(found(&shelf, "needle_of_some_length").0, [1], "{before}");
        for word in ["eedle", "of", "length_", "needles"] {
            let (by_index, read) = found(&shelf, word);
            assert_eq!(by_index, read, "{before} {word}");
        }
    }
}
