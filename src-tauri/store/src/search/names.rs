//! Free-text search in the names of tasks, systems and models, and of the files that are shown in the
//! place of a task. A name matches by its prefix, a task or file also by the prefix of any path
//! component.
use super::Texts;
use crate::index::{IndexError, Reader};
use crate::query::RunSet;
use crate::snippet::Needle;
use std::collections::HashMap;
use std::ops::Range;

/// Label, query for all names that occur, and query for the runs with a name.
const NAMES: [(&str, &str, &str); 4] = [
    (
        "task",
        "SELECT DISTINCT task FROM runs WHERE task IS NOT NULL",
        "SELECT id FROM runs WHERE task = ?",
    ),
    (
        "system",
        "SELECT DISTINCT system FROM runs WHERE system IS NOT NULL",
        "SELECT id FROM runs WHERE system = ?",
    ),
    (
        "model",
        "SELECT DISTINCT model FROM runs WHERE model IS NOT NULL",
        "SELECT id FROM runs WHERE model = ?",
    ),
    (
        "file",
        "SELECT path FROM runs WHERE task IS NULL",
        "SELECT id FROM runs WHERE task IS NULL AND path = ?",
    ),
];

/// Returns the place where a text matches a name.
pub(super) fn find(needle: &Needle, name: &str) -> Option<Range<usize>> {
    let starts = |at: usize| at == 0 || name.as_bytes()[at - 1] == b'/';
    let mut from = 0;
    while let Some(found) = needle.find(name.as_bytes(), from) {
        if starts(found.start) {
            return Some(found);
        }
        from = found.start + 1;
    }
    None
}

/// Returns the runs that match by name, with one bit per needle: wanted ones first, then unwanted
/// ones.
pub(super) fn found(
    index: &Reader<'_>,
    texts: &Texts,
    among: &RunSet,
) -> Result<HashMap<i64, u128>, IndexError> {
    let mut runs = HashMap::new();
    for (_, all, with) in NAMES {
        let mut query = index.prepare_cached(all)?;
        let mut names = query.query([])?;
        while let Some(row) = names.next()? {
            let name: String = row.get(0)?;
            let needles = texts.wanted.iter().chain(&texts.unwanted).enumerate();
            let bits = needles
                .filter(|(_, needle)| find(needle, &name).is_some())
                .fold(0, |bits, (at, _)| bits | 1 << at);
            if bits == 0 {
                continue;
            }
            let mut with = index.prepare_cached(with)?;
            let mut ids = with.query([&name])?;
            while let Some(row) = ids.next()? {
                let id = row.get(0)?;
                if among.contains(id) {
                    *runs.entry(id).or_default() |= bits;
                }
            }
        }
    }
    Ok(runs)
}

/// Returns the names of a run with their labels.
pub(super) fn of_run(
    index: &Reader<'_>,
    run: i64,
) -> Result<Vec<(&'static str, String)>, IndexError> {
    const OF_RUN: &str = "SELECT task, system, model, CASE WHEN task IS NULL THEN path END \
                          FROM runs WHERE id = ?";
    let names: [Option<String>; 4] = index
        .prepare_cached(OF_RUN)?
        .query_row([run], |row| Ok([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?]))?;
    Ok(NAMES.iter().zip(names).filter_map(|((label, ..), name)| Some((*label, name?))).collect())
}
