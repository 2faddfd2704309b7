//! Reads a row of the index into a row of the list.
use crate::filter::state_named;
use crate::imports;
use rusqlite::Row;
use serde::de::DeserializeOwned;
use touchstone_api::{RunRow, RunState, StoredCount};

/// Columns read by [`read_row`], in order.
macro_rules! select {
    ($from:literal) => {
        concat!(
            "SELECT key, path, task, system, model, variation, variation_name, repeat, state, reason, turns, tool_calls, \
             failed_calls, nudges, missing_calls, tokens, cost, seconds, size, modified_ms, \
             scoring, scorer, score, passed, score_reason, class, verdict, member, stored_passed, stored_decided, stored_errors, \
             follow_ups, lineage, forked_from, forked_step, layout, superseded_by, CAST(started * 1000 AS INTEGER), prompt ",
            $from
        )
    };
}

pub(super) const BY_ID: &str = select!("FROM runs WHERE id = ?");
pub(super) const BY_KEY: &str = select!("FROM runs WHERE key = ?");
pub(super) const BY_PLACE: &str = select!(
    "FROM runs WHERE task = ? AND system = ? AND model = ? AND state_order < 6 ORDER BY path"
);

/// Length limits for reasons and names. A reason may quote a provider's response, and a file may
/// contain any model name, so lists show only the start.
const MAX_REASON: usize = 1_000;
const MAX_NAME: usize = 300;
/// Maximum number of missing calls in a row.
const MAX_CALLS: usize = 50;

/// Reads the columns above.
pub(super) fn read_row(row: &Row<'_>) -> rusqlite::Result<RunRow> {
    let state: String = row.get(8)?;
    let missing: String = row.get(14)?;
    let unsigned =
        |at: usize| row.get::<_, Option<i64>>(at).map(|n| n.and_then(|n| u64::try_from(n).ok()));
    let small = |at: usize| unsigned(at).map(|n| n.map(|n| u32::try_from(n).unwrap_or(u32::MAX)));
    let name = |at: usize| {
        row.get::<_, Option<String>>(at).map(|name| name.map(|name| cut(name, MAX_NAME)))
    };
    let mut missing_calls: Vec<String> = serde_json::from_str(&missing).unwrap_or_default();
    missing_calls.truncate(MAX_CALLS);
    Ok(RunRow {
        sensitive: None,
        id: row.get(0)?,
        path: row.get(1)?,
        task: name(2)?,
        system: name(3)?,
        model: name(4)?,
        variation: small(5)?,
        variation_name: name(6)?,
        repeat: small(7)?.unwrap_or(1),
        state: state_named(&state).unwrap_or(RunState::Other),
        reason: row.get::<_, Option<String>>(9)?.map(|reason| cut(reason, MAX_REASON)),
        turns: small(10)?.unwrap_or(0),
        tool_calls: small(11)?.unwrap_or(0),
        failed_calls: small(12)?.unwrap_or(0),
        nudges: small(13)?.unwrap_or(0),
        follow_ups: small(31)?.unwrap_or(0),
        lineage: word(row, 32)?,
        forked_from: row.get::<_, Option<String>>(33)?.map(|path| cut(path, MAX_REASON)),
        forked_step: small(34)?,
        format: row.get::<_, Option<String>>(35)?.filter(|layout| imports::is_import(layout)),
        superseded_by: row.get::<_, Option<String>>(36)?.map(|path| cut(path, MAX_REASON)),
        started_ms: row.get(37)?,
        prompt: row.get(38)?,
        missing_calls,
        tokens: unsigned(15)?,
        cost: row.get(16)?,
        seconds: row.get(17)?,
        size: unsigned(18)?.unwrap_or(0),
        modified_ms: row.get(19)?,
        scoring: word(row, 20)?,
        scorer: name(21)?,
        score: row.get(22)?,
        passed: row.get(23)?,
        score_reason: row.get::<_, Option<String>>(24)?.map(|reason| cut(reason, MAX_REASON)),
        class: word(row, 25)?,
        verdict: word(row, 26)?,
        member: row.get(27)?,
        stored: match (small(28)?, small(29)?, small(30)?) {
            (Some(passed), Some(decided), Some(errors)) => {
                Some(StoredCount { passed, decided, errors })
            }
            _ => None,
        },
        verdicts: Vec::new(),
        labels: Vec::new(),
        snippet: None,
    })
}

/// Reads a column that contains a serialized enum word.
pub(super) fn word<T: DeserializeOwned>(row: &Row<'_>, at: usize) -> rusqlite::Result<Option<T>> {
    let written: Option<String> = row.get(at)?;
    Ok(written.and_then(|word| serde_json::from_value(serde_json::Value::String(word)).ok()))
}

fn cut(mut text: String, most: usize) -> String {
    if text.len() > most {
        text.truncate(text.floor_char_boundary(most));
        text.push('…');
    }
    text
}
