//! Fills the full-text index in the background, newest runs first, in steps short enough not to
//! delay live changes. Can stop anywhere and resume, because each row counts its indexed pieces.
use super::blob::TextBlob;
use super::index::{IndexError, Writer, text_of};
use rusqlite::{Connection, OptionalExtension as _, params};

/// Number of bytes per step. Not a time limit, because on a busy machine that would lead to small
/// steps with many commits.
const STEP: usize = 4 << 20;

/// Does one step, or a shorter one if other work is pressing. Returns the number of completed runs,
/// or `None` when nothing is left.
pub(crate) fn step(
    writer: &mut Writer,
    pressing: &dyn Fn() -> bool,
) -> Result<Option<u64>, IndexError> {
    let mut left = Left { bytes: STEP, pressing };
    let blob = text_of(&writer.sql, &writer.dir)?;
    let transaction = writer.sql.unchecked_transaction()?;
    let mut finished = 0;
    let mut found = false;
    while !left.is_over() {
        let Some((run, done, count)) = next(&transaction)? else { break };
        found = true;
        let now = fill(&transaction, &blob, (run, done), &mut left)?;
        transaction
            .prepare_cached("UPDATE runs SET words_done = ? WHERE id = ?")?
            .execute([now, run])?;
        finished += u64::from(now >= count);
    }
    transaction.commit()?;
    Ok(found.then_some(finished))
}

fn next(sql: &Connection) -> Result<Option<(i64, i64, i64)>, IndexError> {
    let text = "SELECT id, words_done, item_count FROM runs INDEXED BY runs_unfinished
                WHERE words_done < item_count ORDER BY modified_ms DESC LIMIT 1";
    Ok(sql
        .prepare_cached(text)?
        .query_row([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .optional()?)
}

/// Remaining budget of a step.
struct Left<'a> {
    bytes: usize,
    pressing: &'a dyn Fn() -> bool,
}

impl Left<'_> {
    fn is_over(&self) -> bool {
        self.bytes == 0 || (self.bytes < STEP && (self.pressing)())
    }
}

/// Indexes pieces of a run until the step is over. Returns the number of pieces indexed so far.
fn fill(
    sql: &Connection,
    blob: &TextBlob,
    (run, mut done): (i64, i64),
    left: &mut Left<'_>,
) -> Result<i64, IndexError> {
    let text = "SELECT id, start, len FROM items WHERE run = ? ORDER BY start LIMIT -1 OFFSET ?";
    let mut select = sql.prepare_cached(text)?;
    let mut insert = sql.prepare_cached("INSERT INTO words (rowid, text) VALUES (?, ?)")?;
    let mut items = select.query([run, done])?;
    while let Some(item) = items.next()? {
        let (id, offset, len): (i64, i64, i64) = (item.get(0)?, item.get(1)?, item.get(2)?);
        let bytes = blob.read(offset.cast_unsigned(), usize::try_from(len).unwrap_or(0))?;
        insert.execute(params![id, String::from_utf8_lossy(&bytes)])?;
        done += 1;
        left.bytes = left.bytes.saturating_sub(bytes.len());
        if left.is_over() {
            break;
        }
    }
    Ok(done)
}
