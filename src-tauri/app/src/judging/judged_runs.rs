//! Runs that can be judged, and their files of judgements.
use super::job::pending::Target;
use crate::OpenFolder;
use crate::error::{AppError, Code};
use touchstone_api::{JudgeRequest, RunRow, RunState};
use touchstone_formats::judgement::JudgementFile;
use touchstone_store::judgements;
use touchstone_store::open::{self, Refused};
use touchstone_store::query::row_by_key;

/// Maximum number of runs judged at once.
const MOST_RUNS: usize = 20_000;

pub(super) fn target(row: RunRow, least: Option<f64>) -> Target {
    Target { id: row.id, path: row.path, state: row.state, task: row.task, least, judge: None }
}

pub(super) fn rows(open: &OpenFolder, request: &JudgeRequest) -> Result<Vec<RunRow>, AppError> {
    let rows = if request.runs.is_empty() {
        passing(open, &request.filter)?
    } else {
        let rows = request.runs.iter().map(|id| open.ask(|index| row_by_key(index, id)));
        rows.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect()
    };
    if rows.len() > MOST_RUNS {
        let message = format!("{} runs are too many to judge at once.", rows.len());
        return Err(AppError::new(Code::BadRequest, message)
            .hint(format!("Filter them down to {MOST_RUNS}.")));
    }
    Ok(rows.into_iter().filter(|row| row.state != RunState::Other).collect())
}

/// Returns the runs that match a filter. Forks and continued runs are excluded unless the filter
/// names them, because judging them costs money and they are not part of the benchmark.
pub(crate) fn passing(open: &OpenFolder, filter: &str) -> Result<Vec<RunRow>, AppError> {
    open.ask(|index| {
        let mut select = index.prepare_cached("SELECT key FROM runs WHERE id = ?")?;
        let ids = open.lists.runs_that_count(index, filter)?;
        let keys = ids.iter().map(|id| Ok(select.query_row([id], |row| row.get::<_, String>(0))?));
        let rows = keys
            .map(|key: Result<_, touchstone_store::index::IndexError>| row_by_key(index, &key?));
        Ok(rows.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
    })
}

/// Reads the file of judgements of a run, by its path. The error is a sentence.
pub(super) fn read_judgements(
    open: &OpenFolder,
    path: &str,
) -> Result<Option<JudgementFile>, String> {
    let file = judgements::file_of_path(path);
    let shown = open.flow.roots.display_path(&file);
    match open::read(&open.flow.roots, &file, judgements::MOST) {
        Ok((bytes, _)) => judgements::read(&bytes)
            .map(Some)
            .map_err(|error| format!("{shown}: {} Fix the file, or move it away.", error.message)),
        Err(Refused::Gone) => Ok(None),
        Err(why) => Err(format!("{shown}: {why}.")),
    }
}
