//! Run data stored in the index, sufficient to score the run without its files.
use super::measure::Evidence;
use crate::blob::TextBlob;
use crate::filter::state_named;
use crate::imported_verdicts;
use crate::index::IndexError;
use crate::record::{order, state_name};
use rusqlite::{Connection, OptionalExtension as _, Row, params};
use touchstone_api::RunState;
use touchstone_formats::stabletoolbench::answers::GAVE_UP_REASON;
use touchstone_model::answer::{self, AnswerLocation};
use touchstone_model::run::ApiName;
use touchstone_model::run::FinishOutcome;
use touchstone_model::run::{CallInfo, GoalVerdict, StoredAnswer, Verdict};

/// Run data for scoring.
#[derive(Debug, Default)]
pub(crate) struct StoredRun {
    state: Option<RunState>,
    reason: Option<String>,
    pub(crate) answer: Option<StoredAnswer>,
    /// Reason no answer was found, for files without a definite answer; empty when one was found or
    /// the reason is unknown.
    unfound: Option<String>,
    sought: AlternativeAnswers,
    /// Tag in which the answer was found.
    tag: Option<String>,
    calls: Vec<(String, bool)>,
    told: Option<CallInfo>,
    /// Offset of the model's last message in the text of all runs.
    said_at: u64,
    said_len: usize,
    /// Verdicts of the tool that recorded the run.
    verdicts: Vec<Verdict>,
}

impl StoredRun {
    /// Loads the data of a run by its row id.
    pub(crate) fn load(sql: &Connection, run: i64) -> Result<Self, IndexError> {
        const SELECT: &str = "SELECT r.state, r.reason, r.text_offset, a.lenient, a.calls, a.said_at, a.said_len, a.answer, a.told, a.unfound, a.tag, a.sought \
                              FROM runs r LEFT JOIN answers a ON a.run = r.id WHERE r.id = ?";
        let mut stored: Self =
            sql.prepare_cached(SELECT)?.query_row([run], read).optional()?.unwrap_or_default();
        stored.verdicts = imported_verdicts::scores_of_import(sql, run)?;
        Ok(stored)
    }

    /// Returns the model's last message. Opens the text of all runs on first use.
    pub(crate) fn last_message(
        &self,
        texts: &mut Option<TextBlob>,
        open: impl FnOnce() -> Result<TextBlob, IndexError>,
    ) -> Result<String, IndexError> {
        if self.said_len == 0 {
            return Ok(String::new());
        }
        let text = match texts {
            Some(text) => text,
            None => texts.insert(open()?),
        };
        let bytes = text.read(self.said_at, self.said_len)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Looks up the answer in the tag that the suite names now. Returns true when the answer or its
    /// tag changed.
    pub(crate) fn look_in(&mut self, tag: Option<&str>, said: &str) -> bool {
        let Some(unfound) = &self.unfound else { return false };
        let gave_up = self.told.as_ref().and_then(|told| told.gave_up) == Some(true);
        let ResolvedAnswer { answer, tag, why } = self.sought.by(tag, said, gave_up);
        let known = (self.tag.take(), self.answer.take());
        self.state = Some(if answer.is_some() { RunState::Answered } else { RunState::NoAnswer });
        let why = why.unwrap_or(unfound);
        self.reason = Some(why.to_owned()).filter(|why| answer.is_none() && !why.is_empty());
        (self.tag, self.answer) = (tag, answer);
        known != (self.tag.clone(), self.answer.clone())
    }

    /// Saves the state, the reason and the answer of the run.
    pub(crate) fn put(&self, sql: &Connection, run: i64) -> Result<(), IndexError> {
        let state = self.state.unwrap_or(RunState::Other);
        sql.prepare_cached(
            "UPDATE runs SET state = ?, state_order = ?, reason = ?, has_answer = ? WHERE id = ?",
        )?
        .execute(params![
            state_name(state),
            order(state),
            self.reason,
            self.answer.is_some(),
            run
        ])?;
        let (lenient, json) = self
            .answer
            .as_ref()
            .map_or((None, None), |kept| (Some(kept.lenient), kept.json.as_deref()));
        sql.prepare_cached("UPDATE answers SET lenient = ?, answer = ?, tag = ? WHERE run = ?")?
            .execute(params![lenient, json, self.tag, run])?;
        Ok(())
    }

    /// Returns the data in the form that scorers take.
    pub(crate) fn evidence<'a>(&'a self, said: &'a str) -> Evidence<'a> {
        Evidence {
            state: self.state.unwrap_or(RunState::Other),
            reason: self.reason.as_deref(),
            answer: self.answer.as_ref(),
            said,
            calls: &self.calls,
            told: self.told.as_ref(),
            verdicts: &self.verdicts,
        }
    }
}

/// Alternative answers of a run without a definite one.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct AlternativeAnswers {
    /// Answer in a code fence of its messages.
    pub(crate) fence: Option<StoredAnswer>,
    /// Argument of the last `Finish` call.
    pub(crate) finish: Option<StoredAnswer>,
}

/// Answer of a run, determined with the tag of its task.
#[derive(Debug, PartialEq)]
pub(crate) struct ResolvedAnswer {
    pub(crate) answer: Option<StoredAnswer>,
    /// Tag that determined the answer, as named by the suite.
    pub(crate) tag: Option<String>,
    /// Reason for a missing answer, if the run gave up.
    pub(crate) why: Option<&'static str>,
}

impl AlternativeAnswers {
    /// Determines the answer for a task with this tag. Without a tag, only the code fence in the
    /// messages counts.
    pub(crate) fn by(&self, tag: Option<&str>, said: &str, gave_up: bool) -> ResolvedAnswer {
        let ended = match &self.finish {
            _ if gave_up => FinishOutcome::GaveUp,
            Some(_) => FinishOutcome::Answered,
            None => FinishOutcome::Otherwise,
        };
        let place = tag.map_or(AnswerLocation::AsFound, |tag| {
            answer::locate_answer(tag, said, self.fence.is_some(), ended)
        });
        let tag = tag.filter(|_| place != AnswerLocation::AsFound).map(str::to_owned);
        let why = (place == AnswerLocation::Nowhere && gave_up).then_some(GAVE_UP_REASON);
        let answer = match place {
            AnswerLocation::AsFound => self.fence.clone(),
            AnswerLocation::Finish => self.finish.clone(),
            AnswerLocation::Said(answer) => Some(StoredAnswer::from_answer(&answer)),
            AnswerLocation::Nowhere => None,
        };
        ResolvedAnswer { answer, tag, why }
    }

    /// Serializes for the index.
    pub(super) fn text(&self) -> Option<String> {
        let kept = |kept: &Option<StoredAnswer>| {
            kept.as_ref().map(|kept| (kept.lenient, kept.json.clone()))
        };
        let both = (kept(&self.fence), kept(&self.finish));
        if both == (None, None) { None } else { serde_json::to_string(&both).ok() }
    }

    fn read(text: &str) -> Option<Self> {
        type AnswerRecord = Option<(bool, Option<String>)>;
        let (fence, finish): (AnswerRecord, AnswerRecord) = serde_json::from_str(text).ok()?;
        let kept = |one: AnswerRecord| one.map(|(lenient, json)| StoredAnswer { json, lenient });
        Some(Self { fence: kept(fence), finish: kept(finish) })
    }
}

/// Serializes the additional run data for the index.
pub(super) fn told_as_text(told: &CallInfo) -> String {
    let pair = |pair: &ApiName| [pair.tool.clone(), pair.api.clone()];
    let apis: Option<Vec<_>> = told.apis.as_ref().map(|apis| apis.iter().map(pair).collect());
    let goal = told.goal.as_ref().map(|goal| (goal.reached, &goal.reason));
    serde_json::to_string(&(told.untold, apis, told.gave_up, goal)).unwrap_or_default()
}

fn parse_told(text: &str) -> Option<CallInfo> {
    type Stored = (bool, Option<Vec<[String; 2]>>, Option<bool>, Option<(bool, String)>);
    let (untold, apis, gave_up, goal): Stored = serde_json::from_str(text).ok()?;
    let goal = goal.map(|(reached, reason)| GoalVerdict { reached, reason });
    let apis = apis.map(|apis| apis.into_iter().map(|[tool, api]| ApiName { tool, api }).collect());
    Some(CallInfo { untold, apis, gave_up, goal })
}

fn read(row: &Row<'_>) -> rusqlite::Result<StoredRun> {
    let state: String = row.get(0)?;
    let (offset, at, len): (i64, Option<i64>, Option<i64>) =
        (row.get(2)?, row.get(5)?, row.get(6)?);
    let (lenient, json): (Option<bool>, Option<String>) = (row.get(3)?, row.get(7)?);
    let (calls, told): (Option<String>, Option<String>) = (row.get(4)?, row.get(8)?);
    Ok(StoredRun {
        state: state_named(&state),
        reason: row.get(1)?,
        answer: lenient.map(|lenient| StoredAnswer { json, lenient }),
        unfound: row.get(9)?,
        sought: row
            .get::<_, Option<String>>(11)?
            .and_then(|text| AlternativeAnswers::read(&text))
            .unwrap_or_default(),
        tag: row.get(10)?,
        calls: calls.and_then(|calls| serde_json::from_str(&calls).ok()).unwrap_or_default(),
        told: told.as_deref().and_then(parse_told),
        said_at: offset.cast_unsigned().saturating_add(at.unwrap_or(0).cast_unsigned()),
        said_len: len.and_then(|len| usize::try_from(len).ok()).unwrap_or(0),
        verdicts: Vec::new(),
    })
}
