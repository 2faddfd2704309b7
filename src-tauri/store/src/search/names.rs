//! Finds free text in the names of tasks, systems and models: a name is found by its beginning, a
//! task also by the beginning of any part of its path.
use super::Texts;
use crate::index::{IndexError, Reader};
use crate::query::RunSet;
use crate::snippet::Needle;
use std::collections::HashMap;
use std::ops::Range;

/// Label, every name that occurs, and the runs with a name.
const NAMES: [(&str, &str, &str); 3] = [
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
];

/// Where a name is found by a text; none when it is not.
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

/// For each of these runs that is found by name: one bit for each needle, wanted ones first, then
/// unwanted ones.
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

/// The names of a run, each with what it is the name of.
pub(super) fn of_run(
    index: &Reader<'_>,
    run: i64,
) -> Result<Vec<(&'static str, String)>, IndexError> {
    let mut query = index.prepare_cached("SELECT task, system, model FROM runs WHERE id = ?")?;
    let names: [Option<String>; 3] =
        query.query_row([run], |row| Ok([row.get(0)?, row.get(1)?, row.get(2)?]))?;
    Ok(NAMES.iter().zip(names).filter_map(|((label, ..), name)| Some((*label, name?))).collect())
}
