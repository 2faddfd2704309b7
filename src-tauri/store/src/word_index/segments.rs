//! The rows of segments, their blocks and their dead runs.
use crate::index::IndexError;
use rusqlite::{Connection, params};
use std::ops::RangeInclusive;

const DEAD: &str = "SELECT segment, run FROM word_dead WHERE segment BETWEEN ? AND ?";

/// Stands in `runs.words` for runs that are left out. No segment has this number.
pub(super) const LEFT_OUT: i64 = 0;

/// Returns a number for a segment that none had before.
pub(super) fn next_id(sql: &Connection) -> Result<i64, IndexError> {
    const NEXT: &str =
        "UPDATE meta SET value = value + 1 WHERE key = 'word_segments' RETURNING value";
    Ok(sql.prepare_cached(NEXT)?.query_row([], |row| row.get(0))?)
}

pub(super) fn put_block(
    sql: &Connection,
    segment: i64,
    first: &[u8],
    block: &[u8],
) -> Result<(), IndexError> {
    const PUT: &str = "INSERT INTO word_blocks (segment, first, block) VALUES (?, ?, ?)";
    sql.prepare_cached(PUT)?.execute(params![segment, first, block])?;
    Ok(())
}

pub(super) fn put_segment(
    sql: &Connection,
    id: i64,
    written: RangeInclusive<i64>,
    (size, runs): (usize, usize),
) -> Result<(), IndexError> {
    const PUT: &str =
        "INSERT INTO word_segments (id, first, last, size, runs) VALUES (?, ?, ?, ?, ?)";
    let (first, last) = written.into_inner();
    sql.prepare_cached(PUT)?.execute(params![id, first, last, int(size), int(runs)])?;
    Ok(())
}

/// Notes that the text of a run in the index is not the one it has from now on.
pub(crate) fn forget(sql: &Connection, run: i64) -> Result<(), IndexError> {
    const FORGET: &str = "INSERT OR IGNORE INTO word_dead (segment, run) \
                          SELECT words, id FROM runs WHERE id = ? AND words > 0";
    sql.prepare_cached(FORGET)?.execute([run])?;
    Ok(())
}

/// Returns the dead runs of the segments with these numbers, each with its number.
pub(super) fn dead(sql: &Connection, first: i64, last: i64) -> Result<Vec<(i64, i64)>, IndexError> {
    let mut select = sql.prepare_cached(DEAD)?;
    let rows = select.query_map([first, last], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn int(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
