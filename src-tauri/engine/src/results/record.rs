//! Writes what was looked at into the index: rows, files, text and its pieces. One call is one unit, inside the caller's transaction.
//! Decides what a row says; the queries rely on it.
use super::index::{IndexError, Writer};
use super::layouts::{self, Coordinates};
use super::look::{Looked, Outcome, Row, layout_name};
use super::reconcile::{Mark, UnitId};
use super::roots::FileId;
use super::suites::Tasks;
use crate::rows::RunState;
use rusqlite::{Connection, OptionalExtension as _, params};
use touchstone_formats::run::{Layout, Standing};
use touchstone_scoring::missing_calls;

/// What a unit was or is, for counting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Counted {
    pub(crate) state: u8,
    pub(crate) unfinished: bool,
}

/// What writing one unit changed.
#[derive(Debug)]
pub(crate) struct Written {
    pub(crate) key: String,
    pub(crate) before: Option<Counted>,
    pub(crate) after: Option<Counted>,
    /// False when only stamps changed.
    pub(crate) visible: bool,
}

struct Old {
    id: i64,
    hash: i64,
    counted: Counted,
    text_len: i64,
    words_done: i64,
    reason: Option<String>,
    size: i64,
    modified_ms: i64,
}

/// Puts one unit in place of what was known of it.
pub(crate) fn put(
    writer: &mut Writer,
    looked: &Looked,
    tasks: &Tasks,
    models: &[String],
) -> Result<Written, IndexError> {
    let key = looked.unit.key();
    let old = old(&writer.sql, &key)?;
    let before = old.as_ref().map(|old| old.counted);
    let Outcome::Row(row) = &looked.outcome else {
        if let Some(old) = &old {
            remove(&writer.sql, old)?;
            writer.sql.prepare_cached("DELETE FROM runs WHERE id = ?")?.execute([old.id])?;
            writer.sql.prepare_cached("DELETE FROM files WHERE run = ?")?.execute([old.id])?;
        }
        return Ok(Written { key, before, after: None, visible: before.is_some() });
    };
    if let Some(old) = &old
        && is_same(old, row)
    {
        let visible = old.size != int(row.size) || old.modified_ms != row.modified_ms;
        if visible {
            let sql = "UPDATE runs SET size = ?, modified_ms = ? WHERE id = ?";
            writer.sql.prepare_cached(sql)?.execute(params![int(row.size), row.modified_ms, old.id])?;
        }
        put_files(&writer.sql, old.id, &looked.marks)?;
        return Ok(Written { key, before, after: before, visible });
    }
    if let Some(old) = &old {
        remove(&writer.sql, old)?;
    }
    let text_offset = writer.blob.append(row.outline.as_ref().map_or(&[][..], |outline| outline.text.as_bytes()))?;
    let place = layouts::coordinates(&looked.unit, models);
    let id = put_row(
        &writer.sql,
        &NewRow { id: old.map(|old| old.id), key: &key, unit: &looked.unit, row, place, text_offset },
        tasks,
    )?;
    put_items(&writer.sql, id, row, text_offset)?;
    put_files(&writer.sql, id, &looked.marks)?;
    let after = Counted { state: order(state(row)), unfinished: !row.pieces.is_empty() };
    Ok(Written { key, before, after: Some(after), visible: true })
}

fn is_same(old: &Old, row: &Row) -> bool {
    old.hash == row.hash.cast_signed() && old.counted.state == order(state(row)) && old.reason == row.reason
}

fn old(sql: &Connection, key: &str) -> Result<Option<Old>, IndexError> {
    let text =
        "SELECT id, content_hash, state_order, words_done < item_count, text_len, words_done, reason, size, modified_ms
                FROM runs WHERE key = ?";
    let row = sql.prepare_cached(text)?.query_row([key], |row| {
        Ok(Old {
            id: row.get(0)?,
            hash: row.get(1)?,
            counted: Counted { state: row.get(2)?, unfinished: row.get(3)? },
            text_len: row.get(4)?,
            words_done: row.get(5)?,
            reason: row.get(6)?,
            size: row.get(7)?,
            modified_ms: row.get(8)?,
        })
    });
    Ok(row.optional()?)
}

/// Takes the text of a row out of the index; its bytes stay in the blob until that is rewritten.
fn remove(sql: &Connection, old: &Old) -> Result<(), IndexError> {
    if old.words_done > 0 {
        let text = "DELETE FROM words WHERE rowid IN (SELECT id FROM items WHERE run = ? ORDER BY start LIMIT ?)";
        sql.prepare_cached(text)?.execute(params![old.id, old.words_done])?;
    }
    sql.prepare_cached("DELETE FROM items WHERE run = ?")?.execute([old.id])?;
    sql.prepare_cached("UPDATE meta SET value = value + ? WHERE key = 'blob_dead'")?.execute([old.text_len])?;
    Ok(())
}

struct NewRow<'a> {
    id: Option<i64>,
    key: &'a str,
    unit: &'a UnitId,
    row: &'a Row,
    place: Coordinates,
    text_offset: u64,
}

fn put_row(sql: &Connection, new: &NewRow<'_>, tasks: &Tasks) -> Result<i64, IndexError> {
    let NewRow { id, key, unit, row, place, text_offset } = new;
    let blank = touchstone_formats::run::Outline::default();
    let outline = row.outline.as_ref().unwrap_or(&blank);
    let layout = row.outline.as_ref().map(|outline| outline.layout);
    let system = place.system.as_ref().or(outline.system.as_ref());
    let model = place.model.as_ref().or(outline.model.as_ref());
    let (missing, name) =
        from_suite(tasks, place.task.as_deref(), place.variation, Calls { layout, system, tools: &outline.tools });
    let fault = row.fault.as_ref();
    let has_answer = outline.items.iter().any(|item| item.step.is_none())
        || row.outline.as_ref().is_some_and(|o| o.standing == Standing::Answered);
    let text =
        "INSERT OR REPLACE INTO runs (id, key, path, layout, task, system, model, variation, variation_name, repeat,
        state, state_order, reason, turns, tool_calls, failed_calls, nudges, missing_calls, tools, tokens,
        cost, seconds, size, modified_ms, has_answer, content_hash, line, col, excerpt, advice,
        text_offset, text_len, item_count, words_done)
        VALUES (?,?,?,?,?,?,?,?,?,?, ?,?,?,?,?,?,?,?,?,?, ?,?,?,?,?,?,?,?,?,?, ?,?,?,0)";
    sql.prepare_cached(text)?.execute(params![
        id,
        key,
        unit.file.shown(),
        layout.map_or("", layout_name),
        place.task,
        system,
        model,
        place.variation,
        name.or(place.variation_name.clone()),
        place.repeat,
        state_name(state(row)),
        order(state(row)),
        row.reason,
        outline.turns,
        outline.tool_calls,
        outline.failed_calls,
        outline.nudges,
        missing,
        lines(&outline.tools),
        outline.tokens.map(int),
        outline.cost,
        outline.seconds,
        int(row.size),
        row.modified_ms,
        has_answer,
        row.hash.cast_signed(),
        fault.and_then(|fault| fault.line),
        fault.and_then(|fault| fault.column),
        fault.and_then(|fault| fault.excerpt.as_ref()),
        fault.and_then(|fault| fault.advice.as_ref()),
        int(*text_offset),
        int(outline.text.len() as u64),
        int(row.pieces.len() as u64),
    ])?;
    Ok(id.unwrap_or_else(|| sql.last_insert_rowid()))
}

fn put_items(sql: &Connection, id: i64, row: &Row, text_offset: u64) -> Result<(), IndexError> {
    let mut insert = sql.prepare_cached("INSERT INTO items (run, step, start, len) VALUES (?, ?, ?, ?)")?;
    for piece in &row.pieces {
        let start = int(text_offset + piece.start as u64);
        insert.execute(params![id, piece.step, start, int(piece.len as u64)])?;
    }
    Ok(())
}

fn put_files(sql: &Connection, id: i64, marks: &[(FileId, Mark)]) -> Result<(), IndexError> {
    sql.prepare_cached("DELETE FROM files WHERE run = ?")?.execute([id])?;
    let text =
        "INSERT OR REPLACE INTO files (path, run, odd, size, mtime_ns, inode, settled) VALUES (?, ?, ?, ?, ?, ?, ?)";
    let mut insert = sql.prepare_cached(text)?;
    for (file, mark) in marks {
        let stamp = mark.stamp;
        insert.execute(params![
            file.path,
            id,
            mark.odd,
            int(stamp.size),
            stamp.mtime_ns,
            stamp.inode.cast_signed(),
            mark.settled
        ])?;
    }
    Ok(())
}

/// What is known of the calls of a run.
#[derive(Clone, Copy)]
pub(crate) struct Calls<'a> {
    pub(crate) layout: Option<Layout>,
    pub(crate) system: Option<&'a String>,
    pub(crate) tools: &'a [String],
}

/// What a suite adds to a run: the expected calls that never happened, as a JSON list, and the name of its variation.
pub(crate) fn from_suite(
    tasks: &Tasks,
    task: Option<&str>,
    variation: Option<u32>,
    calls: Calls<'_>,
) -> (String, Option<String>) {
    let Some(task) = task.and_then(|task| tasks.get(task)) else { return ("[]".to_owned(), None) };
    let name = variation.and_then(|n| task.variation_name(n as usize));
    // A PromptQL run calls no tools; what it did instead is its plan.
    let calls_tools =
        calls.layout.is_some_and(|l| l != Layout::PromptQl) && calls.system.is_none_or(|s| s != "promptql");
    let missing = if calls_tools { missing_calls(&task.suite.expected_tool_calls, calls.tools) } else { Vec::new() };
    (serde_json::to_string(&missing).unwrap_or_else(|_| "[]".to_owned()), name)
}

/// Brings what suites say up to date in rows that are there; returns the keys of those that changed.
pub(crate) fn apply_tasks(sql: &Connection, tasks: &Tasks) -> Result<Vec<String>, IndexError> {
    let mut select = sql.prepare_cached(
        "SELECT id, key, task, variation, layout, system, tools, missing_calls, variation_name FROM runs WHERE task IS NOT NULL",
    )?;
    let mut update = sql.prepare_cached("UPDATE runs SET missing_calls = ?, variation_name = ? WHERE id = ?")?;
    let mut rows = select.query([])?;
    let mut changed = Vec::new();
    while let Some(row) = rows.next()? {
        let (layout, system): (String, Option<String>) = (row.get(4)?, row.get(5)?);
        let layout = [Layout::ToolCalling, Layout::PromptQl, Layout::BenchmarkFolder]
            .into_iter()
            .find(|l| layout_name(*l) == layout);
        // The name that a benchmark folder gives its variation comes from its files, not from a suite.
        let own_name = if layout == Some(Layout::BenchmarkFolder) { row.get(8)? } else { None };
        let tools: Vec<String> =
            row.get_ref(6)?.as_str().unwrap_or_default().lines().filter(|l| !l.is_empty()).map(str::to_owned).collect();
        let task: Option<String> = row.get(2)?;
        let calls = Calls { layout, system: system.as_ref(), tools: &tools };
        let (missing, name) = from_suite(tasks, task.as_deref(), row.get(3)?, calls);
        let name: Option<String> = name.or(own_name);
        if missing != row.get::<_, String>(7)? || name != row.get::<_, Option<String>>(8)? {
            update.execute(params![missing, name, row.get::<_, i64>(0)?])?;
            changed.push(row.get(1)?);
        }
    }
    Ok(changed)
}

fn state(row: &Row) -> RunState {
    row.state.unwrap_or(RunState::Other)
}

/// Place of a state in [`RunState`].
pub(crate) fn order(state: RunState) -> u8 {
    state as u8
}

/// A state as it is written.
pub(crate) fn state_name(state: RunState) -> &'static str {
    match state {
        RunState::Answered => "answered",
        RunState::NoAnswer => "no_answer",
        RunState::Waiting => "waiting",
        RunState::Error => "error",
        RunState::Writing => "writing",
        RunState::Damaged => "damaged",
        RunState::Other => "other",
    }
}

fn lines(names: &[String]) -> String {
    if names.is_empty() { String::new() } else { format!("\n{}\n", names.join("\n")) }
}

fn int(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
