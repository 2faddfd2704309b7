//! What came of measuring, in the index: the columns of its run, a row for each scorer, and what measuring again needs.
use super::measure::{Measured, Score};
use crate::results::index::IndexError;
use crate::rows::{FailureClass, ScoreDetail, ScoreStanding};
use rusqlite::{Connection, OptionalExtension as _, params};
use serde::Serialize;
use touchstone_formats::run::Outline;

/// The columns of `runs` that measuring fills.
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
    /// Of what came of it.
    pub(crate) fn of(measured: &Measured) -> Self {
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

    /// Puts them into a row that is there.
    pub(crate) fn put(&self, sql: &Connection, run: i64) -> Result<(), IndexError> {
        const PUT: &str = "UPDATE runs SET scoring = ?, scorer = ?, score = ?, passed = ?, score_reason = ?, class = ?, \
                           fingerprint = ? WHERE id = ?";
        let Self { scoring, scorer, score, passed, reason, class, fingerprint } = self;
        sql.prepare_cached(PUT)?.execute(params![scoring, scorer, score, passed, reason, class, fingerprint, run])?;
        Ok(())
    }
}

/// A word as it is written in the rows.
pub(crate) fn word(word: impl Serialize) -> Option<String> {
    serde_json::to_value(word).ok()?.as_str().map(str::to_owned)
}

/// Puts what programs said before in place of waiting for them.
pub(crate) fn fill_in(sql: &Connection, measured: &mut Measured) -> Result<(), IndexError> {
    for (at, score) in measured.scores.iter_mut().enumerate() {
        let Some(ask) = score.ask else { continue };
        let Some(kept) = kept(sql, ask)? else { continue };
        kept.fill(score);
        if at == 0 && score.says.passed == Some(false) {
            // Programs are only asked about answers.
            measured.class = Some(FailureClass::WrongAnswer);
        }
    }
    Ok(())
}

/// What a program said.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Kept {
    /// What it was asked.
    pub(crate) ask: i64,
    /// From 0 to 1; none when it failed.
    pub(crate) score: Option<f64>,
    /// Whether that is good enough.
    pub(crate) passed: Option<bool>,
    /// Why, as a sentence.
    pub(crate) reason: String,
    /// Numbers behind it.
    pub(crate) detail: Vec<ScoreDetail>,
}

impl Kept {
    fn standing(&self) -> ScoreStanding {
        if self.score.is_some() { ScoreStanding::Scored } else { ScoreStanding::Failed }
    }

    fn fill(&self, score: &mut Score) {
        let says = &mut score.says;
        says.standing = self.standing();
        (says.score, says.passed) = (self.score, self.passed);
        says.reason.clone_from(&self.reason);
        says.detail.clone_from(&self.detail);
    }
}

/// Keeps what a program said, and fills it in where it was waited for; returns the keys of the runs that changed.
pub(crate) fn keep(sql: &Connection, kept: &Kept) -> Result<Vec<String>, IndexError> {
    const KEEP: &str = "INSERT OR REPLACE INTO kept_scores (ask, score, passed, reason, detail) VALUES (?,?,?,?,?)";
    const FILL: &str = "UPDATE scores SET standing = ?, score = ?, passed = ?, reason = ?, detail = ? WHERE ask = ?";
    const FIRST: &str = "UPDATE runs SET scoring = ?, score = ?, passed = ?, score_reason = ?, class = ? \
                         WHERE id IN (SELECT run FROM scores WHERE ask = ? AND place = 0)";
    let Kept { ask, score, passed, reason, detail } = kept;
    let detail = serde_json::to_string(detail).unwrap_or_default();
    sql.prepare_cached(KEEP)?.execute(params![ask, score, passed, reason, detail])?;
    let standing = word(kept.standing());
    sql.prepare_cached(FILL)?.execute(params![standing, score, passed, reason, detail, ask])?;
    let class = (*passed == Some(false)).then_some(FailureClass::WrongAnswer).and_then(word);
    sql.prepare_cached(FIRST)?.execute(params![standing, score, passed, reason, class, ask])?;
    let mut select = sql.prepare_cached("SELECT key FROM runs WHERE id IN (SELECT run FROM scores WHERE ask = ?)")?;
    let keys = select.query_map([ask], |row| row.get(0))?;
    Ok(keys.collect::<Result<_, _>>()?)
}

fn kept(sql: &Connection, ask: i64) -> Result<Option<Kept>, IndexError> {
    let mut select = sql.prepare_cached("SELECT score, passed, reason, detail FROM kept_scores WHERE ask = ?")?;
    let row = select.query_row([ask], |row| {
        let detail: String = row.get(3)?;
        let detail = serde_json::from_str(&detail).unwrap_or_default();
        Ok(Kept { ask, score: row.get(0)?, passed: row.get(1)?, reason: row.get(2)?, detail })
    });
    Ok(row.optional()?)
}

/// Puts a row for each scorer in place of those that are there.
pub(crate) fn put_scores(sql: &Connection, run: i64, scores: &[Score], fresh: bool) -> Result<(), IndexError> {
    const PUT: &str = "INSERT INTO scores (run, place, scorer, version, standing, score, passed, reason, detail, ask) \
                       VALUES (?,?,?,?,?,?,?,?,?,?)";
    if !fresh {
        sql.prepare_cached("DELETE FROM scores WHERE run = ?")?.execute([run])?;
    }
    for (place, Score { says, ask }) in scores.iter().enumerate() {
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
            ask
        ])?;
    }
    Ok(())
}

/// Puts what measuring again needs of a run in place of what was there.
pub(crate) fn put_answer(sql: &Connection, run: i64, outline: Option<&Outline>, fresh: bool) -> Result<(), IndexError> {
    let kept = outline.filter(|o| o.answer.is_some() || o.said.is_some() || !o.calls.is_empty());
    let Some(outline) = kept else {
        if !fresh {
            sql.prepare_cached("DELETE FROM answers WHERE run = ?")?.execute([run])?;
        }
        return Ok(());
    };
    let calls = serde_json::to_string(&outline.calls).unwrap_or_default();
    let (from, to) = outline.said.unwrap_or_default();
    let answer = outline.answer.as_ref();
    sql.prepare_cached(
        "INSERT OR REPLACE INTO answers (run, lenient, calls, said_at, said_len, answer) VALUES (?,?,?,?,?,?)",
    )?
    .execute(params![
        run,
        answer.map(|kept| kept.lenient),
        calls,
        from,
        to - from,
        answer.and_then(|kept| kept.json.as_deref())
    ])?;
    Ok(())
}
