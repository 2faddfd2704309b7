//! Loads runs with everything that a row of a Parquet file holds.
use super::row::word;
use super::{IndexError, Lists, Reader, ScoredRun};
use crate::roots::{FileId, Root};
use crate::segments::{RunRecord, ScoreRecord};
use crate::suites::Tasks;
use rusqlite::{OptionalExtension as _, Row};
use std::collections::HashMap;
use touchstone_api::{FilterError, RunScore, ScoreStanding};

/// What the index knows of a run besides [`ScoredRun`].
const REST: &str = "SELECT r.key, CAST(r.started * 1000 AS INTEGER), r.modified_ms, r.size, r.content_hash, r.steps, \
     r.failed_calls, r.tools, r.missing_calls, r.user_tokens, r.user_cost, \
     COALESCE(a.told LIKE '[true%', 0) FROM runs r LEFT JOIN answers a ON a.run = r.id";

const SCORES: &str = "SELECT r.key, s.scorer, s.version, s.standing, s.score, s.passed, s.reason, s.class \
     FROM scores s JOIN runs r ON r.id = s.run ORDER BY s.run, s.place";

impl Lists {
    /// Returns the runs that statistics of a filter count, in the order of their paths, as rows of a
    /// Parquet file.
    pub fn records(
        &self,
        index: &Reader<'_>,
        filter: &str,
        scorer: Option<&str>,
    ) -> Result<(Vec<RunRecord>, Vec<FilterError>), IndexError> {
        let (runs, misread) = self.scored(index, filter, scorer)?;
        let tasks = self.shelf.tasks();
        let mut places: HashMap<String, usize> = HashMap::with_capacity(runs.len());
        let mut records = Vec::with_capacity(runs.len());
        for run in runs {
            places.insert(run.id.clone(), records.len());
            records.push(record(run, &tasks));
        }
        let mut query = index.prepare_cached(REST)?;
        let mut rows = query.query([])?;
        while let Some(row) = rows.next()? {
            let at = places.get(key(row)?);
            if let Some(record) = at.and_then(|at| records.get_mut(*at)) {
                add_rest(record, row)?;
            }
        }
        let mut query = index.prepare_cached(SCORES)?;
        let mut rows = query.query([])?;
        while let Some(row) = rows.next()? {
            let at = places.get(key(row)?);
            if let Some(record) = at.and_then(|at| records.get_mut(*at)) {
                record.scores.push(score(row)?);
            }
        }
        Ok((records, misread))
    }
}

fn key<'a>(row: &'a Row<'_>) -> rusqlite::Result<&'a str> {
    Ok(row.get_ref(0)?.as_str()?)
}

fn record(run: ScoredRun, tasks: &Tasks) -> RunRecord {
    let end = run.counted().end;
    let suite = run.task.as_deref().and_then(|task| tasks.get(task));
    RunRecord {
        end,
        suite: suite.map(|task| task.file.to_display()),
        id: run.id,
        path: run.path,
        task: run.task,
        variation: run.variation,
        variation_name: run.variation_name,
        repeat: run.repeat,
        system: run.system,
        model: run.model,
        layout: run.layout,
        state: Some(run.state),
        class: run.class,
        reason: run.reason,
        scoring: run.scoring,
        scorer: run.scorer,
        score: run.score,
        passed: run.passed,
        score_reason: run.score_reason,
        verdict: run.verdict,
        review_score: run.review_score,
        review_note: run.review_note,
        lineage: run.lineage,
        forked_from: run.forked_from,
        turns: Some(run.turns),
        tool_calls: Some(run.tool_calls),
        nudges: Some(run.nudges),
        follow_ups: Some(run.follow_ups),
        tokens: run.tokens,
        cost: run.cost,
        seconds: run.seconds,
        fingerprint: run.fingerprint,
        commit: run.commit,
        tags: run.tags,
        ..RunRecord::default()
    }
    .without_unknown_counts()
}

impl RunRecord {
    /// Removes what is known of calls only if the layout records them: no call is not 0 calls.
    pub(crate) fn forget_calls(&mut self) {
        (self.tool_calls, self.failed_calls) = (None, None);
        self.tools.clear();
        self.missing_calls.clear();
    }

    /// Removes reasons, which may quote the run.
    pub(crate) fn leave_out_reasons(&mut self) {
        (self.reason, self.score_reason) = (None, None);
        self.scores.iter_mut().for_each(|score| score.says.reason.clear());
    }

    /// Removes counts of a run that could not be read: they are not known, which is not 0.
    pub(crate) fn without_unknown_counts(self) -> Self {
        if !self.layout.is_empty() {
            return self;
        }
        let (turns, steps, tool_calls, failed_calls) = (None, None, None, None);
        Self { turns, steps, tool_calls, failed_calls, nudges: None, follow_ups: None, ..self }
    }
}

fn add_rest(record: &mut RunRecord, row: &Row<'_>) -> rusqlite::Result<()> {
    let is_read = !record.layout.is_empty();
    record.started_ms = row.get(1)?;
    record.modified_ms = row.get(2)?;
    record.size = row.get::<_, i64>(3)?.cast_unsigned();
    record.content_hash = row.get(4)?;
    record.steps = row.get::<_, Option<u32>>(5)?.filter(|_| is_read);
    record.failed_calls = row.get::<_, Option<u32>>(6)?.filter(|_| is_read);
    let tools = row.get_ref(7)?.as_str()?.lines().filter(|name| !name.is_empty());
    record.tools = tools.map(str::to_owned).collect();
    record.missing_calls = serde_json::from_str(row.get_ref(8)?.as_str()?).unwrap_or_default();
    let tokens: Option<i64> = row.get(9)?;
    record.user_tokens = tokens.and_then(|tokens| u64::try_from(tokens).ok());
    record.user_cost = row.get(10)?;
    if row.get(11)? {
        record.forget_calls();
    }
    Ok(())
}

fn score(row: &Row<'_>) -> rusqlite::Result<ScoreRecord> {
    Ok(ScoreRecord {
        says: RunScore {
            scorer: row.get(1)?,
            version: row.get(2)?,
            standing: word(row, 3)?.unwrap_or(ScoreStanding::Failed),
            score: row.get(4)?,
            passed: row.get(5)?,
            reason: row.get(6)?,
            detail: Vec::new(),
        },
        class: word(row, 7)?,
    })
}

impl ScoreRecord {
    /// Returns the reason of the score; `None` if there is none, or if it was left out.
    pub(crate) fn reason(&self) -> Option<&str> {
        Some(self.says.reason.as_str()).filter(|reason| !reason.is_empty())
    }
}

/// Returns the file of a run for which a claim of a segment stands, until it is read.
pub fn claimed_file(index: &Reader<'_>, id: &str) -> Result<Option<FileId>, IndexError> {
    let mut query = index.prepare_cached("SELECT path FROM runs WHERE key = ? AND claimed")?;
    let path = query.query_row([id], |row| row.get::<_, String>(0)).optional()?;
    Ok(path.map(|path| FileId::new(Root::Output, path.into_bytes())))
}
