//! Rewrites the text blob without the text of changed or removed runs. The old file stays until the
//! next start or the next rewrite, for readers that are about to open it.
use super::blob::{self, BlobWriter};
use super::index::{IndexError, Writer, meta, put_sums, text_of};
use fs_err as fs;
use rusqlite::params;

/// Minimum number of dead bytes for which a rewrite is worthwhile.
const LEAST_DEAD: u64 = 16 << 20;

/// Returns true when more than half of the blob is dead and the dead part exceeds the minimum.
pub(crate) fn is_due(writer: &Writer) -> Result<bool, IndexError> {
    let dead = u64::try_from(meta(&writer.sql, "blob_dead")?).unwrap_or(0);
    Ok(dead > LEAST_DEAD && dead > writer.blob.len() / 2)
}

/// Rewrites the blob and updates all offsets in one transaction.
pub(crate) fn rewrite(writer: &mut Writer) -> Result<(), IndexError> {
    let number = meta(&writer.sql, "blob")?;
    forget_others(writer, number);
    let old = text_of(&writer.sql, &writer.dir)?;
    let mut new = BlobWriter::create(&writer.dir, number + 1)?;
    let transaction = writer.sql.unchecked_transaction()?;
    {
        let mut runs = transaction.prepare(
            "SELECT id, text_offset, text_len FROM runs WHERE text_len > 0 ORDER BY text_offset",
        )?;
        let rows = runs.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        let rows = rows.collect::<Result<Vec<(i64, i64, i64)>, _>>()?;
        let mut move_run = transaction.prepare("UPDATE runs SET text_offset = ? WHERE id = ?")?;
        let mut move_items =
            transaction.prepare("UPDATE items SET start = start + ? WHERE run = ?")?;
        let mut move_steps = transaction.prepare("UPDATE steps SET start = ? WHERE run = ?")?;
        for (run, offset, len) in rows {
            let start = blob::copy(&old, offset.cast_unsigned(), len.cast_unsigned(), &mut new)?
                .cast_signed();
            move_run.execute(params![start, run])?;
            move_steps.execute(params![start, run])?;
            move_items.execute(params![start - offset, run])?;
        }
    }
    new.flush()?;
    let mut put = transaction.prepare("UPDATE meta SET value = ? WHERE key = ?")?;
    put.execute(params![number + 1, "blob"])?;
    put.execute(params![new.len().cast_signed(), "blob_len"])?;
    put.execute(params![0, "blob_dead"])?;
    drop(put);
    transaction.execute("DELETE FROM text_sums", [])?;
    put_sums(&transaction, &new)?;
    transaction.commit()?;
    new.mark_saved();
    writer.blob = new;
    Ok(())
}

/// Deletes all blobs except `number`.
pub(crate) fn forget_others(writer: &Writer, number: i64) {
    let keep = blob::path(&writer.dir, number);
    for entry in fs::read_dir(&writer.dir).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.extension().is_some_and(|end| end == "blob") && path != keep {
            let _ = fs::remove_file(path);
        }
    }
}
