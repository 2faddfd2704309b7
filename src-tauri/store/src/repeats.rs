//! Numbers of the repeats of imported runs. A file numbers its own runs; where runs of several files,
//! or of merged names, are of one task, system and model, the numbers are made different.
use super::index::{Cell, IndexError};
use rusqlite::{Connection, params};
use std::collections::BTreeSet;

/// Maximum number of runs of one cell that are numbered. Where there are more, they are no repeats,
/// and keep the numbers of their files.
const MOST: usize = 1_000;

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

/// Numbers the imported runs of cells again. Returns the keys of the runs that got another number.
pub(crate) fn number(sql: &Connection, cells: &BTreeSet<Cell>) -> Result<Vec<String>, IndexError> {
    const ANY: &str = "SELECT EXISTS (SELECT 1 FROM runs WHERE repeat_source IS NOT NULL)";
    const UPDATE: &str = "UPDATE runs SET repeat = ? WHERE id = ?";
    let mut changed = Vec::new();
    if cells.is_empty() || !sql.prepare_cached(ANY)?.query_row([], |row| row.get(0))? {
        return Ok(changed);
    }
    for cell in cells {
        let runs = imported_runs(sql, cell)?;
        if runs.is_empty() || runs.len() > MOST {
            continue;
        }
        for (run, number) in numbers(runs, &taken(sql, cell)?) {
            if run.repeat != number {
                sql.prepare_cached(UPDATE)?.execute(params![number, run.id])?;
                changed.push(run.key);
            }
        }
    }
    Ok(changed)
}

/// Returns the imported runs of a cell, at most one more than are numbered. Superseded runs do not
/// count.
fn imported_runs(sql: &Connection, cell: &Cell) -> Result<Vec<ImportedRepeat>, IndexError> {
    const SELECT: &str = "SELECT id, key, path, repeat, repeat_source, file_repeat, group_start \
                          FROM runs WHERE task = ?1 AND system IS ?2 AND model IS ?3 \
                          AND repeat_source IS NOT NULL AND lineage IS NULL LIMIT ?4";
    let mut select = sql.prepare_cached(SELECT)?;
    let limit = i64::try_from(MOST + 1).unwrap_or(i64::MAX);
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
fn taken(sql: &Connection, cell: &Cell) -> Result<BTreeSet<u32>, IndexError> {
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
}
