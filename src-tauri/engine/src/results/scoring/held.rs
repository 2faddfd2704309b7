//! What the index holds of a run so that it can be measured without its files.
use super::measure::Evidence;
use crate::results::blob::TextBlob;
use crate::results::filter::state_named;
use crate::results::index::IndexError;
use crate::results::record::{order, state_name};
use crate::rows::RunState;
use rusqlite::{Connection, OptionalExtension as _, Row, params};
use touchstone_formats::answer;
use touchstone_formats::run::{Kept, Told};
use touchstone_formats::stabletoolbench::Pair;

/// A run, as far as scorers ask.
#[derive(Debug, Default)]
pub(crate) struct Held {
    state: Option<RunState>,
    reason: Option<String>,
    pub(crate) answer: Option<Kept>,
    /// Why the files give no answer, where a tag of the suite may; empty when nobody knows.
    unfound: Option<String>,
    /// The tag that the answer was found in.
    tag: Option<String>,
    calls: Vec<(String, bool)>,
    told: Option<Told>,
    /// Where the last message of the model stands in the text of all runs.
    said_at: u64,
    said_len: usize,
}

impl Held {
    /// Of the run with this number.
    pub(crate) fn load(sql: &Connection, run: i64) -> Result<Self, IndexError> {
        const SELECT: &str = "SELECT r.state, r.reason, r.text_offset, a.lenient, a.calls, a.said_at, a.said_len, a.answer, a.told, a.unfound, a.tag \
                              FROM runs r LEFT JOIN answers a ON a.run = r.id WHERE r.id = ?";
        Ok(sql.prepare_cached(SELECT)?.query_row([run], read).optional()?.unwrap_or_default())
    }

    /// The last message of the model; the text of all runs is opened when it is needed for the first time.
    pub(crate) fn said(
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

    /// Looks for the answer in the tag that the suite names now. True when the run stands otherwise than before.
    pub(crate) fn look_in(&mut self, tag: Option<&str>, said: &str) -> bool {
        let Some(unfound) = &self.unfound else { return false };
        let found = tag.and_then(|tag| Some((tag, answer::in_tag(said, tag)?)));
        let known = (self.tag.take(), self.answer.take());
        self.state = Some(if found.is_some() { RunState::Answered } else { RunState::NoAnswer });
        self.reason = Some(unfound.clone()).filter(|why| found.is_none() && !why.is_empty());
        self.answer = found.as_ref().map(|(_, answer)| Kept::of(answer));
        self.tag = found.map(|(tag, _)| tag.to_owned());
        known != (self.tag.clone(), self.answer.clone())
    }

    /// Writes how a run stands now.
    pub(crate) fn put(&self, sql: &Connection, run: i64) -> Result<(), IndexError> {
        let state = self.state.unwrap_or(RunState::Other);
        sql.prepare_cached("UPDATE runs SET state = ?, state_order = ?, reason = ?, has_answer = ? WHERE id = ?")?
            .execute(params![state_name(state), order(state), self.reason, self.answer.is_some(), run])?;
        let (lenient, json) =
            self.answer.as_ref().map_or((None, None), |kept| (Some(kept.lenient), kept.json.as_deref()));
        sql.prepare_cached("UPDATE answers SET lenient = ?, answer = ?, tag = ? WHERE run = ?")?
            .execute(params![lenient, json, self.tag, run])?;
        Ok(())
    }

    /// As scorers take it.
    pub(crate) fn evidence<'a>(&'a self, said: &'a str) -> Evidence<'a> {
        Evidence {
            state: self.state.unwrap_or(RunState::Other),
            reason: self.reason.as_deref(),
            answer: self.answer.as_ref(),
            said,
            calls: &self.calls,
            told: self.told.as_ref(),
        }
    }
}

/// What the calls do not say, as the index keeps it.
pub(super) fn told_as_text(told: &Told) -> String {
    let pair = |pair: &Pair| [pair.tool.clone(), pair.api.clone()];
    let apis: Option<Vec<_>> = told.apis.as_ref().map(|apis| apis.iter().map(pair).collect());
    serde_json::to_string(&(told.untold, apis, told.gave_up)).unwrap_or_default()
}

fn told_of(text: &str) -> Option<Told> {
    let (untold, apis, gave_up): (bool, Option<Vec<[String; 2]>>, Option<bool>) = serde_json::from_str(text).ok()?;
    let apis = apis.map(|apis| apis.into_iter().map(|[tool, api]| Pair { tool, api }).collect());
    Some(Told { untold, apis, gave_up })
}

fn read(row: &Row<'_>) -> rusqlite::Result<Held> {
    let state: String = row.get(0)?;
    let (offset, at, len): (i64, Option<i64>, Option<i64>) = (row.get(2)?, row.get(5)?, row.get(6)?);
    let (lenient, json): (Option<bool>, Option<String>) = (row.get(3)?, row.get(7)?);
    let (calls, told): (Option<String>, Option<String>) = (row.get(4)?, row.get(8)?);
    Ok(Held {
        state: state_named(&state),
        reason: row.get(1)?,
        answer: lenient.map(|lenient| Kept { json, lenient }),
        unfound: row.get(9)?,
        tag: row.get(10)?,
        calls: calls.and_then(|calls| serde_json::from_str(&calls).ok()).unwrap_or_default(),
        told: told.as_deref().and_then(told_of),
        said_at: offset.cast_unsigned().saturating_add(at.unwrap_or(0).cast_unsigned()),
        said_len: len.and_then(|len| usize::try_from(len).ok()).unwrap_or(0),
    })
}
