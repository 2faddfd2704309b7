//! Scores of a single run, including those of scorers that its suite does not name.
use super::measure::{Score, ScoringKey, by};
use super::stored_run::StoredRun;
use super::write;
use crate::blob::TextBlob;
use crate::imports;
use crate::index::{IndexError, Reader};
use crate::record;
use crate::suites::{Task, Tasks};
use rusqlite::{Connection, OptionalExtension as _, Row};
use serde::de::DeserializeOwned;
use std::sync::Arc;
use touchstone_api::{FailureClass, RunScore, RunScores, ScoreStanding};
use touchstone_scoring::scorers::Scorer;

/// Layouts of rows of evaluations: by this program, and by others.
const EVALUATIONS: [&str; 2] = ["evaluated", "evaluation"];

/// Run fields that determine its scores.
pub(crate) struct ScoredRow {
    pub(crate) id: i64,
    task: Option<String>,
    variation: Option<u32>,
    variation_name: Option<String>,
    layout: String,
    pub(crate) system: Option<String>,
    fingerprint: Option<i64>,
    class: Option<FailureClass>,
    /// Reason there are no scores.
    nothing: Option<String>,
    lenient: bool,
    is_no_run: bool,
    own: Option<Arc<Task>>,
}

const SELECT: &str = "SELECT r.id, r.task, r.variation, r.variation_name, r.layout, r.system, r.fingerprint, r.class, \
                      r.score_reason, r.scorer, a.lenient, r.state = 'other', r.path, a.expected, a.answer \
                      FROM runs r LEFT JOIN answers a ON a.run = r.id WHERE r.key = ?";

pub(crate) fn load_scored_row(
    index: &Connection,
    key: &str,
) -> Result<Option<ScoredRow>, IndexError> {
    let row = index.prepare_cached(SELECT)?.query_row([key], |row| {
        let (variation, name): (Option<u32>, Option<String>) = (row.get(2)?, row.get(3)?);
        let (scorer, lenient): (Option<String>, Option<bool>) = (row.get(9)?, row.get(10)?);
        let reason: Option<String> = row.get(8)?;
        Ok(ScoredRow {
            id: row.get(0)?,
            task: row.get(1)?,
            variation,
            variation_name: name.filter(|_| variation.is_none()),
            layout: row.get(4)?,
            system: row.get(5)?,
            fingerprint: row.get(6)?,
            class: word(row, 7)?,
            nothing: reason.filter(|_| scorer.is_none()),
            lenient: lenient.unwrap_or(false),
            is_no_run: row.get(11)?,
            own: imports::own_task_of_row(row, 1, 12)?,
        })
    });
    Ok(row.optional()?)
}

impl ScoredRow {
    /// Task from the file of the run itself.
    pub(crate) fn own_task(&self) -> Option<Arc<Task>> {
        self.own.clone()
    }

    pub(crate) fn scoring_key(&self) -> ScoringKey<'_> {
        ScoringKey {
            own: self.own.as_deref(),
            task: self.task.as_deref(),
            variation: self.variation,
            variation_name: self.variation_name.as_deref(),
            calls_tools: record::calls_tools(&self.layout, self.system.as_deref()),
        }
    }

    /// Reasons the run is not scored, or the scores are doubtful.
    fn notes(&self, tasks: &Tasks) -> Vec<String> {
        if self.is_no_run {
            return vec!["This file is not a transcript, so there is nothing to score.".to_owned()];
        }
        let place = self.scoring_key();
        let mut notes = Vec::new();
        match &self.task {
            // Rows of evaluations have what evaluators said in place of scores.
            _ if imports::is_import(&self.layout) || EVALUATIONS.contains(&&*self.layout) => {}
            None => notes
                .push("The file name does not name a task, so this run is not scored.".to_owned()),
            Some(task) if tasks.get(task).is_none() => notes.push(match tasks.broken.get(task) {
                Some(why) => {
                    format!("The suite of the task {task} cannot be read, so this run is not scored. {why}")
                }
                None => format!("There is no suite for the task {task}, so this run is not scored."),
            }),
            Some(_) => {}
        }
        notes.extend(self.nothing.clone());
        if place.fingerprint(tasks) != self.fingerprint {
            notes.push(
                "The suite has just changed, and the scores are being brought up to date."
                    .to_owned(),
            );
        }
        if self.lenient {
            notes.push("The answer is not strict JSON; it was read leniently.".to_owned());
        }
        notes
    }
}

/// Returns all scores of a run. `None` when the run does not exist. Reviews are not included.
pub fn scores(
    index: &Reader<'_>,
    tasks: &Tasks,
    key: &str,
) -> Result<Option<RunScores>, IndexError> {
    const SCORES: &str = "SELECT scorer, version, standing, score, passed, reason, detail FROM scores WHERE run = ? ORDER BY place";
    let Some(known) = load_scored_row(index, key)? else { return Ok(None) };
    let mut select = index.prepare_cached(SCORES)?;
    let scores = select.query_map([known.id], score)?.collect::<Result<_, _>>()?;
    let (class, notes) = (known.class, known.notes(tasks));
    Ok(Some(RunScores {
        scores,
        class,
        review: None,
        others: Vec::new(),
        judged: Vec::new(),
        stored: Vec::new(),
        notes,
    }))
}

fn score(row: &Row<'_>) -> rusqlite::Result<RunScore> {
    let detail: String = row.get(6)?;
    Ok(RunScore {
        scorer: row.get(0)?,
        version: row.get(1)?,
        standing: word(row, 2)?.unwrap_or(ScoreStanding::Failed),
        score: row.get(3)?,
        passed: row.get(4)?,
        reason: row.get(5)?,
        detail: serde_json::from_str(&detail).unwrap_or_default(),
    })
}

/// Scores a run with the given scorers, which its suite need not name. Empty when its task is
/// unknown. Programs are not run; their stored results are used. `texts` is reused between runs.
pub fn measured_by(
    index: &Reader<'_>,
    tasks: &Tasks,
    key: &str,
    scorers: &[Scorer],
    texts: &mut Option<TextBlob>,
) -> Result<Vec<Score>, IndexError> {
    let Some(known) = load_scored_row(index, key)? else { return Ok(Vec::new()) };
    let place = known.scoring_key();
    let Some(against) = place.against(tasks) else { return Ok(Vec::new()) };
    let held = StoredRun::load(index, known.id)?;
    let said = held.last_message(texts, || index.text())?;
    let answer = held.answer.as_ref().and_then(touchstone_model::run::StoredAnswer::value);
    let one = |scorer| by(scorer, &place, &held.evidence(&said), &against, answer.as_ref());
    let mut measured: Vec<Score> = scorers.iter().map(one).collect();
    write::fill(index, &mut measured)?;
    Ok(measured)
}

/// Reads a column that contains a serialized enum word.
fn word<T: DeserializeOwned>(row: &Row<'_>, at: usize) -> rusqlite::Result<Option<T>> {
    let written: Option<String> = row.get(at)?;
    Ok(written.and_then(|word| serde_json::from_value(serde_json::Value::String(word)).ok()))
}
