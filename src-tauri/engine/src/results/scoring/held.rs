//! What the index holds of a run so that it can be measured without its files.
use super::measure::Evidence;
use crate::results::blob::TextBlob;
use crate::results::filter::state_named;
use crate::results::index::IndexError;
use crate::rows::RunState;
use rusqlite::{Connection, OptionalExtension as _, Row};
use touchstone_formats::run::{Kept, Told};
use touchstone_formats::stabletoolbench::Pair;

/// A run, as far as scorers ask.
#[derive(Debug, Default)]
pub(crate) struct Held {
    state: Option<RunState>,
    reason: Option<String>,
    pub(crate) answer: Option<Kept>,
    calls: Vec<(String, bool)>,
    told: Option<Told>,
    /// Where the last message of the model stands in the text of all runs.
    said_at: u64,
    said_len: usize,
}

impl Held {
    /// Of the run with this number.
    pub(crate) fn load(sql: &Connection, run: i64) -> Result<Self, IndexError> {
        const SELECT: &str = "SELECT r.state, r.reason, r.text_offset, a.lenient, a.calls, a.said_at, a.said_len, a.answer, a.told \
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
        calls: calls.and_then(|calls| serde_json::from_str(&calls).ok()).unwrap_or_default(),
        told: told.as_deref().and_then(told_of),
        said_at: offset.cast_unsigned().saturating_add(at.unwrap_or(0).cast_unsigned()),
        said_len: len.and_then(|len| usize::try_from(len).ok()).unwrap_or(0),
    })
}
