//! Tests of the full-text index: it holds what a reading of the texts finds, while runs are added,
//! changed and removed, and while segments are merged.
use super::ANYWHERE;
use super::block::BlockWriter;
use super::fill::{Done, Filling, LARGEST, TERMS};
use super::lookup::{WordIndex, waiting};
use super::plan::Plan;
use super::segments::{forget, put_block};
use crate::index::{IndexError, is_damage};
use crate::query::Lists;
use crate::snippet::Needle;
use crate::test_index::{TestIndex, TestRun, paths, request};
use proptest::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
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
    (indexed(shelf, word).unwrap(), read)
}

/// Returns the ids of the runs that the index holds for a word.
fn indexed(shelf: &TestIndex, word: &str) -> Result<Vec<i64>, IndexError> {
    let reader = shelf.reader();
    let Plan::Exactly(term) = Plan::for_needle(&Needle::word(word).unwrap()) else {
        panic!("{word} is no word")
    };
    Ok(WordIndex::open(&reader)?.runs_with(&term, ANYWHERE)?.iter().collect())
}

fn count(shelf: &TestIndex, sql: &str) -> i64 {
    shelf.writer().sql.query_row(sql, [], |row| row.get(0)).unwrap()
}

/// Makes small segments of all runs, and merges them.
fn fill(shelf: &TestIndex, filling: &mut Filling, steps: usize) {
    for _ in 0..steps {
        if matches!(filling.step(shelf.writer(), &|| true).unwrap(), Done::Nothing) {
            return;
        }
    }
}

const SEGMENTS: &str = "SELECT count(*) FROM word_segments";
const STRAYS: &str =
    "SELECT count(*) FROM word_blocks WHERE segment NOT IN (SELECT id FROM word_segments)";
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
        prop_assert!(count(&shelf, SEGMENTS) < 20);
        prop_assert_eq!(count(&shelf, STRAYS), 0);
    }

    #[test]
    fn any_bytes_in_a_block_are_an_answer_or_damage(
        terms in prop::collection::btree_map(
            prop::sample::select(WORDS.to_vec()),
            prop::collection::vec(any::<u8>(), 0..24),
            1..8,
        ),
        rest in prop::collection::vec(any::<u8>(), 0..3),
    ) {
        let shelf = TestIndex::with(&[run("a", "ab"), run("b", "no")]);
        shelf.complete();
        let segment = count(&shelf, "SELECT id FROM word_segments");
        shelf.change("DELETE FROM word_blocks");
        let mut writer = BlockWriter::default();
        for (term, postings) in &terms {
            writer.push(term.as_bytes(), postings);
        }
        for (first, mut block) in writer.finish() {
            block.extend_from_slice(&rest);
            put_block(&shelf.writer().sql, segment, &first, block).unwrap();
        }
        for word in WORDS.iter().filter(|word| word.is_ascii()) {
            match indexed(&shelf, word) {
                Ok(runs) => prop_assert!(runs.iter().all(|run| *run <= 2)),
                Err(error) => prop_assert!(is_damage(&error), "{}", error),
            }
        }
        // The segment is rewritten.
        forget(&shelf.writer().sql, 1).unwrap();
        if let Err(error) = Filling::default().step(shelf.writer(), &|| true) {
            prop_assert!(is_damage(&error), "{}", error);
        }
    }
}

#[test]
fn an_error_anywhere_leaves_an_index_that_answers_as_before() {
    let mut shelf = TestIndex::new();
    // After so many instructions of SQLite, one fails.
    let left = Arc::new(AtomicI64::new(i64::MAX));
    let until = Arc::clone(&left);
    let is_over = move || until.fetch_sub(1, Ordering::Relaxed) == 0;
    shelf.writer_mut().sql.progress_handler(1, Some(is_over)).unwrap();
    let mut filling = Filling::default();
    let (mut errors, mut merged) = (0, 0);
    for at in 0..240_usize {
        let text = [WORDS[at % 12], WORDS[at % 7], WORDS[at % 5]].join(" ");
        shelf.add(&[run(&format!("run {at}"), &text)]);
        if at % 5 == 4 {
            let id = i64::try_from(at / 2).unwrap();
            forget(&shelf.writer().sql, id).unwrap();
            shelf.change(&format!("DELETE FROM runs WHERE id = {id}"));
        }
        for step in 0..3 {
            left.store(i64::try_from((at * 3 + step) * 7 % 1_500).unwrap(), Ordering::Relaxed);
            let done = filling.step(shelf.writer(), &|| true);
            left.store(i64::MAX, Ordering::Relaxed);
            match done {
                Ok(done) => merged += usize::from(matches!(done, Done::Merged)),
                Err(_) => errors += 1,
            }
            if (at + step) % 4 == 0 {
                filling = Filling::default();
            }
            for word in ["ab", "no", "ska", "x"] {
                let (by_index, read) = found(&shelf, word);
                assert_eq!(by_index, read, "{word} after {at}");
            }
        }
    }
    assert!(errors > 50 && merged > 20, "{errors} {merged}");
    fill(&shelf, &mut filling, usize::MAX);
    assert_eq!(count(&shelf, STRAYS), 0);
    assert!(waiting(&shelf.reader()).unwrap().is_empty());
    for word in WORDS.iter().filter(|word| word.is_ascii()) {
        let (by_index, read) = found(&shelf, word);
        assert_eq!(by_index, read, "{word} at the end");
    }
}

#[test]
fn each_changed_byte_of_a_block_is_damage() {
    let books: Vec<TestRun> = (0..40_usize)
        .map(|at| run(&format!("run {at}"), &[WORDS[at % 12], WORDS[at % 7]].join(" ")))
        .collect();
    let shelf = TestIndex::with(&books);
    shelf.complete();
    let sql = &shelf.writer().sql;
    let select = "SELECT id, block FROM word_blocks";
    let (id, block): (i64, Vec<u8>) =
        sql.query_row(select, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    assert_eq!(count(&shelf, "SELECT count(*) FROM word_blocks"), 1);
    let put = |block: &[u8]| {
        sql.execute("UPDATE word_blocks SET block = ? WHERE id = ?", (block, id)).unwrap();
    };
    for at in 0..block.len() {
        let mut changed = block.clone();
        changed[at] ^= 1 << (at % 8);
        put(&changed);
        assert!(is_damage(&indexed(&shelf, "no").unwrap_err()), "{at}");
        put(&block[..at]);
        assert!(is_damage(&indexed(&shelf, "no").unwrap_err()), "{at}");
    }
    // It is not rewritten without what is lost, either.
    for run in 1..=10 {
        forget(sql, run).unwrap();
    }
    let Err(error) = Filling::default().step(shelf.writer(), &|| true) else { panic!("rewritten") };
    assert!(is_damage(&error) && count(&shelf, SEGMENTS) == 1, "{error}");
    put(&block);
    fill(&shelf, &mut Filling::default(), usize::MAX);
    assert!(indexed(&shelf, "no").unwrap().iter().all(|run| *run > 10));
}

#[test]
fn runs_that_come_one_by_one_do_not_have_the_index_written_over_and_over() {
    let word = |at: usize| format!("w{}x{}", at / 20, at % 20);
    let words = |at: usize| (at * 20..(at + 1) * 20).map(word).collect::<Vec<_>>().join(" ");
    let books: Vec<TestRun> = (0..1_000).map(|at| run(&format!("run {at}"), &words(at))).collect();
    let shelf = TestIndex::with(&books);
    let mut filling = Filling::default();
    let (mut last, mut written) = (0, 0);
    while !matches!(filling.step(shelf.writer(), &|| true).unwrap(), Done::Nothing) {
        let newest = "SELECT max(id), size FROM word_segments";
        let (id, size): (i64, i64) =
            shelf.writer().sql.query_row(newest, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        if id > last {
            (last, written) = (id, written + size);
        }
    }
    let size = count(&shelf, "SELECT sum(size) FROM word_segments");
    assert!(written <= 10 * size, "{written} for {size}");
    assert!(count(&shelf, SEGMENTS) < 30);
}

#[test]
fn a_text_of_too_many_words_is_left_out_and_read() {
    let words: Vec<String> = (0..=TERMS).map(|at| format!("{at:x}")).collect();
    let shelf = TestIndex::with(&[run("many", &words.join(" ")), run("short", "abcde")]);
    shelf.complete();
    assert_eq!(waiting(&shelf.reader()).unwrap().iter().collect::<Vec<_>>(), [1]);
    assert_eq!(found(&shelf, "abcde").0, [2]);
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
