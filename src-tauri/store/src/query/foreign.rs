//! Finds runs that other programs wrote in their own layouts, by the coordinates that a launch
//! would assign.
use super::{IndexError, Reader};
use crate::filter::state_named;
use rusqlite::OptionalExtension as _;
use touchstone_api::RunState;

/// Run in a read-only layout: a benchmark folder, a raw answer, or one of many runs in a file.
#[derive(Debug)]
pub struct ForeignRun {
    /// Task as named by the run: an id, or the folder of a suite.
    pub task: String,
    /// System; the method in answers of StableToolBench.
    pub system: String,
    /// Model.
    pub model: String,
    /// Variation, from 0, for layouts that number them.
    pub variation: Option<u32>,
    /// Name of the variation, for layouts that name them.
    pub variation_name: Option<String>,
    /// Repeat, from 1.
    pub repeat: u32,
    /// Display path.
    pub path: String,
    /// State.
    pub state: RunState,
}

/// Returns all foreign runs with a task, a system and a model.
pub fn foreign_runs(index: &Reader<'_>) -> Result<Vec<ForeignRun>, IndexError> {
    const FOREIGN: &str = "SELECT task, system, model, variation, variation_name, repeat, path, state FROM runs \
         WHERE (member IS NOT NULL OR layout IN ('benchmark_folder', 'raw_answer')) AND task IS NOT NULL AND model IS NOT NULL \
         AND system IS NOT NULL ORDER BY path";
    let mut query = index.prepare_cached(FOREIGN)?;
    let rows = query.query_map([], |row| {
        Ok(ForeignRun {
            task: row.get(0)?,
            system: row.get(1)?,
            model: row.get(2)?,
            variation: row.get(3)?,
            variation_name: row.get(4)?,
            repeat: row.get::<_, Option<u32>>(5)?.unwrap_or(1),
            path: row.get(6)?,
            state: state_named(&row.get::<_, String>(7)?).unwrap_or(RunState::Other),
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Returns the id of the run with this path.
pub fn run_at(index: &Reader<'_>, path: &str) -> Result<Option<String>, IndexError> {
    Ok(index
        .prepare_cached("SELECT key FROM runs WHERE path = ?")?
        .query_row([path], |row| row.get(0))
        .optional()?)
}
