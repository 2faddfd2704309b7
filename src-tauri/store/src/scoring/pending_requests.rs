//! Requests to scorer programs that are pending or failed the last time. Results are returned as
//! [`super::write::ProgramResult`].
use super::measure::ScoringKey;
use super::referenced_files::beside;
use crate::index::{IndexError, Reader};
use crate::roots::{FileId, Roots};
use crate::run_set::RunSet;
use crate::suites::Tasks;
use rusqlite::Row;
use std::sync::Arc;
use touchstone_model::value::Value;
use touchstone_scoring::scorers::{Need, Scorer};

/// Request to a scorer program; shared by all runs with the same answer.
#[derive(Debug, Clone)]
pub struct PendingRequest {
    /// Hash of the request.
    pub ask: i64,
    /// Scorer with its options.
    pub scorer: Scorer,
    /// Program file.
    pub program: FileId,
    /// Expected answer.
    pub expected: Arc<Value>,
    /// Answer as JSON, with numbers as written.
    pub answer: String,
}

/// Returns up to `most` pending requests of the wanted runs, after the given one. Also returns the
/// position to continue from, if there may be more.
pub fn awaited(
    index: &Reader<'_>,
    (tasks, roots): (&Tasks, &Roots),
    wanted: &RunSet,
    after: Option<i64>,
    most: usize,
) -> Result<(Vec<PendingRequest>, Option<i64>), IndexError> {
    const SELECT: &str = "SELECT s.run, s.ask, s.scorer, r.key, r.task, r.variation, r.variation_name, a.answer \
                          FROM scores s INDEXED BY scores_asked JOIN runs r ON r.id = s.run JOIN answers a ON a.run = s.run \
                          WHERE s.ask IS NOT NULL AND s.standing IN ('waiting', 'failed') AND s.ask > ? AND a.answer IS NOT NULL ORDER BY s.ask";
    let mut select = index.prepare_cached(SELECT)?;
    let mut rows = select.query([after.unwrap_or(i64::MIN)])?;
    let mut all: Vec<PendingRequest> = Vec::new();
    while let Some(row) = rows.next()? {
        let ask: i64 = row.get(1)?;
        let last = all.last().map(|last| last.ask);
        if last == Some(ask) || !wanted.contains(row.get(0)?) {
            continue;
        }
        if all.len() == most {
            return Ok((all, last));
        }
        all.extend(request_from_row(row, ask, tasks, roots)?);
    }
    Ok((all, None))
}

/// Builds a request. Returns `None` for a row whose suite has just changed, because it is about to
/// be rescored.
fn request_from_row(
    row: &Row<'_>,
    ask: i64,
    tasks: &Tasks,
    roots: &Roots,
) -> rusqlite::Result<Option<PendingRequest>> {
    let (task, variation): (Option<String>, Option<u32>) = (row.get(4)?, row.get(5)?);
    let name: Option<String> = row.get(6)?;
    let name = name.filter(|_| variation.is_none());
    let place = ScoringKey {
        task: task.as_deref(),
        variation,
        variation_name: name.as_deref(),
        calls_tools: true,
        own: None,
    };
    let named: String = row.get(2)?;
    let Some(against) = place.against(tasks) else { return Ok(None) };
    let scorer = against.panel.scorers.iter().find(|scorer| scorer.name() == named);
    let suite = task.as_deref().and_then(|task| tasks.get(task));
    let (Some(scorer), Some(suite), Some(expected)) =
        (scorer, suite, against.yardstick.expected.clone())
    else {
        return Ok(None);
    };
    let Some(Need::Program(path)) = scorer.need() else { return Ok(None) };
    let Some(program) = beside(roots, &suite.file, &path) else { return Ok(None) };
    Ok(Some(PendingRequest { ask, scorer: scorer.clone(), program, expected, answer: row.get(7)? }))
}
