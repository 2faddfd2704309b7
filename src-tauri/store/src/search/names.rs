//! Free-text search in the names of tasks, systems and models, and of the files that are shown in the
//! place of a task. A name matches by its prefix, a task or file also by the prefix of any path
//! component.
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

/// Files that are shown in the place of a task, and their label.
const FILES: &str = "SELECT id, path FROM runs WHERE task IS NULL";
const FILE: &str = "file";

/// Runs that match by name, with one bit per needle: wanted ones first, then unwanted ones.
pub(super) type Named = HashMap<i64, u128>;

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

/// Returns those of the given runs that match by name.
pub(super) fn found(
    index: &Reader<'_>,
    texts: &Texts,
    among: &RunSet,
) -> Result<Named, IndexError> {
    let mut runs = HashMap::new();
    let names = index.names()?;
    let bits_of = |name: &str| {
        texts
            .needles()
            .filter(|(_, needle)| find(needle, name).is_some())
            .fold(0, |bits, (at, _)| bits | 1_u128 << at)
    };
    let mut files = index.prepare_cached(FILES)?;
    let mut files = files.query([])?;
    while let Some(row) = files.next()? {
        let (id, bits) = (row.get(0)?, bits_of(row.get_ref(1)?.as_str().unwrap_or_default()));
        if bits != 0 && among.contains(id) {
            *runs.entry(id).or_default() |= bits;
        }
    }
    for ((_, with), names) in NAMES.iter().zip(&*names) {
        for name in names {
            let bits = bits_of(name);
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
    const OF_RUN: &str = "SELECT task, system, model, CASE WHEN task IS NULL THEN path END \
                          FROM runs WHERE id = ?";
    let names: [Option<String>; 4] = index
        .prepare_cached(OF_RUN)?
        .query_row([run], |row| Ok([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?]))?;
    let labels = NAMES.iter().map(|(label, _)| *label).chain([FILE]);
    Ok(labels.zip(names).filter_map(|(label, name)| Some((label, name?))).collect())
}
