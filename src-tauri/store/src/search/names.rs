//! Free-text search in the names of tasks, systems and models. A name matches by its prefix, a task
//! also by the prefix of any path component.
use super::Texts;
use crate::index::{IndexError, Reader};
use crate::run_set::RunSet;
use crate::snippet::Needle;
use std::collections::HashMap;
use std::ops::Range;

/// Labels, and the queries for the runs with a name.
const NAMES: [(&str, &str); 3] = [
    ("task", "SELECT id FROM runs WHERE task = ?"),
    ("system", "SELECT id FROM runs WHERE system = ?"),
    ("model", "SELECT id FROM runs WHERE model = ?"),
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
    let names = index.names()?;
    for ((_, with), names) in NAMES.iter().zip(&*names) {
        for name in names {
            let needles = texts.wanted.iter().chain(&texts.unwanted).enumerate();
            let bits = needles
                .filter(|(_, needle)| find(needle, name).is_some())
                .fold(0, |bits, (at, _)| bits | 1 << at);
            if bits == 0 {
                continue;
            }
            let mut with = index.prepare_cached(with)?;
            let mut ids = with.query([name])?;
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
    let mut query = index.prepare_cached("SELECT task, system, model FROM runs WHERE id = ?")?;
    let names: [Option<String>; 3] =
        query.query_row([run], |row| Ok([row.get(0)?, row.get(1)?, row.get(2)?]))?;
    Ok(NAMES.iter().zip(names).filter_map(|((label, ..), name)| Some((*label, name?))).collect())
}
