//! Tests of the list.
use super::order::statement;
use super::*;
use crate::test_index::{TestIndex, TestRun, paths, request};

pub(super) const COLUMNS: [Column; 16] = [
    Column::Path,
    Column::Task,
    Column::System,
    Column::Model,
    Column::Variation,
    Column::Repeat,
    Column::State,
    Column::Turns,
    Column::ToolCalls,
    Column::Tokens,
    Column::Cost,
    Column::Seconds,
    Column::Size,
    Column::Modified,
    Column::Score,
    Column::Stored,
];

fn book(path: &str, turns: i64, tokens: Option<i64>, state: usize) -> TestRun {
    TestRun {
        path: path.into(),
        model: tokens.map(|_| "o1".into()),
        turns,
        tokens,
        state,
        ..TestRun::default()
    }
}

fn sample_index() -> TestIndex {
    TestIndex::with(&[
        book("d", 1, None, 0),
        book("b", 2, Some(7), 1),
        book("a", 1, Some(900), 3),
        book("e", 1, Some(7), 0),
        book("c", 3, None, 5),
        book("notes", 0, None, 6),
    ])
}

#[test]
fn ties_are_in_the_order_of_paths_and_missing_values_last_both_ways() {
    for indexed in [false, true] {
        let shelf = sample_index();
        if indexed {
            shelf.finish();
        }
        let (lists, index) = (Lists::default(), shelf.reader());
        let sorted = |column, down| paths(&lists.list(&index, &request("", column, down)).unwrap());
        assert_eq!(sorted(Column::Tokens, false), "b e a c d");
        assert_eq!(sorted(Column::Tokens, true), "a b e c d");
        assert_eq!(sorted(Column::Turns, true), "c b a d e");
        assert_eq!(sorted(Column::Model, true), "a b e c d");
        assert_eq!(sorted(Column::Path, true), "e d c b a");
        assert_eq!(sorted(Column::State, false), "d e b a c");
        assert_eq!(sorted(Column::Cost, true), "a b c d e");
    }
}

#[test]
fn every_order_is_read_from_one_covering_index_without_sorting() {
    let shelf = sample_index();
    shelf.finish();
    let index = shelf.reader();
    for column in COLUMNS {
        let plan: Vec<String> = index
            .prepare(&format!("EXPLAIN QUERY PLAN {}", statement(&column)))
            .unwrap()
            .query_map([], |row| row.get(3))
            .unwrap()
            .map(Result::unwrap)
            .collect();
        assert_eq!(plan.len(), 1, "{column:?}: {plan:?}");
        assert!(
            plan[0].starts_with("SCAN runs USING COVERING INDEX runs_"),
            "{column:?}: {plan:?}"
        );
    }
}

#[test]
fn the_unfiltered_list_reads_no_row_to_leave_out_what_is_no_transcript() {
    let shelf = sample_index();
    let index = shelf.reader();
    let condition = Filter::parse("").0.condition();
    let sql = format!("EXPLAIN QUERY PLAN SELECT id FROM runs WHERE {}", condition.sql);
    let plan: String = index.query_row(&sql, [], |row| row.get(3)).unwrap();
    assert_eq!(plan, "SEARCH runs USING COVERING INDEX runs_state (state_order<?)");
}

#[test]
fn a_page_is_a_part_of_the_list_and_never_larger_than_the_cap() {
    let books: Vec<TestRun> = (0..700).map(|n| book(&format!("{n:03}"), n, None, 0)).collect();
    let shelf = TestIndex::with(&books);
    let (lists, index) = (Lists::default(), shelf.reader());
    let page = |offset, limit| {
        let request =
            ListRequest { span: Span { offset, limit }, ..request("", Column::Turns, true) };
        lists.list(&index, &request).unwrap()
    };
    assert_eq!(paths(&page(698, 10)), "001 000");
    assert_eq!(page(0, 10_000).rows.len(), 500);
    assert_eq!(page(0, u32::MAX).total, 700);
    assert_eq!(page(u32::MAX, u32::MAX).rows.len(), 0);
}

#[test]
fn a_run_is_found_in_its_list_with_its_neighbours() {
    let shelf = sample_index();
    let (lists, index) = (Lists::default(), shelf.reader());
    let sort = Sort { column: Column::Path, descending: false };
    let place =
        |filter, path| lists.locate(&index, filter, &sort, &format!("key of {path}")).unwrap();
    let key = |path: &str| Some(format!("key of {path}"));
    assert_eq!(
        place("", "a"),
        ListPosition { position: Some(0), total: 5, previous: None, next: key("b") }
    );
    assert_eq!(
        place("tokens:7", "e"),
        ListPosition { position: Some(1), total: 2, previous: key("b"), next: None }
    );
    let nowhere = ListPosition { position: None, total: 2, previous: None, next: None };
    assert_eq!(place("tokens:7", "a"), nowhere);
    assert_eq!(place("tokens:7", "never there"), nowhere);
}

#[test]
fn the_runs_around_one_are_those_of_the_list_and_one_that_is_not_in_it_stands_where_it_would() {
    let books: Vec<TestRun> =
        (0..23).map(|n| book(&format!("{n:02}"), n % 5, (n % 3 > 0).then_some(n % 4), 0)).collect();
    let shelf = TestIndex::with(&books);
    let (lists, index) = (Lists::default(), shelf.reader());
    let keys = |filter, column, descending| -> Vec<String> {
        let request = ListRequest {
            span: Span { offset: 0, limit: 500 },
            ..request(filter, column, descending)
        };
        lists.list(&index, &request).unwrap().rows.into_iter().map(|row| row.id).collect()
    };
    for (column, descending) in
        COLUMNS.into_iter().flat_map(|column| [(column.clone(), false), (column, true)])
    {
        let sort = Sort { column: column.clone(), descending };
        let all = keys("", column.clone(), descending);
        for filter in ["", "turns:>1", "-turns:>1", "model:o1 turns:<4", "turns:>99"] {
            let list = keys(filter, column.clone(), descending);
            for (at, key) in all.iter().enumerate() {
                let before = all[..at].iter().filter(|other| list.contains(other)).count();
                let within =
                    |most| lists.around_within(&index, (filter, &sort), key, most).unwrap();
                let around = within(3);
                let from = before.saturating_sub(3);
                let until = (before + 4).min(list.len());
                assert_eq!(around.ids, list[from..until], "{filter} {column:?} {key}");
                let places = (around.offset, around.before, around.total);
                assert_eq!(
                    places,
                    (from as u64, before as u64, list.len() as u64),
                    "{filter} {column:?} {key}"
                );
                assert_eq!(within(MOST_AROUND).ids, list);
            }
        }
    }
    let sort = Sort { column: Column::Path, descending: false };
    let nowhere = lists.around_within(&index, ("", &sort), "never there", 3).unwrap();
    assert_eq!((nowhere.before, nowhere.ids.len()), (0, 4), "the beginning of the list");
}

#[test]
fn cached_results_end_with_their_generation() {
    let mut shelf = sample_index();
    let lists = Lists::default();
    let all = request("", Column::Path, false);
    let before = lists.list(&shelf.reader(), &all).unwrap();
    shelf.add(&[book("aa", 0, None, 0)]);
    let after = lists.list(&shelf.reader(), &all).unwrap();
    assert_eq!((before.total, after.total), (5, 6));
    assert_eq!(paths(&after), "a aa b c d e");
    assert!(after.generation > before.generation);
}

#[test]
fn facets_count_runs_by_value_and_offer_every_key() {
    let shelf = sample_index();
    let lists = Lists::default();
    let facets = lists.facets(&shelf.reader()).unwrap();
    assert_eq!(facets.keys.len(), crate::filter::KEYS.len());
    let values = |key: &str| {
        let facet = facets.keys.iter().find(|facet| facet.key == key).unwrap();
        facet
            .values
            .iter()
            .map(|value| format!("{} {}", value.value, value.count.unwrap()))
            .collect::<Vec<_>>()
            .join(", ")
    };
    assert_eq!(values("model"), "o1 3");
    assert_eq!(values("state"), "answered 2, damaged 1, error 1, no_answer 1, other 1");
    assert_eq!(values("missing"), "no 5");
    assert_eq!(values("turns"), "");
}

#[test]
fn who_holds_an_older_snapshot_neither_empties_nor_fills_the_cache() {
    let mut shelf = sample_index();
    let lists = Lists::default();
    let index = shelf.index();
    let held = index.reader().unwrap();
    shelf.add(&[book("aa", 0, None, 0)]);
    let all = request("", Column::Path, false);
    assert_eq!(lists.list(&shelf.reader(), &all).unwrap().total, 6);
    assert_eq!(lists.list(&held, &all).unwrap().total, 5);
    let sort = Sort { column: Column::Path, descending: false };
    let is_known = lists.remembered(&shelf.reader(), |known| {
        known.lists.get(&(lists.parsed("").key(), sort)).is_some()
    });
    assert!(is_known);
    assert_eq!(lists.list(&shelf.reader(), &all).unwrap().total, 6);
}

#[test]
fn runs_for_history_are_those_that_are_scored_and_left_out_as_statistics_count() {
    let mut shelf = TestIndex::new();
    let paths = ["a/1", "a/2", "b/x/1", "b/2", "c", "d/f.json#1", "d/f.json#é/2", "e/1", "e/2"];
    shelf.add(&paths.map(|path| book(path, 0, Some(7), 5)));
    shelf.change(
        "UPDATE runs SET score = id / 10.0, passed = id % 2, scoring = 'scored', scorer = 'exact',
           fingerprint = id % 3, system = 's' || id % 2, variation = id % 2, cost = id * 0.1;
         UPDATE runs SET lineage = 'fork' WHERE path IN ('a/2', 'e/1');
         UPDATE runs SET model = 'Replay' WHERE path IN ('b/2', 'e/1');
         UPDATE runs SET layout = 'evaluated', model = NULL WHERE path = 'c';
         UPDATE runs SET member = '1' WHERE path = 'd/f.json#1';
         UPDATE runs SET member = 'é/2', scoring = 'error', score = NULL WHERE path = 'd/f.json#é/2';
         UPDATE runs SET nudges = 1, started = 12.5, task = NULL, seconds = 3 WHERE path = 'e/2';
         INSERT INTO scores (run, place, scorer, version, standing, score, passed, reason, detail)
           SELECT id, 1, 'fields', 1, 'scored', 0.5, NULL, '', '[]' FROM runs WHERE id % 2 = 0;",
    );
    let (lists, index) = (Lists::default(), shelf.reader());
    for filter in [
        "",
        "forked:yes",
        "-forked:yes",
        "model:replay",
        "format:evaluated",
        "path:a*",
        "nonsense:1",
    ] {
        for scorer in [None, Some("fields")] {
            let (scored, misread) = lists.scored(&index, filter, scorer).unwrap();
            for place in [PlaceOf::Folder, PlaceOf::File] {
                let (counted, also) = lists.counted_runs(&index, filter, scorer, place).unwrap();
                assert_eq!(misread, also);
                let expected: Vec<_> = scored.iter().map(ScoredRun::counted).collect();
                assert_eq!(counted.all(), expected, "{filter} {scorer:?}");
                let left_out = lists.left_out(&index, filter).unwrap();
                assert_eq!(counted.left_out(), left_out, "{filter}");
                for (at, run) in (0..).zip(&scored) {
                    let folder = run.file().split_once('/').map(|(folder, _)| folder);
                    let file = if place == PlaceOf::File { Some(run.file()) } else { folder };
                    assert_eq!(counted.place_of(at).map(|(_, place)| place), file);
                    assert_eq!(counted.started_ms(at), run.started_ms);
                }
            }
        }
    }
}

#[test]
fn a_queue_at_random_has_every_run_once_and_depends_on_the_seed() {
    let shelf = sample_index();
    let (lists, index) = (Lists::default(), shelf.reader());
    let sort = Sort { column: Column::Path, descending: false };
    let queue = |seed| {
        let order = (QueueOrder::Random { seed }, None);
        lists.queue_around(&index, ("", &sort), order, "nowhere").unwrap().ids
    };
    let orders: BTreeSet<Vec<String>> = (0..20).map(queue).collect();
    assert!(orders.len() > 3, "{orders:?}");
    assert_eq!(queue(3), queue(3));
    for mut order in orders {
        order.sort();
        order.dedup();
        assert_eq!(order.len(), 5);
    }
}
