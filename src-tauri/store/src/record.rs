//! Writes parsed units to the index: rows, files, text and text pieces. One call writes one unit,
//! or a part of a file with many runs, inside the caller's transaction. Decides the values of all
//! row columns, on which the queries rely.
use super::blob::BlobWriter;
use super::imported_verdicts;
use super::imports;
use super::index::{Cell, IndexError, Touched, Writer};
use super::layouts::{self, Coordinates};
use super::outcome::end_of;
use super::parse_unit::{Outcome, ParsedUnit, Row, layout_name};
use super::reconcile::Mark;
use super::roots::FileId;
use super::scoring::measure::{Evidence, Measured, ScoringKey, measure};
use super::scoring::write::{self, Columns};
use super::segments::{RunRecord, ScoreRecord, checked, differing};
use super::suites::Tasks;
use super::unit_id::UnitId;
use super::word_index;
use rusqlite::{CachedStatement, Connection, OptionalExtension as _, Statement, params};
use std::collections::HashSet;
use touchstone_api::{Lineage, RunScore, RunState, ScoreStanding};
use touchstone_formats::system::System;
use touchstone_formats::transcript::step_list::first_prompt;
use touchstone_model::run::{Layout, Outline, RecordedState, Verdict};
use touchstone_scoring::missing_calls;

/// Maximum length of a prompt in a row, in characters.
const MAX_PROMPT: usize = 160;

/// State of a row, for counting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Counted {
    pub(crate) state: u8,
    pub(crate) unfinished: bool,
    /// True for a row that Touchstone evaluated, which is no run of the folder.
    pub(crate) evaluated: bool,
}

/// Condition of SQL for rows that Touchstone evaluated.
pub(crate) const IS_EVALUATED: &str = "layout = 'evaluated'";

/// Changes made by writing one row.
#[derive(Debug)]
pub(crate) struct Written {
    pub(crate) key: String,
    pub(crate) before: Option<Counted>,
    pub(crate) after: Option<Counted>,
    /// False when only stamps changed.
    pub(crate) visible: bool,
    /// What a segment claimed and the files say otherwise, as a clause.
    pub(crate) wrong_claim: Option<String>,
}

struct Old {
    id: i64,
    hash: i64,
    counted: Counted,
    cell: Option<Cell>,
    identity: Option<i64>,
    text_len: i64,
    reason: Option<String>,
    size: i64,
    modified_ms: i64,
    import_hash: Option<i64>,
    is_claim: bool,
}

/// Data of a run from its path, the suites and the scorers. Computing it takes most of the time and
/// does not need the index.
#[derive(Debug, Default)]
pub(crate) struct Placed {
    place: Coordinates,
    missing: String,
    variation_name: Option<String>,
    /// Tags of the suite, each between line feeds.
    tags: String,
    measured: Measured,
}

/// Determines the coordinates of a unit's runs and scores them.
pub(crate) fn place_rows(looked: &mut ParsedUnit, tasks: &Tasks, models: &[String]) -> Vec<Placed> {
    let unit = looked.unit.clone();
    looked.rows_mut().iter_mut().map(|row| place_row(&unit, row, tasks, models)).collect()
}

fn place_row(unit: &UnitId, row: &mut Row, tasks: &Tasks, models: &[String]) -> Placed {
    let mut at = row.at.clone().unwrap_or_else(|| layouts::coordinates(unit, models));
    if let Some(id) = at.task.as_deref().and_then(|name| tasks.query_id(name)) {
        at.task = Some(id.to_owned());
    }
    let blank = Outline::default();
    let outline = row.outline.as_ref().unwrap_or(&blank);
    let layout = row.outline.as_ref().map_or("", |outline| layout_name(outline.layout));
    let system = at.system.as_deref().or(outline.system.as_deref());
    let answer = outline.answer.as_ref();
    let expected = outline.expected.as_ref().and_then(|expected| expected.json.as_deref());
    let own = imports::own_task_of(at.task.as_deref(), &unit.file.to_display(), expected, answer);
    let place = ScoringKey {
        own: own.as_deref(),
        task: at.task.as_deref(),
        variation: at.variation,
        variation_name: at.variation_name.as_deref(),
        calls_tools: calls_tools(layout, system),
    };
    if let Some(tag) = place.tag(tasks) {
        row.look_in(tag);
    }
    let outline = row.outline.as_ref().unwrap_or(&blank);
    let evidence = Evidence {
        state: state(row),
        reason: row.reason.as_deref(),
        answer: outline.answer.as_ref(),
        said: outline.last_message(),
        calls: &outline.calls,
        told: Some(&outline.told),
        verdicts: imported_scores(outline),
    };
    let measured = measure(tasks, &place, &evidence);
    let (missing, name) = from_suite(tasks, &place, &outline.tools);
    let variation_name = name.or_else(|| at.variation_name.clone());
    let tags = suite_tags(tasks, at.task.as_deref());
    Placed { place: at, missing, variation_name, tags, measured }
}

/// Replaces the rows and files of a unit, or writes a part of them.
pub(crate) fn put(
    writer: &mut Writer,
    looked: &ParsedUnit,
    placed: Vec<Placed>,
) -> Result<Vec<Written>, IndexError> {
    let unit = &looked.unit;
    let mut written = Vec::with_capacity(placed.len() + 1);
    for (row, placed) in looked.rows().iter().zip(placed) {
        written.push(put_one(writer, unit, row, placed)?);
    }
    let none = HashSet::new();
    match &looked.outcome {
        Outcome::Part(_) => {}
        Outcome::Row(_) => forget_members(writer, unit, &none, &mut written)?,
        Outcome::Last(_, keys) => {
            forget_members(writer, unit, keys, &mut written)?;
            // A file that is damaged around its members has a row of its own.
            if !keys.contains(&unit.key()) {
                written.extend(forget(&writer.sql, unit.key(), &mut writer.touched)?);
            }
        }
        Outcome::Gone | Outcome::Suite(_) => {
            forget_members(writer, unit, &none, &mut written)?;
            written.extend(forget(&writer.sql, unit.key(), &mut writer.touched)?);
            return put_files(&writer.sql, unit, &[]).map(|()| written);
        }
    }
    put_files(&writer.sql, unit, &looked.marks)?;
    Ok(written)
}

/// Adds runs that segments claim to an index that has no rows of them: nothing is looked up or
/// replaced, and statements are prepared once for many.
pub(crate) struct ClaimWriter<'w> {
    sql: &'w Connection,
    blob: &'w mut BlobWriter,
    row: CachedStatement<'w>,
    answer: CachedStatement<'w>,
    file: CachedStatement<'w>,
}

impl<'w> ClaimWriter<'w> {
    pub(crate) fn new(writer: &'w mut Writer) -> Result<Self, IndexError> {
        let Writer { sql, blob, .. } = writer;
        let sql: &Connection = sql;
        Ok(Self {
            sql,
            blob,
            row: sql.prepare_cached(PUT_ROW)?,
            answer: sql.prepare_cached(write::PUT_ANSWER)?,
            file: sql.prepare_cached(PUT_FILE)?,
        })
    }

    pub(crate) fn add(
        &mut self,
        parsed: &ParsedUnit,
        placed: &mut [Placed],
    ) -> Result<Option<Written>, IndexError> {
        let unit = &parsed.unit;
        let Some((row, placed)) = parsed.rows().first().zip(placed.first_mut()) else {
            return Ok(None);
        };
        let text = row.outline.as_ref().map_or(&[][..], |outline| outline.text.as_bytes());
        let text_offset = self.blob.append(text)?;
        let sql = self.sql;
        write::fill_in(sql, &mut placed.measured)?;
        let (key, member, placed) = (&unit.key(), None, &*placed);
        let new = NewRow { id: None, key, unit, member, row, placed, text_offset };
        put_row(&mut self.row, &new)?;
        let id = sql.last_insert_rowid();
        put_facts(sql, id, row, true)?;
        write::put_scores(sql, id, &placed.measured.scores, true)?;
        if let Some(outline) = write::kept_answer(row) {
            write::insert_answer(&mut self.answer, id, row, outline)?;
        }
        imported_verdicts::put(sql, id, row.outline.as_ref(), true)?;
        insert_files(&mut self.file, unit, &parsed.marks)?;
        // Its text is not there to be searched before its files are read.
        let after =
            Counted { state: order(state(row)), unfinished: false, evaluated: is_evaluated(row) };
        let (key, after, wrong_claim) = (key.clone(), Some(after), None);
        Ok(Some(Written { key, before: None, after, visible: true, wrong_claim }))
    }
}

/// Deletes the runs of a file that held many, except those with the keys in `but`.
fn forget_members(
    writer: &mut Writer,
    unit: &UnitId,
    but: &HashSet<String>,
    written: &mut Vec<Written>,
) -> Result<(), IndexError> {
    let Writer { sql, touched, .. } = writer;
    let mut select =
        sql.prepare_cached("SELECT key FROM runs WHERE unit = ? AND member IS NOT NULL")?;
    let keys = select.query_map([unit.number()], |row| row.get::<_, String>(0))?;
    let gone: Vec<String> = keys
        .filter(|key| !key.as_ref().is_ok_and(|key| but.contains(key)))
        .collect::<Result<_, _>>()?;
    for key in gone {
        written.extend(forget(sql, key, touched)?);
    }
    Ok(())
}

/// Deletes a row, if it exists.
fn forget(
    sql: &Connection,
    key: String,
    touched: &mut Touched,
) -> Result<Option<Written>, IndexError> {
    let Some(mut old) = old(sql, &key)? else { return Ok(None) };
    touched.add(old.cell.take(), old.identity);
    remove(sql, &old)?;
    for text in [
        "DELETE FROM runs WHERE id = ?",
        "DELETE FROM scores WHERE run = ?",
        "DELETE FROM answers WHERE run = ?",
        "DELETE FROM stored WHERE run = ?",
        "DELETE FROM steps WHERE run = ?",
        "DELETE FROM facts WHERE run = ?",
    ] {
        sql.prepare_cached(text)?.execute([old.id])?;
    }
    Ok(Some(Written {
        key,
        before: Some(old.counted),
        after: None,
        visible: true,
        wrong_claim: None,
    }))
}

fn put_one(
    writer: &mut Writer,
    unit: &UnitId,
    row: &Row,
    mut placed: Placed,
) -> Result<Written, IndexError> {
    let member = row.member.as_ref().map(|member| member.key.as_str());
    let key = unit.key_of(member);
    let mut old = old(&writer.sql, &key)?;
    let before = old.as_ref().map(|old| old.counted);
    if let Some(old) = &old
        && is_same(old, row)
    {
        // A run within a file of many does not change because another one does.
        let visible = row.member.is_none()
            && (old.size != int(row.size) || old.modified_ms != row.modified_ms);
        if visible {
            let sql = "UPDATE runs SET size = ?, modified_ms = ? WHERE id = ?";
            writer.sql.prepare_cached(sql)?.execute(params![
                int(row.size),
                row.modified_ms,
                old.id
            ])?;
        }
        let import_hash = row.import.fingerprint.map(u64::cast_signed);
        if import_hash != old.import_hash {
            let sql = "UPDATE runs SET import_hash = ? WHERE id = ?";
            writer.sql.prepare_cached(sql)?.execute(params![import_hash, old.id])?;
        }
        return Ok(Written { key, before, after: before, visible, wrong_claim: None });
    }
    if let Some(old) = &mut old {
        writer.touched.add(old.cell.take(), old.identity);
        remove(&writer.sql, old)?;
    }
    writer.touched.add(cell(row, &placed.place), row.import.identity);
    let text_offset = writer
        .blob
        .append(row.outline.as_ref().map_or(&[][..], |outline| outline.text.as_bytes()))?;
    write::fill_in(&writer.sql, &mut placed.measured)?;
    let fresh = old.is_none();
    let claim = old.as_ref().filter(|old| old.is_claim && !row.is_claim);
    let claim = claim.map(|old| checked(&writer.sql, old.id)).transpose()?;
    let id = old.map(|old| old.id);
    let new = NewRow { id, key: &key, unit, member, row, placed: &placed, text_offset };
    let mut put = writer.sql.prepare_cached(PUT_ROW)?;
    put_row(&mut put, &new)?;
    let id = id.unwrap_or_else(|| writer.sql.last_insert_rowid());
    put_items(&writer.sql, id, row, text_offset)?;
    put_steps(&writer.sql, id, row, text_offset)?;
    put_facts(&writer.sql, id, row, fresh)?;
    write::put_scores(&writer.sql, id, &placed.measured.scores, fresh)?;
    write::put_answer(&writer.sql, id, row, fresh)?;
    imported_verdicts::put(&writer.sql, id, row.outline.as_ref(), fresh)?;
    let has_text = row.outline.as_ref().is_some_and(|outline| !outline.text.is_empty());
    let after = Counted {
        state: order(state(row)),
        unfinished: has_text && !row.is_claim,
        evaluated: is_evaluated(row),
    };
    let wrong_claim = match claim {
        Some(claim) => differing(&claim, &checked(&writer.sql, id)?),
        None => None,
    };
    Ok(Written { key, before, after: Some(after), visible: true, wrong_claim })
}

fn is_evaluated(row: &Row) -> bool {
    row.outline.as_ref().is_some_and(|outline| outline.layout == Layout::EvaluatedRow)
}

fn is_same(old: &Old, row: &Row) -> bool {
    !old.is_claim
        && old.hash == row.hash.cast_signed()
        && old.counted.state == order(state(row))
        && old.reason == row.reason
}

fn old(sql: &Connection, key: &str) -> Result<Option<Old>, IndexError> {
    let text = format!(
        "SELECT id, content_hash, state_order, words IS NULL AND text_len > 0 AND NOT claimed, text_len, reason, size,
                modified_ms, identity, import_hash, claimed, task, system, model, {IS_EVALUATED}
                FROM runs WHERE key = ?"
    );
    let row = sql.prepare_cached(&text)?.query_row([key], |row| {
        Ok(Old {
            id: row.get(0)?,
            hash: row.get(1)?,
            counted: Counted {
                state: row.get(2)?,
                unfinished: row.get(3)?,
                evaluated: row.get(14)?,
            },
            text_len: row.get(4)?,
            reason: row.get(5)?,
            size: row.get(6)?,
            modified_ms: row.get(7)?,
            identity: row.get(8)?,
            import_hash: row.get(9)?,
            is_claim: row.get(10)?,
            cell: Cell::from_row(row, 11)?,
        })
    });
    Ok(row.optional()?)
}

/// Deletes the text entries of a row. The bytes stay in the blob until it is rewritten.
fn remove(sql: &Connection, old: &Old) -> Result<(), IndexError> {
    word_index::segments::forget(sql, old.id)?;
    sql.prepare_cached("DELETE FROM items WHERE run = ?")?.execute([old.id])?;
    sql.prepare_cached("UPDATE meta SET value = value + ? WHERE key = 'blob_dead'")?
        .execute([old.text_len])?;
    Ok(())
}

fn system<'a>(row: &'a Row, place: &'a Coordinates) -> Option<&'a String> {
    place.system.as_ref().or_else(|| row.outline.as_ref()?.system.as_ref())
}

fn model<'a>(row: &'a Row, place: &'a Coordinates) -> Option<&'a String> {
    place.model.as_ref().or_else(|| row.outline.as_ref()?.model.as_ref())
}

/// Returns the cell of a row; `None` without a task.
fn cell(row: &Row, place: &Coordinates) -> Option<Cell> {
    let (system, model) = (system(row, place).cloned(), model(row, place).cloned());
    Some(Cell { task: place.task.clone()?, system, model })
}

struct NewRow<'a> {
    id: Option<i64>,
    key: &'a str,
    unit: &'a UnitId,
    member: Option<&'a str>,
    row: &'a Row,
    placed: &'a Placed,
    text_offset: u64,
}

const PUT_ROW: &str =
    "INSERT OR REPLACE INTO runs (id, key, path, unit, member, layout, task, system, model, variation, variation_name, repeat,
        state, state_order, reason, turns, tool_calls, failed_calls, nudges, missing_calls, tools, tokens, cost, seconds, unfinished,
        size, modified_ms, has_answer, content_hash, line, col, excerpt, advice, text_offset, text_len, words,
        scoring, scorer, score, passed, score_reason, class, fingerprint, follow_ups, lineage, fork, forked_from, forked_step,
        started, repeat_source, file_repeat, group_start, identity, identity_rank, steps, import_hash, user_requests, user_tokens,
        user_cost, user_model, own_task, commit_name, tags, suite_tags, prompt, claimed)
        VALUES (?,?,?,?,?,?,?,?,?,?,?,?, ?,?,?,?,?,?,?,?,?,?, ?,?,?,?,?,?,?,?,?,?,?, ?,?,NULL,?,?,?,?,?,?,?, ?,?,?,?,?, ?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)";

/// Writes a row with [`PUT_ROW`].
fn put_row(put: &mut Statement<'_>, new: &NewRow<'_>) -> Result<(), IndexError> {
    let NewRow { id, key, unit, member, row, placed, text_offset } = new;
    let Placed { place, missing, variation_name, tags, measured } = placed;
    let blank = Outline::default();
    let outline = row.outline.as_ref().unwrap_or(&blank);
    let (scores, fault) = (Columns::from_measured(measured), row.fault.as_ref());
    let has_answer = outline.answer.is_some()
        || row.outline.as_ref().is_some_and(|o| o.standing == RecordedState::Answered);
    put.execute(params![
        id,
        key,
        unit.to_display(*member),
        unit.number(),
        member,
        row.outline.as_ref().map_or("", |outline| layout_name(outline.layout)),
        place.task,
        system(row, place),
        model(row, place),
        place.variation,
        variation_name,
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
        outline.unfinished,
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
        scores.scoring,
        scores.scorer,
        scores.score,
        scores.passed,
        scores.reason,
        scores.class,
        scores.fingerprint,
        outline.follow_ups,
        lineage(outline, place.fork).map(Lineage::word),
        place.fork,
        outline.forked_from.as_ref().map(|origin| &origin.file),
        outline.forked_from.as_ref().and_then(|origin| origin.step),
        outline.started,
        row.import.source,
        row.import.repeat,
        row.import.group_start,
        row.import.identity,
        row.import.identity.map(|_| row.import.rank),
        outline.step_count,
        row.import.fingerprint.map(u64::cast_signed),
        outline.user.as_ref().map(|user| user.requests),
        outline.user.as_ref().and_then(|user| user.tokens).map(int),
        outline.user.as_ref().and_then(|user| user.cost),
        outline.user.as_ref().and_then(|user| user.model.as_deref()),
        row.import.own_task,
        outline.commit,
        lines(&outline.tags),
        tags,
        row.claimed_prompt.clone().or_else(|| prompt(outline)),
        row.is_claim,
    ])?;
    Ok(())
}

/// Returns the tags of the suite of a task, each between line feeds.
pub(crate) fn suite_tags(tasks: &Tasks, task: Option<&str>) -> String {
    let known = task.and_then(|task| tasks.get(task));
    known.map(|known| lines(&known.suite.tags)).unwrap_or_default()
}

/// Returns the verdicts of the tool that recorded a run, which count as its scores.
fn imported_scores(outline: &Outline) -> &[Verdict] {
    if matches!(outline.layout, Layout::Imported(_)) { &outline.verdicts } else { &[] }
}

/// Returns `Fork` for a run that is a fork by its content or name, and `FollowUps` for one that was
/// continued by a person.
fn lineage(outline: &Outline, fork: u32) -> Option<Lineage> {
    if outline.forked_from.is_some() || fork > 0 {
        return Some(Lineage::Fork);
    }
    (outline.follow_ups > 0).then_some(Lineage::FollowUps)
}

fn put_items(sql: &Connection, id: i64, row: &Row, text_offset: u64) -> Result<(), IndexError> {
    let mut insert =
        sql.prepare_cached("INSERT INTO items (run, step, start, len) VALUES (?, ?, ?, ?)")?;
    for piece in &row.pieces {
        let start = int(text_offset + piece.start as u64);
        insert.execute(params![id, piece.step, start, int(piece.len as u64)])?;
    }
    Ok(())
}

/// Replaces the facts of a run.
fn put_facts(sql: &Connection, id: i64, row: &Row, fresh: bool) -> Result<(), IndexError> {
    let facts = row.outline.as_ref().map(|outline| &outline.facts);
    let Some(facts) = facts.filter(|facts| !facts.is_empty()) else {
        if !fresh {
            sql.prepare_cached("DELETE FROM facts WHERE run = ?")?.execute([id])?;
        }
        return Ok(());
    };
    let json = serde_json::to_string(facts).unwrap_or_default();
    sql.prepare_cached("INSERT OR REPLACE INTO facts (run, facts) VALUES (?, ?)")?
        .execute(params![id, json])?;
    Ok(())
}

/// Replaces the steps of a run. A row that is no run has none, and a claim has none yet.
fn put_steps(sql: &Connection, id: i64, row: &Row, text_offset: u64) -> Result<(), IndexError> {
    let Some(outline) = row.outline.as_ref().filter(|_| !row.is_claim) else {
        sql.prepare_cached("DELETE FROM steps WHERE run = ?")?.execute([id])?;
        return Ok(());
    };
    sql.prepare_cached("INSERT OR REPLACE INTO steps (run, start, steps) VALUES (?, ?, ?)")?
        .execute(params![id, int(text_offset), outline.steps])?;
    Ok(())
}

fn put_files(sql: &Connection, unit: &UnitId, marks: &[(FileId, Mark)]) -> Result<(), IndexError> {
    sql.prepare_cached("DELETE FROM files WHERE unit = ?")?.execute([unit.number()])?;
    let mut put = sql.prepare_cached(PUT_FILE)?;
    insert_files(&mut put, unit, marks)
}

const PUT_FILE: &str = "INSERT OR REPLACE INTO files (path, unit, odd, size, mtime_ns, inode, settled) VALUES (?, ?, ?, ?, ?, ?, ?)";

/// Writes files with [`PUT_FILE`].
fn insert_files(
    insert: &mut Statement<'_>,
    unit: &UnitId,
    marks: &[(FileId, Mark)],
) -> Result<(), IndexError> {
    let number = unit.number();
    for (file, mark) in marks {
        let stamp = mark.stamp;
        insert.execute(params![
            file.path,
            number,
            mark.odd,
            int(stamp.size),
            stamp.mtime_ns,
            stamp.inode.cast_signed(),
            mark.settled
        ])?;
    }
    Ok(())
}

/// Returns true when the run's tool calls can be compared with the expected ones. A `PromptQL` run
/// has a plan instead of tool calls.
pub(crate) fn calls_tools(layout: &str, system: Option<&str>) -> bool {
    !matches!(layout, "" | "prompt_ql") && system.map(System::from) != Some(System::PromptQl)
}

/// Returns the expected tool calls that never happened, as a JSON list, and the name of the
/// variation.
pub(crate) fn from_suite(
    tasks: &Tasks,
    place: &ScoringKey<'_>,
    tools: &[String],
) -> (String, Option<String>) {
    let Some(task) = place.task.and_then(|task| tasks.get(task)) else {
        return ("[]".to_owned(), None);
    };
    let name = place.variation.and_then(|n| task.variation_name(n as usize));
    let missing = if place.calls_tools {
        missing_calls(&task.suite.expected_tool_calls, tools)
    } else {
        Vec::new()
    };
    (serde_json::to_string(&missing).unwrap_or_else(|_| "[]".to_owned()), name)
}

fn state(row: &Row) -> RunState {
    row.state.unwrap_or(RunState::Other)
}

/// Sort position of a state: its place in [`RunState`].
pub(crate) fn order(state: RunState) -> u8 {
    state as u8
}

/// Name of a state in the index.
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

/// Returns the prompt as it stands in a row.
pub(crate) fn prompt(outline: &Outline) -> Option<String> {
    first_prompt(outline, MAX_PROMPT)
}

fn lines(names: &[String]) -> String {
    if names.is_empty() { String::new() } else { format!("\n{}\n", names.join("\n")) }
}

fn int(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Returns a run as a row of a Parquet file.
pub(crate) fn run_record(unit: &UnitId, row: &Row, placed: &Placed, tasks: &Tasks) -> RunRecord {
    let Placed { place, variation_name, measured, .. } = placed;
    let blank = Outline::default();
    let outline = row.outline.as_ref().unwrap_or(&blank);
    let member = row.member.as_ref().map(|member| member.key.as_str());
    let task = place.task.as_deref().and_then(|name| tasks.get(name));
    let first = measured.scores.first().map(|first| &first.says);
    let outcome = |said: &RunScore| (said.score, said.passed);
    let (score, passed) = first.map(outcome).unwrap_or_default();
    let scoring = first.map(|first| first.standing);
    let scoring = scoring.or(measured.nothing.as_ref().map(|_| ScoreStanding::NoExpected));
    let mut tags = outline.tags.clone();
    tags.extend(task.iter().flat_map(|task| task.suite.tags.iter().cloned()));
    tags.sort();
    tags.dedup();
    tags.retain(|tag| !tag.is_empty());
    let mut record = RunRecord {
        path: unit.to_display(member),
        id: unit.key_of(member),
        suite: task.map(|task| task.file.to_display()),
        task: task.map(|task| task.suite.id.clone()).or_else(|| place.task.clone()),
        variation: task.map_or(place.variation, |task| {
            task.counted_as(place.variation, variation_name.as_deref())
        }),
        variation_name: variation_name.clone(),
        repeat: place.repeat,
        system: system(row, place).cloned(),
        model: model(row, place).cloned(),
        layout: layout_name(outline.layout).to_owned(),
        state: Some(state(row)),
        end: end_of(state(row), scoring, score, passed),
        class: measured.class,
        reason: row.reason.clone(),
        scoring,
        scorer: first.map(|first| first.scorer.clone()),
        score,
        passed,
        score_reason: first.map(|first| first.reason.clone()).or_else(|| measured.nothing.clone()),
        verdict: None,
        review_score: None,
        review_note: None,
        lineage: lineage(outline, place.fork),
        forked_from: outline.forked_from.as_ref().map(|origin| origin.file.clone()),
        turns: Some(outline.turns),
        steps: Some(outline.step_count),
        tool_calls: Some(outline.tool_calls),
        failed_calls: Some(outline.failed_calls),
        nudges: Some(outline.nudges),
        follow_ups: Some(outline.follow_ups),
        tokens: outline.tokens,
        cost: outline.cost,
        user_tokens: outline.user.as_ref().and_then(|user| user.tokens),
        user_cost: outline.user.as_ref().and_then(|user| user.cost),
        seconds: outline.seconds,
        #[expect(clippy::cast_possible_truncation, reason = "as the index converts it")]
        started_ms: outline.started.filter(|at| at.is_finite()).map(|at| (at * 1000.0) as i64),
        modified_ms: row.modified_ms,
        size: row.size,
        content_hash: row.hash.cast_signed(),
        fingerprint: measured.fingerprint,
        commit: outline.commit.clone(),
        tags,
        tools: outline.tools.clone(),
        missing_calls: serde_json::from_str(&placed.missing).unwrap_or_default(),
        scores: measured
            .scores
            .iter()
            .map(|score| ScoreRecord { says: score.says.clone(), class: score.class })
            .collect(),
    };
    if outline.told.untold {
        record.forget_calls();
    }
    record
}
