//! Tasks that have no suite, but runs of other tools.
use crate::index::{IndexError, Reader};
use touchstone_model::run::StoredAnswer;
use touchstone_model::value::Value;

/// A task that runs of other tools name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedTask {
    /// Name of the task.
    pub id: String,
    /// Name of the format of its runs, or of one of them.
    pub format: String,
}

/// Tasks that runs of other tools name, in the order of their names.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RecordedTasks {
    /// The first of them.
    pub tasks: Vec<RecordedTask>,
    /// Number of all.
    pub all: u64,
}

/// What the index knows of such a task.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedDetails {
    /// Name of the format of its runs, or of one of them.
    pub format: String,
    /// Id of its first run, in the order of the paths.
    pub run: String,
    /// Path of that run.
    pub path: String,
    /// Expected answers of all its runs, each once: several are accepted where one is a list.
    pub expected: Vec<Value>,
    /// Number of further ones.
    pub more_expected: u32,
}

/// Lists the first `most` tasks that runs of other tools name, in the order of their names.
pub fn recorded_tasks(index: &Reader<'_>, most: u32) -> Result<RecordedTasks, IndexError> {
    // The condition is that of the index `runs_recorded`: a run of another tool has a group whose runs
    // are numbered, or a number in its file.
    const TASKS: &str = "SELECT named.task, (SELECT r.layout FROM runs r WHERE r.task = named.task \
           AND (r.repeat_source IS NOT NULL OR r.file_repeat IS NOT NULL) LIMIT 1) \
         FROM (SELECT DISTINCT task FROM runs \
           WHERE (repeat_source IS NOT NULL OR file_repeat IS NOT NULL) AND task IS NOT NULL \
           ORDER BY task LIMIT ?) named";
    const COUNT: &str = "SELECT count(DISTINCT task) FROM runs \
         WHERE (repeat_source IS NOT NULL OR file_repeat IS NOT NULL)";
    let mut query = index.prepare_cached(TASKS)?;
    let task = |row: &rusqlite::Row<'_>| Ok(RecordedTask { id: row.get(0)?, format: row.get(1)? });
    let tasks: Vec<RecordedTask> = query.query_map([most], task)?.collect::<Result<_, _>>()?;
    let mut all = tasks.len() as u64;
    if all >= u64::from(most) {
        all = index.prepare_cached(COUNT)?.query_row([], |row| row.get::<_, u32>(0))?.into();
    }
    Ok(RecordedTasks { tasks, all })
}

/// Returns what is known of a task, with at most `most` expected answers. `None` if no run of
/// another tool names it.
pub fn recorded_task(
    index: &Reader<'_>,
    id: &str,
    most: u32,
) -> Result<Option<RecordedDetails>, IndexError> {
    const FIRST: &str = "SELECT layout, key, path FROM runs WHERE task = ? \
         AND (repeat_source IS NOT NULL OR file_repeat IS NOT NULL) ORDER BY path LIMIT 1";
    const EXPECTED: &str = "SELECT DISTINCT a.expected FROM runs r JOIN answers a ON a.run = r.id \
         WHERE r.task = ? AND (r.repeat_source IS NOT NULL OR r.file_repeat IS NOT NULL) \
         AND a.expected IS NOT NULL LIMIT ?";
    const COUNT: &str = "SELECT count(DISTINCT a.expected) FROM runs r \
         JOIN answers a ON a.run = r.id WHERE r.task = ? \
         AND (r.repeat_source IS NOT NULL OR r.file_repeat IS NOT NULL)";
    let mut first = index.prepare_cached(FIRST)?;
    let mut rows = first.query([id])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    let (format, run, path) = (row.get(0)?, row.get(1)?, row.get(2)?);
    let mut expected = index.prepare_cached(EXPECTED)?;
    let texts = expected.query_map((id, most), |row| row.get::<_, String>(0))?;
    let texts = texts.collect::<Result<Vec<_>, _>>()?;
    let all: u32 = index.prepare_cached(COUNT)?.query_row([id], |row| row.get(0))?;
    let more_expected = all.saturating_sub(u32::try_from(texts.len()).unwrap_or(u32::MAX));
    let value = |json| StoredAnswer { json: Some(json), lenient: false }.value();
    let expected = texts.into_iter().filter_map(value).collect();
    Ok(Some(RecordedDetails { format, run, path, expected, more_expected }))
}

/// Returns the tasks that people corrected: the one in the files of the runs, and the one that they
/// count for.
pub fn renamed_tasks(index: &Reader<'_>) -> Result<Vec<(String, String)>, IndexError> {
    const RENAMED: &str = "SELECT DISTINCT own_task, task FROM runs \
         WHERE own_task IS NOT NULL AND task IS NOT NULL";
    let mut query = index.prepare_cached(RENAMED)?;
    let tasks = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(tasks.collect::<Result<_, _>>()?)
}
