//! Compares what a segment claimed of a run with what its files say.
use crate::index::IndexError;
use rusqlite::Connection;
use rusqlite::types::Value;

/// What is compared, with the words for it: what follows from the files alone, whatever the suites.
const CHECKED: [(&str, &str); 24] = [
    ("content_hash", "the hash of the files"),
    ("layout", "the layout"),
    ("turns", "the number of turns"),
    ("tool_calls", "the number of tool calls"),
    ("failed_calls", "the number of failed calls"),
    ("nudges", "the number of nudges"),
    ("follow_ups", "the number of follow-ups"),
    ("lineage", "whether it is a fork"),
    ("forked_from", "the run it was forked from"),
    ("started", "the start"),
    ("tools", "the tools"),
    ("tokens", "the tokens"),
    ("cost", "the cost"),
    ("user_requests", "the requests of the simulated user"),
    ("user_tokens", "the tokens of the simulated user"),
    ("user_cost", "the cost of the simulated user"),
    ("user_model", "the model of the simulated user"),
    ("seconds", "the duration"),
    ("unfinished", "whether it ended"),
    ("steps", "the number of steps"),
    ("commit_name", "the commit"),
    ("tags", "the tags"),
    ("state", "the state"),
    ("reason", "the reason of the state"),
];

/// Returns the values of a row that a claim is checked by.
pub(crate) fn checked(sql: &Connection, id: i64) -> Result<Vec<Value>, IndexError> {
    let names = CHECKED.map(|(name, _)| format!("r.{name}")).join(", ");
    let text = format!(
        "SELECT {names}, a.lenient, a.calls, a.answer, a.told, a.said_len FROM runs r LEFT JOIN answers a ON a.run = r.id \
         WHERE r.id = ?"
    );
    let mut select = sql.prepare_cached(&text)?;
    let read = |row: &rusqlite::Row<'_>| (0..CHECKED.len() + 5).map(|at| row.get(at)).collect();
    Ok(select.query_row([id], read)?)
}

/// Returns what differs, as a clause.
pub(crate) fn differing(claimed: &[Value], read: &[Value]) -> Option<String> {
    let at = claimed.iter().zip(read).position(|(claimed, read)| claimed != read)?;
    Some(match CHECKED.get(at) {
        Some((_, what)) => what.to_string(),
        None => "the answer or the calls".to_owned(),
    })
}
