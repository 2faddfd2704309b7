//! Storage of scores in the index: the columns of the run, one row per scorer, and the data needed
//! for rescoring.
use super::measure::{Measured, Score, ScoreRequest};
use super::stored_run::{self, AlternativeAnswers};
use crate::index::IndexError;
use crate::parse_unit::Row;
use rusqlite::{Connection, OptionalExtension as _, Statement, params};
use serde::Serialize;
use touchstone_api::{FailureClass, ScoreDetail, ScoreStanding};
use touchstone_model::run::{CallInfo, Outline};

/// Columns of `runs` that hold the score.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Columns {
    pub(crate) scoring: Option<String>,
    pub(crate) scorer: Option<String>,
    pub(crate) score: Option<f64>,
    pub(crate) passed: Option<bool>,
    pub(crate) reason: Option<String>,
    pub(crate) class: Option<String>,
    pub(crate) fingerprint: Option<i64>,
}

impl Columns {
    /// Builds the columns from the first score.
    pub(crate) fn from_measured(measured: &Measured) -> Self {
        let (class, fingerprint) = (measured.class.and_then(word), measured.fingerprint);
        match measured.scores.first().map(|first| &first.says) {
            Some(first) => Self {
                scoring: word(first.standing),
                scorer: Some(first.scorer.clone()),
                score: first.score,
                passed: first.passed,
                reason: Some(first.reason.clone()),
                class,
                fingerprint,
            },
            None => Self {
                scoring: measured.nothing.as_ref().and(word(ScoreStanding::NoExpected)),
                reason: measured.nothing.clone(),
                class,
                fingerprint,
                ..Self::default()
            },
        }
    }

    /// Updates an existing row.
    pub(crate) fn put(&self, sql: &Connection, run: i64) -> Result<(), IndexError> {
        const PUT: &str = "UPDATE runs SET scoring = ?, scorer = ?, score = ?, passed = ?, score_reason = ?, class = ?, \
                           fingerprint = ? WHERE id = ?";
        let Self { scoring, scorer, score, passed, reason, class, fingerprint } = self;
        sql.prepare_cached(PUT)?.execute(params![
            scoring,
            scorer,
            score,
            passed,
            reason,
            class,
            fingerprint,
            run
        ])?;
        Ok(())
    }
}

/// Serializes an enum word for the index.
pub(crate) fn word(word: impl Serialize) -> Option<String> {
    serde_json::to_value(word).ok()?.as_str().map(str::to_owned)
}

/// Replaces pending requests with stored results of programs.
pub(crate) fn fill_in(sql: &Connection, measured: &mut Measured) -> Result<(), IndexError> {
    fill(sql, &mut measured.scores)?;
    if let Some(first) = measured.scores.first() {
        measured.class = first.class;
    }
    Ok(())
}

/// Like [`fill_in`], for a list of scores.
pub(crate) fn fill(sql: &Connection, scores: &mut [Score]) -> Result<(), IndexError> {
    for score in scores {
        let Some(ask) = score.ask else { continue };
        if let Some(kept) = load_result(sql, ask.id)? {
            kept.fill(score, ask);
        }
    }
    Ok(())
}

/// Result of a scorer program. Each run that shares the request applies its own passing threshold.
#[derive(Debug, Clone, PartialEq)]
pub struct ProgramResult {
    /// Hash of the request.
    pub ask: i64,
    /// Score from 0 to 1; `None` when the program failed.
    pub score: Option<f64>,
    /// Reason as a sentence.
    pub reason: String,
    /// Additional values.
    pub detail: Vec<ScoreDetail>,
}

impl ProgramResult {
    fn score_standing(&self) -> ScoreStanding {
        if self.score.is_some() { ScoreStanding::Scored } else { ScoreStanding::Failed }
    }

    fn fill(&self, score: &mut Score, ask: ScoreRequest) {
        let says = &mut score.says;
        says.standing = self.score_standing();
        (says.score, says.passed) = (self.score, self.score.map(|score| score >= ask.passes_from));
        // Programs are only run on existing answers.
        score.class = (says.passed == Some(false)).then_some(FailureClass::WrongAnswer);
        says.reason.clone_from(&self.reason);
        says.detail.clone_from(&self.detail);
    }
}

/// Stores a result and applies it to all runs that wait for it. Returns the keys of the changed
/// runs.
pub(crate) fn keep(sql: &Connection, kept: &ProgramResult) -> Result<Vec<String>, IndexError> {
    const KEEP: &str =
        "INSERT OR REPLACE INTO kept_scores (ask, score, reason, detail) VALUES (?,?,?,?)";
    const FILL: &str = "UPDATE scores SET standing = ?2, score = ?3, passed = ?3 >= passes_from, reason = ?4, detail = ?5, \
                        class = CASE WHEN ?3 < passes_from THEN ?6 END WHERE ask = ?1";
    const FIRST: &str = "UPDATE runs SET scoring = s.standing, score = s.score, passed = s.passed, score_reason = s.reason, \
                         class = s.class FROM scores s WHERE s.run = runs.id AND s.place = 0 AND s.ask = ?";
    let ProgramResult { ask, score, reason, detail } = kept;
    let detail = serde_json::to_string(detail).unwrap_or_default();
    sql.prepare_cached(KEEP)?.execute(params![ask, score, reason, detail])?;
    let (standing, wrong) = (word(kept.score_standing()), word(FailureClass::WrongAnswer));
    sql.prepare_cached(FILL)?.execute(params![ask, standing, score, reason, detail, wrong])?;
    sql.prepare_cached(FIRST)?.execute([ask])?;
    let mut select = sql.prepare_cached(
        "SELECT key FROM runs WHERE id IN (SELECT run FROM scores WHERE ask = ?)",
    )?;
    let keys = select.query_map([ask], |row| row.get(0))?;
    Ok(keys.collect::<Result<_, _>>()?)
}

fn load_result(sql: &Connection, ask: i64) -> Result<Option<ProgramResult>, IndexError> {
    let mut select =
        sql.prepare_cached("SELECT score, reason, detail FROM kept_scores WHERE ask = ?")?;
    let row = select.query_row([ask], |row| {
        let detail: String = row.get(2)?;
        let detail = serde_json::from_str(&detail).unwrap_or_default();
        Ok(ProgramResult { ask, score: row.get(0)?, reason: row.get(1)?, detail })
    });
    Ok(row.optional()?)
}

/// Replaces the rows of all scorers.
pub(crate) fn put_scores(
    sql: &Connection,
    run: i64,
    scores: &[Score],
    fresh: bool,
) -> Result<(), IndexError> {
    const PUT: &str = "INSERT INTO scores (run, place, scorer, version, standing, score, passed, reason, detail, class, ask, \
                       passes_from) VALUES (?,?,?,?,?,?,?,?,?,?,?,?)";
    if !fresh {
        sql.prepare_cached("DELETE FROM scores WHERE run = ?")?.execute([run])?;
    }
    for (place, Score { says, ask, class }) in scores.iter().enumerate() {
        let detail = serde_json::to_string(&says.detail).unwrap_or_default();
        let place = i64::try_from(place).unwrap_or(i64::MAX);
        sql.prepare_cached(PUT)?.execute(params![
            run,
            place,
            says.scorer,
            says.version,
            word(says.standing),
            says.score,
            says.passed,
            says.reason,
            detail,
            class.and_then(word),
            ask.map(|ask| ask.id),
            ask.map(|ask| ask.passes_from)
        ])?;
    }
    Ok(())
}

/// Replaces the stored data for rescoring.
pub(crate) fn put_answer(
    sql: &Connection,
    run: i64,
    row: &Row,
    fresh: bool,
) -> Result<(), IndexError> {
    match kept_answer(row) {
        Some(outline) => {
            let mut put = sql.prepare_cached(PUT_ANSWER)?;
            insert_answer(&mut put, run, row, outline)?;
        }
        None if !fresh => {
            sql.prepare_cached("DELETE FROM answers WHERE run = ?")?.execute([run])?;
        }
        None => {}
    }
    Ok(())
}

pub(crate) const PUT_ANSWER: &str =
    "INSERT OR REPLACE INTO answers (run, lenient, unfound, sought, tag, calls, said_at, said_len, answer, told, expected)
         VALUES (?,?,?,?,?,?,?,?,?,?,?)";

/// Returns the outline of a run that there is something to rescore of.
pub(crate) fn kept_answer(row: &Row) -> Option<&Outline> {
    row.outline.as_ref().filter(|o| {
        o.answer.is_some()
            || o.said.is_some()
            || !o.calls.is_empty()
            || o.told != CallInfo::default()
            || o.expected.is_some()
    })
}

/// Writes the stored data for rescoring with [`PUT_ANSWER`].
pub(crate) fn insert_answer(
    put: &mut Statement<'_>,
    run: i64,
    row: &Row,
    outline: &Outline,
) -> Result<(), IndexError> {
    let calls = serde_json::to_string(&outline.calls).unwrap_or_default();
    let told = stored_run::told_as_text(&outline.told);
    let (from, to) = outline.said.unwrap_or_default();
    let answer = outline.answer.as_ref();
    put.execute(params![
        run,
        answer.map(|kept| kept.lenient),
        row.sought.as_ref().map(|_| outline.reason.as_deref().unwrap_or_default()),
        row.sought.as_ref().and_then(AlternativeAnswers::text),
        row.tag,
        calls,
        from,
        to - from,
        answer.and_then(|kept| kept.json.as_deref()),
        told,
        outline.expected.as_ref().and_then(|expected| expected.json.as_deref())
    ])?;
    Ok(())
}
