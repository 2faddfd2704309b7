//! Keeps up to date what the rows of imported runs owe to other files: which runs another file
//! supersedes, and the numbers of repeats. A file numbers its own runs; where runs of several files,
//! or of merged names, are of one task, system and model, the numbers are made different. All of it
//! follows from the rows alone, so that it does not matter in which order they came.
use super::index::{Cell, IndexError, Touched};
use rusqlite::{Connection, params};
use std::collections::BTreeSet;
use touchstone_api::Lineage;

/// Maximum number of runs of one cell that are numbered. Where there are more, they are no repeats,
/// and have the numbers of their files.
pub(crate) const MOST: usize = 1_000;

/// Imported run of a cell.
#[derive(Debug, Clone, PartialEq, Default)]
struct ImportedRepeat {
    id: i64,
    key: String,
    path: String,
    /// Number in the index.
    repeat: u32,
    /// File or group within which it is numbered.
    source: String,
    /// Number in the file; `None` if the runs of the source are numbered by their start.
    own: Option<u32>,
    start: Option<f64>,
}

/// Marks the runs that another file supersedes, and numbers the repeats of the touched cells, if they
/// have at most `most` runs. Returns the keys of the runs that changed.
pub(crate) fn settle(
    sql: &Connection,
    touched: Touched,
    most: usize,
) -> Result<Vec<String>, IndexError> {
    let Touched { mut cells, identities } = touched;
    let mut changed = supersede(sql, &identities, &mut cells)?;
    changed.extend(number(sql, &cells, most)?);
    Ok(changed)
}

/// Marks the runs that another file supersedes, and adds the cells of those whose mark changed.
/// Returns their keys.
fn supersede(
    sql: &Connection,
    identities: &BTreeSet<i64>,
    cells: &mut BTreeSet<Cell>,
) -> Result<Vec<String>, IndexError> {
    const SUPERSEDE: &str = "WITH best AS (SELECT path FROM runs WHERE identity = ?1 ORDER BY identity_rank DESC, path DESC LIMIT 1)
        UPDATE runs SET superseded_by = nullif((SELECT path FROM best), path),
          lineage = CASE WHEN path = (SELECT path FROM best) THEN NULL ELSE ?2 END
        WHERE identity = ?1 AND superseded_by IS NOT nullif((SELECT path FROM best), path)
        RETURNING key, task, system, model";
    let mut changed = Vec::new();
    for identity in identities {
        let mut update = sql.prepare_cached(SUPERSEDE)?;
        let word = Lineage::Superseded.word();
        let rows = update.query_map(params![identity, word], |row| {
            Ok((row.get::<_, String>(0)?, Cell::from_row(row, 1)?))
        })?;
        for row in rows {
            let (key, cell) = row?;
            changed.push(key);
            cells.extend(cell);
        }
    }
    Ok(changed)
}

/// Numbers the imported runs of cells again. Returns the keys of the runs that got another number.
fn number(
    sql: &Connection,
    cells: &BTreeSet<Cell>,
    most: usize,
) -> Result<Vec<String>, IndexError> {
    const ANY: &str = "SELECT EXISTS (SELECT 1 FROM runs WHERE repeat_source IS NOT NULL)";
    const UPDATE: &str = "UPDATE runs SET repeat = ? WHERE id = ?";
    let mut changed = Vec::new();
    if cells.is_empty() || !sql.prepare_cached(ANY)?.query_row([], |row| row.get(0))? {
        return Ok(changed);
    }
    for cell in cells {
        let runs = imported_runs(sql, cell, most)?;
        let is_numbered = runs.len() <= most;
        changed.extend(restore(sql, cell, is_numbered)?);
        if runs.is_empty() || !is_numbered {
            continue;
        }
        for (run, number) in numbers(runs, &taken_numbers(sql, cell)?) {
            if run.repeat != number {
                sql.prepare_cached(UPDATE)?.execute(params![number, run.id])?;
                changed.push(run.key);
            }
        }
    }
    Ok(changed)
}

/// Gives the runs of a cell that are not numbered the numbers of their files: superseded ones, or
/// all. Returns the keys of the runs that had another number.
fn restore(
    sql: &Connection,
    cell: &Cell,
    only_superseded: bool,
) -> Result<Vec<String>, IndexError> {
    // Only a part of a large cell has other numbers, and mostly none.
    const RESTORE: &str = "UPDATE runs INDEXED BY runs_renumbered SET repeat = ifnull(file_repeat, 1) \
                           WHERE task = ?1 AND system IS ?2 AND model IS ?3 \
                           AND repeat_source IS NOT NULL AND repeat <> ifnull(file_repeat, 1) \
                           AND (lineage IS NOT NULL OR NOT ?4) RETURNING key";
    let mut update = sql.prepare_cached(RESTORE)?;
    let keys = update
        .query_map(params![cell.task, cell.system, cell.model, only_superseded], |row| {
            row.get(0)
        })?;
    Ok(keys.collect::<Result<_, _>>()?)
}

/// Returns the imported runs of a cell, at most one more than are numbered. Superseded runs do not
/// count.
fn imported_runs(
    sql: &Connection,
    cell: &Cell,
    most: usize,
) -> Result<Vec<ImportedRepeat>, IndexError> {
    const SELECT: &str = "SELECT id, key, path, repeat, repeat_source, file_repeat, group_start \
                          FROM runs WHERE task = ?1 AND system IS ?2 AND model IS ?3 \
                          AND repeat_source IS NOT NULL AND lineage IS NULL LIMIT ?4";
    let mut select = sql.prepare_cached(SELECT)?;
    let limit = i64::try_from(most + 1).unwrap_or(i64::MAX);
    let rows = select.query_map(params![cell.task, cell.system, cell.model, limit], |row| {
        Ok(ImportedRepeat {
            id: row.get(0)?,
            key: row.get(1)?,
            path: row.get(2)?,
            repeat: row.get(3)?,
            source: row.get(4)?,
            own: row.get(5)?,
            start: row.get(6)?,
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Returns the numbers of the other runs of a cell, which are in the names of their files.
fn taken_numbers(sql: &Connection, cell: &Cell) -> Result<BTreeSet<u32>, IndexError> {
    const SELECT: &str = "SELECT DISTINCT repeat FROM runs WHERE task = ?1 AND system IS ?2 \
                          AND model IS ?3 AND variation = 0 AND repeat_source IS NULL";
    let mut select = sql.prepare_cached(SELECT)?;
    let rows = select
        .query_map(params![cell.task, cell.system, cell.model], |row| row.get::<_, u32>(0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Returns the imported runs of a cell with their numbers. The numbers of the files stay if no two
/// runs have the same; else the runs are counted in the order of their files, after the numbers that
/// are taken.
fn numbers(mut runs: Vec<ImportedRepeat>, taken: &BTreeSet<u32>) -> Vec<(ImportedRepeat, u32)> {
    runs.sort_by(|a, b| {
        (&a.source, a.own, a.start.is_none())
            .cmp(&(&b.source, b.own, b.start.is_none()))
            .then(a.start.unwrap_or_default().total_cmp(&b.start.unwrap_or_default()))
            .then_with(|| a.path.cmp(&b.path))
    });
    let mut own = Vec::with_capacity(runs.len());
    let mut counted = 0;
    for (at, run) in runs.iter().enumerate() {
        let is_first = at == 0 || runs[at - 1].source != run.source;
        counted = if is_first { 1 } else { counted + 1 };
        own.push(run.own.unwrap_or(counted));
    }
    let distinct: BTreeSet<u32> = own.iter().copied().collect();
    if distinct.len() == runs.len() && distinct.is_disjoint(taken) {
        return runs.into_iter().zip(own).collect();
    }
    let first = taken.last().map_or(1, |last| last.saturating_add(1));
    let counted = (0..).map(|at: u32| first.saturating_add(at));
    runs.into_iter().zip(counted).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn run(source: &str, own: Option<u32>, start: Option<f64>, path: &str) -> ImportedRepeat {
        ImportedRepeat {
            source: source.to_owned(),
            own,
            start,
            path: path.to_owned(),
            ..ImportedRepeat::default()
        }
    }

    fn numbered(runs: Vec<ImportedRepeat>, taken: &[u32]) -> Vec<(String, u32)> {
        let taken = taken.iter().copied().collect();
        numbers(runs, &taken).into_iter().map(|(run, number)| (run.path, number)).collect()
    }

    fn pairs(expected: &[(&str, u32)]) -> Vec<(String, u32)> {
        expected.iter().map(|(path, number)| ((*path).to_owned(), *number)).collect()
    }

    #[test]
    fn numbers_of_files_stay_if_no_two_are_equal() {
        let runs = vec![run("a", Some(4), None, "a#1"), run("b", Some(2), None, "b#1")];
        assert_eq!(numbered(runs.clone(), &[]), pairs(&[("a#1", 4), ("b#1", 2)]));
        assert_eq!(numbered(runs, &[1, 3]), pairs(&[("a#1", 4), ("b#1", 2)]));
    }

    #[test]
    fn runs_with_equal_numbers_are_counted_in_the_order_of_their_files_and_numbers() {
        let runs = vec![
            run("b", Some(1), None, "b#1"),
            run("a", Some(2), None, "a#2"),
            run("a", Some(1), None, "a#1"),
            run("a", Some(1), None, "a#0"),
        ];
        let expected = pairs(&[("a#0", 1), ("a#1", 2), ("a#2", 3), ("b#1", 4)]);
        assert_eq!(numbered(runs, &[]), expected);
    }

    #[test]
    fn runs_of_a_group_are_counted_by_their_start_and_the_next_group_goes_on() {
        let runs = vec![
            run("job2", None, Some(1.0), "c"),
            run("job1", None, None, "x"),
            run("job1", None, Some(2.0), "b"),
            run("job1", None, Some(1.5), "d"),
        ];
        let expected = pairs(&[("d", 1), ("b", 2), ("x", 3), ("c", 4)]);
        assert_eq!(numbered(runs.clone(), &[]), expected);
        let one_job = runs.into_iter().filter(|run| run.source == "job2").collect();
        assert_eq!(numbered(one_job, &[]), pairs(&[("c", 1)]));
    }

    #[test]
    fn numbers_in_the_names_of_files_are_not_given_to_imported_runs() {
        let runs = vec![run("a", Some(1), None, "a"), run("b", Some(5), None, "b")];
        assert_eq!(numbered(runs, &[1, 3]), pairs(&[("a", 4), ("b", 5)]));
        let two = vec![run("a", Some(1), None, "a"), run("b", Some(1), None, "b")];
        let last = u32::MAX;
        assert_eq!(numbered(two, &[1, last]), pairs(&[("a", last), ("b", last)]));
    }

    /// Row of a run, as far as its number depends on it.
    #[derive(Debug, Clone)]
    struct Entry {
        task: &'static str,
        /// File and its number there; `None` for a run whose file name has the number 2.
        import: Option<(&'static str, Option<u32>)>,
        start: Option<f64>,
        identity: Option<i64>,
        rank: f64,
    }

    fn entry() -> impl Strategy<Value = Entry> {
        let number = prop::option::of(1..4_u32);
        let import = prop_oneof![
            6 => (prop::sample::select(vec!["a", "b", "c"]), number).prop_map(Some),
            1 => Just(None),
        ];
        let start = prop::option::of((0..3_u8).prop_map(f64::from));
        let rank = (0..2_u8).prop_map(f64::from);
        (prop::sample::select(vec!["s", "t"]), import, start, prop::option::of(0..3_i64), rank)
            .prop_map(|(task, import, start, identity, rank)| {
                let identity = identity.filter(|_| import.is_some());
                Entry { task, import, start, identity, rank }
            })
    }

    /// Writes a row of a path anew, or deletes it, and returns what that touches.
    fn change(sql: &Connection, path: &str, entry: Option<&Entry>, touched: &mut Touched) {
        const DELETE: &str =
            "DELETE FROM runs WHERE key = ? RETURNING identity, task, system, model";
        const INSERT: &str = "INSERT INTO runs (key, path, unit, layout, task, repeat, state, state_order, turns, tool_calls,
            failed_calls, nudges, missing_calls, tools, unfinished, size, modified_ms, has_answer, content_hash,
            text_offset, text_len, variation, repeat_source, file_repeat, group_start, identity,
            identity_rank) VALUES (?1,?1,0,'',?2,?3,'',0,0,0,0,0,'[]','',0,0,0,0,0,0,0,0,?4,?5,?6,?7,?8)";
        let mut delete = sql.prepare_cached(DELETE).unwrap();
        let old = delete.query_map([path], |row| Ok((Cell::from_row(row, 1)?, row.get(0)?)));
        for old in old.unwrap() {
            let (cell, identity) = old.unwrap();
            touched.add(cell, identity);
        }
        let Some(Entry { task, import, start, identity, rank }) = entry else { return };
        let (source, own) = import.unzip();
        let number = own.map_or(2, |own| own.unwrap_or(1));
        let own = own.flatten();
        let row = params![path, task, number, source, own, start, identity, rank];
        sql.prepare_cached(INSERT).unwrap().execute(row).unwrap();
        let cell = Cell { task: (*task).to_owned(), system: None, model: None };
        touched.add(Some(cell), *identity);
    }

    fn open() -> Connection {
        let sql = Connection::open_in_memory().unwrap();
        sql.execute_batch(include_str!("schema.sql")).unwrap();
        sql
    }

    /// Returns path, number, mark and successor of all rows.
    fn rows(sql: &Connection) -> Vec<(String, u32, Option<String>, Option<String>)> {
        let select = "SELECT path, repeat, lineage, superseded_by FROM runs ORDER BY path";
        let mut select = sql.prepare(select).unwrap();
        let rows = select
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))
            .unwrap();
        rows.collect::<Result<_, _>>().unwrap()
    }

    proptest! {
        #[test]
        fn numbers_follow_from_the_rows_and_not_from_the_order_of_commits(
            commits in prop::collection::vec(
                prop::collection::vec((0..12_u8, prop::option::weighted(0.8, entry())), 1..8), 1..6),
            most in 0..6_usize,
        ) {
            let (followed, mut last) = (open(), BTreeMap::new());
            for commit in &commits {
                let mut touched = Touched::default();
                for (path, entry) in commit {
                    change(&followed, &path.to_string(), entry.as_ref(), &mut touched);
                    last.insert(*path, entry.as_ref());
                }
                let before = rows(&followed);
                let changed: BTreeSet<_> =
                    settle(&followed, touched, most).unwrap().into_iter().collect();
                let after = rows(&followed).into_iter().zip(before);
                let differs: BTreeSet<_> =
                    after.filter(|(new, old)| new != old).map(|(new, _)| new.0).collect();
                prop_assert!(differs.is_subset(&changed), "{differs:?} {changed:?}");
            }
            let (anew, mut touched) = (open(), Touched::default());
            for (path, entry) in last {
                change(&anew, &path.to_string(), entry, &mut touched);
            }
            settle(&anew, touched, most).unwrap();
            prop_assert_eq!(rows(&followed), rows(&anew));
        }
    }

    #[test]
    fn the_runs_of_a_large_cell_and_superseded_ones_have_the_numbers_of_their_files() {
        let entry = |file, identity, rank| Entry {
            task: "t",
            import: Some((file, Some(1))),
            start: None,
            identity,
            rank,
        };
        let sql = open();
        let put = |path: &str, entry: Option<Entry>, most: usize| {
            let mut touched = Touched::default();
            change(&sql, path, entry.as_ref(), &mut touched);
            settle(&sql, touched, most).unwrap();
            rows(&sql).into_iter().map(|row| row.1).collect::<Vec<_>>()
        };
        assert_eq!(put("1", Some(entry("a", None, 0.0)), 2), [1]);
        assert_eq!(put("2", Some(entry("b", None, 0.0)), 2), [1, 2]);
        assert_eq!(put("3", Some(entry("c", None, 0.0)), 2), [1, 1, 1]);
        assert_eq!(put("3", None, 2), [1, 2]);
        assert_eq!(put("3", Some(entry("c", Some(7), 0.0)), 9), [1, 2, 3]);
        assert_eq!(put("4", Some(entry("a", Some(7), 1.0)), 9), [1, 3, 1, 2]);
        assert_eq!(put("4", None, 9), [1, 2, 3]);
    }
}
