//! The database of promptfoo gives the same runs as the files that promptfoo exports from it. The
//! files were exported by promptfoo 0.123.1, but for the evaluation in its older layout.
use crate::disk::Disk;
use fs_err as fs;
use rusqlite::Connection;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use touchstone_imports::promptfoo::Promptfoo;
use touchstone_imports::registry;
use touchstone_imports::{Format as _, ImportedRun, Input, NoFolder, Repeat, Source, detect};
use touchstone_model::error::ReadError;

fn read(path: &str) -> BTreeMap<String, ImportedRun> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/promptfoo/database");
    let bytes = fs::read(root.join(path)).unwrap();
    let (format, _) = detect(path, &bytes).unwrap();
    let folder = Disk(root);
    let input = Input { path, source: &bytes, folder: &folder };
    let file = registry::open(format, input).unwrap();
    assert_eq!((format.name(), file.file_error()), ("promptfoo", None));
    (0..file.len()).map(|at| (file.member(at).unwrap(), file.read(at).unwrap())).collect()
}

#[test]
fn the_database_of_promptfoo_gives_the_runs_that_it_exports() {
    let database = read("promptfoo.db");
    let mut count = 0;
    for (file, runs) in [("repeated.json", 12), ("messages.json", 1), ("older.json", 3)] {
        let exported = read(file);
        assert_eq!(exported.len(), runs, "{file}");
        for (member, run) in exported {
            let id = fact(&run, "evaluation").unwrap();
            let stored = &database[&format!("{id} {member}")];
            // The version of promptfoo that exported the file is not in the database.
            let only_exported = ["promptfoo version", "results version", "evaluation started"];
            let without = |run: &ImportedRun| {
                let mut run = run.clone();
                run.facts.retain(|(key, _)| !only_exported.contains(&key.as_str()));
                run.facts.sort_by(|(a, _), (b, _)| a.cmp(b));
                run.identity = None;
                run
            };
            assert_eq!(without(stored), without(&run), "{file}: {member}");
            let started = fact(stored, "evaluation started").unwrap();
            let is_close = |time: String| time.starts_with(&started[..16]);
            assert!(fact(&run, "evaluation started").is_some_and(is_close), "{started}");
            let (stored, exported) = (stored.identity.as_ref(), run.identity.as_ref());
            assert_eq!(stored.map(|one| &one.key), exported.map(|one| &one.key));
            assert!(
                stored.zip(exported).is_none_or(|(stored, exported)| stored.rank > exported.rank)
            );
            count += 1;
        }
    }
    assert_eq!(count, database.len());
}

fn fact(run: &ImportedRun, key: &str) -> Option<String> {
    let (_, value) = run.facts.iter().find(|(known, _)| known == key)?;
    value.text().map(str::to_owned)
}

/// Size of the pages of databases that are made here.
const PAGE: usize = 1_024;

/// Returns a database with the evaluations `a` and `b`, after `then` changed it.
fn database(then: impl FnOnce(&Connection)) -> Vec<u8> {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("promptfoo.db");
    let sql = Connection::open(&path).unwrap();
    sql.execute_batch(&format!(
        "PRAGMA page_size = {PAGE};
         CREATE TABLE evals (id text, created_at integer, description text, results text);
         CREATE TABLE eval_results (id text, eval_id text, prompt_idx integer, test_idx integer,
           test_case text, prompt text, provider text, response text, success integer, score real,
           grading_result text, metadata text);
         INSERT INTO evals VALUES ('a', 0, 'first', '{{}}'), ('b', 0, 'second', '{{}}');"
    ))
    .unwrap();
    then(&sql);
    drop(sql);
    fs::read(path).unwrap()
}

/// Adds results of the same test, numbered from 0, with these outputs.
fn add_results(sql: &Connection, evaluation: &str, outputs: &[String]) {
    let insert = "INSERT INTO eval_results VALUES (?1 || ?2, ?1, 0, ?2, '{\"vars\":{\"q\":\"1\"}}',
        '{\"raw\":\"ask\"}', '{\"id\":\"p\"}', ?3, 1, 1.0, NULL, '{}')";
    sql.execute_batch("BEGIN").unwrap();
    for (at, output) in outputs.iter().enumerate() {
        let response = format!("{{\"output\":\"{output}\"}}");
        sql.execute(insert, (evaluation, i64::try_from(at).unwrap(), response)).unwrap();
    }
    sql.execute_batch("COMMIT").unwrap();
}

#[test]
fn a_result_without_a_number_is_a_row_of_its_own_that_renumbers_no_other() {
    let outputs = ["x", "y"].map(str::to_owned);
    let bytes = database(|sql| {
        let insert = "INSERT INTO eval_results SELECT ?1, 'a', ?2, ?3, '{\"vars\":{\"q\":\"1\"}}',
            '{\"raw\":\"ask\"}', '{\"id\":\"p\"}', '{\"output\":\"' || ?1 || '\"}', 1, 1.0, NULL, '{}'";
        let numbers: [(Option<&str>, Option<i64>, Option<i64>); 4] = [
            (Some("n1"), Some(0), None),
            (Some("n2"), None, Some(0)),
            (None, None, None),
            (Some("n1"), None, None),
        ];
        for one in numbers {
            sql.execute(insert, one).unwrap();
        }
        add_results(sql, "a", &outputs);
    });
    let input = Input { path: "promptfoo.db", source: &bytes, folder: &NoFolder };
    let file = Promptfoo.open(input).unwrap();
    let runs: Vec<_> = (0..file.len())
        .map(|at| (file.member(at).unwrap(), file.read(at).unwrap()))
        .map(|(name, run)| (name, run.answer.unwrap_or_default(), run.repeat))
        .collect();
    let expected = [
        ("a result n1", "n1", 3),
        ("a result n2", "n2", 4),
        ("a row 3", "", 5),
        ("a result n1 (2)", "n1", 6),
        ("a test 0 prompt 0", "x", 1),
        ("a test 1 prompt 0", "y", 2),
    ];
    let expected =
        expected.map(|(name, answer, at)| (name.to_owned(), answer.to_owned(), Repeat::Number(at)));
    assert_eq!(runs, expected);
}

#[test]
fn a_fingerprint_changes_with_anything_that_is_read_of_the_evaluation() {
    let prints = |change: &str| {
        let bytes = database(|sql| {
            add_results(sql, "a", &["x", "y"].map(str::to_owned));
            add_results(sql, "b", &["z".to_owned()]);
            sql.execute_batch(change).unwrap();
        });
        let input = Input { path: "promptfoo.db", source: &bytes, folder: &NoFolder };
        let file = Promptfoo.open(input).unwrap();
        (0..file.len()).map(|at| file.fingerprint(at).unwrap()).collect::<Vec<_>>()
    };
    let base = prints("");
    assert!(base.len() == 3 && base[0] != base[1]);
    for change in [
        "UPDATE eval_results SET response = '{\"output\":\"w\"}' WHERE id = 'a0'",
        "UPDATE eval_results SET success = 0 WHERE id = 'a0'",
        "UPDATE eval_results SET score = 0.5 WHERE id = 'a1'",
        "UPDATE eval_results SET test_case = '{}' WHERE id = 'a1'",
        "UPDATE evals SET description = 'other' WHERE id = 'a'",
        "DELETE FROM eval_results WHERE id = 'a1'",
        "INSERT INTO eval_results SELECT 'a2', eval_id, prompt_idx, 2, test_case, prompt, provider, \
         response, success, score, grading_result, metadata FROM eval_results WHERE id = 'a0'",
    ] {
        let now = prints(change);
        assert!(now[0] != base[0], "{change}");
        // The other evaluation stays as it is.
        assert_eq!(now.last(), base.last(), "{change}");
    }
    assert_eq!(prints("ALTER TABLE eval_results ADD COLUMN more text DEFAULT 'm'"), base);
}

/// Cuts the rows whose pages are filled with a letter: the pages refer to none that is there.
fn cut_rows(bytes: &mut [u8], letter: u8) {
    let is_filled = |page: &&mut [u8]| page[4..].iter().all(|byte| *byte == letter);
    let filled: Vec<_> = bytes.chunks_exact_mut(PAGE).filter(is_filled).collect();
    assert!(!filled.is_empty());
    for page in filled {
        page[..4].fill(0xff);
    }
}

/// File that counts how often it is read.
struct Counted {
    bytes: Vec<u8>,
    reads: AtomicUsize,
}

impl Source for Counted {
    fn size(&self) -> u64 {
        self.bytes.size()
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<usize, ReadError> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        self.bytes.read_at(offset, buffer)
    }
}

/// Results of all runs, with the error of the file and the number of reads.
struct Outcome {
    runs: Vec<Result<ImportedRun, ReadError>>,
    error: Option<ReadError>,
    reads: usize,
}

fn read_all(bytes: Vec<u8>) -> Outcome {
    let source = Counted { bytes, reads: AtomicUsize::new(0) };
    let input = Input { path: "promptfoo.db", source: &source, folder: &NoFolder };
    let file = Promptfoo.open(input).unwrap();
    let runs = (0..file.len()).map(|at| file.read(at)).collect();
    Outcome { runs, error: file.file_error(), reads: source.reads.load(Ordering::Relaxed) }
}

#[test]
fn a_damaged_row_costs_its_own_run_alone_and_reads_grow_with_the_rows() {
    for count in [100_u32, 400] {
        let at = count / 2;
        let output = |one| if one == at { "Z".repeat(5_000) } else { format!("output {one}") };
        let outputs: Vec<String> = (0..count).map(output).collect();
        let mut bytes = database(|sql| add_results(sql, "a", &outputs));
        cut_rows(&mut bytes, b'Z');
        let Outcome { runs, error, reads } = read_all(bytes);
        assert_eq!((runs.len(), error), (outputs.len(), None));
        let mut repeats = 1..;
        for (run, output) in runs.into_iter().zip(&outputs) {
            if output.starts_with('Z') {
                assert!(run.unwrap_err().message.contains("damaged"));
                continue;
            }
            let run = run.unwrap();
            assert_eq!((run.answer.as_ref(), run.task.as_deref()), (Some(output), Some("1")));
            assert_eq!(run.repeat, Repeat::Number(repeats.next().unwrap()));
        }
        assert!(reads < outputs.len() * 15, "{reads} reads of {count} results");
    }
}

#[test]
fn a_result_that_is_no_json_costs_its_own_run() {
    let outputs = ["x", "y", "z"].map(str::to_owned);
    let bytes = database(|sql| {
        add_results(sql, "a", &outputs);
        let change = "UPDATE eval_results SET test_case = '{', metadata = x'ff' WHERE test_idx = 0";
        sql.execute_batch(change).unwrap();
    });
    let runs = read_all(bytes).runs;
    let repeats = runs.iter().map(|run| run.as_ref().map(|run| run.repeat.clone()).ok());
    let expected = [None, Some(Repeat::Number(1)), Some(Repeat::Number(2))];
    assert_eq!(repeats.collect::<Vec<_>>(), expected);
}

#[test]
fn a_damaged_evaluation_has_results_without_facts_but_for_its_id() {
    let mut bytes = database(|sql| {
        add_results(sql, "a", &["x".to_owned()]);
        add_results(sql, "b", &["y".to_owned()]);
        let long = "Y".repeat(5_000);
        sql.execute("UPDATE evals SET description = ?1 WHERE id = 'a'", [long]).unwrap();
    });
    cut_rows(&mut bytes, b'Y');
    let Outcome { runs, error, .. } = read_all(bytes);
    let facts = |run: &ImportedRun| {
        ["evaluation", "evaluation description"].map(|key| fact(run, key).unwrap_or_default())
    };
    let facts: Vec<_> = runs.into_iter().map(|run| facts(&run.unwrap())).collect();
    let expected = [["a", ""], ["b", "second"]].map(|texts| texts.map(str::to_owned));
    assert_eq!((facts, error), (expected.to_vec(), None));
}

#[test]
fn an_evaluation_that_cannot_be_listed_is_an_error_of_the_file() {
    let long = format!("'{}'", "X".repeat(5_000));
    for (id, is_cut) in [("NULL", false), ("x'ff'", false), (&long, false), (&long, true)] {
        let mut bytes = database(|sql| {
            sql.execute_batch(&format!("UPDATE evals SET id = {id} WHERE id = 'a'")).unwrap();
            add_results(sql, "b", &["x".to_owned()]);
        });
        if is_cut {
            cut_rows(&mut bytes, b'X');
        }
        let Outcome { runs, error, .. } = read_all(bytes);
        assert!(error.is_some(), "{id:.10}");
        assert!(matches!(&runs[..], [Ok(run)] if fact(run, "evaluation").unwrap() == "b"));
    }
}

#[test]
fn results_before_a_damaged_page_are_read() {
    let outputs: Vec<String> = (0..50).map(|at| format!("output {at}.")).collect();
    let mut bytes = database(|sql| add_results(sql, "a", &outputs));
    let has_last = |page: &&mut [u8]| page.windows(10).any(|part| part == b"output 49.");
    bytes.chunks_exact_mut(PAGE).find(has_last).unwrap()[0] = 0;
    let Outcome { runs, error, .. } = read_all(bytes);
    assert!(error.unwrap().message.contains("damaged"));
    let answers: Vec<_> = runs.into_iter().map(|run| run.unwrap().answer.unwrap()).collect();
    assert!((40..50).contains(&answers.len()) && outputs.starts_with(&answers));
}

#[test]
fn rows_that_share_their_bytes_are_not_read_again_and_again() {
    let mut root = 0_u32;
    let mut bytes = database(|sql| {
        add_results(sql, "a", &["Z".repeat(20_000)]);
        let select = "SELECT rootpage FROM sqlite_schema WHERE name = 'eval_results'";
        root = sql.query_row(select, [], |row| row.get(0)).unwrap();
    });
    let page = &mut bytes[(root as usize - 1) * PAGE..][..PAGE];
    let place = [page[8], page[9]];
    page[3..5].copy_from_slice(&[0, 40]);
    page[8..88].copy_from_slice(&place.repeat(40));
    let Outcome { runs, error, .. } = read_all(bytes);
    assert!(runs.len() <= 1 && error.is_some(), "{}", runs.len());
}
