//! Finds runs that other programs wrote in layouts of their own, by the coordinates that a launch
//! would give them.
use super::{IndexError, Reader};
use crate::filter::state_named;
use rusqlite::OptionalExtension as _;
use touchstone_api::RunState;

/// A run in a layout that is read and never written: a benchmark folder, a raw answer, or one of
/// many runs in a file.
#[derive(Debug)]
pub struct ForeignRun {
    /// Task as the run names it: an id, or the folder of a suite.
    pub task: String,
    /// System; the method in answers of StableToolBench.
    pub system: String,
    /// Model.
    pub model: String,
    /// Variation, from 0, where the layout numbers them.
    pub variation: Option<u32>,
    /// Name of the variation, where the layout names them.
    pub variation_name: Option<String>,
    /// Repeat, from 1.
    pub repeat: u32,
    /// Where it is, as it is shown.
    pub path: String,
    /// How it ended.
    pub state: RunState,
}

/// All of them that say of which task and model they are.
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

/// The id of the run that is listed with this path.
pub fn run_at(index: &Reader<'_>, path: &str) -> Result<Option<String>, IndexError> {
    Ok(index
        .prepare_cached("SELECT key FROM runs WHERE path = ?")?
        .query_row([path], |row| row.get(0))
        .optional()?)
}
