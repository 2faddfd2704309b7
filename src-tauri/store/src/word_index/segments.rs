//! The rows of segments, their blocks and their dead runs.
use super::block::{BlockReader, Damaged};
use crate::index::IndexError;
use rusqlite::{Connection, params};
use std::io;
use std::ops::RangeInclusive;
use xxhash_rust::xxh3::xxh3_64_with_seed;

const DEAD: &str = "SELECT segment, run FROM word_dead WHERE segment BETWEEN ? AND ?";

/// Stands in `runs.words` for runs that are left out. No segment has this number.
pub(super) const LEFT_OUT: i64 = 0;

/// Returns a number for a segment that none had before.
pub(super) fn next_id(sql: &Connection) -> Result<i64, IndexError> {
    const NEXT: &str =
        "UPDATE meta SET value = value + 1 WHERE key = 'word_segments' RETURNING value";
    Ok(sql.prepare_cached(NEXT)?.query_row([], |row| row.get(0))?)
}

/// Writes a block, with its checksum behind it.
pub(super) fn put_block(
    sql: &Connection,
    segment: i64,
    first: &[u8],
    mut block: Vec<u8>,
) -> Result<(), IndexError> {
    const PUT: &str = "INSERT INTO word_blocks (segment, first, block) VALUES (?, ?, ?)";
    let sum = sum(segment, first, &block);
    block.extend_from_slice(&sum);
    sql.prepare_cached(PUT)?.execute(params![segment, first, block])?;
    Ok(())
}

/// Returns a block as it was written, at its first term.
pub(super) fn open_block(
    segment: i64,
    first: &[u8],
    mut block: Vec<u8>,
) -> Result<BlockReader, Damaged> {
    let (bytes, stored) = block.split_last_chunk::<8>().ok_or(Damaged)?;
    if *stored != sum(segment, first, bytes) {
        return Err(Damaged);
    }
    block.truncate(block.len() - 8);
    let mut reader = BlockReader::new(block);
    if reader.advance()? { Ok(reader) } else { Err(Damaged) }
}

/// Returns the checksum of a block, its first term and its segment.
fn sum(segment: i64, first: &[u8], block: &[u8]) -> [u8; 8] {
    let place = xxh3_64_with_seed(first, segment.cast_unsigned());
    xxh3_64_with_seed(block, place).to_le_bytes()
}

impl From<Damaged> for IndexError {
    fn from(_: Damaged) -> Self {
        const DAMAGED: &str = "its full-text index is damaged";
        io::Error::new(io::ErrorKind::InvalidData, DAMAGED).into()
    }
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
