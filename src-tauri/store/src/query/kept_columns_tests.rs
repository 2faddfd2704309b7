//! Tests of when columns in memory are kept, read anew and refused.
use super::*;
use crate::columns::Text;
use crate::index::Index;
use crate::test_index::{TestIndex, request};
use std::time::{Duration, Instant};

const PATH: Sort = Sort { column: Column::Path, descending: false };

/// Inserts runs, with what is their id and what is their path in SQL.
fn insert(index: &TestIndex, (id, path): (&str, &str), runs: u64) {
    index.change(&format!(
        "WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < {runs})
         INSERT INTO runs (id, key, path, unit, layout, repeat, state, state_order, turns, tool_calls, failed_calls,
         nudges, missing_calls, tools, size, modified_ms, has_answer, content_hash, text_offset, text_len,
         unfinished)
         SELECT {id}, printf('%016x', {id}), {path}, 0, '', 1, 'answered', 0, 1, 0, 0, 0, '[]', '', 1, 0, 0, 0, 0, 0,
         0 FROM n WHERE value <= {runs}"
    ));
}

/// Number of runs in the columns, if they are kept.
fn runs(index: &TestIndex) -> Option<usize> {
    index.reader().columns().map(|columns| columns.runs())
}

fn ids(index: &TestIndex, sort: &Sort) -> Vec<i64> {
    let lists = Lists::default();
    lists.ids(&index.reader(), &lists.prepared(Filter::default()), sort).unwrap().to_vec()
}

/// Ends the thread of the columns, however a test ends.
struct StopsColumns<'i>(&'i Index);

impl Drop for StopsColumns<'_> {
    fn drop(&mut self) {
        self.0.stop_columns();
    }
}

/// Does something while a thread keeps the columns.
fn with_thread(index: &TestIndex, act: impl FnOnce()) {
    let shared = index.index();
    std::thread::scope(|scope| {
        scope.spawn(|| shared.keep_columns());
        let _stops = StopsColumns(&shared);
        act();
    });
}

/// Waits until the columns are kept.
fn wait_for_runs(index: &TestIndex) -> usize {
    let started = Instant::now();
    loop {
        if let Some(runs) = runs(index) {
            return runs;
        }
        assert!(started.elapsed() < Duration::from_mins(1), "the columns were not read");
        std::thread::yield_now();
    }
}

#[test]
fn many_runs_are_read_by_a_thread_of_their_own_and_sql_answers_until_then() {
    const RUNS: u64 = 20_001;
    let index = TestIndex::new();
    insert(&index, ("value", "value"), RUNS);
    let total = || {
        let all = request("", Column::Path, false);
        Lists::default().list(&index.reader(), &all).unwrap().total
    };
    assert_eq!(runs(&index), None);
    assert_eq!(total(), RUNS);
    with_thread(&index, || {
        assert_eq!(wait_for_runs(&index) as u64, RUNS);
        index.change("DELETE FROM runs WHERE id = 7");
        assert_eq!(wait_for_runs(&index) as u64, RUNS - 1);
    });
    assert_eq!(total(), RUNS - 1);
    index.change("DELETE FROM runs WHERE id = 8");
    assert_eq!(runs(&index), None, "nothing is read once the folder is closed");
    assert_eq!(total(), RUNS - 2);
}

#[test]
fn what_touches_many_groups_is_read_by_the_thread() {
    let index = TestIndex::new();
    insert(&index, ("value * 16384", "value"), 40);
    with_thread(&index, || {
        assert_eq!(wait_for_runs(&index), 40);
        index.change("UPDATE runs SET turns = 50 - id / 16384");
        assert_eq!(wait_for_runs(&index), 40);
        let by_turns = Sort { column: Column::Turns, descending: false };
        let last_first: Vec<i64> = (1..=40).rev().map(|n| n * 16_384).collect();
        assert_eq!(ids(&index, &by_turns), last_first);
    });
}

#[test]
fn runs_with_equal_paths_are_in_the_order_of_their_ids_whenever_they_came() {
    let index = TestIndex::new();
    let turns = Sort { column: Column::Turns, descending: true };
    for (id, expected) in [("5", vec![5]), ("9", vec![5, 9]), ("3", vec![3, 5, 9])] {
        insert(&index, (id, "'same'"), 1);
        assert_eq!(runs(&index), Some(expected.len()));
        assert_eq!(ids(&index, &PATH), expected);
        assert_eq!(ids(&index, &turns), expected);
    }
    index.index().limit_columns(0);
    assert_eq!(runs(&index), None);
    assert_eq!(ids(&index, &PATH), [3, 5, 9]);
    assert_eq!(ids(&index, &turns), [3, 5, 9]);
}

#[test]
fn a_reader_of_an_earlier_build_does_not_take_the_place_of_the_columns_of_the_present_one() {
    let index = TestIndex::new();
    insert(&index, ("value", "value"), 5);
    let held = index.reader();
    assert!(held.columns().is_some());
    let _writer = index.index().renew().unwrap();
    let kept = index.reader().columns().unwrap();
    assert_eq!(kept.runs(), 0);
    assert!(held.columns().is_none());
    assert!(Arc::ptr_eq(&kept, &index.reader().columns().unwrap()));
}

#[test]
fn runs_that_were_too_many_are_read_when_there_are_fewer() {
    let index = TestIndex::new();
    insert(&index, ("value", "value"), 10);
    let few = index.reader().columns().unwrap().bytes();
    insert(&index, ("value + 10", "value + 10"), 990);
    let many = index.reader().columns().unwrap().bytes();
    index.index().limit_columns(few.midpoint(many));
    assert_eq!(runs(&index), None);
    index.change("DELETE FROM runs WHERE id = 1000");
    assert_eq!(runs(&index), None);
    assert_eq!(ids(&index, &PATH).len(), 999);
    index.change("DELETE FROM runs WHERE id > 10");
    assert_eq!(runs(&index), Some(10));
    insert(&index, ("value + 10", "value + 10"), 990);
    assert_eq!(runs(&index), None);
    assert_eq!(ids(&index, &PATH).len(), 1000);
}

#[test]
fn texts_that_no_run_has_any_more_do_not_use_up_the_memory() {
    let index = TestIndex::new();
    insert(&index, ("value", "value"), 10);
    let bytes = index.reader().columns().unwrap().bytes();
    let most = bytes * 3;
    index.index().limit_columns(most);
    assert_eq!(runs(&index), Some(10));
    let mut is_read_anew = false;
    for n in 0..100 {
        index.change(&format!("UPDATE runs SET task = '{n:0500}' WHERE id = 3"));
        is_read_anew |= runs(&index).is_none();
        let columns = index.reader().columns().expect("they are read anew when they are too large");
        assert!(columns.bytes() < most);
        assert_eq!(columns.decoded(Text::Task, str::to_owned).last(), Some(&format!("{n:0500}")));
    }
    assert!(is_read_anew);
}

#[test]
fn ids_of_deleted_runs_use_no_memory() {
    let index = TestIndex::new();
    insert(&index, ("value", "value"), 1500);
    let all = index.reader().columns().unwrap().bytes();
    insert(&index, ("16384", "'last'"), 1);
    assert_eq!(runs(&index), Some(1501));
    index.change("DELETE FROM runs WHERE id < 16384");
    let left = index.reader().columns().unwrap();
    assert_eq!(left.runs(), 1);
    assert!(left.bytes() < all / 4, "{} of {all} bytes are left", left.bytes());
}

#[test]
fn what_columns_cannot_hold_is_answered_by_sql() {
    let index = TestIndex::new();
    insert(&index, ("value", "value"), 3);
    assert_eq!(runs(&index), Some(3));
    index.change("UPDATE runs SET fork = 'none' WHERE id = 2");
    assert_eq!(runs(&index), None);
    assert_eq!(ids(&index, &PATH), [1, 2, 3]);
    assert!(!index.index().is_doubted(), "that is no reason to make the index anew");
}

#[test]
fn a_change_of_any_column_in_memory_is_recorded() {
    let index = TestIndex::new();
    let reader = index.reader();
    let text = |sql: &str| -> String { reader.query_row(sql, [], |row| row.get(0)).unwrap() };
    let trigger = text("SELECT sql FROM sqlite_master WHERE name = 'runs_updated'");
    let (columns, _) = trigger.split_once(" ON runs ").unwrap();
    let words = |text: &str| -> Vec<String> {
        text.split(|c: char| !c.is_alphanumeric() && c != '_').map(str::to_owned).collect()
    };
    let (recorded, read) = (words(columns), words(crate::columns::SELECT));
    let all = text("SELECT group_concat(name) FROM pragma_table_info('runs') WHERE name <> 'id'");
    for column in words(&all).iter().filter(|column| read.contains(column)) {
        assert!(recorded.contains(column), "a change of `{column}` is not recorded");
    }
}

#[test]
fn snapshots_are_kept_only_while_all_of_them_fit_together() {
    let index = TestIndex::new();
    insert(&index, ("value", "value"), 1000);
    let bytes = index.reader().columns().unwrap().bytes() + 1000 * 6 * size_of::<i64>();
    for (most, is_kept) in [(bytes * 4, true), (bytes * 3 / 2, false)] {
        index.index().limit_columns(most);
        let held = index.reader();
        assert!(held.columns().is_some());
        index.change("UPDATE runs SET turns = turns + 1");
        assert_eq!(runs(&index), Some(1000));
        assert_eq!(held.columns().is_some(), is_kept);
    }
}
