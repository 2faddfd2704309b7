//! Loads state from an existing index: files, counts, generation. Also reads and writes the numbers
//! in `meta`.
use super::index::{IndexError, meta};
use super::judgements::Marks;
use super::open::Stamp;
use super::reconcile::{KnownFiles, Mark};
use super::record::{Counted, IS_EVALUATED};
use super::roots::{FileId, Root};
use super::state_counts::StateCounts;
use rusqlite::Connection;
use touchstone_formats::workspace::renames::Renames;
use xxhash_rust::xxh3::xxh3_64;

/// Loads the marks of all files of all rows.
pub(crate) fn known_files(sql: &Connection) -> Result<KnownFiles, IndexError> {
    let mut select = sql.prepare("SELECT path, odd, size, mtime_ns, inode, settled FROM files")?;
    let rows = select.query_map([], |row| {
        let (size, inode): (i64, i64) = (row.get(2)?, row.get(4)?);
        let stamp = Stamp {
            size: size.cast_unsigned(),
            mtime_ns: row.get(3)?,
            inode: inode.cast_unsigned(),
        };
        let path: Vec<u8> = row.get(0)?;
        Ok((
            FileId::new(Root::Output, path),
            Mark { stamp, settled: row.get(5)?, odd: row.get(1)? },
        ))
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Counts the rows by state.
pub(crate) fn count_states(sql: &Connection) -> Result<StateCounts, IndexError> {
    let text = format!(
        "SELECT state_order, words IS NULL AND text_len > 0 AND NOT claimed, {IS_EVALUATED}, count(*)
         FROM runs GROUP BY 1, 2, 3"
    );
    let mut select = sql.prepare(&text)?;
    let mut rows = select.query([])?;
    let mut tally = StateCounts::default();
    while let Some(row) = rows.next()? {
        let (state, unfinished, evaluated) = (row.get(0)?, row.get(1)?, row.get(2)?);
        tally.add(Counted { state, unfinished, evaluated }, row.get(3)?);
    }
    Ok(tally)
}

/// Returns the number of the last change.
pub(crate) fn generation(sql: &Connection) -> Result<u64, IndexError> {
    Ok(u64::try_from(meta(sql, "generation")?).unwrap_or(0))
}

/// Hash of the model names that are used to parse paths.
pub(crate) fn models_hash(models: &[String]) -> i64 {
    if models.is_empty() { 0 } else { xxh3_64(models.join("\n").as_bytes()).cast_signed() }
}

/// Marker value while only part of the rows have been updated.
pub(crate) const UNDER_WAY: i64 = i64::MIN;

/// Hash of the model identities.
pub(crate) fn marks_hash(marks: &Marks) -> i64 {
    let mut all: Vec<String> = marks.iter().map(|(name, mark)| format!("{name}\0{mark}")).collect();
    all.sort_unstable();
    if all.is_empty() { 0 } else { xxh3_64(all.join("\n").as_bytes()).cast_signed() }
}

/// Hash of the corrections to imported names.
pub(crate) fn renames_hash(renames: &Renames) -> i64 {
    if renames.is_empty() { 0 } else { xxh3_64(format!("{renames:?}").as_bytes()).cast_signed() }
}

/// Marks the files of other tools as unsettled, so that all of their runs are read again.
pub(crate) fn unsettle_imports(sql: &Connection) -> Result<(), IndexError> {
    const UNSETTLE: &str =
        "UPDATE files SET settled = 0 WHERE unit IN (SELECT unit FROM runs WHERE layout = ?)";
    let mut update = sql.prepare_cached(UNSETTLE)?;
    for format in touchstone_imports::registry::sorted() {
        update.execute([format.name()])?;
    }
    sql.execute("UPDATE runs SET import_hash = NULL WHERE import_hash IS NOT NULL", [])?;
    Ok(())
}

/// Returns the hash of the model names with which the indexed paths were parsed.
pub(crate) fn models(sql: &Connection) -> Result<i64, IndexError> {
    meta(sql, "models")
}

/// Saves the hash of the current model names.
pub(crate) fn put_models(sql: &Connection, hash: i64) -> Result<(), IndexError> {
    put_meta(sql, "models", hash)
}

/// Key in `meta` for the mount state of a root. Exists only in indexes that had a mounted root.
fn mount_key(root: Root) -> &'static str {
    match root {
        Root::Output => "mounted_output",
        Root::Input => "mounted_input",
    }
}

/// Returns the roots on which a file system was mounted at the last listing.
pub(crate) fn mounted(sql: &Connection) -> Result<Vec<Root>, IndexError> {
    let mut select = sql.prepare("SELECT 1 FROM meta WHERE key = ?1 AND value = 1")?;
    let mut found = Vec::new();
    for root in [Root::Output, Root::Input] {
        if select.exists([mount_key(root)])? {
            found.push(root);
        }
    }
    Ok(found)
}

/// Saves the mount state of a root. Writes nothing if it is unchanged.
pub(crate) fn put_mounted(sql: &Connection, root: Root, mounted: bool) -> Result<(), IndexError> {
    if mounted {
        let text =
            "INSERT INTO meta VALUES (?1, 1) ON CONFLICT DO UPDATE SET value = 1 WHERE value <> 1";
        sql.prepare_cached(text)?.execute([mount_key(root)])?;
    } else {
        put_meta(sql, mount_key(root), 0)?;
    }
    Ok(())
}

/// Saves a number in `meta`, if the key exists and the value changed.
pub(crate) fn put_meta(sql: &Connection, key: &str, value: i64) -> Result<(), IndexError> {
    sql.prepare_cached("UPDATE meta SET value = ?2 WHERE key = ?1 AND value <> ?2")?
        .execute((key, value))?;
    Ok(())
}

/// Returns the path of a run; `None` if it is not there.
pub(crate) fn path_of(sql: &Connection, key: &str) -> Option<String> {
    let mut select = sql.prepare_cached("SELECT path FROM runs WHERE key = ?").ok()?;
    select.query_row([key], |row| row.get(0)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn that_a_file_system_is_mounted_is_kept_for_each_root_until_it_is_not_and_nothing_is_written_where_none_ever_was()
     {
        let sql = Connection::open_in_memory().unwrap();
        sql.execute_batch("CREATE TABLE meta (key TEXT PRIMARY KEY, value NOT NULL) WITHOUT ROWID")
            .unwrap();
        put_mounted(&sql, Root::Output, false).unwrap();
        assert_eq!((mounted(&sql).unwrap(), sql.total_changes()), (vec![], 0));
        put_mounted(&sql, Root::Output, true).unwrap();
        put_mounted(&sql, Root::Input, true).unwrap();
        assert_eq!(mounted(&sql).unwrap(), [Root::Output, Root::Input]);
        put_mounted(&sql, Root::Output, false).unwrap();
        assert_eq!(mounted(&sql).unwrap(), [Root::Input]);
    }
}
