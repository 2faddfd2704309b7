//! Rescores runs whose task changed, in batches, from the data in the index. Reads no transcripts.
use super::measure::{Measured, ScoringKey, measure};
use super::stored_run::StoredRun;
use super::write::{self, Columns};
use crate::blob::TextBlob;
use crate::imports;
use crate::index::{IndexError, Writer, text_of};
use crate::record;
use crate::suites::{Task, Tasks};
use rusqlite::{Row, params};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Maximum number of rows in a batch.
const ROWS: u64 = 4_000;
/// Number of runs that are scored before the time limit applies.
const RUNS: usize = 32;
/// Time limit of a batch, so that changes on disk are not delayed.
const LONG: Duration = Duration::from_millis(100);

/// Result of one batch.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    /// Last processed row.
    pub(crate) after: i64,
    /// True when no rows are left.
    pub(crate) end: bool,
    /// Number of processed rows.
    pub(crate) seen: u64,
    /// Rows that changed.
    renewed: Vec<Renewed>,
}

#[derive(Debug)]
struct Renewed {
    id: i64,
    key: String,
    /// Changed data from the suite.
    said: Option<SuiteData>,
    measured: Option<Measured>,
    /// New state and answer, if another tag of the suite changed them.
    stands: Option<StoredRun>,
}

#[derive(Debug)]
struct SuiteData {
    task: String,
    missing: String,
    variation_name: Option<String>,
    tags: String,
}

/// Row fields that depend on the task.
struct Candidate {
    id: i64,
    key: String,
    task: String,
    variation: Option<u32>,
    /// Variation name from its files.
    own_name: Option<String>,
    variation_name: Option<String>,
    layout: String,
    system: Option<String>,
    tools: Vec<String>,
    missing: String,
    tags: String,
    fingerprint: Option<i64>,
    own: Option<Arc<Task>>,
}

impl Candidate {
    fn scoring_key(&self) -> ScoringKey<'_> {
        ScoringKey {
            own: self.own.as_deref(),
            task: Some(&self.task),
            variation: self.variation,
            variation_name: self.own_name.as_deref(),
            calls_tools: record::calls_tools(&self.layout, self.system.as_deref()),
        }
    }
}

/// Processes the rows after the given id, and rescores those with an outdated fingerprint.
pub(crate) fn batch(writer: &Writer, tasks: &Tasks, after: i64) -> Result<Batch, IndexError> {
    const SELECT: &str = "SELECT r.id, r.key, r.task, r.variation, r.variation_name, r.layout, r.system, r.tools, r.missing_calls, \
                          r.fingerprint, r.path, a.expected, a.answer, r.suite_tags \
                          FROM runs r LEFT JOIN answers a ON a.run = r.id WHERE r.id > ? AND r.task IS NOT NULL ORDER BY r.id";
    let began = Instant::now();
    let mut batch = Batch { after, ..Batch::default() };
    let mut texts = None;
    let mut select = writer.sql.prepare_cached(SELECT)?;
    let mut rows = select.query([after])?;
    let mut measured = 0;
    while batch.seen < ROWS && (measured < RUNS || began.elapsed() <= LONG) {
        let Some(row) = rows.next()? else {
            batch.end = true;
            break;
        };
        let candidate = candidate(row)?;
        batch.after = candidate.id;
        batch.seen += 1;
        let stale = candidate.scoring_key().fingerprint(tasks) != candidate.fingerprint;
        let said = said_by_suite(&candidate, tasks);
        if !stale && said.is_none() {
            continue;
        }
        let again = if stale { Some(again(writer, &mut texts, &candidate, tasks)?) } else { None };
        measured += usize::from(stale);
        let (again, stands) = again.map_or((None, None), |(again, stands)| (Some(again), stands));
        batch.renewed.push(Renewed {
            id: candidate.id,
            key: candidate.key,
            said,
            measured: again,
            stands,
        });
    }
    Ok(batch)
}

/// Returns the data from the suite, or `None` when the row is up to date.
fn said_by_suite(candidate: &Candidate, tasks: &Tasks) -> Option<SuiteData> {
    let (missing, name) = record::from_suite(tasks, &candidate.scoring_key(), &candidate.tools);
    let name = name.or_else(|| candidate.own_name.clone());
    // The query may have been read after its result.
    let id = tasks.query_id(&candidate.task);
    let task = id.unwrap_or(&candidate.task).to_owned();
    let tags = record::suite_tags(tasks, Some(&task));
    let same = id.is_none() && missing == candidate.missing && name == candidate.variation_name;
    let same = same && tags == candidate.tags;
    (!same).then_some(SuiteData { task, missing, variation_name: name, tags })
}

impl Batch {
    /// Returns true when nothing has to be written.
    pub(crate) fn is_empty(&self) -> bool {
        self.renewed.is_empty()
    }

    /// Returns true when states or answers of runs changed.
    pub(crate) fn turns(&self) -> bool {
        self.renewed.iter().any(|one| one.stands.is_some())
    }

    /// Writes the changes inside the caller's transaction. Returns the keys of the changed runs.
    pub(crate) fn write(self, writer: &Writer) -> Result<Vec<String>, IndexError> {
        let sql = &writer.sql;
        let mut keys = Vec::with_capacity(self.renewed.len());
        for Renewed { id, key, said, measured, stands } in self.renewed {
            if let Some(SuiteData { task, missing, variation_name, tags }) = said {
                const PUT: &str = "UPDATE runs SET task = ?, missing_calls = ?, variation_name = ?, \
                                   suite_tags = ? WHERE id = ?";
                sql.prepare_cached(PUT)?.execute(params![
                    task,
                    missing,
                    variation_name,
                    tags,
                    id
                ])?;
            }
            if let Some(stands) = stands {
                stands.put(sql, id)?;
            }
            if let Some(mut measured) = measured {
                write::fill_in(sql, &mut measured)?;
                Columns::from_measured(&measured).put(sql, id)?;
                write::put_scores(sql, id, &measured.scores, false)?;
            }
            keys.push(key);
        }
        Ok(keys)
    }
}

fn candidate(row: &Row<'_>) -> rusqlite::Result<Candidate> {
    let tools =
        row.get_ref(7)?.as_str().unwrap_or_default().lines().filter(|name| !name.is_empty());
    let tools = tools.map(str::to_owned).collect();
    let (variation, variation_name): (Option<u32>, Option<String>) = (row.get(3)?, row.get(4)?);
    // Files without a variation number contain its name.
    let own_name = variation_name.clone().filter(|_| variation.is_none());
    Ok(Candidate {
        id: row.get(0)?,
        key: row.get(1)?,
        task: row.get(2)?,
        variation,
        own_name,
        variation_name,
        layout: row.get(5)?,
        system: row.get(6)?,
        tools,
        missing: row.get(8)?,
        tags: row.get(13)?,
        fingerprint: row.get(9)?,
        own: imports::own_task_of_row(row, 2, 10)?,
    })
}

/// Rescores a run from the data in the index. Also returns its new state and answer if these
/// changed.
fn again(
    writer: &Writer,
    texts: &mut Option<TextBlob>,
    candidate: &Candidate,
    tasks: &Tasks,
) -> Result<(Measured, Option<StoredRun>), IndexError> {
    let mut held = StoredRun::load(&writer.sql, candidate.id)?;
    let open = || text_of(&writer.sql, &writer.dir);
    let said = held.last_message(texts, open)?;
    let turned = held.look_in(candidate.scoring_key().tag(tasks), &said);
    let measured = measure(tasks, &candidate.scoring_key(), &held.evidence(&said));
    Ok((measured, turned.then_some(held)))
}
